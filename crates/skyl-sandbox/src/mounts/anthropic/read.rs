//! Reading a messages request as strictly as the provider does.

use http::HeaderMap;
use serde_json::{Map, Value, json};

use super::{
    errors::Refusal,
    models,
    turns::{self, Conversation},
};
use crate::mounts::{
    says::Asked,
    words::{self, Wanted},
};

/// The version of the API a request speaks, by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// `2023-06-01`.
    First,
    /// `2026-10-21`: no sampling, no documents from the assistant, no citations from the user.
    Second,
}

impl Version {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let Some(version) = headers.get("anthropic-version") else {
            return Err(Refusal::field("anthropic-version", "header is required"));
        };
        match version.as_bytes() {
            b"2023-06-01" => Ok(Self::First),
            b"2026-10-21" => Ok(Self::Second),
            other => {
                let what = format!("\"{}\" is not a valid version", other.escape_ascii());
                Err(Refusal::field("anthropic-version", &what))
            }
        }
    }
}

/// What the answer depends on.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) asked: Asked,
    pub(super) stream: bool,
}

/// The request as a JSON object with the model it names: all a fault needs.
pub(super) fn document(body: &[u8]) -> Result<(Map<String, Value>, String), Refusal> {
    let document: Value = serde_json::from_slice(body)
        .map_err(|_| Refusal::invalid("The request body is not valid JSON."))?;
    let Value::Object(request) = document else {
        return Err(Refusal::invalid("Input should be a valid dictionary"));
    };
    match request.get("model") {
        None | Some(Value::Null) => Err(Refusal::missing("model")),
        Some(Value::String(model)) if !model.is_empty() => {
            let model = model.clone();
            Ok((request, model))
        }
        Some(Value::String(_)) => Err(Refusal::field(
            "model",
            "String should have at least 1 character",
        )),
        Some(_) => Err(Refusal::field("model", "Input should be a valid string")),
    }
}

impl Messages {
    pub(super) fn read(
        request: &Map<String, Value>,
        model: &str,
        version: Version,
    ) -> Result<Self, Refusal> {
        let max_tokens = max_tokens(request, model)?;
        let mut asked = countable(request, model, version)?;
        sampling(request, version)?;
        thinking(request, max_tokens)?;
        asked.max_tokens = Some(max_tokens);
        asked.stops = stops(request)?;
        Ok(Self {
            asked,
            stream: flag(request, "stream")?.unwrap_or(false),
        })
    }
}

/// What token counting needs: the conversation, the tools, the format of the answer.
pub(super) fn countable(
    request: &Map<String, Value>,
    model: &str,
    version: Version,
) -> Result<Asked, Refusal> {
    if let Some(name) = request.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(Refusal::extra(name));
    }
    let system = system(request)?;
    let Conversation {
        words,
        prompt,
        tool_result,
    } = turns::read(request, version)?;
    let tools = tools(request)?;
    let (wanted, parallel) = wanted(request, &tools)?;
    let input = system + &words;
    if let Some((limit, _)) = models::limits(model) {
        let tokens = words::tokens(&input);
        if tokens > limit {
            let message = format!("prompt is too long: {tokens} tokens > {limit} maximum");
            return Err(Refusal::invalid(message));
        }
    }
    Ok(Asked {
        model: model.to_owned(),
        max_tokens: None,
        stops: Vec::new(),
        prompt,
        tool_result,
        input,
        tools,
        wanted,
        parallel,
        schema: schema(request)?,
    })
}

fn max_tokens(request: &Map<String, Value>, model: &str) -> Result<u64, Refusal> {
    let max_tokens = match request.get("max_tokens") {
        None | Some(Value::Null) => return Err(Refusal::missing("max_tokens")),
        Some(value) => value.as_u64().ok_or_else(|| {
            let what = if value.as_i64().is_some() {
                "Input should be greater than or equal to 0"
            } else {
                "Input should be a valid integer"
            };
            Refusal::field("max_tokens", what)
        })?,
    };
    match models::limits(model) {
        Some((_, limit)) if max_tokens > limit => {
            let what = format!(
                "{max_tokens} > {limit}, which is the maximum allowed number of output tokens for {model}"
            );
            Err(Refusal::field("max_tokens", &what))
        }
        _ => Ok(max_tokens),
    }
}

fn system(request: &Map<String, Value>) -> Result<String, Refusal> {
    match request.get("system") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(format!("{text}\n")),
        Some(Value::Array(blocks)) => {
            let mut system = String::new();
            for (at, block) in blocks.iter().enumerate() {
                if block.get("type") != Some(&json!("text")) {
                    let path = format!("system.{at}.type");
                    return Err(Refusal::field(&path, "Input should be 'text'"));
                }
                let path = format!("system.{at}.text");
                let text = block.get("text").ok_or_else(|| Refusal::missing(&path))?;
                let text = text
                    .as_str()
                    .ok_or_else(|| Refusal::field(&path, "Input should be a valid string"))?;
                if text.is_empty() {
                    let message = "system: text content blocks must be non-empty";
                    return Err(Refusal::invalid(message));
                }
                system += text;
                system.push('\n');
            }
            Ok(system)
        }
        Some(_) => Err(Refusal::field("system", "Input should be a valid list")),
    }
}

/// The names of the tools a model can call; those the provider runs itself are not among them.
fn tools(request: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let tools = match request.get("tools") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(tools)) => tools,
        Some(_) => return Err(Refusal::field("tools", "Input should be a valid list")),
    };
    let mut names = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        match tool.get("type") {
            None | Some(Value::Null) => {}
            Some(Value::String(kind)) if kind == "custom" => {}
            Some(Value::String(kind)) if kind.ends_with(|last: char| last.is_ascii_digit()) => {
                continue;
            }
            Some(_) => return Err(unknown_tag(&format!("tools.{at}"))),
        }
        let path = |field: &str| format!("tools.{at}.custom.{field}");
        let name = match tool.get("name") {
            None => return Err(Refusal::missing(&path("name"))),
            Some(name) => name.as_str().filter(|name| is_name(name, 128)),
        };
        let Some(name) = name else {
            let what = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
            return Err(Refusal::field(&path("name"), what));
        };
        match tool.get("input_schema") {
            None => return Err(Refusal::missing(&path("input_schema"))),
            Some(schema) if schema.get("type") == Some(&json!("object")) => {}
            Some(schema) if schema.is_object() && schema.get("type").is_none() => {
                return Err(Refusal::missing(&path("input_schema.type")));
            }
            Some(schema) if schema.is_object() => {
                let path = path("input_schema.type");
                return Err(Refusal::field(&path, "Input should be 'object'"));
            }
            Some(_) => {
                let path = path("input_schema");
                return Err(Refusal::field(&path, "Input should be a valid dictionary"));
            }
        }
        if names.iter().any(|other| other == name) {
            return Err(Refusal::field("tools", "Tool names must be unique."));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Letters, digits, `_` and `-`: how the provider wants names and ids.
pub(super) fn is_name(text: &str, longest: usize) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=longest).contains(&text.len()) && text.bytes().all(good)
}

/// The error for a `type` that is none of those expected.
pub(super) fn unknown_tag(path: &str) -> Refusal {
    let what = "Input tag found using 'type' does not match any of the expected tags";
    Refusal::field(path, what)
}

/// Which tool must be called, and whether two may be.
fn wanted(request: &Map<String, Value>, tools: &[String]) -> Result<(Wanted, bool), Refusal> {
    let choice = match request.get("tool_choice") {
        None | Some(Value::Null) => return Ok((Wanted::Auto, true)),
        Some(choice) => choice,
    };
    if request.get("tools").is_none_or(Value::is_null) {
        let what = "may only be specified while providing tools";
        return Err(Refusal::field("tool_choice", what));
    }
    let parallel = match choice.get("disable_parallel_tool_use") {
        None | Some(Value::Null) => true,
        Some(Value::Bool(disabled)) => !disabled,
        Some(_) => {
            let path = "tool_choice.disable_parallel_tool_use";
            return Err(Refusal::field(path, "Input should be a valid boolean"));
        }
    };
    let wanted = match choice.get("type").and_then(Value::as_str) {
        Some("auto") => Wanted::Auto,
        Some("none") => Wanted::None,
        Some("any") => Wanted::Required,
        Some("tool") => {
            let name = choice.get("name").and_then(Value::as_str);
            let name = name.ok_or_else(|| Refusal::missing("tool_choice.tool.name"))?;
            if !tools.iter().any(|tool| tool == name) {
                let what = format!("Tool '{name}' not found in provided tools");
                return Err(Refusal::field("tool_choice", &what));
            }
            Wanted::Named(name.to_owned())
        }
        _ => return Err(unknown_tag("tool_choice")),
    };
    if matches!(wanted, Wanted::Required | Wanted::Named(_))
        && request
            .get("thinking")
            .and_then(|thinking| thinking.get("type"))
            == Some(&json!("enabled"))
    {
        let message = "Thinking may not be enabled when tool_choice forces tool use.";
        return Err(Refusal::invalid(message));
    }
    Ok((wanted, parallel))
}

/// The schema the answer must fit.
fn schema(request: &Map<String, Value>) -> Result<Option<Value>, Refusal> {
    let config = match request.get("output_config") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(config)) => config,
        Some(_) => {
            let what = "Input should be a valid dictionary";
            return Err(Refusal::field("output_config", what));
        }
    };
    match config.get("effort") {
        None | Some(Value::Null) => {}
        Some(Value::String(effort)) if EFFORTS.contains(&effort.as_str()) => {}
        Some(_) => {
            let what = "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'";
            return Err(Refusal::field("output_config.effort", what));
        }
    }
    let format = match config.get("format") {
        None | Some(Value::Null) => return Ok(None),
        Some(format) => format,
    };
    if format.get("type") != Some(&json!("json_schema")) {
        let path = "output_config.format.type";
        return Err(Refusal::field(path, "Input should be 'json_schema'"));
    }
    let path = "output_config.format.schema";
    match format.get("schema") {
        Some(schema @ Value::Object(_)) => Ok(Some(schema.clone())),
        Some(_) => Err(Refusal::field(path, "Input should be a valid dictionary")),
        None => Err(Refusal::missing(path)),
    }
}

fn sampling(request: &Map<String, Value>, version: Version) -> Result<(), Refusal> {
    for (name, highest) in [("temperature", 1.0), ("top_p", 1.0), ("top_k", f64::MAX)] {
        let Some(value) = request.get(name) else {
            continue;
        };
        // Even a default value is refused.
        if version == Version::Second {
            return Err(Refusal::extra(name));
        }
        let in_range = value.is_null()
            || value
                .as_f64()
                .is_some_and(|value| (0.0..=highest).contains(&value));
        if !in_range {
            let what = if name == "top_k" {
                "Input should be greater than or equal to 0"
            } else {
                "range: 0..1"
            };
            return Err(Refusal::field(name, what));
        }
    }
    Ok(())
}

fn thinking(request: &Map<String, Value>, max_tokens: u64) -> Result<(), Refusal> {
    let thinking = match request.get("thinking") {
        None | Some(Value::Null) => return Ok(()),
        Some(thinking) => thinking,
    };
    match thinking.get("type").and_then(Value::as_str) {
        Some("adaptive" | "disabled" | "between_tools") => Ok(()),
        Some("enabled") => {
            let path = "thinking.enabled.budget_tokens";
            match thinking.get("budget_tokens") {
                None => Err(Refusal::missing(path)),
                Some(budget) => match budget.as_u64() {
                    None => Err(Refusal::field(path, "Input should be a valid integer")),
                    Some(..1024) => {
                        let what = "Input should be greater than or equal to 1024";
                        Err(Refusal::field(path, what))
                    }
                    Some(budget) if budget >= max_tokens => Err(Refusal::invalid(
                        "`max_tokens` must be greater than `thinking.budget_tokens`.",
                    )),
                    Some(_) => Ok(()),
                },
            }
        }
        _ => Err(unknown_tag("thinking")),
    }
}

fn stops(request: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let stops = match request.get("stop_sequences") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(stops)) => stops,
        Some(_) => {
            let what = "Input should be a valid list";
            return Err(Refusal::field("stop_sequences", what));
        }
    };
    let texts = stops.iter().map(|stop| {
        let text = stop.as_str().filter(|text| !text.trim().is_empty());
        let what = "each stop sequence must contain non-whitespace";
        text.map(str::to_owned)
            .ok_or_else(|| Refusal::field("stop_sequences", what))
    });
    texts.collect()
}

fn flag(request: &Map<String, Value>, name: &'static str) -> Result<Option<bool>, Refusal> {
    match request.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(Refusal::field(name, "Input should be a valid boolean")),
    }
}

const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// Every field of a request; the provider refuses all others.
const FIELDS: [&str; 22] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "stop_sequences",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "metadata",
    "service_tier",
    "speed",
    "container",
    "context_management",
    "mcp_servers",
    "cache_control",
    "inference_geo",
    "diagnostics",
];
