use std::fmt;

/// Why a stream could not be split into frames any further.
///
/// An error ends the decoder: every later call returns the same one. The text names the rule
/// that was broken and never shows what the stream said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    limit: usize,
}

/// The rule a stream has broken; see [`Error::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A line is longer than [`Limits::max_line_bytes`](crate::Limits::max_line_bytes).
    LineTooLong,
    /// An event is larger than [`Limits::max_event_bytes`](crate::Limits::max_event_bytes).
    EventTooLarge,
    /// A JSON value is nested deeper than 128 levels, where common JSON readers stop.
    TooDeep,
    /// An event's data, name or id is not UTF-8.
    InvalidUtf8,
}

impl Error {
    pub(crate) const fn line_too_long(limit: usize) -> Self {
        Self {
            kind: ErrorKind::LineTooLong,
            limit,
        }
    }

    pub(crate) const fn event_too_large(limit: usize) -> Self {
        Self {
            kind: ErrorKind::EventTooLarge,
            limit,
        }
    }

    pub(crate) const fn too_deep(limit: usize) -> Self {
        Self {
            kind: ErrorKind::TooDeep,
            limit,
        }
    }

    pub(crate) const fn invalid_utf8() -> Self {
        Self {
            kind: ErrorKind::InvalidUtf8,
            limit: 0,
        }
    }

    /// Returns the rule that was broken.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit;
        match self.kind {
            ErrorKind::LineTooLong => write!(f, "stream line is longer than {limit} bytes"),
            ErrorKind::EventTooLarge => write!(f, "stream event is larger than {limit} bytes"),
            ErrorKind::TooDeep => write!(f, "stream JSON is nested deeper than {limit} levels"),
            ErrorKind::InvalidUtf8 => f.write_str("stream event is not UTF-8"),
        }
    }
}

impl std::error::Error for Error {}
