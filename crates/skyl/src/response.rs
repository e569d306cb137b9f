//! What comes back: usage, stop reasons, warnings, stream events, models.

use std::fmt;

use bytes::Bytes;

use crate::message::ToolCall;

/// What a call cost, in tokens. `None` means the provider did not say; zero means zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// All input, tokens read from and written to a cache included.
    pub input_tokens: Option<u64>,
    /// All output, reasoning included.
    pub output_tokens: Option<u64>,
    /// The part of the input read from a cache.
    pub cache_read_tokens: Option<u64>,
    /// The part of the input written to a cache.
    pub cache_write_tokens: Option<u64>,
    /// The part of the output spent on reasoning.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Takes over every figure that `later` knows; what it does not know stays.
    ///
    /// Providers that report while streaming report running totals, so later figures replace
    /// earlier ones and are never added to them.
    pub fn update(&mut self, later: Self) {
        let Self {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
            reasoning_tokens,
        } = later;
        for (slot, value) in [
            (&mut self.input_tokens, input_tokens),
            (&mut self.output_tokens, output_tokens),
            (&mut self.cache_read_tokens, cache_read_tokens),
            (&mut self.cache_write_tokens, cache_write_tokens),
            (&mut self.reasoning_tokens, reasoning_tokens),
        ] {
            if value.is_some() {
                *slot = value;
            }
        }
    }
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// It had finished.
    EndTurn,
    /// The token limit, or the end of its context.
    MaxTokens,
    /// It called a tool.
    ToolUse,
    /// It wrote one of the stop texts.
    StopSequence,
    /// It, or a filter, declined.
    Refusal,
    /// It paused a long turn and can be asked to go on.
    Pause,
    /// A reason skyl does not know, in the provider's word.
    Other(String),
}

impl StopReason {
    /// The reason in snake case; `unknown` for every [`StopReason::Other`].
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::ToolUse => "tool_use",
            Self::StopSequence => "stop_sequence",
            Self::Refusal => "refusal",
            Self::Pause => "pause",
            Self::Other(_) => "unknown",
        }
    }
}

/// Something that could not be said, or read, exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The field it is about, such as `reasoning_effort`.
    pub field: String,
    /// What was done about it, in one sentence without words of the prompt.
    pub message: String,
}

impl Warning {
    /// A warning about a field.
    #[must_use]
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// One thing a stream hands out.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// More of the answer.
    Text(String),
    /// More of the reasoning, where the provider shows it.
    Reasoning(String),
    /// More of a refusal.
    Refusal(String),
    /// A tool call begins.
    ToolCallStart {
        /// Which call of this answer, from 0.
        index: usize,
        /// The call's id, made locally where the provider gives none.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a tool call's arguments.
    ToolCallArguments {
        /// Which call of this answer, from 0.
        index: usize,
        /// The next piece of JSON text; no piece need be JSON of its own.
        fragment: String,
    },
    /// A tool call, whole.
    ToolCall(ToolCall),
    /// The answer is whole.
    Done {
        /// Why the model stopped.
        stop_reason: StopReason,
        /// What the call cost.
        usage: Usage,
    },
}

impl StreamEvent {
    /// Whether the event is content: something a caller could have shown.
    ///
    /// Once content has been handed out, nothing is ever resent.
    #[must_use]
    pub const fn is_content(&self) -> bool {
        !matches!(self, Self::Done { .. })
    }
}

// Completions stay out of debug prints; see `message`.
impl fmt::Debug for StreamEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Reasoning(text) => write!(f, "Reasoning({} bytes)", text.len()),
            Self::Refusal(text) => write!(f, "Refusal({} bytes)", text.len()),
            Self::ToolCallStart { index, id, name } => {
                write!(f, "ToolCallStart({index}, {id}, {name})")
            }
            Self::ToolCallArguments { index, fragment } => {
                write!(f, "ToolCallArguments({index}, {} bytes)", fragment.len())
            }
            Self::ToolCall(call) => call.fmt(f),
            Self::Done { stop_reason, usage } => f
                .debug_struct("Done")
                .field("stop_reason", stop_reason)
                .field("usage", usage)
                .finish(),
        }
    }
}

/// A model a provider offers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The name to put in a request.
    pub id: String,
    /// A name for people, where the provider has one.
    pub display_name: Option<String>,
    /// The most input tokens, where the provider says.
    pub context_window: Option<u64>,
    /// The most output tokens, where the provider says.
    pub max_output_tokens: Option<u64>,
    /// The entry as the provider sent it.
    pub raw: Bytes,
}

impl ModelInfo {
    /// A model of which only the name is known.
    #[must_use]
    pub fn new(id: impl Into<String>, raw: Bytes) -> Self {
        Self {
            id: id.into(),
            display_name: None,
            context_window: None,
            max_output_tokens: None,
            raw,
        }
    }
}
