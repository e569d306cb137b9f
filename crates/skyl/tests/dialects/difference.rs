//! What one body has that another has not, in words short enough for a table.

use serde_json::Value;

/// The fields that are new or changed, as paths; short values stand behind them.
pub(crate) fn added(base: &Value, body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", base, body, &mut found);
    found.dedup();
    found
}

/// A text that fits a cell.
pub(crate) fn short(text: &str) -> &str {
    text.get(..LONGEST).unwrap_or(text)
}

fn compare(path: &str, base: &Value, body: &Value, found: &mut Vec<String>) {
    match (base, body) {
        (base, body) if base == body => {}
        (Value::Object(base), Value::Object(body)) => {
            for (name, value) in body {
                let path = join(path, name);
                match base.get(name) {
                    Some(old) => compare(&path, old, value, found),
                    None => describe(&path, value, found),
                }
            }
        }
        (Value::Array(base), Value::Array(body)) if base.len() == body.len() => {
            for (old, value) in base.iter().zip(body) {
                compare(&format!("{path}[]"), old, value, found);
            }
        }
        (Value::Array(base), Value::Array(body)) => {
            for value in body.iter().filter(|value| !base.contains(value)) {
                describe(&format!("{path}{}", label(value)), value, found);
            }
        }
        // One text that became a list of parts: what is new are the other parts.
        (Value::String(_), Value::Array(body)) => {
            for value in body.iter().filter(|part| !is_text(part)) {
                describe(&format!("{path}{}", label(value)), value, found);
            }
        }
        (_, body) => describe(path, body, found),
    }
}

/// A value that is new, by the fields in it that say something.
fn describe(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        // A turn: what it holds beside its role.
        Value::Object(fields) if is_turn(value) => {
            let before = found.len();
            for (name, value) in fields {
                match value {
                    Value::String(_) if name != "role" && !SAID.contains(&name.as_str()) => {
                        found.push(format!("`{}`", join(path, name)));
                    }
                    Value::Array(items) => {
                        for item in items.iter().filter(|item| !is_text(item)) {
                            found.push(format!("`{}{}`", join(path, name), label(item)));
                        }
                    }
                    _ => {}
                }
            }
            if found.len() == before {
                found.push(format!("`{path}`"));
            }
        }
        Value::Object(fields) if path.ends_with(']') || fields.contains_key("type") => {
            let kind = fields.get("type").and_then(Value::as_str);
            match kind.filter(|_| !path.ends_with(']')) {
                Some(kind) => found.push(format!("`{path}` of type `{kind}`")),
                None => found.push(format!("`{path}`")),
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                describe(&join(path, name), value, found);
            }
        }
        Value::Array(items) if items.iter().all(Value::is_object) => {
            for item in items {
                describe(&format!("{path}{}", label(item)), item, found);
            }
        }
        value => {
            let text = value.to_string();
            found.push(if text.len() <= LONGEST {
                format!("`{path}: {text}`")
            } else {
                format!("`{path}`")
            });
        }
    }
}

/// How an element of a list is called: by its type, its role, or its first field.
fn label(value: &Value) -> String {
    let word = ["type", "role"]
        .iter()
        .find_map(|name| value.get(name)?.as_str())
        .or_else(|| value.as_object()?.keys().next().map(String::as_str));
    word.map_or_else(|| "[]".to_owned(), |word| format!("[{word}]"))
}

fn is_turn(value: &Value) -> bool {
    value.get("role").is_some_and(Value::is_string)
}

/// Whether a part is nothing but words.
fn is_text(part: &Value) -> bool {
    let kind = part.get("type").and_then(Value::as_str);
    match kind {
        Some(kind) => matches!(kind, "text" | "input_text" | "output_text"),
        None => part
            .as_object()
            .is_some_and(|part| part.keys().eq(["text"])),
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// What the words of a turn are called.
const SAID: [&str; 2] = ["content", "type"];

/// What fits beside a path.
const LONGEST: usize = 40;
