//! TypeSafe's documented exchanges, held against what the sandbox answers to the same requests.

use serde_json::{Value, json};

use crate::support::{Answer, ask, request, sandbox};

/// A file of `tests/fixtures/system-one`.
macro_rules! example {
    ($name:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!(
            "../fixtures/system-one/",
            $name,
            ".json"
        )))
        .unwrap()
    };
}

async fn answer(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut bytes = request(method, &format!("/typesafe/v1{path}"), body);
    for (name, value) in headers {
        // Ahead of the host line.
        let at = bytes.windows(2).position(|pair| pair == b"\r\n").unwrap() + 2;
        bytes.splice(at..at, format!("{name}: {value}\r\n").into_bytes());
    }
    ask(&sandbox().await, &bytes).await
}

async fn asked(body: &Value) -> Answer {
    answer("POST", "/systemone", &[], &body.to_string()).await
}

/// The same members and types throughout; numbers may differ, and texts where a model picks one.
#[track_caller]
fn same_shape(ours: &Value, theirs: &Value, place: &str) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let names = |object: &serde_json::Map<String, Value>| {
                object.keys().cloned().collect::<Vec<_>>()
            };
            assert_eq!(names(ours), names(theirs), "{place}");
            for (name, value) in ours {
                same_shape(value, &theirs[name], &format!("{place}.{name}"));
            }
        }
        (Value::Number(ours), Value::Number(theirs)) => {
            assert_eq!(ours.is_f64(), theirs.is_f64(), "{place}");
        }
        (Value::String(_), Value::String(_)) if place.ends_with(".choice") => {}
        _ => assert_eq!(ours, theirs, "{place}"),
    }
}

#[tokio::test]
async fn answers_have_the_documented_members() {
    for (question, theirs) in [
        (example!("request-mixed"), example!("response-mixed")),
        (
            example!("request-structured-score"),
            example!("response-structured-legend"),
        ),
    ] {
        let ours = asked(&question).await;
        assert_eq!(ours.status, 200);
        let ours = ours.json();
        same_shape(&ours, &theirs, "");
        let output = &ours["usage"]["output_tokens"];
        assert_eq!(output, &theirs["usage"]["output_tokens"]);
    }
}

#[tokio::test]
async fn a_box_has_the_documented_members() {
    let exchange = example!("request-response-box");
    let body = exchange["request"].to_string();
    let opted_in = [("TypeSafe-Danger-Zone-Images", "true")];
    let ours = answer("POST", "/systemone", &opted_in, &body).await.json();
    same_shape(&ours, &exchange["response"], "");
}

#[tokio::test]
async fn the_list_has_the_documented_members() {
    let theirs = example!("response-models");
    let ours = answer("GET", "/models", &[], "").await.json();
    let entries = |list: &Value| list["models"].as_array().unwrap().clone();
    assert_eq!(entries(&ours).len(), entries(&theirs).len());
    for (ours, theirs) in entries(&ours).iter().zip(&entries(&theirs)) {
        assert_eq!(ours["name"], theirs["name"]);
        assert_eq!(ours["release_date"], theirs["release_date"]);
        assert_eq!(ours.as_object().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn issues_are_the_documented_ones_word_by_word() {
    let wrong = json!({"state": "s", "model": "jev-latest", "questions": {
        "queue": {"type": "choice", "instructions": "Pick one"},
        "patience": {"type": "score", "criteria": []},
    }});
    let null_level = json!({"state": "s", "model": "jev-latest", "questions": {
        "s": {"type": "score", "criteria": ["a", null]},
    }});
    for (body, theirs) in [
        (wrong, example!("error-422-validation")),
        (null_level, example!("error-422-union-null-level")),
    ] {
        let ours = asked(&body).await;
        assert_eq!(ours.status, theirs["status"]);
        assert_eq!(ours.headers("x-typesafe-request-id")[0].len(), 36);
        assert_eq!(ours.json(), theirs["body"]);
    }
}

#[tokio::test]
async fn the_three_shapes_of_a_400_are_the_documented_ones() {
    let levels = json!({"s": {"type": "score", "criteria": vec!["x"; 11]}});
    let noul = json!({"n": {"type": "noul"}});
    let long = "x".repeat(200_000);
    let bodies = [
        json!({"state": "s", "model": "jev-latest", "questions": levels}),
        json!({"state": "s", "model": "jev-0", "questions": noul}),
        json!({"state": long, "model": "jev-latest", "questions": noul}),
    ];
    let Value::Array(theirs) = example!("error-400-three-shapes") else {
        panic!("three of them")
    };
    for (body, theirs) in bodies.iter().zip(&theirs) {
        let ours = asked(body).await;
        assert_eq!(ours.status, 400);
        assert_eq!(ours.json(), theirs["body"]);
    }
}
