//! What hooks are told: one event per attempt, and one at the end of every stream.
//!
//! Hooks exist to count and to log, so they get facts, never the prompt or the answer. They run on
//! the task that makes the call, before its wait: a slow hook slows the call. A hook that panics
//! loses nothing but itself.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use skyl_retry::{StopReason as RetryStop, Verdict};

use crate::error::Error;
use crate::kind::ErrorKind;
use crate::response::{StopReason, Usage};

/// One attempt that has ended, or one stream.
///
/// Every attempt fires exactly one, retried ones included, before the wait that follows it. A
/// started stream fires one more, [`Operation::StreamEnd`], when it is over. Refusals before any
/// network fire none.
#[derive(Clone, Copy, Debug)]
pub struct HookEvent<'a> {
    pub(crate) call: CallId,
    pub(crate) operation: Operation,
    pub(crate) provider: &'a str,
    pub(crate) model: Option<&'a str>,
    pub(crate) served_model: Option<&'a str>,
    pub(crate) attempt: u32,
    pub(crate) duration: Duration,
    pub(crate) pause: Duration,
    pub(crate) error: Option<&'a Error>,
    pub(crate) status: Option<u16>,
    pub(crate) request_id: Option<&'a str>,
    pub(crate) usage: Option<Usage>,
    pub(crate) stop_reason: Option<&'a StopReason>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) retry_stop: Option<RetryStop>,
    pub(crate) first_content: Option<Duration>,
    pub(crate) completed: bool,
}

impl<'a> HookEvent<'a> {
    /// The call this belongs to: the same for all its attempts and for the end of its stream.
    #[must_use]
    pub fn call_id(&self) -> CallId {
        self.call
    }

    /// What was asked of the client.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The provider's name.
    #[must_use]
    pub fn provider(&self) -> &'a str {
        self.provider
    }

    /// The model that was asked for; `None` when listing models.
    #[must_use]
    pub fn model(&self) -> Option<&'a str> {
        self.model
    }

    /// The model that served, once the provider has named it.
    #[must_use]
    pub fn served_model(&self) -> Option<&'a str> {
        self.served_model
    }

    /// The attempt's number, from 0: above 0 is exactly "this was a retry".
    ///
    /// At the end of a stream, the attempt that started it.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How long the attempt took; a stream's end counts from the start of its attempt.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// The shared pause waited out before the attempt; zero without one.
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// The failure of this attempt or stream, by itself; `None` if it succeeded.
    ///
    /// What belongs to the whole call (`attempts`, `retry_stop`, `elapsed`, the words "giving up")
    /// is only on the error the call returns.
    #[must_use]
    pub fn error(&self) -> Option<&'a Error> {
        self.error
    }

    /// The kind of the failure; `None` if it succeeded.
    #[must_use]
    pub fn kind(&self) -> Option<ErrorKind> {
        self.error.map(Error::kind)
    }

    /// The HTTP status; `None` if no answer came.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// The provider's id of the request.
    #[must_use]
    pub fn request_id(&self) -> Option<&'a str> {
        self.request_id
    }

    /// What the attempt cost, as far as the provider said.
    ///
    /// Of a stream it is known at its end.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Why the model stopped.
    #[must_use]
    pub fn stop_reason(&self) -> Option<&'a StopReason> {
        self.stop_reason
    }

    /// The wait that is about to begin; `None` if nothing follows.
    #[must_use]
    pub fn planned_wait(&self) -> Option<Duration> {
        self.verdict.and_then(|verdict| verdict.retry_after())
    }

    /// Whether another attempt follows the planned wait.
    #[must_use]
    pub fn will_retry(&self) -> bool {
        self.planned_wait().is_some()
    }

    /// Why no further attempt is made; `None` after a success and before a retry.
    #[must_use]
    pub fn retry_stop(&self) -> Option<RetryStop> {
        self.retry_stop
    }

    /// The engine's decision.
    ///
    /// Its text explains the wait in one line, such as `server asked for 1s`. `None` after a success,
    /// for attempts cut in flight, and at the end of streams.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    /// From the start of the attempt to its first content; streams alone.
    #[must_use]
    pub fn time_to_first_content(&self) -> Option<Duration> {
        self.first_content
    }

    /// Whether a stream was read to its whole end; false for every other operation.
    #[must_use]
    pub fn completed(&self) -> bool {
        self.completed
    }
}

/// What was asked of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// One whole answer.
    Complete,
    /// The start of a stream.
    Stream,
    /// The end of a stream.
    StreamEnd,
    /// One page of models.
    Models,
    /// Questions to System One.
    SystemOne,
    /// The models of System One.
    ListModels,
}

impl Operation {
    /// The operation in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stream => "stream",
            Self::StreamEnd => "stream_end",
            Self::Models => "models",
            Self::SystemOne => "system_one",
            Self::ListModels => "list_models",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The id of one call, unique among all calls of all clients.
///
/// Sixty-four random bits of the client, and the number of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallId {
    pub(crate) client: u64,
    pub(crate) number: u64,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.client, self.number)
    }
}

/// The hooks of one client, in the order they were added.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Vec<Arc<Hook>>);

type Hook = dyn Fn(&HookEvent<'_>) + Send + Sync;

impl Hooks {
    pub(crate) fn push(&mut self, hook: impl Fn(&HookEvent<'_>) + Send + Sync + 'static) {
        self.0.push(Arc::new(hook));
    }

    /// Tells every hook; a panic in one is logged and harms nobody else.
    pub(crate) fn fire(&self, event: &HookEvent<'_>) {
        for hook in &self.0 {
            // A hook that breaks its own state by panicking breaks nothing of ours: the event is
            // borrowed immutably.
            if catch_unwind(AssertUnwindSafe(|| hook(event))).is_err() {
                tracing::error!(
                    call = %event.call,
                    operation = event.operation.as_str(),
                    "a hook panicked; the call goes on"
                );
            }
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hooks", self.0.len())
    }
}
