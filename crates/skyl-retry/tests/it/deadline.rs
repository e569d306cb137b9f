//! The deadline: an instant for the whole call.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use skyl_retry::{Clock, ManualClock, RetryPolicy, StopReason, retry};

use crate::{Outcome, SECOND, Script, classify, exact};

#[tokio::test]
async fn a_wait_that_would_pass_the_deadline_is_not_begun() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Asks(429, 30)]);
    let policy = RetryPolicy::chat();
    let stopped = retry(&policy, &clock)
        .deadline(5 * SECOND)
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.reason, StopReason::Deadline);
    assert_eq!(stopped.last, Some(Outcome::Asks(429, 30)));
    assert!(!stopped.cut_in_flight);
    assert_eq!(clock.now(), Duration::ZERO);
}

#[tokio::test]
async fn a_call_within_its_deadline_is_not_touched_by_it() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Asks(429, 3), Outcome::Ok]);
    let policy = RetryPolicy::chat();
    let answer = retry(&policy, &clock)
        .deadline(5 * SECOND)
        .run(async |_| script.attempt(), classify)
        .await;
    assert_eq!(answer, Ok("answer"));
}

#[test]
fn an_attempt_in_flight_is_cut_at_the_deadline() {
    let clock = ManualClock::new();
    let policy = RetryPolicy::chat();
    let mut call = pin!(
        retry(&policy, &clock)
            .deadline(5 * SECOND)
            .run(async |_| pending::<Result<(), Outcome>>().await, classify)
    );
    let mut poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    clock.advance(Duration::from_nanos(4_999_999_999));
    assert!(poll().is_pending());
    clock.advance(Duration::from_nanos(1));
    let Poll::Ready(Err(stopped)) = poll() else {
        panic!("still running");
    };
    assert_eq!(stopped.reason, StopReason::Deadline);
    assert!(stopped.cut_in_flight);
    assert_eq!((stopped.last, stopped.attempts), (None, 1));
}

#[test]
fn a_retry_cut_in_flight_keeps_the_failure_before_it() {
    let clock = ManualClock::new();
    let policy = exact().build().unwrap();
    let mut call = pin!(retry(&policy, &clock).deadline(5 * SECOND).run(
        async |attempt| match attempt.number {
            0 => Err::<(), _>(Outcome::Status(503)),
            _ => pending().await,
        },
        classify,
    ));
    let mut poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    clock.advance(SECOND);
    assert!(poll().is_pending());
    clock.advance(4 * SECOND);
    let Poll::Ready(Err(stopped)) = poll() else {
        panic!("still running");
    };
    assert_eq!(stopped.reason, StopReason::Deadline);
    assert!(stopped.cut_in_flight);
    assert_eq!(
        (stopped.last, stopped.attempts),
        (Some(Outcome::Status(503)), 2)
    );
}

#[tokio::test]
async fn after_the_deadline_no_attempt_is_made() {
    let clock = ManualClock::skipping();
    clock.advance(5 * SECOND);
    for deadline in [Duration::ZERO, 5 * SECOND] {
        let script = Script::new(&clock, &[Outcome::Ok]);
        let policy = RetryPolicy::chat();
        let stopped = retry(&policy, &clock)
            .deadline(deadline)
            .run(async |_| script.attempt(), classify)
            .await
            .unwrap_err();
        assert_eq!(
            (stopped.reason, stopped.last, stopped.attempts),
            (StopReason::Deadline, None, 0)
        );
        assert_eq!(script.called_at().len(), 0);
    }
    // A first attempt may have as little time as it is given; only retries need a window.
    let script = Script::new(&clock, &[Outcome::Ok]);
    let policy = RetryPolicy::chat();
    let answer = retry(&policy, &clock)
        .deadline(5 * SECOND + Duration::from_nanos(1))
        .run(async |_| script.attempt(), classify)
        .await;
    assert_eq!(answer, Ok("answer"));
}

#[tokio::test]
async fn a_success_that_arrived_with_the_deadline_is_returned() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Ok]).taking(9 * SECOND);
    let policy = RetryPolicy::chat();
    let answer = retry(&policy, &clock)
        .deadline(5 * SECOND)
        .run(async |_| script.attempt(), classify)
        .await;
    assert_eq!(answer, Ok("answer"));
}

#[tokio::test]
async fn the_time_left_is_read_anew_after_each_wait() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Asks(429, 4), Outcome::Ok]);
    let policy = RetryPolicy::chat();
    let left = RefCell::new(Vec::new());
    let answer = retry(&policy, &clock)
        .deadline(10 * SECOND)
        .run(
            async |attempt| {
                left.borrow_mut().push(attempt.remaining);
                script.attempt()
            },
            classify,
        )
        .await;
    assert_eq!(answer, Ok("answer"));
    assert_eq!(left.into_inner(), [Some(10 * SECOND), Some(6 * SECOND)]);
}

#[tokio::test]
async fn a_retry_needs_a_window_worth_beginning() {
    let millis = Duration::from_millis;
    for (deadline, timeout, attempts) in [
        (millis(4099), None, 1),
        (millis(4100), None, 2),
        (millis(4099), Some(SECOND / 2), 2),
        (millis(4049), Some(SECOND / 2), 1),
    ] {
        let clock = ManualClock::skipping();
        let script = Script::new(&clock, &[Outcome::Asks(429, 4), Outcome::Status(401)]);
        let policy = RetryPolicy::chat();
        let stopped = retry(&policy, &clock)
            .deadline(deadline)
            .attempt_timeout(timeout)
            .run(async |_| script.attempt(), classify)
            .await
            .unwrap_err();
        assert_eq!(stopped.attempts, attempts, "{deadline:?} {timeout:?}");
    }
}

/// A clock whose sleeps end late, as on a machine that was suspended.
struct Late(ManualClock);

impl Clock for Late {
    type Sleep = skyl_retry::ManualSleep;

    fn now(&self) -> Duration {
        self.0.now()
    }

    fn wall(&self) -> SystemTime {
        self.0.wall()
    }

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        self.0.sleep(duration + 10 * SECOND)
    }

    fn guard(&self, duration: Duration) -> Self::Sleep {
        self.0.guard(duration)
    }
}

#[tokio::test]
async fn after_a_wait_that_ended_late_nothing_more_is_sent() {
    // The wait of 4 s ends at 14 s: past the deadline, or with too little left of it.
    for (deadline, attempts) in [(9_000, 1), (14_050, 1), (14_100, 2)] {
        let clock = Late(ManualClock::skipping());
        let script = Script::new(&clock.0, &[Outcome::Asks(429, 4)]);
        let policy = RetryPolicy::chat();
        let stopped = retry(&policy, &clock)
            .deadline(Duration::from_millis(deadline))
            .run(async |_| script.attempt(), classify)
            .await
            .unwrap_err();
        assert_eq!(stopped.reason, StopReason::Deadline);
        assert_eq!(stopped.last, Some(Outcome::Asks(429, 4)));
        assert!(!stopped.cut_in_flight);
        assert_eq!(stopped.attempts, attempts, "{deadline}");
        assert_eq!(script.called_at().len(), usize::try_from(attempts).unwrap());
    }
}
