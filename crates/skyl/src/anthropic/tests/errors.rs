use serde_json::json;
use skyl_retry::Hint;

use super::*;
use crate::kind::ErrorKind;

fn error(kind: &str, message: &str) -> String {
    json!({
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": "req_1",
    })
    .to_string()
}

#[track_caller]
fn check(status: u16, body: &str, kind: ErrorKind, overloaded: bool) -> Fault {
    let fault = harness::refused(&anthropic(), status, body);
    assert_eq!(
        (fault.kind(), fault.is_overloaded()),
        (kind, overloaded),
        "{status} {body}"
    );
    fault
}

#[test]
fn each_documented_error_has_its_kind() {
    for (status, word, kind, overloaded) in [
        (400, "invalid_request_error", ErrorKind::BadRequest, false),
        (401, "authentication_error", ErrorKind::Auth, false),
        (402, "billing_error", ErrorKind::QuotaExhausted, false),
        (403, "permission_error", ErrorKind::Auth, false),
        (404, "not_found_error", ErrorKind::NotFound, false),
        (409, "conflict_error", ErrorKind::Server, false),
        (413, "request_too_large", ErrorKind::BadRequest, false),
        (429, "rate_limit_error", ErrorKind::RateLimit, false),
        (500, "api_error", ErrorKind::Server, false),
        (503, "change_outcome_unknown", ErrorKind::Server, false),
        (504, "timeout_error", ErrorKind::Server, false),
        (529, "overloaded_error", ErrorKind::Server, true),
        (529, "compaction_unavailable", ErrorKind::Server, true),
    ] {
        let fault = check(status, &error(word, "words"), kind, overloaded);
        assert_eq!(fault.code(), Some(word));
        assert_eq!(fault.message(), Some("words"));
        assert_eq!(fault.request_id(), Some("req_1"));
        assert_eq!((fault.status(), fault.hint()), (None, Hint::Absent));
    }
}

#[test]
fn a_spend_limit_is_a_quota_and_a_ramp_limit_is_not() {
    for (code, kind) in [
        ("enforced_spend_limit_reached", ErrorKind::QuotaExhausted),
        ("contract_spend_limit_reached", ErrorKind::QuotaExhausted),
        ("ramp_limit_exceeded", ErrorKind::RateLimit),
    ] {
        let body = json!({"type": "error", "error": {
            "type": "rate_limit_error", "message": "m", "details": {"error_code": code},
        }});
        let fault = check(429, &body.to_string(), kind, false);
        assert_eq!(fault.code(), Some(code));
    }
}

#[test]
fn an_empty_balance_is_a_quota_on_the_status_it_comes_with() {
    for message in [
        "Your credit balance is too low to access the Anthropic API.",
        "You have reached your specified API usage limits.",
    ] {
        let body = error("invalid_request_error", message);
        check(400, &body, ErrorKind::QuotaExhausted, false);
        check(429, &body, ErrorKind::QuotaExhausted, false);
        check(500, &body, ErrorKind::Server, false);
    }
    for message in [
        "You have hit your usage limits.",
        "Your own spend limit is reached.",
    ] {
        let body = error("invalid_request_error", message);
        check(400, &body, ErrorKind::QuotaExhausted, false);
        check(429, &body, ErrorKind::RateLimit, false);
    }
}

// BerriAI/litellm#15968 and relatives.
#[test]
fn a_prompt_that_does_not_fit_is_told_from_a_wrong_request() {
    for message in [
        "prompt is too long: 208310 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 197202 + 21333 > 200000",
        "This is longer than the model's context length.",
    ] {
        check(
            400,
            &error("invalid_request_error", message),
            ErrorKind::ContextLength,
            false,
        );
        check(
            413,
            &error("request_too_large", message),
            ErrorKind::ContextLength,
            false,
        );
        check(
            404,
            &error("not_found_error", message),
            ErrorKind::NotFound,
            false,
        );
    }
}

#[test]
fn a_name_beats_the_status_and_a_general_one_does_not() {
    check(
        500,
        &error("overloaded_error", "x"),
        ErrorKind::Server,
        true,
    );
    check(
        503,
        &error("rate_limit_error", "x"),
        ErrorKind::RateLimit,
        false,
    );
    check(
        400,
        &error("authentication_error", "x"),
        ErrorKind::Auth,
        false,
    );
    for word in ["api_error", "invalid_request_error", "brand_new_error", ""] {
        check(404, &error(word, "x"), ErrorKind::NotFound, false);
        check(502, &error(word, "x"), ErrorKind::Server, false);
    }
}

#[test]
fn a_429_stays_a_rate_limit_whatever_else_it_says() {
    for word in [
        "overloaded_error",
        "authentication_error",
        "api_error",
        "not_found_error",
    ] {
        check(
            429,
            &error(word, "prompt is too long"),
            ErrorKind::RateLimit,
            false,
        );
    }
}

#[test]
fn bodies_that_are_no_error_object_keep_the_kind_of_the_status() {
    for (body, message) in [
        ("", None),
        (
            "<html><title>502 Bad Gateway</title></html>",
            Some("502 Bad Gateway"),
        ),
        (
            "upstream connect error\nreset",
            Some("upstream connect error"),
        ),
        ("{\"type\":\"error\",\"error\":{\"type\":\"over", None),
        ("null", None),
        ("{}", None),
        ("[]", None),
        ("{\"detail\":\"slow down\"}", Some("slow down")),
        ("{\"message\":\"boom\"}", Some("boom")),
        ("{\"error\":\"boom\"}", Some("boom")),
        ("{\"error\":{\"message\":{\"a\":1}}}", Some("{\"a\":1}")),
        ("[{\"error\":{\"message\":\"boom\"}}]", Some("boom")),
    ] {
        for (status, kind) in [(502, ErrorKind::Server), (401, ErrorKind::Auth)] {
            assert_eq!(
                check(status, body, kind, false).message(),
                message,
                "{body}"
            );
        }
    }
}

// googleapis/js-genai#728: gateways do it in front of this API too.
#[test]
fn a_body_encoded_into_the_message_is_read() {
    let inner = error("overloaded_error", "Overloaded");
    let body = json!({"error": {"type": "api_error", "message": inner}}).to_string();
    let fault = check(502, &body, ErrorKind::Server, true);
    assert_eq!(
        (fault.message(), fault.code()),
        (Some("Overloaded"), Some("overloaded_error"))
    );
    assert_eq!(fault.request_id(), Some("req_1"));
}

#[test]
fn a_numeric_code_of_a_body_stands_for_the_status_it_lacks() {
    let body = json!({"error": {"code": 503, "message": "busy"}}).to_string();
    let fault = harness::answer(&anthropic(), body.as_bytes()).unwrap_err();
    assert_eq!(
        (fault.kind(), fault.status()),
        (ErrorKind::Server, Some(503))
    );
    let body = json!({"error": {"code": 429, "message": "slow"}}).to_string();
    let fault = harness::answer(&anthropic(), body.as_bytes()).unwrap_err();
    assert_eq!(
        (fault.kind(), fault.status()),
        (ErrorKind::RateLimit, Some(429))
    );
}

#[test]
fn long_messages_are_cut() {
    let fault = check(
        500,
        &error("api_error", &"é".repeat(9_000)),
        ErrorKind::Server,
        false,
    );
    assert_eq!(fault.message().unwrap().len(), 2_048);
}
