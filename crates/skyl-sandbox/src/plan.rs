//! From an answer and a step to the exact course of one exchange, as a pure function.
//!
//! A [`Plan`] is made before any byte goes out and never changes after: what the journal says
//! about a request was settled when the request was read.

use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

use bytes::{Bytes, BytesMut};

use crate::{
    answer::{Answer, Call, Frame, HTML, Role, Whole},
    http_date,
    mounts::{Cause, Mount, Spot},
    script::{BodyKind, Delivery, Number, Outcome, StatusFault, Step},
};

/// The course of one exchange.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Waited before the first byte, or before the connection ends.
    pub(crate) stall: Duration,
    pub(crate) ending: Ending,
}

#[derive(Debug)]
pub(crate) enum Ending {
    /// The connection ends before any byte.
    Hangup(Cut),
    Reply(Reply),
}

impl Plan {
    /// The status line that goes out, if one does.
    pub(crate) fn status(&self) -> Option<u16> {
        match &self.ending {
            Ending::Hangup(_) => None,
            Ending::Reply(reply) => Some(reply.status),
        }
    }
}

/// A status line, headers, and a body that may take its time or break off.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) parts: VecDeque<Part>,
    /// The length to announce; without one the body is chunked.
    pub(crate) length: Option<u64>,
}

/// One step of sending a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// One chunk, flushed before the next part begins.
    Data(Bytes),
    Wait(Duration),
    /// A sign of life now, then every [`BEAT`], for that long.
    Beats {
        text: &'static str,
        left: Duration,
    },
    Cut(Cut),
}

/// How a connection is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Reset,
    Close,
}

/// How often a comment comes.
pub(crate) const BEAT: Duration = Duration::from_millis(10);

/// What an answer may depend on beside its request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The request's number in the journal.
    pub(crate) seq: u64,
    /// Serves `ra-date` alone.
    pub(crate) wall: SystemTime,
}

/// Applies a step to the answer of a mount.
///
/// `message` is the text of an injected error status.
pub(crate) fn plan(
    mount: &dyn Mount,
    call: Call,
    step: &Step,
    message: &str,
    moment: Moment,
) -> Plan {
    let delivery = &step.delivery;
    let stall = delivery
        .stall
        .as_ref()
        .map_or(Duration::ZERO, Number::millis);
    let ending = match &step.outcome {
        Outcome::Reset => Ending::Hangup(Cut::Reset),
        Outcome::Close => Ending::Hangup(Cut::Close),
        Outcome::Status(fault) => {
            let body = mount.numbered(status_body(mount, fault, message), moment.seq);
            let hints = hints(fault, moment.wall);
            Ending::Reply(whole(body, hints, Mid::none(), delivery))
        }
        outcome => Ending::Reply(answered(mount, call, outcome, delivery, moment.seq)),
    };
    Plan { stall, ending }
}

/// The answer of the mount, with what happens in the middle of it.
fn answered(
    mount: &dyn Mount,
    call: Call,
    outcome: &Outcome,
    delivery: &Delivery,
    seq: u64,
) -> Reply {
    let in_band_error = matches!(outcome, Outcome::FirstError | Outcome::StreamError(_));
    match call.answer {
        Answer::Stream {
            content_type,
            frames,
        } => {
            let error = |before| {
                let spot = Spot {
                    content_type,
                    before,
                };
                Part::Data(mount.overload_frame(IN_BAND, spot))
            };
            let parts = stream_parts(error, &frames, outcome, delivery);
            let headers = vec![
                ("content-type", content_type.to_owned()),
                ("cache-control", "no-cache".to_owned()),
            ];
            // A stream that is a JSON document has no comments; white space is all it can bear.
            let beat = if content_type.starts_with("text/event-stream") {
                COMMENT
            } else {
                BLANK_LINE
            };
            let parts = delivered(parts, delivery, beat);
            Reply {
                status: 200,
                headers,
                parts,
                length: None,
            }
        }
        Answer::Whole(_) if in_band_error => {
            let error = mount.error(503, Cause::Overloaded, IN_BAND);
            let mut error = mount.numbered(error, seq);
            error.status = 200;
            whole(error, Vec::new(), Mid::none(), delivery)
        }
        Answer::Whole(answer) => {
            let answer = mount.numbered(answer, seq);
            let mid = match outcome {
                Outcome::CloseMid | Outcome::StreamTruncate(_) => Mid {
                    cut: Some(Cut::Close),
                    wait: None,
                },
                Outcome::ResetMid | Outcome::StreamReset(_) => Mid {
                    cut: Some(Cut::Reset),
                    wait: None,
                },
                Outcome::StreamStall { wait, .. } => Mid {
                    cut: None,
                    wait: Some(wait.millis()),
                },
                _ => Mid::none(),
            };
            whole(answer, Vec::new(), mid, delivery)
        }
    }
}

/// What happens in the middle of a body that is no stream.
#[derive(Clone, Copy)]
struct Mid {
    cut: Option<Cut>,
    wait: Option<Duration>,
}

impl Mid {
    const fn none() -> Self {
        Self {
            cut: None,
            wait: None,
        }
    }
}

/// A body sent in one piece, with its middle: half of it, the smaller half first.
fn whole(
    answer: Whole,
    mut headers: Vec<(&'static str, String)>,
    mid: Mid,
    delivery: &Delivery,
) -> Reply {
    let mut parts = VecDeque::new();
    let length = answer.body.len();
    let first = answer.body.slice(..length / 2);
    let rest = answer.body.slice(length / 2..);
    let waits = [delivery.stall_mid.as_ref().map(Number::millis), mid.wait];
    if mid.cut.is_none() && waits.iter().all(Option::is_none) {
        parts.push_back(Part::Data(answer.body));
    } else {
        parts.push_back(Part::Data(first));
        parts.extend(waits.into_iter().flatten().map(Part::Wait));
        parts.push_back(mid.cut.map_or(Part::Data(rest), Part::Cut));
    }
    headers.push(("content-type", answer.content_type.to_owned()));
    // A blank line ahead of the body and pieces of a given size need chunks of their own.
    let chunked = delivery.split.is_some() || delivery.comments.is_some();
    let length = if chunked {
        None
    } else {
        u64::try_from(length).ok()
    };
    Reply {
        status: answer.status,
        headers,
        parts: delivered(parts, delivery, BLANK_LINE),
        length,
    }
}

/// The frames of a stream up to where the outcome ends it.
fn stream_parts(
    error: impl Fn(usize) -> Part,
    frames: &[Frame],
    outcome: &Outcome,
    delivery: &Delivery,
) -> VecDeque<Part> {
    let (after, then) = match outcome {
        Outcome::FirstError => return VecDeque::from([error(0)]),
        Outcome::StreamTruncate(n) => (place(frames, *n), Then::End(None)),
        Outcome::StreamError(n) => {
            let at = place(frames, *n);
            (at, Then::End(Some(error(at))))
        }
        Outcome::StreamReset(n) => (place(frames, *n), Then::End(Some(Part::Cut(Cut::Reset)))),
        Outcome::StreamStall { after, wait } => (place(frames, *after), Then::Wait(wait.millis())),
        Outcome::ResetMid => (place(frames, 1), Then::End(Some(Part::Cut(Cut::Reset)))),
        Outcome::CloseMid => (place(frames, 1), Then::End(Some(Part::Cut(Cut::Close)))),
        _ => (frames.len(), Then::End(None)),
    };
    let pause = delivery
        .stall_mid
        .as_ref()
        .map(|ms| (place(frames, 1), ms.millis()));
    let mut parts = VecDeque::new();
    for index in 0..=frames.len() {
        if let Some((_, wait)) = pause.filter(|(at, _)| *at == index) {
            parts.push_back(Part::Wait(wait));
        }
        if index == after {
            match then {
                Then::End(last) => {
                    parts.extend(last);
                    return parts;
                }
                Then::Wait(wait) => parts.push_back(Part::Wait(wait)),
            }
        }
        parts.extend(
            frames
                .get(index)
                .map(|frame| Part::Data(frame.bytes.clone())),
        );
    }
    parts
}

enum Then {
    End(Option<Part>),
    Wait(Duration),
}

/// How many frames stand before the place after `n` content frames.
///
/// For 0 that is before the first content; with fewer than `n`, it is after the last one, so that
/// the terminal mark never goes out.
fn place(frames: &[Frame], n: u32) -> usize {
    let mut contents = frames
        .iter()
        .enumerate()
        .filter(|(_, frame)| frame.role == Role::Content);
    let after_lead = frames
        .iter()
        .take_while(|frame| frame.role == Role::Lead)
        .count();
    match n.checked_sub(1) {
        None => after_lead,
        Some(skip) => {
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            let last = contents.clone().last();
            contents
                .nth(skip)
                .or(last)
                .map_or(after_lead, |(index, _)| index + 1)
        }
    }
}

/// Chunk sizes, pauses between chunks, and signs of life ahead of them.
fn delivered(parts: VecDeque<Part>, delivery: &Delivery, beat: &'static str) -> VecDeque<Part> {
    let mut parts = match delivery.split {
        Some(bytes) => split(parts, bytes.get()),
        None => parts,
    };
    parts.retain(|part| !matches!(part, Part::Data(bytes) if bytes.is_empty()));
    if let Some(pause) = delivery.slow.as_ref().map(Number::millis) {
        let slowed = parts.into_iter().flat_map(|part| {
            let pause = matches!(part, Part::Data(_)).then_some(Part::Wait(pause));
            pause.into_iter().chain([part])
        });
        parts = slowed.collect();
    }
    if let Some(left) = delivery.comments.as_ref().map(Number::millis) {
        parts.push_front(Part::Beats { text: beat, left });
    }
    parts
}

/// Cuts every run of bytes between two events into pieces of that size, whatever the frames.
fn split(parts: VecDeque<Part>, size: usize) -> VecDeque<Part> {
    let mut pieces = VecDeque::new();
    let mut run = BytesMut::new();
    for part in parts {
        match part {
            Part::Data(bytes) => run.extend_from_slice(&bytes),
            other => {
                cut_up(&mut pieces, &mut run, size);
                pieces.push_back(other);
            }
        }
    }
    cut_up(&mut pieces, &mut run, size);
    pieces
}

fn cut_up(pieces: &mut VecDeque<Part>, run: &mut BytesMut, size: usize) {
    let mut rest = run.split().freeze();
    while !rest.is_empty() {
        let piece = rest.split_to(size.min(rest.len()));
        pieces.push_back(Part::Data(piece));
    }
}

/// The body of an injected status.
fn status_body(mount: &dyn Mount, fault: &StatusFault, message: &str) -> Whole {
    // These have no body by definition; a length would make a client wait for one.
    if matches!(fault.code, 204 | 205 | 304) {
        return Whole {
            status: fault.code,
            content_type: crate::answer::JSON,
            body: Bytes::new(),
        };
    }
    let error = |cause| mount.error(fault.code, cause, message);
    match fault.body {
        BodyKind::Usual => error(Cause::Usual),
        BodyKind::Quota => error(Cause::Quota),
        BodyKind::Context => error(Cause::Context),
        BodyKind::Overloaded => error(Cause::Overloaded),
        BodyKind::Html => {
            let page = format!(
                "<!DOCTYPE html>\n<html><head><title>{0}</title></head>\n<body><h1>{0}</h1><p>{message}</p></body></html>\n",
                fault.code
            );
            Whole {
                status: fault.code,
                content_type: HTML,
                body: page.into(),
            }
        }
        BodyKind::Empty => Whole {
            body: Bytes::new(),
            ..error(Cause::Usual)
        },
        BodyKind::Cut => {
            let usual = error(Cause::Usual);
            Whole {
                body: usual.body.slice(..usual.body.len() / 2),
                ..usual
            }
        }
    }
}

/// The headers that tell a client what to do about a status.
fn hints(fault: &StatusFault, wall: SystemTime) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    headers.extend(
        fault
            .retry_after
            .as_ref()
            .map(|value| ("retry-after", value.as_str().to_owned())),
    );
    headers.extend(
        fault
            .retry_after_ms
            .as_ref()
            .map(|value| ("retry-after-ms", value.as_str().to_owned())),
    );
    headers.extend(
        fault
            .retry_after_date
            .map(|offset| ("retry-after", http_date::from_now(wall, offset))),
    );
    headers.extend(
        fault
            .retry_after_raw
            .as_ref()
            .map(|value| ("retry-after", value.clone())),
    );
    headers.extend(
        fault
            .should_retry
            .map(|value| ("x-should-retry", value.to_string())),
    );
    headers
}

/// The message of an error inside a 200.
const IN_BAND: &str = "sandbox: injected in-band failure";

const COMMENT: &str = ": sandbox keep-alive\n\n";
const BLANK_LINE: &str = "\n";

#[cfg(test)]
mod tests;
