//! Messages and their parts, in no provider's words.
//!
//! A part keeps what a provider needs back and nobody else may touch ([`OpaqueState`]): signatures of
//! reasoning, encrypted items. It goes back to the same provider unchanged and is dropped, with a
//! warning, for another. `Debug` shows sizes, never prompts.

use std::fmt;

use serde_json::value::RawValue;

/// Who speaks. The system prompt is [`Request::system`](crate::Request::system), not a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The caller's user.
    User,
    /// The model.
    Assistant,
    /// Results of tools, in answer to the calls of the turn before.
    Tool,
}

/// One turn of a conversation: a role and its parts in order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order; must not be empty.
    pub parts: Vec<Part>,
}

impl Message {
    /// A turn of any role.
    #[must_use]
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { role, parts }
    }

    /// A user turn of one text.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Part::text(text)])
    }

    /// An assistant turn of one text.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![Part::text(text)])
    }

    /// A tool turn with the result of one call.
    #[must_use]
    pub fn tool_result(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::new(
            Role::Tool,
            vec![Part::ToolResult(ToolResult::new(call_id, content))],
        )
    }

    /// All text parts joined without a separator; reasoning and refusals are not text.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }

    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Words.
    Text(Text),
    /// A picture; user turns only.
    Image(Image),
    /// The model asks for a tool; assistant turns only.
    ToolCall(ToolCall),
    /// What a tool answered; tool turns only.
    ToolResult(ToolResult),
    /// The model's reasoning, with what the provider wants back; assistant turns only.
    Reasoning(Reasoning),
}

impl Part {
    /// A text part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Text {
            text: text.into(),
            state: None,
        })
    }

    /// The words of a text part; `None` for every other part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&text.text),
            _ => None,
        }
    }
}

/// Words, with what the provider wants back beside them.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Text {
    /// The words.
    pub text: String,
    /// What the provider that wrote them wants back, if anything.
    pub state: Option<OpaqueState>,
}

impl Text {
    /// Words with the provider's opaque state.
    #[must_use]
    pub fn with_state(text: impl Into<String>, state: Option<OpaqueState>) -> Self {
        Self {
            text: text.into(),
            state,
        }
    }
}

/// A picture, by bytes or by address.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Image {
    /// The bytes and their media type, such as `image/png`.
    Data {
        /// The media type, such as `image/png`; must not be empty.
        media_type: String,
        /// The raw bytes, not base64.
        data: Vec<u8>,
    },
    /// An address the provider fetches.
    Url(String),
}

/// The model asks for a tool to be run.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id a result must name; made locally where the provider gives none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, whole or broken. Empty means none.
    pub arguments: String,
    /// What the provider wants back beside the call, if anything.
    pub state: Option<OpaqueState>,
}

impl ToolCall {
    /// A call as it stands in a history.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            state: None,
        }
    }

    /// Reads the arguments; empty text counts as `{}`.
    ///
    /// # Errors
    /// The JSON error where the model wrote broken JSON or a token limit cut it. The raw text
    /// stays in [`ToolCall::arguments`].
    pub fn parse_arguments(&self) -> Result<serde_json::Value, serde_json::Error> {
        if self.arguments.trim().is_empty() {
            return Ok(serde_json::Value::Object(serde_json::Map::new()));
        }
        serde_json::from_str(&self.arguments)
    }

    /// Whether the arguments are one whole JSON object, so that the call can be run.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.parse_arguments().is_ok_and(|value| value.is_object())
    }
}

/// What a tool answered.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the call this answers.
    pub call_id: String,
    /// The answer, as text.
    pub content: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

impl ToolResult {
    /// A successful result.
    #[must_use]
    pub fn new(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            call_id: call_id.into(),
            content: content.into(),
            is_error: false,
        }
    }

    /// A failed result; the content says what went wrong.
    #[must_use]
    pub fn error(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            call_id: call_id.into(),
            content: content.into(),
            is_error: true,
        }
    }
}

/// The model's reasoning, as far as the provider shows it.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Reasoning {
    /// The readable part; may be empty.
    pub text: String,
    /// Signature or encrypted content to send back unchanged, if any.
    pub state: Option<OpaqueState>,
}

impl Reasoning {
    /// Reasoning text with the provider's opaque state.
    #[must_use]
    pub fn new(text: impl Into<String>, state: Option<OpaqueState>) -> Self {
        Self {
            text: text.into(),
            state,
        }
    }
}

/// Puts the state of a turn's whole reasoning beside its first part of reasoning.
///
/// Makes a part of its own, at the end, where there is none.
pub(crate) fn keep_with_reasoning(parts: &mut Vec<Part>, state: OpaqueState) {
    let first = parts.iter_mut().find_map(|part| match part {
        Part::Reasoning(reasoning) if reasoning.state.is_none() => Some(reasoning),
        _ => None,
    });
    match first {
        Some(reasoning) => reasoning.state = Some(state),
        None => parts.push(Part::Reasoning(Reasoning::new("", Some(state)))),
    }
}

/// What one provider wants back unchanged and nobody else can read.
#[derive(Clone)]
pub struct OpaqueState {
    provider: String,
    json: Box<RawValue>,
}

impl OpaqueState {
    /// Keeps `json` for the provider named; the name is a dialect's [`family`](crate::Dialect::family).
    #[must_use]
    pub fn new(provider: impl Into<String>, json: Box<RawValue>) -> Self {
        Self {
            provider: provider.into(),
            json,
        }
    }

    /// The raw JSON, if it belongs to the provider named; `None` for every other.
    #[must_use]
    pub fn for_provider(&self, provider: &str) -> Option<&RawValue> {
        (self.provider == provider).then_some(&*self.json)
    }

    /// The provider this belongs to.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.provider
    }
}

impl PartialEq for OpaqueState {
    fn eq(&self, other: &Self) -> bool {
        self.provider == other.provider && self.json.get() == other.json.get()
    }
}

impl fmt::Debug for OpaqueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "OpaqueState({}, {} bytes)",
            self.provider,
            self.json.get().len()
        )
    }
}

// `Debug` of everything that holds a caller's or a model's words shows how much there is, not what:
// a debug print in somebody's log must not become a leak of prompts.

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} bytes)", self.text.len())
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data { media_type, data } => {
                write!(f, "Image({media_type}, {} bytes)", data.len())
            }
            Self::Url(url) => write!(f, "Image(url of {} bytes)", url.len()),
        }
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ToolCall({}, {}, {} bytes)",
            self.id,
            self.name,
            self.arguments.len()
        )
    }
}

impl fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.is_error { "error" } else { "ok" };
        write!(
            f,
            "ToolResult({}, {outcome}, {} bytes)",
            self.call_id,
            self.content.len()
        )
    }
}

impl fmt::Debug for Reasoning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reasoning({} bytes, {:?})", self.text.len(), self.state)
    }
}
