//! Writing answers: one document, or a stream of them, as events or as one JSON array.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    errors::{JSON, pretty},
    read::Content,
};
use crate::{
    answer::{Answer, Frame, Role},
    mounts::{
        says::{End, REFUSAL, Says},
        words::{self, ToolCall},
    },
};

/// How a stream is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// With `alt=sse`.
    Events,
    /// Without: one JSON array, piece by piece.
    Array,
}

impl Form {
    pub(super) fn asked_for(alt: Option<&str>) -> Self {
        if alt == Some("sse") {
            Self::Events
        } else {
            Self::Array
        }
    }

    pub(super) fn of(content_type: &str) -> Self {
        if content_type == Self::Events.content_type() {
            Self::Events
        } else {
            Self::Array
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::Array => JSON,
        }
    }

    fn piece(self, document: &Value, first: bool) -> Bytes {
        match self {
            Self::Events => format!("data: {document}\r\n\r\n"),
            Self::Array if first => format!("[{document:#}"),
            Self::Array => format!(",\r\n{document:#}"),
        }
        .into()
    }

    /// A piece that nothing follows.
    pub(super) fn last(self, document: &Value, first: bool) -> Bytes {
        let piece = self.piece(document, first);
        match self {
            Self::Events => piece,
            Self::Array => [piece, Bytes::from_static(b"\n]\n")].concat().into(),
        }
    }
}

/// The answer to a request for content, streamed in a form if one is given.
pub(super) fn answer(content: &Content, stream: Option<Form>) -> Answer {
    let says = Says::to(&content.asked);
    match stream {
        None => Answer::Whole(pretty(200, &response(content, &says))),
        Some(form) => Answer::Stream {
            content_type: form.content_type(),
            frames: frames(content, &says, form),
        },
    }
}

/// A 200 with neither an answer nor an error.
pub(super) fn empty(model: &str) -> Value {
    json!({"modelVersion": model, "responseId": ID})
}

/// Input and output of the answer to a request, for the limiter.
pub(super) fn tokens(content: &Content) -> u64 {
    let (output, _) = Says::to(&content.asked).tokens();
    content.asked.input_tokens().saturating_add(output)
}

fn response(content: &Content, says: &Says) -> Value {
    let parts = match says {
        Says::Text {
            text, reasoning, ..
        } => {
            let mut last = json!({"text": text});
            if reasoning.is_some() {
                last["thoughtSignature"] = json!(SIGNATURE);
            }
            let thought = reasoning.map(|text| json!({"text": text, "thought": true}));
            Some(thought.into_iter().chain([last]).collect())
        }
        Says::Refusal | Says::Filtered => None,
        Says::Calls { calls, .. } => Some(call_pieces(calls).concat().into()),
    };
    document(content, says, parts, Told::All)
}

/// The frames of a stream; the finish reason is in one of its own, after all content.
fn frames(content: &Content, says: &Says, form: Form) -> Vec<Frame> {
    let pieces: Vec<Vec<Value>> = match says {
        Says::Text {
            text, reasoning, ..
        } => {
            let thoughts = reasoning.iter().flat_map(|text| words::pieces(text));
            let thoughts = thoughts.map(|piece| vec![json!({"text": piece, "thought": true})]);
            let texts = words::pieces(text).into_iter();
            thoughts
                .chain(texts.map(|piece| vec![json!({"text": piece})]))
                .collect()
        }
        Says::Refusal | Says::Filtered => Vec::new(),
        Says::Calls { calls, .. } => call_pieces(calls),
    };
    let last = match says {
        Says::Text { reasoning, .. } => {
            let mut part = json!({"text": ""});
            if reasoning.is_some() {
                part["thoughtSignature"] = json!(SIGNATURE);
            }
            Some(json!([part]))
        }
        Says::Refusal | Says::Filtered | Says::Calls { .. } => None,
    };
    let mut frames: Vec<Frame> = Vec::new();
    for parts in pieces {
        let document = document(content, says, Some(json!(parts)), Told::Input);
        frames.push(Frame {
            role: Role::Content,
            bytes: form.piece(&document, frames.is_empty()),
        });
    }
    let document = document(content, says, last, Told::All);
    frames.push(Frame {
        role: Role::Tail,
        bytes: form.last(&document, frames.is_empty()),
    });
    frames
}

/// The parts of an answer that calls tools, as they come in pieces.
///
/// Parallel calls come one after the other, and only the first carries a signature.
fn call_pieces(calls: &[ToolCall]) -> Vec<Vec<Value>> {
    let pieces = calls.iter().enumerate().map(|(at, call)| {
        let args: Value = serde_json::from_str(call.arguments).unwrap_or_default();
        let mut part = json!({"functionCall": {"name": call.name, "args": args}});
        if at > 0 {
            return vec![part];
        }
        part["thoughtSignature"] = json!(SIGNATURE);
        vec![json!({"text": "Checking. "}), part]
    });
    pieces.collect()
}

/// What of an answer is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// In mid-stream: neither the end nor the output's tokens.
    Input,
    All,
}

fn document(content: &Content, says: &Says, parts: Option<Value>, told: Told) -> Value {
    let mut document = json!({});
    if let Says::Filtered = says {
        document["promptFeedback"] = json!({"blockReason": "PROHIBITED_CONTENT"});
    } else {
        let mut candidate = json!({});
        if let Some(parts) = parts {
            candidate["content"] = json!({"parts": parts, "role": "model"});
        }
        if told == Told::All {
            candidate["finishReason"] = json!(finish(says));
        }
        if let Says::Refusal = says {
            candidate["finishMessage"] = json!(REFUSAL);
        }
        candidate["index"] = json!(0);
        document["candidates"] = json!([candidate]);
    }
    document["usageMetadata"] = usage(content, says, told);
    document["modelVersion"] = json!(content.asked.model);
    document["responseId"] = json!(ID);
    document
}

fn finish(says: &Says) -> &'static str {
    match says {
        Says::Text {
            end: End::Limit, ..
        } => "MAX_TOKENS",
        Says::Text { .. } | Says::Calls { .. } => "STOP",
        Says::Refusal | Says::Filtered => "SAFETY",
    }
}

/// The prompt includes what was cached; the candidates do not include the thoughts.
fn usage(content: &Content, says: &Says, told: Told) -> Value {
    let cached = content.asked.cached();
    let prompt = content.asked.input_tokens().saturating_add(cached.total());
    let mut usage = json!({"promptTokenCount": prompt});
    let (output, thought) = match told {
        Told::Input => (0, 0),
        Told::All => says.tokens(),
    };
    if cached.read > 0 {
        usage["cachedContentTokenCount"] = json!(cached.read);
    }
    if told == Told::All {
        usage["candidatesTokenCount"] = json!(output - thought);
    }
    if thought > 0 {
        usage["thoughtsTokenCount"] = json!(thought);
    }
    usage["totalTokenCount"] = json!(prompt.saturating_add(output));
    usage["promptTokensDetails"] = json!([{"modality": "TEXT", "tokenCount": prompt}]);
    usage
}

const ID: &str = "sandbox-gemini-1";

/// Opaque to clients, which must send it back on the same part.
pub(super) const SIGNATURE: &str = "c2FuZGJveC10aG91Z2h0LTE=";
