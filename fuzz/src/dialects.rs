//! Every dialect: whole answers, errors, pages of models, and streams cut anywhere.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue};
use skyl::anthropic::Anthropic;
use skyl::gemini::Gemini;
use skyl::openai::{OpenAi, OpenAiCompatible, Responses};
use skyl::{Dialect, ErrorKind, Fault, Flow, Frame, Framing, Head, Sink};

use crate::cuts::chunks;

pub(crate) fn openai_body(bytes: &[u8]) {
    body(openai(), bytes);
}

pub(crate) fn openai_stream(bytes: &[u8]) {
    stream(openai(), bytes);
}

pub(crate) fn responses_body(bytes: &[u8]) {
    body(responses(), bytes);
}

pub(crate) fn responses_stream(bytes: &[u8]) {
    stream(responses(), bytes);
}

pub(crate) fn compat_body(bytes: &[u8]) {
    body(compat(), bytes);
}

pub(crate) fn compat_stream(bytes: &[u8]) {
    stream(compat(), bytes);
}

pub(crate) fn anthropic_body(bytes: &[u8]) {
    body(anthropic(), bytes);
}

pub(crate) fn anthropic_stream(bytes: &[u8]) {
    stream(anthropic(), bytes);
}

pub(crate) fn gemini_body(bytes: &[u8]) {
    body(gemini(), bytes);
}

pub(crate) fn gemini_stream(bytes: &[u8]) {
    stream(gemini(), bytes);
}

fn openai() -> &'static dyn Dialect {
    static DIALECT: OnceLock<OpenAi> = OnceLock::new();
    DIALECT.get_or_init(|| OpenAi::new("sk-fuzz-0123456789"))
}

fn responses() -> &'static dyn Dialect {
    static DIALECT: OnceLock<Responses> = OnceLock::new();
    DIALECT.get_or_init(|| Responses::new("sk-fuzz-0123456789"))
}

fn compat() -> &'static dyn Dialect {
    static DIALECT: OnceLock<OpenAiCompatible> = OnceLock::new();
    DIALECT.get_or_init(|| OpenAiCompatible::new("http://127.0.0.1:9/v1"))
}

fn anthropic() -> &'static dyn Dialect {
    static DIALECT: OnceLock<Anthropic> = OnceLock::new();
    DIALECT.get_or_init(|| Anthropic::new("sk-fuzz-0123456789"))
}

fn gemini() -> &'static dyn Dialect {
    static DIALECT: OnceLock<Gemini> = OnceLock::new();
    DIALECT.get_or_init(|| Gemini::new("sk-fuzz-0123456789"))
}

/// A whole reply: with a status line and headers where it begins with `HTTP/`, else a body alone.
fn body(dialect: &dyn Dialect, bytes: &[u8]) {
    let Reply {
        status,
        headers,
        body,
    } = Reply::read(bytes);
    let head = |status| Head::new(status, &headers, now());

    match dialect.decode(&head(200), body) {
        Ok(decoded) => {
            in_proportion(&decoded, bytes);
            // What a server sends that ignores the wish for a stream.
            let mut sink = Sink::new();
            sink.whole(decoded);
            in_proportion(&sink, bytes);
        }
        Err(fault) => sound(&fault, bytes),
    }
    match dialect.decode_models(&head(200), body) {
        Ok(page) => in_proportion(&page, bytes),
        Err(fault) => sound(&fault, bytes),
    }
    for status in status.map_or(STATUSES.to_vec(), |status| vec![status]) {
        let fault = dialect.classify(&head(status), body);
        sound(&fault, bytes);
        let again = dialect.classify(&head(status), body);
        assert_eq!(
            format!("{again:?}"),
            format!("{fault:?}"),
            "not the same twice"
        );
        if status == 429 {
            let kind = fault.kind();
            let stays = matches!(kind, ErrorKind::RateLimit | ErrorKind::QuotaExhausted);
            assert!(stays, "a 429 became {kind:?}");
        }
    }
}

/// The bytes of a stream: whole, in chunks, and byte by byte.
fn stream(dialect: &dyn Dialect, bytes: &[u8]) {
    let whole = drive(dialect, [bytes]);
    assert_eq!(drive(dialect, chunks(bytes)), whole, "cut in chunks");
    assert_eq!(drive(dialect, bytes.chunks(1)), whole, "byte by byte");
    in_proportion(&whole, bytes);
    // With a space in it, no event has the shape of the one before, and each is read as JSON.
    let [(end, sink), (spaced_end, spaced_sink)] =
        [false, true].map(|spaced| played(dialect, [bytes], spaced));
    assert_eq!(sink, spaced_sink, "read as JSON, event by event");
    let kind = |end: Result<(), Fault>| end.map_err(|fault| fault.kind());
    assert_eq!(kind(end), kind(spaced_end), "read as JSON, event by event");
}

/// Drives a stream as the client does; gives all there is to know about its end, as text.
fn drive<'a>(dialect: &dyn Dialect, chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
    let (end, sink) = played(dialect, chunks, false);
    format!("{end:?} {sink}")
}

fn played<'a>(
    dialect: &dyn Dialect,
    chunks: impl IntoIterator<Item = &'a [u8]>,
    spaced: bool,
) -> (Result<(), Fault>, String) {
    let headers = HeaderMap::new();
    let head = Head::new(200, &headers, now());
    let mut decoder = dialect.stream_decoder(&head);
    let mut frames = skyl_sse::Decoder::new(framing(dialect), skyl_sse::Limits::default());
    let mut sink = Sink::new();
    let mut number = 0;
    let mut frame = |frame: skyl_sse::Frame<'_>, sink: &mut Sink| {
        number += 1;
        match translate(frame, dialect) {
            None => Ok(Flow::Life),
            Some(Frame::Event {
                name,
                data,
                terminated,
            }) if spaced && data.starts_with('{') => {
                let data = format!("{{{}{}", " ".repeat(1 + number % 2), &data[1..]);
                let data = data.as_str();
                let frame = Frame::Event {
                    name,
                    data,
                    terminated,
                };
                decoder.frame(frame, sink)
            }
            Some(frame) => decoder.frame(frame, sink),
        }
    };
    let mut end = None;
    for chunk in chunks {
        let mut input = chunk;
        while end.is_none() {
            match frames.next(&mut input) {
                Ok(Some(next)) => end = ended(frame(next, &mut sink)),
                Ok(None) => break,
                Err(error) => end = Some(Err(Fault::decode(error.to_string()))),
            }
        }
    }
    while end.is_none() {
        end = match frames.finish() {
            Ok(Some(next)) => ended(frame(next, &mut sink)),
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
    if let Err(fault) = &end {
        assert_ne!(fault.kind(), ErrorKind::Unsupported, "arises locally alone");
    }
    for index in 0..sink.tool_count() {
        assert!(
            sink.arguments(index).is_some(),
            "call {index} has no arguments"
        );
    }
    (end, format!("{sink:?}"))
}

fn ended(flow: Result<Flow, Fault>) -> Option<Result<(), Fault>> {
    match flow {
        Ok(Flow::More | Flow::Life) => None,
        Ok(Flow::Done) => Some(Ok(())),
        Err(fault) => Some(Err(fault)),
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
        Framing::Lines => skyl_sse::Framing::Lines,
        Framing::JsonArray => skyl_sse::Framing::JsonArray,
        _ => skyl_sse::Framing::Sse,
    }
}

/// A fault keeps to what faults may say.
fn sound(fault: &Fault, bytes: &[u8]) {
    assert_ne!(fault.kind(), ErrorKind::Unsupported, "arises locally alone");
    if let Some(status) = fault.status() {
        assert!((100..=599).contains(&status), "{status}");
    }
    assert_ne!(fault.message(), Some(""), "empty words are none");
    in_proportion(fault, bytes);
}

/// What is made of an input is not many times the input.
///
/// Measured as text, which spells a byte with up to ten and names every field. The factor is what
/// the smallest frames come to (a tool call of a few bytes is a part, an event and a warning).
fn in_proportion(made: &impl std::fmt::Debug, bytes: &[u8]) {
    let made = format!("{made:?}").len();
    let bound = 4096 + 128 * bytes.len();
    assert!(made <= bound, "{made} bytes made of {}", bytes.len());
}

struct Reply<'a> {
    status: Option<u16>,
    headers: HeaderMap,
    body: &'a [u8],
}

impl<'a> Reply<'a> {
    /// Reads what looks like a reply; headers that are none are left out.
    fn read(bytes: &'a [u8]) -> Self {
        let mut reply = Self {
            status: None,
            headers: HeaderMap::new(),
            body: bytes,
        };
        let end = bytes.windows(2).position(|pair| pair == b"\n\n");
        let Some(end) = end.filter(|_| bytes.starts_with(b"HTTP/")) else {
            return reply;
        };
        let mut lines = bytes[..end].split(|byte| *byte == b'\n');
        let status = lines.next().and_then(|line| {
            let word = line.split(|byte| *byte == b' ').nth(1)?;
            str::from_utf8(word).ok()?.parse().ok()
        });
        reply.status = status.filter(|status| (300..=599).contains(status));
        reply.headers = lines
            .filter_map(|line| {
                let colon = line.iter().position(|byte| *byte == b':')?;
                let name = HeaderName::from_bytes(&line[..colon]).ok()?;
                let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
                Some((name, value))
            })
            .collect();
        reply.body = &bytes[end + 2..];
        reply
    }
}

/// 1 December 2026, 00:00 UTC.
fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_796_083_200)
}

/// What a body without a status line is classified under.
const STATUSES: [u16; 10] = [302, 400, 401, 402, 404, 413, 422, 429, 500, 529];
