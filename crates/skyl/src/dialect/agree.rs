//! Errors of one provider in another's envelope: every dialect reads the same kind from them.

use serde_json::{Value, json};

use super::harness;
use crate::anthropic::Anthropic;
use crate::dialect::{Dialect, Fault};
use crate::gemini::Gemini;
use crate::kind::ErrorKind;
use crate::openai::{OpenAi, OpenAiCompatible, Responses};

fn dialects() -> [Box<dyn Dialect>; 5] {
    [
        Box::new(OpenAi::new("sk-0123456789")),
        Box::new(OpenAiCompatible::new("http://localhost/v1")),
        Box::new(Responses::new("sk-0123456789")),
        Box::new(Anthropic::new("sk-ant-0123456789")),
        Box::new(Gemini::new("AIza-0123456789")),
    ]
}

#[track_caller]
fn refused(status: u16, body: &Value, expected: ErrorKind) {
    for dialect in dialects() {
        let fault = harness::refused(&*dialect, status, &body.to_string());
        assert_eq!(fault.kind(), expected, "{} {status} {body}", dialect.name());
    }
}

/// The fault of a whole body and of a stream's only event.
fn in_band(dialect: &dyn Dialect, body: &str) -> [Fault; 2] {
    let whole = harness::answer(dialect, body.as_bytes()).unwrap_err();
    let stream = harness::stream_text(dialect, &format!("data: {body}\n\n"));
    [whole, stream.end.unwrap_err()]
}

#[test]
fn a_context_that_is_too_long_is_known_by_anybodys_words() {
    for words in [
        "This model's maximum context length is 8192 tokens",
        "Input tokens exceed the configured limit of 272000 tokens",
        "The input is longer than the model's context length",
        "Prompt contains 40000 tokens, too large for model",
        "length of all messages is too long",
        "too many input tokens",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (9) exceeds the maximum number of tokens allowed (8)",
        "the request exceeds the available context size",
        "Please reduce the length of the messages",
        "input length and `max_tokens` exceed context limit: 19 + 2 > 20",
        "Your input exceeds the context window of this model",
    ] {
        let body = json!({"error": {"message": words, "type": "invalid_request_error"}});
        refused(400, &body, ErrorKind::ContextLength);
        refused(429, &body, ErrorKind::RateLimit);
    }
    let body = json!({"error": {"message": "max_tokens must be positive"}});
    refused(400, &body, ErrorKind::BadRequest);
}

#[test]
fn a_code_or_a_type_that_names_a_kind_beats_the_status_everywhere() {
    for (status, word, kind) in [
        (500, "rate_limit_exceeded", ErrorKind::RateLimit),
        (400, "rate_limit_error", ErrorKind::RateLimit),
        (498, "capacity_exceeded", ErrorKind::RateLimit),
        (400, "server_is_overloaded", ErrorKind::Server),
        (400, "server_error", ErrorKind::Server),
        (400, "invalid_api_key", ErrorKind::Auth),
        (400, "model_not_found", ErrorKind::NotFound),
        (400, "context_length_exceeded", ErrorKind::ContextLength),
        (400, "exceed_context_size_error", ErrorKind::ContextLength),
        (400, "content_filter", ErrorKind::Refusal),
        (403, "insufficient_quota", ErrorKind::QuotaExhausted),
        (429, "credit_balance_exhausted", ErrorKind::QuotaExhausted),
        (
            429,
            "project_spend_limit_exceeded",
            ErrorKind::QuotaExhausted,
        ),
        (429, "overloaded_error", ErrorKind::RateLimit),
        (400, "api_error", ErrorKind::BadRequest),
        (503, "invalid_request_error", ErrorKind::Server),
    ] {
        refused(
            status,
            &json!({"error": {"message": "x", "type": word}}),
            kind,
        );
        refused(
            status,
            &json!({"error": {"message": "x", "code": word}}),
            kind,
        );
    }
    let body = json!({"error": {
        "type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"},
    }});
    refused(429, &body, ErrorKind::QuotaExhausted);
    let body = json!({"error": "Incorrect API key provided", "code": "Client specified it"});
    refused(400, &body, ErrorKind::Auth);
    for status in ["RESOURCE_EXHAUSTED", "resource_exhausted"] {
        let body = json!({"error": {"code": status, "message": "x"}});
        refused(500, &body, ErrorKind::RateLimit);
    }
}

#[test]
fn an_error_inside_a_200_is_found_in_every_envelope() {
    for (body, kind) in [
        (
            r#"{"error":{"code":"429","message":"x"}}"#,
            ErrorKind::RateLimit,
        ),
        (
            r#"{"error":{"status":429,"message":"x"}}"#,
            ErrorKind::RateLimit,
        ),
        (
            r#"{"error":{"status":"429","message":"x"}}"#,
            ErrorKind::RateLimit,
        ),
        (
            r#"{"error":[{"code":429,"message":"x"}]}"#,
            ErrorKind::RateLimit,
        ),
        (
            r#"{"errors":[{"code":429,"message":"x"}]}"#,
            ErrorKind::RateLimit,
        ),
        (
            r#"{"object":"error","message":"x","type":"y","code":429}"#,
            ErrorKind::RateLimit,
        ),
        (
            r#"{"type":"error","message":"x","code":"rate_limit_exceeded"}"#,
            ErrorKind::RateLimit,
        ),
        (
            r#"{"error":{"message":"x","code":"insufficient_quota"}}"#,
            ErrorKind::QuotaExhausted,
        ),
        (
            r#"{"error":{"message":"x","code":"UNAVAILABLE"}}"#,
            ErrorKind::Server,
        ),
        (r#"{"message":"x","code":500}"#, ErrorKind::Server),
    ] {
        for dialect in dialects() {
            for fault in in_band(&*dialect, body) {
                assert_eq!(fault.kind(), kind, "{} {body}", dialect.name());
                assert_eq!(fault.message(), Some("x"), "{} {body}", dialect.name());
                let overloaded = body.contains("UNAVAILABLE");
                assert_eq!(fault.is_overloaded(), overloaded, "{}", dialect.name());
            }
        }
    }
}

#[test]
fn a_body_that_says_nothing_is_an_empty_response_with_or_without_a_byte_order_mark() {
    for dialect in dialects() {
        for body in ["", "null", "[]", "\u{feff}null", "{}"] {
            let fault = harness::answer(&*dialect, body.as_bytes()).unwrap_err();
            let name = dialect.name();
            assert_eq!(fault.kind(), ErrorKind::Server, "{name} {body}");
            assert!(fault.message().unwrap().starts_with("empty"), "{name}");
        }
        let body = "\u{feff}{\"error\":{\"message\":\"x\",\"type\":\"rate_limit_error\"}}";
        let fault = harness::answer(&*dialect, body.as_bytes()).unwrap_err();
        assert_eq!(fault.kind(), ErrorKind::RateLimit, "{}", dialect.name());
        let fault = harness::refused(&*dialect, 400, body);
        assert_eq!(fault.kind(), ErrorKind::RateLimit, "{}", dialect.name());
    }
}

#[test]
fn one_part_without_the_brackets_of_a_list_is_read() {
    for (dialect, body) in [
        (
            3,
            r#"{"content":{"type":"text","text":"hi"},"stop_reason":"end_turn"}"#,
        ),
        (3, r#"{"content":["hi"],"stop_reason":"end_turn"}"#),
        (
            4,
            r#"{"candidates":[{"content":{"parts":{"text":"hi"}},"finishReason":"STOP"}]}"#,
        ),
        (
            4,
            r#"{"candidates":[{"content":{"parts":[{"text":"hi","thought":"no"}]},"finishReason":"STOP"}]}"#,
        ),
        (
            2,
            r#"{"status":"completed","output":{"type":"message","content":{"type":"output_text","text":"hi"}}}"#,
        ),
    ] {
        let answer = harness::answer(&*dialects()[dialect], body.as_bytes()).unwrap();
        let text: String = answer
            .parts
            .iter()
            .filter_map(crate::Part::as_text)
            .collect();
        assert_eq!(text, "hi", "{body}");
    }
}

#[test]
fn geminis_word_for_a_reason_that_is_not_set_ends_nothing() {
    let [.., gemini] = dialects();
    let open = r#"data: {"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"FINISH_REASON_UNSPECIFIED"}]}"#;
    let told = harness::stream_text(&*gemini, &format!("{open}\n\n"));
    assert_eq!(told.kind(), ErrorKind::Truncated);
    let end = r#"data: {"candidates":[{"finishReason":"STOP"}],"promptFeedback":{"blockReason":"BLOCK_REASON_UNSPECIFIED"}}"#;
    let told = harness::stream_text(&*gemini, &format!("{open}\n\n{end}\n\n"));
    assert_eq!(told.decoded.stop_reason, crate::StopReason::EndTurn);
}

#[test]
fn usage_beside_the_answer_and_under_older_names_counts() {
    let [_, _, responses, anthropic, _] = dialects();
    let text = concat!(
        r#"data: {"type":"response.output_text.delta","delta":"hi"}"#,
        "\n\n",
        r#"data: {"type":"response.completed","response":{"status":"completed"},"usage":{"prompt_tokens":3,"completion_tokens":2}}"#,
        "\n\n",
    );
    let usage = harness::stream_text(&*responses, text).decoded.usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(3), Some(2))
    );
    let text = concat!(
        r#"data: {"type":"message_start","message":{"id":"m"},"usage":{"input_tokens":3}}"#,
        "\n\n",
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#,
        "\n\n",
        r#"data: {"type":"message_stop","usage":{"output_tokens":2}}"#,
        "\n\n",
    );
    let usage = harness::stream_text(&*anthropic, text).decoded.usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(3), Some(2))
    );
}

#[test]
fn an_error_without_a_word_is_an_error_where_there_is_nothing_else() {
    for dialect in dialects() {
        for fault in in_band(&*dialect, r#"{"error":{}}"#) {
            assert_eq!(fault.kind(), ErrorKind::Server, "{}", dialect.name());
        }
    }
    let [_, compatible, ..] = dialects();
    let text = concat!(
        r#"data: {"error":{},"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}"#,
        "\n\n",
    );
    assert_eq!(harness::stream_text(&*compatible, text).text(), "hi");
}

#[test]
fn errors_of_any_shape_keep_their_words_wherever_they_stand() {
    let texts = [
        r#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#,
        r#"{"type":"response.output_text.delta","delta":"hi"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}"#,
    ];
    for shape in [
        r#"{"error":"all broke"}"#,
        r#"{"error":["all broke","and more"]}"#,
        r#"{"error":[{"message":"all broke"}]}"#,
        r#"{"error":{"error":{"message":"all broke","type":"server_error"}}}"#,
        r#"{"error":{"message":{"error":{"message":"all broke"}}}}"#,
        r#"{"error":{"msg":"all broke"}}"#,
        r#"{"error":true,"message":"all broke"}"#,
        r#"{"error":null,"message":"all broke","code":500}"#,
        r#"{"errors":["all broke"]}"#,
        r#"{"errors":{"message":"all broke"}}"#,
        r#"{"detail":{"message":"all broke"}}"#,
        r#"{"message":"all broke","type":"server_error"}"#,
        r#"{"message":"all broke","code":"E17"}"#,
        r#"{"code":500,"msg":"all broke"}"#,
        r#"{"error_code":500,"error_message":"all broke"}"#,
        r#"{"status":"error","message":"all broke"}"#,
        r#"{"success":false,"message":"all broke"}"#,
        r#"{"object":"error","message":{"detail":[{"msg":"all broke"}]}}"#,
        r#"[{"error":{"message":"all broke"}}]"#,
    ] {
        for (dialect, text) in dialects().iter().zip(texts) {
            let dialect = &**dialect;
            let stream = |text: String| harness::stream_text(dialect, &text).end.unwrap_err();
            let [whole, first] = in_band(dialect, shape);
            for (place, fault) in [
                ("with a status", harness::refused(dialect, 500, shape)),
                ("in a 200", whole),
                ("as the first event", first),
                ("as an unended event", stream(format!("data: {shape}"))),
                (
                    "before an end mark",
                    stream(format!("data: {shape}\n\ndata: [DONE]\n\n")),
                ),
                (
                    "by its name",
                    stream(format!("event: error\ndata: {shape}\n\n")),
                ),
                (
                    "after text",
                    stream(format!("data: {text}\n\ndata: {shape}\n\n")),
                ),
                (
                    "between events",
                    stream(format!("data: {text}\n\n{shape}\n\n")),
                ),
            ] {
                let name = dialect.name();
                assert_eq!(fault.kind(), ErrorKind::Server, "{name} {place}: {shape}");
                assert_eq!(
                    fault.message(),
                    Some("all broke"),
                    "{name} {place}: {shape}"
                );
            }
        }
    }
}

#[test]
fn a_code_where_the_words_belong_is_a_code() {
    for dialect in dialects() {
        for body in [
            r#"{"error":"rate_limit_exceeded","error_description":"wait"}"#,
            r#"{"error":"rate_limit_exceeded","message":"wait"}"#,
            r#"{"error":{"error":{"code":"rate_limit_exceeded","message":"wait"}}}"#,
            r#"{"errors":[{"code":"rate_limit_exceeded","message":"wait"}]}"#,
            r#"{"code":"rate_limit_exceeded","message":"wait"}"#,
        ] {
            for fault in in_band(&*dialect, body) {
                let name = dialect.name();
                assert_eq!(fault.kind(), ErrorKind::RateLimit, "{name} {body}");
                assert_eq!(fault.code(), Some("rate_limit_exceeded"), "{name} {body}");
                assert_eq!(fault.message(), Some("wait"), "{name} {body}");
            }
        }
        let words = harness::refused(&*dialect, 400, r#"{"error":"rate limit exceeded"}"#);
        assert_eq!(words.kind(), ErrorKind::BadRequest, "{}", dialect.name());
    }
}

#[test]
fn a_message_alone_is_told_where_an_answer_belongs_and_passes_as_a_notice_in_a_stream() {
    for dialect in dialects() {
        let name = dialect.name();
        for body in [
            r#"{"message":"no upstream"}"#,
            r#"{"message":"no upstream","code":200}"#,
        ] {
            let fault = harness::answer(&*dialect, body.as_bytes()).unwrap_err();
            assert_eq!(fault.kind(), ErrorKind::Server, "{name}");
            assert_eq!(fault.message(), Some("no upstream"), "{name}");
            let told = harness::stream_text(&*dialect, &format!("data: {body}\n\n"));
            assert_eq!(told.kind(), ErrorKind::Truncated, "{name}");
        }
    }
}

#[test]
fn what_a_validator_echoes_of_the_request_is_in_no_message() {
    let body = r#"{"detail":[{"loc":["body","n"],"msg":"not a number","input":"my secret"}]}"#;
    for dialect in dialects() {
        let [whole, stream] = in_band(&*dialect, body);
        for fault in [harness::refused(&*dialect, 422, body), whole, stream] {
            assert_eq!(
                fault.message(),
                Some("body.n: not a number"),
                "{}",
                dialect.name()
            );
        }
    }
}

#[test]
fn the_word_of_a_web_framework_in_front_of_the_api_is_an_error() {
    for dialect in dialects() {
        for fault in in_band(&*dialect, r#"{"detail":"Not authenticated"}"#) {
            assert_eq!(
                fault.message(),
                Some("Not authenticated"),
                "{}",
                dialect.name()
            );
            assert_eq!(fault.kind(), ErrorKind::Server, "{}", dialect.name());
        }
        let body = r#"{"detail":[{"loc":["body","n"],"msg":"field required"}]}"#;
        let fault = harness::refused(&*dialect, 422, body);
        assert!(
            fault
                .message()
                .is_some_and(|m| m.contains("field required"))
        );
    }
}

#[test]
fn half_an_error_after_the_last_word_is_no_end_of_an_answer() {
    let answers = [
        r#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}"#,
        r#"{"type":"response.output_text.delta","delta":"hi"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}"#,
    ];
    for (dialect, answer) in dialects().iter().zip(answers) {
        let told = harness::stream_text(
            &**dialect,
            &format!("data: {answer}\n\n {{\"error\": {{\"mess"),
        );
        assert_eq!(told.text(), "hi", "{}", dialect.name());
        assert_eq!(told.kind(), ErrorKind::Truncated, "{}", dialect.name());
    }
    // Half an end mark is none.
    let [openai, ..] = dialects();
    let told = harness::stream_text(&*openai, &format!("data: {}\n\n [DON", answers[0]));
    assert!(told.end.is_ok(), "{told:?}");
}
