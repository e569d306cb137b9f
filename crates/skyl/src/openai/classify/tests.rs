use http::{HeaderMap, HeaderValue};
use serde_json::json;

use super::*;
use crate::dialect::Dialect as _;
use crate::dialect::harness::{now, refused};
use crate::openai::OpenAiCompatible;

fn dialect() -> OpenAiCompatible {
    OpenAiCompatible::new("http://localhost/v1")
}

#[track_caller]
fn check(status: u16, body: &Value, kind: ErrorKind) -> Fault {
    let fault = refused(&dialect(), status, &body.to_string());
    assert_eq!(fault.kind(), kind, "{status} {body}");
    fault
}

fn error(inner: &Value) -> Value {
    json!({"error": inner})
}

/// An error of a type and a code, as OpenAI writes it.
fn openai(kind: &str, code: &Value) -> Value {
    error(&json!({"message": "Something is wrong.", "type": kind, "param": null, "code": code}))
}

#[test]
fn a_body_that_says_nothing_leaves_the_kind_to_the_status() {
    for status in 300..=599 {
        for body in [
            json!({}),
            json!([]),
            json!(""),
            json!({"error": null}),
            json!({"error": {}}),
            openai("invalid_request_error", &json!(null)),
            openai("api_error", &json!(null)),
            openai("error", &json!("")),
            openai("brand_new_error", &json!("brand_new_code")),
        ] {
            let fault = check(status, &body, classify_status(status));
            assert_eq!(fault.is_overloaded(), status == 529, "{status} {body}");
        }
    }
}

// 64bit/async-openai 0.43, AltimateAI/altimate-code#1119, meilisearch/meilisearch-js#2234
#[test]
fn a_body_that_is_no_json_keeps_the_kind_of_the_status() {
    for status in [401, 404, 429, 500, 502, 529] {
        for body in [
            "",
            "  \n",
            "<html><head><title>502 Bad Gateway</title></head></html>",
            "upstream connect error",
            "{\"error\":{\"message\":\"cut he",
            "{\"error\":{\"type\":\"insufficient_quota\",",
            "\u{feff}",
            "\u{0}\u{1}",
        ] {
            let fault = refused(&dialect(), status, body);
            assert_eq!(fault.kind(), classify_status(status), "{status} {body:?}");
        }
    }
    let message = |body| refused(&dialect(), 502, body).message().map(str::to_owned);
    assert_eq!(
        message("<!DOCTYPE html>\n<HTML><TITLE> 502 Bad Gateway </TITLE>").as_deref(),
        Some("502 Bad Gateway")
    );
    assert_eq!(message("<html>").as_deref(), None);
    assert_eq!(
        message("\nno healthy upstream\nmore").as_deref(),
        Some("no healthy upstream")
    );
    assert_eq!(message(&"é".repeat(500)).unwrap().len(), 200);
}

#[test]
fn a_code_or_type_that_names_a_kind_beats_the_status() {
    use ErrorKind::{Auth, ContextLength, NotFound, QuotaExhausted, RateLimit, Refusal, Server};
    for (word, kind) in [
        ("invalid_api_key", Auth),
        ("authentication_error", Auth),
        ("permission_error", Auth),
        ("unsupported_country_region_territory", Auth),
        ("model_not_found", NotFound),
        ("not_found_error", NotFound),
        ("context_length_exceeded", ContextLength),
        ("exceed_context_size_error", ContextLength),
        ("rate_limit_exceeded", RateLimit),
        ("rate_limit_error", RateLimit),
        ("capacity_exceeded", RateLimit),
        ("insufficient_quota", QuotaExhausted),
        ("credit_balance_exhausted", QuotaExhausted),
        ("organization_spend_limit_exceeded", QuotaExhausted),
        ("project_spend_limit_exceeded", QuotaExhausted),
        ("organization_usage_limit_exceeded", QuotaExhausted),
        ("enforced_spend_limit_reached", QuotaExhausted),
        ("contract_spend_limit_reached", QuotaExhausted),
        ("billing_error", QuotaExhausted),
        ("content_filter", Refusal),
        ("content_policy_violation", Refusal),
        ("server_error", Server),
        ("InternalServerError", Server),
        ("overloaded_error", Server),
        ("server_is_overloaded", Server),
        ("slow_down", Server),
        ("UNAVAILABLE", Server),
    ] {
        for status in [400, 403, 404, 498, 500, 503] {
            check(status, &openai("invalid_request_error", &json!(word)), kind);
            check(status, &openai(word, &json!(null)), kind);
            check(status, &openai(word, &json!(status)), kind);
        }
    }
}

// openai/openai-python#1671, PR#3507, 64bit/async-openai 0.43
#[test]
fn a_429_is_a_rate_limit_or_a_quota_whatever_else_it_says() {
    for word in [
        "slow_down",
        "invalid_api_key",
        "server_error",
        "context_length_exceeded",
        "tokens",
    ] {
        check(429, &openai(word, &json!(word)), ErrorKind::RateLimit);
    }
    for (kind, code) in [
        ("insufficient_quota", json!(null)),
        ("insufficient_quota", json!("insufficient_quota")),
        ("insufficient_quota", json!("credit_balance_exhausted")),
        ("requests", json!("insufficient_quota")),
        ("requests", json!("project_spend_limit_exceeded")),
    ] {
        check(429, &openai(kind, &code), ErrorKind::QuotaExhausted);
    }
    let long = error(&json!({"message": "maximum context length is 8192 tokens", "code": null}));
    check(429, &long, ErrorKind::RateLimit);
}

#[test]
fn overload_is_marked_and_other_failures_are_not() {
    let overloaded =
        |status, body: &Value| refused(&dialect(), status, &body.to_string()).is_overloaded();
    for (status, body) in [
        (529, json!({})),
        (
            503,
            openai("service_unavailable_error", &json!("server_is_overloaded")),
        ),
        (500, openai("overloaded_error", &json!(null))),
        (503, error(&json!({"code": 503, "status": "UNAVAILABLE"}))),
        (
            503,
            error(&json!({"code": 503, "message": "Loading model", "type": "unavailable_error"})),
        ),
        (
            503,
            error(&json!({"code": 503, "metadata": {"error_type": "provider_overloaded"}})),
        ),
        (
            503,
            error(&json!({"message": "The model is overloaded.", "type": null})),
        ),
    ] {
        assert!(overloaded(status, &body), "{status} {body}");
    }
    for (status, body) in [
        (503, json!({})),
        (500, openai("server_error", &json!(null))),
        (
            502,
            error(&json!({"code": 502, "metadata": {"error_type": "provider_unavailable"}})),
        ),
        (429, openai("requests", &json!("slow_down"))),
        (400, error(&json!({"message": "overloaded operator"}))),
    ] {
        assert!(!overloaded(status, &body), "{status} {body}");
    }
}

// BerriAI/litellm#15968, #10793, #21558, BerriAI/litellm#22697
#[test]
fn a_context_that_is_too_long_is_known_by_phrases_where_there_is_no_code() {
    for phrase in [
        "This model's maximum context length is 128000 tokens.",
        "Input tokens exceed the configured limit of 4096 tokens.",
        "The input is longer than the model's context length (4096).",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum",
        "The length of all messages is too long",
        "too many input tokens",
        "Input is too long for requested model.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "the request exceeds the available context size",
        "Please reduce the length of the messages.",
        "This model's maximum prompt length is 131072",
    ] {
        for status in [400, 413, 422, 500] {
            check(
                status,
                &error(&json!({"message": phrase})),
                ErrorKind::ContextLength,
            );
            check(
                status,
                &json!({"object": "error", "message": phrase}),
                ErrorKind::ContextLength,
            );
        }
        check(401, &error(&json!({"message": phrase})), ErrorKind::Auth);
        check(503, &error(&json!({"message": phrase})), ErrorKind::Server);
    }
    check(
        400,
        &error(&json!({"message": "max_tokens is too large"})),
        ErrorKind::BadRequest,
    );
}

#[test]
fn a_wrong_key_that_comes_as_400_is_known_by_its_words() {
    let xai = json!({"code": "Client specified an invalid argument",
                     "error": "Incorrect API key provided: xa***. Obtain one at the console."});
    check(400, &xai, ErrorKind::Auth);
    let google = json!([{"error": {"code": 400, "message": "API key not valid.",
        "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}]);
    check(400, &google, ErrorKind::Auth);
    check(
        422,
        &error(&json!({"message": "incorrect api key format in field 3"})),
        ErrorKind::BadRequest,
    );
}

#[test]
fn a_model_that_does_not_exist_is_not_found_on_a_400_too() {
    check(
        400,
        &error(&json!({"message": "The model `m` does not exist."})),
        ErrorKind::NotFound,
    );
    check(
        400,
        &error(&json!({"message": "The file does not exist."})),
        ErrorKind::BadRequest,
    );
}

#[test]
fn balances_and_daily_quotas_are_known_by_their_words() {
    let message = |text: &str| error(&json!({"message": text}));
    check(
        400,
        &message("Your credit balance is too low to use the API."),
        ErrorKind::QuotaExhausted,
    );
    check(
        500,
        &message("Your credit balance is too low to use the API."),
        ErrorKind::Server,
    );
    check(
        402,
        &message("Insufficient Balance"),
        ErrorKind::QuotaExhausted,
    );
    check(
        429,
        &message("Rate limit exceeded: free-models-per-day"),
        ErrorKind::QuotaExhausted,
    );
    check(
        429,
        &message("Limit 200 requests per day. Try again in 7m12s."),
        ErrorKind::RateLimit,
    );
    let google = |message: &str, id: &str, delay: &str| {
        json!([{"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure",
             "violations": [{"quotaId": id}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]}}])
    };
    check(
        429,
        &google("x", "RequestsPerMinutePerProject", "34.4s"),
        ErrorKind::RateLimit,
    );
    check(
        429,
        &google("x", "GenerateRequestsPerDayPerProject", "34.4s"),
        ErrorKind::QuotaExhausted,
    );
    check(
        429,
        &google("limit: 0, model: m", "x", "34.4s"),
        ErrorKind::QuotaExhausted,
    );
    check(429, &google("x", "x", "37025s"), ErrorKind::QuotaExhausted);
}

// 64bit/async-openai 0.43
#[test]
fn an_integer_code_does_not_hide_the_error() {
    let body = error(&json!({"message": "slow", "type": "x", "param": null, "code": 429}));
    let fault = check(429, &body, ErrorKind::RateLimit);
    assert_eq!((fault.code(), fault.message()), (Some("429"), Some("slow")));
    let fault = check(
        503,
        &error(&json!({"message": "slow", "code": "503"})),
        ErrorKind::Server,
    );
    assert_eq!(fault.status(), Some(503));
    let fault = check(
        500,
        &error(&json!({"message": "x", "code": 1003})),
        ErrorKind::Server,
    );
    assert_eq!((fault.code(), fault.status()), (Some("1003"), None));
}

#[test]
fn a_numeric_code_does_not_beat_the_status_of_the_reply() {
    check(
        400,
        &error(&json!({"message": "x", "code": 503})),
        ErrorKind::BadRequest,
    );
    check(
        503,
        &error(&json!({"message": "x", "code": 400})),
        ErrorKind::Server,
    );
}

// googleapis/js-genai#728
#[test]
fn an_error_encoded_twice_is_read_to_the_inside() {
    let inner =
        json!({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}).to_string();
    let body = error(&json!({"message": inner, "code": 503, "status": "Service Unavailable"}));
    let fault = check(503, &body, ErrorKind::Server);
    assert_eq!(fault.message(), Some("busy"));
    assert!(fault.is_overloaded());
    let thrice = error(&json!({"message": body.to_string()}));
    assert_eq!(
        check(503, &thrice, ErrorKind::Server).message(),
        Some("busy")
    );
    let not_json = error(&json!({"message": "{not json"}));
    assert_eq!(
        check(400, &not_json, ErrorKind::BadRequest).message(),
        Some("{not json")
    );
}

#[test]
fn errors_within_errors_end_somewhere() {
    let mut body = json!({"message": "inside"});
    for _ in 0..50 {
        body = json!({"error": body});
    }
    check(500, &body, ErrorKind::Server);
    let mut text = "inside".to_owned();
    for _ in 0..8 {
        text = json!({"message": text}).to_string();
    }
    let fault = refused(&dialect(), 500, &text);
    assert!(fault.message().is_some());
    check(
        400,
        &serde_json::from_str(
            &"[".repeat(100)
                .chars()
                .chain("]".repeat(100).chars())
                .collect::<String>(),
        )
        .unwrap(),
        ErrorKind::BadRequest,
    );
    assert_eq!(
        refused(&dialect(), 400, &"[".repeat(100_000)).kind(),
        ErrorKind::BadRequest
    );
}

// vercel/ai#2453
#[test]
fn every_shape_of_message_is_shown() {
    for (body, message) in [
        (json!({"error": {"message": "told"}}), "told"),
        (json!({"error": "told"}), "told"),
        (json!({"message": "told"}), "told"),
        (json!({"detail": "told"}), "told"),
        (json!({"msg": "told"}), "told"),
        (json!({"statusCode": 401, "message": "told"}), "told"),
        (
            json!({"success": false, "errors": [{"code": 7, "message": "told"}]}),
            "told",
        ),
        (json!({"error": true, "message": "told"}), "told"),
        (json!({"detail": {"error": {"message": "told"}}}), "told"),
        (json!("told"), "told"),
        (json!([{"error": {"message": "told"}}]), "told"),
        (
            json!({"detail": [{"loc": ["body", "messages", 0], "msg": "Field required",
                               "input": "the prompt"}, {"msg": "Too short"}]}),
            "body.messages.0: Field required; Too short",
        ),
        (
            json!({"object": "error", "message": {"detail": [{"loc": ["body"], "msg": "Bad",
                   "input": {"prompt": "secret"}}]}, "type": "invalid_request_error"}),
            "body: Bad",
        ),
    ] {
        let fault = refused(&dialect(), 400, &body.to_string());
        assert_eq!(fault.message(), Some(message), "{body}");
    }
    for body in [
        json!({"error": {"message": null}}),
        json!({"error": {"message": ""}}),
        json!(7),
    ] {
        let fault = refused(&dialect(), 500, &body.to_string());
        assert_eq!(fault.message().filter(|text| *text != "7"), None, "{body}");
    }
}

#[test]
fn a_message_is_kept_to_two_kibibytes_at_a_character() {
    let body = error(&json!({"message": "é".repeat(4000)}));
    assert_eq!(
        check(400, &body, ErrorKind::BadRequest)
            .message()
            .unwrap()
            .len(),
        2048
    );
    let odd = error(&json!({"message": format!("a{}", "é".repeat(4000))}));
    assert_eq!(
        check(400, &odd, ErrorKind::BadRequest)
            .message()
            .unwrap()
            .len(),
        2047
    );
}

#[test]
fn the_code_comes_before_the_type() {
    let code = |body: &Value| {
        refused(&dialect(), 400, &body.to_string())
            .code()
            .map(str::to_owned)
    };
    assert_eq!(code(&openai("t", &json!("c"))).as_deref(), Some("c"));
    assert_eq!(code(&openai("t", &json!(null))).as_deref(), Some("t"));
    assert_eq!(code(&openai("error", &json!(null))).as_deref(), None);
    assert_eq!(
        code(&json!({"code": "Sentence.", "error": "x"})).as_deref(),
        Some("Sentence.")
    );
}

// dirge-code/dirge#719
#[test]
fn an_epoch_in_the_body_is_the_wait_of_an_exhausted_limit() {
    let body = |remaining: &str, reset: &str| {
        error(
            &json!({"code": 429, "message": "x", "metadata": {"headers": {
            "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset}}}),
        )
    };
    let hint = |body: &Value| refused(&dialect(), 429, &body.to_string()).hint();
    // Twelve seconds past the tests' now, in milliseconds.
    assert_eq!(
        hint(&body("0", "1796083212000")),
        Hint::Wait(Duration::from_secs(12))
    );
    assert_eq!(
        hint(&body("5", "1796083212000")).wait(),
        None,
        "a limit with room left"
    );
    assert_eq!(hint(&body("0", "soon")).wait(), None);
    assert_eq!(hint(&error(&json!({"code": 429}))), Hint::Absent);
}

// vercel/ai#18627
#[test]
fn waits_of_the_upstream_are_found_in_the_body() {
    let hint = |inner: &Value| refused(&dialect(), 429, &error(inner).to_string()).hint();
    let seconds = |s| Hint::Wait(Duration::from_secs(s));
    assert_eq!(hint(&json!({"headers": {"retry-after": "3"}})), seconds(3));
    assert_eq!(hint(&json!({"headers": {"Retry-After": 3}})), seconds(3));
    assert_eq!(
        hint(&json!({"headers": {"retry-after-ms": "1500"}})),
        Hint::Wait(Duration::from_millis(1500))
    );
    assert_eq!(
        hint(&json!({"headers": {"retry-after": "Tue, 01 Dec 2026 00:00:05 GMT"}})),
        seconds(5)
    );
    assert_eq!(
        hint(&json!({"details": [{"retryDelay": "34s"}]})),
        seconds(34)
    );
    assert_eq!(
        hint(&json!({"headers": {"retry-after": "soon"}})).wait(),
        None
    );
    assert_eq!(hint(&json!({"headers": "retry-after: 3"})), Hint::Absent);
}

#[test]
fn an_upstreams_own_error_behind_a_gateways_tells_the_kind() {
    let raw =
        json!({"error": {"message": "Too long.", "code": "context_length_exceeded"}}).to_string();
    let body = |raw: &str| {
        error(&json!({"code": 400, "message": "Provider returned error", "metadata": {"raw": raw}}))
    };
    let fault = check(400, &body(&raw), ErrorKind::ContextLength);
    assert_eq!(fault.message(), Some("Provider returned error"));
    check(
        400,
        &body("prompt is too long: 3 tokens > 2 maximum"),
        ErrorKind::ContextLength,
    );
    check(400, &body("upstream reset"), ErrorKind::BadRequest);
}

#[test]
fn a_request_larger_than_a_minutes_limit_is_no_rate_limit() {
    check(
        413,
        &openai("tokens", &json!("rate_limit_exceeded")),
        ErrorKind::BadRequest,
    );
}

#[test]
fn in_band_errors_without_a_telling_code_are_the_servers() {
    for json in [
        r#"{"error":{"message":"x","type":"api_error"}}"#,
        r#"{"error":{"message":"x","type":"error","code":null}}"#,
        r#"{"error":{"message":"x","code":200}}"#,
        r#"{"error":{"message":"x","code":42}}"#,
        r#"{"error":"x"}"#,
        "x",
    ] {
        let fault = in_band(json, None);
        assert_eq!(fault.kind(), ErrorKind::Server, "{json}");
        assert_eq!(fault.message(), Some("x"), "{json}");
    }
    for (code, kind) in [
        (400, ErrorKind::BadRequest),
        (401, ErrorKind::Auth),
        (402, ErrorKind::QuotaExhausted),
        (404, ErrorKind::NotFound),
        (429, ErrorKind::RateLimit),
        (502, ErrorKind::Server),
    ] {
        let fault = in_band(
            &error(&json!({"code": code, "type": "api_error"})).to_string(),
            None,
        );
        assert_eq!((fault.kind(), fault.status()), (kind, Some(code)));
    }
}

#[test]
fn notices_are_no_errors() {
    for json in [
        r#"{"id":"","choices":[],"prompt_filter_results":[]}"#,
        r#"{"type":"status","message":"queued"}"#,
        r#"{"message":"hello"}"#,
        "{}",
        "[]",
        "null",
        "17",
        "not json",
    ] {
        assert!(flat(json, None).is_none(), "{json}");
    }
    assert!(flat(r#"{"message":"x","code":400}"#, None).is_some());
    assert!(flat(r#"[{"error":{"message":"x"}}]"#, None).is_some());
}

#[test]
fn the_request_id_of_the_body_is_kept() {
    let body = json!({"error": {"message": "x"}, "request_id": "req_1"});
    assert_eq!(
        check(500, &body, ErrorKind::Server).request_id(),
        Some("req_1")
    );
}

#[test]
fn no_clock_is_read_for_an_error_without_dates() {
    let asked = std::cell::Cell::new(0);
    let ask = || {
        asked.set(asked.get() + 1);
        now()
    };
    let headers = HeaderMap::from_iter([(http::header::DATE, HeaderValue::from_static("x"))]);
    let classify =
        |body: &str| dialect().classify(&Head::asking(429, &headers, &ask), body.as_bytes());
    let _fault = classify(r#"{"error":{"message":"x"}}"#);
    assert_eq!(asked.get(), 0);
    let _fault = classify(r#"{"error":{"headers":{"retry-after":"3"}}}"#);
    assert_eq!(asked.get(), 1);
}
