use serde_json::{Value, json};

use super::*;
use crate::kind::ErrorKind;
use crate::message::{Part, Reasoning};
use crate::response::{StopReason, Usage};

fn message(content: &Value, stop: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x",
        "content": content, "stop_reason": stop,
        "usage": {"input_tokens": 5, "output_tokens": 7},
    })
}

#[track_caller]
fn decoded(body: &Value) -> Decoded {
    harness::answer(&anthropic(), body.to_string().as_bytes()).expect("an answer")
}

#[track_caller]
fn fault(body: &str) -> Fault {
    harness::answer(&anthropic(), body.as_bytes()).expect_err("no answer")
}

fn warnings(decoded: &Decoded) -> Vec<String> {
    decoded.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn an_answer_comes_with_all_its_parts() {
    let answer = decoded(&message(
        &json!([
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "text", "text": "a"},
            {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"port": "Brest"}},
            {"type": "tool_use", "id": "toolu_2", "name": "moon", "input": {}},
        ]),
        "tool_use",
    ));
    assert_eq!(answer.id.as_deref(), Some("msg_1"));
    assert_eq!(answer.model.as_deref(), Some("claude-x"));
    assert_eq!(answer.stop_reason, StopReason::ToolUse);
    assert_eq!(
        harness::tools(&answer),
        [
            ("toolu_1", "tide", r#"{"port":"Brest"}"#),
            ("toolu_2", "moon", "{}")
        ]
    );
    assert_eq!(answer.parts.len(), 5);
    assert_eq!(answer.parts[2], Part::text("a"));
    assert_eq!(answer.warnings, []);
}

#[test]
fn an_answer_goes_back_as_it_came() {
    let content = json!([
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "thinking", "thinking": "", "signature": "t"},
        {"type": "text", "text": "a"},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "brand_new", "deep": [1, {"x": null}]},
        {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"port": "Brest"}},
    ]);
    let answer = decoded(&message(&content, "tool_use"));
    let request = Request::new("m")
        .user("q")
        .message(crate::Message::new(crate::Role::Assistant, answer.parts))
        .message(crate::Message::tool_result("toolu_1", "x"));
    request.validate().unwrap();
    let encoded = anthropic().encode(&request, Mode::Complete).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["messages"][1]["content"], content);
    assert_eq!(encoded.warnings, []);
}

#[test]
fn thinking_without_a_signature_does_not_swallow_what_follows() {
    let answer = decoded(&message(
        &json!([
            {"type": "thinking", "thinking": "a"},
            {"type": "thinking", "thinking": "b", "signature": "s"},
            {"type": "thinking", "thinking": "c", "signature": ""},
            {"type": "redacted_thinking", "data": "xyz"},
        ]),
        "end_turn",
    ));
    let texts: Vec<_> = answer
        .parts
        .iter()
        .map(|part| match part {
            Part::Reasoning(Reasoning { text, .. }) => text.as_str(),
            _ => "?",
        })
        .collect();
    assert_eq!(texts, ["a", "b", "c", ""]);
}

#[test]
fn each_stop_reason_has_its_name() {
    for (word, expected) in [
        ("end_turn", StopReason::EndTurn),
        ("max_tokens", StopReason::MaxTokens),
        ("model_context_window_exceeded", StopReason::MaxTokens),
        ("tool_use", StopReason::ToolUse),
        ("stop_sequence", StopReason::StopSequence),
        ("pause_turn", StopReason::Pause),
        ("refusal", StopReason::Refusal),
        ("brand_new", StopReason::Other("brand_new".into())),
    ] {
        let answer = decoded(&message(&json!([{"type": "text", "text": "a"}]), word));
        assert_eq!(answer.stop_reason, expected);
    }
}

#[test]
fn empty_content_is_an_answer_if_the_model_stopped() {
    for word in ["end_turn", "stop_sequence", "max_tokens", "pause_turn"] {
        assert_eq!(decoded(&message(&json!([]), word)).parts, []);
    }
    let body = json!({"type": "message", "content": [], "stop_reason": null});
    assert_eq!(fault(&body.to_string()).kind(), ErrorKind::Server);
}

#[test]
fn a_refusal_without_text_is_an_error_that_keeps_words_and_usage() {
    let mut body = message(&json!([]), "refusal");
    let plain = fault(&body.to_string());
    assert_eq!((plain.kind(), plain.message()), (ErrorKind::Refusal, None));
    body["stop_details"] =
        json!({"type": "refusal", "category": "cyber", "explanation": "I won't help with that."});
    let told = fault(&body.to_string());
    assert_eq!(told.message(), Some("I won't help with that."));
    assert_eq!(told.code(), Some("cyber"));
    assert_eq!(told.usage().and_then(|usage| usage.output_tokens), Some(7));
    body["content"] = json!([{"type": "thinking", "thinking": "hm", "signature": "s"}]);
    assert_eq!(fault(&body.to_string()).kind(), ErrorKind::Refusal);
}

#[test]
fn a_refusal_with_text_is_an_answer() {
    let mut body = message(&json!([{"type": "text", "text": "Well, "}]), "refusal");
    assert_eq!(decoded(&body).refusal, None);
    body["stop_details"] = json!({"explanation": "Enough."});
    let answer = decoded(&body);
    assert_eq!(answer.stop_reason, StopReason::Refusal);
    assert_eq!(answer.refusal.as_deref(), Some("Enough."));
    assert_eq!(answer.parts, [Part::text("Well, ")]);
}

#[test]
fn input_includes_what_the_cache_took_part_in() {
    let mut body = message(&json!([]), "end_turn");
    body["usage"] = json!({
        "input_tokens": 25, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1800,
        "output_tokens": 88, "output_tokens_details": {"thinking_tokens": 31},
        "cache_creation": {"ephemeral_5m_input_tokens": 100}, "service_tier": "brand_new",
    });
    let expected = Usage {
        input_tokens: Some(1_925),
        output_tokens: Some(88),
        cache_read_tokens: Some(1_800),
        cache_write_tokens: Some(100),
        reasoning_tokens: Some(31),
    };
    assert_eq!(decoded(&body).usage, expected);
}

// zed-industries/zed#42893.
#[test]
fn odd_usage_is_not_said_and_costs_nothing() {
    for usage in [
        json!({}),
        json!(null),
        json!("many"),
        json!([1]),
        json!({"input_tokens": null, "output_tokens": "x", "output_tokens_details": null}),
        json!({"input_tokens": -1, "output_tokens_details": 5}),
    ] {
        let mut body = message(&json!([{"type": "text", "text": "a"}]), "end_turn");
        body["usage"] = usage;
        assert_eq!(decoded(&body).usage, Usage::default());
    }
    let mut body = message(&json!([]), "end_turn");
    body["usage"] = json!({"input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX});
    assert_eq!(decoded(&body).usage.input_tokens, Some(u64::MAX));
}

// 64bit/async-openai#283: fields that servers leave out.
#[test]
fn missing_and_odd_fields_have_defaults() {
    let body = json!({"content": [{"text": "a"}]});
    let answer = decoded(&body);
    assert_eq!(answer.parts, [Part::text("a")]);
    assert_eq!(
        (answer.id, answer.stop_reason),
        (None, StopReason::Other(String::new()))
    );
    let body =
        json!({"id": 5, "model": null, "type": 1, "content": "plain", "stop_reason": "end_turn"});
    assert_eq!(decoded(&body).parts, [Part::text("plain")]);
}

#[test]
fn blocks_without_a_part_are_kept_and_named() {
    let answer = decoded(&message(
        &json!([
            {"type": "web_search_tool_result", "tool_use_id": "x", "content": []},
            {"type": "web_search_tool_result", "tool_use_id": "y", "content": []},
            {"type": "text", "text": "a", "citations": [{"type": "char_location"}]},
        ]),
        "end_turn",
    ));
    assert_eq!(answer.parts.len(), 3);
    assert_eq!(
        warnings(&answer),
        [
            "content: `web_search_tool_result` is kept, but has no part of its own",
            "content: `citations` are not carried over; the raw answer has them",
        ]
    );
}

#[test]
fn repeated_and_missing_call_ids_are_made_unique() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
    let answer = decoded(&message(
        &json!([call("x"), call("x"), call("")]),
        "tool_use",
    ));
    let ids: Vec<_> = harness::tools(&answer)
        .into_iter()
        .map(|(id, _, _)| id)
        .collect();
    assert_eq!(ids, ["x", "call_msg_1_1", "call_msg_1_2"]);
    assert_eq!(
        warnings(&answer),
        ["content: `tool_use` has ids that repeat; they are made unique"]
    );
}

#[test]
fn an_error_in_a_200_is_that_error() {
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert!(fault(overloaded).is_overloaded());
    for (kind, expected) in [
        ("authentication_error", ErrorKind::Auth),
        ("rate_limit_error", ErrorKind::RateLimit),
        ("billing_error", ErrorKind::QuotaExhausted),
        ("not_found_error", ErrorKind::NotFound),
        ("invalid_request_error", ErrorKind::BadRequest),
        ("api_error", ErrorKind::Server),
        ("timeout_error", ErrorKind::Server),
        ("brand_new_error", ErrorKind::Server),
    ] {
        let body = json!({"error": {"type": kind, "message": "m"}}).to_string();
        assert_eq!(fault(&body).kind(), expected, "{kind}");
        assert_eq!(fault(&format!("\n\n[{body}]")).kind(), expected, "{kind}");
    }
    assert_eq!(fault(r#"{"error":"boom"}"#).message(), Some("boom"));
    let none = json!({"error": null, "content": [{"type": "text", "text": "a"}]});
    assert_eq!(decoded(&none).parts, [Part::text("a")]);
}

#[test]
fn neither_an_answer_nor_an_error_is_a_failure_of_the_provider() {
    for body in [
        "",
        "  \n",
        "{}",
        r#"{"type":"message"}"#,
        r#"{"content":null,"error":null}"#,
        r#"{"content":{"a":1}}"#,
        "[]",
        "\u{feff}",
    ] {
        assert_eq!(fault(body).kind(), ErrorKind::Server, "{body}");
    }
}

#[test]
fn what_cannot_be_read_is_told_apart() {
    for body in [
        "<html></html>",
        "5",
        "{\"content\":[{\"type\":\"text\",\"te",
        r#"{"content":[5]}"#,
        r#"{"content":[{"type":"text","text":5}]}"#,
    ] {
        assert_eq!(fault(body).kind(), ErrorKind::Decode, "{body}");
    }
    assert_eq!(
        anthropic()
            .decode(
                &Head::new(200, &HeaderMap::new(), harness::now()),
                &[0xff, 0xfe]
            )
            .unwrap_err()
            .kind(),
        ErrorKind::Decode
    );
}

fn page(body: &Value) -> Result<ModelsPage, Fault> {
    let head = HeaderMap::new();
    anthropic().decode_models(
        &Head::new(200, &head, harness::now()),
        body.to_string().as_bytes(),
    )
}

#[test]
fn models_come_page_by_page() {
    let models = page(&json!({
        "data": [
            {"id": "claude-x", "type": "model", "display_name": "Claude X",
             "max_input_tokens": 200_000, "max_tokens": 64_000},
            {"type": "model"},
            {"id": "claude-y", "display_name": null},
        ],
        "has_more": true, "first_id": "claude-x", "last_id": "claude-y",
    }))
    .unwrap();
    assert_eq!(models.next.as_deref(), Some("claude-y"));
    assert_eq!(models.models.len(), 2);
    assert_eq!(models.models[0].display_name.as_deref(), Some("Claude X"));
    assert_eq!(models.models[0].context_window, Some(200_000));
    assert_eq!(models.models[0].max_output_tokens, Some(64_000));
    assert!(models.models[1].raw.starts_with(b"{\"id\":\"claude-y\""));
    let last = page(&json!({"data": [], "has_more": false, "last_id": "x"})).unwrap();
    assert_eq!(last, ModelsPage::default());
    assert_eq!(page(&json!({"data": []})).unwrap().next, None);
}

// 0xPlaygrounds/rig#2334: asked for the same page for ever.
#[test]
fn more_models_without_a_place_is_an_error_and_no_loop() {
    for last in [json!(null), json!("")] {
        let fault = page(&json!({"data": [], "has_more": true, "last_id": last})).unwrap_err();
        assert_eq!(fault.kind(), ErrorKind::Decode);
    }
}

#[test]
fn a_page_that_is_an_error_or_nothing_is_told() {
    let error = page(&json!({"type": "error", "error": {"type": "overloaded_error"}}));
    assert!(error.unwrap_err().is_overloaded());
    assert_eq!(page(&json!({})).unwrap_err().kind(), ErrorKind::Server);
    assert_eq!(page(&json!([])).unwrap_err().kind(), ErrorKind::Decode);
}

#[test]
fn a_refusal_with_a_call_is_an_answer() {
    let body = message(
        &json!([{"type": "tool_use", "id": "a", "name": "t", "input": {}}]),
        "refusal",
    );
    assert_eq!(decoded(&body).stop_reason, StopReason::Refusal);
}
