//! From an error of the Gemini API to a [`Fault`].
//!
//! The only place here that looks at words. The API has no headers for waits and one status for
//! rate limits and used-up quotas alike, so both are told apart by the error's details.

use std::time::Duration;

use serde_json::Value;
use skyl_retry::Hint;
use skyl_retry::hint::prose;

use crate::dialect::Fault;
use crate::dialect::report::{Report, is_blank, retry_delay};
use crate::dialect::words::{has_any, is_context, is_overloaded, is_quota, named};
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
    /// The numeric code.
    code: Option<u16>,
    /// The canonical name of the code, such as `UNAVAILABLE`.
    status: String,
    message: String,
    /// Codes and types of other providers, which gateways pass on.
    words: Vec<String>,
    /// The reason of `ErrorInfo`.
    reason: Option<String>,
    hint: Hint,
    per_day: bool,
    /// A limit of zero: the plan does not have this at all.
    no_quota: bool,
}

impl Said {
    fn read(body: &Value, depth: usize) -> Option<Self> {
        let body = match body {
            Value::Array(items) => items.iter().find(|item| !item["error"].is_null())?,
            body => body,
        };
        // Beside an answer, only a field `error` makes an error.
        if !body["candidates"].is_null() && is_blank(&body["error"]) {
            return None;
        }
        let mut said = if is_own(&body["error"]) {
            Self::of(&body["error"])
        } else if is_own(body) && number(&body["code"]).is_some_and(|code| code >= 400) {
            // One that lost its envelope.
            Self::of(body)
        } else {
            Self::foreign(Report::find(body)?)
        };
        // SDKs and gateways put the whole body into the message, as text.
        if depth < MAX_DEPTH
            && said.message.trim_start().starts_with(['{', '['])
            && let Ok(inner) = serde_json::from_str::<Value>(&said.message)
            && let Some(inner) = Self::read(&inner, depth + 1)
        {
            said = Self {
                code: inner.code.or(said.code),
                status: if inner.status.is_empty() {
                    said.status
                } else {
                    inner.status
                },
                message: inner.message,
                words: [inner.words, said.words].concat(),
                reason: inner.reason.or(said.reason),
                hint: if inner.hint == Hint::Absent {
                    said.hint
                } else {
                    inner.hint
                },
                per_day: inner.per_day || said.per_day,
                no_quota: inner.no_quota || said.no_quota,
            };
        }
        Some(said)
    }

    fn of(error: &Value) -> Self {
        let code = number(&error["code"]).or_else(|| number(&error["status"]));
        let words = [
            &error["code"],
            &error["type"],
            &error["details"]["error_code"],
        ]
        .into_iter()
        .filter_map(text)
        .filter(|word| word != "error" && word.parse::<u64>().is_err())
        .collect();
        let message = text(&error["message"]).unwrap_or_default();
        let no_quota = has_zero_limit(&message);
        let status = text(&error["status"]).unwrap_or_default();
        let mut said = Self {
            code,
            status,
            message,
            words,
            no_quota,
            ..Self::default()
        };
        for detail in error["details"].as_array().into_iter().flatten() {
            said.detail(detail);
        }
        said
    }

    /// An error in anybody else's shape, as gateways write them.
    fn foreign(report: Report) -> Self {
        let message = report.message.unwrap_or_default();
        let is_status = |word: &String| word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        let status = report.kind.clone().filter(is_status).unwrap_or_default();
        let code = report.code.or(report.kind);
        Self {
            code: report.number,
            status,
            hint: report.retry_delay.unwrap_or_default(),
            per_day: report.words.iter().any(|word| word.contains("perday")),
            no_quota: has_zero_limit(&message),
            message,
            words: code.into_iter().chain(report.words).collect(),
            ..Self::default()
        }
    }

    fn detail(&mut self, detail: &Value) {
        let kind = detail["@type"].as_str().unwrap_or_default();
        match kind.rsplit('.').next().unwrap_or_default() {
            "RetryInfo" => {
                if let Some(delay) = retry_delay(&detail["retryDelay"]) {
                    self.hint = delay;
                }
            }
            "ErrorInfo" => self.reason = text(&detail["reason"]),
            "QuotaFailure" => {
                for violation in detail["violations"].as_array().into_iter().flatten() {
                    let id = violation["quotaId"].as_str().unwrap_or_default();
                    self.per_day |= id.contains("PerDay");
                    self.no_quota |= violation["quotaValue"] == "0" || violation["quotaValue"] == 0;
                }
            }
            _ => {}
        }
    }
}

/// Whether an error is in the API's own shape.
fn is_own(error: &Value) -> bool {
    error["message"].is_string() || error["status"].is_string()
}

fn fault(said: Said, http: Option<u16>) -> Fault {
    // An error that calls itself a success, as gateways write them, says nothing by that.
    let status = http
        .or(said.code.filter(|code| *code >= 400))
        .filter(|status| (100..=599).contains(status));
    let (kind, overloaded) = kind(status, &said);
    let mut fault = Fault::new(kind)
        .with_overloaded(overloaded)
        .with_status(said.code)
        .with_hint(said.hint);
    let code = if kind == ErrorKind::QuotaExhausted && said.per_day {
        Some(QUOTA_PER_DAY.to_owned())
    } else {
        said.reason
            .or_else(|| said.code.map(|code| code.to_string()))
            .or(Some(said.status).filter(|status| !status.is_empty()))
            .or_else(|| said.words.into_iter().next())
    };
    if let Some(code) = code {
        fault = fault.with_code(code);
    }
    fault.with_message(cut(said.message))
}

/// The kind, and whether the provider is overloaded.
fn kind(status: Option<u16>, said: &Said) -> (ErrorKind, bool) {
    let message = said.message.to_ascii_lowercase();
    let contains = |phrases: &[&str]| has_any(&message, phrases);
    let words: Vec<_> = said
        .words
        .iter()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    if words.iter().any(|word| is_quota(word))
        || matches!(status, None | Some(400 | 403)) && contains(QUOTA_PHRASES)
    {
        return (ErrorKind::QuotaExhausted, false);
    }
    if status == Some(429) || said.status == "RESOURCE_EXHAUSTED" {
        let wait = said.hint.wait().or_else(|| prose(&said.message).wait());
        let hopeless = said.per_day || said.no_quota || wait.is_some_and(|wait| wait >= HOPELESS);
        let kind = if hopeless {
            ErrorKind::QuotaExhausted
        } else {
            ErrorKind::RateLimit
        };
        return (kind, false);
    }
    // The API answers a wrong key with a 400.
    if said.reason.as_deref() == Some("API_KEY_INVALID")
        || (matches!(status, None | Some(400)) && contains(KEY_PHRASES))
    {
        return (ErrorKind::Auth, false);
    }
    // These names are the provider's own and beat a status that a gateway made up.
    match said.status.as_str() {
        "UNAVAILABLE" => return (ErrorKind::Server, true),
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => return (ErrorKind::Auth, false),
        "NOT_FOUND" => return (ErrorKind::NotFound, false),
        _ => {}
    }
    if let Some(kind) = words.iter().find_map(|word| named(word)) {
        let overloaded = words.iter().any(|word| is_overloaded(word));
        return (kind, overloaded && kind == ErrorKind::Server);
    }
    if status.is_none_or(|status| matches!(status, 400 | 413 | 422 | 500)) && is_context(&message) {
        return (ErrorKind::ContextLength, false);
    }
    match (status, said.status.as_str()) {
        (Some(status), _) => {
            let overloaded =
                status == 529 || (status == 503 && contains(&["overloaded", "loading model"]));
            (classify_status(status), overloaded)
        }
        (None, "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE") => {
            (ErrorKind::BadRequest, false)
        }
        (None, _) => (ErrorKind::Server, false),
    }
}

/// Whether the message says `limit: 0`, as it does for a plan without any quota.
fn has_zero_limit(message: &str) -> bool {
    message.match_indices(ZERO_LIMIT).any(|(at, found)| {
        !message[at + found.len()..].starts_with(|c: char| c.is_ascii_digit() || c == '.')
    })
}

/// A number that can be a status, also as digits in a text.
fn number(value: &Value) -> Option<u16> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64().and_then(|number| u16::try_from(number).ok()),
    }
}

fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// A wait this long is a used-up quota and no blip: no caller is still there after it.
const HOPELESS: Duration = Duration::from_secs(3_600);
/// How often a body may be wrapped in another's message.
const MAX_DEPTH: usize = 2;
/// The code of a used-up daily quota, which the API itself names only in an id.
const QUOTA_PER_DAY: &str = "quota_per_day";
const ZERO_LIMIT: &str = "limit: 0";

/// In lower case; from the API's own errors.
const KEY_PHRASES: &[&str] = &[
    "api key not valid",
    "api key expired",
    "api_key_invalid",
    "incorrect api key",
];

/// In lower case; those of servers behind a gateway.
const QUOTA_PHRASES: &[&str] = &["credit balance is too low", "specified api usage limits"];
