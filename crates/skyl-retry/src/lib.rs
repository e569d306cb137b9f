//! Decide, back off, read hints, keep budgets: one pure retry engine and its drivers.

mod backoff;
mod budget;
mod clock;
mod decide;
mod decimal;
mod driver;
mod failure;
mod nanos;
mod pause;
mod policy;
mod rng;
mod statuses;

pub mod duration;
pub mod hint;

pub use crate::budget::RetryBudget;
pub use crate::clock::Clock;
#[cfg(feature = "test-util")]
pub use crate::clock::manual::{ManualClock, ManualSleep};
#[cfg(feature = "tokio")]
pub use crate::clock::tokio::TokioClock;
pub use crate::decide::{
    Choice, Decision, Facts, StopReason, Verdict, WaitSource, choose, decide, minimum_window,
};
pub use crate::driver::{Attempt, Retry, Stopped, retry};
pub use crate::failure::{Failure, FailureClass, Hint, Sent};
pub use crate::hint::parse_retry_after_or_zero;
pub use crate::pause::SharedPause;
pub use crate::policy::{
    InvalidPolicy, Jitter, OverCap, RetryBudgetPolicy, RetryBy, RetryPolicy, RetryPolicyBuilder,
    Spread, ZeroHint,
};
pub use crate::rng::{Rng, Seeds};
pub use crate::statuses::StatusSet;
