use serde_json::{Value, json};

use super::*;
use crate::dialect::Dialect as _;
use crate::dialect::harness::{answer, now, tools};
use crate::kind::ErrorKind;
use crate::openai::{OpenAi, OpenAiCompatible};
use crate::response::StopReason;

fn dialect() -> OpenAiCompatible {
    OpenAiCompatible::new("http://localhost/v1")
}

fn decoded(body: &Value) -> Decoded {
    answer(&dialect(), body.to_string().as_bytes()).unwrap()
}

#[track_caller]
fn fault(body: &str) -> Fault {
    answer(&dialect(), body.as_bytes()).unwrap_err()
}

fn said(message: &Value, finish: &Value) -> Value {
    json!({"id": "a", "model": "m", "choices": [
        {"index": 0, "message": message, "finish_reason": finish}]})
}

fn text(decoded: &Decoded) -> String {
    decoded.parts.iter().filter_map(Part::as_text).collect()
}

#[test]
fn a_plain_answer_is_its_text() {
    let decoded = decoded(&said(
        &json!({"role": "assistant", "content": "Hi\n🌊"}),
        &json!("stop"),
    ));
    assert_eq!(text(&decoded), "Hi\n🌊");
    assert_eq!(decoded.stop_reason, StopReason::EndTurn);
    assert_eq!(
        (decoded.id.as_deref(), decoded.model.as_deref()),
        (Some("a"), Some("m"))
    );
    assert!(decoded.warnings.is_empty());
}

#[test]
fn blank_lines_and_a_byte_order_mark_ahead_of_a_body_are_skipped() {
    let body = said(&json!({"content": "x"}), &json!("stop")).to_string();
    for lead in ["\n\n   \n", "\r\n", "\u{feff}"] {
        assert!(
            answer(&dialect(), format!("{lead}{body}\n").as_bytes()).is_ok(),
            "{lead:?}"
        );
    }
}

// pydantic/pydantic-ai#6901
#[test]
fn neither_an_answer_nor_an_error_is_a_failure_of_the_provider() {
    for body in [
        "",
        " \n",
        "null",
        "{}",
        r#"{"choices":null}"#,
        r#"{"choices":[]}"#,
        r#"{"choices":[null]}"#,
        r#"{"choices":[{}]}"#,
        r#"{"choices":[{"index":0,"message":null,"finish_reason":null}]}"#,
        r#"{"choices":[{"message":{"role":"assistant","content":null},"finish_reason":""}]}"#,
        r#"{"error":null,"choices":{}}"#,
        r#"{"error":{}}"#,
    ] {
        let fault = fault(body);
        assert_eq!(fault.kind(), ErrorKind::Server, "{body}");
        assert!(
            fault.message().unwrap().starts_with("empty response"),
            "{body}"
        );
    }
}

#[test]
fn an_answer_without_words_that_says_so_is_an_answer() {
    for content in [json!(""), json!(null), json!([])] {
        let decoded = decoded(&said(&json!({"content": content}), &json!("stop")));
        assert!(decoded.parts.is_empty());
        assert_eq!(decoded.stop_reason, StopReason::EndTurn);
    }
}

// AltimateAI/altimate-code#1119, meilisearch/meilisearch-js#2234
#[test]
fn a_body_that_is_no_json_is_unreadable_and_not_quoted() {
    for body in [
        "<!doctype html><title>secret</title>",
        "upstream secret",
        r#"{"choices":[{"message":{"content":"secret"#,
        r#"{"choices":[]} {"secret":1}"#,
        r#""secret""#,
        "[1,2]",
        "17",
        "data: {\"choices\":[]}\n\n",
    ] {
        let fault = fault(body);
        assert_eq!(fault.kind(), ErrorKind::Decode, "{body}");
        assert!(!fault.message().unwrap().contains("secret"), "{body}");
    }
    assert_eq!(
        answer(&dialect(), b"{\"a\":\"\xff\"}").unwrap_err().kind(),
        ErrorKind::Decode
    );
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    assert_eq!(fault(&deep).kind(), ErrorKind::Decode);
}

#[test]
fn an_error_with_a_200_is_that_error() {
    for (body, kind) in [
        (r#"{"error":{"message":"x","code":503}}"#, ErrorKind::Server),
        (
            r#"{"error":{"message":"x","code":429}}"#,
            ErrorKind::RateLimit,
        ),
        (
            r#"{"error":{"message":"x","code":"invalid_api_key"}}"#,
            ErrorKind::Auth,
        ),
        (
            r#"{"error":{"message":"x"},"choices":[]}"#,
            ErrorKind::Server,
        ),
        (r#"{"error":"x"}"#, ErrorKind::Server),
        (
            r#"[{"error":{"message":"x","code":400}}]"#,
            ErrorKind::BadRequest,
        ),
        (
            r#"{"object":"error","message":"x","code":404}"#,
            ErrorKind::NotFound,
        ),
        (r#"{"detail":"x"}"#, ErrorKind::Server),
        (
            r#"{"choices":[{"index":0,"error":{"code":502,"message":"x"}}]}"#,
            ErrorKind::Server,
        ),
        (
            r#"{"choices":[],"x_groq":{"error":"x"}}"#,
            ErrorKind::Server,
        ),
    ] {
        let fault = fault(body);
        assert_eq!((fault.kind(), fault.message()), (kind, Some("x")), "{body}");
    }
}

#[test]
fn an_answer_broken_off_is_a_failure_that_keeps_what_it_cost() {
    let mut body = said(&json!({"content": "Half a sen"}), &json!("error"));
    body["usage"] = json!({"prompt_tokens": 3, "completion_tokens": 4});
    let fault = fault(&body.to_string());
    assert_eq!(fault.kind(), ErrorKind::Server);
    assert_eq!(fault.usage().unwrap().output_tokens, Some(4));
}

#[test]
fn refusals_are_kept_apart_from_text() {
    let decoded = decoded(&said(
        &json!({"content": null, "refusal": "No."}),
        &json!("stop"),
    ));
    assert_eq!(decoded.refusal.as_deref(), Some("No."));
    assert_eq!(decoded.stop_reason, StopReason::Refusal);
    assert!(decoded.parts.is_empty());
    let in_list = said(
        &json!({"content": [{"type": "refusal", "refusal": "No."}]}),
        &json!("stop"),
    );
    assert_eq!(
        super::tests::decoded(&in_list).refusal.as_deref(),
        Some("No.")
    );
    let filtered = said(&json!({"content": ""}), &json!("content_filter"));
    assert_eq!(
        super::tests::decoded(&filtered).stop_reason,
        StopReason::Refusal
    );
}

#[test]
fn calls_are_read_in_every_form_of_arguments() {
    let calls = json!([
        {"id": "a", "type": "function", "function": {"name": "tide", "arguments": "{\"p\":1}"}},
        {"id": "b", "function": {"name": "tide", "arguments": {"p": 1}}},
        {"id": "c", "function": {"name": "moon", "arguments": null}},
        {"id": "d", "function": {"name": "moon", "arguments": ""}},
        {"id": "e", "function": {"name": "moon"}},
        {"id": "f", "type": "custom", "custom": {"name": "sh", "input": "ls"}},
        {"id": "g", "function": {"name": "tide", "arguments": "{\"p\":"}},
    ]);
    // A named tool choice ends with `stop`, though a call is there.
    let decoded = decoded(&said(
        &json!({"content": null, "tool_calls": calls}),
        &json!("stop"),
    ));
    assert_eq!(
        tools(&decoded),
        [
            ("a", "tide", "{\"p\":1}"),
            ("b", "tide", "{\"p\":1}"),
            ("c", "moon", "{}"),
            ("d", "moon", "{}"),
            ("e", "moon", "{}"),
            ("f", "sh", "ls"),
            ("g", "tide", "{\"p\":"),
        ]
    );
    assert_eq!(decoded.stop_reason, StopReason::ToolUse);
    assert_eq!(
        decoded.warnings.len(),
        2,
        "those whose arguments are no object"
    );
}

// vercel/ai#4936
#[test]
fn each_call_has_an_id_of_its_own_and_a_name() {
    let calls = json!([
        {"id": "x", "function": {"name": "tide"}},
        {"id": "x", "function": {"name": "tide"}},
        {"id": null, "function": {"name": "moon"}},
        {"id": "y", "function": {"name": null, "arguments": "{}"}},
        {"id": "", "function": null},
    ]);
    let decoded = decoded(&said(&json!({"tool_calls": calls}), &json!("tool_calls")));
    let ids: std::collections::HashSet<_> = tools(&decoded).iter().map(|tool| tool.0).collect();
    assert_eq!((tools(&decoded).len(), ids.len()), (3, 3));
    assert_eq!(
        decoded.warnings.len(),
        2,
        "one id made unique, one call without a name"
    );
}

#[test]
fn only_the_first_choice_is_read_and_the_others_are_told() {
    let body = json!({"choices": [
        {"index": 1, "message": {"content": "b"}, "finish_reason": "stop"},
        {"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}]});
    let decoded = decoded(&body);
    assert_eq!(text(&decoded), "a");
    assert_eq!(decoded.warnings.len(), 1);
    let only =
        json!({"choices": [{"index": 3, "message": {"content": "c"}, "finish_reason": "stop"}]});
    assert_eq!(text(&super::tests::decoded(&only)), "c");
}

#[test]
fn content_lists_and_reasoning_come_apart() {
    let message = json!({"reasoning_content": "R", "content": [
        {"type": "thinking", "thinking": "T"},
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
        {"type": "reference", "reference_ids": [1]}]});
    let decoded = decoded(&said(&message, &json!("stop")));
    assert_eq!(decoded.parts.len(), 2);
    assert!(matches!(&decoded.parts[0], Part::Reasoning(part) if part.text == "RT"));
    assert_eq!(text(&decoded), "ab");
    assert_eq!(decoded.warnings.len(), 1);
}

#[test]
fn reasoning_details_are_kept_for_the_server_that_wants_them_back() {
    let details = json!([
        {"type": "reasoning.text", "text": "Two ", "signature": null, "index": 0},
        {"type": "reasoning.encrypted", "data": "c2ln", "index": 1},
    ]);
    let message =
        json!({"content": "Brest.", "reasoning": "Two tides.", "reasoning_details": details});
    let body = said(&message, &json!("stop")).to_string();
    let openrouter = crate::openai::OpenAiCompatible::openrouter("k");
    let answer = crate::dialect::harness::answer(&openrouter, body.as_bytes()).unwrap();
    let Part::Reasoning(reasoning) = &answer.parts[0] else {
        panic!("{:?}", answer.parts);
    };
    assert_eq!(reasoning.text, "Two tides.");
    let kept = reasoning
        .state
        .as_ref()
        .unwrap()
        .for_provider("openrouter")
        .unwrap();
    assert_eq!(serde_json::from_str::<Value>(kept.get()).unwrap(), details);
    // Nobody else asks for it, so nobody else is warned of its loss.
    let plain = decoded(&serde_json::from_str(&body).unwrap());
    let Part::Reasoning(reasoning) = &plain.parts[0] else {
        panic!("{:?}", plain.parts);
    };
    assert_eq!(reasoning.state, None);
}

#[test]
fn reasoning_that_stands_in_its_details_alone_is_told_in_words() {
    let details = json!([
        {"type": "reasoning.summary", "summary": "Two "},
        {"type": "reasoning.encrypted", "data": "c2ln"},
        {"type": "reasoning.text", "text": "tides."},
    ]);
    let message = json!({"content": "Brest.", "reasoning_details": details});
    let answer = decoded(&said(&message, &json!("stop")));
    assert_eq!(
        answer.parts[0],
        Part::Reasoning(Reasoning::new("Two tides.", None))
    );
}

#[test]
fn text_in_the_shape_of_the_older_completions_is_text() {
    let body = json!({"choices": [{"index": 0, "text": "Brest.", "finish_reason": "stop"}]});
    assert_eq!(text(&decoded(&body)), "Brest.");
}

// MiniMax
#[test]
fn a_base_resp_that_is_not_zero_is_the_error_and_zero_is_none() {
    let resp =
        |code: u64, text: &str| json!({"base_resp": {"status_code": code, "status_msg": text}});
    for (code, kind) in [
        (1002, ErrorKind::RateLimit),
        (1004, ErrorKind::Auth),
        (1008, ErrorKind::QuotaExhausted),
        (1027, ErrorKind::Refusal),
        (2013, ErrorKind::BadRequest),
        (1033, ErrorKind::Server),
        (9999, ErrorKind::Server),
    ] {
        let mut body = resp(code, "something is wrong");
        body["choices"] = json!(null);
        let fault = fault(&body.to_string());
        assert_eq!(fault.kind(), kind, "{code}");
        assert_eq!(fault.code(), Some(&*code.to_string()));
        assert_eq!(fault.message(), Some("something is wrong"));
    }
    let mut body = said(&json!({"content": "Brest."}), &json!("stop"));
    body["base_resp"] = resp(0, "")["base_resp"].clone();
    assert_eq!(text(&decoded(&body)), "Brest.");
}

#[test]
fn a_chunk_in_answer_to_a_plain_request_is_an_answer() {
    let body = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
    assert_eq!(text(&decoded(&body)), "a");
}

#[test]
fn a_field_that_stands_twice_is_unreadable() {
    let fault = fault(r#"{"choices":[{"message":{"content":"a","content":"b"}}]}"#);
    assert_eq!(fault.kind(), ErrorKind::Decode);
    assert!(fault.message().unwrap().contains("twice"));
}

mod models {
    use super::*;

    fn page(body: &str) -> Result<ModelsPage, Fault> {
        let headers = http::HeaderMap::new();
        OpenAi::new("k").decode_models(&Head::new(200, &headers, now()), body.as_bytes())
    }

    #[test]
    fn models_are_read_with_the_limits_servers_tell() {
        let body = json!({"object": "list", "data": [
            {"id": "m", "object": "model", "created": 1, "owned_by": "x"},
            {"id": "groq", "context_window": 131_072, "max_completion_tokens": 8192},
            {"id": "vllm", "max_model_len": 4096},
            {"id": "openrouter", "name": "Open", "context_length": 10,
             "top_provider": {"max_completion_tokens": 5}},
            {"id": null}, {"object": "model"}, null, 17]});
        let page = page(&body.to_string()).unwrap();
        let told: Vec<_> = page
            .models
            .iter()
            .map(|m| {
                (
                    &*m.id,
                    m.display_name.as_deref(),
                    m.context_window,
                    m.max_output_tokens,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("m", None, None, None),
                ("groq", None, Some(131_072), Some(8192)),
                ("vllm", None, Some(4096), None),
                ("openrouter", Some("Open"), Some(10), Some(5)),
            ]
        );
        assert_eq!(page.next, None);
        assert!(page.models[0].raw.starts_with(b"{\"id\":\"m\""));
    }

    #[test]
    fn a_bare_list_is_a_list() {
        assert_eq!(page(r#"[{"id":"a"},{"id":"b"}]"#).unwrap().models.len(), 2);
        assert!(page(r#"{"data":[]}"#).unwrap().models.is_empty());
        assert!(page("[]").unwrap().models.is_empty());
    }

    #[test]
    fn what_is_no_list_is_a_failure() {
        for (body, kind) in [
            ("", ErrorKind::Server),
            ("{}", ErrorKind::Server),
            (r#"{"data":null}"#, ErrorKind::Server),
            ("null", ErrorKind::Server),
            (r#"{"error":{"code":"invalid_api_key"}}"#, ErrorKind::Auth),
            (r#"[{"error":{"code":401}}]"#, ErrorKind::Auth),
            (r#"{"detail":"x"}"#, ErrorKind::Server),
            ("<html>", ErrorKind::Decode),
            ("17", ErrorKind::Decode),
            (r#"{"data":[{"id""#, ErrorKind::Decode),
        ] {
            assert_eq!(page(body).unwrap_err().kind(), kind, "{body}");
        }
    }
}
