//! Extra fields, and debug prints that tell nothing.

use serde_json::json;

use super::*;
use crate::system_one::{BoxQuestion, Choice, Noul, Question, Score};

fn request() -> Request {
    Request::new("s", [("q", Noul::new("i"))])
}

#[test]
fn extra_fields_merge_where_both_are_objects_and_replace_otherwise() {
    let field = |request: Request| request.extra_body[0].1.as_json().to_owned();
    let routing = || request().extra_body("routing", json!({"a": {"x": 1}, "b": 2}));
    assert_eq!(field(routing()), r#"{"a":{"x":1},"b":2}"#);
    let patched = routing().extra_body("routing", json!({"a": {"y": 3}, "b": null}));
    assert_eq!(field(patched), r#"{"a":{"x":1,"y":3}}"#);
    assert_eq!(field(routing().extra_body("routing", json!([1]))), "[1]");
    let two = routing().extra_body("other", json!(true));
    assert_eq!(two.extra_body.len(), 2);
}

#[test]
fn pictures_and_box_questions_need_the_opt_in() {
    assert!(!request().needs_images());
    assert!(request().asset("a", Asset::image(vec![1])).needs_images());
    assert!(Request::new("s", [("q", BoxQuestion::default())]).needs_images());
    let raw = Question::raw(json!({"type": "box"}));
    assert!(Request::new("s", [("q", raw)]).needs_images());
}

#[test]
fn a_debug_print_holds_no_word_of_the_request() {
    let questions = Questions::new()
        .ask(
            "q0",
            Noul::new("SECRET").when_true("SECRET").when_false("SECRET"),
        )
        .ask(
            "q1",
            Choice::new("SECRET")
                .option("SECRET")
                .described("SECRET", "SECRET"),
        )
        .ask("q2", Score::new("SECRET").level("SECRET"))
        .ask("q3", BoxQuestion::new("SECRET"))
        .ask(
            "q4",
            Question::raw(json!({"type": "SECRET", "x": "SECRET"})),
        );
    let request = Request::new(json!({"SECRET": "SECRET"}), questions)
        .asset("img", Asset::raw(json!({"type": "SECRET"})))
        .asset("img", Asset::image("SECRET"))
        .extra_body("x", json!("SECRET"));
    let shown = format!("{request:?}");
    assert!(!shown.contains("SECRET"), "{shown}");
    assert!(shown.contains("q4") && shown.contains("img"), "{shown}");
}
