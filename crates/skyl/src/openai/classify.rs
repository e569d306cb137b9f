//! What an error of a server that speaks Chat Completions means.
//!
//! The one place that looks at the words of errors. A code or type that names a kind beats the
//! status, since servers put the same code on several statuses; a general one
//! (`invalid_request_error`, `api_error`) says less than the status and never beats it. Phrases
//! count only where servers give no code at all: context length, a wrong key at xAI, balances.

mod report;

use std::time::{Duration, SystemTime};

use serde_json::Value;
use skyl_retry::Hint;

use self::report::{CODES, LINE_BYTES, MESSAGE_BYTES, Report, cut, is_blank};
use crate::dialect::{Fault, Head};
use crate::kind::{ErrorKind, classify_status};

/// Classifies an answer with a status of 300 or more; the body may be anything.
pub(super) fn reply(head: &Head<'_>, body: &[u8]) -> Fault {
    let status = head.status;
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    if !text.starts_with(['{', '[', '"']) {
        return plain(status, text);
    }
    // A body that was cut says nothing that could be trusted more than the status.
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Fault::from_status(status);
    };
    let report = Report::of(&value);
    let (kind, overloaded) = report.judge(Some(status));
    let wall = if report.has_hint() {
        head.now()
    } else {
        SystemTime::UNIX_EPOCH
    };
    report.fault(kind, overloaded, wall)
}

/// Classifies an error inside a 200: no status but a numeric code, if any.
///
/// Without `wall`, dates among the hints cannot be read and are nothing.
pub(super) fn in_band(json: &str, wall: Option<SystemTime>) -> Fault {
    match serde_json::from_str::<Value>(json) {
        Ok(value) => Report::of(&value).in_band(wall),
        Err(_) => Fault::new(ErrorKind::Server).with_message(cut(json.trim(), MESSAGE_BYTES)),
    }
}

/// The error in a body that has neither an answer nor a field `error`; `None` where it is none.
pub(super) fn flat(json: &str, wall: Option<SystemTime>) -> Option<Fault> {
    let value = serde_json::from_str::<Value>(json).ok()?;
    let map = match &value {
        Value::Object(map) => map,
        Value::Array(items) => items.first()?.as_object()?,
        _ => return None,
    };
    let has = |name: &str| map.get(name).is_some_and(|value| !is_blank(value));
    let word = |name: &str| map.get(name).and_then(Value::as_str);
    let is_error = has("error")
        || word("object") == Some("error")
        || word("type") == Some("error")
        || has("detail")
        || has("errors")
        // A message alone may be a notice, such as a place in a queue.
        || has("message")
            && (CODES.iter().any(|name| has(name))
                || word("type").is_some_and(|kind| kind.to_ascii_lowercase().contains("error")));
    is_error.then(|| Report::of(&value).in_band(wall))
}

/// A body that is no JSON: a proxy's page, a line of text, nothing.
fn plain(status: u16, text: &str) -> Fault {
    let fault = Fault::from_status(status);
    if text.starts_with('<') {
        return fault.with_message(cut(title(text), LINE_BYTES));
    }
    fault.with_message(cut(
        text.lines().next().unwrap_or_default().trim(),
        LINE_BYTES,
    ))
}

/// The title of a page, so that a log says `502 Bad Gateway` and not just that there was a page.
fn title(page: &str) -> &str {
    let find = |text: &str, tag: &str| {
        text.as_bytes()
            .windows(tag.len())
            .position(|at| at.eq_ignore_ascii_case(tag.as_bytes()))
    };
    let Some(start) = find(page, "<title>") else {
        return "";
    };
    let rest = &page[start + "<title>".len()..];
    find(rest, "</title>").map_or("", |end| rest[..end].trim())
}

/// The judgement on what was gathered.
impl Report {
    /// The fault of an error that has no reply's status.
    fn in_band(self, wall: Option<SystemTime>) -> Fault {
        let (kind, overloaded) = self.judge(None);
        let fault = self.fault(kind, overloaded, wall.unwrap_or(SystemTime::UNIX_EPOCH));
        // Read against no clock, a date is decades away; a wait is not.
        if wall.is_none() && fault.hint().wait().is_some_and(|wait| wait > YEAR) {
            return fault.with_hint(Hint::Unusable);
        }
        fault
    }

    /// The kind, and whether the provider is overloaded; `status` is the reply's own.
    fn judge(&self, status: Option<u16>) -> (ErrorKind, bool) {
        let text = format!(
            "{}\n{}",
            self.message.as_deref().unwrap_or_default(),
            self.behind
        )
        .to_ascii_lowercase();
        let known = status.or(self.number.filter(|number| *number >= 400));
        let kind = self.kind_of(known, &text);
        let overloaded = kind == ErrorKind::Server
            && (known == Some(529)
                || self
                    .words
                    .iter()
                    .any(|word| OVERLOADED.contains(&word.as_str()))
                || has_any(&text, &["overloaded", "loading model"]));
        (kind, overloaded)
    }

    fn kind_of(&self, status: Option<u16>, text: &str) -> ErrorKind {
        if self.is_quota(status, text) {
            return ErrorKind::QuotaExhausted;
        }
        if status == Some(429) {
            return ErrorKind::RateLimit;
        }
        let named = self
            .words
            .iter()
            .find_map(|word| named(word))
            .filter(|kind| {
                // Groq says `rate_limit_exceeded` of a request that is larger than a whole minute's
                // limit; no waiting makes it smaller.
                !(status == Some(413) && *kind == ErrorKind::RateLimit)
            });
        // Groq's flex tier again, where its code has another name.
        if status == Some(498) && named.is_none() && text.contains("capacity") {
            return ErrorKind::RateLimit;
        }
        let kind = named
            .or_else(|| status.map(classify_status))
            .or_else(|| self.words.iter().find_map(|word| hinted(word)))
            .unwrap_or(ErrorKind::Server);
        if matches!(kind, ErrorKind::BadRequest | ErrorKind::Server)
            && matches!(status, None | Some(400 | 413 | 422 | 500))
            && is_context(text)
        {
            return ErrorKind::ContextLength;
        }
        if kind == ErrorKind::BadRequest && status == Some(400) {
            if has_any(text, &["incorrect api key", "api key not valid"]) {
                return ErrorKind::Auth;
            }
            if text.contains("model") && text.contains("does not exist") {
                return ErrorKind::NotFound;
            }
        }
        kind
    }

    /// Whether a quota is used up that no waiting within reason refills.
    fn is_quota(&self, status: Option<u16>, text: &str) -> bool {
        if self.words.iter().any(|word| is_quota_word(word)) {
            return true;
        }
        match status {
            Some(429) => {
                let google = self.words.iter().any(|word| word == "resource_exhausted");
                self.words.iter().any(|word| word.contains("perday"))
                    // OpenRouter's free models; a day's wait, told as an epoch in the body.
                    || has_any(text, &["per-day", "used all available credits"])
                    || google && (text.contains("limit: 0") || self.waits_for_hours())
            }
            Some(400 | 403) | None => has_any(
                text,
                &["credit balance is too low", "specified api usage limits"],
            ),
            _ => false,
        }
    }
}

/// The kind a code or type names; beats the status.
fn named(word: &str) -> Option<ErrorKind> {
    let kind = match word {
        "invalid_api_key" | "api_key_invalid" | "authentication_error" | "permission_error"
        | "permission_denied" | "unauthenticated" | "unsupported_country_region_territory" => {
            ErrorKind::Auth
        }
        "rate_limit_exceeded" | "rate_limit_error" | "too_many_requests" | "resource_exhausted"
        // Groq's flex tier, on a 498.
        | "capacity_exceeded" => ErrorKind::RateLimit,
        "context_length_exceeded" | "exceed_context_size_error" => ErrorKind::ContextLength,
        "model_not_found" | "not_found_error" | "not_found" => ErrorKind::NotFound,
        "content_filter"
        | "content_policy_violation"
        | "image_content_policy_violation"
        | "misalignment_policy_violation"
        | "bio_policy"
        | "responsibleaipolicyviolation" => ErrorKind::Refusal,
        "server_error" | "internalservererror" | "internal_server_error" | "provider_unavailable" => {
            ErrorKind::Server
        }
        _ if OVERLOADED.contains(&word) => ErrorKind::Server,
        _ => return None,
    };
    Some(kind)
}

/// The kind a general type suggests where there is no status to ask.
fn hinted(word: &str) -> Option<ErrorKind> {
    match word {
        "invalid_request_error"
        | "badrequesterror"
        | "invalid_argument"
        | "failed_precondition"
        | "invalid_prompt"
        | "invalid_value"
        | "unsupported_value"
        | "unsupported_parameter"
        | "string_above_max_length"
        | "request_too_large"
        | "data_residency_mismatch"
        | "failed_to_download_image"
        | "tool_use_failed" => Some(ErrorKind::BadRequest),
        // Twelve codes for a picture that cannot be read, and more to come.
        _ if word.starts_with("image_") || word.ends_with("_image") || word.contains("_image_") => {
            Some(ErrorKind::BadRequest)
        }
        "notfounderror" => Some(ErrorKind::NotFound),
        "authenticationerror" => Some(ErrorKind::Auth),
        _ => None,
    }
}

fn is_quota_word(word: &str) -> bool {
    matches!(
        word,
        "insufficient_quota"
            | "credit_balance_exhausted"
            | "organization_usage_limit_exceeded"
            | "billing_error"
            | "billing_not_active"
            | "billing_hard_limit_reached"
            | "insufficient_credits"
            | "insufficient_balance"
            | "exceeded_current_quota_error"
    ) || word.ends_with("_spend_limit_exceeded")
        || word.ends_with("_spend_limit_reached")
}

/// Servers without a code for it, and what they say instead.
fn is_context(text: &str) -> bool {
    has_any(
        text,
        &[
            "maximum context length",
            "maximum prompt length",
            "exceeds the available context size",
            "exceeds the context window",
            "longer than the model's context length",
            "greater than the context length",
            "input tokens exceed the configured limit of",
            "too large for model",
            "length of all messages is too long",
            "too many input tokens",
            "prompt is too long",
            "input is too long",
            "reduce the length",
        ],
    ) || text.contains("input token count") && text.contains("exceeds")
}

fn has_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// Codes and types of a provider that is there and has no room.
const OVERLOADED: &[&str] = &[
    "overloaded_error",
    "overloaded",
    "server_is_overloaded",
    "service_unavailable_error",
    "engine_overloaded_error",
    "slow_down",
    "unavailable",
    // llama.cpp while it loads the model.
    "unavailable_error",
    "provider_overloaded",
];

const YEAR: Duration = Duration::from_secs(366 * 24 * 3600);

#[cfg(test)]
mod tests;
