//! Writing answers: one JSON document, or the chunks of a stream in the provider's order.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{CREATED, read::Chat};
use crate::{
    answer::{Answer, EVENT_STREAM, Frame, Role, Whole},
    mounts::{
        schema,
        words::{self, ToolCall, Wanted},
    },
};

/// What the assistant says, in no wire shape yet.
#[derive(Debug)]
enum Says {
    Text {
        text: String,
        reasoning: Option<&'static str>,
        cut: bool,
    },
    Refusal,
    Filtered,
    Calls {
        calls: Vec<ToolCall>,
        named: bool,
    },
}

impl Says {
    fn to(chat: &Chat) -> Self {
        match chat.model.as_str() {
            "sandbox-refusal" => return Self::Refusal,
            "sandbox-content-filter" => return Self::Filtered,
            _ => {}
        }
        if let Some(result) = &chat.tool_result {
            return Self::prose(chat, &words::tool_reply(result));
        }
        if let Some(tool) = words::tool(&chat.tools, &chat.wanted, &chat.prompt) {
            let both = chat.model == "sandbox-parallel-tools" && chat.parallel;
            let calls = (1..=if both { 2 } else { 1 }).map(|number| ToolCall::nth(number, tool));
            return Self::Calls {
                calls: calls.collect(),
                named: matches!(chat.wanted, Wanted::Named(_)),
            };
        }
        if let Some(document) = chat.schema.as_ref().and_then(schema::document) {
            return Self::Text {
                text: document.to_string(),
                reasoning: None,
                cut: false,
            };
        }
        Self::prose(chat, &words::reply(&chat.prompt))
    }

    fn prose(chat: &Chat, text: &str) -> Self {
        let (text, cut) = words::limited(text, chat.max_tokens);
        let reasoning = (chat.model == "sandbox-reasoning").then_some(REASONING);
        Self::Text {
            text: text.to_owned(),
            reasoning,
            cut,
        }
    }

    fn finish(&self) -> &'static str {
        match self {
            Self::Text { cut: true, .. } => "length",
            // With a named tool the provider says `stop`, though a call is there.
            Self::Text { .. } | Self::Refusal | Self::Calls { named: true, .. } => "stop",
            Self::Filtered => "content_filter",
            Self::Calls { named: false, .. } => "tool_calls",
        }
    }

    fn message(&self) -> Value {
        let message = |content: Value, refusal: Value| json!({"role": "assistant", "content": content, "refusal": refusal, "annotations": []});
        match self {
            Self::Text {
                text, reasoning, ..
            } => {
                let mut message = message(json!(text), Value::Null);
                if let Some(reasoning) = reasoning {
                    message["reasoning_content"] = json!(reasoning);
                }
                message
            }
            Self::Refusal => message(Value::Null, json!(REFUSAL)),
            Self::Filtered => message(Value::Null, Value::Null),
            Self::Calls { calls, .. } => {
                let mut message = message(Value::Null, Value::Null);
                message["tool_calls"] = calls.iter().map(|call| {
                    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
                }).collect();
                message
            }
        }
    }

    /// Output tokens, and how many of them went into reasoning.
    fn tokens(&self) -> (u64, u64) {
        match self {
            Self::Text {
                text, reasoning, ..
            } => {
                let thought = reasoning.map_or(0, words::tokens);
                (words::tokens(text) + thought, thought)
            }
            Self::Refusal => (words::tokens(REFUSAL), 0),
            Self::Filtered => (0, 0),
            Self::Calls { calls, .. } => (
                calls.iter().map(|call| words::tokens(call.arguments)).sum(),
                0,
            ),
        }
    }

    /// The deltas of a stream, after the role frame.
    fn deltas(&self) -> Vec<Value> {
        match self {
            Self::Text {
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
            Self::Refusal => words::pieces(REFUSAL)
                .into_iter()
                .map(|piece| json!({"refusal": piece}))
                .collect(),
            Self::Filtered => Vec::new(),
            Self::Calls { calls, .. } => calls
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
}

/// The answer to a chat request, streamed if it asks for that.
pub(super) fn answer(chat: &Chat) -> Answer {
    let says = Says::to(chat);
    if chat.stream {
        Answer::Stream {
            content_type: EVENT_STREAM,
            frames: frames(chat, &says),
        }
    } else {
        Answer::Whole(Whole::json(200, &completion(chat, &says)))
    }
}

/// A 200 with neither an answer nor an error.
pub(super) fn empty(model: &str) -> Value {
    json!({"id": ID, "object": "chat.completion", "created": CREATED, "model": model, "choices": null})
}

/// One `data:` frame.
pub(super) fn frame(data: &[u8]) -> Bytes {
    [b"data: ", data, b"\n\n"].concat().into()
}

fn completion(chat: &Chat, says: &Says) -> Value {
    let choices = (0..chat.choices).map(|index| {
        json!({"index": index, "message": says.message(), "logprobs": null, "finish_reason": says.finish()})
    });
    json!({
        "id": ID,
        "object": "chat.completion",
        "created": CREATED,
        "model": chat.model,
        "choices": choices.collect::<Value>(),
        "usage": usage(chat, says),
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    })
}

/// Role, deltas, finish, usage, `[DONE]`: in this order, for each choice.
fn frames(chat: &Chat, says: &Says) -> Vec<Frame> {
    let chunk = |role, choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": ID,
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": chat.model,
            "service_tier": "default",
            "system_fingerprint": FINGERPRINT,
            "choices": choices,
        });
        if chat.include_usage {
            chunk["usage"] = usage;
        }
        Frame {
            role,
            bytes: frame(chunk.to_string().as_bytes()),
        }
    };
    let choice = |index: u64, delta: &Value, finish: Value| json!([{"index": index, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    let mut frames = Vec::new();
    let opening = match says {
        Says::Calls { .. } | Says::Filtered => {
            json!({"role": "assistant", "content": null, "refusal": null})
        }
        Says::Text { .. } | Says::Refusal => {
            json!({"role": "assistant", "content": "", "refusal": null})
        }
    };
    for index in 0..chat.choices {
        frames.push(chunk(
            Role::Lead,
            choice(index, &opening, Value::Null),
            Value::Null,
        ));
    }
    for delta in says.deltas() {
        for index in 0..chat.choices {
            frames.push(chunk(
                Role::Content,
                choice(index, &delta, Value::Null),
                Value::Null,
            ));
        }
    }
    for index in 0..chat.choices {
        frames.push(chunk(
            Role::Tail,
            choice(index, &json!({}), json!(says.finish())),
            Value::Null,
        ));
    }
    if chat.include_usage {
        frames.push(chunk(Role::Tail, json!([]), usage(chat, says)));
    }
    frames.push(Frame {
        role: Role::Tail,
        bytes: frame(b"[DONE]"),
    });
    frames
}

/// Input and output of the answer to a request, for the limiter.
pub(super) fn tokens(chat: &Chat) -> u64 {
    let (output, _) = Says::to(chat).tokens();
    words::tokens(&chat.input).saturating_add(output.saturating_mul(chat.choices))
}

fn usage(chat: &Chat, says: &Says) -> Value {
    let input = words::tokens(&chat.input);
    let (each, thought) = says.tokens();
    let output = each.saturating_mul(chat.choices);
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input.saturating_add(output),
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
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
const REFUSAL: &str = "I'm sorry, I can't help with that.";
const REASONING: &str = "The question is simple.";
