//! Reading a request as strictly as the provider does.

use serde_json::{Map, Value, json};

use super::{input::Input, refusal::Refusal};
use crate::mounts::{says::Asked, words::Wanted};

/// What the answer depends on, and what it says again.
#[derive(Debug)]
pub(super) struct Asks {
    pub(super) asked: Asked,
    pub(super) stream: bool,
    /// Whether the pieces of a stream are padded to hide their lengths.
    pub(super) obfuscate: bool,
    /// Fields of the request that the answer repeats.
    pub(super) echo: Map<String, Value>,
}

/// The request as a JSON object with the model it names: all a fault needs.
pub(super) fn document(body: &[u8]) -> Result<(Map<String, Value>, String), Refusal> {
    let Ok(Value::Object(request)) = serde_json::from_slice(body) else {
        return Err(Refusal::unreadable());
    };
    match request.get("model") {
        Some(Value::String(model)) if !model.is_empty() => {
            let model = model.clone();
            Ok((request, model))
        }
        None | Some(Value::Null) => Err(Refusal::missing("model")),
        Some(other) => Err(Refusal::kind("model", "a string", other)),
    }
}

impl Asks {
    pub(super) fn read(request: &Map<String, Value>, model: &str) -> Result<Self, Refusal> {
        fields(request)?;
        elsewhere(request)?;
        sampling(request, model)?;
        reasoning(request)?;
        include(request)?;
        let limit = limit(request)?;
        let (tools, wanted) = tools_and_choice(request)?;
        let input = Input::read(request.get("input"))?;
        let schema = schema(request)?;
        let instructions = match request.get("instructions") {
            None | Some(Value::Null) => "",
            Some(Value::String(text)) => text,
            Some(other) => return Err(Refusal::kind("instructions", "a string", other)),
        };
        if flag(request, "background")? == Some(true) {
            let message = "sandbox: answers in the background are not played.";
            return Err(Refusal::invalid(message, "background"));
        }
        let parallel = flag(request, "parallel_tool_calls")?.unwrap_or(true);
        flag(request, "store")?;
        let options = request.get("stream_options");
        let obfuscate = options.and_then(|options| options.get("include_obfuscation"));
        Ok(Self {
            asked: Asked {
                model: model.to_owned(),
                max_tokens: limit,
                stops: Vec::new(),
                prompt: input.prompt,
                tool_result: input.tool_result,
                input: format!("{instructions}\n{}", input.words),
                tools,
                wanted,
                parallel,
                schema,
            },
            stream: flag(request, "stream")?.unwrap_or(false),
            obfuscate: obfuscate != Some(&json!(false)),
            echo: ECHOED
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), request.get(*name)?.clone())))
                .filter(|(_, value)| !value.is_null())
                .collect(),
        })
    }
}

/// Fields there are none of, or no more.
fn fields(request: &Map<String, Value>) -> Result<(), Refusal> {
    for name in request.keys().map(String::as_str) {
        if let Some((_, to)) = MOVED.iter().find(|(from, _)| *from == name) {
            return Err(Refusal::moved(name, to));
        }
        if !FIELDS.contains(&name) {
            return Err(Refusal::unknown(name));
        }
    }
    Ok(())
}

/// What would have to be kept here, and is not.
fn elsewhere(request: &Map<String, Value>) -> Result<(), Refusal> {
    let given = |name: &str| request.get(name).filter(|value| !value.is_null());
    let previous = given("previous_response_id");
    let conversation = given("conversation");
    match (previous, conversation) {
        (Some(_), Some(_)) => {
            let message = "Mutually exclusive parameters: 'previous_response_id' and \
                           'conversation'. Ensure you are only providing one.";
            Err(Refusal::invalid(message, "previous_response_id"))
        }
        (Some(Value::String(id)), None) => Err(Refusal::previous(id)),
        (Some(other), None) => Err(Refusal::kind("previous_response_id", "a string", other)),
        (None, Some(conversation)) => {
            let id = conversation.get("id").unwrap_or(conversation);
            let id = id.as_str().unwrap_or_default();
            Err(Refusal::no_conversation(id))
        }
        (None, None) => Ok(()),
    }
}

/// Temperature and the like; the model that reasons takes none of them.
fn sampling(request: &Map<String, Value>, model: &str) -> Result<(), Refusal> {
    let effort = request
        .get("reasoning")
        .and_then(|reasoning| reasoning.get("effort"));
    let reasons = model == "sandbox-reasoning" && effort != Some(&json!("none"));
    for (name, most) in [("temperature", 2.0), ("top_p", 1.0), ("top_logprobs", 20.0)] {
        match request.get(name) {
            None | Some(Value::Null) => {}
            Some(_) if reasons => return Err(Refusal::unsupported(name)),
            Some(value) => match value.as_f64() {
                Some(number) if (0.0..=most).contains(&number) => {}
                Some(_) => {
                    let message = format!(
                        "Invalid '{name}': expected a value between 0 and {most}, but got {value} \
                         instead."
                    );
                    return Err(Refusal::invalid(message, name));
                }
                None => return Err(Refusal::kind(name, "a decimal number", value)),
            },
        }
    }
    Ok(())
}

fn reasoning(request: &Map<String, Value>) -> Result<(), Refusal> {
    let reasoning = match request.get("reasoning") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(reasoning)) => reasoning,
        Some(other) => return Err(Refusal::kind("reasoning", "an object", other)),
    };
    for (name, known) in [("effort", &EFFORTS[..]), ("summary", &SUMMARIES[..])] {
        match reasoning.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(word)) if known.contains(&word.as_str()) => {}
            Some(Value::String(word)) => {
                return Err(Refusal::value(&format!("reasoning.{name}"), word, known));
            }
            Some(other) => {
                return Err(Refusal::kind(
                    &format!("reasoning.{name}"),
                    "a string",
                    other,
                ));
            }
        }
    }
    Ok(())
}

fn include(request: &Map<String, Value>) -> Result<(), Refusal> {
    let list = match request.get("include") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(Refusal::kind("include", "an array of strings", other)),
    };
    for (at, word) in list.iter().enumerate() {
        let param = format!("include[{at}]");
        match word.as_str() {
            Some(word) if INCLUDABLE.contains(&word) => {}
            Some(word) => return Err(Refusal::value(&param, word, &INCLUDABLE)),
            None => return Err(Refusal::kind(&param, "a string", word)),
        }
    }
    Ok(())
}

fn limit(request: &Map<String, Value>) -> Result<Option<u64>, Refusal> {
    let name = "max_output_tokens";
    match request.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) if value.is_i64() || value.is_u64() => {
            let limit = value.as_u64().filter(|limit| *limit >= LEAST_TOKENS);
            let below = || Refusal::below(name, LEAST_TOKENS, value);
            limit.map(Some).ok_or_else(below)
        }
        Some(other) => Err(Refusal::kind(name, "an integer", other)),
    }
}

/// The functions that may be called, and whether one must be.
fn tools_and_choice(request: &Map<String, Value>) -> Result<(Vec<String>, Wanted), Refusal> {
    let mut tools = tools(request)?;
    let any = request
        .get("tools")
        .and_then(Value::as_array)
        .is_some_and(|tools| !tools.is_empty());
    let choice = match request.get("tool_choice") {
        None | Some(Value::Null) => return Ok((tools, Wanted::Auto)),
        Some(_) if !any => {
            let message = "Tool choice is only allowed when 'tools' are specified.";
            return Err(Refusal::invalid(message, "tool_choice"));
        }
        Some(choice) => choice,
    };
    let absent = |name: &str| {
        let message = format!("Tool choice '{name}' not found in 'tools' parameter.");
        Refusal::invalid(message, "tool_choice")
    };
    let wanted = match choice {
        Value::String(word) => mode(word, "tool_choice")?,
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("function" | "custom") => match fields.get("name").and_then(Value::as_str) {
                None => return Err(Refusal::missing("tool_choice.name")),
                Some(name) if tools.iter().any(|tool| tool == name) => {
                    Wanted::Named(name.to_owned())
                }
                Some(name) => return Err(absent(name)),
            },
            Some("allowed_tools") => {
                let word = fields.get("mode").and_then(Value::as_str);
                let wanted = mode(word.unwrap_or_default(), "tool_choice.mode")?;
                let list = fields.get("tools").and_then(Value::as_array);
                let list = list.ok_or_else(|| Refusal::missing("tool_choice.tools"))?;
                let named = |tool: &Value| Some(tool.get("name")?.as_str()?.to_owned());
                let allowed: Vec<_> = list.iter().filter_map(named).collect();
                if let Some(name) = allowed.iter().find(|name| !tools.contains(name)) {
                    return Err(absent(name));
                }
                tools.retain(|tool| allowed.contains(tool));
                wanted
            }
            // The provider's own tools, which nobody here can use.
            Some(kind) if BUILT_IN.contains(&kind) => Wanted::None,
            Some(kind) => return Err(Refusal::value("tool_choice.type", kind, &CHOICES)),
            None => return Err(Refusal::missing("tool_choice.type")),
        },
        other => return Err(Refusal::kind("tool_choice", "a string or an object", other)),
    };
    Ok((tools, wanted))
}

fn mode(word: &str, param: &str) -> Result<Wanted, Refusal> {
    match word {
        "auto" => Ok(Wanted::Auto),
        "none" => Ok(Wanted::None),
        "required" => Ok(Wanted::Required),
        other => Err(Refusal::value(param, other, &["none", "auto", "required"])),
    }
}

/// The names of the functions on offer.
fn tools(request: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let list = match request.get("tools") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(Refusal::kind("tools", "an array of tools", other)),
    };
    let mut names = Vec::new();
    for (at, tool) in list.iter().enumerate() {
        let at = format!("tools[{at}]");
        match tool.get("type").and_then(Value::as_str) {
            Some("function" | "custom") => match tool.get("name").and_then(Value::as_str) {
                Some(name) if !name.is_empty() => names.push(name.to_owned()),
                // What it comes to where a tool is nested as in Chat Completions.
                _ => return Err(Refusal::missing(&format!("{at}.name"))),
            },
            Some(kind) if BUILT_IN.contains(&kind) => {}
            Some(kind) => {
                let known: Vec<&str> = [&["function", "custom"][..], &BUILT_IN].concat();
                return Err(Refusal::value(&format!("{at}.type"), kind, &known));
            }
            None => return Err(Refusal::missing(&format!("{at}.type"))),
        }
    }
    Ok(names)
}

fn schema(request: &Map<String, Value>) -> Result<Option<Value>, Refusal> {
    let format = match request.get("text") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(text)) => text.get("format").filter(|format| !format.is_null()),
        Some(other) => return Err(Refusal::kind("text", "an object", other)),
    };
    let Some(format) = format else {
        return Ok(None);
    };
    match format.get("type").and_then(Value::as_str) {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(
            json!({"type": "object", "properties": {"answer": {}}}),
        )),
        Some("json_schema") => {
            let name = format.get("name").and_then(Value::as_str);
            if name.is_none_or(str::is_empty) {
                return Err(Refusal::missing("text.format.name"));
            }
            let Some(schema @ Value::Object(_)) = format.get("schema") else {
                return Err(Refusal::missing("text.format.schema"));
            };
            Ok(Some(schema.clone()))
        }
        Some(kind) => Err(Refusal::value("text.format.type", kind, &FORMATS)),
        None => Err(Refusal::missing("text.format.type")),
    }
}

fn flag(request: &Map<String, Value>, name: &'static str) -> Result<Option<bool>, Refusal> {
    match request.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(other) => Err(Refusal::kind(name, "a boolean", other)),
    }
}

/// The provider's least limit.
const LEAST_TOKENS: u64 = 16;

/// What a Chat Completions request says, and what it is called here.
const MOVED: [(&str, &str); 6] = [
    ("messages", "input"),
    ("max_tokens", "max_output_tokens"),
    ("max_completion_tokens", "max_output_tokens"),
    ("response_format", "text.format"),
    ("reasoning_effort", "reasoning.effort"),
    ("verbosity", "text.verbosity"),
];

/// Every field of a request, by the reference.
const FIELDS: [&str; 34] = [
    "background",
    "background_options",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "moderation",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
    "access_programs",
    "image",
];

/// Fields that an answer repeats as they were asked.
const ECHOED: [&str; 13] = [
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "prompt_cache_key",
    "safety_identifier",
    "store",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
    "truncation",
];

const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const SUMMARIES: [&str; 3] = ["auto", "concise", "detailed"];
const FORMATS: [&str; 3] = ["text", "json_object", "json_schema"];
const CHOICES: [&str; 3] = ["function", "custom", "allowed_tools"];

const INCLUDABLE: [&str; 8] = [
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
];

/// Tools of the provider itself.
const BUILT_IN: [&str; 12] = [
    "web_search",
    "web_search_preview",
    "file_search",
    "code_interpreter",
    "image_generation",
    "mcp",
    "computer",
    "computer_use_preview",
    "local_shell",
    "shell",
    "apply_patch",
    "tool_search",
];
