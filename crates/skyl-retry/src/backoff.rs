//! The own backoff: a ceiling that grows, and a draw below it.
//!
//! The ceiling saturates, so it is monotone for every retry index; the draw comes last and stays
//! inside the cap, so no crowd gathers on the cap itself. Decorrelated jitter is the one exception
//! by its definition: it draws up to three times its last wait and is then cut to the cap.

use std::time::Duration;

use crate::nanos::{from_nanos, scale};
use crate::policy::{Jitter, RetryPolicy};
use crate::rng::Rng;

/// The longest backoff before this retry.
#[inline]
pub(crate) fn ceiling(policy: &RetryPolicy, retry: u32) -> Duration {
    match policy.jitter() {
        Jitter::Decorrelated => {
            // Past 3⁶⁰ every delay of a nanosecond or more has met every possible cap.
            let factor = 3_u128.saturating_pow(retry.saturating_add(1).min(60));
            let grown = policy.initial_delay().as_nanos().saturating_mul(factor);
            from_nanos(grown).min(policy.max_delay())
        }
        Jitter::Full | Jitter::Equal | Jitter::Shave(_) => {
            doubled(policy.initial_delay(), retry).min(policy.max_delay())
        }
    }
}

/// Draws the backoff before this retry; `previous` is the last one drawn in this call.
#[inline]
pub(crate) fn draw(
    policy: &RetryPolicy,
    retry: u32,
    previous: Option<Duration>,
    rng: &mut Rng,
) -> Drawn {
    if matches!(policy.jitter(), Jitter::Decorrelated) {
        let first = policy.initial_delay();
        // A previous wait below the first ceiling cannot come from this policy; it counts as that.
        let previous = previous.unwrap_or(first).max(first).as_nanos();
        let top = previous.saturating_mul(3);
        let wait = first.as_nanos() + rng.up_to_nanos(top - first.as_nanos());
        let cap = policy.max_delay();
        return Drawn {
            wait: from_nanos(wait).min(cap),
            ceiling: from_nanos(top).min(cap),
        };
    }
    let ceiling = ceiling(policy, retry);
    let top = ceiling.as_nanos();
    let wait = top - rng.up_to_nanos(room(policy.jitter(), top));
    Drawn {
        wait: from_nanos(wait),
        ceiling,
    }
}

/// A drawn backoff, and the most it could have been.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    pub(crate) wait: Duration,
    pub(crate) ceiling: Duration,
}

/// By how many nanoseconds the first backoff can vary.
pub(crate) fn first_range(policy: &RetryPolicy) -> u128 {
    let first = policy.initial_delay().as_nanos();
    match policy.jitter() {
        Jitter::Decorrelated => policy.max_delay().as_nanos().min(first.saturating_mul(3)) - first,
        jitter => room(jitter, first),
    }
}

/// How far below its ceiling a draw may fall, in nanoseconds.
#[inline]
fn room(jitter: Jitter, ceiling: u128) -> u128 {
    match jitter {
        Jitter::Full => ceiling,
        // Rounded up, so that the middle belongs to the range.
        Jitter::Equal => ceiling.div_ceil(2),
        // A float cannot hold every nanosecond of a long wait: the product may come out above it.
        Jitter::Shave(fraction) => scale(ceiling, fraction).min(ceiling),
        Jitter::Decorrelated => 0,
    }
}

/// `delay · 2ⁿ`, saturating.
#[inline]
fn doubled(delay: Duration, retry: u32) -> Duration {
    let nanos = delay.as_nanos();
    // Below 584 years one word holds the result; waits above are for those who test limits.
    if let Ok(nanos) = u64::try_from(nanos)
        && retry <= nanos.leading_zeros()
        && retry < u64::BITS
    {
        return Duration::from_nanos(nanos << retry);
    }
    // Past 2¹²⁷ the shift itself would overflow; any delay above zero has met every cap by then.
    let factor = 1_u128.checked_shl(retry).unwrap_or(u128::MAX);
    from_nanos(nanos.saturating_mul(factor))
}

#[cfg(test)]
mod tests;
