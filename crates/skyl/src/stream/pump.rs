//! From bytes to the sink: the same for the start of a stream and for the rest of it.
//!
//! The pump knows where a stream stands, not who reads it or how long they wait. It makes errors
//! with the answer's head on them, so that an error in the first frame is as good as a status.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use skyl_sse as sse;

use crate::answer;
use crate::client::{Core, reply_error, transport_error};
use crate::dialect::{Dialect, Fault, Flow, Frame, Framing, Head, StreamDecoder};
use crate::error::Error;
use crate::http::{Body, Reply, ReplyHead};
use crate::kind::ErrorKind;
use crate::response::{StopReason, Usage, Warning};
use crate::sink::Sink;

/// One stream being read.
pub(crate) struct Pump {
    pub(crate) head: ReplyHead,
    pub(crate) sink: Sink,
    core: Arc<Core>,
    dialect: Arc<dyn Dialect>,
    // `None` once there is nothing more to read: its connection is closed, or back in the pool.
    body: Option<Body>,
    form: Form,
    framing: Framing,
    splitter: sse::Decoder,
    decoder: Box<dyn StreamDecoder>,
    // What of the last piece is not yet split.
    piece: Bytes,
    // Whether bytes came in since somebody last asked.
    alive: bool,
    // Frames and bytes before the first content.
    ahead: (usize, usize),
    settled: bool,
}

/// What the body turned out to be.
enum Form {
    /// Not known yet: the answer does not call itself a stream.
    Unknown(BytesMut),
    /// Frames, as asked for.
    Frames,
    /// One whole answer, or its error, in spite of what was asked.
    Whole(BytesMut),
}

/// One step of reading.
enum Step {
    /// A frame, of this many bytes.
    Frame(Flow, usize),
    /// The end of what there is to read.
    End,
}

impl Pump {
    pub(crate) fn new(
        core: Arc<Core>,
        dialect: Arc<dyn Dialect>,
        reply: Reply,
        warnings: &[Warning],
    ) -> Self {
        let Reply { head, body } = reply;
        let framing = dialect.framing();
        let wall = || core.wall();
        let decoder = dialect.stream_decoder(&Head::asking(head.status, &head.headers, &wall));
        let mut sink = Sink::new();
        for warning in warnings {
            sink.warn(warning.clone());
        }
        let announced = head
            .content_type()
            .is_some_and(|kind| kind.eq_ignore_ascii_case(EVENT_STREAM));
        let form = match framing {
            Framing::Sse if !announced => Form::Unknown(BytesMut::new()),
            _ => Form::Frames,
        };
        Self {
            head,
            sink,
            core,
            dialect,
            body: Some(body),
            form,
            framing,
            splitter: splitter(framing),
            decoder,
            piece: Bytes::new(),
            alive: false,
            ahead: (0, 0),
            settled: false,
        }
    }

    /// Reads to the first content or the terminal mark.
    pub(crate) fn poll_start(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            let (flow, bytes) = match ready!(self.poll_step(cx)) {
                Ok(Step::Frame(flow, bytes)) => (flow, bytes),
                Ok(Step::End) => return Poll::Ready(self.settle()),
                Err(error) => return Poll::Ready(Err(error)),
            };
            if self.sink.has_content() || self.is_answer() {
                return Poll::Ready(Ok(()));
            }
            if flow != Flow::Life {
                self.ahead = (self.ahead.0 + 1, self.ahead.1.saturating_add(bytes));
                if self.ahead.0 > FRAMES_AHEAD || self.ahead.1 > BYTES_AHEAD {
                    return Poll::Ready(Err(self.fault(&Fault::decode(
                        "the stream holds more than 64 frames or 1 MiB before its first content",
                    ))));
                }
            }
        }
    }

    /// Reads on until there is an event for the caller, or the stream is settled.
    pub(crate) fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        while !self.settled && !self.sink.has_events() {
            match ready!(self.poll_step(cx)) {
                Ok(Step::Frame(..)) => {}
                Ok(Step::End) => self.settle()?,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Ends the stream: checks that it is whole, and applies the refusal rule.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        self.body = None;
        if !matches!(self.form, Form::Whole(_)) {
            if !self.decoder.is_whole() {
                return Err(self.fault(&Fault::new(ErrorKind::Truncated)));
            }
            self.decoder
                .end(&mut self.sink)
                .map_err(|fault| self.fault(&fault))?;
        }
        if self.sink.may_refuse() {
            let mut decoded = self.sink.partial();
            if let Some(words) = answer::refusal(&mut decoded) {
                return Err(self.fault(&Fault::new(ErrorKind::Refusal).with_message(words)));
            }
            self.sink.stop_reason(StopReason::Refusal);
        }
        self.settled = true;
        Ok(())
    }

    /// Whether the terminal mark has been seen: what breaks after it breaks nothing.
    pub(crate) fn is_whole(&self) -> bool {
        self.decoder.is_whole()
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether bytes came in since this was last asked.
    pub(crate) fn take_alive(&mut self) -> bool {
        std::mem::take(&mut self.alive)
    }

    /// Closes the connection, unless all of it has been read.
    pub(crate) fn close(&mut self) {
        self.body = None;
        self.piece = Bytes::new();
    }

    /// The id under which the provider knows the request.
    pub(crate) fn request_id(&self) -> Option<&str> {
        self.head
            .request_id()
            .or_else(|| self.sink.request_id_so_far())
    }

    /// A failure of this stream, with what is known of it so far.
    pub(crate) fn fault(&self, fault: &Fault) -> Error {
        let mut error = reply_error(&self.core, fault, &self.head, None);
        self.dress(&mut error);
        error
    }

    /// Adds what the stream has told so far: usage is billed, whatever became of the answer.
    pub(crate) fn dress(&self, error: &mut Error) {
        let inner = error.inner_mut();
        let usage = self.sink.usage_so_far();
        if inner.usage.is_none() && usage != Usage::default() {
            inner.usage = Some(usage);
        }
        if inner.request_id.is_none() {
            inner.request_id = self
                .request_id()
                .map(|id| self.core.scrubber.scrub(id).into_owned());
        }
    }

    /// An answer without content that is known to be one: its reason to stop has been told. A
    /// refusal is read on for its usage.
    fn is_answer(&self) -> bool {
        self.decoder.is_whole() && self.sink.stop().is_some() && !self.sink.may_refuse()
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Step, Error>> {
        loop {
            if let Form::Frames = self.form
                && let Some(step) = self.split()?
            {
                return Poll::Ready(Ok(step));
            }
            let Some(body) = &mut self.body else {
                return Poll::Ready(self.ended());
            };
            match ready!(body.poll_chunk(cx)) {
                Some(Ok(piece)) => {
                    self.alive |= !piece.is_empty();
                    self.take(piece)?;
                }
                None => self.body = None,
                Some(Err(failure)) => {
                    self.body = None;
                    if !self.decoder.is_whole() {
                        let mut error = transport_error(&self.core, failure, Some(&self.head));
                        self.dress(&mut error);
                        return Poll::Ready(Err(error));
                    }
                }
            }
        }
    }

    /// The next frame of the piece at hand.
    fn split(&mut self) -> Result<Option<Step>, Error> {
        while !self.piece.is_empty() {
            let mut input = &self.piece[..];
            let before = input.len();
            let step = match self.splitter.next(&mut input) {
                Ok(None) => None,
                Ok(Some(frame)) => Some(feed(
                    &mut *self.decoder,
                    self.framing,
                    frame,
                    &mut self.sink,
                )),
                Err(error) => Some(Err(Fault::decode(error.to_string()))),
            };
            let used = before - input.len();
            match step {
                None => self.piece = Bytes::new(),
                Some(step) => {
                    bytes::Buf::advance(&mut self.piece, used);
                    if self.piece.is_empty() {
                        // Lets go of the buffer, so that the next piece is read into it again.
                        self.piece = Bytes::new();
                    }
                    if let Some(step) = self.fed(step)? {
                        return Ok(Some(step));
                    }
                }
            }
        }
        Ok(None)
    }

    /// What is left when no more bytes come: a last frame nobody closed, then the end.
    fn ended(&mut self) -> Result<Step, Error> {
        match &mut self.form {
            Form::Frames => {}
            Form::Unknown(gathered) => {
                self.form = Form::Whole(std::mem::take(gathered));
                return self.whole();
            }
            Form::Whole(gathered) if gathered.is_empty() => return Ok(Step::End),
            Form::Whole(_) => return self.whole(),
        }
        loop {
            let step = match self.splitter.finish() {
                Ok(None) => return Ok(Step::End),
                Ok(Some(frame)) => feed(&mut *self.decoder, self.framing, frame, &mut self.sink),
                Err(error) => Err(Fault::decode(error.to_string())),
            };
            if let Some(step) = self.fed(step)? {
                return Ok(step);
            }
        }
    }

    /// What a frame came to; `None` for comments, which are nothing but life.
    fn fed(&mut self, step: Result<Option<Step>, Fault>) -> Result<Option<Step>, Error> {
        match step {
            Ok(Some(Step::Frame(Flow::Done, bytes))) => {
                // There can be nothing more; the connection goes back if that was all.
                self.body = None;
                self.piece = Bytes::new();
                self.splitter = splitter(self.framing);
                Ok(Some(Step::Frame(Flow::Done, bytes)))
            }
            Ok(step) => Ok(step),
            Err(fault) => Err(self.fault(&fault)),
        }
    }

    /// Takes a piece of the body, and finds out what the body is if that is not known.
    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        match &mut self.form {
            Form::Frames => self.piece = piece,
            Form::Unknown(gathered) => {
                gathered.extend_from_slice(&piece);
                match looks_like_frames(gathered) {
                    None => {}
                    Some(true) => {
                        self.piece = std::mem::take(gathered).freeze();
                        self.form = Form::Frames;
                    }
                    Some(false) => self.form = Form::Whole(std::mem::take(gathered)),
                }
            }
            Form::Whole(gathered) => gathered.extend_from_slice(&piece),
        }
        let limit = self.core.max_body_bytes;
        match &self.form {
            Form::Unknown(gathered) | Form::Whole(gathered) if gathered.len() > limit => Err(self
                .fault(&Fault::decode(format!(
                    "the answer is longer than {limit} bytes"
                )))),
            _ => Ok(()),
        }
    }

    /// Decodes a body that is no stream as what it is: the whole answer, or its error.
    fn whole(&mut self) -> Result<Step, Error> {
        let Form::Whole(body) = &mut self.form else {
            return Ok(Step::End);
        };
        let body = std::mem::take(body);
        let wall = || self.core.wall();
        let head = Head::asking(self.head.status, &self.head.headers, &wall);
        match self.dialect.decode(&head, &body) {
            Ok(decoded) => {
                self.sink.whole(decoded);
                Ok(Step::End)
            }
            Err(fault) => Err(reply_error(&self.core, &fault, &self.head, Some(&body))),
        }
    }
}

/// Hands a frame to the dialect; `None` for comments.
fn feed(
    decoder: &mut dyn StreamDecoder,
    framing: Framing,
    frame: sse::Frame<'_>,
    sink: &mut Sink,
) -> Result<Option<Step>, Fault> {
    let (frame, bytes) = match frame {
        sse::Frame::Event(event) => {
            let data = event.data;
            let frame = match framing {
                Framing::Sse => Frame::Event {
                    name: event.name,
                    data,
                    terminated: event.terminated,
                },
                Framing::Lines | Framing::JsonArray => Frame::Json {
                    data: data.as_bytes(),
                    terminated: event.terminated,
                },
            };
            (frame, data.len())
        }
        sse::Frame::Stray(bytes) => (Frame::Stray(bytes), bytes.len()),
        // Comments, and whatever else only shows that somebody is there.
        _ => return Ok(None),
    };
    let flow = decoder.frame(frame, sink)?;
    Ok(Some(Step::Frame(flow, bytes)))
}

fn splitter(framing: Framing) -> sse::Decoder {
    let framing = match framing {
        Framing::Sse => sse::Framing::Sse,
        Framing::Lines => sse::Framing::Lines,
        Framing::JsonArray => sse::Framing::JsonArray,
    };
    sse::Decoder::new(framing, sse::Limits::default())
}

/// Whether a body that does not call itself an event stream is one all the same; `None` if more of
/// it is needed to tell.
///
/// Servers mislabel streams as often as they answer a wish for one with a JSON body or a proxy's
/// HTML page, so the first bytes decide.
fn looks_like_frames(body: &[u8]) -> Option<bool> {
    let body = body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(body)
        .trim_ascii_start();
    if FIELDS.iter().any(|field| body.starts_with(field)) {
        return Some(true);
    }
    let undecided = FIELDS.iter().any(|field| field.starts_with(body));
    if undecided { None } else { Some(false) }
}

const FIELDS: [&[u8]; 5] = [b":", b"data:", b"event:", b"id:", b"retry:"];

const EVENT_STREAM: &str = "text/event-stream";

/// Frames before the first content that are kept: far more than any provider sends.
const FRAMES_AHEAD: usize = 64;

/// Bytes before the first content that are kept.
const BYTES_AHEAD: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_a_stream_from_an_answer() {
        for (body, expected) in [
            (&b"data: {}"[..], Some(true)),
            (b": ping\n", Some(true)),
            (b"\n\nevent: x", Some(true)),
            (b"\xef\xbb\xbfid: 1", Some(true)),
            (b"retry:3", Some(true)),
            (b"", None),
            (b" \n", None),
            (b"dat", None),
            (b"{\"id\"", Some(false)),
            (b"\n[", Some(false)),
            (b"<html>", Some(false)),
            (b"database", Some(false)),
        ] {
            assert_eq!(looks_like_frames(body), expected, "{}", body.escape_ascii());
        }
    }
}
