//! Conversations with tool calls that move from one provider to another.

use serde_json::{Value, json};

use crate::anthropic::Anthropic;
use crate::dialect::{Dialect, Mode, harness};
use crate::gemini::Gemini;
use crate::message::{Message, Role};
use crate::openai::{OpenAi, OpenAiCompatible, Responses};
use crate::request::Request;

fn dialects() -> Vec<Box<dyn Dialect>> {
    vec![
        Box::new(OpenAi::new("sk-test-0123456789")),
        Box::new(OpenAiCompatible::new("http://localhost:8000/v1")),
        // Takes ids of nine letters and digits alone.
        Box::new(OpenAiCompatible::mistral("test-0123456789")),
        Box::new(Anthropic::new("sk-ant-test-0123456789")),
        Box::new(Gemini::new("AIza-test-0123456789")),
        Box::new(Responses::new("sk-test-0123456789")),
    ]
}

/// An answer with two calls, in the words of each provider; ids as awkward as they come.
fn answer(dialect: &dyn Dialect, turn: usize) -> Vec<u8> {
    let body = match dialect.name() {
        "anthropic" => json!({
            "id": format!("msg_{turn}"), "type": "message", "stop_reason": "tool_use", "content": [
                {"type": "thinking", "thinking": "Two calls.", "signature": "c2lnbmVk"},
                {"type": "text", "text": "Asking both."},
                {"type": "tool_use", "id": "call_1", "name": "tide", "input": {"turn": turn}},
                {"type": "tool_use", "id": "call_2", "name": "moon", "input": {}},
            ],
        }),
        "gemini" => json!({
            "responseId": format!("answer-{turn}"),
            "candidates": [{"finishReason": "STOP", "content": {"parts": [
                {"text": "Asking both."},
                {"functionCall": {"name": "tide", "args": {"turn": turn}}, "thoughtSignature": "c2lnbmVk"},
                {"functionCall": {"name": "moon"}},
            ]}}],
        }),
        "responses" => json!({
            "id": format!("resp_{turn}"), "object": "response", "status": "completed", "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2lnbmVk"},
                {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Asking both."}]},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "tide",
                 "arguments": format!("{{\"turn\":{turn}}}")},
                {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "moon", "arguments": ""},
            ],
        }),
        // Kimi's ids, and those of a server that numbers the calls of every answer from zero.
        name => {
            let id = |n: usize, tool: &str| match name {
                "openai" => format!("call_{n}"),
                _ => format!("functions.{tool}:{n}"),
            };
            let call = |n, tool: &str, arguments: String| {
                json!({"id": id(n, tool), "type": "function",
                       "function": {"name": tool, "arguments": arguments}})
            };
            json!({"id": format!("chat-{turn}"), "choices": [{"finish_reason": "tool_calls", "message": {
                "content": "Asking both.",
                "tool_calls": [
                    call(1, "tide", format!("{{\"turn\":{turn}}}")),
                    call(2, "moon", String::new()),
                ],
            }}]})
        }
    };
    body.to_string().into_bytes()
}

/// Appends a provider's answer and the results of its calls, the second one first.
fn add_turn(request: Request, dialect: &dyn Dialect, turn: usize) -> Request {
    let answer = harness::answer(dialect, &answer(dialect, turn)).expect("an answer");
    let message = Message::new(Role::Assistant, answer.parts);
    let ids: Vec<String> = message.tool_calls().map(|call| call.id.clone()).collect();
    request
        .message(message)
        .message(Message::tool_result(&ids[1], format!("full {turn}")))
        .message(Message::tool_result(&ids[0], format!("high {turn}")))
}

/// The calls and results of a body, tied together as the provider would: name, result.
fn tied(dialect: &dyn Dialect, body: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut tied = Vec::new();
    let mut open: Vec<(String, String)> = Vec::new();
    let mut answer = |open: &mut Vec<(String, String)>, key: &str, result: String| {
        let at = open.iter().position(|(id, _)| id == key);
        let at = at.unwrap_or_else(|| panic!("{key} answers no call of {open:?}: {body}"));
        tied.push((open.remove(at).1, result));
    };
    match dialect.name() {
        "anthropic" => {
            for block in list(&body["messages"])
                .iter()
                .flat_map(|turn| list(&turn["content"]))
            {
                match block["type"].as_str().unwrap() {
                    "tool_use" => open.push((text(&block["id"]), text(&block["name"]))),
                    "tool_result" => {
                        answer(
                            &mut open,
                            &text(&block["tool_use_id"]),
                            text(&block["content"]),
                        );
                    }
                    _ => {}
                }
            }
        }
        "gemini" => {
            for part in list(&body["contents"])
                .iter()
                .flat_map(|turn| list(&turn["parts"]))
            {
                if let Some(call) = part.get("functionCall") {
                    open.push((text(&call["name"]), text(&call["name"])));
                }
                if let Some(result) = part.get("functionResponse") {
                    // Without ids the API goes by order, so the first open call is meant.
                    assert_eq!(open[0].0, text(&result["name"]), "out of order");
                    answer(
                        &mut open,
                        &text(&result["name"]),
                        text(&result["response"]["output"]),
                    );
                }
            }
        }
        "responses" => {
            for item in list(&body["input"]) {
                match item["type"].as_str() {
                    Some("function_call") => {
                        open.push((text(&item["call_id"]), text(&item["name"])));
                    }
                    Some("function_call_output") => {
                        answer(&mut open, &text(&item["call_id"]), text(&item["output"]));
                    }
                    _ => {}
                }
            }
        }
        _ => {
            for message in list(&body["messages"]) {
                for call in list(&message["tool_calls"]) {
                    open.push((text(&call["id"]), text(&call["function"]["name"])));
                }
                if message["role"] == "tool" {
                    answer(
                        &mut open,
                        &text(&message["tool_call_id"]),
                        text(&message["content"]),
                    );
                }
            }
        }
    }
    assert!(open.is_empty(), "calls without a result: {open:?}");
    tied.sort();
    tied
}

fn expected(turns: usize) -> Vec<(String, String)> {
    let mut all: Vec<_> = (0..turns)
        .flat_map(|turn| {
            [
                ("tide", format!("high {turn}")),
                ("moon", format!("full {turn}")),
            ]
        })
        .map(|(name, result)| (name.to_owned(), result))
        .collect();
    all.sort();
    all
}

#[test]
fn a_conversation_moves_from_any_provider_to_any_other() {
    for from in dialects() {
        let request = add_turn(Request::new("m").user("q"), &*from, 0);
        request.validate().unwrap();
        for to in dialects() {
            let pair = format!("{} to {}", from.name(), to.name());
            let encoded = to.encode(&request, Mode::Complete).unwrap();
            let body: Value = serde_json::from_slice(&encoded.body).unwrap();
            assert_eq!(tied(&*to, &body), expected(1), "{pair}");
            // Signatures go home and nowhere else, and that is said.
            let signed = matches!(from.name(), "anthropic" | "gemini" | "responses");
            let at_home = from.family() == to.family();
            assert_eq!(
                body.to_string().contains("c2lnbmVk"),
                signed && at_home,
                "{pair}"
            );
            assert_eq!(!encoded.warnings.is_empty(), signed && !at_home, "{pair}");
        }
    }
}

#[test]
fn a_conversation_with_turns_of_every_provider_goes_on_with_each() {
    let mut request = Request::new("m").user("q");
    let dialects = dialects();
    for (turn, dialect) in dialects.iter().chain(&dialects).enumerate() {
        request = add_turn(request, &**dialect, turn);
    }
    for to in &dialects {
        let encoded = to
            .encode(&request.clone().user("go on"), Mode::Stream)
            .unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        assert_eq!(
            tied(&**to, &body),
            expected(2 * dialects.len()),
            "{}",
            to.name()
        );
    }
}
