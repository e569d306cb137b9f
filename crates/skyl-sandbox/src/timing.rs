//! The only place of this crate that reads a clock or waits.
//!
//! The sandbox is a real server: its stalls and drips are real waits, so that clients in any
//! language meet them. Everything else in the crate takes time as an argument.

use std::time::{Duration, SystemTime};

use tokio::time::{Instant, Sleep};

/// The instant a sandbox started; journal times count from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin(Instant);

impl Origin {
    #[expect(
        clippy::disallowed_methods,
        reason = "a server's journal needs real time"
    )]
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// A real wait; it ends early when the connection that owns it is dropped.
#[expect(
    clippy::disallowed_methods,
    reason = "a stall has to be felt by a real client"
)]
pub(crate) fn sleep(wait: Duration) -> Sleep {
    tokio::time::sleep(wait)
}

/// Wall time, for HTTP dates alone.
#[expect(
    clippy::disallowed_methods,
    reason = "an HTTP date is read against the client's wall clock"
)]
pub(crate) fn wall() -> SystemTime {
    SystemTime::now()
}
