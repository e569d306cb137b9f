//! The built-in dialects behind other framings: lines and arrays, as gateways send them.

use std::sync::Arc;

use http::HeaderMap;
use serde_json::Value;

use crate::anthropic::Anthropic;
use crate::dialect::{
    Decoded, Dialect, Encoded, Fault, Framing, Head, Mode, StreamDecoder, harness,
};
use crate::gemini::Gemini;
use crate::key::ApiKey;
use crate::kind::ErrorKind;
use crate::openai::OpenAiCompatible;
use crate::request::Request;

/// A dialect whose frames are cut in another way.
#[derive(Debug)]
struct Framed(Arc<dyn Dialect>, Framing);

// Only what a stream is decoded with; the rest is the dialect's own.
impl Dialect for Framed {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn base_url(&self) -> &str {
        self.0.base_url()
    }

    fn key(&self) -> Option<&ApiKey> {
        self.0.key()
    }

    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Fault> {
        self.0.authorize(headers)
    }

    fn framing(&self) -> Framing {
        self.1
    }

    fn encode(&self, request: &Request, mode: Mode) -> Result<Encoded, Fault> {
        self.0.encode(request, mode)
    }

    fn decode(&self, head: &Head<'_>, body: &[u8]) -> Result<Decoded, Fault> {
        self.0.decode(head, body)
    }

    fn stream_decoder(&self, head: &Head<'_>) -> Box<dyn StreamDecoder> {
        self.0.stream_decoder(head)
    }

    fn classify(&self, head: &Head<'_>, body: &[u8]) -> Fault {
        self.0.classify(head, body)
    }
}

/// The JSON of a fixture's events.
fn events(fixture: &str) -> Vec<String> {
    let text = String::from_utf8(harness::fixture(fixture)).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(|data| data.trim().to_owned())
        .filter(|data| serde_json::from_str::<Value>(data).is_ok())
        .collect()
}

#[test]
fn a_last_line_or_element_that_was_cut_is_a_cut_answer_and_no_broken_one() {
    let dialects: [(Arc<dyn Dialect>, &str); 3] = [
        (
            Arc::new(OpenAiCompatible::new("http://localhost/v1")),
            "04-openai-chat-stream-parallel-tools.sse",
        ),
        (
            Arc::new(Anthropic::new("sk-ant-0123456789")),
            "19-anthropic-stream.sse",
        ),
        (
            Arc::new(Gemini::new("AIza-0123456789")),
            "28-gemini-stream.sse",
        ),
    ];
    for (dialect, fixture) in dialects {
        let plain = harness::stream(&*dialect, [&*harness::fixture(fixture)]);
        let events = events(fixture);
        let lines = events.join("\n") + "\n";
        let array = format!("[{}]", events.join(",\n"));
        for (framing, text) in [(Framing::Lines, lines), (Framing::JsonArray, array)] {
            check(&Framed(dialect.clone(), framing), text.as_bytes(), &plain);
        }
    }
}

#[track_caller]
fn check(framed: &Framed, bytes: &[u8], plain: &harness::Told) {
    let framing = framed.1;
    let whole = harness::stream(framed, [bytes]);
    assert!(whole.end.is_ok(), "{framing:?}: {:?}", whole.end);
    assert_eq!(whole.decoded, plain.decoded, "{framing:?}");
    for at in 0..bytes.len() {
        let told = harness::stream(framed, [&bytes[..at]]);
        let place = format!("{} {framing:?}, ended at {at}", framed.name());
        match told.end {
            Ok(()) => assert_eq!(told.text(), whole.text(), "{place}"),
            Err(fault) => assert_eq!(fault.kind(), ErrorKind::Truncated, "{place}"),
        }
    }
    // What is broken and not cut stays an error of its own.
    let broken = harness::stream(framed, [&b"{\"a\" 1}\n"[..]]);
    assert_eq!(broken.kind(), ErrorKind::Decode, "{framing:?}");
}
