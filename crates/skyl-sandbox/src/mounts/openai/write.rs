//! Writing answers: one JSON document, or the chunks of a stream in the provider's order.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    CREATED,
    accents::{Chunk, framed},
    read::Chat,
    servers::Server,
};
use crate::{
    answer::{Answer, EVENT_STREAM, Frame, Role, Whole},
    mounts::{
        says::{End, REFUSAL, Says},
        words,
    },
};

fn finish(says: &Says) -> &'static str {
    match says {
        Says::Text {
            end: End::Limit, ..
        } => "length",
        // With a named tool the provider says `stop`, though a call is there.
        Says::Text { .. } | Says::Refusal | Says::Calls { named: true, .. } => "stop",
        Says::Filtered => "content_filter",
        Says::Calls { named: false, .. } => "tool_calls",
    }
}

fn message(says: &Says) -> Value {
    let turn = |content: Value, refusal: Value| json!({"role": "assistant", "content": content, "refusal": refusal, "annotations": []});
    match says {
        Says::Text {
            text, reasoning, ..
        } => {
            let mut message = turn(json!(text), Value::Null);
            if let Some(reasoning) = reasoning {
                message["reasoning_content"] = json!(reasoning);
            }
            message
        }
        Says::Refusal => turn(Value::Null, json!(REFUSAL)),
        Says::Filtered => turn(Value::Null, Value::Null),
        Says::Calls { calls, .. } => {
            let mut message = turn(Value::Null, Value::Null);
            message["tool_calls"] = calls.iter().map(|call| {
                    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
                }).collect();
            message
        }
    }
}

/// The deltas of a stream, after the role frame.
fn deltas(says: &Says) -> Vec<Value> {
    match says {
        Says::Text {
            text, reasoning, ..
        } => {
            let thoughts = reasoning.iter().flat_map(|text| words::pieces(text));
            let thoughts = thoughts.map(|piece| json!({"reasoning_content": piece}));
            thoughts
                .chain(
                    words::pieces(text)
                        .into_iter()
                        .map(|piece| json!({"content": piece})),
                )
                .collect()
        }
        Says::Refusal => words::pieces(REFUSAL)
            .into_iter()
            .map(|piece| json!({"refusal": piece}))
            .collect(),
        Says::Filtered => Vec::new(),
        Says::Calls { calls, .. } => calls
            .iter()
            .enumerate()
            .flat_map(|(index, call)| {
                let start = json!({"tool_calls": [{
                    "index": index, "id": call.id, "type": "function",
                    "function": {"name": call.name, "arguments": ""},
                }]});
                let pieces = call.fragments().map(|piece| {
                    json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
                });
                std::iter::once(start).chain(pieces)
            })
            .collect(),
    }
}

/// The answer to a chat request, streamed if it asks for that.
///
/// `name` is the model as it was asked for; `server` is whose accent it is in.
pub(super) fn answer(chat: &Chat, name: &str, server: Option<Server>) -> Answer {
    let says = Says::to(&chat.asked);
    if !chat.stream {
        let body = completion(chat, name, &says);
        return Answer::Whole(match server {
            None => Whole::json(200, &body),
            Some(server) => server.completion(body),
        });
    }
    let chunks = chunks(chat, name, &says);
    let frames = match server {
        None => plain(&chunks),
        Some(server) => server.frames(chunks, &usage(chat, &says)),
    };
    Answer::Stream {
        content_type: EVENT_STREAM,
        frames,
    }
}

/// The chunks as they are, and the mark of the end.
fn plain(chunks: &[Chunk]) -> Vec<Frame> {
    let mut frames: Vec<Frame> = chunks
        .iter()
        .map(|chunk| Frame {
            role: chunk.role,
            bytes: framed(&chunk.data),
        })
        .collect();
    frames.push(Frame {
        role: Role::Tail,
        bytes: frame(b"[DONE]"),
    });
    frames
}

/// A 200 with neither an answer nor an error.
pub(super) fn empty(model: &str) -> Value {
    json!({"id": ID, "object": "chat.completion", "created": CREATED, "model": model, "choices": null})
}

/// One `data:` frame.
pub(super) fn frame(data: &[u8]) -> Bytes {
    [b"data: ", data, b"\n\n"].concat().into()
}

fn completion(chat: &Chat, name: &str, says: &Says) -> Value {
    let choices = (0..chat.choices).map(|index| {
        json!({"index": index, "message": message(says), "logprobs": null, "finish_reason": finish(says)})
    });
    json!({
        "id": ID,
        "object": "chat.completion",
        "created": CREATED,
        "model": name,
        "choices": choices.collect::<Value>(),
        "usage": usage(chat, says),
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    })
}

/// Role, deltas, finish, usage: in this order, for each choice.
fn chunks(chat: &Chat, name: &str, says: &Says) -> Vec<Chunk> {
    let chunk = |role, choices: Value, usage: Value| {
        let mut data = json!({
            "id": ID,
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": name,
            "service_tier": "default",
            "system_fingerprint": FINGERPRINT,
            "choices": choices,
        });
        if chat.include_usage {
            data["usage"] = usage;
        }
        Chunk { role, data }
    };
    let choice = |index: u64, delta: &Value, finish: Value| json!([{"index": index, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    let mut chunks = Vec::new();
    let opening = match says {
        Says::Calls { .. } | Says::Filtered => {
            json!({"role": "assistant", "content": null, "refusal": null})
        }
        Says::Text { .. } | Says::Refusal => {
            json!({"role": "assistant", "content": "", "refusal": null})
        }
    };
    for index in 0..chat.choices {
        chunks.push(chunk(
            Role::Lead,
            choice(index, &opening, Value::Null),
            Value::Null,
        ));
    }
    for delta in deltas(says) {
        for index in 0..chat.choices {
            chunks.push(chunk(
                Role::Content,
                choice(index, &delta, Value::Null),
                Value::Null,
            ));
        }
    }
    for index in 0..chat.choices {
        chunks.push(chunk(
            Role::Tail,
            choice(index, &json!({}), json!(finish(says))),
            Value::Null,
        ));
    }
    if chat.include_usage {
        chunks.push(chunk(Role::Tail, json!([]), usage(chat, says)));
    }
    chunks
}

/// Input and output of the answer to a request, for the limiter.
pub(super) fn tokens(chat: &Chat) -> u64 {
    let (output, _) = Says::to(&chat.asked).tokens();
    chat.asked
        .input_tokens()
        .saturating_add(output.saturating_mul(chat.choices))
}

fn usage(chat: &Chat, says: &Says) -> Value {
    let cached = chat.asked.cached();
    let input = chat.asked.input_tokens().saturating_add(cached.total());
    let (each, thought) = says.tokens();
    let output = each.saturating_mul(chat.choices);
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input.saturating_add(output),
        "prompt_tokens_details": {
            "cached_tokens": cached.read,
            "cache_write_tokens": cached.written,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": thought.saturating_mul(chat.choices),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

const ID: &str = "chatcmpl-sandbox-1";
const FINGERPRINT: &str = "fp_sandbox";
