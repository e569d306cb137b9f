//! Request documents: what is read, kept and refused.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

#[track_caller]
fn read_ok(document: &str) -> Request {
    Request::from_json(document.as_bytes()).unwrap()
}

#[track_caller]
fn refused(document: &str, expected: &str) {
    let fault = Request::from_json(document.as_bytes()).unwrap_err();
    assert_eq!(fault.kind(), ErrorKind::BadRequest);
    assert_eq!(fault.message(), Some(expected), "{document}");
}

/// A document with one question.
fn asking(question: &Value) -> String {
    json!({"state": "s", "questions": {"q": question}}).to_string()
}

#[test]
fn recorded_requests_come_out_as_they_went_in() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/system-one/");
    for name in [
        "01-request-minimal-noul.json",
        "02-request-mixed.json",
        "04-request-structured-score.json",
    ] {
        let text = std::fs::read_to_string(format!("{folder}{name}")).unwrap();
        let request = read_ok(&text);
        let value: Value = serde_json::from_str(&text).unwrap();
        let encoded = request.encode("unused").unwrap();
        assert_eq!(encoded.body, value.to_string(), "{name}");
        assert_eq!(encoded.warnings, [], "{name}");
    }
    let text = std::fs::read_to_string(format!("{folder}14-request-response-box.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let request = read_ok(&value["request"].to_string());
    assert_eq!(request.assets[0].1.format(), Some(ImageFormat::Png));
    let body: Value = serde_json::from_slice(&request.encode("m").unwrap().body).unwrap();
    assert_eq!(body, value["request"]);
}

#[test]
fn numbers_and_order_stay_as_written() {
    let request = read_ok(
        "\u{feff}{ \"questions\": {\"z\": {\"type\":\"choice\", \"criteria\": {\"b\": null, \"a\": \"x\"}},
           \"a\": {\"type\":\"noul\", \"instructions\":\"i\", \"criteria\": null}},
          \"state\": {\"id\": 12345678901234567890123, \"f\": 1.10}, \"routing\": [1.0, 2] }",
    );
    assert_eq!(
        request.encode("m").unwrap().body,
        r#"{"state":{"id":12345678901234567890123,"f":1.10},"model":"m","questions":{"z":{"type":"choice","criteria":{"b":null,"a":"x"}},"a":{"type":"noul","instructions":"i"}},"routing":[1.0,2]}"#
    );
}

#[test]
fn unknown_fields_of_the_document_are_kept_and_warned_about() {
    let request =
        read_ok(r#"{"state":"s","questions":{"q":{"type":"noul","instructions":"i"}},"x":1}"#);
    let warnings = request.validate().unwrap();
    assert_eq!(
        warnings[0].to_string(),
        "x: the hosted API refuses fields it does not know"
    );
}

#[test]
fn unknown_types_pass_raw_and_unknown_fields_of_known_types_do_not() {
    let request = read_ok(&asking(&json!({"type": "ranking", "order": [2, 1]})));
    assert!(matches!(request.questions.get("q"), Some(Question::Raw(_))));
    for (question, why) in [
        (
            json!({"type": "noul", "instruction": "i"}),
            "questions.q.instruction: unknown field of a noul question",
        ),
        (
            json!({"type": "choice", "criteria": {"a": null}, "options": []}),
            "questions.q.options: unknown field of a choice question",
        ),
        (
            json!({"type": "score", "criteria": ["a"], "levels": 1}),
            "questions.q.levels: unknown field of a score question",
        ),
        (
            json!({"type": "box", "criteria": {}}),
            "questions.q.criteria: unknown field of a box question",
        ),
    ] {
        refused(&asking(&question), why);
    }
}

#[test]
fn a_wrong_document_is_refused_with_the_path() {
    for (document, why) in [
        ("", "the document is not JSON at line 1 column 0"),
        ("{\"state\":", "the document is not JSON at line 1 column 9"),
        ("[]", "the document must be a JSON object"),
        ("{} x", "the document is not JSON at line 1 column 4"),
        ("{}", "state: missing"),
        (r#"{"state":"s"}"#, "questions: missing"),
        (
            r#"{"state":"s","questions":[]}"#,
            "questions: must be an object, not an array",
        ),
        (
            r#"{"state":"s","questions":{},"model":5}"#,
            "model: must be a string, not a number",
        ),
        (
            r#"{"state":"s","questions":{},"model":null}"#,
            "model: must be a string, not null",
        ),
        (
            r#"{"state":"s","questions":{},"assets":"a"}"#,
            "assets: must be an object, not a string",
        ),
    ] {
        refused(document, why);
    }
    for (question, why) in [
        (json!("i"), "questions.q: must be an object, not a string"),
        (json!({}), "questions.q.type: missing"),
        (
            json!({"type": 1}),
            "questions.q.type: must be a string, not a number",
        ),
        (json!({"type": "choice"}), "questions.q.criteria: missing"),
        (json!({"type": "score"}), "questions.q.criteria: missing"),
        (
            json!({"type": "choice", "criteria": ["a"]}),
            "questions.q.criteria: must be an object, not an array",
        ),
        (
            json!({"type": "score", "criteria": {"a": 1}}),
            "questions.q.criteria: must be an array, not an object",
        ),
        (
            json!({"type": "noul", "criteria": []}),
            "questions.q.criteria: must be an object, not an array",
        ),
        (
            json!({"type": "noul", "criteria": {"yes": "x"}}),
            "questions.q.criteria.yes: neither `true` nor `false`",
        ),
    ] {
        refused(&asking(&question), why);
    }
}

#[test]
fn a_member_that_stands_twice_is_refused_by_name() {
    for (document, why) in [
        (
            r#"{"state":"a","state":"b","questions":{}}"#,
            "state: stands twice",
        ),
        (
            r#"{"state":"a","questions":{"q":{"type":"noul"},"q":{"type":"noul"}}}"#,
            "questions.q: stands twice",
        ),
        (
            r#"{"state":{"user":{"name":1,"name":2}},"questions":{}}"#,
            "state.user.name: stands twice",
        ),
        (
            r#"{"state":"s","questions":{"q":{"type":"choice","criteria":{"a":null,"a":null}}}}"#,
            "questions.q.criteria.a: stands twice",
        ),
    ] {
        refused(document, why);
    }
}

#[test]
fn values_of_the_wrong_kind_are_left_to_validation() {
    let request =
        read_ok(r#"{"state":5,"questions":{"q":{"type":"score","criteria":["a",null]}}}"#);
    let fault = request.validate().unwrap_err();
    assert!(fault.message().unwrap().starts_with("state: "), "{fault:?}");
    let request = read_ok(&asking(&json!({"type": "score", "criteria": ["a", null]})));
    let fault = request.validate().unwrap_err();
    assert!(
        fault
            .message()
            .unwrap()
            .starts_with("questions.q.criteria.1: ")
    );
}

#[test]
fn pictures_are_read_and_other_parts_are_not() {
    let with = |asset: Value| {
        json!({"state": "img", "questions": {"q": {"type": "box"}}, "assets": {"img": asset}})
            .to_string()
    };
    let png = "iVBORw0KGgo=";
    read_ok(&with(
        json!({"type": "image", "format": "png", "data_base64": png}),
    ));
    read_ok(&with(
        json!({"type": "image", "format": "jpg", "data_base64": "/9j/"}),
    ));
    read_ok(&with(json!({"type": "sound", "part": "a"})));
    for (asset, why) in [
        (json!({}), "assets.img.type: missing"),
        (
            json!({"type": "image", "part": "a"}),
            "assets.img.part: a document has no other parts",
        ),
        (
            json!({"type": "image", "url": "a"}),
            "assets.img.url: unknown field of an image",
        ),
        (
            json!({"type": "image", "data_base64": png}),
            "assets.img.format: missing",
        ),
        (
            json!({"type": "image", "format": "gif", "data_base64": png}),
            "assets.img.format: neither `png` nor `jpeg`",
        ),
        (
            json!({"type": "image", "format": "jpeg", "data_base64": png}),
            "assets.img.format: the bytes are of another format",
        ),
        (
            json!({"type": "image", "format": "png", "data_base64": "%%"}),
            "assets.img.data_base64: not base64",
        ),
        (
            json!({"type": "image", "format": "png"}),
            "assets.img.data_base64: missing",
        ),
    ] {
        refused(&with(asset), why);
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let state = |levels: usize| {
        let nested = "[".repeat(levels) + &"]".repeat(levels);
        format!(r#"{{"state":{nested},"questions":{{}}}}"#)
    };
    read_ok(&state(99));
    refused(&state(100), "the document is nested deeper than 100 levels");
    refused(
        &state(1_000_000),
        "the document is nested deeper than 100 levels",
    );
    let huge = vec![b' '; MAX_DOCUMENT_BYTES + 1];
    let fault = Request::from_json(&huge).unwrap_err();
    assert!(fault.message().unwrap().contains("bytes"), "{fault:?}");
    let fault = Request::from_json(b"{\"state\":\"\xff\"}").unwrap_err();
    assert_eq!(fault.message(), Some("the document is not UTF-8"));
}

#[test]
fn a_refusal_quotes_no_value() {
    for document in [
        r#"{"state":"SECRET","questions":"SECRET"}"#,
        r#"{"state":"SECRET" "SECRET"}"#,
        r#"{"state":"SECRET","questions":{"q":{"type":"noul","criteria":"SECRET"}}}"#,
        r#"{"state":"SECRET","questions":{},"model":["SECRET"]}"#,
    ] {
        let fault = Request::from_json(document.as_bytes()).unwrap_err();
        assert!(!format!("{fault:?}").contains("SECRET"), "{fault:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        if let Err(fault) = Request::from_json(&bytes) {
            prop_assert_eq!(fault.kind(), ErrorKind::BadRequest);
        }
    }

    #[test]
    fn what_is_read_is_read_again_the_same(
        state in "\\PC*",
        kind in "noul|choice|score|box|other",
        instructions in prop::option::of("\\PC*"),
        options in prop::collection::hash_set("\\PC{0,4}", 1..4),
    ) {
        let mut question = json!({"type": kind, "instructions": instructions});
        match kind.as_str() {
            "choice" => {
                let criteria = options.iter().map(|o| (o.clone(), Value::Null));
                question["criteria"] = Value::Object(criteria.collect());
            }
            "score" => question["criteria"] = options.iter().cloned().collect(),
            _ => {}
        }
        let document = json!({"state": state, "questions": {"q": question}}).to_string();
        let request = Request::from_json(document.as_bytes()).unwrap();
        if let Ok(encoded) = request.encode("m") {
            let again = Request::from_json(&encoded.body).unwrap();
            prop_assert_eq!(again, request.model("m"));
        }
    }
}
