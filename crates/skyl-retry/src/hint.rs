//! The server's wait: one parser for every way servers say it.
//!
//! Two parsers would disagree, and the one that is wrong is found at night. So the client, its
//! dialects, the program's `explain` and the tests all read here. The sources are asked in this
//! order, and an unusable one falls through to the next:
//!
//! 1. `retry-after-ms`, `x-ms-retry-after-ms`: decimal milliseconds
//! 2. `Retry-After`: decimal seconds or an HTTP date, see [`explain`]
//! 3. the structured body, offered by the caller
//! 4. `x-ratelimit-reset-*`, `anthropic-ratelimit-*-reset` of limits with nothing remaining: the
//!    latest
//! 5. the message's words, offered by the caller, see [`prose`]
//!
//! A header that comes more than once counts with its largest usable value. A wait of zero is a
//! usable answer here; what it means is the policy's business, like every cap: nothing in this
//! module shortens a wait. A value that cannot be read is [`Hint::Unusable`] and never zero.
//!
//! ```
//! use skyl_retry::Hint;
//! use skyl_retry::hint::{HintScope, HintSource, from_headers};
//! use std::time::{Duration, UNIX_EPOCH};
//!
//! let headers = [("retry-after-ms", &b"soon"[..]), ("Retry-After", &b"1.5"[..])];
//! let found = from_headers(headers, UNIX_EPOCH, HintScope::All);
//! assert_eq!(found.hint, Hint::Wait(Duration::from_millis(1500)));
//! assert_eq!(found.source, Some(HintSource::RetryAfter));
//! ```

mod date;
mod headers;
mod prose;
mod retry_after;
#[cfg(test)]
mod tests;
mod value;

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::failure::Hint;

pub use self::headers::server_word;
pub use self::prose::prose;
pub use self::retry_after::{DateForm, Reading, Refusal, Rule, explain, parse_retry_after};
pub use self::value::{
    epoch_millis, epoch_seconds, go_duration, milliseconds, protobuf_duration, reset, rfc3339,
};

/// Finds the wait in response headers, read at the wall time `wall`.
///
/// Header names are compared without regard to case; the iterator is walked more than once.
#[must_use]
pub fn from_headers<'a, I>(headers: I, wall: SystemTime, scope: HintScope) -> Found
where
    I: IntoIterator<Item = (&'a str, &'a [u8])>,
    I::IntoIter: Clone,
{
    from_response(headers, wall, scope, || Hint::Absent, || Hint::Absent)
}

/// Finds the wait in headers, the structured body and the message's words, in the stated order.
///
/// `body` and `prose` are only called if nothing before them gave a usable wait, and not at all
/// with [`HintScope::RetryAfterOnly`].
#[must_use]
pub fn from_response<'a, I>(
    headers: I,
    wall: SystemTime,
    scope: HintScope,
    body: impl FnOnce() -> Hint,
    prose: impl FnOnce() -> Hint,
) -> Found
where
    I: IntoIterator<Item = (&'a str, &'a [u8])>,
    I::IntoIter: Clone,
{
    let headers = headers.into_iter();
    Found::default()
        .or(HintSource::RetryAfterMs, || {
            headers::retry_after_ms(headers.clone())
        })
        .or(HintSource::RetryAfter, || {
            headers::retry_after(headers.clone(), wall)
        })
        .or(HintSource::Body, || scope.beyond(body))
        .or(HintSource::RateLimitReset, || {
            scope.beyond(|| headers::rate_limit_reset(&headers, wall))
        })
        .or(HintSource::Prose, || scope.beyond(prose))
}

/// Reads a `Retry-After` value; zero for anything unusable, never negative.
///
/// For callers' own loops that know no third answer. [`parse_retry_after`] tells zero from
/// unusable.
#[must_use]
pub fn parse_retry_after_or_zero(value: &str, now: SystemTime) -> Duration {
    parse_retry_after(value, now)
        .wait()
        .unwrap_or(Duration::ZERO)
}

/// A wait and the source that gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The wait, raw; unusable if some source said something and none could be read.
    pub hint: Hint,
    /// The source that won; `None` unless the hint is a wait.
    pub source: Option<HintSource>,
}

impl Found {
    fn or(self, source: HintSource, look: impl FnOnce() -> Hint) -> Self {
        if self.source.is_some() {
            return self;
        }
        let hint = look();
        Self {
            hint: hint.max(self.hint),
            source: hint.wait().map(|_| source),
        }
    }
}

/// Where a server's wait was found, in the order of looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HintSource {
    /// `retry-after-ms` or `x-ms-retry-after-ms`.
    RetryAfterMs,
    /// `Retry-After`.
    RetryAfter,
    /// The structured body.
    Body,
    /// The reset of an exhausted rate limit.
    RateLimitReset,
    /// The words of the error message.
    Prose,
}

impl HintSource {
    /// The source in snake case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RetryAfterMs => "retry_after_ms",
            Self::RetryAfter => "retry_after",
            Self::Body => "body",
            Self::RateLimitReset => "rate_limit_reset",
            Self::Prose => "prose",
        }
    }
}

impl fmt::Display for HintSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which sources are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintScope {
    /// All of them.
    All,
    /// `retry-after-ms` and `Retry-After` alone.
    RetryAfterOnly,
}

impl HintScope {
    fn beyond(self, look: impl FnOnce() -> Hint) -> Hint {
        match self {
            Self::All => look(),
            Self::RetryAfterOnly => Hint::Absent,
        }
    }
}
