//! One `Retry-After` value, read and explained.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::failure::Hint;

/// Reads a `Retry-After` value: decimal seconds, or an HTTP date read against `wall`.
#[must_use]
pub fn parse_retry_after(value: impl AsRef<[u8]>, wall: SystemTime) -> Hint {
    explain(value, wall).hint()
}

/// Reads a `Retry-After` value and keeps how it was read.
#[must_use]
pub fn explain(value: impl AsRef<[u8]>, wall: SystemTime) -> Reading {
    let _ = (value.as_ref(), wall);
    Reading {
        rule: Rule::Refused(Refusal::Empty),
    }
}

/// How a `Retry-After` value was read; its text explains it in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The rule that read the value, with what it gave.
    pub rule: Rule,
}

impl Reading {
    /// The wait: raw, before any cap.
    #[must_use]
    pub fn hint(&self) -> Hint {
        match self.rule {
            Rule::Seconds { wait, .. }
            | Rule::EpochSeconds { wait, .. }
            | Rule::Date { wait, .. } => Hint::Wait(wait),
            Rule::Refused(_) => Hint::Unusable,
        }
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        Ok(())
    }
}

/// The rule a value was read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Seconds from now.
    #[non_exhaustive]
    Seconds {
        /// The wait.
        wait: Duration,
        /// Whether the number was too large and was cut to the longest duration.
        saturated: bool,
    },
    /// A number that is an instant: seconds since 1970, within 366 days of now.
    #[non_exhaustive]
    EpochSeconds {
        /// The wait; zero if the instant has passed.
        wait: Duration,
        /// Whether the instant has passed.
        past: bool,
    },
    /// An HTTP date.
    #[non_exhaustive]
    Date {
        /// Which of the three forms.
        form: DateForm,
        /// The wait; zero if the date has passed.
        wait: Duration,
        /// Whether the date has passed.
        past: bool,
    },
    /// No wait can be read from it.
    Refused(Refusal),
}

/// The three forms of an HTTP date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DateForm {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    ImfFixdate,
    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    Rfc850,
    /// `Sun Nov  6 08:49:37 1994`
    Asctime,
}

/// Why a value is no wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing but white space.
    Empty,
}
