//! The decoder of streams: any cut gives the same frames, and buffers keep to their caps.

use skyl_sse::{Decoder, ErrorKind, Frame, Framing, Limits};

use crate::cuts::{chunks, digest};

/// Server-sent events.
pub(crate) fn sse(bytes: &[u8]) {
    check(Framing::Sse, bytes);
}

/// One JSON value per line.
pub(crate) fn lines(bytes: &[u8]) {
    check(Framing::Lines, bytes);
}

/// The elements of one JSON array.
pub(crate) fn json_array(bytes: &[u8]) {
    check(Framing::JsonArray, bytes);
}

/// A frame that owns what it borrowed.
#[derive(Debug, PartialEq, Eq)]
enum Got {
    Event {
        name: String,
        data: String,
        id: Option<String>,
        terminated: bool,
    },
    Comment(Vec<u8>),
    Stray(Vec<u8>),
    Other(String),
    Failed(ErrorKind),
}

impl From<Frame<'_>> for Got {
    fn from(frame: Frame<'_>) -> Self {
        match frame {
            Frame::Event(event) => Self::Event {
                name: event.name.to_owned(),
                data: event.data.to_owned(),
                id: event.id.map(str::to_owned),
                terminated: event.terminated,
            },
            Frame::Comment(text) => Self::Comment(text.to_owned()),
            Frame::Stray(bytes) => Self::Stray(bytes.to_owned()),
            other => Self::Other(format!("{other:?}")),
        }
    }
}

fn check(framing: Framing, bytes: &[u8]) {
    // Caps that are never met, and caps that are met in any longer input.
    let small = |shift: u32| usize::try_from((digest(bytes) >> shift) & 0x7f).unwrap_or(0);
    let caps = [None, Some((small(8), small(16)))];
    for caps in caps {
        let whole = decode(framing, caps, [bytes]);
        assert_eq!(
            decode(framing, caps, chunks(bytes)),
            whole,
            "cut in chunks, caps {caps:?}"
        );
        assert_eq!(
            decode(framing, caps, bytes.chunks(1)),
            whole,
            "byte by byte, caps {caps:?}"
        );
        held_in_proportion(&whole, bytes.len());
    }
}

/// No byte comes out twice: a frame holds what came in, and a name where none was given.
fn held_in_proportion(frames: &[Got], input: usize) {
    let mut held = 0;
    for frame in frames {
        held += match frame {
            Got::Event { name, data, .. } => {
                let given = if name == "message" { 0 } else { name.len() };
                given + data.len()
            }
            Got::Comment(bytes) | Got::Stray(bytes) => bytes.len(),
            Got::Other(_) | Got::Failed(_) => 0,
        };
    }
    assert!(
        held <= input,
        "{held} bytes of frames out of {input} bytes of input"
    );
}

fn decode<'a>(
    framing: Framing,
    caps: Option<(usize, usize)>,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Got> {
    let limits = Limits::default();
    let limits = caps.map_or(limits, |(line, event)| {
        limits.max_line_bytes(line).max_event_bytes(event)
    });
    let mut decoder = Decoder::new(framing, limits);
    let mut got = Vec::new();
    for chunk in chunks {
        if let Err(error) = push(&mut decoder, chunk, &mut got) {
            stays_failed(&mut decoder, error);
            got.push(Got::Failed(error.kind()));
            return got;
        }
        if let Some((line, event)) = caps {
            // Each of the decoder's buffers may stand at its own cap, and grows by doubling.
            let bound = line.max(event) + line + 3 * event + 16;
            let held = decoder.buffered();
            assert!(held <= bound, "{held} bytes held, at most {bound} allowed");
        }
    }
    loop {
        match decoder.finish() {
            Ok(Some(frame)) => got.push(frame.into()),
            Ok(None) => break,
            Err(error) => {
                stays_failed(&mut decoder, error);
                got.push(Got::Failed(error.kind()));
                return got;
            }
        }
    }
    stays_finished(&mut decoder);
    got
}

fn push(decoder: &mut Decoder, chunk: &[u8], got: &mut Vec<Got>) -> Result<(), skyl_sse::Error> {
    let mut input = chunk;
    while let Some(frame) = decoder.next(&mut input)? {
        got.push(frame.into());
    }
    assert!(
        input.is_empty(),
        "no frame, but {} bytes are left",
        input.len()
    );
    Ok(())
}

fn stays_failed(decoder: &mut Decoder, error: skyl_sse::Error) {
    let mut more = &b"data: more\n\n"[..];
    assert!(matches!(decoder.next(&mut more), Err(again) if again == error));
    assert!(matches!(decoder.finish(), Err(again) if again == error));
}

fn stays_finished(decoder: &mut Decoder) {
    let mut more = &b"data: more\n\n"[..];
    assert!(matches!(decoder.next(&mut more), Ok(None)));
    assert!(more.is_empty(), "input after the end is thrown away");
    assert!(matches!(decoder.finish(), Ok(None)));
}
