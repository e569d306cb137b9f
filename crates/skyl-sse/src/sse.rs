//! Server-sent events (HTML standard §9.2), as AI servers send them.
//!
//! Two paths. A block that lies whole in the chunk and has at most a name and one data line, as
//! nearly all have, is borrowed from the chunk as it is. Everything else goes line by line
//! through buffers that are kept from event to event. Both give the same frames; every byte is
//! searched at most twice and copied at most twice, however the input is cut.

use std::mem;
use std::time::Duration;

use crate::block::{Block, Done, End};
use crate::buffer::{append, clear};
use crate::field::{Line, value};
use crate::plain::plain_block;
use crate::{Error, Event, Frame, Limits, scan};

pub(crate) struct Sse {
    limits: Limits,
    /// The start of a line whose end has not come yet.
    line: Vec<u8>,
    /// The last chunk ended in CR: an LF at the start of the next one belongs to it. It may be
    /// left standing between blocks, where an LF more or less means nothing.
    skip_lf: bool,
    block: Block,
    /// What the last call handed out of a buffer, to be cleared by the next.
    spent: Option<Spent>,
}

#[derive(Clone, Copy)]
enum Spent {
    Block(Done),
    /// A comment in `line`.
    Comment,
}

/// What a line has completed.
enum Step<'b> {
    Done(Done),
    /// A comment in the chunk.
    Comment(&'b [u8]),
    /// A comment in `line`.
    CarriedComment,
}

impl Sse {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            line: Vec::new(),
            skip_lf: false,
            block: Block::new(limits.event),
            spent: None,
        }
    }

    #[inline]
    pub(crate) fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Error> {
        if self.spent.is_some() {
            self.recycle();
        }
        if self.line.is_empty()
            && self.block.is_empty()
            && let Some((event, rest)) = plain_block(input, self.limits)
        {
            *input = rest;
            return Ok(Some(Frame::Event(Event {
                id: self.block.id(),
                ..event
            })));
        }
        self.next_by_line(input)
    }

    pub(crate) fn finish(&mut self) -> Result<Option<Frame<'_>>, Error> {
        self.recycle();
        let line = mem::take(&mut self.line);
        // `data` without a colon may be the start of anything: the end has cut it off.
        if line != b"data" {
            match Line::parse(&line) {
                Line::Blank | Line::Comment(_) => {}
                // What it completes is left over, as what earlier lines left.
                field => drop(self.block.apply(field, &line)?),
            }
        }
        let Some(done) = self.block.left_over() else {
            return Ok(None);
        };
        self.spent = Some(Spent::Block(done));
        self.block.frame(done, End::Stream).map(Some)
    }

    pub(crate) const fn retry(&self) -> Option<Duration> {
        self.block.retry()
    }

    pub(crate) const fn buffered(&self) -> usize {
        self.line.capacity() + self.block.buffered()
    }

    fn next_by_line<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Error> {
        let step = match self.block.take_due() {
            Some(due) => Step::Done(due),
            None => match self.read_lines(input)? {
                Some(step) => step,
                None => return Ok(None),
            },
        };
        Ok(Some(match step {
            Step::Done(done) => {
                self.spent = Some(Spent::Block(done));
                self.block.frame(done, End::BlankLine)?
            }
            Step::Comment(text) => Frame::Comment(text),
            Step::CarriedComment => {
                self.spent = Some(Spent::Comment);
                Frame::Comment(value(&self.line[1..]))
            }
        }))
    }

    fn read_lines<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Step<'b>>, Error> {
        if self.skip_lf
            && let Some(&first) = input.first()
        {
            self.skip_lf = false;
            if first == b'\n' {
                *input = &input[1..];
            }
        }
        while let Some(end) = scan::line_end(input) {
            let bytes = *input;
            let piece = &bytes[..end];
            *input = match &bytes[end..] {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.skip_lf = true;
                    &[]
                }
                rest => &rest[1..],
            };
            let step = if self.line.is_empty() {
                self.check_line(piece.len())?;
                match Line::parse(piece) {
                    Line::Comment(text) => Some(Step::Comment(text)),
                    line => self.block.apply(line, piece)?.map(Step::Done),
                }
            } else {
                self.carry(piece)?;
                self.apply_carried()?
            };
            if step.is_some() {
                return Ok(step);
            }
        }
        let rest = mem::take(input);
        self.carry(rest)?;
        Ok(None)
    }

    /// Applies the line in `line`, now whole.
    fn apply_carried<'b>(&mut self) -> Result<Option<Step<'b>>, Error> {
        let mut line = mem::take(&mut self.line);
        let done = match Line::parse(&line) {
            Line::Comment(_) => {
                self.line = line;
                return Ok(Some(Step::CarriedComment));
            }
            Line::Data(value) if !self.block.has_data() => {
                let value_len = value.len();
                self.block.apply_whole(&mut line, value_len)?
            }
            field => self.block.apply(field, &line)?,
        };
        clear(&mut line);
        self.line = line;
        Ok(done.map(Step::Done))
    }

    fn recycle(&mut self) {
        match self.spent.take() {
            None => {}
            Some(Spent::Block(done)) => self.block.clear(done),
            Some(Spent::Comment) => clear(&mut self.line),
        }
    }

    fn carry(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.check_line(self.line.len().saturating_add(piece.len()))?;
        append(&mut self.line, piece, self.limits.line);
        Ok(())
    }

    const fn check_line(&self, len: usize) -> Result<(), Error> {
        if len > self.limits.line {
            return Err(Error::line_too_long(self.limits.line));
        }
        Ok(())
    }
}
