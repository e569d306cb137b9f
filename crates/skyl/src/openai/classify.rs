//! What an error of a server that speaks Chat Completions means.
//!
//! The one place that looks at the words of errors. A code or type that names a kind beats the
//! status, since servers put the same code on several statuses; a general one
//! (`invalid_request_error`, `api_error`) says less than the status and never beats it. Phrases
//! count only where servers give no code at all: context length, a wrong key at xAI, balances.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};
use skyl_retry::Hint;
use skyl_retry::hint::{self, HintScope};

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

/// What an error body says, gathered from wherever it stands.
#[derive(Default)]
struct Report {
    /// Codes and types in lower case, the most telling first.
    words: Vec<String>,
    /// The code as it stands, for the caller.
    code: Option<String>,
    /// The first type, for the caller where there is no code.
    kind: Option<String>,
    /// A numeric code in the range of statuses.
    number: Option<u16>,
    message: Option<String>,
    /// Words of an error behind this one, which a gateway passes on.
    behind: String,
    request_id: Option<String>,
    /// Headers of the failed upstream call, in the body.
    headers: Vec<(String, String)>,
    /// `google.rpc.RetryInfo`, through Google's compatible endpoint.
    retry_delay: Option<String>,
}

impl Report {
    fn of(value: &Value) -> Self {
        let mut report = Self::default();
        report.gather(value, 0);
        report
    }

    fn gather(&mut self, value: &Value, depth: u8) {
        match value {
            Value::Object(map) => {
                // The inner error first: what stands beside it is about the reply as a whole.
                let groq = || map.get("x_groq")?.get("error");
                match map.get("error").or_else(groq) {
                    Some(Value::String(text)) => self.say(text, depth),
                    Some(inner @ (Value::Object(_) | Value::Array(_))) if depth < DEPTH => {
                        self.gather(inner, depth + 1);
                    }
                    _ => {}
                }
                self.fields(map, depth);
            }
            Value::Array(items) if depth < DEPTH => {
                if let Some(first) = items.first() {
                    self.gather(first, depth + 1);
                }
            }
            Value::String(text) => self.say(text, depth),
            _ => {}
        }
    }

    fn fields(&mut self, map: &Map<String, Value>, depth: u8) {
        for name in CODES {
            self.take_code(map.get(*name));
        }
        for name in WORDS {
            match map.get(*name) {
                Some(Value::String(word)) if word != "error" && !word.is_empty() => {
                    self.words.push(word.to_ascii_lowercase());
                    self.kind.get_or_insert_with(|| word.clone());
                }
                Some(Value::Number(number)) => self.take_number(number.as_u64()),
                _ => {}
            }
        }
        for name in MESSAGES {
            match map.get(*name) {
                Some(Value::String(text)) => self.say(text, depth),
                Some(inner @ (Value::Object(_) | Value::Array(_))) if self.message.is_none() => {
                    self.message = validation(inner);
                    if self.message.is_none() && depth < DEPTH {
                        self.gather(inner, depth + 1);
                    }
                }
                _ => {}
            }
        }
        if let Some(Value::String(id)) = map.get("request_id") {
            self.request_id.get_or_insert_with(|| id.clone());
        }
        if let Some(Value::Object(headers)) = map.get("headers") {
            self.take_headers(headers);
        }
        if let Some(Value::Object(inner)) = map.get("innererror") {
            self.take_code(inner.get("code"));
        }
        if let Some(Value::Object(metadata)) = map.get("metadata") {
            self.metadata(metadata, depth);
        }
        if let Some(Value::Array(details)) = map.get("details") {
            details
                .iter()
                .filter_map(Value::as_object)
                .for_each(|detail| self.google(detail));
        }
    }

    /// OpenRouter: its own word for the failure, the upstream's headers and the upstream's body.
    fn metadata(&mut self, metadata: &Map<String, Value>, depth: u8) {
        if let Some(Value::String(word)) = metadata.get("error_type") {
            self.words.push(word.to_ascii_lowercase());
        }
        if let Some(Value::Object(headers)) = metadata.get("headers") {
            self.take_headers(headers);
        }
        if let Some(Value::String(raw)) = metadata.get("raw")
            && depth < DEPTH
        {
            let mut behind = Self::default();
            behind.say(raw, depth + 1);
            self.words.append(&mut behind.words);
            self.behind = behind.message.unwrap_or_default();
        }
    }

    /// One entry of Google's error details.
    fn google(&mut self, detail: &Map<String, Value>) {
        if let Some(Value::String(reason)) = detail.get("reason") {
            self.words.push(reason.to_ascii_lowercase());
        }
        if let Some(Value::String(delay)) = detail.get("retryDelay") {
            self.retry_delay.get_or_insert_with(|| delay.clone());
        }
        let violations = detail.get("violations").and_then(Value::as_array);
        for violation in violations.into_iter().flatten() {
            if let Some(Value::String(id)) = violation.get("quotaId") {
                self.words.push(id.to_ascii_lowercase());
            }
        }
    }

    fn take_code(&mut self, code: Option<&Value>) {
        match code {
            Some(Value::String(code)) if !code.is_empty() => {
                self.words.push(code.to_ascii_lowercase());
                self.take_number(code.parse().ok());
                self.code.get_or_insert_with(|| cut(code, LINE_BYTES));
            }
            Some(Value::Number(number)) => {
                self.take_number(number.as_u64());
                self.code.get_or_insert_with(|| number.to_string());
            }
            _ => {}
        }
    }

    fn take_number(&mut self, number: Option<u64>) {
        if self.number.is_none() {
            let number = number.and_then(|number| u16::try_from(number).ok());
            self.number = number.filter(|number| (100..600).contains(number));
        }
    }

    fn take_headers(&mut self, headers: &Map<String, Value>) {
        for (name, value) in headers {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => continue,
            };
            self.headers.push((name.to_ascii_lowercase(), value));
        }
    }

    /// Takes a message; one that is an error encoded once more is read for what is in it.
    fn say(&mut self, text: &str, depth: u8) {
        if self.message.is_some() || text.is_empty() {
            return;
        }
        if depth < DEPTH
            && text.trim_start().starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str::<Value>(text)
        {
            self.gather(&value, depth + 1);
        }
        self.message.get_or_insert_with(|| cut(text, MESSAGE_BYTES));
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

    fn waits_for_hours(&self) -> bool {
        self.retry_delay.as_deref().is_some_and(|delay| {
            hint::protobuf_duration(delay)
                .wait()
                .is_some_and(|wait| wait >= HOURS)
        })
    }

    fn has_hint(&self) -> bool {
        !self.headers.is_empty() || self.retry_delay.is_some()
    }

    /// The wait in the body, in the order of the headers it imitates.
    fn hint(&self, wall: SystemTime) -> Hint {
        let headers = || {
            self.headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_bytes()))
        };
        let found = hint::from_headers(headers(), wall, HintScope::All).hint;
        if found.wait().is_some() {
            return found;
        }
        if let Some(delay) = &self.retry_delay {
            return hint::protobuf_duration(delay);
        }
        let named = |name: &str| {
            let mut values = self.headers.iter().filter(|(given, _)| given == name);
            values.next().map(|(_, value)| value.trim())
        };
        if named("x-ratelimit-remaining").is_some_and(|left| left != "0") {
            return found;
        }
        match named("x-ratelimit-reset") {
            // OpenRouter's is an instant in milliseconds; only those have so many digits.
            Some(reset) if reset.len() >= 13 => hint::epoch_millis(reset, wall),
            Some(reset) => hint::reset(reset, wall),
            None => found,
        }
    }

    fn in_band(self, wall: Option<SystemTime>) -> Fault {
        let (kind, overloaded) = self.judge(None);
        let fault = self.fault(kind, overloaded, wall.unwrap_or(SystemTime::UNIX_EPOCH));
        // Read against no clock, a date is decades away; a wait is not.
        if wall.is_none() && fault.hint().wait().is_some_and(|wait| wait > YEAR) {
            return fault.with_hint(Hint::Unusable);
        }
        fault
    }

    fn fault(self, kind: ErrorKind, overloaded: bool, wall: SystemTime) -> Fault {
        let hint = if self.has_hint() {
            self.hint(wall)
        } else {
            Hint::Absent
        };
        let mut fault = Fault::new(kind)
            .with_status(self.number)
            .with_overloaded(overloaded)
            .with_hint(hint)
            .with_message(self.message.unwrap_or_default());
        if let Some(code) = self.code.or(self.kind) {
            fault = fault.with_code(code);
        }
        if let Some(id) = self.request_id {
            fault = fault.with_request_id(id);
        }
        fault
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
        "content_filter" | "content_policy_violation" | "responsibleaipolicyviolation" => {
            ErrorKind::Refusal
        }
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
        | "tool_use_failed" => Some(ErrorKind::BadRequest),
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

/// What a validator says: where, and what is wrong. Never the input it echoes.
fn validation(value: &Value) -> Option<String> {
    let list = match value {
        Value::Array(list) => list,
        Value::Object(map) => match map.get("detail")? {
            Value::Array(list) => list,
            Value::String(text) => return Some(cut(text, MESSAGE_BYTES)),
            _ => return None,
        },
        _ => return None,
    };
    let mut told = String::new();
    for entry in list.iter().take(VALIDATIONS) {
        let Some(message) = entry.get("msg").and_then(Value::as_str) else {
            continue;
        };
        if !told.is_empty() {
            told.push_str("; ");
        }
        let place = entry.get("loc").and_then(Value::as_array);
        for (n, step) in place.into_iter().flatten().enumerate() {
            if n > 0 {
                told.push('.');
            }
            match step {
                Value::String(step) => told.push_str(step),
                other => told.push_str(&other.to_string()),
            }
        }
        if place.is_some_and(|place| !place.is_empty()) {
            told.push_str(": ");
        }
        told.push_str(message);
    }
    (!told.is_empty()).then(|| cut(&told, MESSAGE_BYTES))
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Bool(true) => false,
    }
}

fn has_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// At most so many bytes, cut at a character.
fn cut(text: &str, bytes: usize) -> String {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Where codes stand; the first one is the caller's.
const CODES: &[&str] = &[
    "code",
    "error_code",
    "statusCode",
    "status_code",
    "raw_status_code",
];

/// Where types stand, and Google's word for the status.
const WORDS: &[&str] = &["type", "status", "error_type"];

/// Where messages stand.
const MESSAGES: &[&str] = &["message", "detail", "msg", "error_description", "errors"];

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

/// How deep errors are looked for within errors: two levels for each gateway in between.
const DEPTH: u8 = 8;

/// As much of a message as the client keeps of a body.
const MESSAGE_BYTES: usize = 2048;

/// As much of a page's title or of plain text as belongs in one line of a log.
const LINE_BYTES: usize = 200;

/// Enough validation errors to see what is wrong.
const VALIDATIONS: usize = 8;

/// From here on a wait is a quota's, not a rate limit's.
const HOURS: Duration = Duration::from_secs(3600);

const YEAR: Duration = Duration::from_secs(366 * 24 * 3600);

#[cfg(test)]
mod tests;
