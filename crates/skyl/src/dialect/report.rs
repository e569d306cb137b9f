//! Gathers what an error body says, from wherever servers put it.
//!
//! Whether a body is an error at all, and which field holds a code, a message, a wait: gateways pass
//! one provider's errors on in another's envelope, so every dialect asks here. What the words mean
//! stands in `words`, and what a dialect makes of them in its `classify`.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};
use skyl_retry::Hint;
use skyl_retry::hint::{self, HintScope};

use crate::dialect::Fault;
use crate::dialect::words::{is_quota, named};
use crate::kind::ErrorKind;

/// What an error body says, gathered from wherever it stands.
#[derive(Default)]
pub(crate) struct Report {
    /// Codes and types in lower case, the most telling first.
    pub(crate) words: Vec<String>,
    /// The code as it stands, for the caller.
    pub(crate) code: Option<String>,
    /// The first type, for the caller where there is no code.
    pub(crate) kind: Option<String>,
    /// A numeric code in the range of statuses.
    pub(crate) number: Option<u16>,
    pub(crate) message: Option<String>,
    /// Words of an error behind this one, which a gateway passes on.
    pub(crate) behind: String,
    pub(crate) request_id: Option<String>,
    /// Headers of the failed upstream call, in the body.
    headers: Vec<(String, String)>,
    /// `google.rpc.RetryInfo`, through Google's compatible endpoint.
    pub(crate) retry_delay: Option<Hint>,
}

impl Report {
    pub(crate) fn of(value: &Value) -> Self {
        let mut report = Self::default();
        report.gather(value, 0);
        report
    }

    /// What the error in a body says; `None` where the body is none.
    ///
    /// A message alone is none: it may be a notice, such as a place in a queue.
    pub(crate) fn find(value: &Value) -> Option<Self> {
        let map = match value {
            Value::Object(map) => map,
            Value::Array(items) => items.iter().find_map(Value::as_object)?,
            _ => return None,
        };
        let has = |name: &&str| map.get(*name).is_some_and(|value| !is_blank(value));
        let word = |name: &str| map.get(name).and_then(Value::as_str);
        let says_so = word("object") == Some("error")
            || word("type") == Some("error")
            || ["error", "errors", "detail"].iter().any(has);
        let has_code = CODES
            .iter()
            .any(|name| map.get(*name).is_some_and(is_failure));
        let by_its_words = MESSAGES.iter().any(has)
            && (has_code
                || word("type").is_some_and(|kind| kind.to_ascii_lowercase().contains("error"))
                || word("status").is_some_and(|status| status.eq_ignore_ascii_case("error"))
                || map.get("success") == Some(&Value::Bool(false)));
        (says_so || by_its_words).then(|| Self::of(value))
    }

    /// What a body without an answer says, be it an error or a message alone; `None` for silence.
    pub(crate) fn of_body(value: &Value) -> Option<Self> {
        Self::find(value).or_else(|| {
            let report = Self::of(value);
            (value.is_object() && report.message.is_some()).then_some(report)
        })
    }

    /// Whether a body is an error without a word, and nothing else.
    pub(crate) fn is_mute(value: &Value) -> bool {
        value.as_object().is_some_and(|body| {
            let error = body.get("error").and_then(Value::as_object);
            body.len() == 1 && error.is_some_and(Map::is_empty)
        })
    }

    /// Whether the wait is a quota's rather than a rate limit's.
    pub(crate) fn waits_for_hours(&self) -> bool {
        let wait = self.retry_delay.and_then(Hint::wait);
        wait.is_some_and(|wait| wait >= HOURS)
    }

    /// Whether a wait is told at all, so that a clock is worth reading.
    pub(crate) fn has_hint(&self) -> bool {
        !self.headers.is_empty() || self.retry_delay.is_some()
    }

    /// The fault of this kind; dates among the hints are read against `wall`.
    pub(crate) fn fault(self, kind: ErrorKind, overloaded: bool, wall: SystemTime) -> Fault {
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

    fn gather(&mut self, value: &Value, depth: u8) {
        match value {
            Value::Object(map) => {
                // The inner error first: what stands beside it is about the reply as a whole.
                let groq = || map.get("x_groq")?.get("error");
                match map.get("error").or_else(groq) {
                    // A code stands here too, with the words beside it.
                    Some(Value::String(word)) if is_code(word) => {
                        self.take_code(map.get("error"));
                        self.fields(map, depth);
                        self.say(word, depth);
                        return;
                    }
                    Some(Value::String(text)) => self.say(text, depth),
                    Some(inner @ (Value::Object(_) | Value::Array(_))) if depth < DEPTH => {
                        self.gather(inner, depth + 1);
                    }
                    _ => {}
                }
                self.fields(map, depth);
            }
            Value::Array(items) if depth < DEPTH => {
                // The first one tells; answers stand in the same list as their error.
                let is_error = |item: &&Value| item.get("error").is_some_and(|e| !is_blank(e));
                if let Some(first) = items.iter().find(is_error).or(items.first()) {
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
                    self.take_number(word.parse().ok());
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
                    if *name == "message" {
                        self.message
                            .get_or_insert_with(|| cut(&inner.to_string(), LINE_BYTES));
                    }
                }
                Some(Value::Number(number)) if *name == "message" => {
                    self.message.get_or_insert_with(|| number.to_string());
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
        if let Some(Value::Object(resp)) = map.get("base_resp") {
            self.minimax(resp, depth);
        }
        if let Some(Value::Object(details)) = map.get("details") {
            // Anthropic's, behind a gateway.
            self.take_code(details.get("error_code"));
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

    /// `MiniMax`: numbers of its own, which are no statuses.
    fn minimax(&mut self, resp: &Map<String, Value>, depth: u8) {
        let Some(code) = resp.get("status_code").and_then(Value::as_u64) else {
            return;
        };
        if code == 0 {
            return;
        }
        self.code.get_or_insert_with(|| code.to_string());
        self.words.extend(
            MINIMAX
                .iter()
                .find_map(|(codes, word)| codes.contains(&code).then(|| (*word).to_owned())),
        );
        if let Some(Value::String(text)) = resp.get("status_msg") {
            self.say(text, depth);
        }
    }

    /// One entry of Google's error details.
    fn google(&mut self, detail: &Map<String, Value>) {
        if let Some(Value::String(reason)) = detail.get("reason") {
            self.words.push(reason.to_ascii_lowercase());
        }
        if let Some(delay) = detail.get("retryDelay").and_then(retry_delay) {
            self.retry_delay.get_or_insert(delay);
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
        if let Some(delay) = self.retry_delay {
            return delay;
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
}

/// The wait of a `google.rpc.RetryInfo`; `None` where it is none at all, a number included: of what,
/// nobody says.
///
/// By the book it is text, such as `46.25s`. Gateways that do not know this form of a duration send
/// the message itself: `seconds` and `nanos`.
pub(crate) fn retry_delay(delay: &Value) -> Option<Hint> {
    let parts = match delay {
        Value::String(text) => return Some(hint::protobuf_duration(text)),
        Value::Object(parts) => parts,
        _ => return None,
    };
    let part = |name| match parts.get(name) {
        None | Some(Value::Null) => "0".to_owned(),
        Some(Value::String(digits)) => digits.clone(),
        Some(other) => other.to_string(),
    };
    let (seconds, nanos) = (part("seconds"), part("nanos"));
    if nanos.len() > 9 {
        return Some(Hint::Unusable);
    }
    Some(hint::protobuf_duration(&format!("{seconds}.{nanos:0>9}s")))
}

/// Whether text is a code and not words.
fn is_code(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    named(&word).is_some() || is_quota(&word)
}

/// Whether a code is one of a failure: neither nothing nor the status of a success.
fn is_failure(code: &Value) -> bool {
    let number = match code {
        Value::String(text) => text.parse().ok(),
        code => code.as_u64(),
    };
    !is_blank(code) && number.is_none_or(|number| !(100..400).contains(&number))
}

/// Whether a value is one that servers send for "nothing".
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Bool(true) => false,
    }
}

/// At most so many bytes, cut at a character.
pub(crate) fn cut(text: &str, bytes: usize) -> String {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
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

/// Where codes stand; the first one is the caller's.
pub(crate) const CODES: &[&str] = &[
    "code",
    "error_code",
    "statusCode",
    "status_code",
    "raw_status_code",
];

/// Where types stand, and Google's word for the status.
const WORDS: &[&str] = &["type", "status", "error_type"];

/// Where messages stand.
const MESSAGES: &[&str] = &[
    "message",
    "detail",
    "msg",
    "error_description",
    "error_message",
    "errors",
];

/// The numbers of `MiniMax` in the words of others (vendor's page on errors, autumn 2026).
const MINIMAX: &[(&[u64], &str)] = &[
    (&[1002, 1039, 1041], "rate_limit_exceeded"),
    (&[1004, 2049], "invalid_api_key"),
    (&[1008, 2056], "insufficient_balance"),
    (&[1026, 1027], "content_filter"),
    (&[2013], "invalid_value"),
    (&[1000, 1001, 1013, 1024, 1033], "server_error"),
];

/// How deep errors are looked for within errors: two levels for each gateway in between.
const DEPTH: u8 = 8;

/// As much of a message as the client keeps of a body.
pub(crate) const MESSAGE_BYTES: usize = 2048;

/// As much of a page's title or of plain text as belongs in one line of a log.
pub(crate) const LINE_BYTES: usize = 200;

/// Enough validation errors to see what is wrong.
const VALIDATIONS: usize = 8;

/// From here on a wait is a quota's, not a rate limit's.
const HOURS: Duration = Duration::from_secs(3600);
