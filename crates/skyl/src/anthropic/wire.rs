//! The shapes of the Messages API: what is sent exactly, what is read as loosely as servers write.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::lenient::{Count, Object, Scalar};

/// The body of a request.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    pub(super) model: &'a str,
    pub(super) max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system: Option<&'a str>,
    pub(super) messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
}

#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'static str,
    pub(super) content: Vec<Block<'a>>,
}

/// A block of a turn: one of ours, or one of the provider's own going back untouched.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Block<'a> {
    Ours(Ours<'a>),
    Theirs(&'a RawValue),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Ours<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Thinking {
        thinking: &'a str,
        signature: String,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Base64 {
        media_type: &'a str,
        data: Cow<'a, str>,
    },
    Url {
        url: &'a str,
    },
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    pub(super) input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

#[derive(Serialize)]
pub(super) struct ToolChoice<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) disable_parallel_tool_use: bool,
}

#[derive(Serialize)]
pub(super) struct Thinking {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
}

#[derive(Serialize)]
pub(super) struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format<'a>>,
}

#[derive(Serialize)]
pub(super) struct Format<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) schema: &'a Value,
}

/// What goes back beside reasoning, as it is kept in a part's opaque state.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The signature of a thinking block; empty where the server gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
}

/// A whole answer, or an error in its place.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) model: Scalar<'a>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) stop_reason: Scalar<'a>,
    #[serde(borrow)]
    pub(super) stop_details: Object<StopDetails<'a>>,
    pub(super) usage: Object<Usage>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// One event of a stream. Which fields it has is by its type.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    pub(super) index: Count,
    #[serde(borrow)]
    pub(super) message: Object<Answer<'a>>,
    #[serde(borrow)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) delta: Object<Delta<'a>>,
    pub(super) usage: Object<Usage>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// A block of an answer; in a stream, its start.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Content<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) citations: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) signature: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) name: Scalar<'a>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

/// What an event adds to a block, or to the answer.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) partial_json: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) signature: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) stop_reason: Scalar<'a>,
    #[serde(borrow)]
    pub(super) stop_details: Object<StopDetails<'a>>,
}

/// What the words of a delta are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    Text,
    Thinking,
    Json,
}

impl<'a> Delta<'a> {
    /// The words of a delta, if it says what they are.
    pub(super) fn words(&self) -> Option<(&'a RawValue, Speech)> {
        match self.kind.get()? {
            "text_delta" => Some((self.text?, Speech::Text)),
            "thinking_delta" => Some((self.thinking?, Speech::Thinking)),
            "input_json_delta" => Some((self.partial_json?, Speech::Json)),
            _ => None,
        }
    }
}

/// Why an answer was refused, as far as the provider says.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct StopDetails<'a> {
    #[serde(borrow)]
    pub(super) explanation: Scalar<'a>,
    #[serde(borrow)]
    pub(super) category: Scalar<'a>,
}

/// The tokens of a call. `input_tokens` leaves out what was read from or written to a cache.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) input_tokens: Count,
    pub(super) cache_read_input_tokens: Count,
    pub(super) cache_creation_input_tokens: Count,
    /// The same by how long it is kept; some proxies give only this.
    pub(super) cache_creation: Object<CacheCreation>,
    pub(super) output_tokens: Count,
    pub(super) output_tokens_details: Object<OutputDetails>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct CacheCreation {
    ephemeral_5m_input_tokens: Count,
    ephemeral_1h_input_tokens: Count,
}

impl Usage {
    /// What was written to a cache.
    pub(super) fn cache_written(&self) -> Count {
        let by_age = self.cache_creation.0.unwrap_or_default();
        let parts = [
            by_age.ephemeral_5m_input_tokens,
            by_age.ephemeral_1h_input_tokens,
        ];
        let sum = parts
            .into_iter()
            .filter_map(|part| part.0)
            .reduce(u64::saturating_add);
        Count(self.cache_creation_input_tokens.0.or(sum))
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct OutputDetails {
    pub(super) thinking_tokens: Count,
}

/// A page of models.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Models<'a> {
    #[serde(borrow)]
    pub(super) data: Option<Vec<&'a RawValue>>,
    pub(super) has_more: Option<bool>,
    #[serde(borrow)]
    pub(super) last_id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Model<'a> {
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) display_name: Scalar<'a>,
    pub(super) max_input_tokens: Count,
    pub(super) max_tokens: Count,
}
