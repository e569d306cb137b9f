//! One JSON value per line (Ollama's native stream and its relatives).

use std::mem;

use crate::buffer::{append, clear, cut_text, text};
use crate::frame::DEFAULT_NAME;
use crate::{Error, Event, Frame, Limits, scan};

/// Splits at LF alone: a bare CR is white space in JSON and no line end here.
pub(crate) struct Lines {
    limits: Limits,
    /// The start of a line whose end has not come yet; or the line handed out last, if `spent`.
    line: Vec<u8>,
    spent: bool,
}

impl Lines {
    pub(crate) const fn new(limits: Limits) -> Self {
        Self {
            limits,
            line: Vec::new(),
            spent: false,
        }
    }

    pub(crate) fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Error> {
        self.recycle();
        while let Some(end) = scan::lf(input) {
            let bytes = *input;
            let piece = &bytes[..end];
            *input = &bytes[end + 1..];
            if self.line.is_empty() {
                self.check(without_cr(piece).len())?;
                if !scan::is_blank(piece) {
                    return Ok(Some(event(text(without_cr(piece))?, true)));
                }
            } else {
                self.carry(piece)?;
                self.spent = true;
                if !scan::is_blank(&self.line) {
                    return Ok(Some(event(text(without_cr(&self.line))?, true)));
                }
                self.recycle();
            }
        }
        let rest = mem::take(input);
        self.carry(rest)?;
        Ok(None)
    }

    pub(crate) fn finish(&mut self) -> Result<Option<Frame<'_>>, Error> {
        self.recycle();
        if scan::is_blank(&self.line) {
            return Ok(None);
        }
        self.spent = true;
        Ok(Some(event(cut_text(without_cr(&self.line))?, false)))
    }

    pub(crate) const fn buffered(&self) -> usize {
        self.line.capacity()
    }

    fn recycle(&mut self) {
        if mem::take(&mut self.spent) {
            clear(&mut self.line);
        }
    }

    fn carry(&mut self, piece: &[u8]) -> Result<(), Error> {
        let len = self.line.len().saturating_add(piece.len());
        let last = piece.last().or(self.line.last());
        self.check(len - usize::from(last == Some(&b'\r')))?;
        // The CR before the LF may come on top.
        append(&mut self.line, piece, self.limits.line.saturating_add(1));
        Ok(())
    }

    const fn check(&self, len: usize) -> Result<(), Error> {
        if len > self.limits.line {
            return Err(Error::line_too_long(self.limits.line));
        }
        Ok(())
    }
}

fn event(data: &str, terminated: bool) -> Frame<'_> {
    Frame::Event(Event {
        terminated,
        ..Event::new(DEFAULT_NAME, data)
    })
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
