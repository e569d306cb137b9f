//! The layer: settings, and a service from each service.

use std::sync::Arc;
use std::time::Duration;

use tower_layer::Layer;

use crate::budget::RetryBudget;
use crate::decide::Verdict;
use crate::driver::Attempt;
use crate::failure::Failure;
use crate::policy::RetryPolicy;
use crate::rng::Seeds;
use crate::tower::{RetryService, Shared};

/// Retries the calls of a service.
///
/// `classify` is asked after each attempt, with the response or the error. `None` says that nothing
/// is left to be done: a response is a success, an error is handed back. `Some` gives the facts of a
/// failure, and the policy decides.
///
/// Clones share one retry budget and one source of seeds, and so do the services made from them.
///
#[cfg_attr(feature = "test-util", doc = "```")]
#[cfg_attr(not(feature = "test-util"), doc = "```text")]
/// use skyl_retry::{Failure, FailureClass, ManualClock, RetryLayer, RetryPolicy};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # async fn example() -> Result<(), skyl_retry::RetryError> {
/// // In a program: `TokioClock::new()`. This one never really waits.
/// let clock = ManualClock::skipping();
/// let classify = |outcome: Result<&u16, &std::io::Error>| match outcome {
///     Ok(503) => Some(Failure::new(FailureClass::Server).with_status(503)),
///     Ok(_) => None,
///     Err(_) => Some(Failure::new(FailureClass::ConnectionLost)),
/// };
/// let layer = RetryLayer::new(RetryPolicy::chat(), clock.clone(), classify);
///
/// let service = layer.layer(service_fn(async |status: u16| Ok(status)));
/// assert_eq!(service.oneshot(503).await?, 503, "the last response comes back");
/// assert_eq!(clock.sleeps().len(), 3);
/// # Ok(()) }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(example()).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use = "a layer does nothing until it is put on a service"]
pub struct RetryLayer<C, F> {
    shared: Shared<C, F>,
}

impl<C, F> RetryLayer<C, F> {
    /// A layer with this policy, and with the retry budget the policy asks for.
    ///
    /// `classify` is `Fn(Result<&Response, &Error>) -> Option<Failure>`; name the types in the
    /// closure.
    pub fn new(policy: RetryPolicy, clock: C, classify: F) -> Self {
        let budget = RetryBudget::for_policy(&policy);
        Self {
            shared: Shared {
                policy,
                clock,
                classify,
                seeds: Arc::new(Seeds::from_entropy()),
                budget,
                total_timeout: None,
                attempt_timeout: None,
                observer: None,
            },
        }
    }

    /// Sets the retry budget, to share one with others; `None` is no budget.
    ///
    /// Default: one of this layer's own if the policy has figures for it. Whoever shares one must
    /// share the clock, too.
    pub fn budget(mut self, budget: impl Into<Option<Arc<RetryBudget>>>) -> Self {
        self.shared.budget = budget.into();
        self
    }

    /// Sets where each call's generator comes from. Default: entropy.
    pub fn seeds(mut self, seeds: impl Into<Arc<Seeds>>) -> Self {
        self.shared.seeds = seeds.into();
        self
    }

    /// Sets how long a call may take with all its attempts and waits. Default: unbounded.
    ///
    /// The deadline is that long after the call: a wait that would pass it is not begun, and an
    /// attempt in flight is cut at it. Zero lets no attempt begin.
    pub fn total_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.shared.total_timeout = timeout.into();
        self
    }

    /// Tells how long one attempt may take. Default: unbounded.
    ///
    /// A fact for [`minimum_window`](crate::minimum_window) alone: put a timeout layer below this
    /// one to cut attempts.
    pub fn attempt_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.shared.attempt_timeout = timeout.into();
        self
    }

    /// Tells of every failed attempt and what follows, before the wait begins.
    pub fn on_decision<T>(mut self, tell: T) -> Self
    where
        T: Fn(&Attempt, &Failure, &Verdict) + Send + Sync + 'static,
    {
        self.shared.observer = Some(Arc::new(tell));
        self
    }
}

impl<S, C: Clone, F: Clone> Layer<S> for RetryLayer<C, F> {
    type Service = RetryService<S, C, F>;

    fn layer(&self, inner: S) -> Self::Service {
        RetryService::new(inner, Arc::new(self.shared.clone()))
    }
}
