//! What a mount says, before a fault and the delivery act on it.

use bytes::Bytes;

/// A mount's reading of one request, with the answer it would give without a fault.
#[derive(Debug)]
pub(crate) struct Call {
    /// The model as the client named it.
    pub(crate) model: Option<String>,
    /// Whether faults apply. A wrong key or an unreadable request is answered as it stands.
    pub(crate) refused: bool,
    /// What the limiter charges: input and output.
    pub(crate) tokens: u64,
    pub(crate) answer: Answer,
}

impl Call {
    /// A request that no fault can reach: wrong key, unreadable body, unknown path.
    pub(crate) fn refused(answer: Whole) -> Self {
        Self {
            model: None,
            refused: true,
            tokens: 0,
            answer: Answer::Whole(answer),
        }
    }
}

/// An answer in the provider's shape.
#[derive(Debug)]
pub(crate) enum Answer {
    Whole(Whole),
    /// Status 200, one frame after the other.
    Stream {
        content_type: &'static str,
        frames: Vec<Frame>,
    },
}

/// A body sent in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

impl Whole {
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self {
            status,
            content_type: JSON,
            body: body.to_string().into(),
        }
    }
}

/// One frame of a stream, framing bytes included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) role: Role,
    pub(crate) bytes: Bytes,
}

/// What a frame is to the faults that count content frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Neither content nor the end: role frames, pings, the marks around blocks.
    Lead,
    /// Text, refusal text, reasoning, or a piece of a tool call.
    Content,
    /// Finish reason, usage, terminal mark.
    Tail,
}

pub(crate) const JSON: &str = "application/json";
pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const EVENT_STREAM: &str = "text/event-stream; charset=utf-8";
