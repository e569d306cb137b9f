//! The builder, and every check a policy must pass.

use std::time::Duration;

use crate::backoff;
use crate::duration::Human;
use crate::policy::{
    InvalidPolicy, Jitter, OverCap, RetryBudgetPolicy, RetryBy, RetryPolicy, Spread, ZeroHint,
};
use crate::statuses::StatusSet;

/// Collects figures and checks them once, at [`build`](Self::build).
///
/// A setter names its default and the preset it stands in. Where the figures of a preset come from
/// is said at the preset: [`RetryPolicy::chat`], [`RetryPolicy::system_one`],
/// [`RetryPolicy::fleet`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct RetryPolicyBuilder {
    policy: RetryPolicy,
}

impl RetryPolicyBuilder {
    pub(super) fn from_policy(policy: RetryPolicy) -> Self {
        Self { policy }
    }

    /// Sets the retries after the first attempt; 0 is off. Default: 3 (chat).
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.policy.max_retries = retries;
        self
    }

    /// Sets the first backoff ceiling; 0 retries at once. Default: 500 ms (chat).
    pub fn initial_delay(mut self, delay: Duration) -> Self {
        self.policy.initial_delay = delay;
        self
    }

    /// Sets the cap of every backoff; at least `initial_delay`. Default: 30 s (chat).
    ///
    /// It does not bound a server's wait; [`max_retry_after`](Self::max_retry_after) does.
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.policy.max_delay = delay;
        self
    }

    /// Sets how a backoff is drawn. Default: [`Jitter::Full`] (chat).
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.policy.jitter = jitter;
        self
    }

    /// Sets whether the server's wait replaces the backoff. Default: `true`.
    pub fn honor_retry_after(mut self, honor: bool) -> Self {
        self.policy.honor_retry_after = honor;
        self
    }

    /// Sets the cap of the server's wait; above zero. Default: 5 min.
    pub fn max_retry_after(mut self, cap: Duration) -> Self {
        self.policy.max_retry_after = cap;
        self
    }

    /// Sets what happens to a server's wait above its cap. Default: [`OverCap::Clamp`].
    pub fn over_cap(mut self, over_cap: OverCap) -> Self {
        self.policy.over_cap = over_cap;
        self
    }

    /// Sets what a server's wait of zero means. Default: [`ZeroHint::Backoff`] (chat).
    pub fn zero_hint(mut self, zero_hint: ZeroHint) -> Self {
        self.policy.zero_hint = zero_hint;
        self
    }

    /// Sets whether the server's own word is obeyed. Default: `true` (chat).
    pub fn honor_should_retry(mut self, honor: bool) -> Self {
        self.policy.honor_should_retry = honor;
        self
    }

    /// Sets the extra random wait on top of a server's; `None` is none. Default: none (chat).
    pub fn spread(mut self, spread: impl Into<Option<Spread>>) -> Self {
        self.policy.spread = spread.into();
        self
    }

    /// Sets the time budget of a call; 0 is unlimited. Default: unlimited (chat).
    ///
    /// Asked once before each wait: a wait that would pass it is not begun. An attempt in flight
    /// is never cut by it.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.policy.budget = budget;
        self
    }

    /// Sets what a failure is judged by. Default: [`RetryBy::Kind`] (chat).
    pub fn retry_by(mut self, retry_by: RetryBy) -> Self {
        self.policy.retry_by = retry_by;
        self
    }

    /// Sets the retried statuses, read with [`RetryBy::Status`]. Default: 408, 429, 500-599.
    pub fn retry_statuses(mut self, statuses: StatusSet) -> Self {
        self.policy.retry_statuses = statuses;
        self
    }

    /// Sets whether connection errors and answers cut short are retried. Default: `true`.
    pub fn retry_on_conn_err(mut self, retry: bool) -> Self {
        self.policy.retry_on_conn_err = retry;
        self
    }

    /// Sets whether attempts that timed out are retried. Default: `true`.
    pub fn retry_on_timeout(mut self, retry: bool) -> Self {
        self.policy.retry_on_timeout = retry;
        self
    }

    /// Sets whether provably unsent requests are retried despite their switch. Default: `false`.
    pub fn retry_unsent(mut self, retry: bool) -> Self {
        self.policy.retry_unsent = retry;
        self
    }

    /// Sets the figures of the retry budget; `None` is no budget. Default: none (chat).
    pub fn retry_budget(mut self, budget: impl Into<Option<RetryBudgetPolicy>>) -> Self {
        self.policy.retry_budget = budget.into();
        self
    }

    /// Checks every figure and freezes the policy.
    ///
    /// # Errors
    /// [`InvalidPolicy`] names the first figure that breaks its rule: `max_delay` below
    /// `initial_delay`, `max_retry_after` of zero, a fraction or rate that is NaN, infinite or out
    /// of its range.
    pub fn build(self) -> Result<RetryPolicy, InvalidPolicy> {
        let policy = self.policy;
        check_delays(policy.initial_delay, policy.max_delay)?;
        check_cap(policy.max_retry_after)?;
        if let Jitter::Shave(fraction) = policy.jitter {
            check_number("jitter", fraction)?;
        }
        if let Some(spread) = policy.spread {
            check_number("spread.of_hint", spread.of_hint)?;
            check_number("spread.growth", spread.growth)?;
        }
        if let Some(budget) = policy.retry_budget {
            budget.check()?;
        }
        Ok(policy)
    }
}

impl RetryBudgetPolicy {
    pub(crate) fn check(&self) -> Result<(), InvalidPolicy> {
        check_number("retry_budget.ratio", self.ratio)?;
        check_number("retry_budget.reserve_per_second", self.reserve_per_second)?;
        check_number("retry_budget.capacity", self.capacity)?;
        match self.initial {
            Some(initial) => in_range("retry_budget.initial", initial, 0.0, self.capacity),
            None => Ok(()),
        }
    }
}

/// Refuses a cap of backoffs below their floor.
pub(super) fn check_delays(initial: Duration, max: Duration) -> Result<(), InvalidPolicy> {
    if initial <= max {
        return Ok(());
    }
    let rule = format!("must not be below initial_delay ({})", Human(initial));
    Err(InvalidPolicy::new("max_delay", Human(max), rule))
}

/// Refuses a cap of nothing on a server's wait: whoever wants that ignores the server's wait.
pub(super) fn check_cap(max_retry_after: Duration) -> Result<(), InvalidPolicy> {
    if !max_retry_after.is_zero() {
        return Ok(());
    }
    Err(InvalidPolicy::new(
        "max_retry_after",
        Human(Duration::ZERO),
        "must not be zero",
    ))
}

/// Holds one fraction or rate to its range, as far as it does not hang on another figure.
pub(super) fn check_number(key: &'static str, value: f64) -> Result<(), InvalidPolicy> {
    let (min, max) = match key {
        "jitter" => (0.0, 1.0),
        "spread.growth" => (1.0, f64::MAX),
        "retry_budget.ratio" => (0.0, MAX_RATIO),
        "retry_budget.reserve_per_second" => (0.0, MAX_RESERVE),
        "retry_budget.capacity" => (1.0, MAX_CAPACITY),
        "retry_budget.initial" => (0.0, MAX_CAPACITY),
        _ => (0.0, f64::MAX),
    };
    in_range(key, value, min, max)
}

pub(super) fn wait_can_vary(policy: &RetryPolicy) -> Result<(), InvalidPolicy> {
    if policy.max_retries == 0 {
        return Ok(());
    }
    if policy.initial_delay.is_zero() {
        let rule = "must not be zero: every client would retry at once";
        return Err(InvalidPolicy::new(
            "initial_delay",
            Human(policy.initial_delay),
            rule,
        ));
    }
    // Asking the draw itself how much room it has also catches fractions too small to matter.
    if backoff::first_range(policy) > 0 {
        return Ok(());
    }
    Err(match policy.jitter {
        Jitter::Decorrelated => {
            let rule = "must be above initial_delay, or decorrelated waits cannot vary";
            InvalidPolicy::new("max_delay", Human(policy.max_delay), rule)
        }
        jitter => InvalidPolicy::new("jitter", jitter, "must let the wait vary"),
    })
}

pub(super) fn check_client_limits(policy: &RetryPolicy) -> Result<(), InvalidPolicy> {
    if policy.max_retries > MAX_CLIENT_RETRIES {
        return Err(InvalidPolicy::new(
            "max_retries",
            policy.max_retries,
            "must be at most 1000",
        ));
    }
    let lengths = [
        ("initial_delay", policy.initial_delay),
        ("max_delay", policy.max_delay),
        ("max_retry_after", policy.max_retry_after),
        ("budget", policy.budget),
        (
            "spread.max",
            policy.spread.map_or(Duration::ZERO, |s| s.max),
        ),
    ];
    for (key, length) in lengths {
        if length > MAX_CLIENT_DURATION {
            return Err(InvalidPolicy::new(key, Human(length), "must be at most 7d"));
        }
    }
    Ok(())
}

pub(super) fn refuse_422(policy: &RetryPolicy) -> Result<(), InvalidPolicy> {
    if policy.retry_statuses.contains(422) {
        let rule = "must not hold 422: the same content is rejected again";
        return Err(InvalidPolicy::new(
            "retry_statuses",
            policy.retry_statuses,
            rule,
        ));
    }
    Ok(())
}

fn in_range(key: &'static str, value: f64, min: f64, max: f64) -> Result<(), InvalidPolicy> {
    // `contains` is false for NaN, so NaN is refused with everything outside.
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let rule = if max < f64::MAX {
        format!("must be a number from {min} to {max}")
    } else {
        format!("must be a finite number from {min}")
    };
    Err(InvalidPolicy::new(key, value, rule))
}

// The limits of the retry budget keep its fixed-point word exact; see the `budget` module.
const MAX_RATIO: f64 = 1e3;
const MAX_RESERVE: f64 = 1e3;
const MAX_CAPACITY: f64 = 1e9;

/// More retries than this is a loop somebody forgot, not a policy.
const MAX_CLIENT_RETRIES: u32 = 1000;

/// Longer waits than this outlive deployments and credentials.
const MAX_CLIENT_DURATION: Duration = Duration::from_secs(7 * 24 * 60 * 60);
