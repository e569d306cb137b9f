//! Reading the contents: roles, parts, signatures, and calls that must be answered in the next turn.

use serde_json::{Map, Value};

use super::{
    errors::Refusal,
    fields::{as_message, field, list, message, only, text},
};

/// What of a conversation an answer depends on.
pub(super) struct Conversation {
    /// All its words, for counting.
    pub(super) words: String,
    /// The text of the last user turn that has one.
    pub(super) prompt: String,
    /// The text of the last tool result, if the conversation ends in one.
    pub(super) tool_result: Option<String>,
}

pub(super) fn read(request: &Map<String, Value>) -> Result<Conversation, Refusal> {
    let contents = list(request, "contents", "contents")?;
    if contents.is_empty() {
        let message = "* GenerateContentRequest.contents: contents is not specified\n";
        return Err(Refusal::field("contents", message));
    }
    let turns = contents.iter().enumerate();
    let turns = turns.map(|(at, content)| turn(content, at, contents.len()));
    let turns = turns.collect::<Result<Vec<_>, _>>()?;
    calls_and_responses(&turns)?;
    if turns.last().is_some_and(|last| last.role == Role::Model) {
        return Err(Refusal::invalid(
            "Please ensure that multiturn requests end with a user role or a function response.",
        ));
    }
    signatures(&turns)?;
    Ok(Conversation {
        words: words(&turns),
        prompt: prompt(&turns),
        tool_result: tool_result(&turns),
    })
}

/// The words of the instructions, which are a content of texts.
pub(super) fn system(content: &Map<String, Value>) -> Result<String, Refusal> {
    let parts = parts(content, "system_instruction")?;
    let mut words = String::new();
    for part in parts {
        let Data::Text(text) = part.data else {
            let message = "system_instruction may only have text parts.";
            return Err(Refusal::field("system_instruction", message));
        };
        words += text;
        words.push('\n');
    }
    Ok(words)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Model,
}

struct Turn<'a> {
    role: Role,
    at: usize,
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    signed: bool,
    thought: bool,
    data: Data<'a>,
}

enum Data<'a> {
    Text(&'a str),
    Call {
        id: Option<&'a str>,
        name: &'a str,
    },
    Response {
        id: Option<&'a str>,
        name: &'a str,
        said: String,
    },
    Other,
}

impl<'a> Turn<'a> {
    fn calls(&self) -> Vec<(Option<&'a str>, &'a str)> {
        let calls = self.parts.iter().filter_map(|part| match part.data {
            Data::Call { id, name } => Some((id, name)),
            _ => None,
        });
        calls.collect()
    }

    fn responses(&self) -> Vec<(Option<&'a str>, &'a str)> {
        let responses = self.parts.iter().filter_map(|part| match part.data {
            Data::Response { id, name, .. } => Some((id, name)),
            _ => None,
        });
        responses.collect()
    }
}

fn turn(content: &Value, at: usize, of: usize) -> Result<Turn<'_>, Refusal> {
    let path = format!("contents[{at}]");
    let content = as_message(content, &path)?;
    let role = match text(content, "role", &format!("{path}.role"))? {
        Some("user") => Role::User,
        Some("model") => Role::Model,
        // A question that stands alone needs no role.
        None if of == 1 => Role::User,
        _ => {
            let message = "Please use a valid role: user, model.";
            return Err(Refusal::field(&format!("{path}.role"), message));
        }
    };
    Ok(Turn {
        role,
        at,
        parts: parts(content, &path)?,
    })
}

fn parts<'a>(content: &'a Map<String, Value>, path: &str) -> Result<Vec<Part<'a>>, Refusal> {
    only(content, &["role", "parts"], path)?;
    let path = format!("{path}.parts");
    let parts = list(content, "parts", &path)?;
    if parts.is_empty() {
        let message =
            format!("* GenerateContentRequest.{path}: contents.parts must not be empty.\n");
        return Err(Refusal::field(&path, &message));
    }
    let parts = parts.iter().enumerate();
    parts
        .map(|(at, part)| self::part(part, &format!("{path}[{at}]")))
        .collect()
}

fn part<'a>(part: &'a Value, path: &str) -> Result<Part<'a>, Refusal> {
    let part = as_message(part, path)?;
    only(part, &PART, path)?;
    let signature = text(
        part,
        "thoughtSignature",
        &format!("{path}.thought_signature"),
    )?;
    if let Some(signature) = signature.filter(|signature| !is_base64(signature)) {
        let path = format!("{path}.thought_signature");
        let message = format!(
            "Invalid value at '{path}' (TYPE_BYTES), Base64 decoding failed for \"{signature}\""
        );
        return Err(Refusal::field(&path, &message));
    }
    let set = DATA.iter().filter(|name| field(part, name).is_some());
    if set.count() != 1 {
        let message = format!(
            "* GenerateContentRequest.{path}.data: required oneof field 'data' must have one \
             initialized field\n"
        );
        return Err(Refusal::field(path, &message));
    }
    let data = if let Some(said) = text(part, "text", &format!("{path}.text"))? {
        Data::Text(said)
    } else if let Some(call) = message(part, "functionCall", &format!("{path}.function_call"))? {
        let path = format!("{path}.function_call");
        only(call, &["id", "name", "args"], &path)?;
        message(call, "args", &format!("{path}.args"))?;
        Data::Call {
            id: text(call, "id", &path)?.filter(|id| !id.is_empty()),
            name: name(call, &path)?,
        }
    } else if let Some(response) = message(
        part,
        "functionResponse",
        &format!("{path}.function_response"),
    )? {
        let path = format!("{path}.function_response");
        only(response, &RESPONSE, &path)?;
        let said = message(response, "response", &format!("{path}.response"))?;
        Data::Response {
            id: text(response, "id", &path)?.filter(|id| !id.is_empty()),
            name: name(response, &path)?,
            said: said.map(said_by).unwrap_or_default(),
        }
    } else {
        blob(part, path)?;
        Data::Other
    };
    Ok(Part {
        signed: signature.is_some_and(|signature| !signature.is_empty()),
        thought: field(part, "thought") == Some(&Value::Bool(true)),
        data,
    })
}

fn name<'a>(object: &'a Map<String, Value>, path: &str) -> Result<&'a str, Refusal> {
    let name = text(object, "name", &format!("{path}.name"))?.unwrap_or_default();
    if name.is_empty() {
        let message = format!("* GenerateContentRequest.{path}.name: Name cannot be empty.\n");
        return Err(Refusal::field(path, &message));
    }
    Ok(name)
}

/// Inline data and files need all of their fields; other parts are taken as they are.
fn blob(part: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
    for (kind, needed) in [
        ("inlineData", &["mimeType", "data"][..]),
        ("fileData", &["fileUri"]),
    ] {
        let Some(blob) = message(part, kind, path)? else {
            continue;
        };
        for name in needed {
            if text(blob, name, path)?.is_none_or(str::is_empty) {
                let message = format!("* GenerateContentRequest.{path}: {name} must be set.\n");
                return Err(Refusal::field(path, &message));
            }
        }
        let data = text(blob, "data", path)?;
        if kind == "inlineData" && data.is_some_and(|data| !is_base64(data)) {
            let message = format!("Invalid value at '{path}' (TYPE_BYTES), Base64 decoding failed");
            return Err(Refusal::field(path, &message));
        }
    }
    Ok(())
}

/// Standard or URL alphabet, as protobuf JSON takes bytes.
fn is_base64(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    text.trim_end_matches('=').bytes().all(good)
}

/// What a tool said: the text under the usual names, else the whole object.
fn said_by(response: &Map<String, Value>) -> String {
    let usual = ["content", "output", "result", "error"];
    let text = usual.iter().find_map(|name| response.get(*name)?.as_str());
    text.map_or_else(
        || Value::Object(response.clone()).to_string(),
        str::to_owned,
    )
}

/// Calls follow the user, and the next turn answers each of them by its name.
fn calls_and_responses(turns: &[Turn<'_>]) -> Result<(), Refusal> {
    let mut open: Vec<(Option<&str>, &str)> = Vec::new();
    for (index, turn) in turns.iter().enumerate() {
        let (calls, responses) = (turn.calls(), turn.responses());
        let after_user = index
            .checked_sub(1)
            .and_then(|before| turns.get(before))
            .is_some_and(|before| before.role == Role::User);
        let in_place = turn.role == Role::Model && after_user;
        if !(calls.is_empty() || in_place) {
            return Err(Refusal::invalid(
                "Please ensure that function call turn comes immediately after a user turn or \
                 after a function response turn.",
            ));
        }
        if !responses.is_empty() && (turn.role != Role::User || open.is_empty()) {
            return Err(Refusal::invalid(
                "Please ensure that function response turn comes immediately after a function \
                 call turn.",
            ));
        }
        if responses.len() != open.len() {
            return Err(Refusal::invalid(
                "Please ensure that the number of function response parts is equal to the number \
                 of function call parts of the function call turn.",
            ));
        }
        for (id, name) in responses {
            let answers = |(call, called): &(Option<&str>, &str)| {
                *called == name && (call.is_none() || id.is_none() || *call == id)
            };
            let Some(found) = open.iter().position(answers) else {
                let message = format!(
                    "The name of function response `{name}` does not match any function call of \
                     the turn before."
                );
                return Err(Refusal::field(&format!("contents[{}]", turn.at), &message));
            };
            open.remove(found);
        }
        open = calls;
    }
    Ok(())
}

/// Since the user last spoke, each turn's first call must carry the signature it came with.
fn signatures(turns: &[Turn<'_>]) -> Result<(), Refusal> {
    let spoke = |turn: &Turn<'_>| {
        let spoken = |part: &Part<'_>| !matches!(part.data, Data::Response { .. });
        turn.role == Role::User && turn.parts.iter().any(spoken)
    };
    let since = turns.iter().rposition(spoke).unwrap_or(0);
    for turn in turns.iter().skip(since) {
        let first = turn.parts.iter().enumerate().find_map(|(at, part)| {
            let Data::Call { name, .. } = part.data else {
                return None;
            };
            Some((at, part.signed, name))
        });
        if let Some((at, false, name)) = first {
            let message = format!(
                "Function call is missing a thought_signature in functionCall parts. This is \
                 required for tools to work correctly. Function call `{name}`, position \
                 contents[{}].parts[{at}].",
                turn.at
            );
            return Err(Refusal::invalid(message));
        }
    }
    Ok(())
}

fn words(turns: &[Turn<'_>]) -> String {
    let mut words = String::new();
    for part in turns.iter().flat_map(|turn| &turn.parts) {
        match &part.data {
            Data::Text(text) if !part.thought => words.push_str(text),
            Data::Response { said, .. } => words.push_str(said),
            _ => continue,
        }
        words.push('\n');
    }
    words
}

fn prompt(turns: &[Turn<'_>]) -> String {
    let users = turns.iter().rev().filter(|turn| turn.role == Role::User);
    let mut texts = users.filter_map(|turn| {
        turn.parts.iter().find_map(|part| match part.data {
            Data::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        })
    });
    texts.next().unwrap_or_default().to_owned()
}

fn tool_result(turns: &[Turn<'_>]) -> Option<String> {
    match &turns.last()?.parts.last()?.data {
        Data::Response { said, .. } => Some(said.clone()),
        _ => None,
    }
}

/// The fields of which a part has exactly one.
const DATA: [&str; 9] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

const PART: [&str; 14] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "thought",
    "thoughtSignature",
    "videoMetadata",
    "partMetadata",
    "mediaResolution",
];

const RESPONSE: [&str; 6] = [
    "id",
    "name",
    "response",
    "parts",
    "willContinue",
    "scheduling",
];
