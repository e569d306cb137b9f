//! The clock of programs that run on Tokio.

use std::time::{Duration, SystemTime};

use tokio::time::{Instant, Sleep};

use crate::clock::Clock;

/// Tokio's clock, paused or not; its origin is the moment it was made.
///
/// Waiting needs a Tokio runtime with its timer enabled; telling the time does not.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    origin: Instant,
}

impl TokioClock {
    /// Starts a clock at zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            origin: monotonic(),
        }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    type Sleep = Sleep;

    fn now(&self) -> Duration {
        monotonic().saturating_duration_since(self.origin)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one clock that reads the real time"
    )]
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one clock that really sleeps"
    )]
    fn sleep(&self, duration: Duration) -> Sleep {
        tokio::time::sleep(duration)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one clock that reads the real time"
)]
fn monotonic() -> Instant {
    Instant::now()
}
