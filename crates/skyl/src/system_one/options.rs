//! What one call may set for itself.

use std::fmt;
use std::future::Future;
use std::time::{Duration, Instant};

use skyl_retry::{Choice, Failure, RetryPolicy};

use crate::client::CallOptions as Common;

/// Settings of one call; what is not set is the client's.
///
/// ```
/// use std::time::Duration;
/// use skyl::system_one::{CallOptions, RetryPolicy};
///
/// // Sent once, and given up after a second and a half.
/// let once = RetryPolicy::system_one().to_builder().max_retries(0).build()?;
/// let options = CallOptions::new()
///     .model("jev-1.13.0")
///     .policy(once)
///     .attempt_timeout(Duration::from_millis(1500));
/// # let _ = options;
/// # Ok::<(), skyl::InvalidPolicy>(())
/// ```
#[derive(Default)]
#[must_use = "options do nothing until they are passed to a call"]
pub struct CallOptions {
    pub(super) model: Option<String>,
    pub(super) common: Common,
}

impl CallOptions {
    /// No settings: everything as the client has it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks this model, whatever the client or the request names. Blank is as if not called.
    pub fn model(mut self, model: impl AsRef<str>) -> Self {
        self.model = super::builder::given(model.as_ref()).or(self.model);
        self
    }

    /// Replaces the client's retry policy for this call.
    ///
    /// Refused as at [`ClientBuilder::build`](super::ClientBuilder::build): 422 among its statuses,
    /// or a figure above its limit. A retry budget in it takes from the client's bucket.
    pub fn policy(mut self, policy: RetryPolicy) -> Self {
        self.common = self.common.policy(policy);
        self
    }

    /// Ends the whole call at this instant, the attempt in flight included.
    ///
    /// Unlike the policy's budget, which only keeps retries from starting. A wait that would pass it
    /// is not begun; an attempt in flight is cut, which is an error of kind
    /// [`Deadline`](crate::ErrorKind::Deadline) whose [`last_error`](crate::Error::last_error) is
    /// the last real failure. An instant in the past sends nothing. The earliest of all limits
    /// holds.
    pub fn deadline(mut self, at: Instant) -> Self {
        self.common = self.common.deadline(at);
        self
    }

    /// Ends the whole call after this time: a relative [`deadline`](Self::deadline).
    ///
    /// Above 0, at most 7 days. Default: the client's, which is none.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.common = self.common.total_timeout(timeout);
        self
    }

    /// Limits each attempt, its body included. Above 0, at most 7 days. Default: the client's.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.common = self.common.attempt_timeout(timeout);
        self
    }

    /// Cancels the call when this future completes, whatever it gives.
    ///
    /// In mid-wait and in mid-attempt: nothing more is sent, and the error of kind
    /// [`Cancelled`](crate::ErrorKind::Cancelled) keeps the last real failure. Whoever holds the
    /// call's own future can simply drop it.
    pub fn cancel_on<F>(mut self, cancelled: F) -> Self
    where
        F: Future + Send + 'static,
    {
        self.common = self.common.cancel_on(cancelled);
        self
    }

    /// Adds a header to every attempt.
    ///
    /// Replaces what the client would send under that name, except the credential and the headers
    /// that frame the body: naming one of those is an error of kind
    /// [`BadRequest`](crate::ErrorKind::BadRequest), and nothing is sent. The count of retries is
    /// the client's own: a value given here is left out, with a warning.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.common = self.common.header(name, value);
        self
    }

    /// Asks this closure, instead of the table of statuses and switches, whether to retry.
    ///
    /// It replaces the choice and nothing else: attempts, budgets and the deadline still hold, and
    /// cancellation and rejected certificates are not put to it.
    pub fn should_retry<F>(mut self, choose: F) -> Self
    where
        F: Fn(&Failure) -> Choice + Send + Sync + 'static,
    {
        self.common = self.common.should_retry(choose);
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("model", &self.model)
            .field("common", &self.common)
            .finish()
    }
}
