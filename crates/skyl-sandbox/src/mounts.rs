//! The providers the sandbox plays: one folder each, one row in [`all`].
//!
//! A mount is pure: a request that was read to its end goes in, an answer in the provider's shape
//! comes out. Faults, delivery and the journal know nothing of providers, and mounts know nothing
//! of them.

mod anthropic;
mod gemini;
mod openai;
mod says;
mod schema;
mod typesafe;
mod words;

use std::{fmt::Debug, time::SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method};

use crate::{
    answer::{Call, Whole},
    limiter::Dimension,
};

/// One provider's wire shapes.
pub(crate) trait Mount: Debug + Send + Sync {
    /// The name in the journal.
    fn name(&self) -> &'static str;

    /// The path every request of this mount starts with, without a slash at the end.
    fn prefix(&self) -> &'static str;

    /// Checks the key, reads the request and says what the ordinary answer is.
    fn read(&self, request: &Request, house: &House) -> Call;

    /// The provider's error object for a status.
    fn error(&self, status: u16, cause: Cause, message: &str) -> Whole;

    /// The provider's overload error as it comes inside a 200: as a frame of a stream.
    fn overload_frame(&self, message: &str, spot: Spot) -> Bytes;

    /// The mount that speaks for a model, where the model's name asks for an accent.
    fn voice(&self, _model: &str) -> Option<&'static dyn Mount> {
        None
    }

    /// The answer as it stands for this request, where the provider numbers its bodies.
    fn numbered(&self, answer: Whole, _seq: u64) -> Whole {
        answer
    }

    /// The headers that tell of the limiter; `wall` serves providers that write instants.
    fn limits(&self, limits: &[Dimension], wall: SystemTime) -> Vec<(&'static str, String)>;

    /// The headers every answer of the provider carries.
    fn headers(&self, seq: u64) -> Vec<(&'static str, String)>;
}

/// Every mount of the sandbox.
pub(crate) fn all() -> Vec<Box<dyn Mount>> {
    vec![
        // Inside the next one's prefix, so it has to be asked first.
        Box::new(openai::Responses),
        Box::new(openai::OpenAi::official()),
        Box::new(openai::OpenAi::compatible()),
        Box::new(anthropic::Anthropic),
        Box::new(gemini::Gemini::beta()),
        Box::new(gemini::Gemini::stable()),
        Box::new(typesafe::TypeSafe),
    ]
}

/// A request that was read to its end.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path after the mount's prefix, as sent; it starts with a slash or is empty.
    pub(crate) path: String,
    /// What stands after the `?`, as sent; empty without one.
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    /// The first value of a query parameter, decoded.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let mut pairs = self
            .query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs
            .find(|(key, _)| percent_decoded(key) == name)
            .map(|(_, value)| percent_decoded(&value.replace('+', " ")))
    }
}

/// Where in a stream an error comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The stream's own content type: the form of its frames.
    pub(crate) content_type: &'static str,
    /// How many frames came before it.
    pub(crate) before: usize,
}

/// What the mounts share: the key to show and the models on offer.
#[derive(Clone, Debug)]
pub(crate) struct House {
    pub(crate) key: String,
    /// Models of the test author, beside each mount's own catalogue.
    pub(crate) models: Vec<String>,
}

/// Which error a status carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// What the provider usually means by the status.
    Usual,
    Quota,
    Context,
    Overloaded,
}

/// Decodes the percent escapes of a path segment once; a broken escape stays as it is.
pub(crate) fn percent_decoded(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let pair = bytes
            .get(at + 1..at + 3)
            .and_then(|pair| std::str::from_utf8(pair).ok());
        let value = pair
            .filter(|pair| byte == b'%' && pair.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        decoded.push(value.unwrap_or(byte));
        at += if value.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(segment: &str, decoded: &str) {
        assert_eq!(percent_decoded(segment), decoded);
    }

    #[test]
    fn a_path_segment_is_decoded_once() {
        check("gpt-5.6", "gpt-5.6");
        check(
            "sandbox-do-429%28ra%3D1%29%2C%6Fk",
            "sandbox-do-429(ra=1),ok",
        );
        check("a%2528", "a%28");
    }

    #[test]
    fn a_broken_escape_stays_as_it_is() {
        check("100%", "100%");
        check("%2", "%2");
        check("%zz%+1", "%zz%+1");
        check("%ff", "\u{fffd}");
    }
}
