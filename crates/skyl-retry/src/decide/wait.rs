//! How long to wait: the server's figure where there is one, else the own backoff.

use std::time::Duration;

use crate::backoff;
use crate::decide::{Facts, WaitSource};
use crate::failure::Hint;
use crate::nanos::{from_nanos, scale};
use crate::policy::{OverCap, RetryPolicy, Spread, ZeroHint};
use crate::rng::Rng;

/// Plans the wait; `Err` holds a server's wait above the cap of a policy that gives up there.
#[inline]
pub(super) fn plan(
    policy: &RetryPolicy,
    hint: Hint,
    facts: &Facts,
    rng: &mut Rng,
) -> Result<WaitSource, WaitSource> {
    let Some(asked) = honored(policy, hint) else {
        let drawn = backoff::draw(policy, facts.retry, facts.previous_backoff, rng);
        return Ok(WaitSource::Backoff {
            drawn: drawn.wait,
            ceiling: drawn.ceiling,
        });
    };
    let cap = policy.max_retry_after();
    if asked > cap && policy.over_cap() == OverCap::GiveUp {
        return Err(WaitSource::Hint {
            asked,
            obeyed: asked,
            spread: Duration::ZERO,
        });
    }
    let obeyed = asked.min(cap);
    // After clamping: a spread cut back to the cap would put the whole fleet on the cap.
    let spread = policy.spread().map_or(Duration::ZERO, |spread| {
        rng.up_to(widest(&spread, obeyed, facts.consecutive_hints))
    });
    Ok(WaitSource::Hint {
        asked,
        obeyed,
        spread,
    })
}

#[inline]
fn honored(policy: &RetryPolicy, hint: Hint) -> Option<Duration> {
    let asked = hint.wait().filter(|_| policy.honor_retry_after())?;
    (!asked.is_zero() || policy.zero_hint() == ZeroHint::Obey).then_some(asked)
}

/// The widest extra wait: `min(hint · of_hint · growthᵏ, max)`.
pub(crate) fn widest(spread: &Spread, hint: Duration, consecutive_hints: u32) -> Duration {
    let exponent = i32::try_from(consecutive_hints).unwrap_or(i32::MAX);
    let factor = spread.of_hint * spread.growth.powi(exponent);
    // 0 · ∞ is NaN, which scales to nothing, as a spread of no share should.
    from_nanos(scale(hint.as_nanos(), factor)).min(spread.max)
}
