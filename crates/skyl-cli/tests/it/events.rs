//! `--events`: one JSON line per attempt.

use serde_json::Value;

use crate::support::{Scratch, skyl};

const EVENT: [&str; 13] = [
    "call",
    "operation",
    "provider",
    "model",
    "attempt",
    "duration_ms",
    "status",
    "kind",
    "request_id",
    "wait_ms",
    "will_retry",
    "retry_stop",
    "usage",
];

fn events(text: &str) -> Vec<Value> {
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for event in &events {
        let keys: Vec<&str> = event
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(keys, EVENT);
        assert_eq!(event["call"], events[0]["call"]);
    }
    events
}

fn column<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().map(|event| &event[name]).collect()
}

#[test]
fn every_attempt_is_a_line_in_the_file() {
    let file = Scratch::new("events.jsonl", b"an older run\n");
    let ran = skyl([
        "chat",
        "hi",
        "--json",
        "--retry-base",
        "1ms",
        "--events",
        file.path(),
    ])
    .args(["--fault", "429(ra-ms=1),reset,ok"])
    .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let events = events(&file.read());
    assert_eq!(column(&events, "attempt"), [0, 1, 2]);
    assert_eq!(column(&events, "operation"), ["complete"; 3]);
    assert_eq!(column(&events, "will_retry"), [true, true, false]);
    assert_eq!(
        column(&events, "kind"),
        [
            &Value::from("rate_limit"),
            &"transport".into(),
            &Value::Null
        ]
    );
    assert_eq!(events[0]["wait_ms"], 1);
    assert_eq!(events[2]["wait_ms"], Value::Null);
    assert_eq!(column(&events, "retry_stop"), [&Value::Null; 3]);
    assert!(
        events[2]["usage"]["output_tokens"].is_number(),
        "{events:?}"
    );
    // The record of the answer tells the same waits.
    let object = ran.object();
    for (event, attempt) in events.iter().zip(object["attempts"].as_array().unwrap()) {
        for (ours, theirs) in [
            ("wait_ms", "wait_ms"),
            ("kind", "kind"),
            ("status", "status"),
        ] {
            assert_eq!(event[ours], attempt[theirs]);
        }
    }
}

#[test]
fn the_last_attempt_of_a_failed_call_says_why_it_was_the_last() {
    let file = Scratch::new("failed.jsonl", b"");
    skyl([
        "chat",
        "hi",
        "--events",
        file.path(),
        "--fault",
        "429(ra-ms=1)",
        "--max-retries",
        "1",
    ])
    .run();
    let events = events(&file.read());
    assert_eq!(
        column(&events, "retry_stop"),
        [&Value::Null, &"attempts_exhausted".into()]
    );
}

#[test]
fn a_stream_has_an_end_of_its_own() {
    let file = Scratch::new("stream.jsonl", b"");
    skyl([
        "chat",
        "hi",
        "--stream",
        "--events",
        file.path(),
        "--retry-base",
        "1ms",
    ])
    .args(["--fault", "503,ok"])
    .run();
    let events = events(&file.read());
    assert_eq!(
        column(&events, "operation"),
        ["stream", "stream", "stream_end"]
    );
}

#[test]
fn on_standard_output_events_never_run_into_the_text() {
    let ran = skyl(["chat", "hello there", "--stream", "--events", "-"]).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let (json, text): (Vec<&str>, Vec<&str>) =
        ran.stdout.lines().partition(|line| line.starts_with('{'));
    assert_eq!(events(&json.join("\n")).len(), 2);
    assert_eq!(text, ["You said: hello there"]);
}

#[test]
fn refusals_on_this_side_leave_no_line() {
    let file = Scratch::new("refused.jsonl", b"");
    let ran = skyl(["chat", "hi", "--max-tokens", "0", "--events", file.path()]).run();
    assert_eq!((ran.code, file.read().as_str()), (2, ""));
}
