//! From a request to a body of generateContent.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::NAME;
use super::wire::{
    Body, Content, FileData, FunctionCall, FunctionCallingConfig, FunctionDeclaration,
    FunctionResponse, GenerationConfig, InlineData, Ours, Outcome, Part, State, System, SystemPart,
    ThinkingConfig, ToolConfig, Tools, ValueOrText,
};
use crate::dialect::{Encoded, Fault, Mode, json_body};
use crate::kind::ErrorKind;
use crate::message::{self, OpaqueState, ToolCall, ToolResult};
use crate::native::{History, Picture, Speaker, Turn, segment};
use crate::request::{Effort, Request, ResponseFormat, ToolChoice};
use crate::response::Warning;

/// Encodes a request; `prefix` is the version segment that the base URL lacks.
pub(super) fn request(request: &Request, mode: Mode, prefix: &str) -> Result<Encoded, Fault> {
    let mut warnings = Vec::new();
    let history = History::read(&request.messages)?;
    let body = Body {
        system_instruction: request
            .system
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(|text| System {
                parts: [SystemPart { text }],
            }),
        contents: contents(&history, &mut warnings)?,
        tools: tools(request, &mut warnings),
        tool_config: tool_config(request, &mut warnings),
        generation_config: Some(generation_config(request, &mut warnings)?)
            .filter(|config| *config != GenerationConfig::default()),
    };
    let method = match mode {
        Mode::Complete => "generateContent",
        Mode::Stream => "streamGenerateContent?alt=sse",
    };
    let path = format!("{prefix}/{}:{method}", model_path(&request.model));
    let mut encoded = Encoded::post(path, json_body(&body, &request.provider_options)?);
    encoded.warnings = warnings;
    Ok(encoded)
}

/// Encodes the request for a page of models.
pub(super) fn models(cursor: Option<&str>, prefix: &str) -> Encoded {
    let mut path = format!("{prefix}/models?pageSize={PAGE}");
    if let Some(cursor) = cursor {
        path.push_str("&pageToken=");
        path.push_str(&segment(cursor));
    }
    Encoded::get(path)
}

/// The model's place in the path; names in lists come with their collection.
fn model_path(model: &str) -> String {
    let (collection, name) = ["models/", "tunedModels/"]
        .iter()
        .find_map(|collection| Some((*collection, model.strip_prefix(collection)?)))
        .unwrap_or(("models/", model));
    format!("{collection}{}", segment(name))
}

fn tools<'a>(request: &'a Request, warnings: &mut Vec<Warning>) -> Vec<Tools<'a>> {
    if request.tools.is_empty() {
        return Vec::new();
    }
    if request.tools.iter().any(|tool| tool.strict == Some(true)) {
        warnings.push(Warning::new("tools", "strict cannot be asked for per tool"));
    }
    let function_declarations = request
        .tools
        .iter()
        .map(|tool| FunctionDeclaration {
            name: &tool.name,
            description: tool.description.as_deref(),
            // An empty schema says nothing, and here that is said by leaving it out.
            parameters_json_schema: Some(&tool.parameters)
                .filter(|schema| schema.as_object().is_none_or(|schema| !schema.is_empty())),
        })
        .collect();
    vec![Tools {
        function_declarations,
    }]
}

fn tool_config<'a>(request: &'a Request, warnings: &mut Vec<Warning>) -> Option<ToolConfig<'a>> {
    if request.tools.is_empty() && !request.provider_options.contains_key("tools") {
        return None;
    }
    if request.parallel_tool_calls == Some(false) {
        warnings.push(Warning::new(
            "parallel_tool_calls",
            "this provider cannot be kept from calling several tools at once",
        ));
    }
    let (mode, name) = match request.tool_choice.as_ref()? {
        ToolChoice::Auto => ("AUTO", None),
        ToolChoice::None => ("NONE", None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::Tool(name) => ("ANY", Some([name.as_str()])),
    };
    let function_calling_config = FunctionCallingConfig {
        mode,
        allowed_function_names: name,
    };
    Some(ToolConfig {
        function_calling_config,
    })
}

fn generation_config<'a>(
    request: &'a Request,
    warnings: &mut Vec<Warning>,
) -> Result<GenerationConfig<'a>, Fault> {
    let candidates = request
        .provider_options
        .get("generationConfig")
        .and_then(|config| config.get("candidateCount"));
    if candidates.is_some_and(|count| !count.is_null() && *count != 1) {
        return Err(Fault::unsupported(
            "provider option `candidateCount`: an answer is one candidate; make several calls",
        ));
    }
    if request.stop.len() > MAX_STOPS {
        return Err(Fault::unsupported(format!(
            "at most {MAX_STOPS} stop texts"
        )));
    }
    let (response_mime_type, response_json_schema) = match &request.response_format {
        None => (None, None),
        Some(ResponseFormat::JsonObject) => (Some(JSON), None),
        Some(ResponseFormat::JsonSchema { schema, strict, .. }) => {
            if !strict {
                warnings.push(Warning::new(
                    "response_format",
                    "this provider always holds the answer to the schema",
                ));
            }
            (Some(JSON), Some(schema))
        }
    };
    Ok(GenerationConfig {
        max_output_tokens: request.max_tokens,
        temperature: request.temperature,
        top_p: request.top_p,
        stop_sequences: &request.stop,
        response_mime_type,
        response_json_schema,
        thinking_config: match &request.reasoning_effort {
            Some(effort) => Some(thinking(&request.model, effort, warnings)?),
            None => None,
        },
    })
}

/// Effort as a level or, for models that know none, as a budget; see the module's page.
fn thinking(
    model: &str,
    effort: &Effort,
    warnings: &mut Vec<Warning>,
) -> Result<ThinkingConfig, Fault> {
    let budget = |tokens| ThinkingConfig {
        include_thoughts: tokens > 0,
        thinking_level: None,
        thinking_budget: Some(tokens),
    };
    let level = |word: &str| ThinkingConfig {
        include_thoughts: true,
        thinking_level: Some(word.to_ascii_uppercase()),
        thinking_budget: None,
    };
    if *effort == Effort::None {
        return Ok(budget(0));
    }
    let beyond = matches!(effort, Effort::XHigh | Effort::Max);
    if beyond {
        warnings.push(Warning::new(
            "reasoning_effort",
            format!("{} is sent as the most this provider has", effort.as_str()),
        ));
    }
    if !["gemini-1", "gemini-2"]
        .iter()
        .any(|name| model.contains(name))
    {
        return Ok(level(if beyond { "high" } else { effort.as_str() }));
    }
    Ok(budget(match effort {
        Effort::Minimal => 512,
        Effort::Low => 1_024,
        Effort::Medium => 8_192,
        Effort::High => 16_384,
        Effort::XHigh | Effort::Max => 24_576,
        Effort::None | Effort::Other(_) => {
            return Err(Fault::unsupported(
                "this model knows no effort of that name; set a thinkingBudget in provider options",
            ));
        }
    }))
}

fn contents<'a>(
    history: &History<'a>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Content<'a>>, Fault> {
    let states: Vec<State> = history
        .calls
        .iter()
        .map(|call| state(call.state.as_ref()).unwrap_or_default())
        .collect();
    let mut turns = Turns {
        calls: &history.calls,
        states,
        reasoning: 0,
        foreign: 0,
    };
    let mut contents: Vec<Content<'a>> = Vec::with_capacity(history.turns.len());
    for turn in &history.turns {
        let parts = turns.parts(turn)?;
        let role = match turn.speaker {
            Speaker::User => "user",
            Speaker::Model => "model",
        };
        match contents.last_mut() {
            _ if parts.is_empty() => {
                let at = turn.pieces.first().map_or(0, |piece| piece.message);
                warnings.push(Warning::new(
                    format!("messages[{at}]"),
                    "a turn with nothing to send is left out",
                ));
            }
            // Only where the turn between them was left out.
            Some(last) if last.role == role => last.parts.extend(parts),
            _ => contents.push(Content { role, parts }),
        }
    }
    turns.warn(warnings);
    Ok(contents)
}

/// What the turns of one request share while they are encoded.
struct Turns<'h, 'a> {
    calls: &'h [&'a ToolCall],
    /// What goes back with each call.
    states: Vec<State>,
    /// Parts of reasoning that were left out.
    reasoning: usize,
    /// States of other providers that were left out.
    foreign: usize,
}

impl<'a> Turns<'_, 'a> {
    fn parts(&mut self, turn: &Turn<'a>) -> Result<Vec<Part<'a>>, Fault> {
        let mut parts = Vec::with_capacity(turn.results.len() + turn.pieces.len());
        for (call, result) in &turn.results {
            parts.push(Part::Ours(Ours {
                function_response: Some(FunctionResponse {
                    id: self.states.get(*call).and_then(|state| state.id.clone()),
                    name: self.calls.get(*call).map_or("", |call| &call.name),
                    response: outcome(result),
                }),
                ..Ours::default()
            }));
        }
        let mut first_call = true;
        for piece in &turn.pieces {
            match piece.part {
                message::Part::Text(text) => {
                    let thought_signature = self.signature(text.state.as_ref());
                    // The API refuses a part that holds nothing at all.
                    if !text.text.is_empty() || thought_signature.is_some() {
                        parts.push(Part::Ours(Ours {
                            text: Some(&text.text),
                            thought_signature,
                            ..Ours::default()
                        }));
                    }
                }
                message::Part::Image(image) => parts.push(Part::Ours(picture(image)?)),
                message::Part::ToolCall(call) => {
                    let mut thought_signature = self.signature(call.state.as_ref());
                    // One signature covers the calls of a turn, and the API looks at the first.
                    if first_call && thought_signature.is_none() {
                        thought_signature = Some(SKIP_VALIDATION.into());
                    }
                    first_call = false;
                    let state = piece.call.and_then(|call| self.states.get(call));
                    parts.push(Part::Ours(Ours {
                        function_call: Some(FunctionCall {
                            id: state.and_then(|state| state.id.clone()),
                            name: &call.name,
                            args: args(call)?,
                        }),
                        thought_signature,
                        ..Ours::default()
                    }));
                }
                message::Part::Reasoning(reasoning) => match state(reasoning.state.as_ref()) {
                    Some(State {
                        part: Some(part), ..
                    }) => parts.push(Part::Theirs(part)),
                    Some(State {
                        thought_signature: Some(signature),
                        ..
                    }) => {
                        parts.push(Part::Ours(Ours {
                            text: Some(&reasoning.text),
                            thought: true,
                            thought_signature: Some(signature.into()),
                            ..Ours::default()
                        }));
                    }
                    _ => self.reasoning += 1,
                },
                // `History` keeps results apart.
                message::Part::ToolResult(_) => {}
            }
        }
        Ok(parts)
    }

    /// The signature beside a part; a state of another provider is counted instead.
    fn signature(&mut self, kept: Option<&OpaqueState>) -> Option<Cow<'static, str>> {
        let state = state(kept);
        self.foreign += usize::from(kept.is_some() && state.is_none());
        state?
            .thought_signature
            .filter(|signature| !signature.is_empty())
            .map(Cow::Owned)
    }

    fn warn(&self, warnings: &mut Vec<Warning>) {
        if self.reasoning > 0 {
            warnings.push(Warning::new(
                "messages",
                format!(
                    "reasoning without this provider's signature is left out ({})",
                    self.reasoning
                ),
            ));
        }
        if self.foreign > 0 {
            warnings.push(Warning::new(
                "messages",
                format!(
                    "opaque state of another provider is left out ({})",
                    self.foreign
                ),
            ));
        }
    }
}

/// This provider's state beside a part; `None` where there is none, or another's.
fn state(kept: Option<&OpaqueState>) -> Option<State> {
    serde_json::from_str(kept?.for_provider(NAME)?.get()).ok()
}

fn picture(image: &message::Image) -> Result<Ours<'_>, Fault> {
    Ok(match Picture::read(image)? {
        Picture::Inline { media_type, data } => Ours {
            inline_data: Some(InlineData {
                mime_type: media_type,
                data,
            }),
            ..Ours::default()
        },
        Picture::Url(url) => Ours {
            file_data: Some(FileData {
                mime_type: media_type(url),
                file_uri: url,
            }),
            ..Ours::default()
        },
    })
}

/// The media type a file's name tells; without one the API looks itself.
fn media_type(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let extension = path.rsplit_once('.')?.1.to_ascii_lowercase();
    Some(match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "heic" => "image/heic",
        "heif" => "image/heif",
        _ => return None,
    })
}

/// The arguments as the model wrote them; they must be one JSON object.
fn args(call: &ToolCall) -> Result<&RawValue, Fault> {
    let text = match call.arguments.trim() {
        "" => "{}",
        arguments => arguments,
    };
    object(text).ok_or_else(|| {
        Fault::new(ErrorKind::BadRequest).with_message(format!(
            "the arguments of tool call `{}` must be one JSON object",
            call.id
        ))
    })
}

/// A result as the object the API wants.
fn outcome(result: &ToolResult) -> Outcome<'_> {
    let text = result.content.as_str();
    let object = object(text);
    let value = object.map_or(ValueOrText::Text(text), ValueOrText::Value);
    match object {
        _ if result.is_error => Outcome::Error { error: value },
        // An object of these keys would be read as an outcome itself, so it is wrapped in one.
        Some(raw) if !has_outcome_key(raw) => Outcome::Object(raw),
        _ => Outcome::Output { output: value },
    }
}

fn has_outcome_key(raw: &RawValue) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw.get())
        .is_ok_and(|object| object.contains_key("output") || object.contains_key("error"))
}

fn object(text: &str) -> Option<&RawValue> {
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// The most models a page may hold.
const PAGE: u32 = 1_000;
/// The most stop texts the API takes (vendor's reference of `GenerationConfig`).
const MAX_STOPS: usize = 5;
const JSON: &str = "application/json";
/// What the API accepts where a call of another provider has no signature (vendor's page on them).
const SKIP_VALIDATION: &str = "skip_thought_signature_validator";
