//! A key that a server echoes, in any spelling, is in no error.
//!
//! The scrubber has no public door of its own, so the text comes in as the fault of a dialect that
//! refuses every request: the client makes an error of it without any network.

use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use skyl::{
    ApiKey, Client, Decoded, Dialect, Encoded, ErrorKind, Fault, Flow, Frame, Head, Mode, Request,
    Sink, StreamDecoder,
};

/// A message, code and request id that may hold the key.
pub(crate) fn secrets(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(client) = client() else {
        return;
    };
    // The model's name is the one thing a request hands the dialect unchanged.
    let request = Request::new(text.as_ref()).user("Hi");
    let call = std::pin::pin!(client.complete(&request));
    let Poll::Ready(Err(error)) = call.poll(&mut Context::from_waker(Waker::noop())) else {
        unreachable!("the dialect refuses every request, and nothing is waited for");
    };
    for shown in [
        error.to_string(),
        format!("{error:?}"),
        error.message().unwrap_or_default().to_owned(),
        error.code().unwrap_or_default().to_owned(),
        error.request_id().unwrap_or_default().to_owned(),
    ] {
        assert!(!shown.contains(KEY), "as it is");
        assert!(!percent_decoded(&shown).contains(KEY), "percent-escaped");
        assert!(!json_decoded(&shown).contains(KEY), "JSON-escaped");
    }
}

fn client() -> Option<&'static Client> {
    static CLIENT: OnceLock<Option<Client>> = OnceLock::new();
    let built = CLIENT.get_or_init(|| Client::builder(Refusing(ApiKey::new(KEY))).build().ok());
    assert!(built.is_some(), "the client can be built");
    built.as_ref()
}

/// A dialect whose every request fails with the model's name for words.
#[derive(Debug)]
struct Refusing(ApiKey);

impl Dialect for Refusing {
    fn name(&self) -> &'static str {
        "refusing"
    }

    fn base_url(&self) -> &'static str {
        "http://127.0.0.1:9"
    }

    fn key(&self) -> Option<&ApiKey> {
        Some(&self.0)
    }

    fn encode(&self, request: &Request, _: Mode) -> Result<Encoded, Fault> {
        let text = request.model.as_str();
        Err(Fault::new(ErrorKind::BadRequest)
            .with_message(text)
            .with_code(text)
            .with_request_id(text))
    }

    fn decode(&self, _: &Head<'_>, _: &[u8]) -> Result<Decoded, Fault> {
        Err(Fault::empty_response())
    }

    fn stream_decoder(&self, _: &Head<'_>) -> Box<dyn StreamDecoder> {
        Box::new(Never)
    }

    fn classify(&self, head: &Head<'_>, _: &[u8]) -> Fault {
        Fault::from_status(head.status)
    }
}

struct Never;

impl StreamDecoder for Never {
    fn frame(&mut self, _: Frame<'_>, _: &mut Sink) -> Result<Flow, Fault> {
        Err(Fault::empty_response())
    }

    fn is_whole(&self) -> bool {
        false
    }

    fn end(&mut self, _: &mut Sink) -> Result<(), Fault> {
        Err(Fault::empty_response())
    }
}

fn percent_decoded(text: &str) -> String {
    decoded(text, |rest| match rest {
        [b'%', high, low, ..] => Some((hex(&[*high, *low])?, 3)),
        _ => None,
    })
}

fn json_decoded(text: &str) -> String {
    decoded(text, |rest| match rest {
        [b'\\', b'u', a, b, c, d, ..] => Some((hex(&[*a, *b, *c, *d])?, 6)),
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => Some((*byte, 2)),
        _ => None,
    })
}

fn decoded(text: &str, escape: impl Fn(&[u8]) -> Option<(u8, usize)>) -> String {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some(first) = rest.first() {
        let (byte, length) = escape(rest).unwrap_or((*first, 1));
        bytes.push(byte);
        rest = rest.get(length..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digits: &[u8]) -> Option<u8> {
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let digits = str::from_utf8(digits).ok()?;
    u8::try_from(u32::from_str_radix(digits, 16).ok()?).ok()
}

/// With every character some encoding spells in another way.
const KEY: &str = "sk-0/a+b=\"9z%";
