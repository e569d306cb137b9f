//! Lines that are no field, put back together.

use crate::buffer::{append, clear};
use crate::nesting::Nesting;

/// A run of stray lines: one bare JSON value over several lines, or prose.
#[derive(Default)]
pub(crate) struct Stray {
    bytes: Vec<u8>,
    /// Follows the brackets if the run begins with one.
    json: bool,
    nesting: Nesting,
}

impl Stray {
    /// Adds a line that is not blank. The caller has checked the cap.
    pub(crate) fn push(&mut self, line: &[u8], cap: usize) {
        if self.bytes.is_empty() {
            self.json = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
        } else {
            append(&mut self.bytes, b"\n", cap);
        }
        append(&mut self.bytes, line, cap);
        if self.json {
            self.nesting.read(line);
        }
    }

    pub(crate) fn clear(&mut self) {
        clear(&mut self.bytes);
        self.nesting = Nesting::default();
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether JSON has begun that still has a bracket to close.
    pub(crate) const fn is_open(&self) -> bool {
        self.json && self.nesting.is_open()
    }

    /// Whether JSON has begun and closed.
    pub(crate) const fn is_whole(&self) -> bool {
        self.json && !self.nesting.is_open()
    }

    pub(crate) const fn buffered(&self) -> usize {
        self.bytes.capacity()
    }
}
