//! Reading a chat request as strictly as the provider does.

use serde_json::{Map, Value};

use super::errors::Refusal;
use crate::mounts::{says::Asked, words::Wanted};

/// What the answer depends on.
#[derive(Debug)]
pub(super) struct Chat {
    pub(super) asked: Asked,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
    pub(super) choices: u64,
}

/// The request as a JSON object with the model it names: all a fault needs.
pub(super) fn document(body: &[u8]) -> Result<(Map<String, Value>, String), Refusal> {
    let unreadable = || Refusal::invalid("We could not parse the JSON body of your request.", None);
    let document: Value = serde_json::from_slice(body).map_err(|_| unreadable())?;
    let Value::Object(request) = document else {
        return Err(unreadable());
    };
    match request.get("model") {
        Some(Value::String(model)) if !model.is_empty() => {
            let model = model.clone();
            Ok((request, model))
        }
        _ => Err(Refusal::invalid(
            "you must provide a model parameter",
            Some("model"),
        )),
    }
}

impl Chat {
    pub(super) fn read(request: &Map<String, Value>, model: &str) -> Result<Self, Refusal> {
        let messages = messages(request)?;
        let (tools, wanted) = tools_and_choice(request)?;
        let limit = number(request, "max_completion_tokens")?.or(number(request, "max_tokens")?);
        let options = request.get("stream_options");
        if let Some(stop) = request
            .get("stop")
            .and_then(Value::as_array)
            .filter(|stop| stop.len() > 4)
        {
            let message = format!(
                "Invalid 'stop': expected at most 4 texts, got {}.",
                stop.len()
            );
            return Err(Refusal::invalid(message, Some("stop")));
        }
        Ok(Self {
            asked: Asked {
                model: model.to_owned(),
                max_tokens: limit,
                stops: stops(request),
                prompt: prompt(messages),
                tool_result: tool_result(messages),
                input: messages.iter().map(text_of).collect::<Vec<_>>().join("\n"),
                wanted,
                tools,
                parallel: flag(request, "parallel_tool_calls")?.unwrap_or(true),
                schema: schema(request)?,
            },
            stream: flag(request, "stream")?.unwrap_or(false),
            include_usage: options.and_then(|o| o.get("include_usage")) == Some(&Value::Bool(true)),
            choices: choices(request)?,
        })
    }
}

fn messages(request: &Map<String, Value>) -> Result<&[Value], Refusal> {
    let Some(Value::Array(messages)) = request.get("messages") else {
        return Err(Refusal::invalid(
            "Missing required parameter: 'messages'.",
            Some("messages"),
        ));
    };
    if messages.is_empty() {
        let message = "Invalid 'messages': empty array. Expected an array with minimum length 1.";
        return Err(Refusal::invalid(message, Some("messages")));
    }
    // Every result must answer a call of the last assistant turn, and every call be answered.
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message
            .get("role")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !matches!(
            role,
            "developer" | "system" | "user" | "assistant" | "tool" | "function"
        ) {
            let message = format!("Invalid value: '{role}' for 'messages[{at}].role'.");
            return Err(Refusal::invalid(message, Some("messages")));
        }
        if role == "tool" {
            let id = message
                .get("tool_call_id")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let Some(found) = open.iter().position(|call| *call == id) else {
                let message = format!(
                    "Invalid parameter: messages[{at}] with role 'tool' must be a response to a \
                     preceding message with 'tool_calls'."
                );
                return Err(Refusal::invalid(message, Some("messages")));
            };
            open.swap_remove(found);
            continue;
        }
        if !open.is_empty() {
            return Err(unanswered());
        }
        if role == "assistant" {
            open = calls_of(message, at)?;
        }
        let has_calls = !open.is_empty();
        match message.get("content") {
            Some(Value::String(_) | Value::Array(_)) => {}
            None | Some(Value::Null) if has_calls || message.get("refusal").is_some() => {}
            _ => {
                let message = format!(
                    "Invalid value for 'messages[{at}].content': expected a string or an array."
                );
                return Err(Refusal::invalid(message, Some("messages")));
            }
        }
    }
    if open.is_empty() {
        Ok(messages)
    } else {
        Err(unanswered())
    }
}

/// The ids of an assistant turn's calls; each needs an id, a name, and arguments that are text.
fn calls_of(message: &Value, at: usize) -> Result<Vec<&str>, Refusal> {
    let Some(calls) = message.get("tool_calls").and_then(Value::as_array) else {
        return Ok(Vec::new());
    };
    calls
        .iter()
        .map(|call| {
            let function = call.get("function");
            let text = |name| function.and_then(|f| f.get(name)).and_then(Value::as_str);
            let id = call
                .get("id")
                .and_then(Value::as_str)
                .filter(|id| !id.is_empty());
            if let (Some(id), Some(_), Some(_)) = (id, text("name"), text("arguments")) {
                return Ok(id);
            }
            let message = format!("Invalid value for 'messages[{at}].tool_calls'.");
            Err(Refusal::invalid(message, Some("messages")))
        })
        .collect()
}

fn unanswered() -> Refusal {
    let message = "An assistant message with 'tool_calls' must be followed by tool messages \
                   responding to each 'tool_call_id'.";
    Refusal::invalid(message, Some("messages"))
}

fn prompt(messages: &[Value]) -> String {
    let users = messages
        .iter()
        .rev()
        .filter(|message| role(message) == "user");
    users
        .map(first_text)
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

fn tool_result(messages: &[Value]) -> Option<String> {
    messages
        .last()
        .filter(|message| role(message) == "tool")
        .map(text_of)
}

fn role(message: &Value) -> &str {
    message
        .get("role")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn first_text(message: &Value) -> String {
    texts(message).next().unwrap_or_default().to_owned()
}

fn text_of(message: &Value) -> String {
    texts(message).collect()
}

fn texts(message: &Value) -> impl Iterator<Item = &str> {
    let content = message.get("content");
    let whole = content.and_then(Value::as_str);
    let parts = content.and_then(Value::as_array).into_iter().flatten();
    whole
        .into_iter()
        .chain(parts.filter_map(|part| part.get("text").and_then(Value::as_str)))
}

fn tools(request: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let Some(tools) = request.get("tools").filter(|tools| !tools.is_null()) else {
        return Ok(Vec::new());
    };
    let names = tools
        .as_array()
        .map(|tools| tools.iter().map(function_name).collect::<Option<Vec<_>>>());
    match names {
        Some(Some(names)) if !names.is_empty() => Ok(names),
        _ => Err(Refusal::invalid(
            "Invalid 'tools': expected functions, each with a name.",
            Some("tools"),
        )),
    }
}

/// The tools that may be called, and whether one must be.
fn tools_and_choice(request: &Map<String, Value>) -> Result<(Vec<String>, Wanted), Refusal> {
    let mut tools = tools(request)?;
    let allowed = request.get("tool_choice").filter(|choice| {
        choice
            .get("type")
            .is_some_and(|kind| kind == "allowed_tools")
    });
    let Some(allowed) = allowed else {
        let wanted = wanted(request, &tools)?;
        return Ok((tools, wanted));
    };
    let refuse = || Refusal::invalid("Invalid 'tool_choice.allowed_tools'.", Some("tool_choice"));
    let allowed = allowed.get("allowed_tools").ok_or_else(refuse)?;
    let wanted = allowed.get("mode").and_then(Value::as_str).and_then(mode);
    let names = allowed.get("tools").and_then(Value::as_array);
    let names = names.map(|names| names.iter().map(function_name).collect::<Option<Vec<_>>>());
    match (wanted, names) {
        (Some(wanted @ (Wanted::Auto | Wanted::Required)), Some(Some(names)))
            if !names.is_empty() && names.iter().all(|name| tools.contains(name)) =>
        {
            tools.retain(|tool| names.contains(tool));
            Ok((tools, wanted))
        }
        _ => Err(refuse()),
    }
}

fn wanted(request: &Map<String, Value>, tools: &[String]) -> Result<Wanted, Refusal> {
    let refuse = |message: &str| Err(Refusal::invalid(message, Some("tool_choice")));
    let choice = match request.get("tool_choice") {
        None | Some(Value::Null) => return Ok(Wanted::Auto),
        Some(choice) => choice,
    };
    if tools.is_empty() {
        return refuse("'tool_choice' is only allowed when 'tools' are specified.");
    }
    match choice {
        Value::String(word) => mode(word).map_or_else(|| refuse("Invalid 'tool_choice'."), Ok),
        other => match function_name(other) {
            Some(name) if tools.contains(&name) => Ok(Wanted::Named(name)),
            Some(_) => refuse("Invalid 'tool_choice': the function is not among the 'tools'."),
            None => refuse("Invalid 'tool_choice'."),
        },
    }
}

fn mode(word: &str) -> Option<Wanted> {
    match word {
        "auto" => Some(Wanted::Auto),
        "none" => Some(Wanted::None),
        "required" => Some(Wanted::Required),
        _ => None,
    }
}

fn function_name(tool: &Value) -> Option<String> {
    Some(tool.get("function")?.get("name")?.as_str()?.to_owned())
}

fn schema(request: &Map<String, Value>) -> Result<Option<Value>, Refusal> {
    let Some(format) = request
        .get("response_format")
        .filter(|format| !format.is_null())
    else {
        return Ok(None);
    };
    match format.get("type").and_then(Value::as_str) {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(
            serde_json::json!({"type": "object", "properties": {"answer": {}}}),
        )),
        Some("json_schema") => {
            let schema = format.get("json_schema");
            let name = schema.and_then(|s| s.get("name")).and_then(Value::as_str);
            if name.is_none_or(str::is_empty) {
                let message = "Missing required parameter: 'response_format.json_schema.name'.";
                return Err(Refusal::invalid(message, Some("response_format")));
            }
            Ok(schema.and_then(|s| s.get("schema")).cloned())
        }
        _ => Err(Refusal::invalid(
            "Invalid 'response_format.type'.",
            Some("response_format"),
        )),
    }
}

/// The texts to stop at: one, or a list.
fn stops(request: &Map<String, Value>) -> Vec<String> {
    let stop = request.get("stop");
    let one = stop.and_then(Value::as_str);
    let list = stop.and_then(Value::as_array).into_iter().flatten();
    one.into_iter()
        .chain(list.filter_map(Value::as_str))
        .map(str::to_owned)
        .collect()
}

fn choices(request: &Map<String, Value>) -> Result<u64, Refusal> {
    match number(request, "n")? {
        None => Ok(1),
        Some(n @ 1..=8) => Ok(n),
        Some(n) => {
            let message = format!("Invalid 'n': the sandbox gives 1 to 8 choices, got {n}.");
            Err(Refusal::unsupported_value(message, "n"))
        }
    }
}

fn number(request: &Map<String, Value>, name: &'static str) -> Result<Option<u64>, Refusal> {
    match request.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_u64().filter(|&number| number > 0);
            let message = || format!("Invalid '{name}': expected a whole number of at least 1.");
            let refusal = || Refusal::invalid(message(), Some(name));
            number.map(Some).ok_or_else(refusal)
        }
    }
}

fn flag(request: &Map<String, Value>, name: &'static str) -> Result<Option<bool>, Refusal> {
    match request.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(Refusal::invalid(
            format!("Invalid '{name}': expected a boolean."),
            Some(name),
        )),
    }
}
