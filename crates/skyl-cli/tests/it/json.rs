//! The JSON contract: one object, always, with every field in its place.

use serde_json::{Value, json};

use crate::support::{Server, skyl};

#[track_caller]
fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

const SUCCESS: [&str; 10] = [
    "id",
    "provider",
    "model",
    "text",
    "stop_reason",
    "usage",
    "tool_calls",
    "warnings",
    "request_id",
    "attempts",
];
const USAGE: [&str; 5] = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
];
const FAILURE: [&str; 3] = ["error", "text", "tool_calls"];
const ERROR: [&str; 11] = [
    "kind",
    "message",
    "status",
    "provider",
    "code",
    "request_id",
    "retryable",
    "retry_after_ms",
    "delivered",
    "stop_reason",
    "attempts",
];
const ATTEMPT: [&str; 5] = ["attempt", "status", "kind", "duration_ms", "wait_ms"];

#[track_caller]
fn failure(object: &Value) -> &Value {
    assert_eq!(keys(object), FAILURE);
    let error = &object["error"];
    assert_eq!(keys(error), ERROR);
    for attempt in error["attempts"].as_array().unwrap() {
        assert_eq!(keys(attempt), ATTEMPT);
    }
    assert!(
        object["text"].is_string() && object["tool_calls"].is_array(),
        "{object}"
    );
    error
}

#[test]
fn a_success_has_every_field_whole_and_streamed() {
    for extra in [&[][..], &["--stream"]] {
        let mut run = skyl(["chat", "--json", "What is the capital of France?"]);
        for arg in extra {
            run = run.args([arg]);
        }
        let ran = run.run();
        let object = ran.object();
        assert_eq!(ran.code, 0);
        assert_eq!(keys(&object), SUCCESS);
        assert_eq!(keys(&object["usage"]), USAGE);
        assert_eq!(object["text"], "Paris");
        assert_eq!(object["stop_reason"], "end_turn");
        assert_eq!(object["model"], "gpt-5.6");
        assert_eq!(
            (&object["tool_calls"], &object["warnings"]),
            (&json!([]), &json!([]))
        );
        assert!(
            object["usage"]["input_tokens"].as_u64().unwrap() > 0,
            "{object}"
        );
        let attempts = object["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), 1);
        assert_eq!(keys(&attempts[0]), ATTEMPT);
        assert_eq!(attempts[0]["attempt"], 0);
        assert_eq!(
            (&attempts[0]["kind"], &attempts[0]["wait_ms"]),
            (&Value::Null, &Value::Null)
        );
        assert!(attempts[0]["duration_ms"].is_number(), "{object}");
    }
}

#[test]
fn retries_that_helped_stand_in_the_record() {
    let object = skyl(["chat", "--json", "hi", "--retry-base", "1ms"])
        .args(["--fault", "429(ra-ms=1)*2,reset,ok"])
        .run()
        .object();
    let attempts = object["attempts"].as_array().unwrap();
    let column = |name: &str| {
        attempts
            .iter()
            .map(|attempt| attempt[name].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(column("attempt"), [json!(0), json!(1), json!(2), json!(3)]);
    assert_eq!(
        column("kind"),
        [
            json!("rate_limit"),
            json!("rate_limit"),
            json!("transport"),
            Value::Null
        ]
    );
    assert_eq!(column("status")[..3], [json!(429), json!(429), Value::Null]);
    assert_eq!(column("wait_ms")[..2], [json!(1), json!(1)]);
    assert_eq!(column("wait_ms")[3], Value::Null);
}

#[test]
fn giving_up_has_the_exact_text_and_the_facts() {
    let ran = skyl(["chat", "--json", "hi", "--fault", "429(ra-ms=1)"]).run();
    let object = ran.object();
    let error = failure(&object);
    assert_eq!(ran.code, 5);
    let message = error["message"].as_str().unwrap();
    assert!(
        message
            .starts_with("skyl: giving up after 4 attempts: skyl: openai: rate limited (http 429)"),
        "{message}"
    );
    assert_eq!(error["kind"], "rate_limit");
    assert_eq!(error["status"], 429);
    assert_eq!(error["retry_after_ms"], 1);
    assert_eq!(error["retryable"], true);
    assert_eq!(error["delivered"], false);
    assert_eq!(error["stop_reason"], "attempts_exhausted");
    assert_eq!(error["attempts"].as_array().unwrap().len(), 4);
    assert_eq!(error["attempts"][3]["wait_ms"], Value::Null);
    assert_eq!(
        (&object["text"], &object["tool_calls"]),
        (&json!(""), &json!([]))
    );
}

#[test]
fn retries_that_are_off_leave_the_error_bare() {
    let object = skyl([
        "chat",
        "--json",
        "hi",
        "--fault",
        "429(ra=7)",
        "--max-retries",
        "0",
    ])
    .run()
    .object();
    let error = failure(&object);
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .starts_with("skyl: openai: rate limited (http 429)")
    );
    assert_eq!(error["stop_reason"], "retries_disabled");
    assert_eq!(error["retry_after_ms"], 7000);
}

#[test]
fn a_refusal_on_this_side_has_no_attempts() {
    let ran = skyl(["chat", "--json", "hi", "--max-tokens", "0"]).run();
    let object = ran.object();
    let error = failure(&object);
    assert_eq!((ran.code, &error["kind"]), (2, &json!("bad_request")));
    assert_eq!(
        (&error["attempts"], &error["status"]),
        (&json!([]), &Value::Null)
    );
    assert!(
        error["message"].as_str().unwrap().contains("max_tokens"),
        "{object}"
    );
}

#[test]
fn wrong_usage_is_one_object_too_wherever_it_is_found() {
    let server = Server::start();
    let url = server.url();
    for args in [
        &["--json"][..],
        &["--json", "bogus"],
        &["chat", "--json", "--bogus"],
        &["chat", "--json"],
        &["chat", "--json", "hi", "--timeout", "10"],
        &["chat", "--json", "hi", "--timeout", "0"],
        &["chat", "--json", "hi", "--max-retries", "-1"],
        &["chat", "--json", "hi", "--max-retries", "1001"],
        &["chat", "--json", "hi", "--jitter", "shave=0"],
        &[
            "chat",
            "--json",
            "hi",
            "--retry-base",
            "2s",
            "--retry-max",
            "1s",
        ],
        &["chat", "--json", "hi", "--policy", "nobody"],
        &["chat", "--json", "hi", "--fault", "429(after=1)"],
        &["chat", "--json", "hi", "--events", "-"],
        &["chat", "--json", "hi", "--events", "no/such/folder/file"],
        &["chat", "--json", "hi", "--provider", "nobody"],
        &[
            "chat",
            "--json",
            "hi",
            "--provider",
            "openai",
            "--model",
            "m",
        ],
        &[
            "chat",
            "--json",
            "hi",
            "--provider",
            "openai",
            "--api-key",
            "k",
        ],
        &[
            "chat",
            "--json",
            "hi",
            "--base-url",
            "ftp://host",
            "--model",
            "m",
        ],
        &["chat", "--json", "hi", "--base-url", &url],
        &["chat", "--json", "hi", "--header", "nothing"],
        &["models", "--json", "extra"],
        &["sandbox", "--json", "--script", "429("],
        &["sandbox", "--json", "--addr", "nowhere"],
        &["explain", "--json"],
        &["explain", "--json", "1", "--header", "x-other"],
        &["explain", "--json", "1", "--now", "soon"],
        &["schedule", "--json", "--retry-base", "5"],
    ] {
        let mut run = skyl([]);
        for arg in args {
            run = run.args([arg]);
        }
        let ran = run.run();
        let object = ran.object();
        let error = failure(&object);
        assert_eq!((ran.code, &error["kind"]), (1, &json!("usage")), "{args:?}");
        let message = error["message"].as_str().unwrap();
        assert!(
            !message.is_empty() && !message.contains('\n'),
            "{args:?}: {message}"
        );
        for field in [
            "status",
            "provider",
            "code",
            "request_id",
            "retry_after_ms",
            "stop_reason",
        ] {
            assert_eq!(error[field], Value::Null, "{args:?}: {field}");
        }
        assert_eq!(error["attempts"], json!([]));
        assert!(!ran.stderr.is_empty(), "people are told as well: {args:?}");
    }
    assert!(server.journal().is_empty());
}

#[test]
fn help_and_version_stay_text() {
    for args in [["--json", "--help"], ["--json", "--version"]] {
        let ran = skyl(args).run();
        assert_eq!(ran.code, 0);
        assert!(
            !ran.stdout.starts_with('{') && ran.stdout.contains("skyl"),
            "{ran:?}"
        );
    }
}

#[test]
fn a_stream_that_broke_says_what_it_had_delivered() {
    for (fault, kind, code) in [
        ("stream-truncate(1)", "truncated", 6),
        ("stream-error(1)", "server", 6),
        ("stream-reset(1)", "transport", 7),
    ] {
        let ran = skyl([
            "chat",
            "--json",
            "--stream",
            "hello there",
            "--fault",
            fault,
        ])
        .run();
        let object = ran.object();
        let error = failure(&object);
        assert_eq!((ran.code, &error["kind"]), (code, &json!(kind)), "{object}");
        assert_eq!(error["delivered"], true, "{object}");
        assert_eq!(error["stop_reason"], "content_delivered", "{object}");
        assert_eq!(error["attempts"].as_array().unwrap().len(), 1, "{object}");
        let text = object["text"].as_str().unwrap();
        assert!(
            !text.is_empty() && "You said: hello there".starts_with(text),
            "{object}"
        );
    }
}

#[test]
fn half_a_streamed_answer_stays_on_standard_output_and_is_no_success() {
    let ran = skyl([
        "chat",
        "--stream",
        "hello there",
        "--fault",
        "stream-error(1)",
    ])
    .run();
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(
        ran.stdout.starts_with("You") && ran.stdout.ends_with('\n'),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("content had already"), "{ran:?}");
}

#[test]
fn every_field_a_command_prints_is_on_its_page() {
    fn walk(value: &Value, fields: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    fields.push(name.clone());
                    // Its members are the reasons that occurred.
                    if name != "stopped" {
                        walk(member, fields);
                    }
                }
            }
            Value::Array(elements) => elements.iter().for_each(|element| walk(element, fields)),
            _ => {}
        }
    }
    let page = include_str!("../../README.md");
    for args in [
        &["chat", "hi"][..],
        &["models"],
        &["schedule"],
        &["explain", "120"],
        &["explain", "soon"],
        &["completions", "bash"],
        &["simulate", "blip", "--clients", "20"],
        &["chat", "hi", "--fault", "401"],
        &["chat", "--bogus"],
    ] {
        let mut run = skyl(["--json"]);
        for arg in args {
            run = run.args([*arg]);
        }
        let mut fields = Vec::new();
        walk(&run.run().object(), &mut fields);
        assert!(!fields.is_empty());
        for field in fields {
            let named = format!("`{field}`");
            assert!(
                page.contains(&named),
                "{args:?}: {named} is not on the page"
            );
        }
    }
}
