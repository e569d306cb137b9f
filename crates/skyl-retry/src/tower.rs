//! A `tower` layer over the same driver, for any service whose requests can be cloned.
//!
//! The layer holds what its services share: policy, clock, retry budget, and the seeds of one
//! generator per call. A service clones the request for each attempt, so a request should be cheap
//! to clone: headers, and a body held by reference count. It is written on the two trait crates
//! alone, and refuses what those cannot give: it collects no bodies and knows no HTTP.
//!
//! What fails is the caller's reading: services disagree on whether a 503 is a response or an error.

mod error;
mod layer;
mod service;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::budget::RetryBudget;
use crate::decide::Verdict;
use crate::driver::Attempt;
use crate::failure::Failure;
use crate::policy::RetryPolicy;
use crate::rng::Seeds;

pub use self::error::RetryError;
pub use self::layer::RetryLayer;
pub use self::service::RetryService;

/// What every service of one layer shares.
#[derive(Clone)]
struct Shared<C, F> {
    policy: RetryPolicy,
    clock: C,
    classify: F,
    seeds: Arc<Seeds>,
    budget: Option<Arc<RetryBudget>>,
    total_timeout: Option<Duration>,
    attempt_timeout: Option<Duration>,
    observer: Option<Arc<Observer>>,
}

type Observer = dyn Fn(&Attempt, &Failure, &Verdict) + Send + Sync;

/// Without the closures, which have nothing to show.
impl<C: fmt::Debug, F> fmt::Debug for Shared<C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("policy", &self.policy)
            .field("clock", &self.clock)
            .field("budget", &self.budget)
            .field("total_timeout", &self.total_timeout)
            .field("attempt_timeout", &self.attempt_timeout)
            .finish_non_exhaustive()
    }
}
