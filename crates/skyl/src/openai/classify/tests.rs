mod shapes;

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
