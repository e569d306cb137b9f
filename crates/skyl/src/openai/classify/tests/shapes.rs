use super::*;

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
