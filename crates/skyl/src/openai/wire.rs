//! Chat Completions as it stands on the wire: what is sent, and what may come back.
//!
//! What is sent is exact. What comes back is optional in every field and doubted in every type,
//! since dozens of servers speak this protocol with an accent; see `dialect::lenient`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::elements::each;
use crate::dialect::lenient::{
    Count, List, Object, Rare, RareList, Scalar, compact, is_blank, string,
};
use crate::response::Usage;

/// A request, apart from the field for the token limit, whose name differs between servers.
#[derive(Serialize)]
pub(super) struct ChatRequest<'a> {
    pub(super) model: &'a str,
    pub(super) messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) stop: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<ToolSpec<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Choose<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<Thinking<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<StreamOptions>,
}

/// How hard to think, as `OpenRouter` takes it.
#[derive(Serialize)]
pub(super) struct Thinking<'a> {
    pub(super) effort: &'a str,
}

/// One message.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum Turn<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// `null` beside calls, where nothing was said.
        content: Option<Content<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        reasoning_details: Vec<&'a RawValue>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<CallSpec<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Cow<'a, str>,
    },
}

/// Text alone, or parts.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Piece<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: Url<'a> },
}

#[derive(Serialize)]
pub(super) struct Url<'a> {
    pub(super) url: Cow<'a, str>,
}

/// A call of the history.
#[derive(Serialize)]
pub(super) struct CallSpec<'a> {
    pub(super) id: Cow<'a, str>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: CalledFunction<'a>,
}

#[derive(Serialize)]
pub(super) struct CalledFunction<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
}

/// A tool on offer.
#[derive(Serialize)]
pub(super) struct ToolSpec<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: FunctionSpec<'a>,
}

#[derive(Serialize)]
pub(super) struct FunctionSpec<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    pub(super) parameters: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Choose<'a> {
    Word(&'static str),
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        function: Name<'a>,
    },
}

#[derive(Serialize)]
pub(super) struct Name<'a> {
    pub(super) name: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Format<'a> {
    JsonObject,
    JsonSchema { json_schema: JsonSchema<'a> },
}

#[derive(Serialize)]
pub(super) struct JsonSchema<'a> {
    pub(super) name: &'a str,
    pub(super) strict: bool,
    pub(super) schema: &'a Value,
}

#[derive(Serialize)]
pub(super) struct StreamOptions {
    pub(super) include_usage: bool,
}

/// A whole answer, or one chunk of a stream: the same fields, but for `message` and `delta`.
///
/// What a chunk of text does not have is boxed. A reader hands these values up level by level, and
/// each level moves them whole.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) model: Scalar<'a>,
    #[serde(borrow)]
    pub(super) object: Scalar<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) choices: List<Choice<'a>>,
    pub(super) usage: Object<Cost>,
    #[serde(borrow)]
    pub(super) x_groq: Rare<Groq<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    pub(super) base_resp: Object<BaseResp>,
    /// Noise that hides how long the words are: OpenAI's, and Mistral's.
    #[serde(borrow)]
    pub(super) obfuscation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) p: Option<&'a RawValue>,
}

/// How `MiniMax` says whether it went well; anything but zero is an error.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct BaseResp {
    pub(super) status_code: Count,
}

/// What Groq adds beside the answer.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Groq<'a> {
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    pub(super) usage: Object<Cost>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    pub(super) index: Count,
    #[serde(borrow)]
    pub(super) delta: Object<Said<'a>>,
    #[serde(borrow)]
    pub(super) message: Rare<Said<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Scalar<'a>,
    /// Moonshot puts the usage here.
    pub(super) usage: Rare<Cost>,
    /// OpenRouter puts the error here too.
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    /// What is said, in the shape of the older completions.
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
}

/// A message or a piece of one.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Said<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
    /// `OpenRouter`: the reasoning once more, with its signatures.
    #[serde(borrow)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_calls: RareList<Call<'a>>,
    /// One call in the protocol's first form, which some servers still speak.
    #[serde(borrow)]
    pub(super) function_call: Rare<Function<'a>>,
    /// Some gateways leave the usage here.
    pub(super) usage: Rare<Cost>,
}

/// A call or a piece of one.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Call<'a> {
    pub(super) index: Count,
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) function: Object<Function<'a>>,
    /// A custom tool's call, whose input is free text.
    #[serde(borrow)]
    pub(super) custom: Rare<Function<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Scalar<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// A piece of what was said, by what it is for the caller.
pub(super) enum Words<'a> {
    Text(Cow<'a, str>),
    Reasoning(Cow<'a, str>),
    Refusal(Cow<'a, str>),
    /// A part of a kind skyl does not know.
    Unknown,
}

/// What the only words of a chunk are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    Text,
    Reasoning,
}

impl<'a> Said<'a> {
    /// Hands out the words in order: reasoning, content, refusal. Empty words may be among them.
    pub(super) fn words(&self, mut hand_out: impl FnMut(Words<'a>)) {
        // Some servers send the same reasoning under both names, so only one of them is read.
        let reasoning = [self.reasoning_content, self.reasoning]
            .into_iter()
            .flatten();
        let reasoning = reasoning.map(|raw| string(raw).unwrap_or_else(|| thought(raw)));
        if let Some(text) = reasoning.into_iter().find(|text| !text.is_empty()) {
            hand_out(Words::Reasoning(text));
        } else if let Some(details) = self.reasoning_details {
            hand_out(Words::Reasoning(thought(details)));
        }
        match self.content {
            Some(content) if content.get().starts_with('[') => parts(content, &mut hand_out),
            Some(content) => match string(content) {
                Some(text) => hand_out(Words::Text(text)),
                None if is_blank(content) => {}
                // One part where a list of them belongs.
                None => part(content, &mut hand_out),
            },
            None => {}
        }
        if let Some(text) = self.refusal.and_then(string) {
            hand_out(Words::Refusal(text));
        }
    }
}

impl<'a> Body<'a> {
    /// The words, if this is a chunk that holds them and nothing else to act on.
    pub(super) fn lone_words(&self) -> Option<(&'a RawValue, Speech)> {
        let mut choices = self.choices.iter();
        let (Some(choice), None) = (choices.next(), choices.next()) else {
            return None;
        };
        let first = choice.index.0.unwrap_or(0) == 0;
        let ends = choice.finish_reason.get().is_some() || choice.message.0.is_some();
        if !first || ends || self.usages().next().is_some() {
            return None;
        }
        choice.delta.0.as_ref()?.lone_words()
    }
}

impl<'a> Said<'a> {
    fn lone_words(&self) -> Option<(&'a RawValue, Speech)> {
        let acts = self.reasoning_details.is_some()
            || self.function_call.0.is_some()
            || self.tool_calls.iter().next().is_some();
        let silent = |field: Option<&RawValue>| field.is_none_or(is_blank);
        if acts || !silent(self.refusal) {
            return None;
        }
        match (self.content, self.reasoning, self.reasoning_content) {
            (Some(content), one, other) if silent(one) && silent(other) => {
                if content.get().starts_with('[') {
                    return lone_part(content);
                }
                Some((content, Speech::Text))
            }
            (content, Some(words), None) | (content, None, Some(words)) if silent(content) => {
                Some((words, Speech::Reasoning))
            }
            _ => None,
        }
    }
}

impl<'a> Call<'a> {
    /// The function that is called, in whichever field it stands.
    pub(super) fn called(&self) -> Option<&Function<'a>> {
        self.function.0.as_ref().or(self.custom.0.as_deref())
    }
}

impl<'a> Function<'a> {
    /// The arguments as text: as they stand in a string, or the JSON itself where a server
    /// forgot to make a string of it; `None` for null.
    pub(super) fn arguments(&self) -> Option<Cow<'a, str>> {
        let raw = self.arguments.or(self.input)?;
        Some(string(raw).unwrap_or_else(|| Cow::Owned(compact(raw))))
    }
}

/// The words of a content list, as Mistral sends it.
fn parts<'a>(content: &'a RawValue, hand_out: &mut impl FnMut(Words<'a>)) {
    // Whoever asks has seen that it is a list.
    let _is_list = each(content, |raw| match string(raw) {
        Some(text) => hand_out(Words::Text(text)),
        None => part(raw, hand_out),
    });
}

/// The words of a content list of one part.
fn lone_part(content: &RawValue) -> Option<(&RawValue, Speech)> {
    let part = only(content)?;
    match part.thinking {
        Some(thinking) if thinking.get().starts_with('[') => {
            Some((only(thinking)?.text?, Speech::Reasoning))
        }
        Some(_) => None,
        None if part.refusal.is_some() || part.kind.get() == Some("thinking") => None,
        None => Some((part.text?, Speech::Text)),
    }
}

/// The only part of a list.
fn only(list: &RawValue) -> Option<ContentPart<'_>> {
    let (mut first, mut count) = (None, 0_usize);
    each(list, |raw| {
        first.get_or_insert(raw);
        count += 1;
    });
    let first: &RawValue = first.filter(|_| count == 1)?;
    let Object(part) = serde_json::from_str(first.get()).ok()?;
    part
}

/// The words of one part.
fn part<'a>(raw: &'a RawValue, hand_out: &mut impl FnMut(Words<'a>)) {
    match serde_json::from_str::<Object<ContentPart<'a>>>(raw.get()) {
        Ok(Object(Some(part))) => hand_out(part.words()),
        _ => hand_out(Words::Unknown),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContentPart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
}

impl<'a> ContentPart<'a> {
    fn words(&self) -> Words<'a> {
        if let Some(thinking) = self.thinking {
            return Words::Reasoning(string(thinking).unwrap_or_else(|| thought(thinking)));
        }
        if let Some(refusal) = self.refusal.and_then(string) {
            return Words::Refusal(refusal);
        }
        match self.text.and_then(string) {
            Some(text) if self.kind.get() == Some("thinking") => Words::Reasoning(text),
            Some(text) => Words::Text(text),
            None => Words::Unknown,
        }
    }
}

/// The text in a list of thinking: its own small content list, or one of reasoning details.
fn thought(list: &RawValue) -> Cow<'_, str> {
    let mut thought = String::new();
    if let Ok(list) = serde_json::from_str::<List<ContentPart<'_>>>(list.get()) {
        list.iter()
            .filter_map(|part| part.text.or(part.summary).and_then(string))
            .for_each(|text| thought += &*text);
    }
    Cow::Owned(thought)
}

/// What it cost, under every name in use.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cost {
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: Object<InputDetails>,
    completion_tokens_details: Object<OutputDetails>,
    /// DeepSeek.
    prompt_cache_hit_tokens: Count,
    /// Moonshot.
    cached_tokens: Count,
    /// Servers that count as newer protocols do.
    input_tokens: Count,
    output_tokens: Count,
    reasoning_tokens: Count,
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
    /// The totals as they stand: the input includes the cache, the output the reasoning.
    pub(super) fn usage(&self) -> Usage {
        let input = self.prompt_tokens_details.0.unwrap_or_default();
        let output = self.completion_tokens_details.0.unwrap_or_default();
        Usage {
            input_tokens: self.prompt_tokens.0.or(self.input_tokens.0),
            output_tokens: self.completion_tokens.0.or(self.output_tokens.0),
            cache_read_tokens: input
                .cached_tokens
                .0
                .or(self.prompt_cache_hit_tokens.0)
                .or(self.cached_tokens.0),
            cache_write_tokens: input.cache_write_tokens.0,
            reasoning_tokens: output.reasoning_tokens.0.or(self.reasoning_tokens.0),
        }
    }
}

impl Body<'_> {
    /// Every usage in the body, from the general to the particular.
    pub(super) fn usages(&self) -> impl Iterator<Item = Usage> {
        let choice = self.choices.iter().flat_map(|choice| {
            let said = [choice.message.0.as_deref(), choice.delta.0.as_ref()];
            let said = said.into_iter().flatten();
            said.filter_map(|said| said.usage.0.as_deref())
                .chain(choice.usage.0.as_deref())
        });
        let groq = self
            .x_groq
            .0
            .iter()
            .filter_map(|groq| groq.usage.0.as_ref());
        self.usage
            .0
            .iter()
            .chain(choice)
            .chain(groq)
            .map(Cost::usage)
    }
}
