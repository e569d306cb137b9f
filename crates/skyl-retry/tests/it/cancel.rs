//! Cancellation: by a token, and by dropping the call.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use skyl_retry::{Clock, ManualClock, RetryPolicy, StopReason, retry};

use crate::{Outcome, SECOND, Script, classify};

/// Completes once the flag is up; asked at every poll.
fn raised(flag: &Cell<bool>) -> impl Future<Output = ()> + '_ {
    poll_fn(move |_| {
        if flag.get() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
}

fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn cancelling_in_a_wait_ends_it_at_once_and_keeps_the_failure() {
    let clock = ManualClock::new();
    let script = Script::new(&clock, &[Outcome::Asks(429, 30)]);
    let policy = RetryPolicy::chat();
    let cancelled = Cell::new(false);
    let mut call = pin!(
        retry(&policy, &clock)
            .cancel_on(raised(&cancelled))
            .run(async |_| script.attempt(), classify)
    );
    assert!(poll_once(call.as_mut()).is_pending());
    assert_eq!(clock.sleeps(), [30 * SECOND]);

    cancelled.set(true);
    let Poll::Ready(Err(stopped)) = poll_once(call.as_mut()) else {
        panic!("still waiting");
    };
    assert_eq!(stopped.reason, StopReason::Cancelled);
    assert_eq!(stopped.last, Some(Outcome::Asks(429, 30)));
    assert_eq!(stopped.attempts, 1);
    assert!(!stopped.cut_in_flight);
    assert_eq!(
        clock.now(),
        std::time::Duration::ZERO,
        "the clock has not moved"
    );
    assert_eq!(script.called_at().len(), 1, "nothing more was sent");
}

#[tokio::test]
async fn a_token_wakes_a_sleeping_call() {
    let clock = ManualClock::new();
    let policy = RetryPolicy::chat();
    let (cancel, cancelled) = tokio::sync::oneshot::channel::<()>();
    let call = retry(&policy, &clock)
        .cancel_on(cancelled)
        .run(async |_| Err::<(), _>(Outcome::Asks(429, 30)), classify);
    let (stopped, ()) = tokio::join!(call, async {
        assert_eq!(clock.until_sleeping().await, 30 * SECOND);
        cancel.send(()).unwrap();
    });
    assert_eq!(stopped.unwrap_err().reason, StopReason::Cancelled);
}

#[test]
fn cancelling_in_flight_cuts_the_attempt() {
    let clock = ManualClock::new();
    let policy = RetryPolicy::chat();
    let cancelled = Cell::new(false);
    let mut call = pin!(
        retry(&policy, &clock)
            .cancel_on(raised(&cancelled))
            .run(async |_| pending::<Result<(), Outcome>>().await, classify)
    );
    assert!(poll_once(call.as_mut()).is_pending());
    cancelled.set(true);
    let Poll::Ready(Err(stopped)) = poll_once(call.as_mut()) else {
        panic!("still running");
    };
    assert_eq!(stopped.reason, StopReason::Cancelled);
    assert!(stopped.cut_in_flight);
    assert_eq!((stopped.last, stopped.attempts), (None, 1));
}

#[test]
fn an_attempt_cut_in_flight_keeps_the_failure_before_it() {
    let clock = ManualClock::skipping();
    let policy = RetryPolicy::chat();
    let cancelled = Cell::new(false);
    let mut call = pin!(retry(&policy, &clock).cancel_on(raised(&cancelled)).run(
        async |attempt| match attempt.number {
            0 => Err::<(), _>(Outcome::Status(503)),
            _ => pending().await,
        },
        classify,
    ));
    assert!(poll_once(call.as_mut()).is_pending());
    cancelled.set(true);
    let Poll::Ready(Err(stopped)) = poll_once(call.as_mut()) else {
        panic!("still running");
    };
    assert!(stopped.cut_in_flight);
    assert_eq!(
        (stopped.last, stopped.attempts),
        (Some(Outcome::Status(503)), 2)
    );
}

#[tokio::test]
async fn a_call_cancelled_before_it_begins_makes_no_attempt() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Ok]);
    let policy = RetryPolicy::chat();
    let stopped = retry(&policy, &clock)
        .cancel_on(ready(()))
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.reason, StopReason::Cancelled);
    assert_eq!(
        (stopped.last, stopped.attempts, stopped.cut_in_flight),
        (None, 0, false)
    );
    assert_eq!(script.called_at().len(), 0);
}

#[tokio::test]
async fn a_cancellation_seen_after_a_failed_attempt_wins_over_it() {
    // Also over a failure that would have ended the call by itself.
    for outcome in [Outcome::Status(503), Outcome::Status(401)] {
        let clock = ManualClock::skipping();
        let policy = RetryPolicy::chat();
        let cancelled = Cell::new(false);
        let stopped = retry(&policy, &clock)
            .cancel_on(raised(&cancelled))
            .run(
                async |_| {
                    cancelled.set(true);
                    Err::<(), _>(outcome)
                },
                classify,
            )
            .await
            .unwrap_err();
        assert_eq!(stopped.reason, StopReason::Cancelled);
        assert_eq!(stopped.last, Some(outcome));
        assert!(!stopped.cut_in_flight);
        assert_eq!(clock.sleeps(), []);
    }
}

#[tokio::test]
async fn a_success_that_has_arrived_is_returned() {
    let clock = ManualClock::skipping();
    let policy = RetryPolicy::chat();
    let cancelled = Cell::new(false);
    let answer = retry(&policy, &clock)
        .cancel_on(raised(&cancelled))
        .run(
            async |_| {
                cancelled.set(true);
                Ok::<_, Outcome>("answer")
            },
            classify,
        )
        .await;
    assert_eq!(answer, Ok("answer"));
}

#[test]
fn cancelled_as_the_wait_ends_nothing_more_is_sent() {
    let clock = ManualClock::new();
    let script = Script::new(&clock, &[Outcome::Asks(429, 30)]);
    let policy = RetryPolicy::chat();
    let cancelled = Cell::new(false);
    let mut call = pin!(
        retry(&policy, &clock)
            .cancel_on(raised(&cancelled))
            .run(async |_| script.attempt(), classify)
    );
    assert!(poll_once(call.as_mut()).is_pending());
    clock.advance(30 * SECOND);
    cancelled.set(true);
    let Poll::Ready(Err(stopped)) = poll_once(call.as_mut()) else {
        panic!("still waiting");
    };
    assert_eq!(stopped.reason, StopReason::Cancelled);
    assert_eq!(script.called_at().len(), 1);
}

#[tokio::test]
async fn cancelled_during_the_wait_the_next_attempt_does_not_run() {
    // On this clock the wait is over within one poll: only the check after it can see.
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Asks(429, 30)]);
    let policy = RetryPolicy::chat();
    let clock_seen = clock.clone();
    let stopped = retry(&policy, &clock)
        .cancel_on(poll_fn(move |_| {
            let over = clock_seen.now() >= 30 * SECOND;
            if over { Poll::Ready(()) } else { Poll::Pending }
        }))
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.reason, StopReason::Cancelled);
    assert_eq!(stopped.last, Some(Outcome::Asks(429, 30)));
    assert_eq!(script.called_at().len(), 1);
}

#[test]
fn a_dropped_call_leaves_nothing_behind() {
    let clock = ManualClock::new();
    let script = Script::new(&clock, &[Outcome::Asks(429, 30)]);
    let policy = RetryPolicy::chat();
    {
        let mut call = pin!(retry(&policy, &clock).run(async |_| script.attempt(), classify));
        assert!(poll_once(call.as_mut()).is_pending());
        assert!(poll_once(pin!(clock.until_sleeping())).is_ready());
    }
    assert!(
        poll_once(pin!(clock.until_sleeping())).is_pending(),
        "nobody sleeps any more"
    );
    clock.advance(60 * SECOND);
    assert_eq!(script.called_at().len(), 1);
}
