//! Reading a request for content as strictly as the provider does.

use serde_json::{Map, Value, json};

use super::{
    errors::Refusal,
    fields::{as_message, field, list, message, number, only, text, texts},
    models,
    turns::{self, Conversation},
};
use crate::mounts::{
    says::Asked,
    words::{self, Wanted},
};

/// What the answer depends on.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) asked: Asked,
}

impl Content {
    pub(super) fn read(request: &Map<String, Value>, model: &str) -> Result<Self, Refusal> {
        let mut asked = conversation(request, model)?;
        if let Some(config) = message(request, "generationConfig", "generation_config")? {
            generation(config, &mut asked)?;
        }
        Ok(Self { asked })
    }
}

/// What token counting needs: contents alone, or a whole request for content.
pub(super) fn countable(request: &Map<String, Value>, model: &str) -> Result<Asked, Refusal> {
    let inner = message(
        request,
        "generateContentRequest",
        "generate_content_request",
    )?;
    if let Some(inner) = inner {
        return conversation(inner, model);
    }
    only(request, &["model", "contents"], "")?;
    conversation(request, model)
}

fn conversation(request: &Map<String, Value>, model: &str) -> Result<Asked, Refusal> {
    only(request, &REQUEST, "")?;
    if let Some(name) = field(request, "cachedContent") {
        let message = format!("CachedContent not found (or permission denied): {name}");
        return Err(Refusal::forbidden(&message));
    }
    let system = match message(request, "systemInstruction", "system_instruction")? {
        None => String::new(),
        Some(system) => turns::system(system)?,
    };
    let Conversation {
        words,
        prompt,
        tool_result,
    } = turns::read(request)?;
    let (tools, wanted) = tools_and_choice(request)?;
    let input = system + &words;
    if let Some(limit) = models::input_limit(model) {
        let tokens = words::tokens(&input);
        if tokens > limit {
            let message = format!(
                "The input token count ({tokens}) exceeds the maximum number of tokens allowed \
                 ({limit})."
            );
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
        parallel: true,
        schema: None,
    })
}

fn tools(request: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let mut names = Vec::new();
    for (at, tool) in list(request, "tools", "tools")?.iter().enumerate() {
        let path = format!("tools[{at}]");
        let tool = as_message(tool, &path)?;
        only(tool, &TOOL, &path)?;
        let path = format!("{path}.function_declarations");
        for (at, function) in list(tool, "functionDeclarations", &path)?
            .iter()
            .enumerate()
        {
            let path = format!("{path}[{at}]");
            let function = as_message(function, &path)?;
            only(function, &FUNCTION, &path)?;
            let name = text(function, "name", &format!("{path}.name"))?.unwrap_or_default();
            if !is_name(name) {
                let message = format!(
                    "GenerateContentRequest.{path}.name: Invalid function name. Must start with a \
                     letter or an underscore."
                );
                return Err(Refusal::field(&path, &message));
            }
            if let Some(schema) = field(function, "parameters") {
                if field(function, "parametersJsonSchema").is_some() {
                    let message = "parameters and parameters_json_schema cannot both be set.";
                    return Err(Refusal::field(&path, message));
                }
                subset(schema, &format!("{path}.parameters"))?;
            }
            if names.iter().any(|other| other == name) {
                let message = format!("Duplicate function declaration found: {name}");
                return Err(Refusal::invalid(message));
            }
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn is_name(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    let begins = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.len() <= 128 && name.bytes().next().is_some_and(begins) && name.bytes().all(good)
}

/// The tools that may be called, and whether one must be.
fn tools_and_choice(request: &Map<String, Value>) -> Result<(Vec<String>, Wanted), Refusal> {
    let mut tools = tools(request)?;
    let Some(config) = message(request, "toolConfig", "tool_config")? else {
        return Ok((tools, Wanted::Auto));
    };
    only(config, &TOOL_CONFIG, "tool_config")?;
    let path = "tool_config.function_calling_config";
    let Some(config) = message(config, "functionCallingConfig", path)? else {
        return Ok((tools, Wanted::Auto));
    };
    only(config, &["mode", "allowedFunctionNames"], path)?;
    let mode = text(config, "mode", &format!("{path}.mode"))?.unwrap_or("MODE_UNSPECIFIED");
    let names = format!("{path}.allowed_function_names");
    let allowed = texts(config, "allowedFunctionNames", &names)?;
    let wanted = match mode {
        "MODE_UNSPECIFIED" | "AUTO" | "VALIDATED" => Wanted::Auto,
        "ANY" => Wanted::Required,
        "NONE" => Wanted::None,
        other => return Err(Refusal::value(&format!("{path}.mode"), &json!(other))),
    };
    if tools.is_empty() && wanted == Wanted::Required {
        return Err(Refusal::invalid(
            "Function calling config is set without function_declarations.",
        ));
    }
    if allowed.is_empty() {
        return Ok((tools, wanted));
    }
    if !matches!(mode, "ANY" | "VALIDATED") {
        let message = "allowed_function_names can only be set when the mode is ANY or VALIDATED.";
        return Err(Refusal::field(&names, message));
    }
    if let Some(name) = allowed
        .iter()
        .find(|name| !tools.iter().any(|tool| tool == *name))
    {
        let message = format!("allowed_function_names has `{name}`, which is not declared.");
        return Err(Refusal::field(&names, &message));
    }
    tools.retain(|tool| allowed.contains(&tool.as_str()));
    let wanted = match (tools.as_slice(), wanted) {
        ([one], Wanted::Required) => Wanted::Named(one.clone()),
        (_, wanted) => wanted,
    };
    Ok((tools, wanted))
}

fn generation(config: &Map<String, Value>, asked: &mut Asked) -> Result<(), Refusal> {
    let at = |name: &str| format!("generation_config.{name}");
    only(config, &GENERATION, "generation_config")?;
    if let Some(limit) = number(config, "maxOutputTokens", &at("max_output_tokens"))? {
        let limit = u64::try_from(limit).ok().filter(|limit| *limit > 0);
        let message = "max_output_tokens must be positive.";
        let limit = limit.ok_or_else(|| Refusal::field(&at("max_output_tokens"), message))?;
        asked.max_tokens = Some(limit);
    }
    if number(config, "candidateCount", &at("candidate_count"))?.is_some_and(|count| count != 1) {
        let message = "Only one candidate can be specified in the current model";
        return Err(Refusal::field(&at("candidate_count"), message));
    }
    let stops = texts(config, "stopSequences", &at("stop_sequences"))?;
    if stops.len() > 5 {
        let message = format!(
            "stop_sequences has {} entries, at most 5 are allowed.",
            stops.len()
        );
        return Err(Refusal::field(&at("stop_sequences"), &message));
    }
    asked.stops = stops.into_iter().map(str::to_owned).collect();
    for (name, path, range) in [
        ("temperature", at("temperature"), 0.0..=2.0),
        ("topP", at("top_p"), 0.0..=1.0),
    ] {
        if let Some(value) = field(config, name) {
            let number = value.as_f64().ok_or_else(|| Refusal::value(&path, value))?;
            if !range.contains(&number) {
                let message = format!(
                    "{path} must be in the range [{}, {}].",
                    range.start(),
                    range.end()
                );
                return Err(Refusal::field(&path, &message));
            }
        }
    }
    if let Some(thinking) = message(config, "thinkingConfig", &at("thinking_config"))? {
        only(thinking, &THINKING, &at("thinking_config"))?;
        let path = at("thinking_config.thinking_level");
        let level = text(thinking, "thinkingLevel", &path)?;
        if let Some(level) = level.filter(|level| !LEVELS.contains(&level.to_uppercase().as_str()))
        {
            return Err(Refusal::value(&path, &json!(level)));
        }
        if level.is_some() && field(thinking, "thinkingBudget").is_some() {
            let message = "You can only set one of thinking budget and thinking level.";
            return Err(Refusal::field(&at("thinking_config"), message));
        }
    }
    asked.schema = schema(config)?;
    Ok(())
}

/// The schema the answer must fit.
fn schema(config: &Map<String, Value>) -> Result<Option<Value>, Refusal> {
    let path = "generation_config.response_mime_type";
    let json = match text(config, "responseMimeType", path)? {
        None | Some("" | "text/plain") => false,
        Some("application/json") => true,
        Some(other) => {
            let message = format!(
                "{path}: allowed mimetypes are `text/plain` and `application/json`, not `{other}`."
            );
            return Err(Refusal::field(path, &message));
        }
    };
    let subset_of = field(config, "responseSchema");
    let whole = field(config, "responseJsonSchema");
    if subset_of.is_some() && whole.is_some() {
        let message = "response_schema and response_json_schema cannot both be set.";
        return Err(Refusal::field("generation_config", message));
    }
    if (subset_of.is_some() || whole.is_some()) && !json {
        let message = "response_schema needs response_mime_type to be `application/json`.";
        return Err(Refusal::field(path, message));
    }
    if let Some(schema) = subset_of {
        subset(schema, "generation_config.response_schema")?;
        return Ok(Some(lower(schema)));
    }
    let any = json.then(|| json!({"type": "object", "properties": {"answer": {}}}));
    Ok(whole.cloned().or(any))
}

/// Refuses what the provider's own form of schema does not have.
fn subset(schema: &Value, path: &str) -> Result<(), Refusal> {
    let object = as_message(schema, path)?;
    only(object, &SCHEMA, path)?;
    if let Some(kind) = text(object, "type", &format!("{path}.type"))?
        && !TYPES.contains(&kind.to_uppercase().as_str())
    {
        return Err(Refusal::value(&format!("{path}.type"), &json!(kind)));
    }
    if let Some(items) = field(object, "items") {
        subset(items, &format!("{path}.items"))?;
    }
    for (at, schema) in list(object, "anyOf", &format!("{path}.any_of"))?
        .iter()
        .enumerate()
    {
        subset(schema, &format!("{path}.any_of[{at}]"))?;
    }
    let properties = format!("{path}.properties");
    for (name, schema) in message(object, "properties", &properties)?
        .into_iter()
        .flatten()
    {
        subset(schema, &format!("{properties}[{name}]"))?;
    }
    Ok(())
}

/// The same schema with its types in lower case, as JSON Schema has them.
fn lower(schema: &Value) -> Value {
    let Value::Object(object) = schema else {
        return schema.clone();
    };
    let members = object.iter().map(|(name, value)| {
        let value = match (name.as_str(), value) {
            ("type", Value::String(kind)) => json!(kind.to_lowercase()),
            ("items", schema) => lower(schema),
            ("properties", Value::Object(properties)) => properties
                .iter()
                .map(|(name, schema)| (name.clone(), lower(schema)))
                .collect::<Map<_, _>>()
                .into(),
            (_, value) => value.clone(),
        };
        (name.clone(), value)
    });
    members.collect::<Map<_, _>>().into()
}

const REQUEST: [&str; 11] = [
    "model",
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "safetySettings",
    "generationConfig",
    "cachedContent",
    "serviceTier",
    "labels",
    "store",
];

const TOOL: [&str; 10] = [
    "functionDeclarations",
    "googleSearch",
    "googleSearchRetrieval",
    "googleMaps",
    "codeExecution",
    "urlContext",
    "computerUse",
    "fileSearch",
    "mcpServers",
    "retrieval",
];

const FUNCTION: [&str; 7] = [
    "name",
    "description",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
    "behavior",
];

const TOOL_CONFIG: [&str; 3] = [
    "functionCallingConfig",
    "retrievalConfig",
    "includeServerSideToolInvocations",
];

const GENERATION: [&str; 20] = [
    "temperature",
    "topP",
    "topK",
    "candidateCount",
    "maxOutputTokens",
    "stopSequences",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "thinkingConfig",
    "responseLogprobs",
    "logprobs",
    "responseModalities",
    "mediaResolution",
    "speechConfig",
    "imageConfig",
    "enableEnhancedCivicAnswers",
];

const THINKING: [&str; 3] = ["includeThoughts", "thinkingBudget", "thinkingLevel"];
const LEVELS: [&str; 5] = [
    "THINKING_LEVEL_UNSPECIFIED",
    "MINIMAL",
    "LOW",
    "MEDIUM",
    "HIGH",
];

const SCHEMA: [&str; 23] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "additionalProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "anyOf",
    "propertyOrdering",
    "default",
    "example",
];
const TYPES: [&str; 8] = [
    "TYPE_UNSPECIFIED",
    "STRING",
    "NUMBER",
    "INTEGER",
    "BOOLEAN",
    "ARRAY",
    "OBJECT",
    "NULL",
];
