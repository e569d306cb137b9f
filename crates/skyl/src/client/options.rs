//! What one call may set for itself.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use skyl_retry::{Choice, Failure, RetryPolicy};

/// Settings of one call; what is not set is the client's.
///
/// ```
/// use std::time::Duration;
/// use skyl::CallOptions;
///
/// let options = CallOptions::new()
///     .total_timeout(Duration::from_secs(20))
///     .header("x-team", "search");
/// # let _ = options;
/// ```
#[derive(Default)]
#[must_use = "options do nothing until they are passed to a call"]
pub struct CallOptions {
    // Boxed: large, seldom set, and moved with every call.
    pub(crate) policy: Option<Box<RetryPolicy>>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) total_timeout: Option<Duration>,
    pub(crate) timeouts: Timeouts,
    pub(crate) cancel: Cancel,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) should_retry: Option<Arc<ShouldRetry>>,
    pub(crate) idempotency_key: Option<String>,
}

impl CallOptions {
    /// No settings: everything as the client has it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the client's retry policy for this call.
    ///
    /// Refused as at [`ClientBuilder::build`](crate::ClientBuilder::build) if its waits cannot vary
    /// or a figure is above its limit. A retry budget in it takes from the client's bucket.
    pub fn policy(mut self, policy: RetryPolicy) -> Self {
        self.policy = Some(Box::new(policy));
        self
    }

    /// Ends the whole call at this instant, waits and the rest of a stream included.
    ///
    /// A wait that would pass it is not begun; an attempt in flight is cut, which is an error of
    /// kind [`Deadline`](crate::ErrorKind::Deadline). An instant in the past sends nothing. The
    /// earliest of all limits holds.
    pub fn deadline(mut self, at: Instant) -> Self {
        self.deadline = Some(at);
        self
    }

    /// Ends the whole call after this time: a relative [`deadline`](Self::deadline).
    ///
    /// Above 0, at most 7 days. Default: the client's, which is none.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// Limits each attempt, its body included; see [`ClientBuilder::attempt_timeout`].
    ///
    /// [`ClientBuilder::attempt_timeout`]: crate::ClientBuilder::attempt_timeout
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.attempt = Some(timeout);
        self
    }

    /// Limits the time to a stream's first content; see [`ClientBuilder::first_content_timeout`].
    ///
    /// [`ClientBuilder::first_content_timeout`]: crate::ClientBuilder::first_content_timeout
    pub fn first_content_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.first_content = Some(timeout);
        self
    }

    /// Limits a stream's silence after its first content; see [`ClientBuilder::idle_timeout`].
    ///
    /// [`ClientBuilder::idle_timeout`]: crate::ClientBuilder::idle_timeout
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.idle = Some(timeout);
        self
    }

    /// Cancels the call when this future completes, whatever it gives.
    ///
    /// In mid-wait, in mid-attempt and in mid-stream: nothing more is sent, and the error of kind
    /// [`Cancelled`](crate::ErrorKind::Cancelled) keeps the last real failure. Fits a token
    /// (`token.cancelled_owned()`), a signal, a channel's receiver. Whoever holds the call's own
    /// future can simply drop it.
    pub fn cancel_on<F>(mut self, cancelled: F) -> Self
    where
        F: Future + Send + 'static,
    {
        self.cancel.0 = Some(Box::pin(async move {
            // What it gives does not matter; that it ended does.
            drop(cancelled.await);
        }));
        self
    }

    /// Adds a header to every attempt.
    ///
    /// Replaces what skyl would send under that name, except the credential and the headers that
    /// frame the body: naming one of those is an error of kind
    /// [`BadRequest`](crate::ErrorKind::BadRequest), and nothing is sent. A secret in a header is not
    /// scrubbed from what a server echoes; the dialect's key is.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Asks this closure, instead of the server's word and the table, whether to retry.
    ///
    /// It replaces the choice and nothing else: attempts, budgets and the deadline still hold, and
    /// delivered content, cancellation and rejected certificates are not put to it.
    pub fn should_retry<F>(mut self, choose: F) -> Self
    where
        F: Fn(&Failure) -> Choice + Send + Sync + 'static,
    {
        self.should_retry = Some(Arc::new(choose));
        self
    }

    /// Sets the idempotency key of this call; the same for all its attempts.
    ///
    /// Default: a random one. Sent only if the client names a header for it; see
    /// [`ClientBuilder::idempotency_key_header`](crate::ClientBuilder::idempotency_key_header).
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }
}

// Header values may be secrets, so names alone are shown.
impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("policy", &self.policy)
            .field("deadline", &self.deadline)
            .field("total_timeout", &self.total_timeout)
            .field("timeouts", &self.timeouts)
            .field(
                "headers",
                &self
                    .headers
                    .iter()
                    .map(|(name, _)| name)
                    .collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}

/// The limits of one attempt, as far as they are set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timeouts {
    pub(crate) attempt: Option<Duration>,
    pub(crate) first_content: Option<Duration>,
    pub(crate) idle: Option<Duration>,
}

impl Timeouts {
    /// These, and where they say nothing the others.
    pub(crate) fn or(self, others: Self) -> Self {
        Self {
            attempt: self.attempt.or(others.attempt),
            // An attempt timeout given here is nearer than a first-content timeout given there.
            first_content: self.first_content.or(self.attempt).or(others.first_content),
            idle: self.idle.or(others.idle),
        }
    }

    pub(crate) fn attempt(self) -> Duration {
        self.attempt.unwrap_or(ATTEMPT_TIMEOUT)
    }

    pub(crate) fn first_content(self) -> Duration {
        self.first_content
            .or(self.attempt)
            .unwrap_or(ATTEMPT_TIMEOUT)
    }

    pub(crate) fn idle(self) -> Duration {
        self.idle.unwrap_or(IDLE_TIMEOUT)
    }
}

pub(crate) type ShouldRetry = dyn Fn(&Failure) -> Choice + Send + Sync;

/// The caller's cancellation: pending for ever without one, ready for ever once it has come.
#[derive(Default)]
pub(crate) struct Cancel(Option<Pin<Box<dyn Future<Output = ()> + Send>>>, bool);

impl Cancel {
    /// Whether this can ever end a call.
    pub(crate) fn is_possible(&self) -> bool {
        self.0.is_some() || self.1
    }
}

impl Future for Cancel {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(cancelled) = &mut self.0
            && cancelled.as_mut().poll(cx).is_ready()
        {
            self.0 = None;
            self.1 = true;
        }
        if self.1 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// The official SDKs' limit for an attempt (OpenAI and Anthropic, autumn 2026).
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Twice the longest silence the public bug reports call healthy for a model that thinks.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5 * 60);
