//! What went wrong, in one word: the kinds of error and the rule from status to kind.
//!
//! Kinds are what callers branch on. They carry no data, so that a `match` stays cheap and a log
//! label stays stable; everything else about a failure hangs on the error itself.

use std::fmt;

/// The kind of a failure: what a caller branches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The credential was refused: 401, 403, 407.
    Auth,
    /// The provider asks to slow down: a 429 that waiting heals. Retried.
    RateLimit,
    /// The model or path does not exist.
    NotFound,
    /// The request is wrong and stays wrong.
    BadRequest,
    /// The provider failed: 408, 409, 5xx, an empty answer. Retried.
    Server,
    /// This provider cannot express the request. Arises locally, nothing was sent.
    Unsupported,
    /// The model declined, and said nothing else.
    Refusal,
    /// The stream was read after its end.
    StreamClosed,
    /// No usable reply: DNS, connect, reset, cut body. Retried.
    Transport,
    /// One attempt took too long. Retried.
    Timeout,
    /// The server's certificate was rejected: a misconfiguration, not a blip.
    Certificate,
    /// The caller cancelled.
    Cancelled,
    /// The deadline of the whole call passed.
    Deadline,
    /// A quota or balance is used up; no waiting within reason heals it.
    QuotaExhausted,
    /// The prompt does not fit the model's context.
    ContextLength,
    /// The answer ended without the provider's mark of its end. Retried if nothing was delivered.
    Truncated,
    /// The reply is not what was promised and cannot be read.
    Decode,
    /// The provider answered something no rule knows.
    Unclassified,
}

impl ErrorKind {
    /// The text of the kind, as it stands in error messages.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Auth => "authentication failed",
            Self::RateLimit => "rate limited",
            Self::NotFound => "not found",
            Self::BadRequest => "invalid request",
            Self::Server => "provider server error",
            Self::Unsupported => "unsupported by this provider",
            Self::Refusal => "model declined the request",
            Self::StreamClosed => "stream is closed",
            Self::Transport | Self::Unclassified => "request failed",
            Self::Timeout => "attempt timed out",
            Self::Certificate => "certificate rejected",
            Self::Cancelled => "cancelled",
            Self::Deadline => "deadline passed",
            Self::QuotaExhausted => "quota exhausted",
            Self::ContextLength => "context too long",
            Self::Truncated => "response truncated",
            Self::Decode => "unreadable response",
        }
    }

    /// The kind in snake case, as it stands in JSON and in metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimit => "rate_limit",
            Self::NotFound => "not_found",
            Self::BadRequest => "bad_request",
            Self::Server => "server",
            Self::Unsupported => "unsupported",
            Self::Refusal => "refusal",
            Self::StreamClosed => "stream_closed",
            Self::Transport => "transport",
            Self::Timeout => "timeout",
            Self::Certificate => "certificate",
            Self::Cancelled => "cancelled",
            Self::Deadline => "deadline",
            Self::QuotaExhausted => "quota_exhausted",
            Self::ContextLength => "context_length",
            Self::Truncated => "truncated",
            Self::Decode => "decode",
            Self::Unclassified => "unclassified",
        }
    }

    /// The coarse group of the kind; `None` where no reply could be classified.
    #[must_use]
    pub const fn group(self) -> Option<Group> {
        match self {
            Self::Auth => Some(Group::Auth),
            Self::RateLimit => Some(Group::RateLimit),
            Self::NotFound => Some(Group::NotFound),
            Self::BadRequest | Self::ContextLength | Self::QuotaExhausted => {
                Some(Group::BadRequest)
            }
            Self::Server | Self::Truncated => Some(Group::Server),
            Self::Unsupported => Some(Group::Unsupported),
            Self::Refusal => Some(Group::Refusal),
            Self::StreamClosed => Some(Group::StreamClosed),
            Self::Transport
            | Self::Timeout
            | Self::Certificate
            | Self::Cancelled
            | Self::Deadline
            | Self::Decode
            | Self::Unclassified => None,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The eight coarse groups of failures, for callers who want fewer branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Group {
    /// See [`ErrorKind::Auth`].
    Auth,
    /// See [`ErrorKind::RateLimit`].
    RateLimit,
    /// See [`ErrorKind::NotFound`].
    NotFound,
    /// Wrong requests, contexts that are too long, quotas that are used up.
    BadRequest,
    /// Failures of the provider, truncated answers included.
    Server,
    /// See [`ErrorKind::Unsupported`].
    Unsupported,
    /// See [`ErrorKind::Refusal`].
    Refusal,
    /// See [`ErrorKind::StreamClosed`].
    StreamClosed,
}

/// Classifies an HTTP status when the body says nothing better.
///
/// 401, 403, 407 are `Auth`; 402 is `QuotaExhausted`; 404 `NotFound`; 429 `RateLimit`; 408, 409 and
/// everything from 500 up `Server`; any other 4xx `BadRequest`; below 400 `Unclassified`.
#[must_use]
pub const fn classify_status(status: u16) -> ErrorKind {
    match status {
        401 | 403 | 407 => ErrorKind::Auth,
        402 => ErrorKind::QuotaExhausted,
        404 => ErrorKind::NotFound,
        429 => ErrorKind::RateLimit,
        408 | 409 | 500.. => ErrorKind::Server,
        400..500 => ErrorKind::BadRequest,
        ..400 => ErrorKind::Unclassified,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_map_to_kinds() {
        for (status, kind) in [
            (0, ErrorKind::Unclassified),
            (200, ErrorKind::Unclassified),
            (302, ErrorKind::Unclassified),
            (399, ErrorKind::Unclassified),
            (400, ErrorKind::BadRequest),
            (401, ErrorKind::Auth),
            (402, ErrorKind::QuotaExhausted),
            (403, ErrorKind::Auth),
            (404, ErrorKind::NotFound),
            (405, ErrorKind::BadRequest),
            (407, ErrorKind::Auth),
            (408, ErrorKind::Server),
            (409, ErrorKind::Server),
            (410, ErrorKind::BadRequest),
            (418, ErrorKind::BadRequest),
            (422, ErrorKind::BadRequest),
            (429, ErrorKind::RateLimit),
            (499, ErrorKind::BadRequest),
            (500, ErrorKind::Server),
            (529, ErrorKind::Server),
            (600, ErrorKind::Server),
            (u16::MAX, ErrorKind::Server),
        ] {
            assert_eq!(classify_status(status), kind, "status {status}");
        }
    }
}
