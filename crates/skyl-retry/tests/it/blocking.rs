//! The blocking driver.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use skyl_retry::{
    Attempt, BlockingClock, Choice, ManualClock, RetryBudget, RetryBudgetPolicy, RetryPolicy, Rng,
    StopReason, Stopper, ThreadClock, retry, retry_blocking,
};

use crate::{Outcome, SECOND, Script, classify, exact};

#[test]
fn a_first_success_is_one_attempt() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Ok]);
    let policy = RetryPolicy::chat();
    let answer = retry_blocking(&policy, &clock).run(|_| script.attempt(), classify);
    assert_eq!(answer, Ok("answer"));
    assert_eq!(clock.sleeps(), []);
}

#[test]
fn attempts_and_waits_are_those_of_the_async_driver() {
    use Outcome::{Asks, Certificate, Ok, Status};
    let budgeted = exact().max_retries(9).budget(10 * SECOND).build().unwrap();
    for policy in [
        RetryPolicy::chat(),
        RetryPolicy::system_one(),
        RetryPolicy::fleet(),
        budgeted,
    ] {
        for outcomes in [
            &[Ok][..],
            &[Status(503), Asks(429, 7), Ok],
            &[Asks(429, 3600), Asks(429, 0), Status(503), Ok],
            &[Status(503)],
            &[Status(503), Status(401)],
            &[Certificate],
        ] {
            for deadline in [
                None,
                Some(Duration::ZERO),
                Some(5 * SECOND),
                Some(400 * SECOND),
            ] {
                let clock = ManualClock::skipping();
                let script = Script::new(&clock, outcomes).taking(SECOND);
                let call = retry(&policy, &clock)
                    .rng(Rng::from_seed(7))
                    .deadline(deadline)
                    .run(async |_| script.attempt(), classify);
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .unwrap();
                let expected = runtime.block_on(call);

                let blocking_clock = ManualClock::skipping();
                let blocking = Script::new(&blocking_clock, outcomes).taking(SECOND);
                let ended = retry_blocking(&policy, &blocking_clock)
                    .rng(Rng::from_seed(7))
                    .deadline(deadline)
                    .run(|_| blocking.attempt(), classify);

                assert_eq!(ended, expected, "{outcomes:?} {deadline:?}");
                assert_eq!(
                    blocking_clock.sleeps(),
                    clock.sleeps(),
                    "{outcomes:?} {deadline:?}"
                );
                assert_eq!(
                    blocking.called_at(),
                    script.called_at(),
                    "{outcomes:?} {deadline:?}"
                );
            }
        }
    }
}

#[test]
fn an_attempt_that_passes_the_deadline_is_not_cut_and_the_last() {
    let clock = ManualClock::skipping();
    let policy = exact().build().unwrap();
    let script = Script::new(&clock, &[Outcome::Status(503)]).taking(9 * SECOND);
    let ended = retry_blocking(&policy, &clock)
        .deadline(5 * SECOND)
        .run(|_| script.attempt(), classify)
        .unwrap_err();
    assert_eq!((ended.reason, ended.attempts), (StopReason::Deadline, 1));
    assert_eq!(ended.last, Some(Outcome::Status(503)));
    assert!(!ended.cut_in_flight);

    let script = Script::new(&clock, &[Outcome::Ok]).taking(9 * SECOND);
    let answer = retry_blocking(&policy, &clock)
        .deadline(BlockingClock::now(&clock) + 5 * SECOND)
        .run(|_| script.attempt(), classify);
    assert_eq!(
        answer,
        Ok("answer"),
        "a success that came late is a success"
    );
}

#[test]
fn an_operation_is_told_the_time_it_has_left() {
    let clock = ManualClock::skipping();
    let policy = exact().build().unwrap();
    let mut left = Vec::new();
    let answer = retry_blocking(&policy, &clock).deadline(5 * SECOND).run(
        |attempt: Attempt| {
            left.push(attempt.remaining);
            if attempt.number == 0 {
                Err(Outcome::Status(503))
            } else {
                Ok(())
            }
        },
        classify,
    );
    assert_eq!(answer, Ok(()));
    assert_eq!(left, [Some(5 * SECOND), Some(4 * SECOND)]);
}

#[test]
fn every_setting_reaches_the_driver() {
    let clock = ManualClock::skipping();
    let policy = exact().build().unwrap();
    let script = Script::new(&clock, &[Outcome::Status(503)]);
    let mut told = Vec::new();
    let ended = retry_blocking(&policy, &clock)
        .should_retry(|_| Choice::Stop)
        .on_decision(|attempt, error: &Outcome, verdict| {
            told.push((attempt.number, *error, verdict.stop()));
        })
        .run(|_| script.attempt(), classify)
        .unwrap_err();
    assert_eq!(ended.reason, StopReason::NotRetryable);
    assert_eq!(
        told,
        [(0, Outcome::Status(503), Some(StopReason::NotRetryable))]
    );

    let budget = RetryBudget::new(&RetryBudgetPolicy {
        ratio: 0.5,
        reserve_per_second: 0.0,
        capacity: 1.0,
        initial: Some(1.0),
    })
    .unwrap();
    let ended = retry_blocking(&policy, &clock)
        .budget(&budget)
        .run(|_| script.attempt(), classify)
        .unwrap_err();
    assert_eq!((ended.reason, ended.attempts), (StopReason::RetryBudget, 2));

    // A retry needs a window: 50 ms after this wait are enough for attempts of half a second.
    for (timeout, attempts) in [(None, 1), (Some(SECOND / 2), 2)] {
        let clock = ManualClock::skipping();
        let script = Script::new(&clock, &[Outcome::Status(503), Outcome::Status(401)]);
        let ended = retry_blocking(&policy, &clock)
            .deadline(Duration::from_millis(1050))
            .attempt_timeout(timeout)
            .run(|_| script.attempt(), classify)
            .unwrap_err();
        assert_eq!(ended.attempts, attempts);
    }
}

#[test]
fn a_stopper_ends_a_wait_at_once() {
    // Two hours on the real clock: the test would not end if the wait did.
    let policy = exact()
        .initial_delay(7200 * SECOND)
        .max_delay(7200 * SECOND)
        .build()
        .unwrap();
    let (clock, stopper, calls) = (ThreadClock::new(), Stopper::new(), AtomicU32::new(0));
    let ended = thread::scope(|scope| {
        let call = scope.spawn(|| {
            retry_blocking(&policy, &clock)
                .stop_on(&stopper)
                .on_decision(|_, _: &Outcome, _| _ = calls.fetch_add(1, Ordering::Release))
                .run(|_| Err::<(), _>(Outcome::Status(503)), classify)
        });
        while calls.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        stopper.stop();
        call.join().unwrap().unwrap_err()
    });
    assert_eq!(ended.reason, StopReason::Cancelled);
    assert_eq!(
        (ended.last, ended.attempts),
        (Some(Outcome::Status(503)), 1)
    );
    assert!(!ended.cut_in_flight);
}

#[test]
fn one_stopper_ends_many_calls() {
    let policy = exact().build().unwrap();
    let (clock, stopper, failed) = (ManualClock::new(), Stopper::new(), AtomicU32::new(0));
    thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    retry_blocking(&policy, &clock)
                        .stop_on(&stopper.clone())
                        .on_decision(|_, _: &Outcome, _| _ = failed.fetch_add(1, Ordering::Release))
                        .run(|_| Err::<(), _>(Outcome::Status(503)), classify)
                })
            })
            .collect();
        while failed.load(Ordering::Acquire) < 4 {
            thread::yield_now();
        }
        stopper.stop();
        for call in calls {
            assert_eq!(
                call.join().unwrap().unwrap_err().reason,
                StopReason::Cancelled
            );
        }
    });
}

#[test]
fn a_stopper_that_was_pulled_lets_nothing_begin() {
    let clock = ManualClock::skipping();
    let policy = exact().build().unwrap();
    let script = Script::new(&clock, &[Outcome::Ok]);
    let stopper = Stopper::new();
    assert!(!stopper.is_stopped());
    stopper.clone().stop();
    assert!(stopper.is_stopped());
    let ended = retry_blocking(&policy, &clock)
        .stop_on(&stopper)
        .run(|_| script.attempt(), classify)
        .unwrap_err();
    assert_eq!((ended.reason, ended.attempts), (StopReason::Cancelled, 0));
    assert_eq!(script.called_at().len(), 0);
    // Nor a wait: this one would take for ever.
    stopper.wait(Duration::MAX);
    ThreadClock::new().sleep(Duration::MAX, Some(&stopper));
    BlockingClock::sleep(&ManualClock::new(), SECOND, Some(&stopper));
}

#[test]
fn stopped_in_an_attempt_its_success_counts_and_its_failure_does_not() {
    let clock = ManualClock::skipping();
    let policy = exact().build().unwrap();
    let run = |outcome: Result<&'static str, Outcome>| {
        let stopper = Stopper::new();
        retry_blocking(&policy, &clock).stop_on(&stopper).run(
            |_| {
                stopper.stop();
                outcome
            },
            classify,
        )
    };
    assert_eq!(run(Ok("answer")), Ok("answer"));
    // Also over a failure that would have ended the call by itself.
    for outcome in [Outcome::Status(503), Outcome::Status(401)] {
        let ended = run(Err(outcome)).unwrap_err();
        assert_eq!(ended.reason, StopReason::Cancelled);
        assert_eq!(ended.last, Some(outcome));
    }
    assert_eq!(clock.sleeps(), []);
}

#[test]
fn a_stopper_nobody_pulls_changes_nothing() {
    let clock = ManualClock::skipping();
    let policy = exact().build().unwrap();
    let script = Script::new(&clock, &[Outcome::Status(503), Outcome::Ok]);
    let stopper = Stopper::new();
    let answer = retry_blocking(&policy, &clock)
        .stop_on(&stopper)
        .run(|_| script.attempt(), classify);
    assert_eq!(answer, Ok("answer"));
    assert_eq!(clock.sleeps(), [SECOND]);
}

#[test]
fn a_standing_clock_blocks_until_it_is_moved() {
    let policy = exact().build().unwrap();
    let clock = ManualClock::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    thread::scope(|scope| {
        let call = scope.spawn(|| {
            retry_blocking(&policy, &clock).run(
                |attempt| match attempt.number {
                    0 => Err(Outcome::Status(503)),
                    _ => Ok(BlockingClock::now(&clock)),
                },
                classify,
            )
        });
        assert_eq!(runtime.block_on(clock.until_sleeping()), SECOND);
        clock.advance(SECOND / 2);
        assert!(!call.is_finished());
        clock.advance(SECOND / 2);
        assert_eq!(call.join().unwrap(), Ok(SECOND));
    });
}

#[test]
fn the_real_clock_goes_forward_and_waits_as_told() {
    let clock = ThreadClock::default();
    let before = clock.now();
    clock.sleep(Duration::from_millis(1), None);
    let between = clock.now();
    assert!(between >= before + Duration::from_millis(1));
    clock.sleep(Duration::from_millis(1), Some(&Stopper::new()));
    assert!(clock.now() >= between + Duration::from_millis(1));
    assert!(clock.wall() > SystemTime::UNIX_EPOCH);
}

#[test]
fn a_clock_may_be_any_one_behind_a_reference() {
    let clock = ManualClock::skipping();
    let clock: &dyn BlockingClock = &clock;
    let policy = exact().build().unwrap();
    let answer = retry_blocking(&policy, clock).run(
        |attempt| {
            if attempt.number == 0 {
                Err(Outcome::Status(503))
            } else {
                Ok(())
            }
        },
        classify,
    );
    assert_eq!((answer, clock.now()), (Ok(()), SECOND));
    assert!(clock.wall() > SystemTime::UNIX_EPOCH);
}

#[test]
fn a_panic_in_an_operation_is_the_callers() {
    let clock = ManualClock::skipping();
    let policy = exact().build().unwrap();
    let stopper = Stopper::new();
    let call = || {
        retry_blocking(&policy, &clock)
            .stop_on(&stopper)
            .run(|_| -> Result<(), Outcome> { panic!("a bug") }, classify)
    };
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    assert!(!stopper.is_stopped());
    assert_eq!(clock.sleeps(), []);
}
