//! Clocks that block the thread, for programs without a runtime.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant, SystemTime};

/// Tells the time, and waits by blocking the calling thread.
///
/// The blocking counterpart of [`Clock`](crate::Clock): one value for both, so that they cannot
/// disagree about when a wait is over.
pub trait BlockingClock {
    /// Monotonic time since this clock's origin.
    fn now(&self) -> Duration;

    /// The wall time, for reading dates in headers.
    fn wall(&self) -> SystemTime;

    /// Blocks for this long, or until the stopper is pulled; a pulled one does not block at all.
    ///
    /// An own clock that waits for real hands the wait to [`Stopper::wait`].
    fn sleep(&self, duration: Duration, stopper: Option<&Stopper>);
}

/// The real clock; its origin is the moment it was made.
#[derive(Clone, Copy, Debug)]
pub struct ThreadClock {
    origin: Instant,
}

impl ThreadClock {
    /// Starts a clock at zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            origin: monotonic(),
        }
    }
}

impl Default for ThreadClock {
    fn default() -> Self {
        Self::new()
    }
}

impl BlockingClock for ThreadClock {
    fn now(&self) -> Duration {
        monotonic().saturating_duration_since(self.origin)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one blocking clock that reads the real time"
    )]
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one blocking clock that really sleeps"
    )]
    fn sleep(&self, duration: Duration, stopper: Option<&Stopper>) {
        match stopper {
            Some(stopper) => stopper.wait(duration),
            None => thread::sleep(duration),
        }
    }
}

/// Stops blocking calls from another thread, in mid-wait; clones share one state.
///
/// Once pulled it stays pulled: a call begun later makes no attempt. One stopper may serve any
/// number of calls, for example all of a program that is told to end.
#[derive(Clone, Default)]
pub struct Stopper {
    shared: Arc<Shared>,
}

impl Stopper {
    /// A stopper nobody has pulled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends every wait on this stopper at once, and every later one before it begins.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Release);
        // The flag is up before the list is read: whoever enters it later sees the flag.
        for thread in self.waiting().iter() {
            thread.unpark();
        }
    }

    /// Whether it has been pulled.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Acquire)
    }

    /// Blocks for this long in real time, or until pulled; [`is_stopped`](Self::is_stopped) tells.
    ///
    /// It parks the thread, so that a stray unpark token may be left behind for it.
    pub fn wait(&self, duration: Duration) {
        let began = monotonic();
        let _entered = self.enter();
        loop {
            let left = duration.saturating_sub(monotonic().saturating_duration_since(began));
            if left.is_zero() || self.is_stopped() {
                return;
            }
            thread::park_timeout(left);
        }
    }

    /// Has this thread unparked by [`stop`](Self::stop), until what is returned is dropped.
    pub(super) fn enter(&self) -> Entered<'_> {
        self.waiting().push(thread::current());
        Entered(self)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Thread>> {
        // Nothing panics under the lock, and a list of threads has no invariant to lose.
        let waiting = self.shared.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stopper")
            .field("stopped", &self.is_stopped())
            .finish_non_exhaustive()
    }
}

/// A thread that waits on a stopper.
pub(super) struct Entered<'a>(&'a Stopper);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let own = thread::current().id();
        self.0.waiting().retain(|thread| thread.id() != own);
    }
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    waiting: Mutex<Vec<Thread>>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one blocking clock that reads the real time"
)]
fn monotonic() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_on_the_list_for_as_long_as_it_waits() {
        let stopper = Stopper::new();
        let own = stopper.enter();
        let listed = |stopper: &Stopper| stopper.waiting().len();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _other = stopper.enter();
                listed(&stopper)
            });
            assert_eq!(other.join().unwrap(), 2);
        });
        assert_eq!(listed(&stopper), 1, "the other has left, and no one else");
        assert_eq!(stopper.waiting()[0].id(), thread::current().id());
        drop(own);
        assert_eq!(listed(&stopper), 0);
    }

    #[test]
    fn a_stopper_prints_whether_it_was_pulled() {
        let stopper = Stopper::new();
        assert!(format!("{stopper:?}").contains("stopped: false"));
        stopper.stop();
        assert!(format!("{stopper:?}").contains("stopped: true"));
    }
}
