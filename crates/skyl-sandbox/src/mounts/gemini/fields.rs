//! Fields as protobuf JSON has them: two spellings of each name, `null` for unset, none unknown.

use serde_json::{Map, Value};

use super::errors::Refusal;

/// The body as a JSON object; an empty body is an empty request.
pub(super) fn document(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    if body.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(request)) => Ok(request),
        _ => Err(Refusal::invalid(
            "Invalid JSON payload received. Expected an object.",
        )),
    }
}

/// A field by its camel-case name; the snake-case one is taken too, and `null` is unset.
pub(super) fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let found = object.iter().find(|(key, _)| camel(key) == name);
    found
        .map(|(_, value)| value)
        .filter(|value| !value.is_null())
}

/// Refuses fields that are not among those known, by their camel-case names.
pub(super) fn only(object: &Map<String, Value>, known: &[&str], path: &str) -> Result<(), Refusal> {
    let unknown = object
        .keys()
        .find(|key| !known.contains(&camel(key).as_str()));
    unknown.map_or(Ok(()), |name| Err(Refusal::unknown(name, path)))
}

pub(super) fn list<'a>(
    object: &'a Map<String, Value>,
    name: &str,
    path: &str,
) -> Result<&'a [Value], Refusal> {
    match field(object, name) {
        None => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(Refusal::value(path, other)),
    }
}

pub(super) fn message<'a>(
    object: &'a Map<String, Value>,
    name: &str,
    path: &str,
) -> Result<Option<&'a Map<String, Value>>, Refusal> {
    field(object, name)
        .map(|value| as_message(value, path))
        .transpose()
}

pub(super) fn as_message<'a>(
    value: &'a Value,
    path: &str,
) -> Result<&'a Map<String, Value>, Refusal> {
    value.as_object().ok_or_else(|| Refusal::value(path, value))
}

pub(super) fn text<'a>(
    object: &'a Map<String, Value>,
    name: &str,
    path: &str,
) -> Result<Option<&'a str>, Refusal> {
    match field(object, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Refusal::value(path, other)),
    }
}

/// A list of texts.
pub(super) fn texts<'a>(
    object: &'a Map<String, Value>,
    name: &str,
    path: &str,
) -> Result<Vec<&'a str>, Refusal> {
    let texts = list(object, name, path)?.iter();
    texts
        .map(|text| text.as_str().ok_or_else(|| Refusal::value(path, text)))
        .collect()
}

/// A whole number, which protobuf JSON also takes as text.
pub(super) fn number(
    object: &Map<String, Value>,
    name: &str,
    path: &str,
) -> Result<Option<i64>, Refusal> {
    let Some(value) = field(object, name) else {
        return Ok(None);
    };
    let text = value.as_str().and_then(|text| text.parse().ok());
    let number = value.as_i64().or(text);
    number.map(Some).ok_or_else(|| Refusal::value(path, value))
}

/// `function_call` as `functionCall`; a name in camel case stays as it is.
fn camel(key: &str) -> String {
    let mut camel = String::with_capacity(key.len());
    let mut upper = false;
    for char in key.chars() {
        if char == '_' && !camel.is_empty() {
            upper = true;
        } else if upper {
            camel.push(char.to_ascii_uppercase());
            upper = false;
        } else {
            camel.push(char);
        }
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_name_a_field_and_null_is_unset() {
        let object = json!({"function_call": 1, "fileData": 2, "text": null});
        let object = object.as_object().unwrap();
        assert_eq!(field(object, "functionCall"), Some(&json!(1)));
        assert_eq!(field(object, "fileData"), Some(&json!(2)));
        assert_eq!(field(object, "text"), None);
        assert!(only(object, &["functionCall", "fileData", "text"], "").is_ok());
        assert!(only(object, &["functionCall", "fileData"], "").is_err());
    }

    #[test]
    fn whole_numbers_may_be_texts() {
        let object = json!({"a": 5, "b": "6", "c": 1.5, "d": "x"});
        let read = |name| number(object.as_object().unwrap(), name, name);
        assert_eq!(read("a").unwrap(), Some(5));
        assert_eq!(read("b").unwrap(), Some(6));
        assert_eq!(read("e").unwrap(), None);
        assert!(read("c").is_err() && read("d").is_err());
    }
}
