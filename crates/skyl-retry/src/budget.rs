//! The retry budget: a token bucket in one lock-free word.
//!
//! When everything fails, retries multiply the load on a provider that is already down. A budget
//! turns "three retries per call" into "one retry per ten successes": with few failures nobody
//! notices it, in an outage it holds the extra load near a tenth. It stops retries, never calls.
//!
//! A reserve keeps small clients alive, whose rare successes would never earn a token. It is a
//! rate, not a burst: an idle client does not save up a hundred retries for the next outage,
//! because the capacity bounds what can be saved.
//!
//! # The word
//!
//! Let `level` be the tokens in the bucket at time `t`. The word holds `v = level − reserve · t`, in
//! fixed point, which stands still while nothing happens. So the reserve accrues without anybody
//! touching the word, a deposit is one addition without a clock, and a withdrawal is one
//! compare-and-swap. The capacity is enforced when a token is withdrawn; between two withdrawals
//! the level only grows, so cutting it then is the same as cutting it all along.
//!
//! Memory ordering is relaxed throughout: the word guards no other memory, and each step is one
//! atomic operation on it. Loom models check that no token is spent twice and no deposit is lost.
//!
//! Time is the caller's, counted from any origin that all users of one bucket share. Each
//! withdrawal subtracts what the reserve had brought by then, so a reading that is late or early by
//! some seconds moves the reserve by that much at most, and never above the capacity.

#[cfg(loom)]
mod loom_models;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(loom)]
use loom::sync::atomic::{AtomicI64, Ordering::Relaxed};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use crate::policy::{InvalidPolicy, RetryBudgetPolicy, RetryPolicy};

/// A token bucket that pays for retries: successes deposit a fraction, retries withdraw one.
///
/// Share it by `Arc` between everything that burdens the same provider.
///
/// ```
/// use skyl_retry::{RetryBudget, RetryBudgetPolicy};
/// use std::time::Duration;
///
/// let budget = RetryBudget::new(&RetryBudgetPolicy {
///     ratio: 0.5,
///     reserve_per_second: 0.0,
///     capacity: 10.0,
///     initial: Some(0.0),
/// })?;
/// let now = Duration::ZERO;
/// assert!(!budget.withdraw(now));
/// budget.deposit();
/// budget.deposit();
/// assert!(budget.withdraw(now));
/// # Ok::<(), skyl_retry::InvalidPolicy>(())
/// ```
pub struct RetryBudget {
    // Invariant: level(t) = min(capacity, word + reserve(t)) is from 0 to the capacity, at every t
    // not before the last withdrawal's. Deposits that race may push the word itself above the
    // capacity by one ratio each, which the minimum hides.
    word: AtomicI64,
    // All in units of 2^-shift tokens.
    ratio: i64,
    capacity: i64,
    one: i64,
    reserve_per_second: i64,
}

impl RetryBudget {
    /// Makes a bucket with these figures.
    ///
    /// # Errors
    /// [`InvalidPolicy`] names the figure that is out of its range.
    pub fn new(policy: &RetryBudgetPolicy) -> Result<Self, InvalidPolicy> {
        policy.check()?;
        let one = scale_for(policy);
        let units = |tokens: f64| units(tokens, one);
        Ok(Self {
            word: AtomicI64::new(units(policy.initial.unwrap_or(policy.capacity))),
            ratio: units(policy.ratio),
            capacity: units(policy.capacity),
            one,
            reserve_per_second: units(policy.reserve_per_second),
        })
    }

    /// Makes the bucket a policy asks for, ready to be shared; `None` if it asks for none.
    #[must_use]
    pub fn for_policy(policy: &RetryPolicy) -> Option<Arc<Self>> {
        // A built policy has passed the same checks, so the error cannot arise.
        Self::new(&policy.retry_budget()?).ok().map(Arc::new)
    }

    /// Deposits the fraction of one successful call; reads no clock.
    ///
    /// One relaxed load while the bucket is full, one addition while it is not.
    pub fn deposit(&self) {
        // At or above the capacity already at time zero, it is so at every time: nothing to add.
        // This also keeps the word from creeping up to its end over years of successes.
        if self.word.load(Relaxed) < self.capacity {
            self.word.fetch_add(self.ratio, Relaxed);
        }
    }

    /// Takes one token; `false` leaves the bucket as it was.
    ///
    /// `now` is the time since the origin of the one clock that all users of this bucket share.
    #[must_use]
    pub fn withdraw(&self, now: Duration) -> bool {
        let reserve = self.reserve(now);
        self.word
            .fetch_update(Relaxed, Relaxed, |word| {
                let level = self.level(word, reserve);
                (level >= self.one).then(|| level - self.one - reserve)
            })
            .is_ok()
    }

    /// The tokens in the bucket, for logs and errors; the next moment it may be another number.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub fn balance(&self, now: Duration) -> f64 {
        let level = self.level(self.word.load(Relaxed), self.reserve(now));
        level.max(0) as f64 / self.one as f64
    }

    fn level(&self, word: i64, reserve: i64) -> i64 {
        word.saturating_add(reserve).min(self.capacity)
    }

    /// What the reserve has brought since the origin; at most 2⁶², by the choice of the scale.
    fn reserve(&self, now: Duration) -> i64 {
        let now = now.min(LONGEST);
        // Both products fit: the rate is at most 2³² units, the factors are below 2³⁰.
        let whole = now.as_secs().cast_signed() * self.reserve_per_second;
        let part = i64::from(now.subsec_nanos()) * self.reserve_per_second / 1_000_000_000;
        whole + part
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryBudget")
            .field("word", &self.word.load(Relaxed))
            .field("capacity", &self.capacity)
            .field("one", &self.one)
            .finish_non_exhaustive()
    }
}

/// Units per token: as fine as the range allows.
///
/// 2⁻³² token for ordinary figures; coarser for fast reserves and huge buckets, at worst 2⁻²², so
/// that ratios from 0.00002 up are exact to 1 %.
fn scale_for(policy: &RetryBudgetPolicy) -> i64 {
    let fits = |shift: &u32| {
        let one = f64::from(2_u32).powi(shift.cast_signed());
        policy.reserve_per_second * one <= MAX_RESERVE_UNITS
            && policy.capacity.max(policy.ratio) * one <= MAX_UNITS
    };
    // The limits on the figures let the coarsest scale fit always.
    1 << (22..=32).rev().find(fits).unwrap_or(22)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the scale was chosen so that the product fits; the cast saturates in any case"
)]
fn units(tokens: f64, one: i64) -> i64 {
    (tokens * one as f64).round() as i64
}

/// 34 years, after which the reserve stops; no clock here runs so long without a restart.
const LONGEST: Duration = Duration::from_secs((1 << 30) - 1);

/// 2³² units per second, for 2³⁰ seconds, is half of what the word holds.
const MAX_RESERVE_UNITS: f64 = 4_294_967_296.0;

/// A quarter of what the word holds, so that no sum of level and reserve overflows.
const MAX_UNITS: f64 = 2_305_843_009_213_693_952.0;
