//! The decision: one pure function over a policy and facts.
//!
//! [`decide`] reads no clock, sleeps nowhere and draws only from the generator it is given, so
//! that the driver, a simulator and the tests can all call it. The order of its checks is part of
//! its contract:
//!
//! 1. cancelled → [`StopReason::Cancelled`]
//! 2. content delivered → [`StopReason::ContentDelivered`]
//! 3. a rejected certificate → [`StopReason::NotRetryable`]
//! 4. the choice: the caller's where there is one, else the server's word, else the table →
//!    [`StopReason::NotRetryable`] or [`StopReason::ServerSaidNo`]
//! 5. retries left → [`StopReason::RetriesDisabled`] or [`StopReason::AttemptsExhausted`]
//! 6. the wait: the server's or the own backoff, plus spread → [`StopReason::HintOverCap`]
//! 7. the time budget → [`StopReason::TimeBudget`]
//! 8. the deadline → [`StopReason::Deadline`]
//! 9. the retry budget → [`StopReason::RetryBudget`]; last, so that a retry which would not be sent
//!    costs no token

mod choice;
mod verdict;
mod wait;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::failure::{Failure, FailureClass};
use crate::policy::RetryPolicy;
use crate::rng::Rng;

pub use self::choice::{Choice, choose};
pub use self::verdict::{Decision, StopReason, Verdict, WaitSource};
pub(crate) use self::wait::widest;

/// What a decision needs beside the failure.
///
/// Times are lengths, never instants: the core does not know which clock they came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The retry that would follow, counted from 0: the retries already made.
    pub retry: u32,
    /// Time since the call began.
    pub elapsed: Duration,
    /// Time left to the deadline; `None` without one.
    pub remaining: Option<Duration>,
    /// The last backoff drawn in this call; hinted waits do not count.
    pub previous_backoff: Option<Duration>,
    /// Retries in a row, up to now, whose wait came from the server.
    pub consecutive_hints: u32,
    /// The time one attempt is given; `None` if it is unbounded.
    pub attempt_timeout: Option<Duration>,
    /// Whether the call has been cancelled.
    pub cancelled: bool,
}

impl Facts {
    /// Facts before the retry of this index, all else empty.
    #[must_use]
    pub fn new(retry: u32) -> Self {
        Self {
            retry,
            ..Self::default()
        }
    }

    /// Sets the time since the call began. Default: zero.
    #[must_use]
    pub fn with_elapsed(mut self, elapsed: Duration) -> Self {
        self.elapsed = elapsed;
        self
    }

    /// Sets the time left to the deadline. Default: no deadline.
    #[must_use]
    pub fn with_remaining(mut self, remaining: impl Into<Option<Duration>>) -> Self {
        self.remaining = remaining.into();
        self
    }

    /// Sets the last backoff drawn in this call. Default: none yet.
    #[must_use]
    pub fn with_previous_backoff(mut self, backoff: impl Into<Option<Duration>>) -> Self {
        self.previous_backoff = backoff.into();
        self
    }

    /// Sets the number of hinted retries in a row. Default: 0.
    #[must_use]
    pub fn with_consecutive_hints(mut self, hints: u32) -> Self {
        self.consecutive_hints = hints;
        self
    }

    /// Sets the time one attempt is given. Default: unbounded.
    #[must_use]
    pub fn with_attempt_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.attempt_timeout = timeout.into();
        self
    }

    /// Sets whether the call has been cancelled. Default: `false`.
    #[must_use]
    pub fn with_cancelled(mut self, cancelled: bool) -> Self {
        self.cancelled = cancelled;
        self
    }

    /// The facts before the next retry, after the wait this verdict planned.
    ///
    /// Counts the retry, keeps the backoff it drew, and counts or forgets hinted retries in a row.
    /// Elapsed and remaining time are left for the caller to read anew.
    #[must_use]
    pub fn after(mut self, verdict: &Verdict) -> Self {
        self.retry = self.retry.saturating_add(1);
        self.previous_backoff = verdict.backoff().or(self.previous_backoff);
        self.consecutive_hints = if verdict.hinted() {
            self.consecutive_hints.saturating_add(1)
        } else {
            0
        };
        self
    }
}

/// Decides what follows a failed attempt; the module's front page gives the order of the checks.
///
/// `asked` is the answer of the caller's own `should_retry`, `None` if there is none: it replaces
/// the choice and nothing else. `withdraw` takes one token from the retry budget and says whether
/// there was one; it is called last and only for a retry that would be sent. Without a budget pass
/// `|| true`.
///
/// Never panics: every figure of the policy and of the facts is allowed, and sums saturate.
///
/// ```
/// use skyl_retry::{Decision, Facts, Failure, FailureClass, Hint, RetryPolicy, Rng, decide};
/// use std::time::Duration;
///
/// let policy = RetryPolicy::chat();
/// let failure = Failure::new(FailureClass::Throttled)
///     .with_status(429)
///     .with_hint(Hint::Wait(Duration::from_secs(1)));
/// let verdict = decide(&policy, &failure, &Facts::new(0), None, &mut Rng::from_seed(1), || true);
/// assert_eq!(verdict.decision, Decision::RetryAfter(Duration::from_secs(1)));
/// assert_eq!(verdict.to_string(), "server asked for 1s");
/// ```
#[inline]
pub fn decide(
    policy: &RetryPolicy,
    failure: &Failure,
    facts: &Facts,
    asked: Option<Choice>,
    rng: &mut Rng,
    withdraw: impl FnOnce() -> bool,
) -> Verdict {
    if let Some(reason) = veto(failure, facts) {
        return Verdict::stopped(reason);
    }
    if let Err(reason) = choice::made(policy, failure, asked) {
        return Verdict::stopped(reason);
    }
    if facts.retry >= policy.max_retries() {
        return Verdict::stopped(match policy.max_retries() {
            0 => StopReason::RetriesDisabled,
            _ => StopReason::AttemptsExhausted,
        });
    }
    let source = match wait::plan(policy, failure.hint, facts, rng) {
        Ok(source) => source,
        Err(over_cap) => return Verdict::stopped_before(StopReason::HintOverCap, over_cap),
    };
    let wait = source.total();
    // Equality is allowed: a wait that ends exactly with the budget may begin.
    if policy
        .budget()
        .is_some_and(|budget| facts.elapsed.saturating_add(wait) > budget)
    {
        return Verdict::stopped_before(StopReason::TimeBudget, source);
    }
    if !fits(facts, wait) {
        return Verdict::stopped_before(StopReason::Deadline, source);
    }
    if !withdraw() {
        return Verdict::stopped_before(StopReason::RetryBudget, source);
    }
    Verdict::retry(source)
}

/// What ends a call before anyone is asked whether to retry.
#[inline]
pub(crate) fn veto(failure: &Failure, facts: &Facts) -> Option<StopReason> {
    if facts.cancelled {
        Some(StopReason::Cancelled)
    } else if failure.delivered {
        Some(StopReason::ContentDelivered)
    } else if failure.class == FailureClass::Certificate {
        Some(StopReason::NotRetryable)
    } else {
        None
    }
}

/// The least time a retry must have left when it begins: `min(100 ms, attempt timeout / 10)`.
///
/// An attempt squeezed into less only burns a request; without an attempt timeout it is 100 ms.
#[must_use]
pub fn minimum_window(attempt_timeout: Option<Duration>) -> Duration {
    attempt_timeout.map_or(LEAST_WINDOW, |timeout| LEAST_WINDOW.min(timeout / 10))
}

/// Whether the deadline leaves room for the wait and a retry worth beginning.
#[inline]
fn fits(facts: &Facts, wait: Duration) -> bool {
    facts.remaining.is_none_or(|remaining| {
        remaining
            .checked_sub(wait)
            .is_some_and(|left| left >= minimum_window(facts.attempt_timeout))
    })
}

const LEAST_WINDOW: Duration = Duration::from_millis(100);
