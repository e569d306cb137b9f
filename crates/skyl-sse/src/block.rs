//! The open block of server-sent events: what its lines have said so far.

use std::mem;
use std::time::Duration;

use crate::buffer::{append, clear, cut_text, text};
use crate::field::Line;
use crate::frame::DEFAULT_NAME;
use crate::nesting::Nesting;
use crate::stray::Stray;
use crate::{Error, Event, Frame, scan};

/// Fields, applied line by line, up to the blank line; and what outlives the block.
pub(crate) struct Block {
    /// Caps name, data and stray together, and the id by itself.
    limit: usize,

    /// The data lines, joined by LF, from `data_from` on: what stands before it is the field
    /// name of a first line that was moved here as a whole.
    data: Vec<u8>,
    data_from: usize,
    /// There is a data line, be it an empty one.
    has_data: bool,
    /// Follows the brackets of `data`, read up to `data_read`; idle unless strays come.
    data_nesting: Nesting,
    data_read: usize,
    /// Empty stands for the default.
    name: Vec<u8>,

    stray: Stray,
    /// The block of `stray` is over: it goes out before anything else is read.
    stray_due: bool,

    /// The last id set.
    id: String,
    retry: Option<Duration>,
}

/// What a line has completed, to be handed out and then cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Event,
    Stray,
}

/// What ended an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    BlankLine,
    Stream,
}

impl Block {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
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
        }
    }

    /// Applies a line; comments are not for here.
    pub(crate) fn apply(&mut self, line: Line<'_>, raw: &[u8]) -> Result<Option<Done>, Error> {
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
                self.check(value.len())?;
                append(&mut self.name, value, self.limit);
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

    /// Applies a first data line by taking its buffer, so that giant lines are not copied.
    pub(crate) fn apply_whole(
        &mut self,
        line: &mut Vec<u8>,
        value_len: usize,
    ) -> Result<Option<Done>, Error> {
        self.check(value_len)?;
        self.data_from = line.len() - value_len;
        mem::swap(line, &mut self.data);
        self.has_data = true;
        Ok(self.end_stray_before_data())
    }

    /// Whether a stray waits to go out, asked once.
    pub(crate) fn take_due(&mut self) -> Option<Done> {
        mem::take(&mut self.stray_due).then_some(Done::Stray)
    }

    /// What the end of the stream leaves to be handed out.
    pub(crate) fn left_over(&self) -> Option<Done> {
        if self.data.len() > self.data_from {
            return Some(Done::Event);
        }
        (!self.stray.is_empty()).then_some(Done::Stray)
    }

    pub(crate) fn frame(&self, done: Done, end: End) -> Result<Frame<'_>, Error> {
        match done {
            Done::Event => self.event(end).map(Frame::Event),
            Done::Stray => Ok(Frame::Stray(self.stray.bytes())),
        }
    }

    /// Clears what has been handed out.
    pub(crate) fn clear(&mut self, done: Done) {
        match done {
            Done::Event => {
                clear(&mut self.data);
                clear(&mut self.name);
                self.data_from = 0;
                self.has_data = false;
                self.data_nesting = Nesting::default();
                self.data_read = 0;
            }
            Done::Stray => self.stray.clear(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_data && self.name.is_empty() && self.stray.is_empty()
    }

    pub(crate) const fn has_data(&self) -> bool {
        self.has_data
    }

    #[inline]
    pub(crate) fn id(&self) -> Option<&str> {
        (!self.id.is_empty()).then_some(&self.id)
    }

    pub(crate) const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    pub(crate) const fn buffered(&self) -> usize {
        self.data.capacity() + self.name.capacity() + self.stray.buffered() + self.id.capacity()
    }

    fn end_block(&mut self) -> Option<Done> {
        if self.has_data {
            self.stray_due = !self.stray.is_empty() && !self.stray.is_open();
            return Some(Done::Event);
        }
        clear(&mut self.name);
        // Servers that write line ends twice put blank lines into JSON.
        if self.stray.is_open() {
            return None;
        }
        self.end_stray()
    }

    /// Hands out the stray, unless the block has data, which goes out first.
    fn end_stray(&self) -> Option<Done> {
        (!self.stray.is_empty() && !self.has_data).then_some(Done::Stray)
    }

    /// Hands out a stray that the block's first data line has ended.
    fn end_stray_before_data(&self) -> Option<Done> {
        (!self.stray.is_empty()).then_some(Done::Stray)
    }

    fn push_data(&mut self, value: &[u8]) -> Result<(), Error> {
        self.check(value.len().saturating_add(usize::from(self.has_data)))?;
        // What a moved line left before `data_from` is not counted by the cap.
        let cap = self.limit.saturating_add(self.data_from);
        if self.has_data {
            append(&mut self.data, b"\n", cap);
        }
        append(&mut self.data, value, cap);
        self.has_data = true;
        Ok(())
    }

    fn push_stray(&mut self, line: &[u8]) -> Result<Option<Done>, Error> {
        if scan::is_blank(line) {
            return Ok(None);
        }
        let joint = usize::from(!self.stray.is_empty());
        self.check(line.len().saturating_add(joint))?;
        self.stray.push(line, self.limit);
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
        if value.len() > self.limit {
            return Err(Error::event_too_large(self.limit));
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

    fn event(&self, end: End) -> Result<Event<'_>, Error> {
        let read = match end {
            End::BlankLine => text,
            End::Stream => cut_text,
        };
        let name = match read(&self.name)? {
            "" => DEFAULT_NAME,
            name => name,
        };
        Ok(Event {
            name,
            data: read(&self.data[self.data_from..])?,
            id: self.id(),
            terminated: end == End::BlankLine,
        })
    }

    /// Checks the cap on all that the open block holds, with so many bytes more.
    fn check(&self, more: usize) -> Result<(), Error> {
        let held = (self.data.len() - self.data_from)
            .saturating_add(self.name.len())
            .saturating_add(self.stray.bytes().len());
        if held.saturating_add(more) > self.limit {
            return Err(Error::event_too_large(self.limit));
        }
        Ok(())
    }
}
