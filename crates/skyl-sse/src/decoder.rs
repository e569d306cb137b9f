use std::fmt;
use std::time::Duration;

use crate::array::JsonArray;
use crate::lines::Lines;
use crate::sse::Sse;
use crate::{Error, Frame, Limits};

/// How a stream marks off its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events, as the HTML standard (§9.2) has them. Default.
    ///
    /// Lines end in LF, CRLF or a lone CR. Beyond the standard, what is no field comes as
    /// [`Frame::Stray`]; see the [crate's page](crate#strays).
    #[default]
    Sse,
    /// One JSON value per line, ended by LF or CRLF; blank lines are skipped.
    ///
    /// Each line is an event named `message`. [`Limits::max_line_bytes`] is its cap.
    Lines,
    /// The objects and arrays inside one JSON array, or bare ones one after another.
    ///
    /// Each is an event named `message`; [`Limits::max_event_bytes`] is its cap, and 128 levels
    /// of nesting. Whatever begins neither comes as [`Frame::Stray`], up to the line's end.
    JsonArray,
}

/// Splits a byte stream into frames, however the stream was cut into chunks.
///
/// Feed it each chunk with [`next`](Self::next) until that returns `None`; at the end of the
/// stream call [`finish`](Self::finish) until that returns `None`. A byte-order mark at the very
/// start is skipped. The same bytes give the same frames for every way of cutting them, errors
/// included.
///
/// Its buffers never hold more than `max_line_bytes`, three times `max_event_bytes` (an event
/// growing by doubling, and the last id) and 256 KiB kept for reuse. Events that lie whole in
/// their chunk need no buffer at all.
pub struct Decoder {
    framing: Framing,
    limits: Limits,
    phase: Phase,
    inner: Inner,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing has been read but so many bytes of a byte-order mark.
    Start(usize),
    Body,
    Finished,
    Failed(Error),
}

enum Inner {
    Sse(Sse),
    Lines(Lines),
    JsonArray(JsonArray),
}

impl Decoder {
    /// Makes a decoder that has read nothing. Allocates nothing.
    #[must_use]
    pub fn new(framing: Framing, limits: Limits) -> Self {
        Self {
            framing,
            limits,
            phase: Phase::Start(0),
            inner: match framing {
                Framing::Sse => Inner::Sse(Sse::new(limits)),
                Framing::Lines => Inner::Lines(Lines::new(limits)),
                Framing::JsonArray => Inner::JsonArray(JsonArray::new(limits)),
            },
        }
    }

    /// Takes the next frame off the front of `input`; `None` once `input` is used up.
    ///
    /// `input` is moved past what was read, so a caller that can take no more frames for now
    /// comes back later with the rest. The frame borrows from the chunk where it lies whole in
    /// it, and else from the decoder. After [`finish`](Self::finish) input is thrown away.
    ///
    /// # Errors
    /// A line or event over its cap, JSON nested too deep, text that is not UTF-8: see
    /// [`ErrorKind`](crate::ErrorKind). An error is final, every later call returns it again;
    /// where `input` then stands is not specified.
    ///
    /// # Examples
    /// ```
    /// use skyl_sse::{Decoder, Frame};
    ///
    /// let mut decoder = Decoder::default();
    /// let mut seen = Vec::new();
    /// for chunk in ["data: Hel", "lo\n\ndata: you\n", "\n"] {
    ///     let mut input = chunk.as_bytes();
    ///     while let Some(frame) = decoder.next(&mut input)? {
    ///         if let Frame::Event(event) = frame {
    ///             seen.push(event.data.to_owned());
    ///         }
    ///     }
    /// }
    /// assert_eq!(seen, ["Hello", "you"]);
    /// # Ok::<(), skyl_sse::Error>(())
    /// ```
    #[inline]
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Error> {
        if self.phase != Phase::Body && !self.enter_body(input)? {
            return Ok(None);
        }
        let result = self.inner.next(input);
        if let Err(error) = result {
            self.phase = Phase::Failed(error);
        }
        result
    }

    /// Hands out what the end of the stream leaves open, a frame per call, until `None`.
    ///
    /// An event comes with [`terminated`](crate::Event::terminated) false, and not at all if it
    /// has no data. A character that the end has cut is left off.
    ///
    /// Call it only if the stream ended by itself: what a broken connection leaves is no event.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn finish(&mut self) -> Result<Option<Frame<'_>>, Error> {
        match self.phase {
            Phase::Failed(error) => return Err(error),
            Phase::Start(matched) => self.replay_mark(matched)?,
            Phase::Body | Phase::Finished => {}
        }
        self.phase = Phase::Finished;
        let result = self.inner.finish();
        if let Err(error) = result {
            self.phase = Phase::Failed(error);
        }
        result
    }

    /// Returns the reconnection time that the stream's last `retry` field has set.
    ///
    /// Of milliseconds too large for 64 bits, the largest. Nothing here reconnects.
    #[must_use]
    pub const fn retry(&self) -> Option<Duration> {
        match &self.inner {
            Inner::Sse(sse) => sse.retry(),
            Inner::Lines(_) | Inner::JsonArray(_) => None,
        }
    }

    /// Returns the memory its buffers hold, in bytes.
    #[must_use]
    pub const fn buffered(&self) -> usize {
        match &self.inner {
            Inner::Sse(sse) => sse.buffered(),
            Inner::Lines(lines) => lines.buffered(),
            Inner::JsonArray(array) => array.buffered(),
        }
    }

    /// Does what comes before the body; whether there is a body to be read then.
    #[cold]
    fn enter_body(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        let mut matched = match self.phase {
            Phase::Body => return Ok(true),
            Phase::Failed(error) => return Err(error),
            Phase::Finished => {
                *input = &[];
                return Ok(false);
            }
            Phase::Start(matched) => matched,
        };
        while let (Some((first, rest)), Some(mark)) = (input.split_first(), MARK.get(matched)) {
            if first != mark {
                self.replay_mark(matched)?;
                self.phase = Phase::Body;
                return Ok(true);
            }
            matched += 1;
            *input = rest;
        }
        self.phase = if matched == MARK.len() {
            Phase::Body
        } else {
            Phase::Start(matched)
        };
        Ok(self.phase == Phase::Body)
    }

    /// Reads the bytes that looked like the start of a mark and were none.
    fn replay_mark(&mut self, matched: usize) -> Result<(), Error> {
        let mut input = &MARK[..matched];
        // One or two bytes without a line end complete no frame.
        let error = self.inner.next(&mut input).err();
        if let Some(error) = error {
            self.phase = Phase::Failed(error);
            return Err(error);
        }
        Ok(())
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(Framing::default(), Limits::default())
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("framing", &self.framing)
            .field("limits", &self.limits)
            .field("buffered", &self.buffered())
            .finish_non_exhaustive()
    }
}

impl Inner {
    #[inline]
    fn next<'a, 'b: 'a>(&'a mut self, input: &mut &'b [u8]) -> Result<Option<Frame<'a>>, Error> {
        match self {
            Self::Sse(sse) => sse.next(input),
            Self::Lines(lines) => lines.next(input),
            Self::JsonArray(array) => array.next(input),
        }
    }

    fn finish(&mut self) -> Result<Option<Frame<'_>>, Error> {
        match self {
            Self::Sse(sse) => sse.finish(),
            Self::Lines(lines) => lines.finish(),
            Self::JsonArray(array) => array.finish(),
        }
    }
}

/// The byte-order mark, which some proxies put in front.
const MARK: &[u8] = "\u{feff}".as_bytes();
