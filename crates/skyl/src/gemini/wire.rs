//! The shapes of generateContent: what is sent exactly, what is read as loosely as servers write.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::elements::each;
use crate::dialect::lenient::{Count, List, Object, Scalar};

/// The body of a request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system_instruction: Option<System<'a>>,
    pub(super) contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) generation_config: Option<GenerationConfig<'a>>,
}

#[derive(Serialize)]
pub(super) struct System<'a> {
    pub(super) parts: [SystemPart<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct SystemPart<'a> {
    pub(super) text: &'a str,
}

#[derive(Serialize)]
pub(super) struct Content<'a> {
    pub(super) role: &'static str,
    pub(super) parts: Vec<Part<'a>>,
}

/// A part of a turn: one of ours, or one of the provider's own going back untouched.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every part is one of ours"
)]
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Part<'a> {
    Ours(Ours<'a>),
    Theirs(Box<RawValue>),
}

/// Exactly one of the first five is set.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ours<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_data: Option<FileData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<Cow<'static, str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData<'a> {
    pub(super) mime_type: &'a str,
    pub(super) data: Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mime_type: Option<&'static str>,
    pub(super) file_uri: &'a str,
}

#[derive(Serialize)]
pub(super) struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) name: &'a str,
    pub(super) args: &'a RawValue,
}

#[derive(Serialize)]
pub(super) struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) name: &'a str,
    pub(super) response: Outcome<'a>,
}

/// What a tool gave back. The API wants an object; these are the keys it knows.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Outcome<'a> {
    Object(&'a RawValue),
    Output { output: ValueOrText<'a> },
    Error { error: ValueOrText<'a> },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ValueOrText<'a> {
    Value(&'a RawValue),
    Text(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tools<'a> {
    pub(super) function_declarations: Vec<FunctionDeclaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionDeclaration<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters_json_schema: Option<&'a Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig<'a> {
    pub(super) function_calling_config: FunctionCallingConfig<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionCallingConfig<'a> {
    pub(super) mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allowed_function_names: Option<[&'a str; 1]>,
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_json_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_config: Option<ThinkingConfig>,
}

#[derive(PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_budget: Option<u32>,
}

/// What goes back with a part, as it is kept in the part's opaque state.
#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<String>,
    /// The provider's own id of a call; ids made locally never go back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    /// A part skyl has no part for, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<Box<RawValue>>,
}

/// An answer, or one chunk of it, or an error in its place.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) candidates: List<Candidate<'a>>,
    #[serde(borrow)]
    pub(super) prompt_feedback: Object<PromptFeedback<'a>>,
    pub(super) usage_metadata: Object<Usage>,
    #[serde(borrow)]
    pub(super) model_version: Scalar<'a>,
    #[serde(borrow)]
    pub(super) response_id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl Chunk<'_> {
    /// Whether it has nothing an answer would have.
    pub(super) fn is_empty(&self) -> bool {
        self.candidates.is_empty()
            && self.prompt_feedback.0.is_none()
            && self.usage_metadata.0.is_none()
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    pub(super) index: Count,
    #[serde(borrow)]
    pub(super) content: Object<Parts<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Scalar<'a>,
    #[serde(borrow)]
    pub(super) finish_message: Scalar<'a>,
    safety_ratings: Skipped,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Parts<'a> {
    #[serde(borrow)]
    pub(super) parts: List<AnswerPart<'a>>,
}

/// A part as it stands in a chunk: the first readers leave the JSON of a part behind.
pub(super) fn raw_part(chunk: &str, candidate: usize, part: usize) -> Option<&RawValue> {
    let chunk: RawChunk<'_> = serde_json::from_str(chunk).ok()?;
    let parts = chunk.candidates.iter().nth(candidate)?.content.0.as_ref()?;
    let parts = parts.parts?;
    if parts.get().starts_with('{') {
        return Some(parts);
    }
    let (mut at, mut found) = (0, None);
    each(parts, |raw| {
        found = found.or((at == part).then_some(raw));
        at += 1;
    });
    found
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawChunk<'a> {
    #[serde(borrow)]
    candidates: List<RawCandidate<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawCandidate<'a> {
    #[serde(borrow)]
    content: Object<RawParts<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawParts<'a> {
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct AnswerPart<'a> {
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thought: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thought_signature: Scalar<'a>,
    #[serde(borrow)]
    pub(super) function_call: Object<AnswerCall<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AnswerCall<'a> {
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) name: Scalar<'a>,
    #[serde(borrow)]
    pub(super) args: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptFeedback<'a> {
    #[serde(borrow)]
    pub(super) block_reason: Scalar<'a>,
    #[serde(borrow)]
    pub(super) block_reason_message: Scalar<'a>,
}

/// The tokens of a call. `candidates` leaves out `thoughts`, and `prompt` leaves out `tool_use`.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    #[serde(rename = "promptTokenCount")]
    pub(super) prompt: Count,
    #[serde(rename = "toolUsePromptTokenCount")]
    pub(super) tool_use: Count,
    #[serde(rename = "cachedContentTokenCount")]
    pub(super) cached: Count,
    #[serde(rename = "candidatesTokenCount")]
    pub(super) candidates: Count,
    #[serde(rename = "thoughtsTokenCount")]
    pub(super) thoughts: Count,
    #[serde(rename = "promptTokensDetails")]
    prompt_details: Skipped,
    #[serde(rename = "candidatesTokensDetails")]
    candidates_details: Skipped,
    #[serde(rename = "cacheTokensDetails")]
    cache_details: Skipped,
}

/// Small lists beside the words, which a JSON reader would take memory to skip.
type Skipped = Count;

/// A page of models.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Models<'a> {
    #[serde(borrow, rename = "models")]
    pub(super) entries: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) next_page_token: Scalar<'a>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Model<'a> {
    #[serde(borrow)]
    pub(super) name: Scalar<'a>,
    #[serde(borrow)]
    pub(super) display_name: Scalar<'a>,
    pub(super) input_token_limit: Count,
    pub(super) output_token_limit: Count,
}
