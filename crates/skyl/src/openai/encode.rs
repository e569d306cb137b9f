//! Requests in the words of Chat Completions.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::dialect::{Encoded, Fault, Mode, json_body};
use crate::kind::ErrorKind;
use crate::message::{Image, Message, Part, Reasoning, Role, ToolResult};
use crate::openai::ids;
use crate::openai::quirks::{EffortField, Formats, Quirks, Replay, TokenLimit};
use crate::openai::wire::{
    CallSpec, CalledFunction, ChatRequest, Choose, Content, Format, FunctionSpec, JsonSchema, Name,
    Piece, StreamOptions, Thinking, ToolSpec, Turn, Url,
};
use crate::request::{Effort, Request, ResponseFormat, Tool, ToolChoice};
use crate::response::Warning;

/// Encodes a request, but for what the server's address adds to the path.
///
/// `provider` is the name under which the server's opaque state is kept.
pub(super) fn request(
    request: &Request,
    mode: Mode,
    quirks: &Quirks,
    provider: &str,
) -> Result<Encoded, Fault> {
    refuse(request, mode, quirks)?;
    let mut turns = Turns {
        quirks,
        provider,
        running: false,
        out: Vec::new(),
        dropped: Dropped::default(),
    };
    turns.system(request);
    let asked = request.messages.iter().rposition(|m| m.role == Role::User);
    for (at, message) in request.messages.iter().enumerate() {
        turns.running = asked.is_none_or(|asked| at > asked);
        turns.message(message);
    }
    let Turns {
        out: messages,
        dropped,
        ..
    } = turns;
    let limit = |field| request.max_tokens.filter(|_| quirks.token_limit == field);
    let effort = |field| {
        let effort = request.reasoning_effort.as_ref().map(Effort::as_str);
        effort.filter(|_| quirks.effort == field)
    };
    let stream = mode == Mode::Stream;
    // Servers refuse these two where there is nothing to choose from.
    let has_tools = !request.tools.is_empty() || request.provider_options.contains_key("tools");
    let body = ChatRequest {
        model: &request.model,
        messages,
        max_completion_tokens: limit(TokenLimit::MaxCompletionTokens),
        max_tokens: limit(TokenLimit::MaxTokens),
        temperature: request.temperature,
        top_p: request.top_p,
        stop: &request.stop,
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: request
            .tool_choice
            .as_ref()
            .filter(|_| has_tools)
            .map(|choice| choose(choice, quirks)),
        parallel_tool_calls: request.parallel_tool_calls.filter(|_| has_tools),
        response_format: request.response_format.as_ref().map(format),
        reasoning_effort: effort(EffortField::Word),
        reasoning: effort(EffortField::Object).map(|effort| Thinking { effort }),
        stream: stream.then_some(true),
        stream_options: (stream && quirks.stream_usage).then_some(StreamOptions {
            include_usage: true,
        }),
    };
    let mut encoded = Encoded::post(PATH, json_body(&body, &request.provider_options)?);
    encoded.warnings = dropped.into_warnings();
    if has_tools && !quirks.obeys_tool_choice && !may_ignore(request.tool_choice.as_ref()) {
        encoded.warnings.push(Warning::new(
            "tool_choice",
            "this server is known to ignore it",
        ));
    }
    Ok(encoded)
}

/// What cannot be expressed, or would make an answer that cannot be read.
fn refuse(request: &Request, mode: Mode, quirks: &Quirks) -> Result<(), Fault> {
    if let Some(most) = quirks.max_stops
        && request.stop.len() > most
    {
        let given = request.stop.len();
        return Err(Fault::unsupported(format!(
            "stop: {given} texts, and at most {most} are taken"
        )));
    }
    let format = match (&request.response_format, quirks.formats) {
        (Some(ResponseFormat::JsonSchema { .. }), Formats::ObjectOnly) => {
            Some("a JSON schema; this server knows JSON without one alone")
        }
        (Some(ResponseFormat::JsonObject), Formats::SchemaOnly) => {
            Some("JSON without a schema; this server wants one")
        }
        _ => None,
    };
    if let Some(why) = format {
        return Err(Fault::unsupported(format!("response format: {why}")));
    }
    if !quirks.fetches_images && request.messages.iter().any(has_address) {
        return Err(Fault::unsupported(
            "an image by its address: this server fetches none, send the bytes",
        ));
    }
    let option = |name: &str| {
        request
            .provider_options
            .get(name)
            .filter(|value| !value.is_null())
    };
    if option("n").is_some_and(|n| n.as_u64() != Some(1)) {
        return Err(Fault::unsupported(
            "provider option `n`: an answer is one choice; make several calls instead",
        ));
    }
    let streams = mode == Mode::Stream;
    if option("stream").is_some_and(|stream| stream.as_bool() != Some(streams)) {
        return Err(Fault::new(ErrorKind::BadRequest)
            .with_message("provider option `stream`: the call decides whether it streams"));
    }
    Ok(())
}

/// The messages while they are put together.
struct Turns<'a> {
    quirks: &'a Quirks,
    provider: &'a str,
    /// Whether the turn belongs to what the model does now: nobody has asked anything since.
    running: bool,
    out: Vec<Turn<'a>>,
    dropped: Dropped,
}

impl<'a> Turns<'a> {
    /// `system`, not `developer`: OpenAI takes both from every model, other servers only this one.
    fn system(&mut self, request: &'a Request) {
        if let Some(content) = request.system.as_deref() {
            self.out.push(Turn::System { content });
        }
    }

    fn message(&mut self, message: &'a Message) {
        match message.role {
            Role::User => self.user(message),
            Role::Assistant => self.assistant(message),
            Role::Tool => self.results(message),
        }
    }

    fn user(&mut self, message: &'a Message) {
        let mut pieces = Vec::with_capacity(message.parts.len());
        for part in &message.parts {
            match part {
                Part::Text(text) => {
                    self.dropped.state |= text.state.is_some();
                    pieces.push(Piece::Text { text: &text.text });
                }
                Part::Image(image) => pieces.push(Piece::ImageUrl {
                    image_url: Url { url: url(image) },
                }),
                // `Request::validate` keeps these out of user turns.
                Part::ToolCall(_) | Part::ToolResult(_) | Part::Reasoning(_) => {}
            }
        }
        if let Some(content) = content(pieces) {
            self.out.push(Turn::User { content });
        }
    }

    fn assistant(&mut self, message: &'a Message) {
        let mut pieces = Vec::new();
        let mut tool_calls = Vec::new();
        let mut reasoning = String::new();
        let mut reasoning_details = Vec::new();
        let wants_text = match self.quirks.replay {
            Replay::Text => true,
            Replay::ToolLoop => self.running && message.tool_calls().next().is_some(),
            Replay::Nothing | Replay::Details => false,
        };
        for part in &message.parts {
            match part {
                Part::Text(text) => {
                    self.dropped.state |= text.state.is_some();
                    self.dropped.order |= !tool_calls.is_empty();
                    pieces.push(Piece::Text { text: &text.text });
                }
                Part::ToolCall(call) => {
                    self.dropped.state |= call.state.is_some();
                    let arguments = match call.arguments.trim() {
                        "" => "{}",
                        _ => &call.arguments,
                    };
                    tool_calls.push(CallSpec {
                        id: ids::on_the_wire(&call.id, self.quirks.call_ids),
                        kind: "function",
                        function: CalledFunction {
                            name: &call.name,
                            arguments,
                        },
                    });
                }
                Part::Reasoning(part) => {
                    if let Some(details) = self.details(part) {
                        reasoning_details.extend(details);
                        continue;
                    }
                    let replayed = wants_text && !part.text.is_empty();
                    if replayed {
                        reasoning.push_str(&part.text);
                    }
                    self.dropped.reasoning |= !replayed;
                    self.dropped.state |= replayed && part.state.is_some();
                }
                // `Request::validate` keeps these out of assistant turns.
                Part::Image(_) | Part::ToolResult(_) => {}
            }
        }
        let mut content = content(pieces);
        let reasoning_content = Some(reasoning).filter(|text| !text.is_empty());
        if content.is_none() && tool_calls.is_empty() {
            // A turn of nothing but dropped reasoning is no turn: servers refuse an empty one.
            if reasoning_content.is_none() && reasoning_details.is_empty() {
                return;
            }
            // Null is for calls.
            content = Some(Content::Text(""));
        }
        self.out.push(Turn::Assistant {
            content,
            reasoning_content,
            reasoning_details,
            tool_calls,
        });
    }

    /// The entries this very server gave with a piece of reasoning, where it wants them back.
    fn details(&self, part: &'a Reasoning) -> Option<Vec<&'a RawValue>> {
        if self.quirks.replay != Replay::Details {
            return None;
        }
        let state = part.state.as_ref()?.for_provider(self.provider)?;
        serde_json::from_str(state.get()).ok()
    }

    /// Each result is a message of its own.
    fn results(&mut self, message: &'a Message) {
        for part in &message.parts {
            if let Part::ToolResult(result) = part {
                self.out.push(Turn::Tool {
                    tool_call_id: ids::on_the_wire(&result.call_id, self.quirks.call_ids),
                    content: told(result),
                });
            }
        }
    }
}

/// What was left out of the history, each told once.
#[derive(Default)]
struct Dropped {
    reasoning: bool,
    state: bool,
    order: bool,
}

impl Dropped {
    fn into_warnings(self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.reasoning {
            warnings.push(Warning::new(
                "messages",
                "reasoning of earlier turns is not sent: this server has no place for it",
            ));
        }
        if self.state {
            warnings.push(Warning::new(
                "messages",
                "state that another provider left beside text or calls is not sent",
            ));
        }
        if self.order {
            warnings.push(Warning::new(
                "messages",
                "text behind a tool call is sent ahead of it: this protocol knows one order",
            ));
        }
        warnings
    }
}

/// One text stands alone, since some servers take no lists; anything else is a list.
fn content(mut pieces: Vec<Piece<'_>>) -> Option<Content<'_>> {
    match pieces.as_mut_slice() {
        [] => None,
        [Piece::Text { text }] => Some(Content::Text(text)),
        _ => Some(Content::Parts(pieces)),
    }
}

pub(super) fn url(image: &Image) -> Cow<'_, str> {
    match image {
        Image::Url(url) => Cow::Borrowed(url),
        Image::Data { media_type, data } => {
            let mut url = format!("data:{media_type};base64,");
            STANDARD.encode_string(data, &mut url);
            Cow::Owned(url)
        }
    }
}

/// A result's text. The protocol has no field for failure, so the words have to say it.
pub(super) fn told(result: &ToolResult) -> Cow<'_, str> {
    match (result.is_error, result.content.is_empty()) {
        (false, _) => Cow::Borrowed(&result.content),
        (true, true) => Cow::Borrowed("error"),
        (true, false) => Cow::Owned(format!("error: {}", result.content)),
    }
}

fn tool(tool: &Tool) -> ToolSpec<'_> {
    // A tool without arguments still needs a schema that says so.
    let parameters = if tool
        .parameters
        .as_object()
        .is_some_and(serde_json::Map::is_empty)
    {
        Cow::Owned(no_arguments())
    } else {
        Cow::Borrowed(&tool.parameters)
    };
    ToolSpec {
        kind: "function",
        function: FunctionSpec {
            name: &tool.name,
            description: tool.description.as_deref(),
            parameters,
            strict: tool.strict,
        },
    }
}

pub(super) fn no_arguments() -> Value {
    json!({"type": "object", "properties": {}})
}

fn choose<'a>(choice: &'a ToolChoice, quirks: &Quirks) -> Choose<'a> {
    match choice {
        ToolChoice::Auto => Choose::Word("auto"),
        ToolChoice::None => Choose::Word("none"),
        ToolChoice::Required => Choose::Word(quirks.must_call),
        ToolChoice::Tool(name) => Choose::Function {
            kind: "function",
            function: Name { name },
        },
    }
}

/// Whether a server that knows no tool choice does as it says all the same.
fn may_ignore(choice: Option<&ToolChoice>) -> bool {
    matches!(choice, None | Some(ToolChoice::Auto))
}

/// Whether a message holds an image that would have to be fetched.
fn has_address(message: &Message) -> bool {
    message
        .parts
        .iter()
        .any(|part| matches!(part, Part::Image(Image::Url(url)) if !url.starts_with("data:")))
}

fn format(format: &ResponseFormat) -> Format<'_> {
    match format {
        ResponseFormat::JsonObject => Format::JsonObject,
        ResponseFormat::JsonSchema {
            name,
            schema,
            strict,
        } => Format::JsonSchema {
            json_schema: JsonSchema {
                name: if name.is_empty() { "response" } else { name },
                strict: *strict,
                schema,
            },
        },
    }
}

const PATH: &str = "/chat/completions";

#[cfg(test)]
mod tests;
