//! From an error of the Messages API to a [`Fault`].
//!
//! The only place here that looks at words. A type or code that names a kind beats the status; the
//! general ones (`invalid_request_error`, `api_error`) decide only where there is no status.

use serde_json::Value;

use crate::dialect::Fault;
use crate::kind::{ErrorKind, classify_status};
use crate::native::{cut, headline};

/// Classifies a reply with a status of 300 or more, whatever its body is.
pub(super) fn reply(status: u16, body: &[u8]) -> Fault {
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return Fault::from_status(status).with_message(headline(body));
    };
    let said = Said::read(&value, 0).unwrap_or_else(|| Said::of(&value));
    fault(said, Some(status))
}

/// Classifies an error inside a reply with a status below 300; `None` where it is none.
pub(super) fn in_band(body: &[u8]) -> Option<Fault> {
    let value: Value = serde_json::from_slice(body).ok()?;
    Said::read(&value, 0).map(|said| fault(said, None))
}

/// Classifies what is known to be an error, whatever it looks like.
pub(super) fn error_event(data: &str) -> Fault {
    let said = match serde_json::from_str::<Value>(data) {
        Ok(value) => Said::read(&value, 0).unwrap_or_else(|| Said::of(&value)),
        Err(_) => Said {
            message: data.to_owned(),
            ..Said::default()
        },
    };
    fault(said, None)
}

/// What an error says of itself.
#[derive(Default)]
struct Said {
    kind: String,
    code: Option<String>,
    status: Option<u16>,
    message: String,
    request_id: Option<String>,
}

impl Said {
    fn read(body: &Value, depth: usize) -> Option<Self> {
        let body = match body {
            Value::Array(items) => items.iter().find(|item| !item["error"].is_null())?,
            body => body,
        };
        let error = &body["error"];
        let mut said = match error {
            Value::Object(_) => Self::of(error),
            // Proxies in front of the API write what they like.
            Value::String(text) => Self {
                message: text.clone(),
                ..Self::default()
            },
            _ if body["type"] == "error" => Self::of(body),
            _ => return None,
        };
        said.request_id = text(&body["request_id"]);
        // Some proxies put the provider's whole body into the message, as text.
        if depth < MAX_DEPTH
            && said.message.starts_with('{')
            && let Ok(inner) = serde_json::from_str::<Value>(&said.message)
            && let Some(inner) = Self::read(&inner, depth + 1)
        {
            said = Self {
                kind: if inner.kind.is_empty() {
                    said.kind
                } else {
                    inner.kind
                },
                code: inner.code.or(said.code),
                status: inner.status.or(said.status),
                message: inner.message,
                request_id: inner.request_id.or(said.request_id),
            };
        }
        Some(said)
    }

    fn of(error: &Value) -> Self {
        let number = error["code"].as_u64().or_else(|| error["status"].as_u64());
        Self {
            kind: text(&error["type"])
                .filter(|kind| kind != "error")
                .unwrap_or_default(),
            code: text(&error["details"]["error_code"]).or_else(|| text(&error["code"])),
            status: number.and_then(|number| u16::try_from(number).ok()),
            message: match &error["message"] {
                Value::String(message) => message.clone(),
                // Gateways have words of their own.
                Value::Null => text(&error["detail"]).unwrap_or_default(),
                other => other.to_string(),
            },
            request_id: None,
        }
    }
}

fn fault(said: Said, http: Option<u16>) -> Fault {
    let status = http.or(said.status);
    let words = [said.code.as_deref().unwrap_or(""), said.kind.as_str()];
    let message = said.message.to_ascii_lowercase();
    let (kind, overloaded) = kind(status, words, &message);
    let mut fault = match status {
        Some(status) if kind == classify_status(status) => Fault::from_status(status),
        _ => Fault::new(kind),
    };
    if overloaded {
        fault = fault.with_overloaded(true);
    }
    fault = fault
        .with_status(said.status)
        .with_message(cut(said.message));
    if let Some(code) = said
        .code
        .or(Some(said.kind))
        .filter(|code| !code.is_empty())
    {
        fault = fault.with_code(code);
    }
    match said.request_id {
        Some(id) => fault.with_request_id(id),
        None => fault,
    }
}

/// The kind, and whether the provider is overloaded.
fn kind(status: Option<u16>, words: [&str; 2], message: &str) -> (ErrorKind, bool) {
    let says = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let contains = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    // Billing comes with a 400 or a 429, and waiting heals neither.
    let quota = words
        .iter()
        .any(|word| word.ends_with("spend_limit_reached"))
        || says(&["billing_error", "insufficient_quota"])
        || match status {
            None | Some(400 | 402 | 403) => contains(QUOTA_PHRASES),
            // Of a 429 less is believed: most of them are limits by the minute.
            Some(429) => contains(&QUOTA_PHRASES[..2]),
            _ => false,
        };
    if quota {
        return (ErrorKind::QuotaExhausted, false);
    }
    if status == Some(429) {
        return (ErrorKind::RateLimit, false);
    }
    if says(&[
        "overloaded_error",
        "compaction_unavailable",
        "server_is_overloaded",
    ]) {
        return (ErrorKind::Server, true);
    }
    if says(&["rate_limit_error"]) {
        return (ErrorKind::RateLimit, false);
    }
    if says(&["authentication_error", "permission_error"]) {
        return (ErrorKind::Auth, false);
    }
    if says(&["not_found_error"]) {
        return (ErrorKind::NotFound, false);
    }
    let context = says(&["context_length_exceeded", "model_context_window_exceeded"])
        || (status.is_none_or(|status| matches!(status, 400 | 413 | 422 | 500))
            && contains(CONTEXT_PHRASES));
    if context {
        return (ErrorKind::ContextLength, false);
    }
    let kind = match status {
        Some(status) => classify_status(status),
        None if says(&["invalid_request_error", "request_too_large"]) => ErrorKind::BadRequest,
        None => ErrorKind::Server,
    };
    (kind, false)
}

fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// How often a body may be wrapped in another's message.
const MAX_DEPTH: usize = 2;

/// In lower case; from the API's own errors. The first two can mean nothing else.
const QUOTA_PHRASES: &[&str] = &[
    "credit balance is too low",
    "specified api usage limits",
    "usage limits",
    "spend limit",
];

/// In lower case; the first two are the API's own, the others those of servers that speak like it.
const CONTEXT_PHRASES: &[&str] = &[
    "prompt is too long",
    "exceed context limit",
    "maximum context length",
    "longer than the model's context length",
    "exceeds the available context size",
    "too many input tokens",
    "input is too long",
    "reduce the length",
];
