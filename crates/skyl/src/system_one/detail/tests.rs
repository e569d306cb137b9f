//! Error bodies of every shape, whole, cut and hostile.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn fixtures(name: &str) -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/system-one/");
    let text = std::fs::read_to_string(format!("{folder}{name}")).unwrap();
    match serde_json::from_str(&text).unwrap() {
        Value::Array(all) => all,
        one => vec![one],
    }
}

#[track_caller]
fn check(status: u16, body: &str, kind: ErrorKind, code: Option<&str>, message: Option<&str>) {
    let fault = classify(status, body.as_bytes());
    assert_eq!(fault.kind(), kind, "{status} {body}");
    assert_eq!(fault.code(), code, "{status} {body}");
    assert_eq!(fault.message(), message, "{status} {body}");
    assert_eq!(fault.is_overloaded(), status == 529, "{status} {body}");
}

#[test]
fn recorded_errors_have_kind_code_and_message() {
    let auth = Some("authentication_error");
    for (name, expected) in [
        (
            "08-error-401-wrong-key.json",
            vec![(ErrorKind::Auth, auth, "The key presented is not valid.")],
        ),
        (
            "09-error-403-no-key.json",
            vec![(ErrorKind::Auth, auth, "No API key was presented.")],
        ),
        (
            "10-error-422-validation.json",
            vec![(
                ErrorKind::BadRequest,
                None,
                "questions.queue.choice.criteria: Field required; questions.patience.score.criteria: \
                 List should have at least 1 item after validation, not 0",
            )],
        ),
        (
            "11-error-422-union-null-level.json",
            vec![(
                ErrorKind::BadRequest,
                None,
                "questions.s.score.criteria.1.str: Input should be a valid string; \
                 questions.s.score.criteria.1.dict[any,any]: Input should be a valid dictionary; \
                 questions.s.score.criteria.1.list[any]: Input should be a valid list",
            )],
        ),
        (
            "12-error-400-three-shapes.json",
            vec![
                (
                    ErrorKind::BadRequest,
                    None,
                    "Too many score levels. Must have at most 10 levels.",
                ),
                (
                    ErrorKind::BadRequest,
                    Some("api_usage_error"),
                    "Unknown model: jev-0",
                ),
                (
                    ErrorKind::ContextLength,
                    Some("max_tokens_exceeded"),
                    "max_tokens_exceeded",
                ),
            ],
        ),
        (
            "13-error-429-and-529.json",
            vec![
                (
                    ErrorKind::RateLimit,
                    None,
                    "Slow down (mock text; the live body is unverified).",
                ),
                (
                    ErrorKind::Server,
                    None,
                    "Busy (mock text; the live body is unverified).",
                ),
            ],
        ),
    ] {
        let all = fixtures(name);
        assert_eq!(all.len(), expected.len(), "{name}");
        for (envelope, (kind, code, message)) in all.iter().zip(expected) {
            let status = u16::try_from(envelope["status"].as_u64().unwrap()).unwrap();
            check(
                status,
                &envelope["body"].to_string(),
                kind,
                code,
                Some(message),
            );
        }
    }
}

#[test]
fn the_status_decides_whatever_the_body_is() {
    for (status, kind) in [
        (302, ErrorKind::Unclassified),
        (400, ErrorKind::BadRequest),
        (401, ErrorKind::Auth),
        (402, ErrorKind::QuotaExhausted),
        (403, ErrorKind::Auth),
        (404, ErrorKind::NotFound),
        (405, ErrorKind::BadRequest),
        (408, ErrorKind::Server),
        (413, ErrorKind::BadRequest),
        (422, ErrorKind::BadRequest),
        (429, ErrorKind::RateLimit),
        (500, ErrorKind::Server),
        (503, ErrorKind::Server),
        (529, ErrorKind::Server),
        (600, ErrorKind::Server),
    ] {
        for body in [
            "",
            "{",
            "[]",
            "null",
            "{\"detail\":{}}",
            "{\"detail\":[]}",
            "{\"detail\":[{}]}",
        ] {
            check(status, body, kind, None, None);
        }
    }
}

#[test]
fn a_code_decides_where_it_says_more_than_the_status() {
    let body = |code: &str| json!({"detail": {"error_type": code}}).to_string();
    for (status, code, kind) in [
        (400, "max_tokens_exceeded", ErrorKind::ContextLength),
        (413, "max_tokens_exceeded", ErrorKind::ContextLength),
        (429, "max_tokens_exceeded", ErrorKind::RateLimit),
        (429, "insufficient_quota", ErrorKind::QuotaExhausted),
        (400, "insufficient_quota", ErrorKind::BadRequest),
        (500, "max_tokens_exceeded", ErrorKind::Server),
        (400, "authentication_error", ErrorKind::Auth),
        (503, "authentication_error", ErrorKind::Server),
        (400, "api_usage_error", ErrorKind::BadRequest),
    ] {
        check(status, &body(code), kind, Some(code), Some(code));
    }
}

#[test]
fn words_are_looked_for_in_the_order_of_the_providers_own_clients() {
    let mut body = json!({
        "error": "a", "message": "c", "detail": "d",
    });
    let bad = ErrorKind::BadRequest;
    check(400, "\"just text\"", bad, None, Some("just text"));
    check(400, &body.to_string(), bad, None, Some("a"));
    body["error"] = json!({"message": "b", "code": "x"});
    check(400, &body.to_string(), bad, Some("x"), Some("b"));
    body["error"] = json!({"code": 17});
    check(400, &body.to_string(), bad, None, Some("c"));
    body["message"] = json!("");
    check(400, &body.to_string(), bad, None, Some("d"));
    body["detail"] = json!({"message": "e"});
    check(400, &body.to_string(), bad, None, Some("e"));
    body["detail"] =
        json!([{"loc": ["body"], "msg": "f"}, {"msg": "g"}, "h", {"loc": ["query", 1]}]);
    check(400, &body.to_string(), bad, None, Some("f; g; h"));
    body["detail"] = json!([{"loc": ["query", 1], "msg": "f"}]);
    check(400, &body.to_string(), bad, None, Some("query.1: f"));
}

#[test]
fn pages_and_lines_of_text_are_told_by_their_first_words() {
    let page = "<html><head><title>502 Bad Gateway</title></head><body>…</body></html>";
    check(502, page, ErrorKind::Server, None, Some("502 Bad Gateway"));
    check(
        503,
        "upstream connect error\nmore",
        ErrorKind::Server,
        None,
        Some("upstream connect error"),
    );
    check(
        503,
        "503 Service Unavailable",
        ErrorKind::Server,
        None,
        Some("503 Service Unavailable"),
    );
    check(
        500,
        "\"quoted\" at first",
        ErrorKind::Server,
        None,
        Some("\"quoted\" at first"),
    );
    // What a refused request gets in plain text may be the request.
    check(
        422,
        "invalid: ana@example.org",
        ErrorKind::BadRequest,
        None,
        None,
    );
    check(
        503,
        "\u{feff}{\"detail\":\"x\"}",
        ErrorKind::Server,
        None,
        Some("x"),
    );
}

#[test]
fn a_cut_body_says_what_came_through() {
    let body = fixtures("10-error-422-validation.json")[0]["body"].to_string();
    let first = "questions.queue.choice.criteria: Field required";
    let echo = body.find("\"input\"").unwrap();
    check(422, &body[..echo], ErrorKind::BadRequest, None, Some(first));
    check(
        422,
        &body[..echo + 12],
        ErrorKind::BadRequest,
        None,
        Some(first),
    );
    check(
        422,
        &body[..body.len() - 1],
        ErrorKind::BadRequest,
        None,
        Some(
            "questions.queue.choice.criteria: Field required; questions.patience.score.criteria: \
         List should have at least 1 item after validation, not 0",
        ),
    );
    let detail = "{\"detail\":{\"error_type\":\"max_tokens_exceeded\",\"mess";
    check(
        400,
        detail,
        ErrorKind::ContextLength,
        Some("max_tokens_exceeded"),
        Some("max_tokens_exceeded"),
    );
    let bad_utf8 = b"{\"detail\":{\"message\":\"half\",\"error_type\":\"\xff\"}}";
    assert_eq!(classify(400, bad_utf8).message(), Some("half"));
}

#[test]
fn an_echo_of_the_request_is_in_no_message() {
    let issue = json!({
        "input": {"type": "choice", "note": "SECRET"},
        "ctx": {"given": "SECRET"},
        "loc": ["body", "questions", "q"],
        "msg": "Field required",
        "url": "SECRET",
    });
    let whole = json!({"detail": [issue], "body": "SECRET", "input": "SECRET"});
    let wrapped = json!({"error": {"message": whole.to_string()}});
    let twice = json!({"message": wrapped.to_string()});
    for body in [&whole, &wrapped, &twice] {
        let fault = classify(422, body.to_string().as_bytes());
        assert_eq!(
            fault.message(),
            Some("questions.q: Field required"),
            "{body}"
        );
        assert!(!format!("{fault:?}").contains("SECRET"));
    }
    let dict = json!({"detail": "[{'msg': 'no', 'input': 'SECRET'}]"}).to_string();
    assert_eq!(classify(422, dict.as_bytes()).message(), None);
    let cut = json!({"message": "{\"detail\":[{\"input\": \"SECRET"}).to_string();
    assert_eq!(classify(400, cut.as_bytes()).message(), None);
    let printed = "1 validation error: state [input_value={'a': 'SECRET'}, input_type=dict]";
    let issue = json!({"detail": [{"loc": ["body", "state"], "msg": printed}]});
    for body in [json!({"detail": printed}), issue] {
        assert_eq!(classify(422, body.to_string().as_bytes()).message(), None);
    }
    // Nor in a line of text, nor in what calls itself a code.
    for line in [printed, "ValueError: {'state': 'SECRET'}"] {
        assert_eq!(classify(500, line.as_bytes()).message(), None, "{line}");
        let code = json!({"detail": {"error_type": line}}).to_string();
        let fault = classify(400, code.as_bytes());
        assert_eq!((fault.code(), fault.message()), (None, None), "{line}");
    }
    // The word alone is no echo.
    check(
        400,
        r#"{"detail":"the input is wrong"}"#,
        ErrorKind::BadRequest,
        None,
        Some("the input is wrong"),
    );
}

#[test]
fn a_message_is_cut_at_a_character_and_holds_no_control_byte() {
    let long = json!({"detail": "é".repeat(5_000)}).to_string();
    assert_eq!(
        classify(400, long.as_bytes()).message().unwrap().len(),
        2_048
    );
    let odd =
        json!({"detail": {"error_type": "a\u{1b}b", "message": "x\u{1b}[31m\r\n\u{0}\u{9b}"}});
    check(
        400,
        &odd.to_string(),
        ErrorKind::BadRequest,
        Some("a\\u{1b}b"),
        Some("x\\u{1b}[31m\\r\\n\\u{0}\\u{9b}"),
    );
    let controls = json!({"detail": "\u{1}".repeat(2_000)}).to_string();
    assert!(classify(400, controls.as_bytes()).message().unwrap().len() <= 2_048);
}

#[test]
fn issues_and_places_without_end_are_cut() {
    let issue = |n: usize| json!({"loc": vec!["s".repeat(999); 99], "msg": format!("m{n}")});
    let body = json!({"detail": (0..20).map(issue).collect::<Vec<_>>()}).to_string();
    let message = classify(422, body.as_bytes()).message().unwrap().to_owned();
    assert_eq!(message.len(), 2_048);
    let many =
        json!({"detail": (0..100).map(|n| json!({"msg": format!("m{n}")})).collect::<Vec<_>>()});
    let message = classify(422, many.to_string().as_bytes())
        .message()
        .unwrap()
        .to_owned();
    assert!(message.ends_with("; m15"), "{message}");
}

#[test]
fn an_error_with_a_good_status_is_told_and_answers_are_not() {
    let fault = in_band(br#"{"detail":{"error_type":"api_usage_error","message":"no"}}"#).unwrap();
    assert_eq!(fault.kind(), ErrorKind::Decode);
    assert_eq!(fault.code(), Some("api_usage_error"));
    assert_eq!(fault.message(), Some("no answers, but an error: no"));
    for body in ["", "{}", "{\"answers\":{}}", "[]", "<html>"] {
        assert!(in_band(body.as_bytes()).is_none(), "{body}");
    }
}

proptest! {
    #[test]
    fn any_bytes_keep_status_and_kind(
        status in 300_u16..=999,
        body in prop::collection::vec(any::<u8>(), 0..256),
    ) {
        let fault = classify(status, &body);
        prop_assert_eq!(fault.is_overloaded(), status == 529);
        if !(400..500).contains(&status) || status == 429 {
            prop_assert_eq!(fault.kind(), classify_status(status));
        }
        prop_assert!(fault.message().is_none_or(|m| !m.contains(char::is_control)));
    }

    #[test]
    fn a_body_cut_anywhere_keeps_its_kind_and_no_echo(cut in 0_usize..2_000) {
        let secret = json!({"detail": [
            {"type": "missing", "loc": ["body", "questions", "q"], "msg": "Field required", "input": {"state": "SECRET"}},
            {"type": "missing", "loc": ["body"], "msg": "Field required", "input": ["SECRET"], "ctx": {"a": "SECRET"}},
        ]}).to_string();
        let cut = cut.min(secret.len());
        let fault = classify(422, &secret.as_bytes()[..cut]);
        prop_assert_eq!(fault.kind(), ErrorKind::BadRequest);
        let shown = format!("{fault:?}");
        prop_assert!(!shown.contains("SECRET"), "{}", shown);
    }
}
