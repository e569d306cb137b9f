//! What the endpoint says to a request it refuses, in the provider's words and with its codes.

use serde_json::Value;

use super::errors;
use crate::answer::Whole;

/// A refused request.
#[derive(Debug)]
pub(super) struct Refusal {
    status: u16,
    message: String,
    param: Option<String>,
    code: Option<&'static str>,
}

impl Refusal {
    fn new(message: impl Into<String>, param: Option<&str>, code: Option<&'static str>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            param: param.map(str::to_owned),
            code,
        }
    }

    fn not_found(message: String) -> Self {
        Self {
            status: 404,
            ..Self::new(message, None, None)
        }
    }

    /// A body that is no JSON object.
    pub(super) fn unreadable() -> Self {
        let message = "We could not parse the JSON body of your request.";
        Self::new(message, None, None)
    }

    /// A request that is wrong as a whole, or around a field.
    pub(super) fn invalid(message: impl Into<String>, param: &str) -> Self {
        Self::new(message, Some(param), None)
    }

    /// A field that must be there.
    pub(super) fn missing(param: &str) -> Self {
        let message = format!("Missing required parameter: '{param}'.");
        Self::new(message, Some(param), Some("missing_required_parameter"))
    }

    /// A field that does not exist.
    pub(super) fn unknown(param: &str) -> Self {
        let message = format!("Unknown parameter: '{param}'.");
        Self::new(message, Some(param), Some("unknown_parameter"))
    }

    /// A field of Chat Completions, which has another name here.
    pub(super) fn moved(param: &str, to: &str) -> Self {
        let message = format!(
            "Unsupported parameter: '{param}'. In the Responses API, this parameter has moved to \
             '{to}'. Try again with the new parameter."
        );
        Self::new(message, Some(param), Some("unsupported_parameter"))
    }

    /// A field that this model does not take.
    pub(super) fn unsupported(param: &str) -> Self {
        let message = format!("Unsupported parameter: '{param}' is not supported with this model.");
        Self::new(message, Some(param), Some("unsupported_parameter"))
    }

    /// A value of the wrong type.
    pub(super) fn kind(param: &str, expected: &str, got: &Value) -> Self {
        let message = format!(
            "Invalid type for '{param}': expected {expected}, but got {} instead.",
            kind(got)
        );
        Self::new(message, Some(param), Some("invalid_type"))
    }

    /// A word that is none of those there are.
    pub(super) fn value(param: &str, got: &str, known: &[&str]) -> Self {
        let known: Vec<_> = known.iter().map(|word| format!("'{word}'")).collect();
        let known = match known.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{}, and {last}", rest.join(", ")),
            _ => known.concat(),
        };
        let message = format!("Invalid value: '{got}'. Supported values are: {known}.");
        Self::new(message, Some(param), Some("invalid_value"))
    }

    /// A number below what the field takes.
    pub(super) fn below(param: &str, least: u64, got: &Value) -> Self {
        let message = format!(
            "Invalid '{param}': integer below minimum value. Expected a value >= {least}, but got \
             {got} instead."
        );
        Self::new(message, Some(param), Some("integer_below_min_value"))
    }

    /// Reasoning that another key or another model made.
    pub(super) fn not_ours(param: &str) -> Self {
        let message = "The encrypted content could not be verified. Reason: encrypted content is \
                       not of this sandbox.";
        Self::new(message, Some(param), Some("invalid_encrypted_content"))
    }

    /// An answer that is not kept, to go on from.
    pub(super) fn previous(id: &str) -> Self {
        let message = format!("Previous response with id '{id}' not found.");
        let param = Some("previous_response_id");
        Self::new(message, param, Some("previous_response_not_found"))
    }

    pub(super) fn no_response(id: &str) -> Self {
        Self::not_found(format!("Response with id '{id}' not found."))
    }

    pub(super) fn no_conversation(id: &str) -> Self {
        Self::not_found(format!("Conversation with id '{id}' not found."))
    }

    pub(super) fn no_item(id: &str) -> Self {
        Self::not_found(format!(
            "Item with id '{id}' not found. Items are not persisted when `store` is set to false. \
             Try again with `store` set to true, or remove this item from your input."
        ))
    }

    pub(super) fn model(model: &str) -> Self {
        let message = format!("The requested model '{model}' does not exist.");
        Self {
            status: 404,
            ..Self::new(message, Some("model"), Some("model_not_found"))
        }
    }

    pub(super) fn whole(&self) -> Whole {
        let error = errors::object(
            &self.message,
            "invalid_request_error",
            self.param.as_deref(),
            self.code,
        );
        Whole::json(self.status, &error)
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
