//! Feeds recorded answers to a dialect as the client would, and holds the result to what was
//! written down beside them.
//!
//! One function drives every dialect: bytes through the decoder of streams, frames through the
//! dialect, events out of the sink. A fixture is fed whole, one byte at a time, cut in two at every
//! place, and ended early at every place.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use skyl_retry::hint::{self, HintScope};

use crate::dialect::{Decoded, Dialect, Fault, Flow, Frame, Framing, Head};
use crate::kind::ErrorKind;
use crate::message::Part;
use crate::response::{StopReason, StreamEvent};
use crate::sink::Sink;

/// What a reply came to.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) decoded: Decoded,
    pub(crate) events: Vec<StreamEvent>,
    /// Whether the terminal mark was seen and the end went well; else why not.
    pub(crate) end: Result<(), Fault>,
}

impl Told {
    /// The text of the answer.
    pub(crate) fn text(&self) -> String {
        self.decoded
            .parts
            .iter()
            .filter_map(Part::as_text)
            .collect()
    }

    /// The calls of the answer: id, name, arguments.
    pub(crate) fn tools(&self) -> Vec<(&str, &str, &str)> {
        tools(&self.decoded)
    }

    /// The kind of the failure.
    #[track_caller]
    pub(crate) fn kind(&self) -> ErrorKind {
        self.fault().kind()
    }

    /// The failure.
    #[track_caller]
    pub(crate) fn fault(&self) -> &Fault {
        self.end.as_ref().expect_err("must fail")
    }
}

/// The calls of an answer: id, name, arguments.
pub(crate) fn tools(decoded: &Decoded) -> Vec<(&str, &str, &str)> {
    decoded
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some((&*call.id, &*call.name, &*call.arguments)),
            _ => None,
        })
        .collect()
}

/// Drives a stream as the client does.
pub(crate) fn stream<'a>(
    dialect: &dyn Dialect,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Told {
    let headers = HeaderMap::new();
    let mut decoder = dialect.stream_decoder(&Head::new(200, &headers, now()));
    let mut frames = skyl_sse::Decoder::new(framing(dialect), skyl_sse::Limits::default());
    let mut sink = Sink::new();
    let mut end = None;
    'read: for chunk in chunks {
        let mut input = chunk;
        loop {
            let frame = match frames.next(&mut input) {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => {
                    end = Some(Err(Fault::decode(error.to_string())));
                    break 'read;
                }
            };
            let Some(frame) = translate(frame, dialect) else {
                continue;
            };
            match decoder.frame(frame, &mut sink) {
                Ok(Flow::More | Flow::Life) => {}
                Ok(Flow::Done) => {
                    end = Some(Ok(()));
                    break 'read;
                }
                Err(fault) => {
                    end = Some(Err(fault));
                    break 'read;
                }
            }
        }
    }
    while end.is_none() {
        end = match frames.finish() {
            Ok(Some(frame)) => {
                let frame = translate(frame, dialect);
                match frame.map(|frame| decoder.frame(frame, &mut sink)) {
                    Some(Err(fault)) => Some(Err(fault)),
                    Some(Ok(Flow::Done)) => Some(Ok(())),
                    _ => None,
                }
            }
            Ok(None) => Some(Ok(())),
            Err(error) => Some(Err(Fault::decode(error.to_string()))),
        };
    }
    let end = end.unwrap_or(Ok(())).and_then(|()| {
        if decoder.is_whole() {
            decoder.end(&mut sink)
        } else {
            Err(Fault::new(ErrorKind::Truncated))
        }
    });
    let events = std::iter::from_fn(|| sink.pop()).collect();
    Told {
        decoded: sink.partial(),
        events,
        end,
    }
}

/// Drives a stream whose text is at hand.
pub(crate) fn stream_text(dialect: &dyn Dialect, text: &str) -> Told {
    stream(dialect, [text.as_bytes()])
}

/// Decodes a whole body that came with a 200.
pub(crate) fn answer(dialect: &dyn Dialect, body: &[u8]) -> Result<Decoded, Fault> {
    dialect.decode(&Head::new(200, &HeaderMap::new(), now()), body)
}

/// Classifies a body that came with an error status.
pub(crate) fn refused(dialect: &dyn Dialect, status: u16, body: &str) -> Fault {
    dialect.classify(
        &Head::new(status, &HeaderMap::new(), now()),
        body.as_bytes(),
    )
}

/// Holds a fixture to `expected.json`, by every way of feeding it.
#[track_caller]
pub(crate) fn check(dialect: &dyn Dialect, name: &str) {
    let bytes = fixture(name);
    let expected = expected(name);
    let form = name.rsplit('.').next().unwrap_or_default();
    if form == "sse" || form == "ndjson" {
        check_stream(dialect, name, &bytes, &expected);
    } else if form == "http" {
        let reply = Reply::parse(&bytes);
        let head = Head::new(reply.status, &reply.headers, now());
        let end = if reply.status < 300 {
            dialect.decode(&head, &reply.body)
        } else {
            Err(dialect.classify(&head, &reply.body))
        };
        assert_eq!(of_result(end, &reply), expected, "{name}");
    } else {
        let reply = Reply {
            status: 200,
            headers: HeaderMap::new(),
            body: bytes,
        };
        assert_eq!(
            of_result(answer(dialect, &reply.body), &reply),
            expected,
            "{name}"
        );
    }
}

/// The bytes of a fixture.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The wall time of every test: 1 December 2026, 00:00 UTC.
pub(crate) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_083_200)
}

#[track_caller]
fn check_stream(dialect: &dyn Dialect, name: &str, bytes: &[u8], expected: &Value) {
    let whole = stream(dialect, [bytes]);
    assert_eq!(
        &like(of_stream(&whole), expected),
        expected,
        "{name}, whole"
    );
    let by_byte = stream(dialect, bytes.chunks(1));
    assert_eq!(
        &like(of_stream(&by_byte), expected),
        expected,
        "{name}, byte by byte"
    );
    assert_eq!(by_byte.decoded, whole.decoded, "{name}, byte by byte");
    for at in 0..=bytes.len() {
        let (start, rest) = bytes.split_at(at);
        let cut = stream(dialect, [start, rest]);
        assert_eq!(
            &like(of_stream(&cut), expected),
            expected,
            "{name}, cut at {at}"
        );
        assert_eq!(cut.events, whole.events, "{name}, cut at {at}");
        check_end(dialect, start, &whole, &format!("{name}, ended at {at}"));
    }
}

/// A stream that ends early is never a success with less in it.
#[track_caller]
fn check_end(dialect: &dyn Dialect, start: &[u8], whole: &Told, place: &str) {
    let early = stream(dialect, [start]);
    assert!(whole.text().starts_with(&early.text()), "{place}");
    if early.end.is_ok() {
        assert_eq!(early.text(), whole.text(), "{place}");
        assert_eq!(early.tools(), whole.tools(), "{place}");
    } else {
        assert!(
            whole.tools().starts_with(&early.tools()),
            "{place}: half a call is no call"
        );
    }
}

fn translate<'a>(frame: skyl_sse::Frame<'a>, dialect: &dyn Dialect) -> Option<Frame<'a>> {
    match frame {
        skyl_sse::Frame::Event(event) if dialect.framing() == Framing::Sse => Some(Frame::Event {
            name: event.name,
            data: event.data,
            terminated: event.terminated,
        }),
        skyl_sse::Frame::Event(event) => Some(Frame::Json {
            data: event.data.as_bytes(),
            terminated: event.terminated,
        }),
        skyl_sse::Frame::Stray(bytes) => Some(Frame::Stray(bytes)),
        _ => None,
    }
}

fn framing(dialect: &dyn Dialect) -> skyl_sse::Framing {
    match dialect.framing() {
        Framing::Sse => skyl_sse::Framing::Sse,
        Framing::Lines => skyl_sse::Framing::Lines,
        Framing::JsonArray => skyl_sse::Framing::JsonArray,
    }
}

struct Reply {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Reply {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes
            .windows(2)
            .position(|pair| pair == b"\n\n")
            .expect("a blank line");
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.lines();
        let status = lines
            .next()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let headers = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| {
                (
                    name.parse::<HeaderName>().unwrap(),
                    value.parse::<HeaderValue>().unwrap(),
                )
            })
            .collect();
        Self {
            status,
            headers,
            body: bytes[end + 2..].to_vec(),
        }
    }
}

/// The right result of a fixture, with what is absent filled in.
fn expected(name: &str) -> Value {
    let all: Value = serde_json::from_slice(&fixture("expected.json")).unwrap();
    let given = all[name]
        .as_object()
        .unwrap_or_else(|| panic!("{name} has no result"));
    let mut full = empty();
    for (field, value) in given {
        full.insert(field.clone(), value.clone());
    }
    if let Some(error) = full["error"].as_object_mut() {
        let code = match &error["code"] {
            Value::Number(number) => json!(number.to_string()),
            code => code.clone(),
        };
        error.insert("code".into(), code);
    }
    Value::Object(full)
}

/// The result without what the expected one leaves open: ids made locally, spaces in arguments.
fn like(mut result: Value, expected: &Value) -> Value {
    let tools = result["tools"].as_array_mut().into_iter().flatten();
    for (tool, expected) in tools.zip(expected["tools"].as_array().into_iter().flatten()) {
        if expected[0].is_null() {
            tool[0] = Value::Null;
        }
        let arguments = tool[2]
            .as_str()
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(arguments) = arguments {
            tool[2] = json!(arguments.to_string());
        }
    }
    result
}

fn empty() -> Map<String, Value> {
    let empty = json!({
        "complete": false, "text": "", "reasoning": "", "refusal": "", "tools": [],
        "finish": null, "usage": null, "error": null,
    });
    empty.as_object().unwrap().clone()
}

fn of_stream(told: &Told) -> Value {
    let no_reply = Reply {
        status: 200,
        headers: HeaderMap::new(),
        body: Vec::new(),
    };
    let mut value = of_decoded(&told.decoded);
    match &told.end {
        Ok(()) => drop(value.insert("complete".into(), json!(true))),
        Err(fault) if fault.kind() == ErrorKind::Truncated => {}
        Err(fault) => drop(value.insert("error".into(), of_fault(fault, &no_reply))),
    }
    Value::Object(value)
}

fn of_result(result: Result<Decoded, Fault>, reply: &Reply) -> Value {
    Value::Object(match result {
        Ok(decoded) => {
            let mut value = of_decoded(&decoded);
            value.insert("complete".into(), json!(true));
            value
        }
        Err(fault) => {
            let mut value = empty();
            value.insert("error".into(), of_fault(&fault, reply));
            value
        }
    })
}

fn of_decoded(decoded: &Decoded) -> Map<String, Value> {
    let mut value = empty();
    let words = |reasoning: bool| -> String {
        let parts = decoded.parts.iter().filter_map(|part| match part {
            Part::Text(text) if !reasoning => Some(&*text.text),
            Part::Reasoning(thought) if reasoning => Some(&*thought.text),
            _ => None,
        });
        parts.collect()
    };
    value.insert("text".into(), json!(words(false)));
    value.insert("reasoning".into(), json!(words(true)));
    value.insert(
        "refusal".into(),
        json!(decoded.refusal.clone().unwrap_or_default()),
    );
    value.insert("tools".into(), json!(tools(decoded)));
    value.insert("finish".into(), json!(finish(&decoded.stop_reason)));
    let usage = decoded.usage;
    if usage != crate::response::Usage::default() {
        value.insert(
            "usage".into(),
            json!({
                "in": usage.input_tokens.unwrap_or(0),
                "cached": usage.cache_read_tokens.unwrap_or(0),
                "written": usage.cache_write_tokens.unwrap_or(0),
                "out": usage.output_tokens.unwrap_or(0),
                "reasoning": usage.reasoning_tokens.unwrap_or(0),
            }),
        );
    }
    value
}

fn finish(reason: &StopReason) -> Option<&'static str> {
    match reason {
        StopReason::EndTurn => Some("stop"),
        StopReason::MaxTokens => Some("length"),
        StopReason::ToolUse => Some("tool_calls"),
        StopReason::Refusal => Some("refusal"),
        StopReason::Other(word) if word.is_empty() => None,
        _ => Some("other"),
    }
}

fn of_fault(fault: &Fault, reply: &Reply) -> Value {
    let kind = match fault.kind() {
        ErrorKind::QuotaExhausted => "quota",
        ErrorKind::ContextLength => "context_length",
        ErrorKind::RateLimit => "rate_limit",
        ErrorKind::BadRequest => "invalid_request",
        ErrorKind::Server if fault.is_overloaded() => "overloaded",
        ErrorKind::Server
            if fault
                .message()
                .is_some_and(|text| text.starts_with("empty")) =>
        {
            "empty_response"
        }
        ErrorKind::Server => "server",
        ErrorKind::Auth => "auth",
        other => panic!("no fixture expects {other:?}"),
    };
    let headers: Vec<_> = reply
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let found = hint::from_response(
        headers,
        now(),
        HintScope::All,
        || fault.hint(),
        || hint::prose(fault.message().unwrap_or_default()),
    );
    let status = (reply.status >= 300)
        .then_some(reply.status)
        .or(fault.status());
    json!({
        "kind": kind,
        "status": status,
        "code": fault.code(),
        "retry": matches!(fault.kind(), ErrorKind::RateLimit | ErrorKind::Server),
        "after_ms": found.hint.wait().map(|wait| u64::try_from(wait.as_millis()).unwrap()),
    })
}
