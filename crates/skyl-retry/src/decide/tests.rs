mod choice_cases;
mod model_cases;
mod order_cases;
mod wait_cases;

use std::time::Duration;

use crate::decide::{Choice, Decision, Facts, StopReason, Verdict, WaitSource, choose, decide};
use crate::failure::{Failure, FailureClass, Hint, Sent};
use crate::policy::{Jitter, OverCap, RetryBy, RetryPolicy, RetryPolicyBuilder, Spread, ZeroHint};
use crate::rng::Rng;

const SECOND: Duration = Duration::from_secs(1);

fn server() -> Failure {
    Failure::new(FailureClass::Server).with_status(503)
}

fn asks(wait: Duration) -> Failure {
    Failure::new(FailureClass::Throttled)
        .with_status(429)
        .with_hint(Hint::Wait(wait))
}

fn built(builder: RetryPolicyBuilder) -> RetryPolicy {
    builder.build().unwrap()
}

fn judge(policy: &RetryPolicy, failure: &Failure, facts: &Facts) -> Verdict {
    decide(policy, failure, facts, None, &mut Rng::from_seed(1), || {
        true
    })
}

#[track_caller]
fn waits(policy: &RetryPolicy, failure: &Failure, facts: &Facts, wait: Duration) {
    assert_eq!(
        judge(policy, failure, facts).decision,
        Decision::RetryAfter(wait)
    );
}

#[track_caller]
fn stops(policy: &RetryPolicy, failure: &Failure, facts: &Facts, reason: StopReason) {
    assert_eq!(
        judge(policy, failure, facts).decision,
        Decision::Stop(reason)
    );
}
