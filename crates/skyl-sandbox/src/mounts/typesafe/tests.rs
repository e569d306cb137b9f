use http::HeaderValue;
use serde_json::{Value, json};

use super::*;

/// A request as a client sends it, with the right key.
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

fn house() -> House {
    House {
        key: "k".to_owned(),
        models: vec!["mine".to_owned()],
    }
}

fn read(request: &Request) -> Call {
    TypeSafe.read(request, &house())
}

fn whole(call: &Call) -> (u16, Value) {
    match &call.answer {
        Answer::Whole(whole) => (whole.status, serde_json::from_slice(&whole.body).unwrap()),
        Answer::Stream { .. } => panic!("a stream"),
    }
}

fn ask(body: &Value) -> (u16, Value) {
    whole(&read(&post(body.to_string())))
}

#[test]
fn every_question_has_its_answer() {
    let body = json!({"state": "s", "model": "jev-latest", "questions": {"n": {"type": "noul"}}});
    let (status, answer) = ask(&body);
    assert_eq!((status, &answer["model"]), (200, &json!("jev-1.13.0")));
    assert!(answer["answers"]["n"]["noul"].is_f64());
}
