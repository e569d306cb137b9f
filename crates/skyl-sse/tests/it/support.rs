//! Feeds a decoder in every way and compares.

use skyl_sse::{Decoder, ErrorKind, Event, Frame, Framing, Limits};

/// A frame that owns its bytes and shows them; or the error that ended the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    Event {
        name: String,
        data: String,
        id: Option<String>,
        terminated: bool,
    },
    Comment(String),
    Stray(String),
    Error(ErrorKind),
}

impl From<Frame<'_>> for Got {
    fn from(frame: Frame<'_>) -> Self {
        let lossy = |bytes| String::from_utf8_lossy(bytes).into_owned();
        match frame {
            Frame::Event(event) => Self::Event {
                name: event.name.to_owned(),
                data: event.data.to_owned(),
                id: event.id.map(str::to_owned),
                terminated: event.terminated,
            },
            Frame::Comment(text) => Self::Comment(lossy(text)),
            Frame::Stray(bytes) => Self::Stray(lossy(bytes)),
            other => unreachable!("a frame without a test: {other:?}"),
        }
    }
}

pub(crate) fn event(name: &str, data: &str) -> Got {
    Frame::Event(Event::new(name, data)).into()
}

pub(crate) fn message(data: &str) -> Got {
    event("message", data)
}

pub(crate) fn with_id(event: Got, new: &str) -> Got {
    match event {
        Got::Event {
            name,
            data,
            terminated,
            ..
        } => Got::Event {
            name,
            data,
            id: Some(new.to_owned()),
            terminated,
        },
        other => other,
    }
}

/// An event that the end of the stream cut off from its blank line.
pub(crate) fn unterminated(data: &str) -> Got {
    Got::Event {
        name: "message".to_owned(),
        data: data.to_owned(),
        id: None,
        terminated: false,
    }
}

pub(crate) fn comment(text: &str) -> Got {
    Got::Comment(text.to_owned())
}

pub(crate) fn stray(text: &str) -> Got {
    Got::Stray(text.to_owned())
}

/// Feeds the chunks one by one and the end; stops at an error.
pub(crate) fn feed<'a>(
    decoder: &mut Decoder,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Got> {
    let mut got = Vec::new();
    for chunk in chunks {
        if let Err(kind) = push(decoder, chunk, &mut got) {
            got.push(Got::Error(kind));
            return got;
        }
    }
    loop {
        match decoder.finish() {
            Ok(Some(frame)) => got.push(frame.into()),
            Ok(None) => return got,
            Err(error) => {
                got.push(Got::Error(error.kind()));
                return got;
            }
        }
    }
}

/// Feeds one chunk.
pub(crate) fn push(
    decoder: &mut Decoder,
    chunk: &[u8],
    got: &mut Vec<Got>,
) -> Result<(), ErrorKind> {
    let mut input = chunk;
    while let Some(frame) = decoder.next(&mut input).map_err(|error| error.kind())? {
        got.push(frame.into());
    }
    assert!(input.is_empty(), "None before the input was used up");
    Ok(())
}

/// Decodes the bytes whole, byte by byte and cut at each offset; all must agree.
#[track_caller]
pub(crate) fn decode_with(framing: Framing, limits: Limits, bytes: &[u8]) -> Vec<Got> {
    let new = || Decoder::new(framing, limits);
    let whole = feed(&mut new(), [bytes]);
    assert_eq!(feed(&mut new(), bytes.chunks(1)), whole, "byte by byte");
    for cut in 0..=bytes.len() {
        let (left, right) = bytes.split_at(cut);
        assert_eq!(feed(&mut new(), [left, right]), whole, "cut at {cut}");
        assert_eq!(
            feed(&mut new(), [left, b"", right, b""]),
            whole,
            "cut at {cut}, with empty chunks"
        );
    }
    whole
}

#[track_caller]
pub(crate) fn decode(text: impl AsRef<[u8]>) -> Vec<Got> {
    decode_with(Framing::Sse, Limits::default(), text.as_ref())
}

/// The data of the events alone.
pub(crate) fn data(got: &[Got]) -> Vec<&str> {
    got.iter()
        .filter_map(|got| match got {
            Got::Event { data, .. } => Some(data.as_str()),
            _ => None,
        })
        .collect()
}
