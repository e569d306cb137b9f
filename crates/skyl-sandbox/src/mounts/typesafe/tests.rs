//! Each rule where it fires and where it does not; over sockets, see `tests/it`.

mod answers;
mod bodies;
mod images;
mod rules;
mod schema;

use http::HeaderValue;
use serde_json::{Map, Value, json};

use super::*;

/// A request for answers as a client sends it, with the right key.
fn post(body: impl Into<Bytes>) -> Request {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer k"));
    Request {
        method: Method::POST,
        path: "/systemone".to_owned(),
        query: String::new(),
        headers,
        body: body.into(),
    }
}

/// The same with one more header.
fn with_header(mut request: Request, name: &'static str, value: &str) -> Request {
    request
        .headers
        .insert(name, HeaderValue::from_str(value).unwrap());
    request
}

fn house() -> House {
    House {
        key: "k".to_owned(),
        models: vec!["mine".to_owned()],
    }
}

fn read(request: &Request) -> Call {
    TypeSafe.read(request, &house())
}

/// The body of an answer, byte for byte.
fn text(call: &Call) -> String {
    match &call.answer {
        Answer::Whole(whole) => String::from_utf8(whole.body.to_vec()).unwrap(),
        Answer::Stream { .. } => panic!("a stream"),
    }
}

fn whole(call: &Call) -> (u16, Value) {
    let Answer::Whole(whole) = &call.answer else {
        panic!("a stream")
    };
    assert_eq!(whole.content_type, "application/json");
    (whole.status, serde_json::from_str(&text(call)).unwrap())
}

fn send(request: &Request) -> (u16, Value) {
    whole(&read(request))
}

fn ask(body: &Value) -> (u16, Value) {
    send(&post(body.to_string()))
}

/// A request with these questions.
fn questions(questions: &Value) -> Value {
    json!({"state": "a kettle", "model": "jev-latest", "questions": questions})
}

/// The answers to questions of the default model.
fn answers(asked: &Value) -> Value {
    let (status, answer) = ask(&questions(asked));
    assert_eq!(status, 200, "{answer}");
    answer["answers"].clone()
}

/// The bare text, or the message, of a refusal.
#[track_caller]
fn refused(answer: (u16, Value), status: u16) -> Value {
    let (got, mut body) = answer;
    assert_eq!(got, status, "{body}");
    assert_eq!(body.as_object().map(Map::len), Some(1), "{body}");
    body["detail"].take()
}

#[test]
fn a_missing_key_is_another_refusal_than_a_wrong_one() {
    let shown = |value: Option<&'static str>| {
        let mut request = post(questions(&json!({"n": {"type": "noul"}})).to_string());
        request.headers.remove("authorization");
        if let Some(value) = value {
            let value = HeaderValue::from_static(value);
            request.headers.insert("authorization", value);
        }
        send(&request)
    };
    for value in [
        None,
        Some("k"),
        Some("Basic k"),
        Some("Bearer"),
        Some("Bearer  "),
        Some("Token k"),
    ] {
        let detail = refused(shown(value), 403);
        assert_eq!(detail["error_type"], "authentication_error", "{value:?}");
        let message = detail["message"].as_str().unwrap();
        assert!(
            message.starts_with("Must supply an API key! "),
            "{value:?}: {message}"
        );
    }
    for value in ["Bearer other", "bearer K", "Bearer k k"] {
        let detail = refused(shown(Some(value)), 401);
        let expected = json!({"error_type": "authentication_error", "message": "Invalid API key."});
        assert_eq!(detail, expected, "{value}");
    }
    for value in ["Bearer k", "bearer k", "BEARER  k"] {
        assert_eq!(shown(Some(value)).0, 200, "{value}");
    }
}

#[test]
fn the_key_comes_before_the_path_and_the_body() {
    let mut request = post("{");
    request.headers.clear();
    assert_eq!(send(&request).0, 403);
    request.path = "/nowhere".to_owned();
    assert_eq!(send(&request).0, 403);
}

#[test]
fn other_paths_and_methods_are_refused_with_a_bare_text() {
    let at = |method: Method, path: &str| {
        let mut request = post("");
        request.method = method;
        path.clone_into(&mut request.path);
        read(&request)
    };
    for (method, path) in [
        (Method::GET, "/systemone"),
        (Method::PUT, "/systemone"),
        (Method::POST, "/models"),
        (Method::DELETE, "/models"),
    ] {
        let call = at(method, path);
        assert!(call.refused);
        assert_eq!(refused(whole(&call), 405), "Method Not Allowed", "{path}");
    }
    for path in [
        "",
        "/",
        "/systemone/",
        "/systemone2",
        "/models/jev-latest",
        "/v1/systemone",
    ] {
        let call = at(Method::POST, path);
        assert!(call.refused);
        assert_eq!(refused(whole(&call), 404), "Not Found", "{path}");
    }
}

#[test]
fn the_list_has_the_aliases_and_not_their_versions() {
    let mut request = post("");
    request.method = Method::GET;
    "/models".clone_into(&mut request.path);
    let call = read(&request);
    assert!(!call.refused, "faults at random reach the list too");
    let (status, body) = whole(&call);
    assert_eq!(status, 200);
    let models = body["models"].as_array().unwrap();
    let names: Vec<_> = models.iter().map(|model| &model["name"]).collect();
    assert_eq!(names, ["jev-latest", "jev-preview", "mine"]);
    for model in models {
        assert_eq!(model.as_object().unwrap().len(), 3);
        assert!(!model["description"].as_str().unwrap().is_empty());
        let date = model["release_date"].as_str().unwrap();
        assert!(
            date.contains('T') && date.ends_with("+00:00") && date.contains('.'),
            "{date}"
        );
    }
}

#[test]
fn a_request_id_has_32_hex_digits_and_its_number() {
    let [(name, value)] = &TypeSafe.headers(255)[..] else {
        panic!("one header")
    };
    assert_eq!(*name, "x-typesafe-request-id");
    assert_eq!(value, "req_000000000000000000000000000000ff");
    let [(_, last)] = &TypeSafe.headers(u64::MAX)[..] else {
        panic!("one header")
    };
    assert_eq!(last.len(), "req_".len() + 32);
}

#[test]
fn no_header_tells_of_limits() {
    let limit = Dimension {
        name: "requests",
        limit: 1,
        remaining: 0,
        reset: std::time::Duration::ZERO,
    };
    assert!(TypeSafe.limits(&[limit], SystemTime::UNIX_EPOCH).is_empty());
}

#[test]
fn each_status_has_its_shape_of_detail() {
    let detail = |status, cause| {
        let whole = TypeSafe.error(status, cause, "said");
        assert_eq!(whole.status, status);
        let body: Value = serde_json::from_slice(&whole.body).unwrap();
        refused((whole.status, body), status)
    };
    for (status, kind) in [
        (400, "api_usage_error"),
        (401, "authentication_error"),
        (403, "authentication_error"),
        (429, "rate_limit_error"),
        (529, "overloaded_error"),
        (200, "api_error"),
        (302, "api_error"),
        (408, "api_error"),
        (500, "api_error"),
        (503, "api_error"),
    ] {
        let expected = json!({"error_type": kind, "message": "said"});
        assert_eq!(detail(status, Cause::Usual), expected, "{status}");
    }
    for status in [404, 405] {
        assert_eq!(detail(status, Cause::Usual), "said");
    }
    let issues = detail(422, Cause::Usual);
    assert_eq!(
        issues,
        json!([{"type": "value_error", "loc": ["body"], "msg": "said", "input": null}])
    );
    // A cause goes before the status.
    for status in [404, 422, 429] {
        let expected = json!({"error_type": "insufficient_quota", "message": "said"});
        assert_eq!(detail(status, Cause::Quota), expected);
        let expected = json!({"error_type": "overloaded_error", "message": "said"});
        assert_eq!(detail(status, Cause::Overloaded), expected);
        let expected = json!({"error_type": "max_tokens_exceeded"});
        assert_eq!(detail(status, Cause::Context), expected);
    }
}

#[test]
fn the_frame_nobody_asks_for_is_the_overload_error() {
    let spot = Spot {
        content_type: crate::answer::JSON,
        before: 0,
    };
    let frame: Value = serde_json::from_slice(&TypeSafe.overload_frame("said", spot)).unwrap();
    assert_eq!(frame["detail"]["error_type"], "overloaded_error");
}

#[test]
fn the_key_is_quoted_in_three_spellings_on_demand() {
    let body =
        json!({"state": "s", "model": "sandbox-echo-key", "questions": {"n": {"type": "noul"}}});
    let mut house = house();
    house.key = "k-1".to_owned();
    let mut request = post(body.to_string());
    let key = HeaderValue::from_static("Bearer k-1");
    request.headers.insert("authorization", key);
    let call = TypeSafe.read(&request, &house);
    let quoted = text(&call);
    for spelling in [r"k-1 (k%2D1)", r"\u006b\u002d\u0031"] {
        assert!(quoted.contains(spelling), "{quoted}");
    }
    let (status, body) = whole(&call);
    assert_eq!(
        (status, &body["detail"]["error_type"]),
        (401, &json!("authentication_error"))
    );
}
