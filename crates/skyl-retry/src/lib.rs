//! Decide, back off, read hints, keep budgets: one pure retry engine and its drivers.
//!
//! A pure core decides; one small driver waits. The core does no I/O, reads no clock and owns no
//! randomness, so the same function serves a client, a simulator and a property test, and every
//! wait and every stop has a reason that can be shown.
//!
#![cfg_attr(feature = "test-util", doc = "```")]
#![cfg_attr(not(feature = "test-util"), doc = "```text")]
//! use skyl_retry::{Failure, FailureClass, Hint, ManualClock, RetryPolicy, retry};
//! use std::time::Duration;
//!
//! #[derive(Debug)]
//! struct Busy { retry_after: Duration }
//!
//! # async fn example() -> Result<(), skyl_retry::Stopped<Busy>> {
//! let policy = RetryPolicy::chat();
//! // In a program: `TokioClock::new()`. This one never really waits.
//! let clock = ManualClock::skipping();
//!
//! let answer = retry(&policy, &clock)
//!     .on_decision(|attempt, error: &Busy, verdict| {
//!         println!("attempt {}: {error:?}, {verdict}", attempt.number);
//!     })
//!     .run(
//!         async |attempt| match attempt.number {
//!             0 => Err(Busy { retry_after: Duration::from_secs(7) }),
//!             _ => Ok("Paris"),
//!         },
//!         |error| Failure::new(FailureClass::Throttled)
//!             .with_status(429)
//!             .with_hint(Hint::Wait(error.retry_after)),
//!     )
//!     .await?;
//!
//! assert_eq!(answer, "Paris");
//! assert_eq!(clock.sleeps(), [Duration::from_secs(7)]);
//! # Ok(()) }
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # runtime.block_on(example()).unwrap();
//! ```
//!
//! # The pieces
//!
//! | piece | what it is |
//! |---|---|
//! | [`RetryPolicy`] | the figures: one value, no state, checked when built |
//! | [`Failure`], [`Facts`] | what is known about a failed attempt and its call |
//! | [`decide()`] | the decision, a pure function; [`choose`] is its question "retryable at all?" |
//! | [`Verdict`] | what it says: [`Decision`], where the wait came from, and why, in one line |
//! | [`hint`] | one parser for every way servers say how long to wait |
//! | [`RetryBudget`] | a token bucket that stops retries in an outage, in one lock-free word |
//! | [`SharedPause`] | a server's wait that holds back a client's other calls, too |
//! | [`Rng`], [`Seeds`] | one generator per call, never shared, seedable |
//! | [`Clock`] | the time and the waiting, together; [`retry`] is the async driver on it |
//!
//! # The rules
//!
//! | setting | [`chat`](RetryPolicy::chat) | [`system_one`](RetryPolicy::system_one) |
//! |---|---|---|
//! | `max_retries` | 3 | 2 |
//! | ceiling of retry n, from 0 | min(500 ms · 2ⁿ, 30 s) | min(500 ms · 2ⁿ, 5 s) |
//! | `jitter` | full: uniform in [0, ceiling] | shave: ceiling · (1 − U[0, 0.25]) |
//! | server's wait | wins over the backoff, cut to 5 min | the same |
//! | a server's wait of zero | the own backoff | no wait |
//! | `budget` (time) | unlimited | 30 s |
//! | retried | by kind: throttled, server, connection, timeout, truncated | by status: 408, 429, 500–599; connection, timeout, truncated |
//! | server's own word | obeyed | not read |
//!
//! [`fleet`](RetryPolicy::fleet) is `chat` with a retry budget and spread hints. Rejected
//! certificates are never retried, and nothing is once content has reached the caller.
//!
//! # The order of the checks
//!
//! cancelled → delivered → certificate → choice → attempts → wait (the server's or the own
//! backoff, plus spread) → time budget → deadline → retry budget. The last one is last so that a
//! retry which would not be sent costs no token. The *choice* is the caller's `should_retry` where
//! set, else the server's word, else the table above.
//!
//! # Three limits on time
//!
//! - The **time budget** is asked once before each wait: a wait that would pass it is not begun. It
//!   never cuts an attempt.
//! - The **deadline** is an instant for the whole call: no wait passes it, and an attempt in flight
//!   is cut at it. A retry with less than [`minimum_window`] left is not begun.
//! - The **attempt timeout** belongs to the operation; the engine only needs to know it.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `tokio` | off | `TokioClock` |
//! | `blocking` | off | `retry_blocking`: the same driver for threads, with `ThreadClock` and `Stopper` |
//! | `tower` | off | `RetryLayer`: the same driver around any `tower` service |
//! | `serde` | off | policies in files: TOML, JSON and formats like them |
//! | `test-util` | off | `ManualClock`, for tests that never wait |
//!
//! Without features there is no dependency and no runtime. `tower` and `serde` bring the traits of
//! those crates and nothing else: no macros, no runtime.
//!
//! # Policies in files
//!
//! With `serde`, a file holds the figures that differ from [`chat`](RetryPolicy::chat), by the
//! builder's names:
//!
#![cfg_attr(feature = "serde", doc = "```")]
#![cfg_attr(not(feature = "serde"), doc = "```text")]
//! # use skyl_retry::{RetryPolicy, RetryPolicyBuilder};
//! let text = r#"
//!     max_retries = 5
//!     max_delay = "1m"             # lengths carry their unit; only 0 needs none
//!     jitter = { shave = 0.25 }    # or "full", "equal", "decorrelated"
//!     retry_by = "status"
//!     retry_statuses = [408, 429, "500-599"]
//!     retry_budget = { ratio = 0.1, reserve_per_second = 0.1, capacity = 10 }
//! "#;
//! let policy: RetryPolicy = toml::from_str(text)?;
//! assert_eq!(policy.max_retries(), 5);
//! assert!(policy.honor_retry_after(), "what a file leaves out is as in chat");
//!
//! // Unknown keys and bad values are refused by name, where they stand.
//! let refused = toml::from_str::<RetryPolicy>("max_retries = 5\nmax_delay = 60").unwrap_err();
//! assert!(refused.to_string().contains("line 2"));
//! assert!(refused.message().starts_with("max_delay = 60: must be a duration with its unit"));
//!
//! // A builder reads the same file and leaves room for flags on top.
//! let builder: RetryPolicyBuilder = toml::from_str(text)?;
//! assert_eq!(builder.max_retries(1).build()?.max_retries(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it refuses to do
//!
//! No circuit breaker, no hedging, no fallback to another provider, no resuming of half an answer,
//! no background task, no global state, and no mode in which a fleet retries in step.

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
#[cfg(feature = "tower")]
mod tower;

pub mod duration;
pub mod hint;

pub use crate::budget::RetryBudget;
pub use crate::clock::Clock;
#[cfg(feature = "blocking")]
pub use crate::clock::blocking::{BlockingClock, Stopper, ThreadClock};
#[cfg(feature = "test-util")]
pub use crate::clock::manual::{ManualClock, ManualSleep};
#[cfg(feature = "tokio")]
pub use crate::clock::tokio::TokioClock;
pub use crate::decide::{
    Choice, Decision, Facts, StopReason, Verdict, WaitSource, choose, decide, minimum_window,
};
#[cfg(feature = "blocking")]
pub use crate::driver::blocking::{RetryBlocking, retry_blocking};
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
#[cfg(feature = "tower")]
pub use crate::tower::{RetryError, RetryLayer, RetryService};

#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../README.md")]
struct Readme;
