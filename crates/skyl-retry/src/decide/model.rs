//! A reference model of the decision: the contract again, as plainly as it can be said.
//!
//! It shares no code with the engine beyond the types. The wait is random, so the model is given
//! the one that was drawn, says whether it is in the range the contract allows, and goes on.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::decide::{Choice, Facts};
use crate::failure::FailureClass::{self, *};
use crate::failure::{Failure, Hint, Sent};
use crate::policy::{Jitter, OverCap, RetryBy, RetryPolicy, ZeroHint};

/// What the contract says: the stop's word, or the range the wait must be in.
pub(super) fn expected(
    p: &RetryPolicy,
    f: &Failure,
    x: &Facts,
    asked: Option<Choice>,
    drawn: Duration,
    has_token: bool,
) -> Result<RangeInclusive<f64>, &'static str> {
    if x.cancelled {
        return Err("cancelled");
    }
    if f.delivered {
        return Err("content_delivered");
    }
    let word = if p.honor_should_retry() {
        f.server_word
    } else {
        None
    };
    match (asked, word) {
        _ if f.class == Certificate => return Err("not_retryable"),
        (Some(Choice::Stop), _) => return Err("not_retryable"),
        (None, Some(false)) => return Err("server_said_no"),
        (None, _) if !(table(p, f) || word == Some(true) && unreadable(f)) => {
            return Err("not_retryable");
        }
        _ => {}
    }
    if x.retry >= p.max_retries() {
        return Err(if p.max_retries() == 0 {
            "retries_disabled"
        } else {
            "attempts_exhausted"
        });
    }
    let range = wait(p, f.hint, x)?;
    if p.budget()
        .is_some_and(|budget| x.elapsed.as_secs_f64() + drawn.as_secs_f64() > budget.as_secs_f64())
    {
        return Err("time_budget");
    }
    let window = x
        .attempt_timeout
        .map_or(0.1, |timeout| (timeout.as_secs_f64() / 10.0).min(0.1));
    if x.remaining
        .is_some_and(|left| left.as_secs_f64() - drawn.as_secs_f64() < window)
    {
        return Err("deadline");
    }
    if has_token {
        Ok(range)
    } else {
        Err("retry_budget")
    }
}

fn unreadable(f: &Failure) -> bool {
    f.class == Decode || f.class == Unclassified && f.status.is_some()
}

fn table(p: &RetryPolicy, f: &Failure) -> bool {
    let unsent = p.retry_unsent() && f.sent == Sent::No;
    let by_kind = match f.class {
        Throttled | Server => true,
        Connect | ConnectionLost | Truncated => p.retry_on_conn_err() || unsent,
        Timeout => p.retry_on_timeout() || unsent,
        FailureClass::Permanent | Certificate | Decode | Unclassified => false,
    };
    match (p.retry_by(), f.status) {
        (RetryBy::Status, Some(status)) if status / 100 != 2 => p.retry_statuses().contains(status),
        _ => by_kind,
    }
}

fn wait(p: &RetryPolicy, hint: Hint, x: &Facts) -> Result<RangeInclusive<f64>, &'static str> {
    if let Hint::Wait(asked) = hint
        && p.honor_retry_after()
        && !(asked.is_zero() && p.zero_hint() == ZeroHint::Backoff)
    {
        if asked > p.max_retry_after() && p.over_cap() == OverCap::GiveUp {
            return Err("hint_over_cap");
        }
        let obeyed = asked.min(p.max_retry_after()).as_secs_f64();
        let extra = p.spread().map_or(0.0, |s| {
            (obeyed * s.of_hint * s.growth.powf(f64::from(x.consecutive_hints)))
                .min(s.max.as_secs_f64())
        });
        return Ok(obeyed..=obeyed + extra);
    }
    let (initial, max) = (p.initial_delay().as_secs_f64(), p.max_delay().as_secs_f64());
    let ceiling = (initial * 2_f64.powf(f64::from(x.retry))).min(max);
    Ok(match p.jitter() {
        Jitter::Full => 0.0..=ceiling,
        Jitter::Equal => ceiling / 2.0..=ceiling,
        Jitter::Shave(fraction) => ceiling * (1.0 - fraction)..=ceiling,
        Jitter::Decorrelated => {
            let previous = x
                .previous_backoff
                .map_or(initial, |previous| previous.as_secs_f64());
            initial..=(3.0 * previous.max(initial)).min(max)
        }
    })
}
