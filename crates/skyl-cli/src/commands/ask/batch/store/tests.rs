use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use skyl_retry::Rng;

use super::*;

/// No line is left to ask.
const NONE: [u64; 0] = [];

/// A folder of its own, with `OUT` and `OUT.part` in it; gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("skyl-store-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn with(out: &str, part: &str) -> Self {
        let folder = Self::new();
        fs::write(folder.out(), out).unwrap();
        fs::write(folder.part(), part).unwrap();
        folder
    }

    fn out(&self) -> PathBuf {
        self.0.join("out.jsonl")
    }

    fn part(&self) -> PathBuf {
        part_of(&self.out())
    }

    /// The numbers of the answers (`n`) and failures (`-n`) in `OUT`.
    fn lines(&self) -> Vec<i64> {
        numbers(&fs::read_to_string(self.out()).unwrap())
    }

    fn kept(&self) -> Vec<i64> {
        numbers(&fs::read_to_string(self.part()).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn numbers(text: &str) -> Vec<i64> {
    assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
    text.lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            let number = value["line"].as_i64().unwrap();
            if value.get("answers").is_some() {
                number
            } else {
                -number
            }
        })
        .collect()
}

fn text(numbers: &[i64]) -> String {
    numbers.iter().map(|number| line(*number)).collect()
}

fn line(number: i64) -> String {
    let record = if number > 0 {
        answer(number.unsigned_abs())
    } else {
        failure(number.unsigned_abs())
    };
    String::from_utf8(record.json).unwrap()
}

fn answer(line: u64) -> Record {
    let tally = Tally {
        retried: line.is_multiple_of(2),
        input_tokens: 10,
        output_tokens: 1,
    };
    let attempts = vec![json!({}); if tally.retried { 2 } else { 1 }];
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let object = json!({"answers": {"q": line}, "usage": usage, "attempts": attempts});
    Record::new(line, &object, tally).unwrap()
}

fn failure(line: u64) -> Record {
    let object = json!({"error": {"kind": "server"}, "text": "", "tool_calls": []});
    Record::new(line, &object, Tally::default()).unwrap()
}

/// Begins with lines `1..=last` and gives those that are still to be asked.
fn begin(store: &mut Store, last: u64) -> Vec<u64> {
    (1..=last)
        .filter(|line| store.begin(*line).unwrap() == Known::Open)
        .collect()
}

fn answered(store: &mut Store, lines: &[u64]) {
    for line in lines {
        store.answered(*line, &answer(*line)).unwrap();
    }
}

fn refused(opened: Result<Store, Failure>) -> String {
    match opened {
        Ok(_) => panic!("taken"),
        Err(failure) => {
            assert_eq!(failure.exit(), Exit::Usage);
            failure.line()
        }
    }
}

#[test]
fn answers_come_in_any_order_and_are_written_in_order() {
    let folder = Folder::new();
    let mut store = Store::create(&folder.out()).unwrap();
    assert_eq!(begin(&mut store, 4), [1, 2, 3, 4]);
    answered(&mut store, &[3, 2]);
    assert_eq!((folder.lines(), folder.kept()), (vec![], vec![3, 2]));
    assert_eq!(store.ahead(), 4);
    answered(&mut store, &[1]);
    assert_eq!(
        (folder.lines(), folder.kept()),
        (vec![1, 2, 3], vec![3, 2, 1])
    );
    assert_eq!(store.ahead(), 1);
    answered(&mut store, &[4]);
    let totals = store.finish().unwrap();
    assert_eq!(folder.lines(), [1, 2, 3, 4]);
    assert!(!folder.part().exists());
    let expected = Totals {
        answered: 4,
        retried: 2,
        input_tokens: 40,
        output_tokens: 4,
        ..Totals::default()
    };
    assert_eq!(totals, expected);
}

#[test]
fn what_is_written_is_byte_for_byte_what_was_kept() {
    let folder = Folder::new();
    let mut store = Store::create(&folder.out()).unwrap();
    begin(&mut store, 2);
    answered(&mut store, &[2, 1]);
    assert_eq!(fs::read_to_string(folder.out()).unwrap(), text(&[1, 2]));
}

#[test]
fn a_failure_stands_in_its_place_and_what_was_answered_stays_kept() {
    let folder = Folder::new();
    let mut store = Store::create(&folder.out()).unwrap();
    begin(&mut store, 4);
    store.failed(4, failure(4), Exit::Auth).unwrap();
    store.failed(2, failure(2), Exit::Limit).unwrap();
    answered(&mut store, &[3, 1]);
    let totals = store.finish().unwrap();
    assert_eq!(
        (folder.lines(), folder.kept()),
        (vec![1, -2, 3, -4], vec![3, 1])
    );
    // The first of the input, not the first that happened.
    assert_eq!(totals.first_failure, Some((2, Exit::Limit)));
    assert_eq!((totals.answered, totals.failed), (2, 2));
}

#[test]
fn numbers_may_have_gaps_where_lines_are_blank() {
    let folder = Folder::new();
    let mut store = Store::create(&folder.out()).unwrap();
    for line in [2, 5] {
        assert_eq!(store.begin(line).unwrap(), Known::Open);
    }
    answered(&mut store, &[5, 2]);
    store.finish().unwrap();
    assert_eq!(folder.lines(), [2, 5]);
}

#[test]
fn an_empty_input_leaves_an_empty_file() {
    let folder = Folder::new();
    let totals = Store::create(&folder.out()).unwrap().finish().unwrap();
    assert_eq!((folder.lines(), totals), (vec![], Totals::default()));
    assert!(!folder.part().exists());
}

#[test]
fn what_is_there_already_is_refused_and_left_alone() {
    for (out, part) in [(true, false), (false, true), (true, true)] {
        let folder = Folder::new();
        if out {
            fs::write(folder.out(), "mine").unwrap();
        }
        if part {
            fs::write(folder.part(), "mine").unwrap();
        }
        let line = refused(Store::create(&folder.out()));
        assert!(line.contains("--resume"), "{line}");
        for (path, was) in [(folder.out(), out), (folder.part(), part)] {
            let text = fs::read_to_string(path).ok();
            assert_eq!(text.as_deref(), was.then_some("mine"));
        }
    }
}

#[cfg(unix)]
#[test]
fn two_batches_on_one_file_are_refused_for_as_long_as_the_first_runs() {
    let folder = Folder::new();
    let store = Store::create(&folder.out()).unwrap();
    let line = refused(Store::resume(&folder.out()));
    assert!(line.contains("another batch"), "{line}");
    drop(store);
    let store = Store::resume(&folder.out()).unwrap();
    assert!(refused(Store::resume(&folder.out())).contains("another batch"));
    drop(store);
}

#[test]
fn a_path_that_is_no_place_for_a_file_is_told() {
    let folder = Folder::new();
    let missing = folder.0.join("no/such/out");
    for opened in [Store::create(&missing), Store::resume(&missing)] {
        assert!(refused(opened).contains("no/such/out"));
    }
    assert!(refused(Store::resume(&folder.0)).contains("skyl-store"));
}

/// Resumes with these contents, asks what is open of `1..=last`, and gives what that was.
#[track_caller]
fn resumed(out: &str, part: &str, last: u64) -> Vec<u64> {
    let folder = Folder::with(out, part);
    let mut store = Store::resume(&folder.out()).unwrap();
    let asked = begin(&mut store, last);
    // Backwards, so that every one but the last has to wait.
    let backwards: Vec<u64> = asked.iter().rev().copied().collect();
    answered(&mut store, &backwards);
    let totals = store.finish().unwrap();
    let all: Vec<i64> = (1..=last).map(u64::cast_signed).collect();
    assert_eq!(folder.lines(), all, "{out:?} {part:?}");
    assert_eq!(fs::read_to_string(folder.out()).unwrap(), text(&all));
    assert!(!folder.part().exists());
    assert_eq!(totals.answered, last);
    assert_eq!(totals.kept, last - u64::try_from(asked.len()).unwrap());
    assert_eq!(totals.input_tokens, 10 * last);
    asked
}

#[test]
fn nothing_to_resume_is_a_fresh_start() {
    assert_eq!(resumed("", "", 3), [1, 2, 3]);
    let folder = Folder::new();
    let mut store = Store::resume(&folder.out()).unwrap();
    assert_eq!(begin(&mut store, 2), [1, 2]);
}

#[test]
fn an_answer_in_either_file_is_an_answer() {
    assert_eq!(resumed(&text(&[1, 2]), &text(&[1, 2, 4]), 5), [3, 5]);
    assert_eq!(resumed(&text(&[1, 2]), "", 4), [3, 4]);
    assert_eq!(resumed("", &text(&[4, 2]), 4), [1, 3]);
    assert_eq!(resumed(&text(&[1, 2, 3]), "", 3), NONE);
    assert_eq!(resumed(&text(&[1, 2, 3]), &text(&[3, 1, 2]), 3), NONE);
}

#[test]
fn a_failure_is_asked_again_and_the_answers_behind_it_are_not() {
    let part = text(&[1, 3]);
    assert_eq!(resumed(&text(&[1, -2, 3, -4]), &part, 4), [2, 4]);
    // The part may be lost: what stands in the output is enough.
    assert_eq!(resumed(&text(&[1, -2, 3, -4]), "", 4), [2, 4]);
    assert_eq!(resumed(&text(&[-1]), "", 1), [1]);
    // Of a failure and an answer to one line the answer counts.
    assert_eq!(resumed(&text(&[-1, 2]), &text(&[1]), 2), NONE);
}

#[test]
fn an_output_with_gaps_or_out_of_order_is_put_in_order() {
    assert_eq!(resumed(&text(&[1, 4]), "", 4), [2, 3]);
    assert_eq!(resumed(&text(&[2, 4]), &text(&[3]), 4), [1]);
    assert_eq!(resumed(&text(&[3, 1, 2]), "", 3), NONE);
    assert_eq!(resumed(&text(&[1, 1, 2, 2]), &text(&[2, 2]), 2), NONE);
}

#[test]
fn a_line_torn_at_any_byte_is_cut_and_asked_again() {
    let (before, torn) = (text(&[1]), line(2));
    for at in 0..torn.len() - 1 {
        let torn = format!("{before}{}", &torn[..at]);
        // Without its last byte, the end, it is whole, whichever file it stands in.
        let open = if at == torn.len() - 1 {
            vec![3]
        } else {
            vec![2, 3]
        };
        assert_eq!(resumed(&torn, "", 3), open, "{at}");
        assert_eq!(resumed("", &torn, 3), open, "{at}");
        assert_eq!(resumed(&torn, &torn, 3), open, "{at}");
    }
}

#[test]
fn an_answer_that_lacks_its_line_end_alone_is_an_answer() {
    let text = text(&[1, 2]);
    let unended = text.trim_end();
    assert_eq!(resumed(unended, "", 3), [3]);
    assert_eq!(resumed("", unended, 3), [3]);
    assert_eq!(resumed(unended, unended, 3), [3]);
}

#[test]
fn zeroes_that_a_power_cut_left_at_the_end_are_cut() {
    let torn = format!("{}\0\0\0\0", text(&[1]));
    assert_eq!(resumed(&torn, &torn, 2), [2]);
}

#[test]
fn files_of_others_are_refused_and_not_changed() {
    for text in ["{\"state\": \"x\"}\n", "hello\nworld\n", "[]\n{\"li"] {
        for (out, part) in [(text, ""), ("", text)] {
            let folder = Folder::with(out, part);
            let line = refused(Store::resume(&folder.out()));
            assert!(line.contains("line 1 of"), "{line}");
            assert_eq!(fs::read_to_string(folder.out()).unwrap(), out);
            assert_eq!(fs::read_to_string(folder.part()).unwrap(), part);
        }
    }
}

#[test]
fn answers_to_lines_that_the_input_does_not_ask_end_the_run_and_stay() {
    let folder = Folder::with(&text(&[1, 2, 3]), &text(&[3, 2, 1]));
    let mut store = Store::resume(&folder.out()).unwrap();
    begin(&mut store, 2);
    let line = store.finish().unwrap_err().line();
    assert!(
        line.contains("line 3") && line.contains("same input"),
        "{line}"
    );
    assert_eq!(
        (folder.lines(), folder.kept()),
        (vec![1, 2, 3], vec![3, 2, 1])
    );
}

#[test]
fn failures_of_lines_that_are_no_more_are_cut() {
    let folder = Folder::with(&text(&[1, -2]), "");
    let mut store = Store::resume(&folder.out()).unwrap();
    assert_eq!(begin(&mut store, 1), NONE);
    store.finish().unwrap();
    assert_eq!(folder.lines(), [1]);
}

#[test]
fn a_finished_output_is_not_written_again() {
    let folder = Folder::with(&text(&[1, 2]), "");
    let before = fs::metadata(folder.out()).unwrap().modified().unwrap();
    let mut store = Store::resume(&folder.out()).unwrap();
    assert_eq!(begin(&mut store, 2), NONE);
    store.finish().unwrap();
    assert_eq!(
        fs::metadata(folder.out()).unwrap().modified().unwrap(),
        before
    );
}

#[test]
fn a_run_that_is_stopped_keeps_everything() {
    let folder = Folder::new();
    let mut store = Store::create(&folder.out()).unwrap();
    begin(&mut store, 3);
    answered(&mut store, &[3, 1]);
    let totals = store.leave().unwrap();
    assert_eq!(totals.answered, 2);
    assert_eq!((folder.lines(), folder.kept()), (vec![1], vec![3, 1]));
}

/// Runs that end anywhere, at any line, and leave either file torn, one after the other.
///
/// After each, whoever was answered is not asked again; at the end all are answered, in order.
#[test]
fn no_history_of_runs_loses_an_answer_or_asks_for_one_twice() {
    for seed in 0..60 {
        let mut rng = Rng::from_seed(seed);
        let mut below = |limit: u64| rng.next_u64() % limit;
        let folder = Folder::new();
        let last = 1 + below(12);
        let mut answered = Vec::new();
        loop {
            let mut store = Store::resume(&folder.out()).unwrap();
            let mut open = begin(&mut store, last);
            for line in &open {
                assert!(
                    !answered.contains(line),
                    "seed {seed}: line {line} is asked again"
                );
            }
            assert_eq!(
                open.len() + answered.len(),
                usize::try_from(last).unwrap(),
                "seed {seed}"
            );
            let end = below(10);
            while !open.is_empty() && end > 1 && below(8) > 0 {
                let at = usize::try_from(below(open.len() as u64)).unwrap();
                let line = open.remove(at);
                if below(3) == 0 {
                    store.failed(line, failure(line), Exit::Provider).unwrap();
                } else {
                    store.answered(line, &answer(line)).unwrap();
                    answered.push(line);
                }
            }
            if open.is_empty() && end > 5 {
                if store.finish().unwrap().failed == 0 {
                    break;
                }
            } else if end > 3 {
                store.leave().unwrap();
            } else {
                // Killed, with something half written, or not yet written, in one of the files.
                drop(store);
                let torn = line(i64::try_from(last).unwrap());
                let torn = &torn[..usize::try_from(below(torn.len() as u64 - 2)).unwrap()];
                let read = |path: PathBuf| fs::read_to_string(path).unwrap();
                match below(3) {
                    0 => fs::write(folder.out(), read(folder.out()) + torn).unwrap(),
                    1 => fs::write(folder.part(), read(folder.part()) + torn).unwrap(),
                    _ => {
                        let out = read(folder.out());
                        let len = usize::try_from(below(out.len() as u64 + 1)).unwrap();
                        fs::write(folder.out(), &out[..len]).unwrap();
                    }
                }
            }
        }
        let all: Vec<i64> = (1..=last).map(u64::cast_signed).collect();
        assert_eq!(folder.lines(), all, "seed {seed}");
        assert!(!folder.part().exists(), "seed {seed}");
    }
}
