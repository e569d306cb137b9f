//! The body of an error without what it echoes of the request.

use serde_json::Value;

/// The body of an error as it may be shown: without what it echoes of the request.
///
/// The values of `input`, `ctx` and `legend`, and of the request's own `state`, `questions`,
/// `instructions`, `criteria`, `assets` and `data_base64`, become `[redacted]`, at any depth and in
/// JSON within strings. A body of status 422, or one that holds any of them, is withheld whole where
/// it cannot be read as JSON: cut in the middle of an echo it would show half of it.
#[must_use]
pub fn redacted_body(status: u16, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let Ok(mut value) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else {
        return if !text.trim().is_empty() && (status == 422 || may_echo(&text)) {
            WITHHELD.to_owned()
        } else {
            text.into_owned()
        };
    };
    // The tree keeps one member of each name, so an echo may be in the text and not in the tree.
    if redact(&mut value, 0) || may_echo(&text) {
        value.to_string()
    } else {
        text.into_owned()
    }
}

/// Takes out what echoes the request; says whether there was any.
fn redact(value: &mut Value, wraps: usize) -> bool {
    match value {
        Value::Object(members) => {
            let mut found = false;
            for (name, member) in members.iter_mut() {
                if ECHOES.contains(&name.as_str()) {
                    *member = Value::String(REDACTED.to_owned());
                    found = true;
                } else {
                    found |= redact(member, wraps);
                }
            }
            found
        }
        Value::Array(elements) => {
            let redacted = elements.iter_mut().map(|element| redact(element, wraps));
            redacted.fold(false, |found, one| found | one)
        }
        // Gateways put the provider's whole body into their message, as text.
        Value::String(text) => {
            let inner = text.trim_start();
            if !may_echo(inner) && !inner.starts_with(['{', '[']) {
                return false;
            }
            match serde_json::from_str::<Value>(inner) {
                Ok(mut inner) if wraps < MAX_WRAPS => {
                    let found = redact(&mut inner, wraps + 1);
                    if found {
                        *text = inner.to_string();
                    }
                    found
                }
                _ if may_echo(inner) => {
                    WITHHELD.clone_into(text);
                    true
                }
                _ => false,
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether text holds a member that echoes the request: in JSON, in JSON within a string, in a
/// Python dict, or in the print of a Python object, as validators put it into their own words
/// (`input_value='…'`, `Request(state={…})`).
pub(super) fn may_echo(text: &str) -> bool {
    let is_member = |at: usize, name: &str| {
        let after = text[at + name.len()..].trim_start_matches('\\');
        let after = after.strip_prefix(['"', '\'']).unwrap_or_default();
        text[..at].ends_with(['"', '\'']) && after.trim_start().starts_with(':')
    };
    let is_argument = |at: usize, name: &str| {
        let after = text[at + name.len()..].strip_prefix("_value");
        let after = after.unwrap_or(&text[at + name.len()..]);
        let value = after.strip_prefix('=').unwrap_or_default();
        let value = value.trim_start_matches(['\\', 'b', 'u', 'r']);
        !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
            && value.starts_with(['"', '\'', '{', '[', '('])
    };
    let found = |name: &&str| {
        text.match_indices(name)
            .any(|(at, _)| is_member(at, name) || is_argument(at, name))
    };
    ECHOES.iter().any(found)
}

/// Members whose value is the caller's own request: what validation errors call it, the request's
/// own fields, and the levels that answers repeat.
const ECHOES: [&str; 9] = [
    "input",
    "ctx",
    "state",
    "questions",
    "instructions",
    "criteria",
    "assets",
    "data_base64",
    "legend",
];

const REDACTED: &str = "[redacted]";

const WITHHELD: &str = "[withheld: it may hold request data]";

/// How often a body may be wrapped in another's message.
const MAX_WRAPS: usize = 3;

#[cfg(test)]
mod tests;
