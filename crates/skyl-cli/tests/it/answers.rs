//! What answers of all shapes come to in the JSON contract.

use serde_json::{Value, json};

use crate::support::{Canned, Ran, answer, skyl};

/// One call to a provider whose server answers with this body.
fn call(provider: &str, headers: &str, body: &str, args: &[&str]) -> Ran {
    let server = Canned::serve(vec![answer("200 OK", headers, body)]);
    let mut run = skyl(["chat", "hi", "--json", "--model", "m"])
        .args(["--provider", provider, "--base-url", server.url()])
        .args(["--api-key", "key-of-its-own", "--max-retries", "0"]);
    for arg in args {
        run = run.args([arg]);
    }
    run.run()
}

#[test]
fn every_reason_to_stop_is_one_of_seven_words() {
    for (word, expected) in [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("tool_use", "tool_use"),
        ("stop_sequence", "stop_sequence"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("something_new", "unknown"),
    ] {
        let body = json!({
            "id": "m", "type": "message", "role": "assistant", "model": "c",
            "content": [{"type": "text", "text": "hello"}],
            "stop_reason": word,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        });
        let ran = call("anthropic", "", &body.to_string(), &[]);
        let object = ran.object();
        assert_eq!(
            (ran.code, &object["stop_reason"], &object["text"]),
            (0, &json!(expected), &json!("hello")),
            "{object}"
        );
    }
}

#[test]
fn what_was_not_reported_is_null_and_not_zero() {
    let body = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}"#;
    let object = call("compat", "", body, &[]).object();
    for field in ["id", "model", "request_id"] {
        assert_eq!(object[field], Value::Null, "{object}");
    }
    let usage = object["usage"].as_object().unwrap();
    assert_eq!(usage.len(), 5);
    assert!(usage.values().all(Value::is_null), "{object}");
    // And what was reported is not.
    let reported = body.replace(
        "{\"choices\"",
        r#"{"id":"a","model":"b","usage":{"prompt_tokens":0,"completion_tokens":2},"choices""#,
    );
    let object = call("compat", "x-request-id: r\r\n", &reported, &[]).object();
    assert_eq!(
        (&object["id"], &object["model"], &object["request_id"]),
        (&json!("a"), &json!("b"), &json!("r"))
    );
    assert_eq!(
        (
            &object["usage"]["input_tokens"],
            &object["usage"]["output_tokens"]
        ),
        (&json!(0), &json!(2))
    );
}

#[test]
fn of_a_stream_that_broke_only_whole_tool_calls_are_told() {
    let text = json!({"type": "text_delta", "text": "Let me "});
    let json = |part: &str| json!({"type": "input_json_delta", "partial_json": part});
    let tool = |id: &str| json!({"type": "tool_use", "id": id, "name": "look", "input": {}});
    let frame = |event: &Value| {
        let name = event["type"].as_str().unwrap();
        format!("event: {name}\ndata: {event}\n\n")
    };
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "type": "message",
            "role": "assistant", "model": "c", "content": [], "usage": {"input_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": text}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": tool("c0")}),
        json!({"type": "content_block_delta", "index": 1, "delta": json("{\"a\"")}),
        json!({"type": "content_block_delta", "index": 1, "delta": json(": 1}")}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": tool("c1")}),
        json!({"type": "content_block_delta", "index": 2, "delta": json("{\"b\"")}),
    ];
    let body: String = events.iter().map(frame).collect();
    let stream = answer("200 OK", "", body);
    let stream = String::from_utf8(stream)
        .unwrap()
        .replace("application/json", "text/event-stream");
    let server = Canned::serve(vec![stream.into_bytes()]);
    let ran = skyl(["chat", "hi", "--json", "--stream", "--model", "m"])
        .args(["--provider", "anthropic", "--base-url", server.url()])
        .args(["--api-key", "key-of-its-own"])
        .run();
    let object = ran.object();
    assert_eq!(
        (ran.code, &object["error"]["kind"]),
        (6, &json!("truncated")),
        "{object}"
    );
    assert_eq!(object["error"]["delivered"], true);
    assert_eq!(object["text"], "Let me ");
    assert_eq!(
        object["tool_calls"],
        json!([{"id": "c0", "name": "look", "arguments": "{\"a\": 1}"}]),
        "the arguments as they were written, and nothing of the second call"
    );
}

#[test]
fn what_could_not_be_said_exactly_is_a_warning_with_its_field() {
    let body = r#"{"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let ran = call("anthropic", "", body, &["--effort", "minimal"]);
    let object = ran.object();
    let warnings = object["warnings"].as_array().unwrap();
    assert_eq!((ran.code, warnings.len()), (0, 1), "{object}");
    assert_eq!(warnings[0]["field"], "reasoning_effort");
    assert!(warnings[0]["message"].is_string());
    assert!(ran.stderr.contains("warning: reasoning_effort"), "{ran:?}");
    let quiet = call("anthropic", "", body, &["--effort", "low"]).object();
    assert_eq!(quiet["warnings"], json!([]));
}
