//! Server-sent events (HTML standard §9.2), as AI servers send them.
//!
//! Two paths. A block that lies whole in the chunk and has at most a name and one data line, as
//! nearly all have, is borrowed from the chunk as it is. Everything else goes line by line
//! through buffers that are kept from event to event. Both give the same frames; every byte is
//! searched at most twice and copied at most twice, however the input is cut.

use std::mem;
use std::time::Duration;

use crate::buffer::{append, clear, cut_text, text};
use crate::field::{Line, value};
use crate::frame::DEFAULT_NAME;
use crate::nesting::Nesting;
use crate::stray::Stray;
use crate::{Error, Event, Frame, Limits, scan};

pub(crate) struct Sse {
    limits: Limits,
    /// The start of a line whose end has not come yet.
    line: Vec<u8>,
    /// The last chunk ended in CR: an LF at the start of the next one belongs to it. It may be
    /// left standing between blocks, where an LF more or less means nothing.
    skip_lf: bool,

    /// The open block's data lines, joined by LF, from `data_from` on: what stands before it is
    /// the field name of a first line that was moved here as a whole.
    data: Vec<u8>,
    data_from: usize,
    /// The block has a data line, be it an empty one.
    has_data: bool,
    /// Follows the brackets of `data`, read up to `data_read`; idle unless strays come.
    data_nesting: Nesting,
    data_read: usize,
    /// The open block's name; empty stands for the default.
    name: Vec<u8>,

    stray: Stray,
    /// The block of `stray` is over: it goes out before anything else is read.
    stray_due: bool,

    /// The last id set. It outlives its block.
    id: String,
    retry: Option<Duration>,

    /// What the last call handed out of a buffer, to be cleared by the next.
    spent: Spent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Spent {
    Nothing,
    Event,
    Comment,
    Stray,
}

/// What a line has completed. The bytes are in the buffers.
enum Step<'b> {
    Event,
    /// A comment in the chunk.
    Comment(&'b [u8]),
    /// A comment in `line`.
    CarriedComment,
    Stray,
}

/// How an event ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Block,
    Stream,
}

impl Sse {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            line: Vec::new(),
            skip_lf: false,
            data: Vec::new(),
            data_from: 0,
            has_data: false,
            data_nesting: Nesting::default(),
            data_read: 0,
            name: Vec::new(),
            stray: Stray::default(),
            stray_due: false,
            id: String::new(),
            retry: None,
            spent: Spent::Nothing,
        }
    }

    #[inline]
    pub(crate) fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Error> {
        self.recycle();
        if self.is_between_blocks()
            && let Some((block, rest)) = plain_block(input, self.limits)
        {
            *input = rest;
            return Ok(Some(Frame::Event(Event {
                id: self.id(),
                ..block
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
                field => {
                    self.apply(field, &line)?;
                }
            }
        }
        if self.data.len() > self.data_from {
            self.spent = Spent::Event;
            return self.event(End::Stream).map(Some);
        }
        if !self.stray.is_empty() {
            self.spent = Spent::Stray;
            return Ok(Some(Frame::Stray(self.stray.bytes())));
        }
        Ok(None)
    }

    pub(crate) const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    pub(crate) const fn buffered(&self) -> usize {
        self.line.capacity()
            + self.data.capacity()
            + self.name.capacity()
            + self.stray.buffered()
            + self.id.capacity()
    }

    fn is_between_blocks(&self) -> bool {
        self.line.is_empty() && !self.has_data && self.name.is_empty() && self.stray.is_empty()
    }

    fn next_by_line<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Error> {
        let step = if mem::take(&mut self.stray_due) {
            Step::Stray
        } else {
            match self.read_lines(input)? {
                Some(step) => step,
                None => return Ok(None),
            }
        };
        Ok(Some(match step {
            Step::Event => {
                self.spent = Spent::Event;
                self.event(End::Block)?
            }
            Step::Comment(text) => Frame::Comment(text),
            Step::CarriedComment => {
                self.spent = Spent::Comment;
                Frame::Comment(value(&self.line[1..]))
            }
            Step::Stray => {
                self.spent = Spent::Stray;
                Frame::Stray(self.stray.bytes())
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
                    line => self.apply(line, piece)?,
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
        let step = match Line::parse(&line) {
            Line::Comment(_) => {
                self.line = line;
                return Ok(Some(Step::CarriedComment));
            }
            // Giant lines always come this way: the buffers change places instead of copying.
            Line::Data(value) if !self.has_data => {
                let from = line.len() - value.len();
                self.check_event(value.len())?;
                mem::swap(&mut line, &mut self.data);
                self.data_from = from;
                self.has_data = true;
                self.end_stray_before_data()
            }
            field => self.apply(field, &line)?,
        };
        clear(&mut line);
        self.line = line;
        Ok(step)
    }

    /// Applies a line that is no comment.
    fn apply<'b>(&mut self, line: Line<'_>, raw: &[u8]) -> Result<Option<Step<'b>>, Error> {
        match line {
            Line::Data(value) => {
                let first = !self.has_data;
                self.push_data(value)?;
                return Ok(if first {
                    self.end_stray_before_data()
                } else {
                    None
                });
            }
            Line::Blank => return Ok(self.end_block()),
            Line::Name(value) => {
                clear(&mut self.name);
                self.check_event(value.len())?;
                append(&mut self.name, value, self.limits.event);
            }
            Line::Id(value) => self.set_id(value)?,
            Line::Retry(value) => self.set_retry(value),
            Line::Error(value) => return self.push_stray(value),
            Line::Stray if self.data_is_open() => {
                self.push_data(raw)?;
                return Ok(None);
            }
            Line::Stray => return self.push_stray(raw),
            // In an open JSON value a line may be a bare `true` or `12`.
            Line::Unknown if self.stray.is_open() => return self.push_stray(raw),
            Line::Unknown | Line::Comment(_) => return Ok(None),
        }
        Ok(self.end_stray())
    }

    fn end_block<'b>(&mut self) -> Option<Step<'b>> {
        if self.has_data {
            self.stray_due = !self.stray.is_empty() && !self.stray.is_open();
            return Some(Step::Event);
        }
        self.name.clear();
        // Servers that write line ends twice put blank lines into JSON.
        if self.stray.is_open() {
            return None;
        }
        self.end_stray()
    }

    /// Hands out the stray, unless the block has data, which goes out first.
    fn end_stray<'b>(&self) -> Option<Step<'b>> {
        (!self.stray.is_empty() && !self.has_data).then_some(Step::Stray)
    }

    /// Hands out a stray that the block's first data line has ended.
    fn end_stray_before_data<'b>(&self) -> Option<Step<'b>> {
        (!self.stray.is_empty()).then_some(Step::Stray)
    }

    fn push_data(&mut self, value: &[u8]) -> Result<(), Error> {
        self.check_event(value.len().saturating_add(usize::from(self.has_data)))?;
        // What a moved line left before `data_from` is not counted by the cap.
        let cap = self.limits.event.saturating_add(self.data_from);
        if self.has_data {
            append(&mut self.data, b"\n", cap);
        }
        append(&mut self.data, value, cap);
        self.has_data = true;
        Ok(())
    }

    fn push_stray<'b>(&mut self, line: &[u8]) -> Result<Option<Step<'b>>, Error> {
        if scan::is_blank(line) {
            return Ok(None);
        }
        let joint = usize::from(!self.stray.is_empty());
        self.check_event(line.len().saturating_add(joint))?;
        self.stray.push(line, self.limits.event);
        if self.stray.is_whole() {
            return Ok(self.end_stray());
        }
        Ok(None)
    }

    /// Whether the data so far is JSON that goes on: its next line may lack its `data:`.
    fn data_is_open(&mut self) -> bool {
        if !self.has_data {
            return false;
        }
        let from = self.data_read.max(self.data_from);
        self.data_nesting.read(&self.data[from..]);
        self.data_read = self.data.len();
        self.data_nesting.is_open()
    }

    fn set_id(&mut self, value: &[u8]) -> Result<(), Error> {
        if value.contains(&0) {
            return Ok(());
        }
        if value.len() > self.limits.event {
            return Err(Error::event_too_large(self.limits.event));
        }
        let id = text(value)?;
        self.id.clear();
        self.id.reserve_exact(id.len());
        self.id.push_str(id);
        Ok(())
    }

    fn set_retry(&mut self, value: &[u8]) {
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return;
        }
        let millis = value.iter().fold(0_u64, |millis, digit| {
            millis
                .saturating_mul(10)
                .saturating_add(u64::from(digit - b'0'))
        });
        self.retry = Some(Duration::from_millis(millis));
    }

    fn event(&self, end: End) -> Result<Frame<'_>, Error> {
        let read = match end {
            End::Block => text,
            End::Stream => cut_text,
        };
        let name = match read(&self.name)? {
            "" => DEFAULT_NAME,
            name => name,
        };
        Ok(Frame::Event(Event {
            name,
            data: read(&self.data[self.data_from..])?,
            id: self.id(),
            terminated: end == End::Block,
        }))
    }

    fn id(&self) -> Option<&str> {
        (!self.id.is_empty()).then_some(&self.id)
    }

    #[inline]
    fn recycle(&mut self) {
        if self.spent != Spent::Nothing {
            self.clear_spent();
        }
    }

    fn clear_spent(&mut self) {
        match mem::replace(&mut self.spent, Spent::Nothing) {
            Spent::Nothing => {}
            Spent::Event => {
                clear(&mut self.data);
                clear(&mut self.name);
                self.data_from = 0;
                self.has_data = false;
                self.data_nesting = Nesting::default();
                self.data_read = 0;
            }
            Spent::Comment => clear(&mut self.line),
            Spent::Stray => self.stray.clear(),
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

    /// Checks the cap on all that the open block holds, with so many bytes more.
    fn check_event(&self, more: usize) -> Result<(), Error> {
        let held = (self.data.len() - self.data_from)
            .saturating_add(self.name.len())
            .saturating_add(self.stray.bytes().len());
        if held.saturating_add(more) > self.limits.event {
            return Err(Error::event_too_large(self.limits.event));
        }
        Ok(())
    }
}

/// Reads a block off the input if all of it is there and it is at most a name and a data line.
///
/// `None` says nothing about the block, not even that it is broken: the other path finds out.
#[inline]
fn plain_block(input: &[u8], limits: Limits) -> Option<(Event<'_>, &[u8])> {
    let mut rest = input;
    while let [b'\n' | b'\r', after @ ..] = rest {
        rest = after;
    }
    let mut name = "";
    if let Some(after) = rest.strip_prefix(b"event:") {
        let (line, after_line) = split_line(after, b"event:".len(), limits)?;
        name = text(line).ok()?;
        rest = after_line;
    }
    let after = rest.strip_prefix(b"data:")?;
    let (line, after_line) = split_line(after, b"data:".len(), limits)?;
    // A lone CR at the chunk's end may have its LF in the next, where it reads as one more blank
    // line between blocks.
    let ([b'\r', b'\n', rest @ ..] | [b'\n' | b'\r', rest @ ..]) = after_line else {
        return None;
    };
    let data = text(line).ok()?;
    if name.len() + data.len() > limits.event {
        return None;
    }
    if name.is_empty() {
        name = DEFAULT_NAME;
    }
    Some((Event::new(name, data), rest))
}

/// Splits after a field's colon: its value, and what follows the line's end.
#[inline]
fn split_line(after_colon: &[u8], name_len: usize, limits: Limits) -> Option<(&[u8], &[u8])> {
    let end = scan::line_end(after_colon)?;
    if name_len + end > limits.line {
        return None;
    }
    let rest = match &after_colon[end..] {
        [b'\r', b'\n', rest @ ..] => rest,
        rest => &rest[1..],
    };
    Some((value(&after_colon[..end]), rest))
}
