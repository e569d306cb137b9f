//! What differs between the servers that speak Chat Completions, as data.
//!
//! One row per server; the rows of the known ones stand in `presets`. A difference that only shows
//! in answers needs no row: the decoders take every shape from everybody.

/// How one server wants its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quirks {
    /// The field for the token limit.
    pub(super) token_limit: TokenLimit,
    /// The most stop texts; `None` where no limit is known, and the server may judge.
    pub(super) max_stops: Option<usize>,
    /// Whether a stream is asked for its usage.
    pub(super) stream_usage: bool,
    /// What goes back of the reasoning of earlier turns.
    pub(super) replay: Replay,
    /// The field for the reasoning effort.
    pub(super) effort: EffortField,
    /// The word for "some tool must be called".
    pub(super) must_call: &'static str,
    /// Whether the server does as the tool choice says.
    pub(super) obeys_tool_choice: bool,
    /// The response formats it knows.
    pub(super) formats: Formats,
    /// Whether it fetches images by their address.
    pub(super) fetches_images: bool,
    /// Which ids of tool calls it takes back.
    pub(super) call_ids: CallIds,
}

/// The name of the field for the token limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenLimit {
    /// The newer name; OpenAI's reasoning models refuse the older one.
    MaxCompletionTokens,
    /// The older name, which every other server knows.
    MaxTokens,
}

/// What goes back of the reasoning of earlier turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// Nothing: the server refuses or ignores it.
    Nothing,
    /// The text, as `reasoning_content`, of every turn.
    Text,
    /// The text, as `reasoning_content`, of the turns of a tool loop that still runs.
    ///
    /// `DeepSeek` wants it there and refused it elsewhere for years.
    ToolLoop,
    /// The list `reasoning_details` as it came, with its signatures.
    Details,
}

/// The field for the reasoning effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EffortField {
    /// `reasoning_effort`.
    Word,
    /// `effort` in an object `reasoning`.
    Object,
}

/// The response formats a server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Formats {
    /// `json_object` and `json_schema`.
    All,
    /// `json_object` alone.
    ObjectOnly,
    /// `json_schema` alone.
    SchemaOnly,
}

/// Which ids of tool calls a server takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallIds {
    /// Any of at most 40 bytes, the strictest limit that is known.
    UpTo40,
    /// Nine letters and digits, exactly.
    Nine,
}

/// OpenAI itself.
pub(super) const OPENAI: Quirks = Quirks {
    token_limit: TokenLimit::MaxCompletionTokens,
    max_stops: Some(4),
    ..COMPATIBLE
};

/// A server of which nothing is known.
pub(super) const COMPATIBLE: Quirks = Quirks {
    token_limit: TokenLimit::MaxTokens,
    max_stops: None,
    stream_usage: true,
    replay: Replay::Nothing,
    effort: EffortField::Word,
    must_call: "required",
    obeys_tool_choice: true,
    formats: Formats::All,
    fetches_images: true,
    call_ids: CallIds::UpTo40,
};
