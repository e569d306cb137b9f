//! Time as the driver sees it: one clock that tells it and waits on it.
//!
//! Now and sleep belong together: two clocks could disagree about when a wait is over. Monotonic
//! time is a [`Duration`] since the clock's own origin, never an `Instant`, so that virtual clocks
//! are as good as real ones. Wall time serves dates in headers and nothing else: it may jump.

#[cfg(feature = "blocking")]
pub(crate) mod blocking;
#[cfg(feature = "test-util")]
pub(crate) mod manual;
#[cfg(feature = "tokio")]
pub(crate) mod tokio;

use std::future::Future;
use std::time::{Duration, SystemTime};

/// Tells the time and waits.
///
/// There are two ways to wait, because only a test's clock can tell them apart: a
/// [`sleep`](Clock::sleep) passes time on purpose, a [`guard`](Clock::guard) races with work.
pub trait Clock {
    /// A wait in progress; dropping it ends it.
    type Sleep: Future<Output = ()>;

    /// Monotonic time since this clock's origin.
    fn now(&self) -> Duration;

    /// The wall time, for reading dates in headers.
    fn wall(&self) -> SystemTime;

    /// Waits for this long, on purpose: a backoff, a server's wait.
    fn sleep(&self, duration: Duration) -> Self::Sleep;

    /// Waits for this long beside work that it ends: an attempt timeout, a deadline.
    fn guard(&self, duration: Duration) -> Self::Sleep {
        self.sleep(duration)
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    type Sleep = C::Sleep;

    fn now(&self) -> Duration {
        (**self).now()
    }

    fn wall(&self) -> SystemTime {
        (**self).wall()
    }

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        (**self).sleep(duration)
    }

    fn guard(&self, duration: Duration) -> Self::Sleep {
        (**self).guard(duration)
    }
}
