//! From a request to a body of the Messages API.

use std::borrow::Cow;
use std::collections::HashSet;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use super::NAME;
use super::wire::{
    Block, Body, Format, Message, Ours, OutputConfig, Source, State, Thinking, Tool, ToolChoice,
};
use crate::dialect::{Encoded, Fault, Mode, json_body};
use crate::kind::ErrorKind;
use crate::message::{OpaqueState, Part, Reasoning, ToolCall};
use crate::native::{History, Picture, Speaker, Turn, segment};
use crate::request::{self, Effort, Request, ResponseFormat};
use crate::response::Warning;

/// Encodes a request; `no_sampling` where the API version takes no `temperature` and `top_p`.
pub(super) fn request(request: &Request, mode: Mode, no_sampling: bool) -> Result<Encoded, Fault> {
    check_sampling(request, no_sampling)?;
    check_stream_option(request, mode)?;
    let mut warnings = Vec::new();
    let history = History::read(&request.messages)?;
    let tool_choice = tool_choice(request);
    let (thinking, effort) = thinking(request, tool_choice.as_ref(), &mut warnings);
    let format = format(request, &mut warnings)?;
    let body = Body {
        model: &request.model,
        max_tokens: request
            .max_tokens
            .unwrap_or_else(|| default_max_tokens(&request.model)),
        system: request
            .system
            .as_deref()
            .filter(|system| !system.is_empty()),
        messages: messages(&history, &mut warnings)?,
        tools: request.tools.iter().map(tool).collect(),
        tool_choice,
        thinking,
        output_config: (effort.is_some() || format.is_some())
            .then_some(OutputConfig { effort, format }),
        stop_sequences: &request.stop,
        temperature: request.temperature,
        top_p: request.top_p,
        stream: (mode == Mode::Stream).then_some(true),
    };
    let mut encoded = Encoded::post("/v1/messages", json_body(&body, &request.provider_options)?);
    encoded.warnings = warnings;
    Ok(encoded)
}

/// Encodes the request for a page of models.
pub(super) fn models(cursor: Option<&str>) -> Encoded {
    let mut path = format!("/v1/models?limit={PAGE}");
    if let Some(cursor) = cursor {
        path.push_str("&after_id=");
        path.push_str(&segment(cursor));
    }
    Encoded::get(path)
}

/// Puts in the version, which the API requires, and the betas.
pub(super) fn headers(
    headers: &mut HeaderMap,
    version: &str,
    betas: &[String],
) -> Result<(), Fault> {
    let value = |name: &str, text: &str| {
        HeaderValue::from_str(text).map_err(|_| {
            Fault::new(ErrorKind::BadRequest)
                .with_message(format!("{name} holds a character no header can carry"))
        })
    };
    headers.insert(ANTHROPIC_VERSION, value("version", version)?);
    if !betas.is_empty() {
        headers.insert(ANTHROPIC_BETA, value("beta", &betas.join(","))?);
    }
    Ok(())
}

fn check_sampling(request: &Request, no_sampling: bool) -> Result<(), Fault> {
    let set = [
        ("temperature", request.temperature),
        ("top_p", request.top_p),
    ];
    if no_sampling && let Some((name, _)) = set.iter().find(|(_, value)| value.is_some()) {
        return Err(Fault::unsupported(format!(
            "{name} is refused by this version of the API"
        )));
    }
    if request
        .temperature
        .is_some_and(|temperature| temperature > 1.0)
    {
        return Err(Fault::unsupported("temperature must be at most 1"));
    }
    Ok(())
}

/// A body that streams although the call does not, or the other way round, could not be read.
fn check_stream_option(request: &Request, mode: Mode) -> Result<(), Fault> {
    match request.provider_options.get("stream") {
        Some(stream) if !stream.is_null() && *stream != (mode == Mode::Stream) => {
            Err(Fault::new(ErrorKind::BadRequest)
                .with_message("provider option `stream`: the call decides whether it streams"))
        }
        _ => Ok(()),
    }
}

/// The limit of an answer for a model that the caller set none for; see the module's page.
fn default_max_tokens(model: &str) -> u32 {
    let Some(rest) = model.strip_prefix("claude-") else {
        return 4_096;
    };
    if rest.starts_with("3-5-") {
        8_192
    } else if ["3-opus", "3-sonnet", "3-haiku", "2", "instant"]
        .iter()
        .any(|m| rest.starts_with(m))
    {
        4_096
    } else {
        21_333
    }
}

fn tool(tool: &request::Tool) -> Tool<'_> {
    let mut schema = Cow::Borrowed(&tool.parameters);
    // A tool without parameters often comes as `{}`, which the API refuses.
    if let Value::Object(members) = &tool.parameters
        && !members.contains_key("type")
    {
        let mut typed = serde_json::Map::new();
        typed.insert("type".to_owned(), "object".into());
        typed.extend(members.clone());
        schema = Cow::Owned(Value::Object(typed));
    }
    Tool {
        name: &tool.name,
        description: tool.description.as_deref(),
        input_schema: schema,
        strict: tool.strict,
    }
}

fn tool_choice(request: &Request) -> Option<ToolChoice<'_>> {
    // Without tools the API refuses a choice, and the choice has nothing to say.
    if request.tools.is_empty() && !request.provider_options.contains_key("tools") {
        return None;
    }
    let one_at_a_time = request.parallel_tool_calls == Some(false);
    let (kind, name) = match &request.tool_choice {
        None if one_at_a_time => ("auto", None),
        None => return None,
        Some(request::ToolChoice::Auto) => ("auto", None),
        Some(request::ToolChoice::None) => ("none", None),
        Some(request::ToolChoice::Required) => ("any", None),
        Some(request::ToolChoice::Tool(name)) => ("tool", Some(name.as_str())),
    };
    let disable_parallel_tool_use = one_at_a_time && kind != "none";
    Some(ToolChoice {
        kind,
        name,
        disable_parallel_tool_use,
    })
}

/// Effort in the API's two places: whether the model thinks, and how hard it works.
fn thinking<'a>(
    request: &'a Request,
    tool_choice: Option<&ToolChoice<'_>>,
    warnings: &mut Vec<Warning>,
) -> (Option<Thinking>, Option<&'a str>) {
    let effort = match &request.reasoning_effort {
        None => return (None, None),
        Some(Effort::None) => return (Some(Thinking { kind: "disabled" }), None),
        Some(Effort::Minimal) => {
            warnings.push(Warning::new("reasoning_effort", "minimal is sent as low"));
            Effort::Low.as_str()
        }
        Some(effort) => effort.as_str(),
    };
    // The API refuses thinking together with a forced call; the effort still counts.
    if tool_choice.is_some_and(|choice| matches!(choice.kind, "any" | "tool")) {
        warnings.push(Warning::new(
            "reasoning_effort",
            "thinking is left out, since the tool choice forces a call",
        ));
        return (None, Some(effort));
    }
    (Some(Thinking { kind: "adaptive" }), Some(effort))
}

fn format<'a>(
    request: &'a Request,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Format<'a>>, Fault> {
    match &request.response_format {
        None => Ok(None),
        Some(ResponseFormat::JsonObject) => Err(Fault::unsupported(
            "response format: JSON needs a schema with this provider",
        )),
        Some(ResponseFormat::JsonSchema { schema, strict, .. }) => {
            if !strict {
                warnings.push(Warning::new(
                    "response_format",
                    "this provider always holds the answer to the schema",
                ));
            }
            Ok(Some(Format {
                kind: "json_schema",
                schema,
            }))
        }
    }
}

fn messages<'a>(
    history: &History<'a>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Message<'a>>, Fault> {
    let mut turns = Turns {
        ids: wire_ids(&history.calls),
        foreign: Foreign::default(),
    };
    let mut messages: Vec<Message<'a>> = Vec::with_capacity(history.turns.len());
    for turn in &history.turns {
        let content = turns.content(turn)?;
        let role = match turn.speaker {
            Speaker::User => "user",
            Speaker::Model => "assistant",
        };
        let at = turn.pieces.first().map_or(0, |piece| piece.message);
        match messages.last_mut() {
            _ if content.is_empty() && turn.speaker == Speaker::User => {
                return Err(Fault::unsupported(format!(
                    "message {at}: this provider takes no turn of empty text"
                )));
            }
            _ if content.is_empty() => {
                warnings.push(Warning::new(
                    format!("messages[{at}]"),
                    "an assistant turn with nothing to send is left out",
                ));
            }
            None if turn.speaker == Speaker::Model => {
                return Err(Fault::unsupported("the first message must be the user's"));
            }
            // Only where the turn between them was left out.
            Some(last) if last.role == role => last.content.extend(content),
            _ => messages.push(Message { role, content }),
        }
    }
    turns.foreign.warn(warnings);
    Ok(messages)
}

/// What the turns of one request share while they are encoded.
struct Turns<'a> {
    ids: Vec<Cow<'a, str>>,
    foreign: Foreign,
}

impl<'a> Turns<'a> {
    fn content(&mut self, turn: &Turn<'a>) -> Result<Vec<Block<'a>>, Fault> {
        let mut content = Vec::with_capacity(turn.results.len() + turn.pieces.len());
        for (call, result) in &turn.results {
            content.push(Block::Ours(Ours::ToolResult {
                tool_use_id: self.id(*call),
                content: Some(result.content.as_str()).filter(|content| !content.is_empty()),
                is_error: result.is_error,
            }));
        }
        for piece in &turn.pieces {
            match piece.part {
                Part::Text(text) => {
                    self.foreign.note(text.state.as_ref());
                    // The API refuses empty text, and an empty text says nothing.
                    if !text.text.is_empty() {
                        content.push(Block::Ours(Ours::Text { text: &text.text }));
                    }
                }
                Part::Image(image) => {
                    let source = match Picture::read(image)? {
                        Picture::Inline { media_type, data } => Source::Base64 { media_type, data },
                        Picture::Url(url) => Source::Url { url },
                    };
                    content.push(Block::Ours(Ours::Image { source }));
                }
                Part::ToolCall(call) => {
                    self.foreign.note(call.state.as_ref());
                    content.push(Block::Ours(Ours::ToolUse {
                        id: piece.call.map_or(Cow::Borrowed(""), |call| self.id(call)),
                        name: &call.name,
                        input: input(call)?,
                    }));
                }
                Part::Reasoning(reasoning) => match replay(reasoning) {
                    Some(block) => content.push(block),
                    None => self.foreign.reasoning += 1,
                },
                // `History` keeps results apart.
                Part::ToolResult(_) => {}
            }
        }
        Ok(content)
    }

    fn id(&self, call: usize) -> Cow<'a, str> {
        self.ids.get(call).cloned().unwrap_or_default()
    }
}

/// The arguments as the model wrote them; they must be one JSON object.
fn input(call: &ToolCall) -> Result<&RawValue, Fault> {
    let text = match call.arguments.trim() {
        "" => "{}",
        arguments => arguments,
    };
    serde_json::from_str::<&RawValue>(text)
        .ok()
        .filter(|raw| raw.get().starts_with('{'))
        .ok_or_else(|| {
            Fault::new(ErrorKind::BadRequest).with_message(format!(
                "the arguments of tool call `{}` must be one JSON object",
                call.id
            ))
        })
}

/// Reasoning as the block it came as; `None` where it is not this provider's.
fn replay(reasoning: &Reasoning) -> Option<Block<'_>> {
    let raw = reasoning.state.as_ref()?.for_provider(NAME)?;
    let state: State = serde_json::from_str(raw.get()).ok()?;
    if state.kind != "thinking" {
        return Some(Block::Theirs(raw));
    }
    let signature = state.signature.filter(|signature| !signature.is_empty())?;
    Some(Block::Ours(Ours::Thinking {
        thinking: &reasoning.text,
        signature,
    }))
}

/// Ids the API accepts (letters, digits, `_`, `-`), each used once, by the number of the call.
fn wire_ids<'a>(calls: &[&'a ToolCall]) -> Vec<Cow<'a, str>> {
    let sound = |id: &str| {
        !id.is_empty()
            && id
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    let given: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    let mut used = HashSet::new();
    let mut made = 0_usize;
    calls
        .iter()
        .map(|call| {
            let id = call.id.as_str();
            if sound(id) && used.insert(id) {
                return Cow::Borrowed(id);
            }
            loop {
                let id = format!("call_{made}");
                made += 1;
                if !given.contains(id.as_str()) {
                    return Cow::Owned(id);
                }
            }
        })
        .collect()
}

/// What other providers left in the history and this one has no use for.
#[derive(Default)]
struct Foreign {
    reasoning: usize,
    states: usize,
}

impl Foreign {
    /// Nothing of this provider's is kept beside text and calls, so any state is another's.
    fn note(&mut self, state: Option<&OpaqueState>) {
        self.states += usize::from(state.is_some());
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
        if self.states > 0 {
            warnings.push(Warning::new(
                "messages",
                format!(
                    "opaque state of another provider is left out ({})",
                    self.states
                ),
            ));
        }
    }
}

/// The most models a page may hold.
const PAGE: u32 = 1_000;
const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const ANTHROPIC_BETA: HeaderName = HeaderName::from_static("anthropic-beta");
