mod bytes;
mod calls;
mod ends;
mod errors;
mod shapes;
mod usage;

use http::HeaderMap;
use serde_json::{Value, json};

use super::*;
use crate::dialect::Dialect as _;
use crate::dialect::harness::{Told, now, stream, stream_text};
use crate::kind::ErrorKind;
use crate::openai::OpenAiCompatible;
use crate::response::{StopReason, StreamEvent, Usage};

fn dialect() -> OpenAiCompatible {
    OpenAiCompatible::new("http://localhost/v1")
}

fn told(text: &str) -> Told {
    stream_text(&dialect(), text)
}

/// A stream of these chunks, without an end mark.
fn frames(chunks: &[Value]) -> String {
    chunks.iter().map(frame).collect()
}

fn frame(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

fn delta(delta: &Value) -> Value {
    json!({"id": "a", "choices": [{"index": 0, "delta": delta}]})
}

fn said(text: &str) -> Value {
    delta(&json!({"content": text}))
}

fn finish(word: &str) -> Value {
    json!({"id": "a", "choices": [{"index": 0, "delta": {}, "finish_reason": word}]})
}

/// The calls that come of these pieces, one piece per chunk, ended by `finish_reason: tool_calls`.
fn pieces(pieces: &[Value]) -> Told {
    let chunks: Vec<_> = pieces
        .iter()
        .map(|piece| delta(&json!({"tool_calls": [piece]})))
        .collect();
    told(&(frames(&chunks) + &frames(&[finish("tool_calls")]) + "data: [DONE]\n\n"))
}

fn piece(index: usize, id: &str, name: &str, arguments: &str) -> Value {
    json!({"index": index, "id": id, "type": "function",
           "function": {"name": name, "arguments": arguments}})
}

fn fragment(index: usize, arguments: &str) -> Value {
    json!({"index": index, "function": {"arguments": arguments}})
}

const BREST: &str = r#"{"port":"Brest"}"#;
