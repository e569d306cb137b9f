//! Batches: every line answered, once, in order, whatever happens on the way.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use skyl_retry::Rng;

use crate::support::{Server, Skyl, skyl};

/// A folder with the input and the output of a batch; gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn with(input: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("batch-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("in.jsonl"), input).unwrap();
        Self(path)
    }

    fn input(&self) -> String {
        self.path("in.jsonl")
    }

    fn out(&self) -> String {
        self.path("out.jsonl")
    }

    fn part(&self) -> String {
        self.path("out.jsonl.part")
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// The batch of this folder, as an addition to a command.
    fn batch(&self, run: Skyl) -> Skyl {
        run.args(["--batch", &self.input(), "--out", &self.out()])
    }

    fn lines(&self) -> Vec<Value> {
        objects(&fs::read_to_string(self.out()).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The whole lines of a file that may be torn at its end, or not be there.
fn whole_lines(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    objects(whole)
}

/// A line that asks this model.
fn line(model: &str) -> String {
    let noul = json!({"type": "noul", "instructions": "Well?"});
    json!({"state": "x", "model": model, "questions": {"q": noul}}).to_string() + "\n"
}

/// Lines whose models name them, so that a journal tells which is which.
fn numbered(lines: std::ops::RangeInclusive<u64>) -> String {
    lines.map(|number| line(&named(number, "ok"))).collect()
}

fn named(line: u64, script: &str) -> String {
    format!("sandbox-do-{script}@l{line}")
}

/// The line a journaled model names.
fn line_of(model: Option<&str>) -> u64 {
    let (_, line) = model.unwrap().rsplit_once("@l").unwrap();
    line.parse().unwrap()
}

fn asked(server: &Server) -> Vec<u64> {
    let journal = server.journal();
    let lines = journal.iter().map(|entry| line_of(entry.model.as_deref()));
    lines.collect()
}

fn numbers(lines: &[Value]) -> Vec<u64> {
    lines
        .iter()
        .map(|line| line["line"].as_u64().unwrap())
        .collect()
}

#[test]
fn one_line_comes_out_per_line_in_and_in_its_order() {
    let folder = Folder::with(&numbered(1..=40));
    let ran = folder
        .batch(skyl(["ask", "--json", "--concurrency", "7"]))
        .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = folder.lines();
    assert_eq!(numbers(&lines), (1..=40).collect::<Vec<_>>());
    let keys: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    let expected = [
        "line",
        "model",
        "answers",
        "usage",
        "request_id",
        "warnings",
        "attempts",
    ];
    assert_eq!(keys, expected);
    assert!(!Path::new(&folder.part()).exists());
    let tokens = |name: &str| {
        let counts = lines
            .iter()
            .map(|line| line["usage"][name].as_u64().unwrap());
        counts.sum::<u64>()
    };
    let expected = json!({
        "lines": 40, "answered": 40, "failed": 0, "retried": 0,
        "input_tokens": tokens("input_tokens"), "output_tokens": tokens("output_tokens"),
        "cost": null,
    });
    assert_eq!(ran.object(), expected);
}

#[test]
fn the_summary_is_told_to_people_too_and_has_a_cost_with_a_price() {
    let folder = Folder::with(&numbered(1..=3));
    let ran = folder.batch(skyl(["ask", "--price", "1000000"])).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    let tokens: u64 = folder
        .lines()
        .iter()
        .map(|line| line["usage"]["input_tokens"].as_u64().unwrap())
        .sum();
    let summary = ran.stderr.lines().last().unwrap();
    assert!(
        summary.starts_with("3 lines: 3 answered, 0 failed"),
        "{ran:?}"
    );
    assert!(summary.ends_with(&format!("cost {tokens}")), "{ran:?}");
}

#[test]
fn a_line_that_fails_stops_no_other_and_is_asked_again() {
    let server = Server::start();
    let retried = named(4, "503,ok");
    let input = [
        line(&named(1, "ok")),
        line(&named(2, "422,ok")),
        "\n".to_owned(),
        line(&retried),
        "{\"state\": \n".to_owned(),
        line(&named(6, "401,ok")),
        "  \r\n".to_owned(),
        line(&named(8, "ok")),
    ];
    let folder = Folder::with(&input.concat());
    let ran = folder.batch(server.ask(["--json"])).run();
    // The code of the first line that failed.
    assert_eq!(ran.code, 4, "{ran:?}");
    let object = ran.object();
    for (field, count) in [("lines", 6), ("answered", 3), ("failed", 3), ("retried", 1)] {
        assert_eq!(object[field], count, "{object}");
    }
    let lines = folder.lines();
    assert_eq!(numbers(&lines), [1, 2, 4, 5, 6, 8]);
    let kinds: Vec<&Value> = lines.iter().map(|line| &line["error"]["kind"]).collect();
    let null = Value::Null;
    let (bad, auth) = (Value::from("bad_request"), Value::from("auth"));
    assert_eq!(kinds, [&null, &bad, &null, &bad, &auth, &null]);
    let keys: Vec<&String> = lines[1].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["line", "error", "text", "tool_calls"]);
    assert_eq!(lines[3]["error"]["attempts"], json!([]), "not sent");
    assert!(
        ran.stderr.contains("line 2: ") && ran.stderr.contains("line 5: "),
        "{ran:?}"
    );
    // What was answered stays kept, and only the rest is asked again.
    let mut kept = numbers(&whole_lines(&folder.part()));
    kept.sort_unstable();
    assert_eq!(kept, [1, 4, 8]);
    let before = asked(&server).len();
    let ran = folder.batch(server.ask(["--json", "--resume"])).run();
    assert_eq!(ran.code, 2, "line 5 is still no document: {ran:?}");
    assert_eq!(ran.object()["answered"], 5);
    let mut again = asked(&server)[before..].to_vec();
    again.sort_unstable();
    assert_eq!(again, [2, 6]);
    // Mended, it ends the batch; `line` is still the line of the file.
    fs::write(
        folder.input(),
        input
            .concat()
            .replace("{\"state\": \n", &line(&named(5, "ok"))),
    )
    .unwrap();
    let ran = folder.batch(server.ask(["--resume"])).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stderr.contains("6 answered (5 of them before)"),
        "{ran:?}"
    );
    assert_eq!(numbers(&folder.lines()), [1, 2, 4, 5, 6, 8]);
    assert!(
        folder
            .lines()
            .iter()
            .all(|line| line.get("error").is_none())
    );
    assert!(!Path::new(&folder.part()).exists());
}

#[test]
fn a_finished_batch_that_is_resumed_asks_nothing() {
    let server = Server::start();
    let folder = Folder::with(&numbered(1..=5));
    let first = folder.batch(server.ask(["--json"])).run();
    let out = fs::read(folder.out()).unwrap();
    let second = folder.batch(server.ask(["--json", "--resume"])).run();
    assert_eq!((second.code, second.object()), (0, first.object()));
    assert_eq!(server.journal().len(), 5);
    assert_eq!(fs::read(folder.out()).unwrap(), out);
}

#[test]
fn what_is_there_is_refused_without_resume_and_left_alone() {
    for name in ["out.jsonl", "out.jsonl.part"] {
        let folder = Folder::with(&numbered(1..=2));
        fs::write(folder.path(name), "mine").unwrap();
        let ran = folder.batch(skyl(["ask", "--json"])).run();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert_eq!(ran.object()["error"]["kind"], "usage");
        assert!(ran.stderr.contains("--resume"), "{ran:?}");
        assert_eq!(fs::read_to_string(folder.path(name)).unwrap(), "mine");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2);
    }
}

#[test]
fn the_input_is_never_written_over() {
    let text = numbered(1..=2);
    let folder = Folder::with(&text);
    let (input, odd) = (folder.input(), format!("{}/./in.jsonl", folder.0.display()));
    for (batch, out) in [(&input, &input), (&input, &odd)] {
        let ran = skyl(["ask", "--resume", "--batch", batch, "--out", out]).run();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert_eq!(fs::read_to_string(&input).unwrap(), text);
    }
    // Nor is the output by events, by whatever name and before it is there.
    let other = format!("{}/./out.jsonl", folder.0.display());
    for events in [&folder.out(), &other, &format!("{other}.part")] {
        for resume in ["--json", "--resume"] {
            let ran = folder
                .batch(skyl(["ask", resume, "--events", events]))
                .run();
            assert_eq!(ran.code, 1, "{events}: {ran:?}");
            assert!(ran.stderr.contains("--events"), "{ran:?}");
            assert!(!Path::new(&folder.out()).exists());
            assert!(!Path::new(&folder.part()).exists());
        }
    }
    fs::write(folder.out(), "mine").unwrap();
    let ran = folder
        .batch(skyl(["ask", "--resume", "--events", &folder.out()]))
        .run();
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(fs::read_to_string(folder.out()).unwrap(), "mine");
}

#[test]
fn what_cannot_be_read_or_written_is_told_and_nothing_is_asked() {
    let server = Server::start();
    let folder = Folder::with(&numbered(1..=2));
    let (missing, place) = (folder.path("missing"), folder.path("no/such/out"));
    let folder_itself = folder.path("");
    for (batch, out, word) in [
        (&missing, &folder.out(), "missing"),
        (&folder_itself, &folder.out(), "folder"),
        (&folder.input(), &place, "no/such/out"),
    ] {
        let ran = server.ask(["--json", "--batch", batch, "--out", out]).run();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.object()["error"]["message"]
                .as_str()
                .unwrap()
                .contains(word),
            "{ran:?}"
        );
        assert!(!Path::new(&folder.out()).exists());
    }
    let ran = server
        .ask([
            "--resume",
            "--batch",
            &folder.input(),
            "--out",
            &folder_itself,
        ])
        .run();
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("no file"), "{ran:?}");

    // Where one of the two cannot be, the other is not made.
    fs::create_dir(folder.part()).unwrap();
    let ran = folder.batch(server.ask(["--resume"])).run();
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("no file"), "{ran:?}");
    assert!(!Path::new(&folder.out()).exists());
    assert!(server.journal().is_empty());
}

#[cfg(unix)]
#[test]
fn two_names_of_one_file_are_refused_and_its_answers_stay() {
    let folder = Folder::with(&format!("{}{}", numbered(1..=2), line(&named(3, "400"))));
    let server = Server::start();
    let ran = folder.batch(server.ask([])).run();
    assert_eq!(ran.code, 4, "{ran:?}");
    let before = fs::read_to_string(folder.out()).unwrap();
    for symbolic in [true, false] {
        fs::remove_file(folder.part()).unwrap();
        if symbolic {
            std::os::unix::fs::symlink(folder.out(), folder.part()).unwrap();
        } else {
            fs::hard_link(folder.out(), folder.part()).unwrap();
        }
        let ran = folder.batch(server.ask(["--resume"])).run();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert_eq!(fs::read_to_string(folder.out()).unwrap(), before);
    }
    assert_eq!(server.journal().len(), 3);
}

#[test]
fn lines_come_from_standard_input_too() {
    let folder = Folder::with("");
    let run = skyl(["ask", "--batch", "-", "--out", &folder.out()]);
    let ran = run.input(numbered(1..=3).as_bytes()).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(numbers(&folder.lines()), [1, 2, 3]);
}

#[test]
fn the_flags_model_goes_before_that_of_every_line() {
    let server = Server::start();
    let folder = Folder::with(&numbered(1..=2));
    let ran = folder.batch(server.ask(["--model", "jev-1.13.0"])).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    for entry in server.journal() {
        assert_eq!(entry.model.as_deref(), Some("jev-1.13.0"));
    }
}

#[test]
fn a_wait_the_server_asked_for_holds_back_the_lines_after_it() {
    let server = Server::start();
    // One model: a pause is a model's. It would end after the deadline, so nobody waits for it.
    let folder = Folder::with(&line("sandbox-do-429(ra=60),ok@l1").repeat(3));
    let ran = folder
        .batch(server.ask(["--json", "--concurrency", "1", "--deadline", "30s"]))
        .run();
    assert_eq!(ran.code, 5, "{ran:?}");
    assert_eq!(server.journal().len(), 1);
    for line in &folder.lines()[1..] {
        assert_eq!(line["error"]["kind"], "deadline", "{line}");
    }
}

#[test]
fn attempts_of_all_lines_are_events() {
    let folder = Folder::with(&numbered(1..=4));
    let events = folder.path("events.jsonl");
    let ran = folder.batch(skyl(["ask", "--events", &events])).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(objects(&fs::read_to_string(&events).unwrap()).len(), 4);
}

#[test]
fn nothing_is_lost_where_the_limiter_is_on() {
    let folder = Folder::with(&numbered(1..=20));
    let ran = folder
        .batch(skyl(["ask", "--rpm", "4000000", "--tps", "4000000"]))
        .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(folder.lines().len(), 20);
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_answered_and_a_second_run_ends_it() {
    let server = Server::start();
    let stuck = line(&named(4, "stall(600000)"));
    let folder = Folder::with(&[numbered(1..=3), stuck, numbered(5..=8)].concat());
    let mut running = folder
        .batch(server.ask(["--concurrency", "2", "--events", "-", "--timeout", "1h"]))
        .start();
    // All but the one that hangs: those behind it wait for their turn in the output.
    for _ in 0..7 {
        assert!(running.line().starts_with('{'));
    }
    let ran = running.signal("INT");
    assert_eq!(ran.code, 130, "{ran:?}");
    assert!(ran.stderr.contains("7 answered"), "{ran:?}");
    assert_eq!(numbers(&folder.lines()), [1, 2, 3]);
    assert_eq!(whole_lines(&folder.part()).len(), 7);
    fs::write(folder.input(), numbered(1..=8)).unwrap();
    let before = asked(&server).len();
    let ran = folder.batch(server.ask(["--resume"])).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(asked(&server)[before..], [4]);
    assert_eq!(numbers(&folder.lines()), (1..=8).collect::<Vec<_>>());
}

#[cfg(unix)]
#[test]
fn a_second_batch_on_the_same_output_is_refused() {
    let server = Server::start();
    let folder = Folder::with(&[numbered(1..=1), line(&named(2, "stall(600000)"))].concat());
    let mut running = folder
        .batch(server.ask(["--events", "-", "--timeout", "1h"]))
        .start();
    running.line();
    for resume in [&["--resume"][..], &[]] {
        let mut run = folder.batch(server.ask([]));
        for arg in resume {
            run = run.args([arg]);
        }
        let ran = run.run();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("out.jsonl"), "{ran:?}");
    }
    let ran = running.signal("TERM");
    assert_eq!(ran.code, 130, "{ran:?}");
    assert_eq!(numbers(&folder.lines()), [1]);
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_is_told_and_what_was_answered_is_kept() {
    let server = Server::start();
    let folder = Folder::with(&numbered(1..=20));
    // The shell's limit stands in for the disk: files may have 2 blocks of 512 or 1,024 bytes.
    let ran = folder
        .batch(server.ask_in_shell("trap '' XFSZ; ulimit -f 2", ["--json"]))
        .run();
    assert_eq!(ran.code, 1, "{ran:?}");
    let message = ran.object()["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.contains("out.jsonl") && message.contains("--resume"),
        "{message}"
    );
    let kept = numbers(&whole_lines(&folder.part()));
    assert!(!kept.is_empty() && kept.len() < 20, "{kept:?}");
    let part = fs::read_to_string(folder.part()).unwrap();
    assert!(part.ends_with('\n'), "{part}");
    let before = asked(&server).len();
    let ran = folder.batch(server.ask(["--resume"])).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let again: BTreeSet<u64> = asked(&server)[before..].iter().copied().collect();
    assert!(
        kept.iter().all(|line| !again.contains(line)),
        "{kept:?} {again:?}"
    );
    assert_eq!(numbers(&folder.lines()), (1..=20).collect::<Vec<_>>());
}

/// The program is killed ten times at random moments, and resumed. After that every line is answered
/// once and in order, and no line was sent after its answer had been kept.
#[cfg(unix)]
#[test]
fn a_batch_survives_being_killed_at_any_moment() {
    const LINES: u64 = 2000;
    const KILLS: u64 = 10;

    // SKYL_TEST_SEED replays a run, as far as the machine's own timing lets it.
    let seed = std::env::var("SKYL_TEST_SEED").ok();
    let seed = seed.map_or_else(
        || Rng::from_entropy().next_u64(),
        |seed| seed.parse().unwrap(),
    );
    println!("seed: SKYL_TEST_SEED={seed}");
    let mut rng = Rng::from_seed(seed);

    let server = Server::start();
    let input: String = (1..=LINES)
        .map(|number| {
            let script = match rng.next_u64() % 20 {
                0 => "503(ra=0),ok",
                1 => "reset,ok",
                _ => "ok",
            };
            line(&named(number, script))
        })
        .collect();
    let folder = Folder::with(&input);
    let run =
        || folder.batch(server.ask(["--resume", "--concurrency", "16", "--max-retries", "5"]));
    // When each answer was first seen on the disk, by the requests there had been.
    let mut kept_at = HashMap::<u64, usize>::new();
    for kill in 0..KILLS {
        let open = LINES - u64::try_from(kept_at.len()).unwrap();
        let mut running = run().args(["--events", "-"]).start();
        // On the whole evenly over what is left, and sometimes at once.
        for _ in 0..rng.next_u64() % (2 * open / (KILLS - kill + 1)).max(1) {
            running.line();
        }
        running.kill();
        let sent = server.journal().len();
        for path in [folder.out(), folder.part()] {
            for line in whole_lines(&path) {
                assert!(line.get("answers").is_some(), "{line}");
                kept_at
                    .entry(line["line"].as_u64().unwrap())
                    .or_insert(sent);
            }
        }
    }
    let ran = run().run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!Path::new(&folder.part()).exists());
    assert_eq!(numbers(&folder.lines()), (1..=LINES).collect::<Vec<_>>());
    assert!(
        folder
            .lines()
            .iter()
            .all(|line| line.get("answers").is_some())
    );
    for (sent, line) in asked(&server).into_iter().enumerate() {
        let kept = kept_at.get(&line).copied().unwrap_or(usize::MAX);
        assert!(sent < kept, "line {line} was sent although it was answered");
    }
}
