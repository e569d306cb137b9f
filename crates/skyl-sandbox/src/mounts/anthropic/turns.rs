//! Reading the conversation: roles, blocks, and calls that must be answered in the next turn.

use serde_json::{Map, Value};

use super::{
    errors::Refusal,
    read::{Version, is_name, unknown_tag},
    write::SIGNATURE,
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

pub(super) fn read(
    request: &Map<String, Value>,
    version: Version,
) -> Result<Conversation, Refusal> {
    let messages = match request.get("messages") {
        None | Some(Value::Null) => return Err(Refusal::missing("messages")),
        Some(Value::Array(messages)) => messages,
        Some(_) => return Err(Refusal::field("messages", "Input should be a valid list")),
    };
    let turns = turns(messages, version)?;
    match turns.first() {
        None => {
            let what = "at least one message is required";
            return Err(Refusal::field("messages", what));
        }
        Some(first) if first.role != Role::User => {
            let what = "first message must use the \"user\" role";
            return Err(Refusal::field("messages", what));
        }
        Some(_) => {}
    }
    calls_and_results(&turns)?;
    if turns
        .last()
        .is_some_and(|last| last.role == Role::Assistant)
    {
        return Err(Refusal::invalid(
            "This model does not support assistant message prefill. The conversation must end with \
             a user message.",
        ));
    }
    Ok(Conversation {
        words: words(&turns),
        prompt: prompt(messages),
        tool_result: tool_result(&turns),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

/// One turn: the blocks of all messages in a row with the same role.
struct Turn<'a> {
    role: Role,
    /// The index of its first message.
    at: usize,
    blocks: Vec<Block<'a>>,
}

enum Block<'a> {
    Text(&'a str),
    ToolUse {
        id: &'a str,
    },
    ToolResult {
        id: &'a str,
        path: String,
        text: String,
    },
    Other,
}

fn turns(messages: &[Value], version: Version) -> Result<Vec<Turn<'_>>, Refusal> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let path = format!("messages.{at}");
        let role = match message.get("role").and_then(Value::as_str) {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            // Instructions in mid-conversation belong to no turn.
            Some("system") if at > 0 => {
                content(message, Role::User, &path, version)?;
                continue;
            }
            None => return Err(Refusal::missing(&format!("{path}.role"))),
            Some(_) => {
                let path = format!("{path}.role");
                return Err(Refusal::field(
                    &path,
                    "Input should be 'user' or 'assistant'",
                ));
            }
        };
        let blocks = content(message, role, &path, version)?;
        match turns.last_mut() {
            Some(last) if last.role == role => last.blocks.extend(blocks),
            _ => turns.push(Turn { role, at, blocks }),
        }
    }
    Ok(turns)
}

fn content<'a>(
    message: &'a Value,
    role: Role,
    path: &str,
    version: Version,
) -> Result<Vec<Block<'a>>, Refusal> {
    let blocks = match message.get("content") {
        Some(Value::String(text)) if !text.is_empty() => return Ok(vec![Block::Text(text)]),
        Some(Value::Array(blocks)) if !blocks.is_empty() => blocks,
        Some(Value::String(_) | Value::Array(_)) => {
            let what = "all messages must have non-empty content except for the optional final \
                        assistant message";
            return Err(Refusal::field(path, what));
        }
        None => return Err(Refusal::missing(&format!("{path}.content"))),
        Some(_) => {
            let path = format!("{path}.content");
            return Err(Refusal::field(&path, "Input should be a valid list"));
        }
    };
    let blocks = blocks.iter().enumerate();
    blocks
        .map(|(at, block)| self::block(block, role, format!("{path}.content.{at}"), version))
        .collect()
}

fn block(block: &Value, role: Role, path: String, version: Version) -> Result<Block<'_>, Refusal> {
    let Some(kind) = block.get("type").and_then(Value::as_str) else {
        return Err(Refusal::missing(&format!("{path}.type")));
    };
    match (kind, role) {
        ("text", _) => {
            let cited = |citations: &Value| citations.as_array().is_some_and(|c| !c.is_empty());
            if role == Role::User
                && version == Version::Second
                && block.get("citations").is_some_and(cited)
            {
                return Err(Refusal::extra(&format!("{path}.text.citations")));
            }
            text(block, &path).map(Block::Text)
        }
        ("tool_use", Role::Assistant) => tool_use(block, &path),
        ("tool_result", Role::User) => tool_result_of(block, path),
        ("thinking", Role::Assistant) => thinking(block, &path),
        ("redacted_thinking", Role::Assistant) => {
            string(block, "data", &format!("{path}.redacted_thinking")).map(|_| Block::Other)
        }
        ("image", Role::User) => source(block, &path, "image"),
        ("document", Role::Assistant) if version == Version::Second => Err(unknown_tag(&path)),
        ("document", _) => source(block, &path, "document"),
        ("tool_use" | "thinking" | "redacted_thinking", Role::User) => {
            let message = format!("{path}: `{kind}` blocks can only be in `assistant` messages");
            Err(Refusal::invalid(message))
        }
        ("tool_result" | "image", Role::Assistant) => {
            let message = format!("{path}: `{kind}` blocks can only be in `user` messages");
            Err(Refusal::invalid(message))
        }
        // Blocks about tools the provider runs itself: taken as they are.
        _ if FOREIGN.contains(&kind) || kind.ends_with("_tool_result") => Ok(Block::Other),
        _ => Err(unknown_tag(&path)),
    }
}

fn text<'a>(block: &'a Value, path: &str) -> Result<&'a str, Refusal> {
    let text = string(block, "text", &format!("{path}.text"))?;
    if text.is_empty() {
        let what = "text content blocks must be non-empty";
        return Err(Refusal::field("messages", what));
    }
    if text.trim().is_empty() {
        let what = "text content blocks must contain non-whitespace text";
        return Err(Refusal::field("messages", what));
    }
    Ok(text)
}

fn tool_use<'a>(block: &'a Value, path: &str) -> Result<Block<'a>, Refusal> {
    let path = format!("{path}.tool_use");
    let id = string(block, "id", &path)?;
    if !is_name(id, usize::MAX) {
        let what = "String should match pattern '^[a-zA-Z0-9_-]+$'";
        return Err(Refusal::field(&format!("{path}.id"), what));
    }
    let name = string(block, "name", &path)?;
    if name.is_empty() {
        let what = "String should have at least 1 character";
        return Err(Refusal::field(&format!("{path}.name"), what));
    }
    let input = format!("{path}.input");
    match block.get("input") {
        Some(Value::Object(_)) => Ok(Block::ToolUse { id }),
        Some(_) => Err(Refusal::field(&input, "Input should be a valid dictionary")),
        None => Err(Refusal::missing(&input)),
    }
}

fn tool_result_of(block: &Value, path: String) -> Result<Block<'_>, Refusal> {
    let inside = format!("{path}.tool_result");
    let id = string(block, "tool_use_id", &inside)?;
    if !matches!(
        block.get("is_error"),
        None | Some(Value::Null | Value::Bool(_))
    ) {
        let path = format!("{inside}.is_error");
        return Err(Refusal::field(&path, "Input should be a valid boolean"));
    }
    let mut said = String::new();
    match block.get("content") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => said.push_str(text),
        Some(Value::Array(parts)) => {
            for (at, part) in parts.iter().enumerate() {
                let path = format!("{inside}.content.{at}");
                match part.get("type").and_then(Value::as_str) {
                    Some("text") => said.push_str(text(part, &path)?),
                    Some(kind @ ("image" | "document")) => {
                        source(part, &path, kind)?;
                    }
                    Some("search_result" | "tool_reference") => {}
                    _ => return Err(unknown_tag(&path)),
                }
            }
        }
        Some(_) => {
            let path = format!("{inside}.content");
            return Err(Refusal::field(&path, "Input should be a valid list"));
        }
    }
    Ok(Block::ToolResult {
        id,
        path,
        text: said,
    })
}

/// Thinking goes back with its signature, and unchanged: one of ours must be ours in its words too.
fn thinking<'a>(block: &Value, path: &str) -> Result<Block<'a>, Refusal> {
    let inside = format!("{path}.thinking");
    let words = string(block, "thinking", &inside)?;
    let signature = string(block, "signature", &inside)?;
    if signature.is_empty() {
        let message = format!("{path}: Invalid `signature` in `thinking` block");
        return Err(Refusal::invalid(message));
    }
    let ours = words.is_empty() || words == crate::mounts::says::REASONING;
    if signature == SIGNATURE && !ours {
        let message = format!(
            "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message \
             cannot be modified"
        );
        return Err(Refusal::invalid(message));
    }
    Ok(Block::Other)
}

fn source<'a>(block: &Value, path: &str, kind: &str) -> Result<Block<'a>, Refusal> {
    let path = format!("{path}.{kind}.source");
    let Some(source) = block.get("source") else {
        return Err(Refusal::missing(&path));
    };
    let needed: &[&str] = match source.get("type").and_then(Value::as_str) {
        Some("base64") => &["media_type", "data"],
        Some("url") => &["url"],
        Some("file") => &["file_id"],
        Some("text") if kind == "document" => &["media_type", "data"],
        Some("content") if kind == "document" => return Ok(Block::Other),
        _ => return Err(unknown_tag(&path)),
    };
    for name in needed {
        string(source, name, &path)?;
    }
    Ok(Block::Other)
}

fn string<'a>(object: &'a Value, name: &str, path: &str) -> Result<&'a str, Refusal> {
    let path = format!("{path}.{name}");
    match object.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Refusal::field(&path, "Input should be a valid string")),
        None => Err(Refusal::missing(&path)),
    }
}

/// Every result answers a call of the turn before, and every call is answered first thing after.
fn calls_and_results(turns: &[Turn<'_>]) -> Result<(), Refusal> {
    let mut open: Vec<&str> = Vec::new();
    let mut all: Vec<&str> = Vec::new();
    for turn in turns {
        let mut others = false;
        for block in &turn.blocks {
            match block {
                Block::ToolUse { id } => {
                    if all.contains(id) {
                        let what = "`tool_use` ids must be unique";
                        return Err(Refusal::field("messages", what));
                    }
                    all.push(id);
                }
                Block::ToolResult { id, path, .. } => {
                    let found = open.iter().position(|call| call == id);
                    let Some(found) = found else {
                        let what = format!(
                            "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                             `tool_result` block must have a corresponding `tool_use` block in \
                             the previous message."
                        );
                        return Err(Refusal::field(path, &what));
                    };
                    if others {
                        return Err(unanswered(turn.at, id));
                    }
                    open.swap_remove(found);
                }
                Block::Text(_) | Block::Other => others = true,
            }
        }
        if let Some(id) = open.first() {
            return Err(unanswered(turn.at, id));
        }
        let calls = turn.blocks.iter().filter_map(|block| match block {
            Block::ToolUse { id } => Some(*id),
            _ => None,
        });
        open = calls.collect();
    }
    match (open.first(), turns.last()) {
        (Some(id), Some(last)) => Err(unanswered(last.at, id)),
        _ => Ok(()),
    }
}

fn unanswered(at: usize, id: &str) -> Refusal {
    let what = format!(
        "`tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message."
    );
    Refusal::field(&format!("messages.{at}"), &what)
}

fn words(turns: &[Turn<'_>]) -> String {
    let mut words = String::new();
    for block in turns.iter().flat_map(|turn| &turn.blocks) {
        match block {
            Block::Text(text) => words.push_str(text),
            Block::ToolResult { text, .. } => words.push_str(text),
            Block::ToolUse { .. } | Block::Other => continue,
        }
        words.push('\n');
    }
    words
}

/// By message, not by turn: of two user messages in a row the later one is asked.
fn prompt(messages: &[Value]) -> String {
    let users = messages
        .iter()
        .rev()
        .filter(|message| message.get("role").is_some_and(|role| role == "user"));
    let mut texts = users.filter_map(|message| match message.get("content")? {
        Value::String(text) => Some(text.as_str()),
        content => content.as_array()?.iter().find_map(|block| {
            let text = block.get("type").is_some_and(|kind| kind == "text");
            block.get("text").filter(|_| text)?.as_str()
        }),
    });
    texts.next().unwrap_or_default().to_owned()
}

fn tool_result(turns: &[Turn<'_>]) -> Option<String> {
    match turns.last()?.blocks.last()? {
        Block::ToolResult { text, .. } => Some(text.clone()),
        _ => None,
    }
}

const FOREIGN: [&str; 4] = [
    "search_result",
    "server_tool_use",
    "container_upload",
    "mcp_tool_use",
];
