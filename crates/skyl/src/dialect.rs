//! The seam between the client and a provider's protocol.
//!
//! A [`Dialect`] is a pure codec: it turns a [`Request`] into bytes and bytes into answers, frames
//! into events, failures into [`Fault`]s. It does no I/O, reads no clock and never retries, so it
//! can be fuzzed, and one written outside this crate gets retries, hooks, streams and timeouts
//! unchanged. Dialects make faults; only the client makes errors, since only the client knows the
//! attempts, the waits and the key to scrub.

#[cfg(test)]
mod agree;
pub(crate) mod elements;
mod fault;
#[cfg(test)]
mod framed;
#[cfg(test)]
pub(crate) mod harness;
pub(crate) mod lenient;
pub(crate) mod report;
pub(crate) mod stencil;
pub(crate) mod words;

use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::key::ApiKey;
use crate::kind::ErrorKind;
use crate::message::Part;
use crate::request::Request;
use crate::response::{ModelInfo, StopReason, Usage, Warning};
use crate::sink::Sink;

pub use self::fault::Fault;

/// A provider's protocol, as a pure codec.
///
/// Object-safe; the client holds an `Arc<dyn Dialect>`. Every method must be free of I/O and must
/// not panic on any bytes.
pub trait Dialect: fmt::Debug + Send + Sync + 'static {
    /// The provider's name, as it stands in errors and hooks, such as `openai`.
    fn name(&self) -> &str;

    /// The name opaque state is kept under; providers that accept each other's share one.
    fn family(&self) -> &str {
        self.name()
    }

    /// Where requests go: scheme, host and path prefix, without a slash at the end.
    fn base_url(&self) -> &str;

    /// The key, so that the client can scrub it from whatever a server echoes.
    fn key(&self) -> Option<&ApiKey>;

    /// Puts the key into the request's headers. Default: `Authorization: Bearer`.
    ///
    /// # Errors
    /// A [`Fault`] of kind `Auth` where the key cannot stand in a header; it must not contain the key.
    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Fault> {
        if let Some(key) = self.key() {
            headers.insert(header::AUTHORIZATION, bearer(key)?);
        }
        Ok(())
    }

    /// How a stream's bytes are cut into frames. Default: server-sent events.
    fn framing(&self) -> Framing {
        Framing::Sse
    }

    /// Encodes a request, once for all attempts.
    ///
    /// # Errors
    /// A [`Fault`] of kind `Unsupported` (or `BadRequest`) for what cannot be expressed. What is
    /// only inexact is a warning in the result; nothing is dropped silently.
    fn encode(&self, request: &Request, mode: Mode) -> Result<Encoded, Fault>;

    /// Decodes the whole body of an answer with a status below 300.
    ///
    /// # Errors
    /// The error where the body is one; `Server` where it holds neither an answer nor an error;
    /// `Decode` where it cannot be read.
    fn decode(&self, head: &Head<'_>, body: &[u8]) -> Result<Decoded, Fault>;

    /// A decoder for one stream.
    fn stream_decoder(&self, head: &Head<'_>) -> Box<dyn StreamDecoder>;

    /// Classifies an answer with a status of 300 or more. The body may be anything, cut or empty.
    fn classify(&self, head: &Head<'_>, body: &[u8]) -> Fault;

    /// Encodes the request for one page of models; `cursor` is what the page before gave.
    ///
    /// # Errors
    /// `Unsupported`, the default, where the provider cannot list models.
    fn encode_models(&self, cursor: Option<&str>) -> Result<Encoded, Fault> {
        let _ = cursor;
        Err(Fault::new(ErrorKind::Unsupported).with_message("this provider cannot list models"))
    }

    /// Decodes one page of models.
    ///
    /// # Errors
    /// As [`Dialect::decode`].
    fn decode_models(&self, head: &Head<'_>, body: &[u8]) -> Result<ModelsPage, Fault> {
        let _ = (head, body);
        Err(Fault::new(ErrorKind::Unsupported).with_message("this provider cannot list models"))
    }
}

/// Decodes the frames of one stream into the [`Sink`].
pub trait StreamDecoder: Send {
    /// Takes one frame.
    ///
    /// # Errors
    /// The error the frame carries, by its own code; `Decode` where it cannot be read: an
    /// undecodable frame is an error, not a gap.
    fn frame(&mut self, frame: Frame<'_>, sink: &mut Sink) -> Result<Flow, Fault>;

    /// Whether the dialect's terminal mark has been seen, so that the end is an end, not a cut.
    fn is_whole(&self) -> bool;

    /// Called once, at the end of a whole stream, to hand out what was held back.
    ///
    /// # Errors
    /// `Server` where the stream held neither an answer nor an error.
    fn end(&mut self, sink: &mut Sink) -> Result<(), Fault>;
}

/// Whether one answer or a stream of it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One body.
    Complete,
    /// A stream.
    Stream,
}

/// How a stream's bytes are cut into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events.
    Sse,
    /// One JSON value per line.
    Lines,
    /// The elements of one JSON array.
    JsonArray,
}

/// One frame of a stream. Comments never get this far: they only count as life.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// A server-sent event.
    Event {
        /// The event's name; `message` where it has none.
        name: &'a str,
        /// The data lines, joined by LF.
        data: &'a str,
        /// False where the stream ended without the blank line that closes an event.
        terminated: bool,
    },
    /// A line or array element, by the dialect's [`Framing`].
    Json {
        /// The line or element, without what separates it from the next.
        data: &'a [u8],
        /// False where the stream ended inside it: without a line end, or within the element.
        ///
        /// What was cut is no error of its own: leave it, and the missing end tells it better.
        terminated: bool,
    },
    /// Bytes between events that are no field: servers send bare JSON errors in mid-stream.
    Stray(&'a [u8]),
}

/// What a frame was, for the loop that feeds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// Part of the answer; read on.
    More,
    /// A sign of life alone (a ping); read on.
    Life,
    /// The last frame there can be: stop reading at once.
    Done,
}

/// The head of a reply, and the wall time it came at.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Head<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: &'a HeaderMap,
    now: Now<'a>,
}

/// The wall time, or where to ask for it: most replies need none, and then no clock is read.
#[derive(Clone, Copy)]
enum Now<'a> {
    Given(SystemTime),
    Asked(&'a dyn Fn() -> SystemTime),
}

impl<'a> Head<'a> {
    /// A head from its parts.
    #[must_use]
    pub const fn new(status: u16, headers: &'a HeaderMap, now: SystemTime) -> Self {
        Self {
            status,
            headers,
            now: Now::Given(now),
        }
    }

    /// A head that reads the clock only if somebody asks.
    pub(crate) const fn asking(
        status: u16,
        headers: &'a HeaderMap,
        now: &'a dyn Fn() -> SystemTime,
    ) -> Self {
        Self {
            status,
            headers,
            now: Now::Asked(now),
        }
    }

    /// The wall time, for dates in bodies; dialects read no clock.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        match self.now {
            Now::Given(now) => now,
            Now::Asked(ask) => ask(),
        }
    }
}

impl fmt::Debug for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Head")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// A request in a provider's words, encoded once for all attempts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Encoded {
    /// The method.
    pub method: Method,
    /// What follows the base URL, from the slash on, query included.
    pub path: String,
    /// Headers beside the credential; `Content-Type: application/json` is set where there is a body.
    pub headers: HeaderMap,
    /// The exact bytes of every attempt.
    pub body: Bytes,
    /// What could not be expressed exactly.
    pub warnings: Vec<Warning>,
}

impl Encoded {
    /// A POST of a JSON body.
    #[must_use]
    pub fn post(path: impl Into<String>, body: Bytes) -> Self {
        Self::new(Method::POST, path, body)
    }

    /// A GET without a body.
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, Bytes::new())
    }

    fn new(method: Method, path: impl Into<String>, body: Bytes) -> Self {
        Self {
            method,
            path: path.into(),
            headers: HeaderMap::new(),
            body,
            warnings: Vec::new(),
        }
    }
}

/// A decoded answer, before the client adds what only it knows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decoded {
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// The model that served.
    pub model: Option<String>,
    /// The parts of the assistant's turn, in order.
    pub parts: Vec<Part>,
    /// The words of a refusal, where the provider keeps them apart from the text.
    pub refusal: Option<String>,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// What it cost.
    pub usage: Usage,
    /// The request id, where the body rather than a header has it.
    pub request_id: Option<String>,
    /// What had to be mended.
    pub warnings: Vec<Warning>,
}

impl Decoded {
    /// An answer of these parts.
    #[must_use]
    pub fn new(parts: Vec<Part>, stop_reason: StopReason) -> Self {
        Self {
            id: None,
            model: None,
            parts,
            refusal: None,
            stop_reason,
            usage: Usage::default(),
            request_id: None,
            warnings: Vec::new(),
        }
    }
}

/// One page of models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelsPage {
    /// The models of this page.
    pub models: Vec<ModelInfo>,
    /// The cursor of the next page; `None` on the last.
    pub next: Option<String>,
}

impl ModelsPage {
    /// A page and the cursor of the next.
    #[must_use]
    pub fn new(models: Vec<ModelInfo>, next: Option<String>) -> Self {
        Self { models, next }
    }
}

/// Serializes a body and merges the request's provider options into it (RFC 7396).
///
/// # Errors
/// A [`Fault`] of kind `BadRequest` where the body cannot be JSON (a NaN, a map with odd keys).
pub fn json_body(body: &impl Serialize, options: &Map<String, Value>) -> Result<Bytes, Fault> {
    let refuse = |error: serde_json::Error| {
        Fault::new(ErrorKind::BadRequest)
            .with_message(format!("the request cannot be JSON: {error}"))
    };
    if options.is_empty() {
        let mut bytes = Vec::with_capacity(USUAL_BODY_BYTES);
        return serde_json::to_writer(&mut bytes, body)
            .map(|()| Bytes::from(bytes))
            .map_err(refuse);
    }
    let mut value = serde_json::to_value(body).map_err(refuse)?;
    for (name, option) in options {
        merge(&mut value, name, option);
    }
    serde_json::to_vec(&value).map(Bytes::from).map_err(refuse)
}

/// `Authorization: Bearer`, marked sensitive so that HTTP libraries do not print it.
pub(crate) fn bearer(key: &ApiKey) -> Result<HeaderValue, Fault> {
    secret(["Bearer ", key.expose()].concat())
}

/// A header value that holds the key, marked sensitive.
pub(crate) fn secret_header(text: &str) -> Result<HeaderValue, Fault> {
    secret(text.to_owned())
}

fn secret(text: String) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::try_from(text).map_err(|_| {
        Fault::new(ErrorKind::Auth)
            .with_message("the API key holds a character no header can carry")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// One member of a JSON merge patch: objects merge, `null` removes, anything else replaces.
pub(crate) fn merge(target: &mut Value, name: &str, patch: &Value) {
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(members) = target else {
        return;
    };
    match patch {
        Value::Null => {
            members.shift_remove(name);
        }
        Value::Object(inner) => {
            let member = members.entry(name).or_insert(Value::Null);
            if !member.is_object() {
                *member = Value::Object(Map::new());
            }
            for (name, patch) in inner {
                merge(member, name, patch);
            }
        }
        other => {
            members.insert(name.to_owned(), other.clone());
        }
    }
}

/// Room for a short conversation, so that its body is not moved as it grows.
const USUAL_BODY_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn merged(body: &Value, options: &Value) -> Value {
        let options = options.as_object().unwrap();
        serde_json::from_slice(&json_body(body, options).unwrap()).unwrap()
    }

    #[test]
    fn provider_options_merge_deep_and_null_removes() {
        // The examples of RFC 7396, appendix A, that have objects on both sides.
        for (body, patch, expected) in [
            (json!({"a":"b"}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"b"}), json!({"b":"c"}), json!({"a":"b","b":"c"})),
            (json!({"a":"b"}), json!({"a":null}), json!({})),
            (
                json!({"a":"b","b":"c"}),
                json!({"a":null}),
                json!({"b":"c"}),
            ),
            (json!({"a":["b"]}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"c"}), json!({"a":["b"]}), json!({"a":["b"]})),
            (
                json!({"a":{"b":"c"}}),
                json!({"a":{"b":"d","c":null}}),
                json!({"a":{"b":"d"}}),
            ),
            (json!({"a":[{"b":"c"}]}), json!({"a":[1]}), json!({"a":[1]})),
            (json!({"e":null}), json!({"a":1}), json!({"e":null,"a":1})),
            (
                json!({}),
                json!({"a":{"bb":{"ccc":null}}}),
                json!({"a":{"bb":{}}}),
            ),
        ] {
            assert_eq!(merged(&body, &patch), expected, "{body} + {patch}");
        }
    }

    #[test]
    fn without_options_the_body_is_untouched() {
        let body = json!({"z":1,"a":{"y":[1,2]}});
        assert_eq!(
            &json_body(&body, &Map::new()).unwrap()[..],
            br#"{"z":1,"a":{"y":[1,2]}}"#
        );
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_refused_without_printing_it() {
        let fault = bearer(&ApiKey::new("sk-se\ncret")).unwrap_err();
        assert!(!format!("{fault:?}").contains("cret"));
        assert!(bearer(&ApiKey::new("sk-secret")).unwrap().is_sensitive());
    }
}
