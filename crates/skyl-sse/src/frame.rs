use std::fmt;

/// One thing a stream said, borrowed from the chunk or from the decoder.
///
/// `Debug` shows lengths, not contents, so that no prompt or answer reaches a log by accident.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// An event with data: of SSE, one block; of the other framings, one line or element.
    Event(Event<'a>),
    /// A comment's text after the colon and one space: a sign of life and nothing else.
    Comment(&'a [u8]),
    /// Bytes that are no part of the framing, such as a bare JSON error in mid-stream.
    ///
    /// Lines that belong together come as one frame, joined by LF. Not checked for UTF-8.
    Stray(&'a [u8]),
}

/// One event. Its data is never absent, but may be empty.
///
/// `Debug` shows the length of the data, not the data.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The event's name; `message` where none, or an empty one, was given.
    pub name: &'a str,
    /// The data lines joined by LF, each without one leading space.
    pub data: &'a str,
    /// The last id the stream has set, by this event or an earlier one; none if it is empty.
    pub id: Option<&'a str>,
    /// Whether the framing closed the event; `false` if the stream ended in it.
    ///
    /// SSE says to drop an unclosed event, yet many servers leave out the last blank line. Take
    /// one only if its data is whole by itself, and treat it as a cut stream otherwise.
    pub terminated: bool,
}

impl<'a> Event<'a> {
    /// Makes a closed event without an id, for tests of what reads events.
    #[must_use]
    pub const fn new(name: &'a str, data: &'a str) -> Self {
        Self {
            name,
            data,
            id: None,
            terminated: true,
        }
    }
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Comment(text) => write!(f, "Comment({} bytes)", text.len()),
            Self::Stray(bytes) => write!(f, "Stray({} bytes)", bytes.len()),
        }
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("name", &self.name)
            .field("data_bytes", &self.data.len())
            .field("id", &self.id)
            .field("terminated", &self.terminated)
            .finish()
    }
}

/// The name of an event that gives none (HTML standard, "dispatch the event").
pub(crate) const DEFAULT_NAME: &str = "message";
