//! The two clocks that come with the crate.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, UNIX_EPOCH};

use skyl_retry::{Clock, ManualClock, TokioClock};

use crate::SECOND;

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_standing_clock_waits_until_it_is_advanced() {
    let clock = ManualClock::new();
    let mut sleep = pin!(clock.sleep(2 * SECOND));
    let mut guard = pin!(clock.guard(3 * SECOND));
    assert!(poll(sleep.as_mut()).is_pending());
    assert!(poll(guard.as_mut()).is_pending());
    clock.advance(2 * SECOND);
    assert!(poll(sleep.as_mut()).is_ready());
    assert!(poll(guard.as_mut()).is_pending());
    clock.advance(SECOND);
    assert!(poll(guard.as_mut()).is_ready());
    assert_eq!(clock.now(), 3 * SECOND);
    assert_eq!(clock.sleeps(), [2 * SECOND], "guards are not sleeps");
}

#[test]
fn a_skipping_clock_jumps_to_the_end_of_each_sleep() {
    let clock = ManualClock::skipping();
    let mut guard = pin!(clock.guard(3 * SECOND));
    assert!(
        poll(guard.as_mut()).is_pending(),
        "a guard does not move it"
    );
    assert!(poll(pin!(clock.sleep(2 * SECOND))).is_ready());
    assert_eq!(clock.now(), 2 * SECOND);
    assert!(poll(guard.as_mut()).is_pending());
    assert!(poll(pin!(clock.sleep(SECOND))).is_ready());
    assert!(
        poll(guard.as_mut()).is_ready(),
        "the clock has moved past it"
    );
    assert_eq!(clock.sleeps(), [2 * SECOND, SECOND]);
}

#[test]
fn a_wait_of_zero_is_over_at_once() {
    for clock in [ManualClock::new(), ManualClock::skipping()] {
        assert!(poll(pin!(clock.sleep(Duration::ZERO))).is_ready());
        assert!(poll(pin!(clock.guard(Duration::ZERO))).is_ready());
        assert_eq!(clock.sleeps(), [Duration::ZERO]);
    }
}

#[test]
fn waits_without_end_do_not_overflow() {
    let clock = ManualClock::skipping();
    clock.advance(SECOND);
    assert!(poll(pin!(clock.sleep(Duration::MAX))).is_ready());
    assert_eq!(clock.now(), Duration::MAX);
    clock.advance(SECOND);
    assert_eq!(clock.now(), Duration::MAX);
    assert!(clock.wall() >= UNIX_EPOCH);
}

#[test]
fn the_wall_moves_with_the_clock_and_can_be_set_apart() {
    let clock = ManualClock::new();
    let start = clock.wall();
    clock.advance(SECOND);
    assert_eq!(clock.wall(), start + SECOND);
    clock.set_wall(UNIX_EPOCH);
    assert_eq!(clock.now(), SECOND, "monotonic time stays");
    clock.advance(SECOND);
    assert_eq!(clock.wall(), UNIX_EPOCH + SECOND);
}

#[tokio::test]
async fn clones_share_one_time_across_tasks() {
    let clock = ManualClock::new();
    let other = clock.clone();
    let ((), until) = tokio::join!(clock.sleep(5 * SECOND), async {
        let until = other.until_sleeping().await;
        other.advance(5 * SECOND);
        until
    });
    assert_eq!(until, 5 * SECOND);
    assert_eq!(clock.now(), other.now());
}

#[tokio::test]
async fn watching_for_sleepers_waits_for_the_first() {
    let clock = ManualClock::new();
    let ((), until) = tokio::join!(
        async {
            tokio::task::yield_now().await;
            clock.sleep(SECOND).await;
        },
        async {
            let until = clock.until_sleeping().await;
            clock.advance(SECOND);
            until
        }
    );
    assert_eq!(until, SECOND);
}

#[test]
fn a_dropped_wait_is_forgotten() {
    let clock = ManualClock::new();
    {
        let mut sleep = pin!(clock.sleep(SECOND));
        assert!(poll(sleep.as_mut()).is_pending());
        assert!(poll(pin!(clock.until_sleeping())).is_ready());
    }
    assert!(poll(pin!(clock.until_sleeping())).is_pending());
}

#[test]
fn a_wait_that_is_dropped_takes_no_other_with_it() {
    let clock = ManualClock::new();
    let mut other = pin!(clock.sleep(Duration::from_secs(2)));
    assert!(poll(other.as_mut()).is_pending());
    {
        let mut dropped = pin!(clock.sleep(Duration::from_secs(1)));
        assert!(poll(dropped.as_mut()).is_pending());
    }
    let mut watching = pin!(clock.until_sleeping());
    assert_eq!(
        poll(watching.as_mut()),
        Poll::Ready(Duration::from_secs(2)),
        "one is left, and it is the other"
    );
}

#[test]
fn a_clock_prints_its_time() {
    let clock = ManualClock::new();
    clock.advance(Duration::from_millis(1_500));
    let printed = format!("{clock:?}");
    assert!(
        printed.contains("1.5s") && printed.contains("Standing"),
        "{printed}"
    );
}

#[tokio::test(start_paused = true)]
async fn tokio_s_clock_begins_at_zero_and_sleeps_on_the_runtime() {
    let clock = TokioClock::new();
    assert_eq!(clock.now(), Duration::ZERO);
    clock.sleep(90 * SECOND).await;
    assert_eq!(clock.now(), 90 * SECOND);
    clock.guard(SECOND).await;
    assert_eq!(clock.now(), 91 * SECOND);
    assert!(clock.wall() > UNIX_EPOCH);
    let copy = clock;
    assert_eq!(copy.now(), clock.now());
}

#[test]
fn a_borrowed_clock_is_a_clock() {
    fn ask(clock: impl Clock) -> Duration {
        assert!(clock.wall() > UNIX_EPOCH);
        clock.now()
    }
    let clock = ManualClock::skipping();
    clock.advance(SECOND);
    assert_eq!(ask(&clock), SECOND);
    assert!(poll(pin!((&&clock).sleep(SECOND))).is_ready());
    assert!(
        poll(pin!((&&clock).guard(SECOND))).is_pending(),
        "a guard stays a guard behind a reference"
    );
}
