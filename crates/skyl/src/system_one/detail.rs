//! From an error body to a [`Fault`], and to a text that may be logged.
//!
//! The API has three shapes of `detail` (a list of issues, an object, a bare string), and what
//! stands in front of it has its own (`error`, `message`, a page). A body that was cut is read as
//! far as it goes. Issues echo the part of the request they are about in `input` and `ctx`: neither
//! is ever read here, and [`redacted_body`](super::redacted_body) takes them out of the body itself.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use crate::dialect::Fault;
use crate::kind::{ErrorKind, classify_status};
use crate::native::{cut, headline};
use crate::system_one::redact::may_echo;

/// Classifies a reply with a status of 300 or more. The body may be anything, cut or empty.
///
/// The status decides, with three exceptions: `max_tokens_exceeded` is `ContextLength`,
/// `authentication_error` is `Auth`, and a 429 of `insufficient_quota` is `QuotaExhausted`; the
/// policy goes by the status all the same. The code is the body's `error_type`. The message leaves out
/// every field that echoes the request; where prose quotes it, only the client can tell, and does.
#[must_use]
pub fn classify(status: u16, body: &[u8]) -> Fault {
    let said = Said::read(body);
    let kind = kind(status, said.code.as_deref());
    let fault = if kind == classify_status(status) {
        Fault::from_status(status)
    } else {
        Fault::new(kind)
    };
    let words = said.message(0).unwrap_or_else(|| {
        // Plain text is a proxy's or a page's; of a refused request it may be an echo.
        let words = if said.whole || status == 422 {
            String::new()
        } else {
            headline(body)
        };
        Some(words)
            .filter(|words| !may_echo(words))
            .unwrap_or_default()
    });
    said.into_fault(fault, words)
}

/// The error in the body of a reply with a status below 300; `None` where it is none.
pub(super) fn in_band(body: &[u8]) -> Option<Fault> {
    let said = Said::read(body);
    let message = said.message(0)?;
    let words = format!("no answers, but an error: {message}");
    Some(said.into_fault(Fault::new(ErrorKind::Decode), words))
}

fn kind(status: u16, code: Option<&str>) -> ErrorKind {
    match (status, code) {
        (429, Some("insufficient_quota")) => ErrorKind::QuotaExhausted,
        (429, _) => ErrorKind::RateLimit,
        (400..500, Some("max_tokens_exceeded")) => ErrorKind::ContextLength,
        (400..500, Some("authentication_error")) => ErrorKind::Auth,
        _ => classify_status(status),
    }
}

/// What an error body says, as far as it could be read.
#[derive(Default)]
struct Said {
    /// Whether the body was JSON to its end.
    whole: bool,
    code: Option<String>,
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
        let whole = At(Place::Body, &mut said)
            .deserialize(&mut reader)
            .and_then(|()| reader.end());
        said.whole = whole.is_ok();
        if !said.whole {
            // A line of text may begin with something in quotes.
            said.body = None;
        }
        said
    }

    /// The message, in the order in which the provider's own clients look.
    fn message(&self, wraps: usize) -> Option<String> {
        let plain = [
            &self.body,
            &self.error,
            &self.error_message,
            &self.message,
            &self.detail,
            &self.detail_message,
        ];
        plain
            .into_iter()
            .flatten()
            .find_map(|text| unwrapped(text, wraps))
            .or_else(|| {
                let issues = self.issues.iter().filter_map(Issue::text);
                let issues = issues.collect::<Vec<_>>().join("; ");
                (!issues.is_empty()).then_some(issues)
            })
            // `max_tokens_exceeded` comes without any words.
            .or_else(|| self.code.clone().filter(|code| !may_echo(code)))
    }

    fn into_fault(self, mut fault: Fault, words: String) -> Fault {
        if let Some(code) = self.code.filter(|code| !may_echo(code)) {
            fault = fault.with_code(cut(escaped(code)));
        }
        fault.with_message(cut(escaped(words)))
    }
}

impl Issue {
    /// The issue in one line; `None` where its words did not come through, or hold an echo.
    fn text(&self) -> Option<String> {
        let words = unwrapped(self.words.as_deref()?, MAX_WRAPS)?;
        let place = match self.place.split_first() {
            Some((first, rest)) if first == "body" => rest,
            _ => &self.place[..],
        };
        Some(if place.is_empty() {
            words
        } else {
            format!("{}: {words}", place.join("."))
        })
    }
}

/// A message that may be shown: gateways put the provider's whole body into theirs, as text.
fn unwrapped(text: &str, wraps: usize) -> Option<String> {
    if text.trim_start().starts_with('{') && wraps < MAX_WRAPS {
        let inner = Said::read(text.trim_start().as_bytes());
        if let Some(message) = inner.message(wraps + 1) {
            return Some(message);
        }
    }
    (!may_echo(text)).then(|| text.to_owned())
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

/// As many issues as a person reads.
const MAX_ISSUES: usize = 16;

/// How often a body may be wrapped in another's message.
const MAX_WRAPS: usize = 2;

/// The provider's places have up to seven.
const MAX_SEGMENTS: usize = 16;

/// As much of a name as belongs in one line of a log.
const SEGMENT_CHARS: usize = 64;

#[cfg(test)]
mod tests;
