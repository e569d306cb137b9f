//! The items of a request, and what has to stand beside what.

use serde_json::{Map, Value};

use super::{refusal::Refusal, write::SIGNATURE};

/// What the conversation comes to.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// The text of the last user message that has one.
    pub(super) prompt: String,
    /// The last tool result, if the conversation ends in one.
    pub(super) tool_result: Option<String>,
    /// All words, for counting.
    pub(super) words: String,
    /// Calls without an output so far.
    open: Vec<String>,
    /// A reasoning item that nothing has followed yet.
    reasoning: Option<String>,
}

impl Input {
    /// Reads a text or a list of items.
    pub(super) fn read(input: Option<&Value>) -> Result<Self, Refusal> {
        let mut read = Self::default();
        match input {
            None | Some(Value::Null) => {
                let message = "One of \"input\" or \"previous_response_id\" or 'prompt' or \
                               'conversation_id' must be provided.";
                return Err(Refusal::invalid(message, "input"));
            }
            Some(Value::String(text)) => {
                read.prompt.clone_from(text);
                read.words.clone_from(text);
            }
            Some(Value::Array(items)) => {
                if items.is_empty() {
                    let message = "Invalid 'input': empty array. Expected at least one item.";
                    return Err(Refusal::invalid(message, "input"));
                }
                for (at, item) in items.iter().enumerate() {
                    read.item(item, &format!("input[{at}]"))?;
                }
            }
            Some(other) => {
                return Err(Refusal::kind(
                    "input",
                    "a string or an array of items",
                    other,
                ));
            }
        }
        if let Some(id) = read.reasoning {
            return Err(alone(&id));
        }
        match read.open.first() {
            Some(id) => Err(unanswered(id)),
            None => Ok(read),
        }
    }

    fn item(&mut self, item: &Value, at: &str) -> Result<(), Refusal> {
        let Value::Object(fields) = item else {
            return Err(Refusal::kind(at, "an input item", item));
        };
        let kind = match fields.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            None if fields.contains_key("role") => "message",
            None => return Err(Refusal::missing(&format!("{at}.type"))),
            Some(other) => return Err(Refusal::kind(&format!("{at}.type"), "a string", other)),
        };
        let is_answer = match kind {
            "message" => self.message(fields, at)?,
            "function_call" | "custom_tool_call" => self.call(fields, kind, at)?,
            "function_call_output" | "custom_tool_call_output" => self.output(fields, at)?,
            "reasoning" => return self.reasoning(fields, at),
            "item_reference" => return Err(Refusal::no_item(text(fields, "id", at)?)),
            kind if OTHERS.contains(&kind) => true,
            kind => return Err(Refusal::value(&format!("{at}.type"), kind, &OURS)),
        };
        match self.reasoning.take() {
            Some(id) if !is_answer => Err(alone(&id)),
            _ => Ok(()),
        }
    }

    /// A message; tells whether the model said it.
    fn message(&mut self, fields: &Map<String, Value>, at: &str) -> Result<bool, Refusal> {
        fields_of(
            fields,
            at,
            &["type", "role", "content", "id", "status", "phase"],
        )?;
        let role = text(fields, "role", at)?;
        let is_answer = match role {
            "assistant" => true,
            "user" | "system" | "developer" => false,
            other => return Err(Refusal::value(&format!("{at}.role"), other, &ROLES)),
        };
        let at = format!("{at}.content");
        let texts = match fields.get("content") {
            None | Some(Value::Null) => return Err(Refusal::missing(&at)),
            Some(Value::String(text)) => vec![text.as_str()],
            Some(Value::Array(parts)) => {
                let parts = parts.iter().enumerate();
                let texts = parts.map(|(n, value)| part(value, is_answer, &format!("{at}[{n}]")));
                texts
                    .filter_map(Result::transpose)
                    .collect::<Result<_, _>>()?
            }
            Some(other) => {
                return Err(Refusal::kind(&at, "a string or an array of parts", other));
            }
        };
        self.count(&texts.concat());
        self.tool_result = None;
        if role == "user"
            && let Some(first) = texts.iter().find(|text| !text.is_empty())
        {
            (*first).clone_into(&mut self.prompt);
        }
        Ok(is_answer)
    }

    fn call(&mut self, fields: &Map<String, Value>, kind: &str, at: &str) -> Result<bool, Refusal> {
        let said = if kind == "function_call" {
            "arguments"
        } else {
            "input"
        };
        fields_of(
            fields,
            at,
            &[
                "type",
                "id",
                "call_id",
                "name",
                "status",
                "namespace",
                "caller",
                said,
            ],
        )?;
        let id = text(fields, "call_id", at)?;
        text(fields, "name", at)?;
        self.count(text(fields, said, at)?);
        if id.len() > LONGEST_ID {
            let message = format!(
                "Invalid '{at}.call_id': string too long. Expected a string with maximum length \
                 {LONGEST_ID}, but got a string with length {} instead.",
                id.len()
            );
            return Err(Refusal::invalid(message, &format!("{at}.call_id")));
        }
        if self.open.iter().any(|open| open == id) {
            let message = format!("Duplicate call_id found in input: {id}.");
            return Err(Refusal::invalid(message, "input"));
        }
        self.open.push(id.to_owned());
        self.tool_result = None;
        Ok(true)
    }

    fn output(&mut self, fields: &Map<String, Value>, at: &str) -> Result<bool, Refusal> {
        let known = [
            "type",
            "id",
            "call_id",
            "output",
            "status",
            "name",
            "namespace",
            "caller",
        ];
        fields_of(fields, at, &known)?;
        let id = text(fields, "call_id", at)?;
        let Some(open) = self.open.iter().position(|open| open == id) else {
            let message = format!("No tool call found for function call output with call_id {id}.");
            return Err(Refusal::invalid(message, "input"));
        };
        self.open.remove(open);
        let at = format!("{at}.output");
        let output = match fields.get("output") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                let parts = parts.iter().enumerate();
                let texts = parts.map(|(n, value)| part(value, false, &format!("{at}[{n}]")));
                texts
                    .filter_map(Result::transpose)
                    .collect::<Result<String, _>>()?
            }
            None | Some(Value::Null) => return Err(Refusal::missing(&at)),
            Some(other) => {
                return Err(Refusal::kind(&at, "a string or an array of parts", other));
            }
        };
        self.count(&output);
        self.tool_result = Some(output);
        Ok(false)
    }

    fn reasoning(&mut self, fields: &Map<String, Value>, at: &str) -> Result<(), Refusal> {
        let known = [
            "type",
            "id",
            "summary",
            "content",
            "encrypted_content",
            "status",
        ];
        fields_of(fields, at, &known)?;
        let id = text(fields, "id", at)?;
        match fields.get("summary") {
            Some(Value::Array(_)) => {}
            None => return Err(Refusal::missing(&format!("{at}.summary"))),
            Some(other) => return Err(Refusal::kind(&format!("{at}.summary"), "an array", other)),
        }
        match fields.get("encrypted_content") {
            Some(Value::String(content)) if content == SIGNATURE => {}
            Some(Value::String(_)) => {
                return Err(Refusal::not_ours(&format!("{at}.encrypted_content")));
            }
            // Nothing is kept here, so that an id alone means nothing.
            _ => return Err(Refusal::no_item(id)),
        }
        self.reasoning = Some(id.to_owned());
        Ok(())
    }

    fn count(&mut self, words: &str) {
        self.words.push_str(words);
        self.words.push('\n');
    }
}

/// The text of a part, or what is wrong with the part; a picture has none.
fn part<'a>(part: &'a Value, said: bool, at: &str) -> Result<Option<&'a str>, Refusal> {
    let Value::Object(fields) = part else {
        return Err(Refusal::kind(at, "a content part", part));
    };
    let known: &[&str] = if said { &SAID } else { &HEARD };
    let kind = text(fields, "type", at)?;
    match kind {
        kind if !known.contains(&kind) => Err(Refusal::value(&format!("{at}.type"), kind, known)),
        "input_text" => {
            fields_of(fields, at, &["type", "text", "prompt_cache_breakpoint"])?;
            text(fields, "text", at).map(Some)
        }
        "output_text" => {
            fields_of(fields, at, &["type", "text", "annotations", "logprobs"])?;
            text(fields, "text", at).map(Some)
        }
        "refusal" => text(fields, "refusal", at).map(Some),
        "input_image" => match (fields.get("image_url"), fields.get("file_id")) {
            (Some(Value::String(url)), _) if is_address(url) => Ok(None),
            (Some(Value::String(_)), _) => {
                let message = format!(
                    "Invalid '{at}.image_url'. Expected a valid URL, but got a value with an \
                     invalid format."
                );
                Err(Refusal::invalid(message, &format!("{at}.image_url")))
            }
            (Some(Value::Null) | None, Some(Value::String(_))) => Ok(None),
            (Some(Value::Null) | None, _) => Err(Refusal::missing(&format!("{at}.image_url"))),
            (Some(other), _) => Err(Refusal::kind(
                &format!("{at}.image_url"),
                "an image URL",
                other,
            )),
        },
        _ => Ok(None),
    }
}

fn is_address(url: &str) -> bool {
    ["http://", "https://", "data:image/"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

/// A text that has to be there.
fn text<'a>(fields: &'a Map<String, Value>, name: &str, at: &str) -> Result<&'a str, Refusal> {
    match fields.get(name) {
        Some(Value::String(text)) => Ok(text),
        None | Some(Value::Null) => Err(Refusal::missing(&format!("{at}.{name}"))),
        Some(other) => Err(Refusal::kind(&format!("{at}.{name}"), "a string", other)),
    }
}

fn fields_of(fields: &Map<String, Value>, at: &str, known: &[&str]) -> Result<(), Refusal> {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Refusal::unknown(&format!("{at}.{name}"))),
        None => Ok(()),
    }
}

fn alone(id: &str) -> Refusal {
    let message = format!(
        "Item '{id}' of type 'reasoning' was provided without its required following item."
    );
    Refusal::invalid(message, "input")
}

fn unanswered(id: &str) -> Refusal {
    let message = format!("No tool output found for function call {id}.");
    Refusal::invalid(message, "input")
}

const ROLES: [&str; 4] = ["assistant", "system", "developer", "user"];

/// Parts of what the model said.
const SAID: [&str; 2] = ["output_text", "refusal"];

/// Parts of what it heard.
const HEARD: [&str; 4] = ["input_text", "input_image", "input_file", "input_audio"];

/// Items that are read.
const OURS: [&str; 7] = [
    "message",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "reasoning",
    "item_reference",
];

/// Items that are taken and say nothing here.
const OTHERS: [&str; 12] = [
    "web_search_call",
    "file_search_call",
    "computer_call",
    "computer_call_output",
    "code_interpreter_call",
    "image_generation_call",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "compaction",
];

const LONGEST_ID: usize = 64;
