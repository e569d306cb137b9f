//! Writing answers: one JSON document, or the events of a stream in the provider's order.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{super::CREATED, read::Asks};
use crate::{
    answer::{Answer, EVENT_STREAM, Frame, Role, Whole},
    mounts::{
        says::{End, REFUSAL, Says},
        words,
    },
};

/// The answer to a request, streamed if it asks for that.
pub(super) fn answer(asks: &Asks) -> Answer {
    let says = Says::to(&asks.asked);
    if asks.stream {
        Answer::Stream {
            content_type: EVENT_STREAM,
            frames: frames(asks, &says),
        }
    } else {
        Answer::Whole(Whole::json(200, &finished(asks, &says)))
    }
}

/// A 200 with neither an answer nor an error.
pub(super) fn empty(asks: &Asks) -> Value {
    response(asks, "completed", &json!([]), &Value::Null)
}

/// Input and output of the answer to a request, for the limiter.
pub(super) fn tokens(asks: &Asks) -> u64 {
    let (output, _) = Says::to(&asks.asked).tokens();
    asks.asked.input_tokens().saturating_add(output)
}

/// An error in the midst of a stream, as the live API nests it; `number` is its place.
pub(super) fn error_frame(error: &Whole, number: usize) -> Bytes {
    let body: Value = serde_json::from_slice(&error.body).unwrap_or_default();
    frame(&json!({"type": "error", "error": body["error"], "sequence_number": number}))
}

/// One event: its name, and data of the same type.
fn frame(data: &Value) -> Bytes {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// The answer as it stands at the end.
fn finished(asks: &Asks, says: &Says) -> Value {
    let status = status(says);
    let output = items(says)
        .iter()
        .map(|item| item.whole(status.item))
        .collect();
    let mut response = response(asks, status.response, &output, &usage(asks, says));
    if let Some(reason) = status.reason {
        response["incomplete_details"] = json!({"reason": reason});
    }
    response
}

/// How an answer ended.
struct Status {
    response: &'static str,
    item: &'static str,
    reason: Option<&'static str>,
}

fn status(says: &Says) -> Status {
    let reason = match says {
        Says::Text {
            end: End::Limit, ..
        } => Some("max_output_tokens"),
        Says::Filtered => Some("content_filter"),
        Says::Text { .. } | Says::Refusal | Says::Calls { .. } => None,
    };
    let word = if reason.is_some() {
        "incomplete"
    } else {
        "completed"
    };
    Status {
        response: word,
        item: word,
        reason,
    }
}

/// The envelope, which every event about the whole answer carries.
fn response(asks: &Asks, status: &str, output: &Value, usage: &Value) -> Value {
    let mut response = json!({
        "id": ID,
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "max_tool_calls": null,
        "model": asks.asked.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "prompt_cache_key": null,
        "reasoning": {"effort": null, "summary": null},
        "safety_identifier": null,
        "service_tier": "default",
        "store": true,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": null,
        "metadata": {},
    });
    for (name, value) in &asks.echo {
        response[name] = value.clone();
    }
    response
}

/// One item of an answer, with its number among its kind.
enum Item<'a> {
    Reasoning(&'a str),
    Text(&'a str),
    Refusal,
    Call(usize, &'a words::ToolCall),
}

fn items(says: &Says) -> Vec<Item<'_>> {
    match says {
        Says::Text {
            text, reasoning, ..
        } => {
            let thought = reasoning.map(Item::Reasoning);
            thought.into_iter().chain([Item::Text(text)]).collect()
        }
        Says::Refusal => vec![Item::Refusal],
        // The filter left nothing.
        Says::Filtered => Vec::new(),
        Says::Calls { calls, .. } => (1..)
            .zip(calls)
            .map(|(n, call)| Item::Call(n, call))
            .collect(),
    }
}

impl Item<'_> {
    fn id(&self) -> String {
        match self {
            Self::Reasoning(_) => "rs_sandbox_1".to_owned(),
            Self::Text(_) | Self::Refusal => "msg_sandbox_1".to_owned(),
            Self::Call(number, _) => format!("fc_sandbox_{number}"),
        }
    }

    /// The item as it stands at its end.
    fn whole(&self, status: &str) -> Value {
        let id = self.id();
        match self {
            Self::Reasoning(text) => json!({
                "id": id, "type": "reasoning", "summary": [{"type": "summary_text", "text": text}],
                "encrypted_content": SIGNATURE,
            }),
            Self::Text(text) => json!({
                "id": id, "type": "message", "status": status, "role": "assistant",
                "content": [text_part(text)],
            }),
            Self::Refusal => json!({
                "id": id, "type": "message", "status": status, "role": "assistant",
                "content": [{"type": "refusal", "refusal": REFUSAL}],
            }),
            Self::Call(_, call) => json!({
                "id": id, "type": "function_call", "status": status, "call_id": call.id,
                "name": call.name, "arguments": call.arguments,
            }),
        }
    }

    /// The item as it begins.
    fn begun(&self) -> Value {
        let mut item = self.whole("in_progress");
        match self {
            Self::Reasoning(_) => {
                item["summary"] = json!([]);
                // The one of the finished item is another.
                item["encrypted_content"] = json!(HALF_SIGNATURE);
            }
            Self::Text(_) | Self::Refusal => item["content"] = json!([]),
            Self::Call(..) => item["arguments"] = json!(""),
        }
        item
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

/// The events of a stream, numbered.
struct Events {
    frames: Vec<Frame>,
    obfuscate: bool,
}

impl Events {
    fn push(&mut self, role: Role, kind: &str, mut event: Value) {
        event["type"] = json!(format!("response.{kind}"));
        event["sequence_number"] = json!(self.frames.len());
        self.frames.push(Frame {
            role,
            bytes: frame(&event),
        });
    }

    /// A piece of an item.
    fn piece(&mut self, kind: &str, place: &Value, piece: &str) {
        let mut event = place.clone();
        event["delta"] = json!(piece);
        if self.obfuscate {
            event["obfuscation"] = json!(PADDING.get(piece.len()..).unwrap_or_default());
        }
        self.push(Role::Content, kind, event);
    }
}

/// Created, in progress, each item from its beginning to its end, and the whole once more.
fn frames(asks: &Asks, says: &Says) -> Vec<Frame> {
    let mut events = Events {
        frames: Vec::new(),
        obfuscate: asks.obfuscate,
    };
    let begun = response(asks, "in_progress", &json!([]), &Value::Null);
    for kind in ["created", "in_progress"] {
        events.push(Role::Lead, kind, json!({"response": begun}));
    }
    let status = status(says);
    for (index, item) in items(says).iter().enumerate() {
        // A call begins with its name, which is all a caller needs to make ready.
        let role = match item {
            Item::Call(..) => Role::Content,
            _ => Role::Lead,
        };
        let added = json!({"output_index": index, "item": item.begun()});
        events.push(role, "output_item.added", added);
        pieces(&mut events, index, item);
        let done = json!({"output_index": index, "item": item.whole(status.item)});
        events.push(Role::Lead, "output_item.done", done);
    }
    let whole = json!({"response": finished(asks, says)});
    events.push(Role::Tail, status.response, whole);
    events.frames
}

/// What comes between the beginning and the end of an item.
fn pieces(events: &mut Events, index: usize, item: &Item<'_>) {
    let place = json!({"item_id": item.id(), "output_index": index});
    let with = |more: Value| {
        let mut event = place.clone();
        for (name, value) in more.as_object().unwrap_or(&Map::new()) {
            event[name] = value.clone();
        }
        event
    };
    match item {
        Item::Reasoning(text) => {
            let place = with(json!({"summary_index": 0}));
            let part = |text: &str| {
                let part = json!({"type": "summary_text", "text": text});
                with(json!({"summary_index": 0, "part": part}))
            };
            events.push(Role::Lead, "reasoning_summary_part.added", part(""));
            for piece in words::pieces(text) {
                events.piece("reasoning_summary_text.delta", &place, piece);
            }
            let done = with(json!({"summary_index": 0, "text": text}));
            events.push(Role::Lead, "reasoning_summary_text.done", done);
            events.push(Role::Lead, "reasoning_summary_part.done", part(text));
        }
        Item::Text(text) => {
            let place = with(json!({"content_index": 0, "logprobs": []}));
            let part = |text: &str| with(json!({"content_index": 0, "part": text_part(text)}));
            events.push(Role::Lead, "content_part.added", part(""));
            for piece in words::pieces(text) {
                events.piece("output_text.delta", &place, piece);
            }
            let done = with(json!({"content_index": 0, "text": text, "logprobs": []}));
            events.push(Role::Lead, "output_text.done", done);
            events.push(Role::Lead, "content_part.done", part(text));
        }
        Item::Refusal => {
            let place = with(json!({"content_index": 0}));
            let part = |text: &str| {
                let part = json!({"type": "refusal", "refusal": text});
                with(json!({"content_index": 0, "part": part}))
            };
            events.push(Role::Lead, "content_part.added", part(""));
            for piece in words::pieces(REFUSAL) {
                events.piece("refusal.delta", &place, piece);
            }
            let done = with(json!({"content_index": 0, "refusal": REFUSAL}));
            events.push(Role::Lead, "refusal.done", done);
            events.push(Role::Lead, "content_part.done", part(REFUSAL));
        }
        Item::Call(_, call) => {
            for piece in call.fragments() {
                events.piece("function_call_arguments.delta", &place, piece);
            }
            let done = with(json!({"name": call.name, "arguments": call.arguments}));
            events.push(Role::Lead, "function_call_arguments.done", done);
        }
    }
}

fn usage(asks: &Asks, says: &Says) -> Value {
    let cached = asks.asked.cached();
    let input = asks.asked.input_tokens().saturating_add(cached.total());
    let (output, thought) = says.tokens();
    json!({
        "input_tokens": input,
        "input_tokens_details": {
            "cached_tokens": cached.read,
            "cache_write_tokens": cached.written,
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": input.saturating_add(output),
    })
}

const ID: &str = "resp_sandbox_1";

/// What reasoning comes with and has to go back with.
pub(super) const SIGNATURE: &str = "c2FuZGJveC10aG91Z2h0LTE=";

/// What it comes with before it is finished, and must not go back with.
const HALF_SIGNATURE: &str = "c2FuZGJveC0=";

/// Longer than the pieces are, so that padded ones are all of one length.
const PADDING: &str = "sandboxsandboxsandbox";
