use serde_json::json;

use super::*;
use crate::message::{ToolCall, ToolResult};

fn ok() -> Request {
    Request::new("m").user("hi")
}

#[track_caller]
fn check(request: &Request, expected: &str) {
    let fault = request.validate().expect_err("must be refused");
    assert_eq!(fault.kind(), ErrorKind::BadRequest);
    assert_eq!(fault.message(), Some(expected));
}

#[test]
fn a_plain_request_passes() {
    assert!(ok().validate().is_ok());
    assert!(
        ok().max_tokens(1)
            .temperature(0.0)
            .top_p(1.0)
            .stop("x")
            .validate()
            .is_ok()
    );
}

#[test]
fn each_wrong_field_is_named() {
    check(&Request::new(" ").user("hi"), "model is empty");
    check(&Request::new("m"), "there are no messages");
    check(
        &ok().max_tokens(0),
        "max_tokens is 0; leave it out for the provider's default",
    );
    check(
        &ok().temperature(f64::NAN),
        "temperature must be a finite number of at least 0",
    );
    check(
        &ok().top_p(-0.1),
        "top_p must be a finite number of at least 0",
    );
    check(
        &ok().message(Message::new(Role::User, vec![])),
        "message 1 has no parts",
    );
    check(&ok().tool(Tool::new("", json!({}))), "tool 0 has no name");
    check(
        &ok().tool(Tool::new("a", json!([]))),
        "tool 0: parameters must be a JSON schema object",
    );
    check(
        &ok()
            .tool(Tool::new("a", json!({})))
            .tool(Tool::new("a", json!({}))),
        "tool 1: the name `a` is taken",
    );
    check(
        &ok().tool_choice(ToolChoice::Tool("b".into())),
        "tool choice names `b`, which is not among the tools",
    );
    check(
        &ok().tool_choice(ToolChoice::Required),
        "tool choice requires a tool, and there are none",
    );
    check(
        &ok().response_format(ResponseFormat::json_schema(json!({}))),
        "response format: the schema must be an object that says something",
    );
}

#[test]
fn each_part_stands_in_its_own_turn() {
    let call = || Part::ToolCall(ToolCall::new("c", "t", "{}"));
    for (role, part, why) in [
        (Role::User, call(), "tool calls belong in assistant turns"),
        (
            Role::Tool,
            Part::text("x"),
            "a tool turn holds tool results only",
        ),
        (
            Role::Assistant,
            Part::Image(Image::Url("http://x".into())),
            "images belong in user turns",
        ),
        (
            Role::User,
            Part::Image(Image::Data {
                media_type: String::new(),
                data: vec![1],
            }),
            "image data needs a media type",
        ),
        (
            Role::User,
            Part::ToolResult(ToolResult::new("c", "x")),
            "tool results belong in tool turns",
        ),
        (
            Role::Tool,
            Part::ToolResult(ToolResult::new("", "x")),
            "a tool result needs a call id",
        ),
        (
            Role::Assistant,
            Part::ToolCall(ToolCall::new("", "t", "{}")),
            "a tool call needs an id and a name",
        ),
    ] {
        let request = ok().message(Message::new(role, vec![part]));
        check(&request, &format!("message 1 part 0: {why}"));
    }
    assert!(
        ok().message(Message::new(Role::Assistant, vec![call()]))
            .validate()
            .is_ok()
    );
    assert!(
        ok().message(Message::tool_result("c", "x"))
            .validate()
            .is_ok()
    );
}

#[test]
fn a_call_in_the_history_must_carry_an_object() {
    // Anthropic and Gemini refuse anything else, so a history that could not move is refused here.
    for arguments in ["null", "[]", "\"x\"", "{\"a\":"] {
        let part = Part::ToolCall(ToolCall::new("c", "t", arguments));
        let request = ok().message(Message::new(Role::Assistant, vec![part]));
        check(
            &request,
            "message 1 part 0: a tool call's arguments must be one JSON object",
        );
    }
    for arguments in ["", "  ", "{}", "{\"a\":1}"] {
        let part = Part::ToolCall(ToolCall::new("c", "t", arguments));
        assert!(
            ok().message(Message::new(Role::Assistant, vec![part]))
                .validate()
                .is_ok()
        );
    }
}

#[test]
fn debug_shows_sizes_and_no_prompt() {
    let request = ok().system("top secret").user("also secret");
    let text = format!("{request:?}");
    assert!(
        !text.contains("secret") && text.contains("Text(11 bytes)"),
        "{text}"
    );
}
