//! From an error body to a [`Fault`], and to a text that may be logged.
//!
//! The API has three shapes of `detail` (a list of issues, an object, a bare string), and what
//! stands in front of it has its own (`error`, `message`, a page). A body that was cut is read as
//! far as it goes. Issues echo the part of the request they are about in `input` and `ctx`: neither
//! is ever read here, and [`redacted_body`] takes them out of the body itself.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;

use crate::dialect::Fault;
use crate::kind::{ErrorKind, classify_status};
use crate::native::{cut, headline};

/// Classifies a reply with a status of 300 or more. The body may be anything, cut or empty.
///
/// The status decides, with two exceptions: `max_tokens_exceeded` is `ContextLength`, and
/// `authentication_error` is `Auth`. The code is the body's `error_type`; the message holds nothing
/// of the request but ids.
#[must_use]
pub fn classify(status: u16, body: &[u8]) -> Fault {
    let said = Said::read(body);
    let kind = kind(status, said.code.as_deref());
    let fault = if kind == classify_status(status) {
        Fault::from_status(status)
    } else {
        Fault::new(kind)
    };
    // Plain text is a proxy's or a page's; of a refused request it may be an echo.
    let words = said.message().unwrap_or_else(|| match status {
        422 => String::new(),
        _ => headline(body),
    });
    said.into_fault(fault, words)
}

/// The body of an error as it may be shown: without what it echoes of the request.
///
/// The values of `input`, `ctx`, `state` and `questions` become `[redacted]`, at any depth and in
/// JSON within strings. A body of status 422, or one that holds an `input`, is withheld whole where
/// it cannot be read as JSON: cut in the middle of an echo it would show half of it.
#[must_use]
pub fn redacted_body(status: u16, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let Ok(mut value) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else {
        return if !text.trim().is_empty() && (status == 422 || may_echo(&text)) {
            WITHHELD.to_owned()
        } else {
            text.into_owned()
        };
    };
    if redact(&mut value, 0) {
        value.to_string()
    } else {
        text.into_owned()
    }
}

/// The error in the body of a reply with a status below 300; `None` where it is none.
pub(super) fn in_band(body: &[u8]) -> Option<Fault> {
    let said = Said::read(body);
    let message = said.message()?;
    let words = format!("no answers, but an error: {message}");
    Some(said.into_fault(Fault::new(ErrorKind::Decode), words))
}

fn kind(status: u16, code: Option<&str>) -> ErrorKind {
    match (status, code) {
        (429, _) => ErrorKind::RateLimit,
        (400..500, Some("max_tokens_exceeded")) => ErrorKind::ContextLength,
        (400..500, Some("authentication_error")) => ErrorKind::Auth,
        _ => classify_status(status),
    }
}

/// What an error body says, as far as it could be read.
#[derive(Default)]
struct Said {
    code: Option<String>,
    /// In the order in which the provider's own clients look.
    body: Option<String>,
    error: Option<String>,
    error_message: Option<String>,
    message: Option<String>,
    detail: Option<String>,
    detail_message: Option<String>,
    issues: Vec<Issue>,
}

/// One issue of a validation error: its place and its words.
#[derive(Default)]
struct Issue {
    place: Vec<String>,
    words: Option<String>,
}

impl Said {
    /// Reads what there is: where the JSON breaks off, what came before stays.
    fn read(body: &[u8]) -> Self {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let mut said = Self::default();
        let mut reader = serde_json::Deserializer::from_slice(body);
        let whole = At(Place::Body, &mut said).deserialize(&mut reader);
        // An issue whose words did not come through says nothing.
        said.issues.retain(|issue| issue.words.is_some());
        if whole.is_err() {
            // A string that is the whole body must be whole.
            said.body = None;
        }
        said
    }

    fn message(&self) -> Option<String> {
        [
            &self.body,
            &self.error,
            &self.error_message,
            &self.message,
            &self.detail,
            &self.detail_message,
        ]
        .into_iter()
        .flatten()
        .find(|text| !text.trim().is_empty())
        .cloned()
        .or_else(|| {
            let issues: Vec<String> = self.issues.iter().map(Issue::text).collect();
            (!issues.is_empty()).then(|| issues.join("; "))
        })
        // `max_tokens_exceeded` comes without any words.
        .or_else(|| self.code.clone())
    }

    fn into_fault(self, mut fault: Fault, words: String) -> Fault {
        if let Some(code) = self.code {
            fault = fault.with_code(escaped(cut(code)));
        }
        fault.with_message(escaped(cut(words)))
    }
}

impl Issue {
    fn text(&self) -> String {
        let words = self.words.as_deref().unwrap_or_default();
        let place = match self.place.split_first() {
            Some((first, rest)) if first == "body" => rest,
            _ => &self.place[..],
        };
        if place.is_empty() {
            words.to_owned()
        } else {
            format!("{}: {words}", place.join("."))
        }
    }
}

/// Where in an error body the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Body,
    Error,
    ErrorMessage,
    Message,
    Detail,
    DetailMessage,
    Code,
    Issue,
    Location,
    Segment,
    Words,
}

impl Place {
    /// The place of a member; `None` for those that are not read.
    fn member(self, name: &str) -> Option<Self> {
        Some(match (self, name) {
            (Self::Body, "error") => Self::Error,
            (Self::Body, "message") => Self::Message,
            (Self::Body, "detail") => Self::Detail,
            (Self::Error, "message") => Self::ErrorMessage,
            (Self::Detail, "message") => Self::DetailMessage,
            (Self::Body | Self::Error | Self::Detail, "error_type")
            // What gateways in front of the API call it.
            | (Self::Error, "code" | "type") => Self::Code,
            (Self::Issue, "loc") => Self::Location,
            (Self::Issue, "msg") => Self::Words,
            _ => return None,
        })
    }

    fn element(self) -> Option<Self> {
        match self {
            Self::Detail => Some(Self::Issue),
            Self::Location => Some(Self::Segment),
            _ => None,
        }
    }
}

/// A reader at a place, and where it puts what it finds.
struct At<'s>(Place, &'s mut Said);

impl At<'_> {
    fn text(self, text: &str) {
        let Self(place, said) = self;
        let slot = match place {
            Place::Body => &mut said.body,
            Place::Error => &mut said.error,
            Place::ErrorMessage => &mut said.error_message,
            Place::Message => &mut said.message,
            Place::Detail => &mut said.detail,
            Place::DetailMessage => &mut said.detail_message,
            Place::Code => &mut said.code,
            Place::Issue | Place::Words | Place::Segment => {
                let Some(issue) = said.issues.last_mut() else {
                    return;
                };
                if place == Place::Segment {
                    if issue.place.len() < MAX_SEGMENTS {
                        issue.place.push(text.chars().take(SEGMENT_CHARS).collect());
                    }
                    return;
                }
                &mut issue.words
            }
            Place::Location => return,
        };
        // The first one counts; nothing to say is said by leaving it out.
        if slot.is_none() && !text.trim().is_empty() {
            *slot = Some(cut(text.to_owned()));
        }
    }
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(place, said) = self;
        while let Some(name) = map.next_key::<String>()? {
            match place.member(&name) {
                Some(place) => map.next_value_seed(At(place, said))?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self(place, said) = self;
        let Some(element) = place.element() else {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        loop {
            if element == Place::Issue {
                if said.issues.len() == MAX_ISSUES {
                    return Err(A::Error::custom("more issues than anybody reads"));
                }
                said.issues.push(Issue::default());
            }
            if seq.next_element_seed(At(element, said))?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.text(text);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        if self.0 == Place::Segment {
            self.text(&number.to_string());
        }
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Takes out what echoes the request; says whether there was any.
fn redact(value: &mut Value, wraps: usize) -> bool {
    match value {
        Value::Object(members) => {
            let mut found = false;
            for (name, member) in members.iter_mut() {
                if ECHOES.contains(&name.as_str()) {
                    *member = Value::String(REDACTED.to_owned());
                    found = true;
                } else {
                    found |= redact(member, wraps);
                }
            }
            found
        }
        Value::Array(elements) => {
            let redacted = elements.iter_mut().map(|element| redact(element, wraps));
            redacted.fold(false, |found, one| found | one)
        }
        // Gateways put the provider's whole body into their message, as text.
        Value::String(text) => {
            let inner = text.trim_start();
            if !may_echo(inner) && !inner.starts_with(['{', '[']) {
                return false;
            }
            match serde_json::from_str::<Value>(inner) {
                Ok(mut inner) if wraps < MAX_WRAPS => {
                    let found = redact(&mut inner, wraps + 1);
                    if found {
                        *text = inner.to_string();
                    }
                    found
                }
                _ if may_echo(inner) => {
                    WITHHELD.clone_into(text);
                    true
                }
                _ => false,
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether text that cannot be read as JSON may hold an echo all the same.
fn may_echo(text: &str) -> bool {
    ECHOES.iter().any(|name| {
        text.match_indices(name).any(|(at, _)| {
            text[..at].ends_with(['"', '\'']) // a name in JSON, or in a Python dict
        })
    })
}

/// The same text in one line: control characters are shown, not sent to a terminal.
fn escaped(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Members whose value is the caller's own request.
const ECHOES: [&str; 4] = ["input", "ctx", "state", "questions"];

const REDACTED: &str = "[redacted]";

const WITHHELD: &str = "[withheld: it may hold request data]";

/// How often a body may be wrapped in another's message.
const MAX_WRAPS: usize = 3;

/// As many issues as a person reads.
const MAX_ISSUES: usize = 16;

/// The provider's places have up to seven.
const MAX_SEGMENTS: usize = 16;

/// As much of a name as belongs in one line of a log.
const SEGMENT_CHARS: usize = 64;
