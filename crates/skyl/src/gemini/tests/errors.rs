use std::time::Duration;

use serde_json::{Value, json};
use skyl_retry::Hint;

use super::*;
use crate::kind::ErrorKind;

fn error(code: u16, status: &str, message: &str, details: Value) -> String {
    let mut body = json!({"error": {"code": code, "message": message, "status": status}});
    body["error"]["details"] = details;
    body.to_string()
}

fn detail(kind: &str, name: &str, value: Value) -> Value {
    let mut detail = json!({"@type": format!("type.googleapis.com/google.rpc.{kind}")});
    detail[name] = value;
    detail
}

fn quota(ids: &[&str]) -> Value {
    let violations: Vec<_> = ids
        .iter()
        .map(|id| json!({"quotaId": id, "quotaValue": "20"}))
        .collect();
    detail("QuotaFailure", "violations", json!(violations))
}

#[track_caller]
fn check(status: u16, body: &str, kind: ErrorKind, overloaded: bool) -> Fault {
    let fault = harness::refused(&gemini(), status, body);
    assert_eq!(
        (fault.kind(), fault.is_overloaded()),
        (kind, overloaded),
        "{status} {body}"
    );
    fault
}

#[test]
fn each_documented_error_has_its_kind() {
    for (code, status, kind, overloaded) in [
        (400, "INVALID_ARGUMENT", ErrorKind::BadRequest, false),
        (400, "FAILED_PRECONDITION", ErrorKind::BadRequest, false),
        (401, "UNAUTHENTICATED", ErrorKind::Auth, false),
        (402, "FAILED_PRECONDITION", ErrorKind::QuotaExhausted, false),
        (403, "PERMISSION_DENIED", ErrorKind::Auth, false),
        (404, "NOT_FOUND", ErrorKind::NotFound, false),
        (429, "RESOURCE_EXHAUSTED", ErrorKind::RateLimit, false),
        (499, "CANCELLED", ErrorKind::BadRequest, false),
        (500, "INTERNAL", ErrorKind::Server, false),
        (503, "UNAVAILABLE", ErrorKind::Server, true),
        (504, "DEADLINE_EXCEEDED", ErrorKind::Server, false),
    ] {
        let body = error(code, status, "words", json!([]));
        let fault = check(code, &body, kind, overloaded);
        assert_eq!(fault.message(), Some("words"));
        assert_eq!(fault.code(), Some(code.to_string().as_str()));
        assert_eq!((fault.status(), fault.hint()), (Some(code), Hint::Absent));
        check(code, &format!("[{body}\n]"), kind, overloaded);
    }
}

#[test]
fn a_wrong_key_is_told_from_a_wrong_request() {
    let info = |reason: &str| json!([detail("ErrorInfo", "reason", json!(reason))]);
    let body = error(400, "INVALID_ARGUMENT", "m", info("API_KEY_INVALID"));
    assert_eq!(
        check(400, &body, ErrorKind::Auth, false).code(),
        Some("API_KEY_INVALID")
    );
    let body = error(400, "INVALID_ARGUMENT", "m", info("FIELD_MISSING"));
    assert_eq!(
        check(400, &body, ErrorKind::BadRequest, false).code(),
        Some("FIELD_MISSING")
    );
    let said = "API key not valid. Please pass a valid API key.";
    let body = error(400, "INVALID_ARGUMENT", said, Value::Null);
    check(400, &body, ErrorKind::Auth, false);
    check(500, &body, ErrorKind::Server, false);
}

#[test]
fn the_wait_is_in_the_details() {
    for (delay, expected) in [
        (json!("46.25s"), Hint::Wait(Duration::from_millis(46_250))),
        (json!("0s"), Hint::Wait(Duration::ZERO)),
        (json!("soon"), Hint::Unusable),
        // The message itself instead of its JSON form.
        (
            json!({"seconds": 7, "nanos": 500_000_000}),
            Hint::Wait(Duration::from_millis(7_500)),
        ),
        (json!({"seconds": "7"}), Hint::Wait(Duration::from_secs(7))),
        (
            json!({"nanos": 20_000_000}),
            Hint::Wait(Duration::from_millis(20)),
        ),
        (json!({"seconds": -7}), Hint::Unusable),
        (json!({"seconds": [7]}), Hint::Unusable),
        (
            json!({"seconds": 7, "nanos": 1_000_000_000}),
            Hint::Unusable,
        ),
        (json!({"seconds": 7, "nanos": -1}), Hint::Unusable),
        (json!({"seconds": "NaN"}), Hint::Unusable),
        (
            json!({"seconds": null, "nanos": null}),
            Hint::Wait(Duration::ZERO),
        ),
        (json!("1.5s"), Hint::Wait(Duration::from_millis(1_500))),
        (json!("-1.5s"), Hint::Unusable),
        (json!("NaNs"), Hint::Unusable),
        (json!("1e3s"), Hint::Unusable),
        (json!("7"), Hint::Unusable),
        // Of what, nobody says.
        (json!(7), Hint::Absent),
    ] {
        let details = json!([detail("RetryInfo", "retryDelay", delay)]);
        let body = error(429, "RESOURCE_EXHAUSTED", "m", details);
        assert_eq!(
            check(429, &body, ErrorKind::RateLimit, false).hint(),
            expected
        );
    }
    let details = json!([detail("RetryInfo", "retryDelay", json!("3s"))]);
    let fault = check(
        503,
        &error(503, "UNAVAILABLE", "m", details),
        ErrorKind::Server,
        true,
    );
    assert_eq!(fault.hint(), Hint::Wait(Duration::from_secs(3)));
}

#[test]
fn a_daily_quota_is_told_from_a_limit_by_the_minute() {
    let minute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
    let day = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
    for (ids, kind, code) in [
        (&[minute][..], ErrorKind::RateLimit, "429"),
        (&[day], ErrorKind::QuotaExhausted, "quota_per_day"),
        (&[minute, day], ErrorKind::QuotaExhausted, "quota_per_day"),
        (&[], ErrorKind::RateLimit, "429"),
    ] {
        let body = error(429, "RESOURCE_EXHAUSTED", "m", json!([quota(ids)]));
        assert_eq!(check(429, &body, kind, false).code(), Some(code));
    }
}

#[test]
fn no_quota_at_all_is_a_quota() {
    for (message, kind) in [
        (
            "Quota exceeded for metric: x, limit: 0, model: y",
            ErrorKind::QuotaExhausted,
        ),
        (
            "Quota exceeded for metric: x, limit: 0",
            ErrorKind::QuotaExhausted,
        ),
        (
            "Quota exceeded for metric: x, limit: 05",
            ErrorKind::RateLimit,
        ),
        (
            "Quota exceeded for metric: x, limit: 0.5",
            ErrorKind::RateLimit,
        ),
        (
            "Quota exceeded for metric: x, limit: 10",
            ErrorKind::RateLimit,
        ),
    ] {
        let body = error(429, "RESOURCE_EXHAUSTED", message, Value::Null);
        check(429, &body, kind, false);
    }
    let none = detail(
        "QuotaFailure",
        "violations",
        json!([{"quotaId": "x", "quotaValue": "0"}]),
    );
    let body = error(429, "RESOURCE_EXHAUSTED", "m", json!([none]));
    check(429, &body, ErrorKind::QuotaExhausted, false);
}

#[test]
fn a_wait_of_hours_is_a_quota() {
    let wait = |delay: &str| {
        error(
            429,
            "RESOURCE_EXHAUSTED",
            "m",
            json!([detail("RetryInfo", "retryDelay", json!(delay))]),
        )
    };
    check(429, &wait("3600s"), ErrorKind::QuotaExhausted, false);
    check(429, &wait("3599.9s"), ErrorKind::RateLimit, false);
    let said = |text: &str| error(429, "RESOURCE_EXHAUSTED", text, Value::Null);
    check(
        429,
        &said("Please retry in 10h17m5.7s."),
        ErrorKind::QuotaExhausted,
        false,
    );
    check(
        429,
        &said("Please retry in 46.25s."),
        ErrorKind::RateLimit,
        false,
    );
}

#[test]
fn a_prompt_that_does_not_fit_is_told_from_a_wrong_request() {
    let said =
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    check(
        400,
        &error(400, "INVALID_ARGUMENT", said, Value::Null),
        ErrorKind::ContextLength,
        false,
    );
    check(
        404,
        &error(404, "INVALID_ARGUMENT", said, Value::Null),
        ErrorKind::NotFound,
        false,
    );
    let other = "The input token count is fine.";
    check(
        400,
        &error(400, "INVALID_ARGUMENT", other, Value::Null),
        ErrorKind::BadRequest,
        false,
    );
}

#[test]
fn an_overloaded_model_is_told_by_name_or_by_word() {
    check(503, "", ErrorKind::Server, false);
    check(529, "", ErrorKind::Server, true);
    let said = error(
        503,
        "",
        "The model is overloaded. Please try again later.",
        Value::Null,
    );
    check(503, &said, ErrorKind::Server, true);
    let busy = error(503, "UNAVAILABLE", "m", Value::Null);
    check(500, &busy, ErrorKind::Server, true);
}

// googleapis/js-genai#728.
#[test]
fn a_body_encoded_into_the_message_is_read() {
    let inner = json!({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}});
    let body = json!({"error": {
        "message": inner.to_string(), "code": 503, "status": "Service Unavailable",
    }});
    let fault = check(503, &body.to_string(), ErrorKind::Server, true);
    assert_eq!(fault.message(), Some("busy"));
    let deep = json!({"error": {"message": body.to_string()}});
    assert_eq!(
        check(503, &deep.to_string(), ErrorKind::Server, true).message(),
        Some("busy")
    );
    let prose = json!({"error": {"message": "{not json"}});
    assert_eq!(
        check(500, &prose.to_string(), ErrorKind::Server, false).message(),
        Some("{not json")
    );
}

#[test]
fn bodies_that_are_no_error_object_keep_the_kind_of_the_status() {
    for (body, message) in [
        ("", None),
        (
            "<html><title>502 Bad Gateway</title></html>",
            Some("502 Bad Gateway"),
        ),
        ("{\"error\":{\"code\":4", None),
        ("null", None),
        ("{}", None),
        ("[]", None),
        ("[5]", None),
        ("{\"error\":\"boom\"}", Some("boom")),
        ("{\"code\":13,\"message\":\"boom\"}", Some("boom")),
        ("{\"error\":{\"message\":[1]}}", Some("[1]")),
        (
            "{\"error\":{\"details\":{\"a\":1},\"code\":\"x\",\"status\":5}}",
            None,
        ),
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

#[test]
fn without_a_status_the_code_or_the_name_tells() {
    for (body, kind, status) in [
        (
            json!({"error": {"code": 429}}),
            ErrorKind::RateLimit,
            Some(429),
        ),
        (
            json!({"error": {"code": "503"}}),
            ErrorKind::Server,
            Some(503),
        ),
        (
            json!({"error": {"status": "RESOURCE_EXHAUSTED"}}),
            ErrorKind::RateLimit,
            None,
        ),
        (
            json!({"error": {"status": "INVALID_ARGUMENT"}}),
            ErrorKind::BadRequest,
            None,
        ),
        (
            json!({"error": {"status": "PERMISSION_DENIED"}}),
            ErrorKind::Auth,
            None,
        ),
        (
            json!({"error": {"status": "NOT_FOUND"}}),
            ErrorKind::NotFound,
            None,
        ),
        (
            json!({"error": {"status": "BRAND_NEW"}}),
            ErrorKind::Server,
            None,
        ),
        (
            json!({"error": {"code": 99_999, "message": "m"}}),
            ErrorKind::Server,
            None,
        ),
        (
            json!({"code": 404, "message": "m", "status": "NOT_FOUND"}),
            ErrorKind::NotFound,
            Some(404),
        ),
        // An error all the same, whatever it calls itself.
        (
            json!({"error": {"code": 200, "message": "m", "status": "OK"}}),
            ErrorKind::Server,
            Some(200),
        ),
        (
            json!([{"error": {"code": 403}}]),
            ErrorKind::Auth,
            Some(403),
        ),
    ] {
        let fault = harness::answer(&gemini(), body.to_string().as_bytes()).unwrap_err();
        assert_eq!((fault.kind(), fault.status()), (kind, status), "{body}");
    }
}
