//! Writing answers: one message, or the events of a stream in the provider's order.

use bytes::Bytes;
use serde_json::{Value, json};

use super::read::Messages;
use crate::{
    answer::{Answer, EVENT_STREAM, Frame, Role, Whole},
    mounts::{
        says::{End, REFUSAL, Says},
        words,
    },
};

/// The answer to a messages request, streamed if it asks for that.
pub(super) fn answer(messages: &Messages) -> Answer {
    let says = Says::to(&messages.asked);
    if messages.stream {
        Answer::Stream {
            content_type: EVENT_STREAM,
            frames: frames(messages, &says),
        }
    } else {
        Answer::Whole(Whole::json(200, &message(messages, &says)))
    }
}

/// A 200 with neither an answer nor an error.
pub(super) fn empty(model: &str) -> Value {
    json!({
        "id": ID,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": null,
        "stop_reason": null,
    })
}

/// Input and output of the answer to a request, for the limiter.
pub(super) fn tokens(messages: &Messages) -> u64 {
    let (output, _) = Says::to(&messages.asked).tokens();
    messages.asked.input_tokens().saturating_add(output)
}

/// One event: its name, and data of the same type.
pub(super) fn frame(event: &str, data: &Value) -> Bytes {
    format!("event: {event}\ndata: {data}\n\n").into()
}

fn message(messages: &Messages, says: &Says) -> Value {
    let (reason, sequence, details) = stop(says);
    json!({
        "id": ID,
        "type": "message",
        "role": "assistant",
        "model": messages.asked.model,
        "content": blocks(messages, says).iter().map(Block::whole).collect::<Value>(),
        "stop_reason": reason,
        "stop_sequence": sequence,
        "stop_details": details,
        "usage": usage(messages, says, Told::All),
    })
}

/// One block of the content.
enum Block<'a> {
    Thinking(&'a str),
    Text(String),
    ToolUse(&'a words::ToolCall),
}

/// The blocks of an answer. Ahead of a tool call the model says what it was asked, as real ones do.
fn blocks<'a>(messages: &Messages, says: &'a Says) -> Vec<Block<'a>> {
    match says {
        Says::Text {
            text, reasoning, ..
        } => {
            let thinking = reasoning.map(Block::Thinking);
            let text = (!text.is_empty()).then(|| Block::Text(text.clone()));
            thinking.into_iter().chain(text).collect()
        }
        Says::Refusal | Says::Filtered => Vec::new(),
        Says::Calls { calls, .. } => {
            let lead = Block::Text(words::reply(&messages.asked.prompt));
            std::iter::once(lead)
                .chain(calls.iter().map(Block::ToolUse))
                .collect()
        }
    }
}

impl Block<'_> {
    fn whole(&self) -> Value {
        match self {
            Self::Thinking(text) => {
                json!({"type": "thinking", "thinking": text, "signature": SIGNATURE})
            }
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::ToolUse(call) => {
                let input: Value = serde_json::from_str(call.arguments).unwrap_or_default();
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
            }
        }
    }

    /// The block as it begins in a stream, and whether that already tells the caller something.
    fn start(&self) -> (Role, Value) {
        match self {
            Self::Thinking(_) => (
                Role::Lead,
                json!({"type": "thinking", "thinking": "", "signature": ""}),
            ),
            Self::Text(_) => (Role::Lead, json!({"type": "text", "text": ""})),
            Self::ToolUse(call) => (
                Role::Content,
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
            ),
        }
    }

    fn deltas(&self) -> Vec<(Role, Value)> {
        let content = |delta| (Role::Content, delta);
        match self {
            Self::Thinking(text) => words::pieces(text)
                .into_iter()
                .map(|piece| content(json!({"type": "thinking_delta", "thinking": piece})))
                .chain([(
                    Role::Lead,
                    json!({"type": "signature_delta", "signature": SIGNATURE}),
                )])
                .collect(),
            Self::Text(text) => words::pieces(text)
                .into_iter()
                .map(|piece| content(json!({"type": "text_delta", "text": piece})))
                .collect(),
            Self::ToolUse(call) => call
                .fragments()
                .map(|piece| content(json!({"type": "input_json_delta", "partial_json": piece})))
                .to_vec(),
        }
    }
}

/// Start, blocks one after the other, stop reason with the usage, stop.
fn frames(messages: &Messages, says: &Says) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut push = |role, data: Value| {
        let event = data["type"].as_str().unwrap_or_default();
        let bytes = frame(event, &data);
        frames.push(Frame { role, bytes });
    };
    let start = json!({
        "id": ID,
        "type": "message",
        "role": "assistant",
        "model": messages.asked.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(messages, says, Told::Input),
    });
    push(
        Role::Lead,
        json!({"type": "message_start", "message": start}),
    );
    for (index, block) in blocks(messages, says).iter().enumerate() {
        let (role, start) = block.start();
        push(
            role,
            json!({"type": "content_block_start", "index": index, "content_block": start}),
        );
        if index == 0 {
            push(Role::Lead, json!({"type": "ping"}));
        }
        for (role, delta) in block.deltas() {
            push(
                role,
                json!({"type": "content_block_delta", "index": index, "delta": delta}),
            );
        }
        push(
            Role::Lead,
            json!({"type": "content_block_stop", "index": index}),
        );
    }
    let (reason, sequence, details) = stop(says);
    push(
        Role::Tail,
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": sequence, "stop_details": details},
            "usage": usage(messages, says, Told::All),
        }),
    );
    push(Role::Tail, json!({"type": "message_stop"}));
    frames
}

/// The stop reason, the stop text that was met, and the words of a refusal.
fn stop(says: &Says) -> (&'static str, Value, Value) {
    let refusal = |words: Value| json!({"type": "refusal", "category": null, "explanation": words});
    match says {
        Says::Text { end, .. } => match end {
            End::Said => ("end_turn", Value::Null, Value::Null),
            End::Limit => ("max_tokens", Value::Null, Value::Null),
            End::Stop(stop) => ("stop_sequence", json!(stop), Value::Null),
        },
        Says::Refusal => ("refusal", Value::Null, refusal(json!(REFUSAL))),
        Says::Filtered => ("refusal", Value::Null, refusal(Value::Null)),
        Says::Calls { .. } => ("tool_use", Value::Null, Value::Null),
    }
}

/// What of the usage is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// As a stream begins.
    Input,
    All,
}

/// The prompt's tokens stand apart by where they came from; only together are they the prompt.
fn usage(messages: &Messages, says: &Says, told: Told) -> Value {
    let cached = messages.asked.cached();
    let (output, thought) = match told {
        Told::Input => (0, 0),
        Told::All => says.tokens(),
    };
    json!({
        "input_tokens": messages.asked.input_tokens(),
        "cache_creation_input_tokens": cached.written,
        "cache_read_input_tokens": cached.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": cached.written,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": thought},
        "service_tier": "standard",
    })
}

const ID: &str = "msg_sandbox_1";

/// Opaque to clients, which must send it back as it is.
pub(super) const SIGNATURE: &str = "c2FuZGJveC10aG91Z2h0LTE=";
