//! The one policy type: figures, their limits, and the presets.
//!
//! A [`RetryPolicy`] is a value: it holds figures and no state, compares by them, and is shared
//! freely. Setters never fail; [`RetryPolicyBuilder::build`] checks every figure once and names the
//! bad one, so that no later code meets a wrong value. It refuses what makes no sense for anyone
//! (a NaN fraction, a cap below its floor). What only some callers refuse is a check of its own:
//! [`RetryPolicy::wait_can_vary`], [`RetryPolicy::check_client_limits`] and
//! [`RetryPolicy::refuse_422`].

mod build;
#[cfg(feature = "serde")]
mod file;
mod invalid;
mod parts;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::backoff;
use crate::statuses::StatusSet;

pub use self::build::RetryPolicyBuilder;
pub use self::invalid::InvalidPolicy;
pub use self::parts::{Jitter, OverCap, RetryBudgetPolicy, RetryBy, Spread, ZeroHint};

/// Which failures are retried, how often, and after which wait.
///
/// ```
/// use skyl_retry::{Jitter, RetryPolicy};
/// use std::time::Duration;
///
/// let policy = RetryPolicy::chat()
///     .to_builder()
///     .max_retries(5)
///     .max_delay(Duration::from_secs(60))
///     .build()?;
/// assert_eq!(policy.jitter(), Jitter::Full);
/// assert_eq!(policy.ceiling(3), Duration::from_secs(4));
/// # Ok::<(), skyl_retry::InvalidPolicy>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five independent switches, each with its name"
)]
pub struct RetryPolicy {
    max_retries: u32,
    // Invariant: initial_delay <= max_delay.
    initial_delay: Duration,
    max_delay: Duration,
    // Invariant: a shaved fraction is in 0..=1.
    jitter: Jitter,
    honor_retry_after: bool,
    // Invariant: above zero.
    max_retry_after: Duration,
    over_cap: OverCap,
    zero_hint: ZeroHint,
    honor_should_retry: bool,
    spread: Option<Spread>,
    // Zero is unlimited, as in files and flags.
    budget: Duration,
    retry_by: RetryBy,
    retry_statuses: StatusSet,
    retry_on_conn_err: bool,
    retry_on_timeout: bool,
    retry_unsent: bool,
    retry_budget: Option<RetryBudgetPolicy>,
}

/// Presets and checks.
impl RetryPolicy {
    /// The chat client's policy: three retries, full jitter, failures told apart by kind.
    ///
    /// Backoff from 500 ms to 30 s, the server's wait up to 5 min, no time budget.
    ///
    /// The figures are those of skyl's retry page ("Retries and Backoff"). Full jitter is the kind
    /// that the AWS study of 2015 found to cost a server the least work.
    #[must_use]
    pub fn chat() -> Self {
        Self {
            max_retries: 3,
            initial_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            jitter: Jitter::Full,
            honor_retry_after: true,
            max_retry_after: Duration::from_secs(300),
            over_cap: OverCap::Clamp,
            zero_hint: ZeroHint::Backoff,
            honor_should_retry: true,
            spread: None,
            budget: Duration::ZERO,
            retry_by: RetryBy::Kind,
            retry_statuses: StatusSet::transient(),
            retry_on_conn_err: true,
            retry_on_timeout: true,
            retry_unsent: false,
            retry_budget: None,
        }
    }

    /// System One's policy: two retries, waits shaved by up to a quarter, 30 s budget.
    ///
    /// Backoff from 500 ms to 5 s, failures told apart by status, a wait of zero obeyed, the
    /// server's own word not read.
    ///
    /// The figures are those of the page "Retries and Budgets" of that API's clients.
    #[must_use]
    pub fn system_one() -> Self {
        Self {
            max_retries: 2,
            max_delay: Duration::from_secs(5),
            jitter: Jitter::Shave(0.25),
            zero_hint: ZeroHint::Obey,
            honor_should_retry: false,
            budget: Duration::from_secs(30),
            retry_by: RetryBy::Status,
            ..Self::chat()
        }
    }

    /// The chat policy for large fleets: with a retry budget and spread hints.
    ///
    /// The budget pays one retry per ten successes, plus one per ten seconds, up to ten saved. A
    /// server's wait of `h` becomes a wait between `h` and `h + min(h, 30 s)`.
    ///
    /// One retry per ten calls is the share that Google's book on site reliability gives for
    /// overload; the reserve, the capacity and the spread are skyl's own choice.
    #[must_use]
    pub fn fleet() -> Self {
        Self {
            spread: Some(Spread {
                of_hint: 1.0,
                growth: 1.0,
                max: Duration::from_secs(30),
            }),
            retry_budget: Some(RetryBudgetPolicy {
                ratio: 0.1,
                reserve_per_second: 0.1,
                capacity: 10.0,
                initial: None,
            }),
            ..Self::chat()
        }
    }

    /// Starts a builder from [`RetryPolicy::chat`].
    pub fn builder() -> RetryPolicyBuilder {
        Self::chat().to_builder()
    }

    /// Starts a builder from this policy.
    pub fn to_builder(&self) -> RetryPolicyBuilder {
        RetryPolicyBuilder::from_policy(self.clone())
    }

    /// The longest backoff before the retry of this index, counted from 0.
    ///
    /// `min(initial_delay · 2ⁿ, max_delay)`; for decorrelated jitter, which grows from its own
    /// draws, `min(initial_delay · 3ⁿ⁺¹, max_delay)`. Never falls as `n` grows, for every `u32`.
    /// A server's wait is not a backoff and is bounded by [`max_retry_after`](Self::max_retry_after).
    #[must_use]
    pub fn ceiling(&self, retry: u32) -> Duration {
        backoff::ceiling(self, retry)
    }

    /// Refuses a policy whose waits cannot vary: a fleet on a fixed schedule attacks its provider.
    ///
    /// The chat client asks this of every policy. With retries off there is no wait, and any
    /// policy passes.
    ///
    /// # Errors
    /// [`InvalidPolicy`] names `initial_delay` if it is zero, `jitter` if it shaves less than a
    /// nanosecond, `max_delay` if it leaves decorrelated jitter no room above `initial_delay`.
    pub fn wait_can_vary(&self) -> Result<(), InvalidPolicy> {
        build::wait_can_vary(self)
    }

    /// Refuses what a client will not take: over 1,000 retries, or durations over 7 days.
    ///
    /// # Errors
    /// [`InvalidPolicy`] names the first field above its limit.
    pub fn check_client_limits(&self) -> Result<(), InvalidPolicy> {
        build::check_client_limits(self)
    }

    /// Refuses 422 among the retried statuses, for clients whose server rejects content with it.
    ///
    /// # Errors
    /// [`InvalidPolicy`] names `retry_statuses` if it holds 422.
    pub fn refuse_422(&self) -> Result<(), InvalidPolicy> {
        build::refuse_422(self)
    }
}

/// The figures.
impl RetryPolicy {
    /// Retries after the first attempt; 0 is off.
    #[must_use]
    #[inline]
    pub fn max_retries(&self) -> u32 {
        self.max_retries
    }

    /// The first backoff ceiling; 0 retries at once.
    #[must_use]
    #[inline]
    pub fn initial_delay(&self) -> Duration {
        self.initial_delay
    }

    /// The cap of every backoff.
    #[must_use]
    #[inline]
    pub fn max_delay(&self) -> Duration {
        self.max_delay
    }

    /// How the backoff is drawn below its ceiling.
    #[must_use]
    #[inline]
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// Whether the server's wait replaces the backoff.
    #[must_use]
    #[inline]
    pub fn honor_retry_after(&self) -> bool {
        self.honor_retry_after
    }

    /// The cap of the server's wait; never zero.
    #[must_use]
    #[inline]
    pub fn max_retry_after(&self) -> Duration {
        self.max_retry_after
    }

    /// What happens to a server's wait above its cap.
    #[must_use]
    #[inline]
    pub fn over_cap(&self) -> OverCap {
        self.over_cap
    }

    /// What a server's wait of zero means.
    #[must_use]
    #[inline]
    pub fn zero_hint(&self) -> ZeroHint {
        self.zero_hint
    }

    /// Whether the server's own word (`x-should-retry`) is obeyed.
    #[must_use]
    #[inline]
    pub fn honor_should_retry(&self) -> bool {
        self.honor_should_retry
    }

    /// The extra random wait on top of a server's; `None` is exactly what the server said.
    #[must_use]
    #[inline]
    pub fn spread(&self) -> Option<Spread> {
        self.spread
    }

    /// The time budget of a call; `None` is unlimited.
    #[must_use]
    #[inline]
    pub fn budget(&self) -> Option<Duration> {
        (!self.budget.is_zero()).then_some(self.budget)
    }

    /// Whether failures are told apart by kind or by status.
    #[must_use]
    #[inline]
    pub fn retry_by(&self) -> RetryBy {
        self.retry_by
    }

    /// The retried statuses; read with [`RetryBy::Status`] alone.
    #[must_use]
    #[inline]
    pub fn retry_statuses(&self) -> StatusSet {
        self.retry_statuses
    }

    /// Whether connection errors are retried.
    #[must_use]
    #[inline]
    pub fn retry_on_conn_err(&self) -> bool {
        self.retry_on_conn_err
    }

    /// Whether attempts that timed out are retried.
    #[must_use]
    #[inline]
    pub fn retry_on_timeout(&self) -> bool {
        self.retry_on_timeout
    }

    /// Whether provably unsent requests are retried although their switch is off.
    #[must_use]
    #[inline]
    pub fn retry_unsent(&self) -> bool {
        self.retry_unsent
    }

    /// The figures of the retry budget; `None` is no budget.
    #[must_use]
    #[inline]
    pub fn retry_budget(&self) -> Option<RetryBudgetPolicy> {
        self.retry_budget
    }
}

/// [`RetryPolicy::chat`].
impl Default for RetryPolicy {
    fn default() -> Self {
        Self::chat()
    }
}
