//! What differs between the servers that speak Chat Completions, as data.
//!
//! One row per server. A difference that only shows in answers needs no row: the decoders take
//! every shape from everybody.

/// How one server wants its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quirks {
    /// The field for the token limit.
    pub(super) token_limit: TokenLimit,
    /// The most stop texts; `None` where no limit is known, and the server may judge.
    pub(super) max_stops: Option<usize>,
    /// Whether a stream is asked for its usage.
    pub(super) stream_usage: bool,
    /// Whether reasoning of earlier turns goes back as text.
    pub(super) replay_reasoning: bool,
}

/// The name of the field for the token limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenLimit {
    /// The newer name; OpenAI's reasoning models refuse the older one.
    MaxCompletionTokens,
    /// The older name, which every other server knows.
    MaxTokens,
}

/// OpenAI itself.
pub(super) const OPENAI: Quirks = Quirks {
    token_limit: TokenLimit::MaxCompletionTokens,
    max_stops: Some(4),
    stream_usage: true,
    replay_reasoning: false,
};

/// A server of which nothing is known.
pub(super) const COMPATIBLE: Quirks = Quirks {
    token_limit: TokenLimit::MaxTokens,
    max_stops: None,
    stream_usage: true,
    replay_reasoning: false,
};
