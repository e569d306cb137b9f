use std::time::Duration;

use skyl_retry::Hint;

use super::*;

#[track_caller]
fn streamed(event: &Value) -> Fault {
    let first = told(std::slice::from_ref(event));
    let later = told(&[created(), text(0, "m", "a"), event.clone()]);
    assert_eq!(later.text(), "a");
    assert_eq!(later.kind(), first.kind(), "{event}");
    assert_eq!(later.fault().code(), first.fault().code(), "{event}");
    first.end.unwrap_err()
}

// openai/openai-dotnet#881, Effect-TS#7262, vercel/ai#20179: one client knows one of the shapes.
#[test]
fn errors_of_both_shapes_give_code_and_message() {
    for event in [
        json!({"type": "error", "error": {"type": "server_error", "code": "server_error",
               "message": "boom", "param": null}, "sequence_number": 2}),
        json!({"type": "error", "code": "server_error", "message": "boom", "param": null}),
        json!({"type": "response.error", "error": {"code": "server_error", "message": "boom"}}),
        json!({"type": "server_error", "message": "boom"}),
        json!({"error": {"type": "server_error", "message": "boom", "code": null}}),
    ] {
        let fault = streamed(&event);
        assert_eq!(fault.kind(), ErrorKind::Server, "{event}");
        assert_eq!(fault.message(), Some("boom"), "{event}");
        assert_eq!(fault.code(), Some("server_error"), "{event}");
    }
}

// vercel/ai#21360: the code is null, and the class stands in the type alone.
#[test]
fn each_error_has_its_kind_by_code_or_type() {
    for (field, word, kind) in [
        ("type", "server_error", ErrorKind::Server),
        ("code", "vector_store_timeout", ErrorKind::Server),
        ("code", "brand_new", ErrorKind::Server),
        ("code", "rate_limit_exceeded", ErrorKind::RateLimit),
        ("code", "too_many_requests", ErrorKind::RateLimit),
        // openai/codex#6340: sent again like a fault of the network.
        ("code", "insufficient_quota", ErrorKind::QuotaExhausted),
        ("type", "insufficient_quota", ErrorKind::QuotaExhausted),
        ("code", "context_length_exceeded", ErrorKind::ContextLength),
        ("code", "invalid_prompt", ErrorKind::BadRequest),
        ("code", "invalid_image_url", ErrorKind::BadRequest),
        ("code", "image_too_large", ErrorKind::BadRequest),
        ("code", "empty_image_file", ErrorKind::BadRequest),
        (
            "code",
            "unsupported_image_media_type",
            ErrorKind::BadRequest,
        ),
        ("code", "image_content_policy_violation", ErrorKind::Refusal),
        ("code", "bio_policy", ErrorKind::Refusal),
    ] {
        check(field, word, kind, false);
    }
    check("type", "service_unavailable_error", ErrorKind::Server, true);
    check("code", "server_is_overloaded", ErrorKind::Server, true);
    check("code", "slow_down", ErrorKind::Server, true);
}

/// An error event, a failed stream and a failed answer of one error are of one kind.
#[track_caller]
fn check(field: &str, word: &str, kind: ErrorKind, overloaded: bool) {
    let mut error = json!({"type": null, "code": null, "message": "m"});
    error[field] = json!(word);
    let failed = json!({"type": "response.failed", "response": {
        "id": "resp_1", "status": "failed", "error": error, "output": []}});
    for event in [json!({"type": "error", "error": error}), failed] {
        let fault = streamed(&event);
        let got = (fault.kind(), fault.is_overloaded());
        assert_eq!(got, (kind, overloaded), "{event}");
    }
    let mut body = answer(&json!([]));
    body["status"] = json!("failed");
    body["error"] = error;
    let fault = fault(&body.to_string());
    assert_eq!((fault.kind(), fault.code()), (kind, Some(word)), "{body}");
    assert_eq!(fault.usage().unwrap().output_tokens, Some(9), "{body}");
}

// lsdefine/GenericAgent#753: an overload came out as words of the assistant.
#[test]
fn an_overload_before_content_hands_out_nothing() {
    let error = json!({"code": "server_is_overloaded", "message": "busy"});
    let failed = json!({"type": "response.failed", "response": {
        "status": "failed", "error": error, "usage": null}});
    let told = told(&[created(), failed]);
    assert_eq!(told.events, []);
    assert!(told.fault().is_overloaded());
    assert_eq!(told.fault().message(), Some("busy"));
}

// openai/openai-python#2796, #649, #650.
#[test]
fn an_error_is_one_by_its_name_or_in_lines_or_bare() {
    for body in [
        "event: error\ndata: {\"error\":{\"message\":\"boom\",\"type\":\"server_error\"}}\n\n",
        "event: error\ndata: {\"message\":\"boom\"}\n\n",
        "event: error\ndata: boom\n\n",
        "data: {\ndata:  \"error\": {\"message\": \"boom\"}\ndata: }\n\n",
        "{\n \"error\": {\"message\": \"boom\"}\n}\n",
        "data: [{\"error\":{\"message\":\"boom\"}}]\n\n",
    ] {
        let told = stream_text(&responses(), body);
        assert_eq!(told.kind(), ErrorKind::Server, "{body}");
        assert_eq!(told.fault().message(), Some("boom"), "{body}");
    }
}

#[test]
fn an_answer_that_came_to_nothing_is_a_failure() {
    for status in ["failed", "cancelled", "in_progress", "queued"] {
        let mut body = answer(&json!([message("m", "a")]));
        body["status"] = json!(status);
        let fault = fault(&body.to_string());
        assert_eq!(fault.kind(), ErrorKind::Server, "{status}");
        assert_eq!(fault.code(), Some(status));
        assert!(fault.usage().is_some(), "{status}");
    }
    for name in ["failed", "cancelled"] {
        let told = told(&[created(), json!({"type": format!("response.{name}")})]);
        assert_eq!(
            (told.kind(), told.fault().code()),
            (ErrorKind::Server, Some(name))
        );
    }
    // The event says it failed, whatever status the answer in it has.
    let odd = json!({"type": "response.failed", "response": answer(&json!([message("m", "a")]))});
    assert_eq!(told(&[odd]).kind(), ErrorKind::Server);
}

#[test]
fn a_whole_body_that_is_an_error_is_that_error() {
    for (body, kind) in [
        (
            json!({"error": {"message": "m", "type": "requests", "code": "rate_limit_exceeded"}}),
            ErrorKind::RateLimit,
        ),
        (
            json!({"type": "error", "code": "server_error", "message": "m"}),
            ErrorKind::Server,
        ),
        (
            json!({"object": "error", "message": "m"}),
            ErrorKind::Server,
        ),
        (json!({"error": "no"}), ErrorKind::Server),
        (
            json!([{"error": {"code": 429, "message": "m"}}]),
            ErrorKind::RateLimit,
        ),
    ] {
        assert_eq!(fault(&body.to_string()).kind(), kind, "{body}");
    }
}

#[test]
fn a_wait_in_the_error_is_the_servers_wait() {
    let error = json!({"type": "tokens", "code": "rate_limit_exceeded", "message": "m",
        "headers": {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}});
    let fault = streamed(&json!({"type": "error", "error": error}));
    assert_eq!(fault.hint(), Hint::Wait(Duration::from_secs(360)));
    let plain = streamed(&json!({"type": "error", "error": {"code": "rate_limit_exceeded"}}));
    assert_eq!(plain.hint(), Hint::Absent);
}

#[test]
fn statuses_are_classified_as_in_chat_completions() {
    for (status, body, kind) in [
        (
            401,
            json!({"error": {"code": "invalid_api_key", "message": "m"}}),
            ErrorKind::Auth,
        ),
        (
            404,
            json!({"error": {"code": "model_not_found", "message": "m"}}),
            ErrorKind::NotFound,
        ),
        (
            400,
            json!({"error": {"code": "context_length_exceeded", "message": "m"}}),
            ErrorKind::ContextLength,
        ),
        (
            429,
            json!({"error": {"type": "insufficient_quota", "message": "m"}}),
            ErrorKind::QuotaExhausted,
        ),
        (
            429,
            json!({"error": {"code": "slow_down", "message": "m"}}),
            ErrorKind::RateLimit,
        ),
        (
            400,
            json!({"error": {"code": "previous_response_not_found", "message": "m"}}),
            ErrorKind::BadRequest,
        ),
        (503, json!({}), ErrorKind::Server),
    ] {
        let fault = harness::refused(&responses(), status, &body.to_string());
        assert_eq!(fault.kind(), kind, "{status} {body}");
    }
}
