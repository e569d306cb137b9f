//! A document that fits a JSON schema, made by rule.
//!
//! Not a validator. Objects get every property in sorted order, so that the same schema gives the
//! same document however it was written. Local references are followed, and of several variants
//! the first that is not null is taken: what schema generators write for nested and optional types.

use serde_json::{Map, Value, json};

/// Makes a document for a schema; an empty schema is none.
pub(crate) fn document(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    (!members.is_empty()).then(|| make(schema, schema, 0))
}

fn make(root: &Value, schema: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return Value::Null;
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        // A reference that leads nowhere, or out of the document, fits nothing we could make.
        let target = reference
            .strip_prefix('#')
            .and_then(|path| root.pointer(path));
        return target.map_or(Value::Null, |target| make(root, target, depth + 1));
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(first) = list(schema, "enum").first() {
        return first.clone();
    }
    let mut variants = ["anyOf", "oneOf", "allOf"]
        .iter()
        .flat_map(|key| list(schema, key));
    if let Some(variant) = variants.find(|variant| kind(variant) != "null") {
        return make(root, variant, depth + 1);
    }
    match kind(schema) {
        "object" => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let mut named: Vec<_> = properties.into_iter().flatten().collect();
            named.sort_by_key(|(name, _)| name.as_str());
            let members = named
                .into_iter()
                .map(|(name, schema)| (name.clone(), make(root, schema, depth + 1)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        "array" => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            json!([make(root, items, depth + 1)])
        }
        "integer" => json!(1),
        "number" => json!(1.5),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!("sandbox"),
    }
}

fn list<'s>(schema: &'s Value, key: &str) -> &'s [Value] {
    schema
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The type; the first that is not null where there are several, `object` where there are only
/// properties.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
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
    fn references_and_variants_of_generated_schemas_are_followed() {
        let schema = json!({
            "$defs": {"In": {"type": "object", "properties": {"x": {"type": "integer"}}}},
            "type": "object",
            "properties": {
                "inner": {"$ref": "#/$defs/In"},
                "items": {"type": "array", "items": {"$ref": "#/$defs/In"}},
                "maybe": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
                "lost": {"$ref": "#/$defs/Nope"},
                "far": {"$ref": "https://example.org/schema"},
            },
        });
        let inner = json!({"x": 1});
        check(
            &schema,
            &json!({"far": null, "inner": inner, "items": [inner], "lost": null, "maybe": 1}),
        );
        // A type that holds itself ends.
        let endless = json!({"$ref": "#"});
        assert_eq!(document(&endless), Some(Value::Null));
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
