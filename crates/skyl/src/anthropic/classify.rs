//! From an error of the Messages API to a [`Fault`].
//!
//! The only place here that looks at words. A type or code that names a kind beats the status; the
//! general ones (`invalid_request_error`, `api_error`) decide only where there is no status.

use serde_json::Value;

use crate::dialect::Fault;
use crate::dialect::report::{Report, is_blank};
use crate::dialect::words::{is_context, is_overloaded, is_quota, named};
use crate::kind::{ErrorKind, classify_status};
use crate::native::{bare, cut, headline};

/// Classifies a reply with a status of 300 or more, whatever its body is.
pub(super) fn reply(status: u16, body: &[u8]) -> Fault {
    let Ok(value) = serde_json::from_slice::<Value>(bare(body)) else {
        return Fault::from_status(status).with_message(headline(body));
    };
    let said = Said::read(&value, 0).unwrap_or_else(|| Said::foreign(Report::of(&value)));
    fault(said, Some(status))
}

/// Classifies an error inside a reply with a status below 300; `None` where it is none.
pub(super) fn in_band(body: &[u8]) -> Option<Fault> {
    let value: Value = serde_json::from_slice(bare(body)).ok()?;
    if Report::is_mute(&value) {
        return Some(Fault::empty_response());
    }
    Said::read(&value, 0).map(|said| fault(said, None))
}

/// What a whole body without an answer is: an error, the provider's word, or nothing at all.
pub(super) fn no_answer(body: &[u8]) -> Fault {
    let said = || Report::of_body(&serde_json::from_slice(bare(body)).ok()?);
    match in_band(body) {
        Some(fault) => fault,
        None => said().map_or_else(Fault::empty_response, |report| {
            fault(Said::foreign(report), None)
        }),
    }
}

/// Classifies what is known to be an error, whatever it looks like.
pub(super) fn error_event(data: &str) -> Fault {
    let said = match serde_json::from_str::<Value>(data) {
        Ok(value) => Said::read(&value, 0).unwrap_or_else(|| Said::foreign(Report::of(&value))),
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
        // Of an event that has a name of its own, only a field `error` makes an error.
        let is_event = body["type"]
            .as_str()
            .is_some_and(|kind| !kind.to_ascii_lowercase().contains("error"));
        if is_event && body["object"] != "error" && is_blank(&body["error"]) {
            return None;
        }
        let mut said = if is_own(&body["error"]) {
            Self::of(&body["error"])
        } else {
            Self::foreign(Report::find(body)?)
        };
        said.request_id = said.request_id.or_else(|| text(&body["request_id"]));
        // Some proxies put the provider's whole body into the message, as text.
        if depth < MAX_DEPTH
            && said.message.trim_start().starts_with(['{', '['])
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
        let number = number(&error["code"]).or_else(|| number(&error["status"]));
        // Google's word for the status, where a gateway passes it on.
        let status =
            text(&error["status"]).filter(|word| word != "error" && word.parse::<u16>().is_err());
        Self {
            kind: text(&error["type"])
                .filter(|kind| kind != "error")
                .or(status)
                .unwrap_or_default(),
            code: text(&error["details"]["error_code"]).or_else(|| text(&error["code"])),
            status: number,
            message: text(&error["message"]).unwrap_or_default(),
            request_id: None,
        }
    }

    /// An error in anybody else's shape, as proxies in front of the API write them.
    fn foreign(report: Report) -> Self {
        let names = |word: &&String| named(word).is_some() || is_quota(word);
        let telling = report.words.iter().find(names).cloned();
        Self {
            kind: telling.or(report.kind).unwrap_or_default(),
            code: report.code,
            status: report.number,
            message: report.message.unwrap_or_default(),
            request_id: report.request_id,
        }
    }
}

/// Whether an error is in the API's own shape.
fn is_own(error: &Value) -> bool {
    error["message"].is_string()
}

fn fault(said: Said, http: Option<u16>) -> Fault {
    // An error that calls itself a success, as gateways write them, says nothing by that.
    let status = http.or(said.status.filter(|status| *status >= 400));
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
    let lower = words.map(str::to_ascii_lowercase);
    let says = |names: &[&str]| lower.iter().any(|word| names.contains(&word.as_str()));
    let contains = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    // Billing comes with a 400 or a 429, and waiting heals neither.
    let quota = lower.iter().any(|word| is_quota(word))
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
    if let Some(kind) = lower.iter().find_map(|word| named(word)) {
        let overloaded = lower.iter().any(|word| is_overloaded(word));
        return (kind, overloaded && kind == ErrorKind::Server);
    }
    if status.is_none_or(|status| matches!(status, 400 | 413 | 422 | 500)) && is_context(message) {
        return (ErrorKind::ContextLength, false);
    }
    if status == Some(400) && contains(KEY_PHRASES) {
        return (ErrorKind::Auth, false);
    }
    let kind = match status {
        Some(status) => classify_status(status),
        None if says(&["invalid_request_error", "request_too_large"]) => ErrorKind::BadRequest,
        None => ErrorKind::Server,
    };
    (kind, false)
}

/// A number that can be a status, also as digits in a text.
fn number(value: &Value) -> Option<u16> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64().and_then(|number| u16::try_from(number).ok()),
    };
    number.filter(|number| (100..=599).contains(number))
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

/// In lower case; those of servers that answer a wrong key with a 400.
const KEY_PHRASES: &[&str] = &["incorrect api key", "api key not valid"];
