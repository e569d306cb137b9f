//! Recorded answers, and every rule of the dialect where it fires and where it does not.

mod answers;
mod errors;
mod properties;
mod requests;
mod streams;

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::*;
use crate::dialect::harness::{self, Told, stream_text};
use crate::kind::ErrorKind;
use crate::message::{Message, OpaqueState, Part, Reasoning, Role, Text, ToolCall, ToolResult};
use crate::response::{StopReason, StreamEvent, Usage};

fn responses() -> Responses {
    Responses::new("sk-test-0123456789")
}

/// A finished answer with these items.
fn answer(output: &Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
        "error": null, "incomplete_details": null, "model": "gpt-x-2026", "output": output,
        "usage": {
            "input_tokens": 12, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
            "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 21,
        },
    })
}

fn message(id: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
           "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn call(id: &str, call_id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": id, "call_id": call_id, "name": "tide",
           "arguments": arguments, "status": "completed"})
}

fn reasoning(id: &str, summary: &[&str], encrypted: &str) -> Value {
    let summary: Vec<_> = summary
        .iter()
        .map(|text| json!({"type": "summary_text", "text": text}))
        .collect();
    json!({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": encrypted})
}

fn refusal(id: &str, words: &str) -> Value {
    json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
           "content": [{"type": "refusal", "refusal": words}]})
}

#[track_caller]
fn decoded(body: &Value) -> Decoded {
    harness::answer(&responses(), body.to_string().as_bytes()).expect("an answer")
}

#[track_caller]
fn fault(body: &str) -> Fault {
    harness::answer(&responses(), body.as_bytes()).expect_err("no answer")
}

fn warnings(decoded: &Decoded) -> Vec<String> {
    decoded.warnings.iter().map(ToString::to_string).collect()
}

fn sse(events: &[Value]) -> String {
    events.iter().fold(String::new(), |mut text, event| {
        let name = event["type"].as_str().unwrap_or("message");
        writeln!(text, "event: {name}\ndata: {event}\n").unwrap();
        text
    })
}

fn told(events: &[Value]) -> Told {
    stream_text(&responses(), &sse(events))
}

#[track_caller]
fn whole(events: &[Value]) -> Told {
    let told = told(events);
    told.end.as_ref().expect("a whole answer");
    told
}

fn created() -> Value {
    json!({"type": "response.created", "sequence_number": 0, "response": {
        "id": "resp_1", "object": "response", "status": "in_progress", "model": "gpt-x-2026",
        "output": [], "usage": null, "error": null,
    }})
}

fn added(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

/// A piece of an item: the event's kind, its place, its id, its words.
fn delta(kind: &str, index: usize, id: &str, words: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "item_id": id,
           "content_index": 0, "summary_index": 0, "delta": words, "obfuscation": "x"})
}

fn text(index: usize, id: &str, words: &str) -> Value {
    delta("output_text", index, id, words)
}

fn arguments(index: usize, id: &str, fragment: &str) -> Value {
    delta("function_call_arguments", index, id, fragment)
}

fn completed(output: &Value) -> Value {
    json!({"type": "response.completed", "response": answer(output)})
}

/// The events the provider sends for an answer with these items.
fn events(output: &[Value]) -> Vec<Value> {
    let mut events = vec![created()];
    for (at, item) in output.iter().enumerate() {
        let id = item["id"].as_str().unwrap_or_default();
        let mut begun = item.clone();
        for field in ["content", "summary"] {
            if begun.get(field).is_some() {
                begun[field] = json!([]);
            }
        }
        if begun.get("arguments").is_some() {
            begun["arguments"] = json!("");
        }
        if begun.get("encrypted_content").is_some() {
            begun["encrypted_content"] = json!("half");
        }
        events.push(added(at, &begun));
        let parts = |field: &str| item[field].as_array().cloned().unwrap_or_default();
        for (number, part) in parts("summary").iter().enumerate() {
            let words = part["text"].as_str().unwrap();
            let mut event = delta("reasoning_summary_text", at, id, words);
            event["summary_index"] = json!(number);
            events.push(event);
            events.push(
                json!({"type": "response.reasoning_summary_text.done", "item_id": id,
                "output_index": at, "summary_index": number, "text": words}),
            );
        }
        for (number, part) in parts("content").iter().enumerate() {
            let (kind, field) = match part["type"].as_str() {
                Some("refusal") => ("refusal", "refusal"),
                Some("reasoning_text") => ("reasoning_text", "text"),
                _ => ("output_text", "text"),
            };
            let words = part[field].as_str().unwrap();
            for piece in words.split_inclusive(' ') {
                let mut event = delta(kind, at, id, piece);
                event["content_index"] = json!(number);
                events.push(event);
            }
            events.push(
                json!({"type": format!("response.{kind}.done"), "item_id": id,
                "output_index": at, "content_index": number, field: words}),
            );
        }
        if let Some(text) = item["arguments"].as_str() {
            for piece in text.split_inclusive(':') {
                events.push(arguments(at, id, piece));
            }
            events.push(
                json!({"type": "response.function_call_arguments.done", "item_id": id,
                "output_index": at, "arguments": text}),
            );
        }
        events.push(done(at, item));
    }
    events.push(completed(&json!(output)));
    events
}

/// The state of a reasoning part, as JSON.
#[track_caller]
fn state(part: &Part) -> Value {
    let state = match part {
        Part::Reasoning(part) => part.state.as_ref(),
        Part::Text(part) => part.state.as_ref(),
        _ => None,
    };
    let raw = state.and_then(|state| state.for_provider("responses"));
    serde_json::from_str(raw.expect("a state").get()).unwrap()
}

#[test]
fn every_recorded_answer_decodes_whole_byte_by_byte_and_cut_anywhere() {
    for name in [
        "13-responses-stream-error-nested.sse",
        "14-responses-stream-error-flat.sse",
        "16-responses-incomplete.json",
    ] {
        harness::check(&responses(), name);
    }
}

#[test]
fn debug_prints_no_key() {
    let printed = format!("{:?}", responses().organization("org").project("proj"));
    assert!(!printed.contains("0123456789"), "{printed}");
}
