//! A clock that tests own: it moves when they say so.
//!
//! Two modes. [`ManualClock::new`] stands still until [`advance`](ManualClock::advance): for tests
//! that look at a call in mid-wait. [`ManualClock::skipping`] moves by itself whenever somebody
//! sleeps: for tests that care about the waits and not about waiting. A guard never moves it, so a
//! timeout fires only if time really went by.

#[cfg(feature = "blocking")]
mod blocking;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::clock::Clock;

/// A clock for tests; clones share one time.
///
/// Its wall time starts at 2026-12-01 00:00:00 UTC and moves with it.
#[derive(Clone)]
pub struct ManualClock {
    shared: Arc<Mutex<State>>,
}

impl ManualClock {
    /// A clock that stands still until [`advance`](Self::advance).
    #[must_use]
    pub fn new() -> Self {
        Self::with_mode(Mode::Standing)
    }

    /// A clock that jumps to the end of every sleep at once; guards do not move it.
    #[must_use]
    pub fn skipping() -> Self {
        Self::with_mode(Mode::Skipping)
    }

    /// Moves the clock and wakes everybody whose wait is over.
    pub fn advance(&self, by: Duration) {
        let mut state = self.lock();
        let to = state.now.saturating_add(by);
        state.move_to(to).wake(state);
    }

    /// Sets the wall time, as a correction of the system's clock would; monotonic time stays.
    pub fn set_wall(&self, wall: SystemTime) {
        let mut state = self.lock();
        state.wall = wall;
        state.wall_at = state.now;
    }

    /// Every sleep begun so far, in order; guards are not among them.
    #[must_use]
    pub fn sleeps(&self) -> Vec<Duration> {
        self.lock().sleeps.clone()
    }

    /// Waits until somebody is sleeping, and gives the time of the earliest wake-up.
    ///
    /// Guards do not count. On a skipping clock nobody ever sleeps long enough to be seen.
    ///
    /// # Cancel safety
    /// Dropping it has no effect.
    pub fn until_sleeping(&self) -> impl Future<Output = Duration> + Send + Sync + use<> {
        let clock = self.clone();
        std::future::poll_fn(move |cx| {
            let mut state = clock.lock();
            let sleeping = state.waiters.iter().filter(|w| w.kind == Kind::Sleep);
            if let Some(until) = sleeping.map(|w| w.until).min() {
                return Poll::Ready(until);
            }
            state.watchers.push(cx.waker().clone());
            Poll::Pending
        })
    }

    fn with_mode(mode: Mode) -> Self {
        let state = State {
            mode,
            now: Duration::ZERO,
            wall: UNIX_EPOCH + FIRST_WALL,
            wall_at: Duration::ZERO,
            sleeps: Vec::new(),
            waiters: Vec::new(),
            watchers: Vec::new(),
            next_id: 0,
        };
        Self {
            shared: Arc::new(Mutex::new(state)),
        }
    }

    fn wait(&self, duration: Duration, kind: Kind) -> ManualSleep {
        ManualSleep {
            clock: self.clone(),
            duration,
            kind,
            begun: None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock, and a test's clock has no invariant to lose.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("ManualClock")
            .field("now", &state.now)
            .field("mode", &state.mode)
            .finish_non_exhaustive()
    }
}

impl Clock for ManualClock {
    type Sleep = ManualSleep;

    fn now(&self) -> Duration {
        self.lock().now
    }

    fn wall(&self) -> SystemTime {
        let state = self.lock();
        let moved = state.now.saturating_sub(state.wall_at);
        state.wall.checked_add(moved).unwrap_or(state.wall)
    }

    fn sleep(&self, duration: Duration) -> ManualSleep {
        self.wait(duration, Kind::Sleep)
    }

    fn guard(&self, duration: Duration) -> ManualSleep {
        self.wait(duration, Kind::Guard)
    }
}

/// A wait on a [`ManualClock`]; it begins when it is first polled.
#[derive(Debug)]
#[must_use = "a wait does nothing unless it is awaited"]
pub struct ManualSleep {
    clock: ManualClock,
    duration: Duration,
    kind: Kind,
    begun: Option<Begun>,
}

impl Future for ManualSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (kind, duration) = (self.kind, self.duration);
        let clock = self.clock.clone();
        let mut state = clock.lock();
        let begun = *self
            .begun
            .get_or_insert_with(|| state.begin(kind, duration));
        if kind == Kind::Sleep && state.mode == Mode::Skipping {
            state.move_to(begun.until).wake(state);
            return Poll::Ready(());
        }
        if state.now >= begun.until {
            state.forget(begun.id);
            return Poll::Ready(());
        }
        let watchers = state.wait(begun, kind, cx.waker());
        drop(state);
        watchers.into_iter().for_each(Waker::wake);
        Poll::Pending
    }
}

impl Drop for ManualSleep {
    fn drop(&mut self) {
        if let Some(begun) = self.begun {
            self.clock.lock().forget(begun.id);
        }
    }
}

#[derive(Debug)]
struct State {
    mode: Mode,
    now: Duration,
    // The wall time, and the monotonic time at which it was that.
    wall: SystemTime,
    wall_at: Duration,
    sleeps: Vec<Duration>,
    waiters: Vec<Waiter>,
    watchers: Vec<Waker>,
    next_id: u64,
}

impl State {
    fn begin(&mut self, kind: Kind, duration: Duration) -> Begun {
        if kind == Kind::Sleep {
            self.sleeps.push(duration);
        }
        self.next_id += 1;
        Begun {
            id: self.next_id,
            until: self.now.saturating_add(duration),
        }
    }

    /// Enters a waiter; gives those to be woken, once the lock is released, that watch for sleepers.
    fn wait(&mut self, begun: Begun, kind: Kind, waker: &Waker) -> Vec<Waker> {
        self.forget(begun.id);
        self.waiters.push(Waiter {
            id: begun.id,
            until: begun.until,
            kind,
            waker: waker.clone(),
        });
        match kind {
            Kind::Sleep => std::mem::take(&mut self.watchers),
            Kind::Guard => Vec::new(),
        }
    }

    fn forget(&mut self, id: u64) {
        self.waiters.retain(|waiter| waiter.id != id);
    }

    fn move_to(&mut self, now: Duration) -> Due {
        self.now = now;
        let (due, waiting) = self
            .waiters
            .drain(..)
            .partition(|waiter| waiter.until <= now);
        self.waiters = waiting;
        Due(due)
    }
}

/// Waiters whose wait is over, to be woken once the lock is released.
#[must_use]
struct Due(Vec<Waiter>);

impl Due {
    fn wake(self, state: MutexGuard<'_, State>) {
        drop(state);
        self.0.into_iter().for_each(|waiter| waiter.waker.wake());
    }
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    until: Duration,
    kind: Kind,
    waker: Waker,
}

#[derive(Clone, Copy, Debug)]
struct Begun {
    id: u64,
    until: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sleep,
    Guard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Standing,
    Skipping,
}

/// 2026-12-01 00:00:00 UTC.
const FIRST_WALL: Duration = Duration::from_secs(1_796_083_200);
