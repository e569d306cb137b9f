//! Content from everything callers have, and what of it is refused.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;

#[test]
fn content_is_text_an_object_or_an_array() {
    for (content, json, debug) in [
        (
            Content::from("a \"b\""),
            r#""a \"b\"""#,
            "Content(text, 9 bytes)",
        ),
        (
            Content::from(String::from("x")),
            "\"x\"",
            "Content(text, 3 bytes)",
        ),
        (
            Content::from(&String::from("x")),
            "\"x\"",
            "Content(text, 3 bytes)",
        ),
        (
            Content::from(json!({"z": 1, "a": 2})),
            r#"{"z":1,"a":2}"#,
            "Content(object, 13 bytes)",
        ),
        (
            Content::from(vec![json!(1)]),
            "[1]",
            "Content(array, 3 bytes)",
        ),
        (Content::from(Map::new()), "{}", "Content(object, 2 bytes)"),
    ] {
        assert_eq!(content.as_json(), json);
        assert_eq!(content.problem(), None, "{json}");
        assert_eq!(format!("{content:?}"), debug);
    }
    assert_eq!(Content::from("a\nb").as_text().as_deref(), Some("a\nb"));
    assert_eq!(Content::from(json!([])).as_text(), None);
}

#[test]
fn numbers_booleans_and_null_are_no_content() {
    for (value, kind) in [
        (json!(5), "a number"),
        (json!(true), "a boolean"),
        (json!(null), "null"),
    ] {
        let content = Content::from(value);
        let problem = content.problem().unwrap();
        assert!(problem.ends_with(&format!("not {kind}")), "{problem}");
        assert!(format!("{content:?}").starts_with("Content(no content"));
    }
}

#[test]
fn a_hundred_levels_are_taken_and_one_more_is_not() {
    let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(Content::from_json(&nested(100)).unwrap().problem(), None);
    let fault = Content::from_json(&nested(101)).unwrap_err();
    assert!(fault.message().unwrap().contains("100 levels"), "{fault:?}");
    let value: Value = serde_json::from_str(&nested(101)).unwrap();
    assert!(Content::from(value).problem().is_some());
}

#[test]
fn json_text_keeps_every_digit() {
    let content = Content::from_json("{ \"n\": 0.10000000000000000555 }").unwrap();
    assert_eq!(content.as_json(), r#"{"n":0.10000000000000000555}"#);
    for (bad, why) in [
        ("{", "line 1 column 1"),
        ("{\"a\":1,\"a\":2}", "a: stands twice"),
        ("[1e999]", "no reader takes"),
        ("secret", "not JSON"),
    ] {
        let fault = Content::from_json(bad).unwrap_err();
        assert_eq!(fault.kind(), ErrorKind::BadRequest);
        let message = fault.message().unwrap();
        assert!(message.contains(why), "{message}");
        assert!(!message.contains("secret"));
    }
}

#[test]
fn what_serializes_is_content_and_what_does_not_is_refused() {
    let content = Content::serialize(&BTreeMap::from([("a", 1)])).unwrap();
    assert_eq!(content.as_json(), r#"{"a":1}"#);
    let odd = BTreeMap::from([(vec![1_u8], 1)]);
    assert_eq!(
        Content::serialize(&odd).unwrap_err().kind(),
        ErrorKind::BadRequest
    );
}

#[test]
fn words_are_found_behind_escapes_too() {
    let content = Content::from(json!({"line\n1": ["see img-1", {"k": "a\"b"}]}));
    for words in ["img-1", "a\"b", "line\n1"] {
        assert!(content.mentions(words), "{words}");
    }
    assert!(!content.mentions("img-2"));
    assert!(Content::from("plain img-1").mentions("img-1"));
    assert!(!Content::from("plain").mentions("img-1"));
}
