//! The error of a retried service.

use std::error::Error;
use std::fmt;

use crate::decide::StopReason;
use crate::driver::Stopped;

/// The end of a call that has no response to hand back.
///
/// Its text says how often and why it stopped; the last error of the service below is its
/// [`source`](Error::source). It is one type for all services, so that layers which box errors can
/// stand above and below.
#[derive(Debug)]
pub struct RetryError {
    stopped: Stopped<BoxError>,
}

impl RetryError {
    /// Why there was no further attempt.
    #[must_use]
    pub fn reason(&self) -> StopReason {
        self.stopped.reason
    }

    /// Attempts begun; 0 if the service was never ready or the timeout left no time.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.stopped.attempts
    }

    /// Whether an attempt was cut in flight by the total timeout.
    #[must_use]
    pub fn cut_in_flight(&self) -> bool {
        self.stopped.cut_in_flight
    }

    /// The error of the last attempt that came to an end; `None` if it ended with a response.
    #[must_use]
    pub fn last(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.stopped.last.as_deref()
    }

    /// The last error, to be downcast to the type of the service below.
    #[must_use]
    pub fn into_last(self) -> Option<Box<dyn Error + Send + Sync>> {
        self.stopped.last
    }

    pub(super) fn new<T>(stopped: &Stopped<T>, last: Option<BoxError>) -> Self {
        Self {
            stopped: Stopped {
                reason: stopped.reason,
                last,
                attempts: stopped.attempts,
                cut_in_flight: stopped.cut_in_flight,
            },
        }
    }

    /// The service below failed before it took a request.
    pub(super) fn unready(error: impl Into<BoxError>) -> Self {
        Self {
            stopped: Stopped {
                reason: StopReason::NotRetryable,
                last: Some(error.into()),
                attempts: 0,
                cut_in_flight: false,
            },
        }
    }
}

impl fmt::Display for RetryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stopped.fmt(f)
    }
}

impl Error for RetryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.last().map(|error| error as _)
    }
}

pub(super) type BoxError = Box<dyn Error + Send + Sync>;
