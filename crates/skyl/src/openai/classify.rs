//! What an error of a server that speaks Chat Completions means.
//!
//! The codes and phrases that mean the same everywhere stand in `dialect::words`; what only these
//! servers say stands here. A code or type that names a kind beats the
//! status, since servers put the same code on several statuses; a general one
//! (`invalid_request_error`, `api_error`) says less than the status and never beats it. Phrases
//! count only where servers give no code at all: context length, a wrong key at xAI, balances.

use std::time::{Duration, SystemTime};

use serde_json::Value;
use skyl_retry::Hint;

use crate::dialect::report::{LINE_BYTES, MESSAGE_BYTES, Report, cut};
use crate::dialect::words::{has_any, is_context, is_overloaded, is_quota as is_quota_word, named};
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
    if Report::is_mute(&value) {
        return Some(Fault::empty_response());
    }
    Report::find(&value).map(|report| report.in_band(wall))
}

/// What a whole body without an answer is: an error, the provider's word, or nothing at all.
pub(super) fn no_answer(json: &str, wall: Option<SystemTime>) -> Fault {
    let said = || Report::of_body(&serde_json::from_str(json).ok()?);
    match flat(json, wall) {
        Some(fault) => fault,
        None => said().map_or_else(Fault::empty_response, |report| report.in_band(wall)),
    }
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
                || self.words.iter().any(|word| is_overloaded(word))
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
                &[
                    "credit balance is too low",
                    "specified api usage limits",
                    "used all available credits",
                ],
            ),
            _ => false,
        }
    }
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

const YEAR: Duration = Duration::from_secs(366 * 24 * 3600);

#[cfg(test)]
mod tests;
