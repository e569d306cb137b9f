//! Retries as the flags ask for them, and as they are told.

use serde_json::Value;

use crate::support::{Server, skyl};

#[test]
fn every_retry_is_told_with_its_reason_and_its_wait() {
    let ran = skyl([
        "chat",
        "What is the capital of France?",
        "--retry-base",
        "1ms",
    ])
    .args(["--fault", "429(ra-ms=1)*2,reset,ok"])
    .run();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Paris\n"), "{ran:?}");
    let lines = ran.attempts();
    assert_eq!(lines.len(), 4, "{ran:?}");
    for (line, number) in lines[..2].iter().zip(1..) {
        let expected =
            format!("attempt {number}: http 429 rate limited; server asked for 1ms; waiting 1ms");
        assert_eq!(*line, expected);
    }
    assert!(lines[2].starts_with("attempt 3: request failed"), "{ran:?}");
    assert!(
        lines[2].contains("; backoff ") && lines[2].contains("; waiting "),
        "{ran:?}"
    );
    assert!(lines[3].starts_with("attempt 4: answered"), "{ran:?}");
}

#[test]
fn a_pipe_gets_neither_colours_nor_lines_that_move() {
    let ran = skyl(["chat", "hi", "--fault", "429(ra-ms=1)"])
        .env("TERM", "xterm")
        .run();
    assert!(
        !ran.stderr.contains('\u{1b}') && !ran.stderr.contains('\r'),
        "{ran:?}"
    );
    let last = ran
        .stderr
        .lines()
        .find(|line| line.starts_with("skyl: "))
        .unwrap();
    assert!(
        last.starts_with("skyl: giving up after 4 attempts: skyl: openai: rate limited (http 429)"),
        "{ran:?}"
    );
}

#[test]
fn attempts_events_and_journal_agree() {
    let server = Server::start();
    let ran = server
        .chat([
            "hi",
            "--json",
            "--model",
            "sandbox-do-429(ra-ms=1),503,ok@agree",
        ])
        .run();
    let object = ran.object();
    let journal = server.journal();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(object["attempts"].as_array().unwrap().len(), 3);
    assert_eq!(journal.len(), 3);
    for (attempt, entry) in object["attempts"].as_array().unwrap().iter().zip(&journal) {
        assert_eq!(attempt["status"].as_u64(), entry.status.map(u64::from));
        assert_eq!(entry.body_sha256, journal[0].body_sha256);
    }
}

#[track_caller]
fn stop(args: &[&str]) -> (Value, usize) {
    let mut run = skyl(["chat", "hi", "--json", "--retry-base", "1ms"]);
    for arg in args {
        run = run.args([arg]);
    }
    let object = run.run().object();
    (
        object["error"]["stop_reason"].clone(),
        object["error"]["attempts"].as_array().unwrap().len(),
    )
}

#[test]
fn every_flag_that_ends_retries_does_and_says_so() {
    assert_eq!(stop(&["--fault", "503"]), ("attempts_exhausted".into(), 4));
    assert_eq!(
        stop(&["--fault", "503", "--max-retries", "1"]),
        ("attempts_exhausted".into(), 2)
    );
    assert_eq!(
        stop(&["--fault", "503", "--max-retries", "0"]),
        ("retries_disabled".into(), 1)
    );
    assert_eq!(
        stop(&["--fault", "503(ra=60)", "--budget", "30s"]),
        ("time_budget".into(), 1)
    );
    assert_eq!(
        stop(&["--fault", "503(ra-ms=1)", "--budget", "30s"]),
        ("attempts_exhausted".into(), 4)
    );
    assert_eq!(
        stop(&["--fault", "503(ra=60)", "--deadline", "30s"]),
        ("deadline".into(), 1)
    );
    assert_eq!(
        stop(&[
            "--fault",
            "503(ra=60)",
            "--retry-after-cap",
            "1ms",
            "--over-cap",
            "give-up"
        ]),
        ("hint_over_cap".into(), 1)
    );
    assert_eq!(
        stop(&[
            "--fault",
            "503(ra=60)",
            "--retry-after-cap",
            "1ms",
            "--over-cap",
            "clamp"
        ]),
        ("attempts_exhausted".into(), 4)
    );
    assert_eq!(
        stop(&["--fault", "503(ra=60)", "--ignore-retry-after"]),
        ("attempts_exhausted".into(), 4)
    );
    assert_eq!(
        stop(&["--fault", "503(should-retry=false)"]),
        ("server_said_no".into(), 1)
    );
    assert_eq!(stop(&["--fault", "400"]), ("not_retryable".into(), 1));
    assert_eq!(
        stop(&["--fault", "reset", "--no-retry-on-conn-err"]),
        ("not_retryable".into(), 1)
    );
    assert_eq!(
        stop(&["--fault", "reset"]),
        ("attempts_exhausted".into(), 4)
    );
    let stall = [
        "--fault",
        "stall(60000)",
        "--timeout",
        "20ms",
        "--max-retries",
        "1",
    ];
    assert_eq!(stop(&stall), ("attempts_exhausted".into(), 2));
    assert_eq!(
        stop(&[&stall[..], &["--no-retry-on-timeout"]].concat()),
        ("not_retryable".into(), 1)
    );
}

#[test]
fn a_request_that_was_not_sent_is_retried_where_that_is_asked_for() {
    let refused = [
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--model",
        "m",
        "--no-retry-on-conn-err",
    ];
    assert_eq!(stop(&refused), ("not_retryable".into(), 1));
    assert_eq!(
        stop(&[&refused[..], &["--retry-unsent"]].concat()),
        ("attempts_exhausted".into(), 4)
    );
}

#[test]
fn why_there_is_no_further_attempt_is_said_to_people() {
    let ran = skyl(["chat", "hi", "--fault", "503(ra=60)", "--budget", "30s"]).run();
    assert_eq!(ran.code, 6, "{ran:?}");
    let why = "the wait would pass the time budget (the server asked for 1m)";
    assert!(ran.stderr.contains(why), "{ran:?}");
    let ran = skyl(["chat", "hi", "--fault", "400"]).run();
    assert!(!ran.stderr.contains("no further attempt"), "{ran:?}");
}

#[test]
fn a_stream_is_retried_up_to_its_first_content() {
    let ran = skyl(["chat", "hi", "--stream", "--json", "--retry-base", "1ms"])
        .args(["--fault", "503,reset,first-error,ok"])
        .run();
    let object = ran.object();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(object["attempts"].as_array().unwrap().len(), 4);
    assert_eq!(object["text"], "You said: hi");
}

#[test]
fn a_running_stream_that_falls_silent_is_ended() {
    let ran = skyl([
        "chat",
        "hello there",
        "--stream",
        "--json",
        "--idle-timeout",
        "50ms",
    ])
    .args(["--fault", "stream-stall(1;60000)"])
    .run();
    let object = ran.object();
    assert_eq!(
        (ran.code, object["error"]["kind"].as_str()),
        (7, Some("timeout")),
        "{ran:?}"
    );
    assert_eq!(object["error"]["delivered"], true);
}

/// The planned waits of a call that never succeeds, in milliseconds.
fn waits<const N: usize>(args: [&str; N]) -> Vec<f64> {
    let object = skyl([
        "chat",
        "hi",
        "--json",
        "--fault",
        "503",
        "--max-retries",
        "8",
    ])
    .args(args)
    .run()
    .object();
    let attempts = object["error"]["attempts"].as_array().unwrap();
    let waits: Vec<f64> = attempts
        .iter()
        .filter_map(|attempt| attempt["wait_ms"].as_f64())
        .collect();
    assert_eq!(waits.len(), 8, "{object}");
    waits
}

#[test]
fn the_own_waits_keep_to_their_bounds() {
    let full = waits(["--retry-base", "1ms", "--retry-max", "2ms"]);
    assert!(
        full.iter().all(|wait| (0.0..=2.0).contains(wait)),
        "{full:?}"
    );
    let equal = waits([
        "--retry-base",
        "2ms",
        "--retry-max",
        "2ms",
        "--jitter",
        "equal",
    ]);
    assert!(
        equal.iter().all(|wait| (1.0..=2.0).contains(wait)),
        "{equal:?}"
    );
    let shaved = waits([
        "--retry-base",
        "2ms",
        "--retry-max",
        "2ms",
        "--jitter",
        "shave=0.1",
    ]);
    assert!(
        shaved.iter().all(|wait| (1.8..=2.0).contains(wait)),
        "{shaved:?}"
    );
    // No two calls wait the same: a fleet must not return as one.
    assert_ne!(
        equal,
        waits([
            "--retry-base",
            "2ms",
            "--retry-max",
            "2ms",
            "--jitter",
            "equal"
        ])
    );
}
