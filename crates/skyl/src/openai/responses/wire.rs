//! The Responses API as it stands on the wire: what is sent, and what may come back.
//!
//! What is sent is exact. What comes back is optional in every field and doubted in every type.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::lenient::{Count, Object, Scalar};
use crate::response::Usage;

/// The body of a request.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    pub(super) model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<&'a str>,
    pub(super) input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<ToolSpec<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Choose<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<Thinking<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<TextOptions<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    pub(super) store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
}

/// An item of the input: one of ours, or one of the provider's own going back untouched.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Item<'a> {
    Message {
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<Cow<'a, str>>,
        content: Vec<Piece<'a>>,
    },
    Ours(Ours<'a>),
    Reasoning(&'a RawValue),
    Theirs(&'a RawValue),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Ours<'a> {
    FunctionCall {
        call_id: Cow<'a, str>,
        name: &'a str,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: Cow<'a, str>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Piece<'a> {
    InputText {
        text: &'a str,
    },
    InputImage {
        /// A plain text here, unlike in Chat Completions.
        image_url: Cow<'a, str>,
        detail: &'static str,
    },
    OutputText {
        text: &'a str,
    },
}

/// A tool on offer; flat, unlike in Chat Completions.
#[derive(Serialize)]
pub(super) struct ToolSpec<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    pub(super) parameters: Cow<'a, Value>,
    pub(super) strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Choose<'a> {
    Word(&'static str),
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        name: &'a str,
    },
}

#[derive(Serialize)]
pub(super) struct Thinking<'a> {
    pub(super) effort: &'a str,
}

#[derive(Serialize)]
pub(super) struct TextOptions<'a> {
    pub(super) format: Format<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Format<'a> {
    JsonObject,
    JsonSchema {
        name: &'a str,
        strict: bool,
        schema: &'a Value,
    },
}

/// What goes back beside a text, as it is kept in the part's opaque state.
#[derive(Serialize, Deserialize)]
pub(super) struct TextState {
    /// Whether the words were a commentary or the final answer; the vendor wants it back.
    pub(super) phase: String,
}

/// A whole answer; at the end of a stream, in its last event.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer<'a> {
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) object: Scalar<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) model: Scalar<'a>,
    #[serde(borrow)]
    pub(super) status: Scalar<'a>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) incomplete_details: Object<Why<'a>>,
    pub(super) usage: Object<Cost>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// Why an answer ended early.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Why<'a> {
    #[serde(borrow)]
    pub(super) reason: Scalar<'a>,
}

/// One event of a stream. Which fields it has is by its type.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) object: Scalar<'a>,
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) item_id: Scalar<'a>,
    pub(super) output_index: Count,
    pub(super) content_index: Count,
    pub(super) summary_index: Count,
    #[serde(borrow)]
    pub(super) delta: Option<&'a RawValue>,
    /// What changes with every delta and says nothing: its number, and noise that hides how long
    /// the words are.
    #[serde(borrow)]
    pub(super) sequence_number: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) obfuscation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    pub(super) usage: Object<Cost>,
}

/// One item of an answer.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Output<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) call_id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) name: Scalar<'a>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    /// The free text of a custom tool's call.
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) phase: Scalar<'a>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) summary: Option<&'a RawValue>,
}

/// What decides whether a reasoning item can go back.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Replay<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) encrypted_content: Scalar<'a>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
}

/// A part of a message or of a reasoning item.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) annotations: Option<&'a RawValue>,
}

/// What an answer cost: the input includes the cache, the output the reasoning.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cost {
    input_tokens: Count,
    input_tokens_details: Object<InputDetails>,
    output_tokens: Count,
    output_tokens_details: Object<OutputDetails>,
    /// The older protocol's names, which servers in between keep.
    prompt_tokens: Count,
    completion_tokens: Count,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Count,
}

impl Cost {
    /// The figures as they stand.
    pub(super) fn usage(&self) -> Usage {
        let input = self.input_tokens_details.0.unwrap_or_default();
        let output = self.output_tokens_details.0.unwrap_or_default();
        Usage {
            input_tokens: self.input_tokens.0.or(self.prompt_tokens.0),
            output_tokens: self.output_tokens.0.or(self.completion_tokens.0),
            cache_read_tokens: input.cached_tokens.0,
            cache_write_tokens: input.cache_write_tokens.0,
            reasoning_tokens: output.reasoning_tokens.0,
        }
    }
}
