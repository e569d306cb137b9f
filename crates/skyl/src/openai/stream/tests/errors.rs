use std::time::Duration;

use skyl_retry::Hint;

use super::*;

const BOOM: &str = r#"{"message":"boom","type":"server_error"}"#;

#[track_caller]
fn check(text: &str, kind: ErrorKind, message: &str) {
    for (place, before) in [("first", String::new()), ("later", frames(&[said("a")]))] {
        // Whether `[DONE]` follows must not matter: vLLM writes it, others do not.
        for after in ["", "data: [DONE]\n\n"] {
            let told = told(&format!("{before}{text}{after}"));
            assert_eq!(told.kind(), kind, "{place}, then {after:?}");
            assert_eq!(told.fault().message(), Some(message), "{place}");
        }
    }
}

// jeremychone/rust-genai#245, #159, block/goose#8027, envoyproxy/ai-gateway#2279
#[test]
fn an_error_in_a_data_frame_is_that_error() {
    check(
        &format!("data: {{\"error\":{BOOM}}}\n\n"),
        ErrorKind::Server,
        "boom",
    );
    check("data: {\"error\":\"boom\"}\n\n", ErrorKind::Server, "boom");
    check(
        "data: {\"error\":{\"message\":\"Provider returned error\",\"code\":502}}\n\n",
        ErrorKind::Server,
        "Provider returned error",
    );
}

// openai/openai-python#2796
#[test]
fn an_event_named_error_is_an_error_whatever_it_holds() {
    check(
        &format!("event: error\ndata: {{\"error\":{BOOM}}}\n\n"),
        ErrorKind::Server,
        "boom",
    );
    check(
        &format!("event: error\ndata: {BOOM}\n\n"),
        ErrorKind::Server,
        "boom",
    );
    check("event: error\ndata: boom\n\n", ErrorKind::Server, "boom");
}

// openai/openai-python#649, #650
#[test]
fn an_error_over_several_lines_is_one_error_with_and_without_data_fields() {
    check(
        "data: {\ndata:  \"error\": {\"message\": \"overloaded\"}\ndata: }\n\n",
        ErrorKind::Server,
        "overloaded",
    );
    check(
        "{\n  \"error\": {\"message\": \"overloaded\"}\n}\n\n",
        ErrorKind::Server,
        "overloaded",
    );
    check(
        "[{\n  \"error\": {\"message\": \"overloaded\"}\n}]\n\n",
        ErrorKind::Server,
        "overloaded",
    );
}

#[test]
fn a_line_named_error_as_llama_cpp_writes_it_is_an_error() {
    check(
        "error: {\"code\":500,\"message\":\"boom\",\"type\":\"server_error\"}\n\n",
        ErrorKind::Server,
        "boom",
    );
}

// UKGovernmentBEIS/inspect_ai#5110
#[test]
fn an_error_without_a_status_is_known_by_its_type() {
    let kind = |error: Value| told(&frames(&[json!({"error": error})])).kind();
    assert_eq!(
        kind(json!({"type": "server_error", "code": null})),
        ErrorKind::Server
    );
    assert_eq!(
        kind(json!({"code": "rate_limit_exceeded"})),
        ErrorKind::RateLimit
    );
    assert_eq!(
        kind(json!({"type": "authentication_error"})),
        ErrorKind::Auth
    );
    assert_eq!(
        kind(json!({"type": "invalid_request_error"})),
        ErrorKind::BadRequest
    );
    assert_eq!(
        kind(json!({"code": "context_length_exceeded"})),
        ErrorKind::ContextLength
    );
    assert_eq!(
        kind(json!({"type": "who_knows", "message": "x"})),
        ErrorKind::Server
    );
}

// openai/codex#6340, googleapis/python-genai#2604
#[test]
fn a_numeric_code_is_taken_as_the_status_and_a_quota_stays_a_quota() {
    let told = told(&frames(&[
        json!({"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}),
    ]));
    assert_eq!(told.kind(), ErrorKind::RateLimit);
    assert_eq!(told.fault().status(), Some(429));
    assert_eq!(told.fault().code(), Some("429"));
    let told = super::told(&frames(&[json!({"error": {"code": "insufficient_quota"}})]));
    assert_eq!(told.kind(), ErrorKind::QuotaExhausted);
}

#[test]
fn an_error_beside_choices_or_in_one_is_that_error_and_its_delta_no_content() {
    let error = json!({"code": 502, "message": "boom"});
    let beside = json!({"choices": [{"index": 0, "delta": {"content": "x"},
                         "finish_reason": "error"}], "error": error});
    check(
        &frames(std::slice::from_ref(&beside)),
        ErrorKind::Server,
        "boom",
    );
    assert_eq!(
        told(&frames(&[beside])).text(),
        "",
        "what comes with an error is not content"
    );
    let inside = json!({"choices": [{"index": 0, "delta": {}, "error": error,
                         "finish_reason": "error"}]});
    check(&frames(&[inside]), ErrorKind::Server, "boom");
    let groq = json!({"choices": [], "x_groq": {"id": "r", "error": "boom"}});
    check(&frames(&[groq]), ErrorKind::Server, "boom");
}

#[test]
fn a_finish_that_says_error_is_a_failure_and_no_success() {
    check(
        &frames(&[finish("error")]),
        ErrorKind::Server,
        "the provider broke off the answer",
    );
    let told = told(&frames(&[finish("insufficient_system_resource")]));
    assert!(told.fault().is_overloaded());
}

#[test]
fn flat_errors_are_errors_and_notices_are_not() {
    check(
        "data: {\"object\":\"error\",\"message\":\"boom\",\"type\":\"BadRequestError\",\"code\":400}\n\n",
        ErrorKind::BadRequest,
        "boom",
    );
    check("data: {\"detail\":\"boom\"}\n\n", ErrorKind::Server, "boom");
    let notice = "data: {\"type\":\"status\",\"message\":\"third in the queue\"}\n\n";
    assert!(
        told(&(notice.to_owned() + &frames(&[said("a"), finish("stop")])))
            .end
            .is_ok()
    );
}

#[test]
fn an_error_that_is_null_or_empty_is_none() {
    for error in [json!(null), json!({}), json!(""), json!(false)] {
        let chunk = json!({"error": error, "choices": [{"index": 0, "delta": {"content": "a"},
                            "finish_reason": "stop"}]});
        assert_eq!(told(&frames(&[chunk])).text(), "a", "{error}");
    }
}

#[test]
fn a_page_in_the_middle_of_a_stream_is_unreadable_and_other_strays_are_told() {
    let page = "<html>\n<body>502</body>\n</html>\n\n";
    let end = frames(&[finish("stop")]);
    let cut = told(&(frames(&[said("a")]) + page));
    assert_eq!(cut.kind(), ErrorKind::Decode);
    for text in [
        frames(&[said("a")]) + "(no healthy upstream)\n\n" + &end,
        frames(&[said("a")]) + &end + page,
    ] {
        let told = told(&text);
        assert!(told.end.is_ok(), "{text}");
        assert_eq!(told.decoded.warnings.len(), 1, "{text}");
        assert_eq!(told.decoded.warnings[0].field, "stream");
    }
}

#[test]
fn chunks_and_the_end_mark_count_without_their_field_name_too() {
    let told = told(&format!("{}\n\n{}\n\n[DONE]\n\n", said("a"), said("b")));
    assert_eq!(told.text(), "ab");
    assert!(told.end.is_ok());
}

#[test]
fn waits_inside_an_error_are_read_against_the_replys_own_date() {
    let mut headers = HeaderMap::new();
    headers.insert("date", "Tue, 01 Dec 2026 00:00:00 GMT".parse().unwrap());
    let reset = "1796083207000";
    let data = json!({"error": {"code": 429, "metadata": {"headers": {
        "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}}}})
    .to_string();
    let wait = |headers: &HeaderMap| {
        let mut decoder = dialect().stream_decoder(&Head::new(200, headers, now()));
        let frame = Frame::Event {
            name: "message",
            data: &data,
            terminated: true,
        };
        decoder.frame(frame, &mut Sink::new()).unwrap_err().hint()
    };
    assert_eq!(wait(&headers), Hint::Wait(Duration::from_secs(7)));
    assert_eq!(
        wait(&HeaderMap::new()),
        Hint::Unusable,
        "without a date no date can be read"
    );
}

#[test]
fn credits_that_are_used_up_are_a_quota_without_a_status_too() {
    let body = json!({
        "code": "Some resource has been exhausted",
        "error": "Your team has either used all available credits or reached its monthly limit.",
    });
    let told = told(&frames(&[body]));
    assert_eq!(told.kind(), ErrorKind::QuotaExhausted);
}
