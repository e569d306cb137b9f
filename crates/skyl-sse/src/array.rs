//! The elements of one JSON array, as Gemini streams them without `alt=sse`.

use std::mem;

use crate::buffer::{append, clear, cut_text, text};
use crate::frame::DEFAULT_NAME;
use crate::nesting::{MAX_DEPTH, Nesting};
use crate::{Error, Event, Frame, Limits, scan};

/// Cuts out each object or array of the outermost array, or each bare one.
///
/// It is lenient about what lies between them, as an error in mid-stream may come with or
/// without its comma, and about a missing closing bracket: whether the answer is whole is told
/// by what the elements say.
pub(crate) struct JsonArray {
    limits: Limits,
    place: Place,
    /// Inside the outermost array, so that a further `[` begins an element.
    inside: bool,
    /// Idle but within an element: what closes one leaves it as it began.
    nesting: Nesting,
    /// The start of an element or stray; or the one handed out last, if `spent`.
    held: Vec<u8>,
    spent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    Element,
    /// In bytes that begin no object or array, up to the end of the line.
    Stray,
}

impl JsonArray {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            place: Place::Between,
            inside: false,
            nesting: Nesting::default(),
            held: Vec::new(),
            spent: false,
        }
    }

    pub(crate) fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Error> {
        self.recycle();
        if self.place == Place::Between {
            self.skip_separators(input);
        }
        if input.is_empty() {
            return Ok(None);
        }
        let place = self.place;
        let bytes = *input;
        let end = if place == Place::Element {
            // Not past the cap: of an element both too large and too deep, the limit met first is
            // the error, however the bytes were cut.
            let room = self.limits.event.saturating_sub(self.held.len());
            self.nesting.close(&bytes[..bytes.len().min(room)])
        } else {
            // The LF stays in the input, as white space for what follows.
            scan::lf(bytes)
        };
        if self.nesting.too_deep() {
            return Err(Error::too_deep(MAX_DEPTH));
        }
        let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        *input = rest;
        let whole = if end.is_some() && self.held.is_empty() {
            self.check(piece.len())?;
            piece
        } else {
            self.check(self.held.len().saturating_add(piece.len()))?;
            append(&mut self.held, piece, self.limits.event);
            if end.is_none() {
                return Ok(None);
            }
            self.spent = true;
            &self.held
        };
        self.place = Place::Between;
        if place == Place::Stray {
            return Ok(Some(Frame::Stray(whole.trim_ascii())));
        }
        Ok(Some(Frame::Event(Event::new(DEFAULT_NAME, text(whole)?))))
    }

    pub(crate) fn finish(&mut self) -> Result<Option<Frame<'_>>, Error> {
        self.recycle();
        if self.held.is_empty() {
            return Ok(None);
        }
        self.spent = true;
        if self.place == Place::Stray {
            return Ok(Some(Frame::Stray(self.held.trim_ascii())));
        }
        Ok(Some(Frame::Event(Event {
            terminated: false,
            ..Event::new(DEFAULT_NAME, cut_text(&self.held)?)
        })))
    }

    pub(crate) const fn buffered(&self) -> usize {
        self.held.capacity()
    }

    /// Moves to the first byte of an element or stray, and notes which of them it begins.
    fn skip_separators(&mut self, input: &mut &[u8]) {
        while let Some((&byte, rest)) = input.split_first() {
            match byte {
                b'[' if !self.inside => self.inside = true,
                b']' => self.inside = false,
                b',' => {}
                space if space.is_ascii_whitespace() => {}
                b'{' | b'[' => {
                    self.place = Place::Element;
                    return;
                }
                _ => {
                    self.place = Place::Stray;
                    return;
                }
            }
            *input = rest;
        }
    }

    fn recycle(&mut self) {
        if mem::take(&mut self.spent) {
            clear(&mut self.held);
        }
    }

    const fn check(&self, len: usize) -> Result<(), Error> {
        if len > self.limits.event {
            return Err(Error::event_too_large(self.limits.event));
        }
        Ok(())
    }
}
