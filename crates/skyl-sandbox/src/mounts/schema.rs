//! A document that fits a JSON schema, made by rule.
//!
//! Not a validator: `$ref` and `oneOf` are not understood. Objects get every property in sorted
//! order, so that the same schema gives the same document however it was written.

use serde_json::{Map, Value, json};

/// Makes a document for a schema; an empty schema is none.
pub(crate) fn document(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    (!members.is_empty()).then(|| make(schema, 0))
}

fn make(schema: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return Value::Null;
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(first) = schema
        .get("enum")
        .and_then(Value::as_array)
        .and_then(|values| values.first())
    {
        return first.clone();
    }
    match kind(schema) {
        "object" => {
            let mut names: Vec<_> = schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .collect();
            names.sort_by_key(|(name, _)| name.as_str());
            let members = names
                .into_iter()
                .map(|(name, schema)| (name.clone(), make(schema, depth + 1)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        "array" => json!([make(schema.get("items").unwrap_or(&Value::Null), depth + 1)]),
        "integer" => json!(1),
        "number" => json!(1.5),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!("sandbox"),
    }
}

/// The type; the first that is not null where there are several, `object` where there are only
/// properties.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
            .unwrap_or("null"),
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    }
}

const DEEPEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &Value) {
        assert_eq!(document(schema).as_ref(), Some(expected));
    }

    #[test]
    fn each_type_has_its_value() {
        let schema = json!({"type": "object", "properties": {
            "z": {"type": "string"}, "a": {"type": ["null", "integer"]}, "n": {"type": "number"},
            "b": {"type": "boolean"}, "l": {"type": "array", "items": {"enum": ["x", "y"]}},
            "c": {"const": 7}, "o": {"properties": {"p": {"type": "null"}}},
        }});
        let expected = json!({"a": 1, "b": true, "c": 7, "l": ["x"], "n": 1.5, "o": {"p": null}, "z": "sandbox"});
        check(&schema, &expected);
        let names: Vec<_> = document(&schema)
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        assert_eq!(names, ["a", "b", "c", "l", "n", "o", "z"]);
    }

    #[test]
    fn an_empty_schema_is_none_and_a_deep_one_ends() {
        assert_eq!(document(&json!({})), None);
        assert_eq!(document(&json!("x")), None);
        let mut schema = json!({"type": "string"});
        for _ in 0..20 {
            schema = json!({"type": "array", "items": schema});
        }
        let text = document(&schema).unwrap().to_string();
        assert_eq!(text, format!("{}null{}", "[".repeat(9), "]".repeat(9)));
    }
}
