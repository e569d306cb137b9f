//! Requests in the words of the Responses API.

use std::borrow::Cow;
use std::collections::HashSet;

use super::wire::{
    Body, Choose, Format, Item, Ours, Piece, Replay, TextOptions, TextState, Thinking, ToolSpec,
};
use crate::dialect::lenient::{Object, is_blank};
use crate::dialect::{Encoded, Fault, Mode, json_body};
use crate::kind::ErrorKind;
use crate::message::{OpaqueState, Part, Reasoning, Text, ToolCall};
use crate::native::{History, Speaker, Turn};
use crate::openai::encode::{no_arguments, told, url};
use crate::openai::ids;
use crate::openai::quirks::CallIds;
use crate::request::{Effort, Request, ResponseFormat, Tool, ToolChoice};
use crate::response::Warning;

/// Encodes a request, but for what the server's address adds to the path.
pub(super) fn request(request: &Request, mode: Mode, family: &str) -> Result<Encoded, Fault> {
    refuse(request, mode)?;
    let server_side = SERVER_SIDE
        .iter()
        .any(|name| option(request, name).is_some());
    let history = if server_side {
        History::read_open(&request.messages)
    } else {
        History::read(&request.messages)?
    };
    let mut turns = Turns {
        family,
        stored: option(request, "store").is_some_and(|store| store == true),
        ids: wire_ids(&history.calls),
        input: Vec::with_capacity(request.messages.len()),
        foreign: Foreign::default(),
        replayed: false,
    };
    for turn in &history.turns {
        turns.turn(turn);
    }
    turns.leave_unfollowed();
    let Turns {
        input,
        foreign,
        replayed,
        ..
    } = turns;
    // Servers refuse these two where there is nothing to choose from.
    let has_tools = !request.tools.is_empty() || request.provider_options.contains_key("tools");
    let body = Body {
        model: &request.model,
        instructions: request
            .system
            .as_deref()
            .filter(|system| !system.is_empty()),
        input,
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: request
            .tool_choice
            .as_ref()
            .filter(|_| has_tools)
            .map(choose),
        parallel_tool_calls: request.parallel_tool_calls.filter(|_| has_tools),
        reasoning: request.reasoning_effort.as_ref().map(|effort| Thinking {
            effort: effort.as_str(),
        }),
        text: request.response_format.as_ref().map(|format| TextOptions {
            format: self::format(format),
        }),
        include: if replayed || thinks(request) {
            INCLUDE
        } else {
            &[]
        },
        max_output_tokens: request.max_tokens,
        temperature: request.temperature,
        top_p: request.top_p,
        store: false,
        stream: (mode == Mode::Stream).then_some(true),
    };
    let mut encoded = Encoded::post(PATH, json_body(&body, &request.provider_options)?);
    encoded.warnings = foreign.into_warnings();
    Ok(encoded)
}

/// What cannot be expressed, or would make an answer that cannot be read.
fn refuse(request: &Request, mode: Mode) -> Result<(), Fault> {
    if !request.stop.is_empty() {
        return Err(Fault::unsupported(
            "stop: this API has no stop texts; Chat Completions has",
        ));
    }
    if let Some(limit) = request.max_tokens.filter(|limit| *limit < LEAST_TOKENS)
        && option(request, "max_output_tokens").is_none()
    {
        return Err(Fault::unsupported(format!(
            "max_tokens: {limit}, and this API takes none below {LEAST_TOKENS}"
        )));
    }
    if option(request, "background").is_some_and(|background| background == true) {
        return Err(Fault::unsupported(
            "provider option `background`: the answer would come later, and nobody would ask for it",
        ));
    }
    let streams = mode == Mode::Stream;
    if option(request, "stream").is_some_and(|stream| *stream != streams) {
        return Err(Fault::new(ErrorKind::BadRequest)
            .with_message("provider option `stream`: the call decides whether it streams"));
    }
    Ok(())
}

/// A provider option that says something.
fn option<'a>(request: &'a Request, name: &str) -> Option<&'a serde_json::Value> {
    request
        .provider_options
        .get(name)
        .filter(|value| !value.is_null())
}

/// Whether the model is asked to reason, so that its reasoning has to come in a form to send back.
fn thinks(request: &Request) -> bool {
    let none = |effort: &str| effort == Effort::None.as_str();
    let effort = request.reasoning_effort.as_ref();
    effort.is_some_and(|effort| !none(effort.as_str()))
        || option(request, "reasoning").is_some_and(|reasoning| {
            let given = reasoning.get("effort").and_then(serde_json::Value::as_str);
            given.map_or(effort.is_none(), |effort| !none(effort))
        })
}

/// The input while it is put together.
struct Turns<'a> {
    family: &'a str,
    /// Whether the provider keeps answers, so that items can go back by their ids alone.
    stored: bool,
    ids: Vec<Cow<'a, str>>,
    input: Vec<Item<'a>>,
    foreign: Foreign,
    /// Whether reasoning goes back, so that the model is one that reasons.
    replayed: bool,
}

impl<'a> Turns<'a> {
    fn turn(&mut self, turn: &Turn<'a>) {
        if turn.speaker == Speaker::User {
            self.leave_unfollowed();
        }
        for result in &turn.strays {
            self.output(Cow::Borrowed(&result.call_id), result);
        }
        for (call, result) in &turn.results {
            self.output(self.id(*call), result);
        }
        let mut message = None;
        for piece in &turn.pieces {
            // Messages of the caller stay messages.
            let begins = message.replace(piece.message) != Some(piece.message);
            match piece.part {
                Part::Text(text) if turn.speaker == Speaker::User => {
                    self.foreign.note(text.state.as_ref());
                    self.say(begins, "user", None, Piece::InputText { text: &text.text });
                }
                Part::Text(text) => self.assistant(begins, text),
                Part::Image(image) => {
                    let image_url = url(image);
                    let detail = "auto";
                    self.say(
                        begins,
                        "user",
                        None,
                        Piece::InputImage { image_url, detail },
                    );
                }
                Part::ToolCall(call) => {
                    self.foreign.note(call.state.as_ref());
                    let call_id = piece
                        .call
                        .map_or(Cow::Borrowed(&*call.id), |call| self.id(call));
                    let arguments = match call.arguments.trim() {
                        "" => "{}",
                        _ => &call.arguments,
                    };
                    self.input.push(Item::Ours(Ours::FunctionCall {
                        call_id,
                        name: &call.name,
                        arguments,
                    }));
                }
                Part::Reasoning(reasoning) => match self.replay(reasoning) {
                    Some(item) => self.input.push(item),
                    None => self.foreign.reasoning += 1,
                },
                // `History` keeps results apart.
                Part::ToolResult(_) => {}
            }
        }
    }

    /// Text of an earlier answer, with the phase it was said in.
    fn assistant(&mut self, begins: bool, text: &'a Text) {
        let own = text
            .state
            .as_ref()
            .and_then(|state| state.for_provider(self.family))
            .and_then(|raw| serde_json::from_str::<TextState>(raw.get()).ok());
        if own.is_none() {
            self.foreign.note(text.state.as_ref());
        }
        // An empty text says nothing.
        if !text.text.is_empty() {
            let phase = own.map(|state| Cow::Owned(state.phase));
            let piece = Piece::OutputText { text: &text.text };
            self.say(begins, "assistant", phase, piece);
        }
    }

    /// Adds a piece to the last message, or begins one.
    fn say(
        &mut self,
        begins: bool,
        speaker: &'static str,
        said_in: Option<Cow<'a, str>>,
        piece: Piece<'a>,
    ) {
        match self.input.last_mut() {
            Some(Item::Message {
                role,
                phase,
                content,
            }) if !begins && *role == speaker && *phase == said_in => content.push(piece),
            _ => self.input.push(Item::Message {
                role: speaker,
                phase: said_in,
                content: vec![piece],
            }),
        }
    }

    fn output(&mut self, call_id: Cow<'a, str>, result: &'a crate::message::ToolResult) {
        self.input.push(Item::Ours(Ours::FunctionCallOutput {
            call_id,
            output: told(result),
        }));
    }

    /// A reasoning item as it came; `None` where it is not this provider's, or nothing in it can
    /// go back.
    fn replay(&mut self, reasoning: &'a Reasoning) -> Option<Item<'a>> {
        let raw = reasoning.state.as_ref()?.for_provider(self.family)?;
        let Ok(Object(Some(item))) = serde_json::from_str::<Object<Replay<'_>>>(raw.get()) else {
            return None;
        };
        if item.kind.get() != Some("reasoning") {
            return Some(Item::Theirs(raw));
        }
        let in_words = item.content.is_some_and(|content| !is_blank(content));
        let encrypted = item.encrypted_content.get().is_some();
        self.replayed |= encrypted;
        (encrypted || in_words || self.stored).then_some(Item::Reasoning(raw))
    }

    /// Takes reasoning back that nothing of its answer follows: the API refuses it. Such is what a
    /// limit leaves that ends an answer within its reasoning.
    fn leave_unfollowed(&mut self) {
        while let Some(Item::Reasoning(_)) = self.input.last() {
            self.input.pop();
            self.foreign.unfollowed += 1;
        }
    }

    fn id(&self, call: usize) -> Cow<'a, str> {
        self.ids.get(call).cloned().unwrap_or_default()
    }
}

/// An id for each call, by its number: the given one, made short and unique.
fn wire_ids<'a>(calls: &[&'a ToolCall]) -> Vec<Cow<'a, str>> {
    let mut used = HashSet::new();
    let ids = calls.iter().map(|call| {
        let id = ids::on_the_wire(&call.id, CallIds::UpTo40);
        if used.insert(id.clone()) {
            return id;
        }
        let mut n = 1_usize;
        loop {
            n += 1;
            let other = ids::on_the_wire(&format!("{id}_{n}"), CallIds::UpTo40).into_owned();
            if used.insert(Cow::Owned(other.clone())) {
                return Cow::Owned(other);
            }
        }
    });
    ids.collect()
}

/// What the history holds and this provider has no use for.
#[derive(Default)]
struct Foreign {
    reasoning: usize,
    unfollowed: usize,
    states: usize,
}

impl Foreign {
    fn note(&mut self, state: Option<&OpaqueState>) {
        self.states += usize::from(state.is_some());
    }

    fn into_warnings(self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.reasoning > 0 {
            warnings.push(Warning::new(
                "messages",
                format!(
                    "reasoning without this provider's encrypted content is left out ({})",
                    self.reasoning
                ),
            ));
        }
        if self.unfollowed > 0 {
            warnings.push(Warning::new(
                "messages",
                format!(
                    "reasoning that no answer follows is left out ({})",
                    self.unfollowed
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
        warnings
    }
}

fn tool(tool: &Tool) -> ToolSpec<'_> {
    // A tool without arguments still needs a schema that says so.
    let empty = tool
        .parameters
        .as_object()
        .is_some_and(serde_json::Map::is_empty);
    ToolSpec {
        kind: "function",
        name: &tool.name,
        description: tool.description.as_deref(),
        parameters: if empty {
            Cow::Owned(no_arguments())
        } else {
            Cow::Borrowed(&tool.parameters)
        },
        // This API's own default is true, and refuses most schemas there are.
        strict: tool.strict.unwrap_or(false),
    }
}

fn choose(choice: &ToolChoice) -> Choose<'_> {
    match choice {
        ToolChoice::Auto => Choose::Word("auto"),
        ToolChoice::None => Choose::Word("none"),
        ToolChoice::Required => Choose::Word("required"),
        ToolChoice::Tool(name) => Choose::Function {
            kind: "function",
            name,
        },
    }
}

fn format(format: &ResponseFormat) -> Format<'_> {
    match format {
        ResponseFormat::JsonObject => Format::JsonObject,
        ResponseFormat::JsonSchema {
            name,
            schema,
            strict,
        } => Format::JsonSchema {
            name: if name.is_empty() { "response" } else { name },
            strict: *strict,
            schema,
        },
    }
}

const PATH: &str = "/responses";

/// The least limit the vendor's reference gives.
const LEAST_TOKENS: u32 = 16;

/// Asks for reasoning in a form that can go back, as nothing is kept at the provider.
const INCLUDE: &[&str] = &["reasoning.encrypted_content"];

/// Options that put a part of the history on the provider's side.
const SERVER_SIDE: [&str; 2] = ["previous_response_id", "conversation"];
