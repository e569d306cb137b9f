//! What the types promise.

use std::future::ready;

use skyl_retry::{
    Attempt, Choice, Failure, FailureClass, InvalidPolicy, ManualClock, RetryBudget, RetryError,
    RetryPolicy, RetryPolicyBuilder, Rng, Seeds, SharedPause, Stopped, Stopper, ThreadClock,
    TokioClock, retry,
};

use crate::Outcome;

fn is_send_and_sync<T: Send + Sync>() {}

fn is_send<T: Send>(_: &T) {}

#[test]
fn shared_values_go_between_threads() {
    is_send_and_sync::<RetryPolicy>();
    is_send_and_sync::<RetryBudget>();
    is_send_and_sync::<SharedPause>();
    is_send_and_sync::<Seeds>();
    is_send_and_sync::<Rng>();
    is_send_and_sync::<ManualClock>();
    is_send_and_sync::<TokioClock>();
    is_send_and_sync::<ThreadClock>();
    is_send_and_sync::<Stopper>();
    is_send_and_sync::<RetryPolicyBuilder>();
    is_send_and_sync::<RetryError>();
    is_send_and_sync::<InvalidPolicy>();
    is_send_and_sync::<Stopped<std::io::Error>>();
}

#[test]
fn a_call_can_run_on_any_thread() {
    let (policy, clock) = (RetryPolicy::chat(), ManualClock::skipping());
    let call = retry(&policy, &clock)
        .cancel_on(ready(()))
        .should_retry(|_| Choice::Stop)
        .on_decision(|_: &Attempt, _: &Outcome, _| ())
        .run(
            |_| ready(Ok::<_, Outcome>(())),
            |_| Failure::new(FailureClass::Server),
        );
    is_send(&call);
}

#[test]
fn a_call_is_small() {
    let (policy, clock) = (RetryPolicy::chat(), ManualClock::skipping());
    let call = retry(&policy, &clock).run(
        |_| ready(Ok::<_, u8>(())),
        |_| Failure::new(FailureClass::Server),
    );
    // It lies inside every caller's future; a page-sized one would be copied at every level.
    assert!(size_of_val(&call) < 800, "{} bytes", size_of_val(&call));
}
