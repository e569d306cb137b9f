//! The one error of this crate: what went wrong, what was tried, and why it ended.
//!
//! Every failure of a call, local refusals and builder mistakes included, is an [`Error`]: callers
//! branch on its [`kind`](Error::kind) and print its text. Everything a person at a broken system
//! asks hangs on it: which status, what the provider said, which request id to quote, how often it
//! was tried and how long was waited. The key is on none of it.

mod build;
#[cfg(test)]
mod tests;

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use skyl_retry::{
    Choice, Failure, FailureClass, RetryPolicy, Sent, StopReason as RetryStop, choose,
};

use crate::attempts::Attempt;
use crate::kind::{ErrorKind, Group};
use crate::rate_limit::RateLimit;
use crate::response::Usage;

pub(crate) use self::build::{Inner, cut};

/// Why a call failed; one word wide.
///
/// Its text is one line for people and logs:
/// `skyl: openai: rate limited (http 429): slow down`, and after the last of several attempts
/// `skyl: giving up after 4 attempts: skyl: openai: rate limited (http 429): slow down`.
pub struct Error(Box<Inner>);

/// What went wrong.
impl Error {
    /// The kind: what callers branch on.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The coarse group of the kind; `None` where no reply could be classified.
    #[must_use]
    pub fn group(&self) -> Option<Group> {
        self.0.kind.group()
    }

    /// Whether the same request may succeed later: the choice of the default chat policy.
    ///
    /// The server's word (`x-should-retry`) is part of it; attempts, budgets,
    /// [`delivered`](Self::delivered) and a caller's own `should_retry` are not. True for
    /// `RateLimit`, `Server`, `Transport`, `Timeout` and `Truncated`, unless the server said no.
    #[must_use]
    pub fn retryable(&self) -> bool {
        choose(&RetryPolicy::chat(), &self.failure()) == Choice::Retry
    }

    /// The status: of HTTP from 300 up, else a code of the body in 100–599, else none.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0
            .http_status
            .filter(|status| *status >= 300)
            .or(self.0.body_status)
    }

    /// The HTTP status of the answer, whatever it was; `None` if none came.
    #[must_use]
    pub fn http_status(&self) -> Option<u16> {
        self.0.http_status
    }

    /// The provider's name; `None` where no provider was asked.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.0.provider.as_deref()
    }

    /// What the provider said; at most 2 KiB.
    ///
    /// What skyl says where no provider did.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    /// The provider's code or type, such as `insufficient_quota`.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The start of the error body: at most 2 KiB, cut at a character, without the key.
    ///
    /// It may quote the request, so it stays out of the error's text and its `Debug`.
    #[must_use]
    pub fn body(&self) -> Option<&str> {
        self.0.body.as_deref()
    }

    /// The wait the server asked for: raw, before any cap.
    ///
    /// Zero for a zero or a date in the past; `None` if it asked for none that can be read.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.hint.wait()
    }

    /// The id under which the provider knows the request: what its support asks for.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// What the provider said about its limits.
    #[must_use]
    pub fn rate_limit(&self) -> Option<&RateLimit> {
        self.0.rate_limit.as_ref()
    }

    /// What the failed answer cost, where the provider said; refusals and cut streams are billed.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.0.usage
    }

    /// Whether the request can have reached the provider, and so been billed.
    #[must_use]
    pub fn sent(&self) -> Sent {
        self.0.sent
    }

    /// Whether content had reached the caller: then the call is never made again by itself.
    #[must_use]
    pub fn delivered(&self) -> bool {
        self.0.delivered
    }

    /// Whether the provider said that it is overloaded, rather than broken (529 and the like).
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        self.0.overloaded
    }
}

/// What was tried.
impl Error {
    /// The attempts of the call, in order; empty if nothing was sent.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        self.0.attempts.as_slice()
    }

    /// Why no further attempt was made; `None` for refusals before the first.
    #[must_use]
    pub fn retry_stop(&self) -> Option<RetryStop> {
        self.0.retry_stop
    }

    /// Time from the first attempt to the end of the call.
    ///
    /// Waits included; zero if nothing was sent.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed
    }

    /// The last real failure before a call was cut by its deadline or by cancellation.
    #[must_use]
    pub fn last_error(&self) -> Option<&Self> {
        self.0.last.as_ref()
    }

    /// The facts the engine decides on.
    pub(crate) fn failure(&self) -> Failure {
        Failure::new(self.0.class)
            .with_status(self.status())
            .with_sent(self.0.sent)
            .with_hint(self.0.hint)
            .with_server_word(self.0.server_word)
            .with_delivered(self.0.delivered)
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(crate) fn inner_mut(&mut self) -> &mut Inner {
        &mut self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.retry_stop == Some(RetryStop::AttemptsExhausted) {
            write!(
                f,
                "skyl: giving up after {} attempts: ",
                self.attempts().len()
            )?;
        }
        f.write_str("skyl: ")?;
        if let Some(provider) = self.provider() {
            write!(f, "{provider}: ")?;
        }
        f.write_str(self.0.kind.text())?;
        if let Some(status) = self.status() {
            write!(f, " (http {status})")?;
        }
        match self.message() {
            Some(message) => write!(f, ": {}", OneLine(message)),
            None => Ok(()),
        }
    }
}

// The message may quote the prompt, and the body nearly always does, so a debug print shows how
// much there is of them, not what.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        let mut out = f.debug_struct("Error");
        out.field("kind", &inner.kind);
        for (name, value) in [("provider", self.provider()), ("code", self.code())] {
            if let Some(value) = value {
                out.field(name, &value);
            }
        }
        if let Some(status) = self.status().or(self.http_status()) {
            out.field("status", &status);
        }
        for (name, value) in [
            ("message_bytes", self.message()),
            ("body_bytes", self.body()),
        ] {
            if let Some(value) = value {
                out.field(name, &value.len());
            }
        }
        if let Some(id) = self.request_id() {
            out.field("request_id", &id);
        }
        if let Some(wait) = self.retry_after() {
            out.field("retry_after", &wait);
        }
        out.field("sent", &inner.sent)
            .field("delivered", &inner.delivered);
        if let Some(stop) = inner.retry_stop {
            out.field("retry_stop", &stop);
        }
        out.field("attempts", &self.attempts());
        if let Some(last) = &inner.last {
            out.field("last_error", last);
        }
        if let Some(source) = &inner.source {
            out.field("source", source);
        }
        out.finish_non_exhaustive()
    }
}

/// The transport's cause, where there is one; never skyl's own text again.
impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| &**source as _)
    }
}

/// The class the engine knows a kind by.
pub(crate) fn class_of(kind: ErrorKind) -> FailureClass {
    match kind {
        ErrorKind::RateLimit => FailureClass::Throttled,
        ErrorKind::Server => FailureClass::Server,
        ErrorKind::Transport => FailureClass::ConnectionLost,
        ErrorKind::Timeout => FailureClass::Timeout,
        ErrorKind::Certificate => FailureClass::Certificate,
        ErrorKind::Truncated => FailureClass::Truncated,
        ErrorKind::Decode => FailureClass::Decode,
        ErrorKind::Unclassified => FailureClass::Unclassified,
        ErrorKind::Auth
        | ErrorKind::NotFound
        | ErrorKind::BadRequest
        | ErrorKind::Unsupported
        | ErrorKind::Refusal
        | ErrorKind::StreamClosed
        | ErrorKind::Cancelled
        | ErrorKind::Deadline
        | ErrorKind::QuotaExhausted
        | ErrorKind::ContextLength => FailureClass::Permanent,
    }
}

/// A text with its control characters escaped: an error stays one line in a log.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.0.split_inclusive(char::is_control) {
            match piece.chars().next_back().filter(|last| last.is_control()) {
                Some(last) => {
                    f.write_str(&piece[..piece.len() - last.len_utf8()])?;
                    write!(f, "{}", last.escape_default())?;
                }
                None => f.write_str(piece)?,
            }
        }
        Ok(())
    }
}
