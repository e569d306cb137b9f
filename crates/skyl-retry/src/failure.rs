//! What the engine is told about a failed attempt.
//!
//! A [`Failure`] is the caller's reading of one attempt, reduced to what a retry decision needs.
//! It holds no text and no source: the caller keeps the real error and hands it back unchanged.

use std::fmt;
use std::time::Duration;

/// One failed attempt, as facts for the decision.
///
/// ```
/// use skyl_retry::{Failure, FailureClass, Hint};
/// use std::time::Duration;
///
/// let failure = Failure::new(FailureClass::Throttled)
///     .with_status(429)
///     .with_hint(Hint::Wait(Duration::from_secs(1)));
/// assert_eq!(failure.status, Some(429));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The status the server answered with, or the numeric code its body gave; `None` without one.
    pub status: Option<u16>,
    /// What kind of failure it was.
    pub class: FailureClass,
    /// Whether the request can have reached the server.
    pub sent: Sent,
    /// The server's wait: raw, before any cap.
    pub hint: Hint,
    /// The server's own word on retrying (`x-should-retry`); `None` if it said nothing.
    pub server_word: Option<bool>,
    /// Whether content of this call has reached the caller, so that nothing may be resent.
    pub delivered: bool,
}

impl Failure {
    /// A failure of this class: no status, no hint, possibly sent, nothing delivered.
    #[must_use]
    pub fn new(class: FailureClass) -> Self {
        Self {
            status: None,
            class,
            sent: Sent::Maybe,
            hint: Hint::Absent,
            server_word: None,
            delivered: false,
        }
    }

    /// Sets the status; `None` clears it.
    #[must_use]
    pub fn with_status(mut self, status: impl Into<Option<u16>>) -> Self {
        self.status = status.into();
        self
    }

    /// Sets whether the request can have reached the server. Default: [`Sent::Maybe`].
    #[must_use]
    pub fn with_sent(mut self, sent: Sent) -> Self {
        self.sent = sent;
        self
    }

    /// Sets the server's wait. Default: [`Hint::Absent`].
    #[must_use]
    pub fn with_hint(mut self, hint: Hint) -> Self {
        self.hint = hint;
        self
    }

    /// Sets the server's own word; `None` clears it.
    #[must_use]
    pub fn with_server_word(mut self, word: impl Into<Option<bool>>) -> Self {
        self.server_word = word.into();
        self
    }

    /// Sets whether content has reached the caller. Default: `false`.
    #[must_use]
    pub fn with_delivered(mut self, delivered: bool) -> Self {
        self.delivered = delivered;
        self
    }
}

/// The kind of a failure, as far as retrying goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// The server is limiting this caller (429 and its relatives); waiting heals it.
    Throttled,
    /// The server failed, or is overloaded (5xx, 408, 409, an in-band error that says nothing).
    Server,
    /// The same request will fail the same way: auth, bad request, not found, quota, refusal.
    Permanent,
    /// No connection came about: DNS, refused, connect timeout, TLS handshake.
    Connect,
    /// The connection broke after it stood: reset, closed, refused stream.
    ConnectionLost,
    /// An attempt ran out of its own time.
    Timeout,
    /// A certificate was rejected. Never retried, whatever else is said.
    Certificate,
    /// The answer ended before its end mark.
    Truncated,
    /// A whole answer that could not be read.
    Decode,
    /// An answer nobody can read a kind from, for example a redirect.
    Unclassified,
}

impl FailureClass {
    /// The class in snake case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Throttled => "throttled",
            Self::Server => "server",
            Self::Permanent => "permanent",
            Self::Connect => "connect",
            Self::ConnectionLost => "connection_lost",
            Self::Timeout => "timeout",
            Self::Certificate => "certificate",
            Self::Truncated => "truncated",
            Self::Decode => "decode",
            Self::Unclassified => "unclassified",
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a request can have reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sent {
    /// Provably not: DNS, refused, connect timeout, TLS handshake, a refused HTTP/2 stream, or a
    /// pooled connection found closed before a byte was written.
    No,
    /// Possibly. Whoever cannot prove the other says this.
    Maybe,
}

/// The wait a server asked for: raw, before any cap.
///
/// "Nothing said", "said something unreadable" and "said zero" are three different answers, since
/// a policy may obey a zero and must never take an unreadable value for one. They are ordered: any
/// wait is above none, a longer one above a shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hint {
    /// The server said nothing.
    #[default]
    Absent,
    /// The server said something that cannot be read as a wait.
    Unusable,
    /// The server asked for this wait; zero for `0` and for dates in the past.
    Wait(Duration),
}

impl Hint {
    /// The raw wait: zero for zero and past dates, `None` for none.
    #[must_use]
    pub fn wait(self) -> Option<Duration> {
        match self {
            Self::Wait(wait) => Some(wait),
            Self::Absent | Self::Unusable => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_its_word() {
        for (class, word) in [
            (FailureClass::Throttled, "throttled"),
            (FailureClass::Server, "server"),
            (FailureClass::Permanent, "permanent"),
            (FailureClass::Connect, "connect"),
            (FailureClass::ConnectionLost, "connection_lost"),
            (FailureClass::Timeout, "timeout"),
            (FailureClass::Certificate, "certificate"),
            (FailureClass::Truncated, "truncated"),
            (FailureClass::Decode, "decode"),
            (FailureClass::Unclassified, "unclassified"),
        ] {
            assert_eq!(class.as_str(), word);
            assert_eq!(class.to_string(), word);
        }
    }
}
