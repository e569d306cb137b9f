//! The public API, driven as a caller would: clocks, whole calls, and what types promise.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod api;
mod blocking;
mod budgets;
mod calls;
mod cancel;
mod clocks;
mod deadline;
mod examples;
mod layer;
mod reports;

use std::cell::RefCell;
use std::time::Duration;

use skyl_retry::{
    Failure, FailureClass, Hint, Jitter, ManualClock, RetryPolicy, RetryPolicyBuilder,
};

const SECOND: Duration = Duration::from_secs(1);

/// What a scripted attempt does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Ok,
    /// Fails with this status.
    Status(u16),
    /// Fails with this status, and asks for a wait of so many seconds.
    Asks(u16, u32),
    /// Fails for good.
    Certificate,
}

/// A server that follows a script, repeats its last line, and notes when it was called.
struct Script<'a> {
    outcomes: &'a [Outcome],
    clock: &'a ManualClock,
    takes: Duration,
    called: RefCell<Vec<Duration>>,
}

impl<'a> Script<'a> {
    fn new(clock: &'a ManualClock, outcomes: &'a [Outcome]) -> Self {
        Self {
            outcomes,
            clock,
            takes: Duration::ZERO,
            called: RefCell::default(),
        }
    }

    /// Every attempt takes this long.
    fn taking(mut self, takes: Duration) -> Self {
        self.takes = takes;
        self
    }

    fn attempt(&self) -> Result<&'static str, Outcome> {
        let mut called = self.called.borrow_mut();
        called.push(skyl_retry::Clock::now(self.clock));
        self.clock.advance(self.takes);
        match self.outcomes[(called.len() - 1).min(self.outcomes.len() - 1)] {
            Outcome::Ok => Ok("answer"),
            failed => Err(failed),
        }
    }

    fn called_at(&self) -> Vec<f64> {
        self.called
            .borrow()
            .iter()
            .map(Duration::as_secs_f64)
            .collect()
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the driver hands out errors by reference"
)]
fn classify(outcome: &Outcome) -> Failure {
    match *outcome {
        Outcome::Ok => Failure::new(FailureClass::Unclassified),
        Outcome::Status(status @ 400..=407) => {
            Failure::new(FailureClass::Permanent).with_status(status)
        }
        Outcome::Status(status) => Failure::new(FailureClass::Server).with_status(status),
        Outcome::Asks(status, seconds) => Failure::new(FailureClass::Throttled)
            .with_status(status)
            .with_hint(Hint::Wait(seconds * SECOND)),
        Outcome::Certificate => Failure::new(FailureClass::Certificate),
    }
}

/// Waits of exactly 1, 2, 4 … seconds, so that a test can name instants.
fn exact() -> RetryPolicyBuilder {
    RetryPolicy::builder()
        .initial_delay(SECOND)
        .max_delay(60 * SECOND)
        .jitter(Jitter::Shave(0.0))
}
