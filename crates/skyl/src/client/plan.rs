//! The settings one call runs under: the client's, and over them the call's own.

use std::time::{Duration, Instant};

use skyl_retry::{Clock, RetryBudget, RetryPolicy};

use crate::client::Core;
use crate::client::options::{CallOptions, ShouldRetry, Timeouts};
use crate::client::settings::check_timeout;
use crate::error::Error;

/// What one call was told, checked. It borrows what is large: it is made for every call.
pub(crate) struct Plan<'c> {
    pub(crate) policy: &'c RetryPolicy,
    pub(crate) timeouts: Timeouts,
    /// The limit of one attempt of this operation.
    pub(crate) attempt_timeout: Duration,
    /// On the client's clock.
    pub(crate) deadline: Option<Duration>,
    pub(crate) should_retry: Option<&'c ShouldRetry>,
    pub(crate) budget: Option<&'c RetryBudget>,
    pub(crate) headers: &'c [(String, String)],
    pub(crate) idempotency_key: Option<&'c str>,
}

impl<'c> Plan<'c> {
    pub(crate) fn new(
        core: &'c Core,
        options: &'c CallOptions,
        attempt_timeout: impl FnOnce(Timeouts) -> Duration,
    ) -> Result<Self, Error> {
        let provider = &core.provider;
        for (name, timeout) in [
            ("attempt_timeout", options.timeouts.attempt),
            ("first_content_timeout", options.timeouts.first_content),
            ("idle_timeout", options.timeouts.idle),
            ("total_timeout", options.total_timeout),
        ] {
            check_timeout(timeout)
                .map_err(|why| Error::refused(provider, format!("{name}: {why}")))?;
        }
        let policy = match &options.policy {
            None => &core.policy,
            Some(policy) => {
                core.service
                    .check_policy(policy)
                    .map_err(|why| Error::invalid_policy(provider, &why))?;
                policy
            }
        };
        let timeouts = options.timeouts.or(core.timeouts);
        let should_retry = options.should_retry.as_ref().or(core.should_retry.as_ref());
        Ok(Self {
            attempt_timeout: attempt_timeout(timeouts),
            timeouts,
            deadline: deadline(core, options.deadline, options.total_timeout),
            budget: budget(core, policy),
            policy,
            should_retry: should_retry.map(|choose| &**choose),
            headers: &options.headers,
            idempotency_key: options.idempotency_key.as_deref(),
        })
    }
}

/// The end of the call on the client's clock; the clock is read only if there is one.
fn deadline(core: &Core, at: Option<Instant>, total: Option<Duration>) -> Option<Duration> {
    let until = at.map(|at| at.saturating_duration_since(instant()));
    let left = until
        .into_iter()
        .chain(total.or(core.total_timeout))
        .min()?;
    Some(core.clock.now().saturating_add(left))
}

/// The bucket this policy draws from. One that was given to the client serves every call; one that
/// only a call's own policy asks for is made on first use and kept.
fn budget<'c>(core: &'c Core, policy: &RetryPolicy) -> Option<&'c RetryBudget> {
    if core.retry_budget.get().is_none() {
        let made = RetryBudget::for_policy(policy)?;
        return Some(core.retry_budget.get_or_init(|| made));
    }
    core.retry_budget.get().map(|budget| &**budget)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a deadline is given as an Instant; this is where it becomes time left on the clock"
)]
fn instant() -> Instant {
    // Tokio's, so that a paused clock and its instants agree.
    tokio::time::Instant::now().into_std()
}
