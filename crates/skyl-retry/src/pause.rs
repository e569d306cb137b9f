//! The shared pause: a server's wait holds back new attempts to the same host and model.
//!
//! When a server says "not before ten seconds", the call that was told waits; without a pause, all
//! other calls of the client run into the same answer first. The pause tells them. It is advice
//! for attempts not yet begun: it never cuts one in flight, and it forgets itself when it passes.
//!
//! Waiters that all left at the end of the pause would arrive as a crowd, so each adds a spread of
//! its own. Memory is bounded: passed pauses are dropped, and beyond [`MAX_PAUSES`] keys new ones
//! are not noted. A pause that was not noted costs one more refusal; memory without a bound costs
//! the process.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::decide::widest;
use crate::policy::Spread;
use crate::rng::Rng;

/// Pauses by host and model, shared by all calls of one client.
///
/// ```
/// use skyl_retry::SharedPause;
/// use std::time::Duration;
///
/// let pause = SharedPause::new();
/// let second = Duration::from_secs(1);
/// pause.note("api.example.com", "large", second, 10 * second);
/// assert_eq!(pause.remaining("api.example.com", "large", 4 * second), Some(7 * second));
/// assert_eq!(pause.remaining("api.example.com", "small", 4 * second), None);
/// assert_eq!(pause.remaining("api.example.com", "large", 11 * second), None);
/// ```
#[derive(Debug, Default)]
pub struct SharedPause {
    // The end of the last pause noted, in nanoseconds: at and after it the lock is not needed.
    // It may lag behind the map by a moment; who reads it then begins an attempt it would have
    // begun a moment earlier anyway.
    latest_end: AtomicU64,
    pauses: Mutex<Pauses>,
}

impl SharedPause {
    /// No pause yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that this host and model asked for a wait at `now`; the later end of two stands.
    ///
    /// `wait` is what the policy obeys: clamped, without spread. A wait of zero is no pause. `now`
    /// is read from the one clock that all users of this value share.
    pub fn note(&self, host: &str, model: &str, now: Duration, wait: Duration) {
        if wait.is_zero() {
            return;
        }
        let end = now.saturating_add(wait);
        self.lock().note(host, model, now, end);
        self.latest_end.fetch_max(nanos(end), Relaxed);
    }

    /// The time left of the pause; `None` if there is none.
    ///
    /// One relaxed load while nothing is paused.
    #[must_use]
    pub fn remaining(&self, host: &str, model: &str, now: Duration) -> Option<Duration> {
        if nanos(now) >= self.latest_end.load(Relaxed) {
            return None;
        }
        let end = *self.lock().ends.get(host)?.get(model)?;
        end.checked_sub(now).filter(|left| !left.is_zero())
    }

    /// The wait of one new attempt: what is left of the pause, plus this waiter's own spread.
    ///
    /// The spread is the policy's, taken of what is left; without one, up to a quarter of what is
    /// left and at most 5 s. `None` if there is no pause.
    #[must_use]
    pub fn wait(
        &self,
        host: &str,
        model: &str,
        now: Duration,
        spread: Option<Spread>,
        rng: &mut Rng,
    ) -> Option<Duration> {
        let left = self.remaining(host, model, now)?;
        let spread = rng.up_to(widest(&spread.unwrap_or(DEFAULT_SPREAD), left, 0));
        Some(left.saturating_add(spread))
    }

    fn lock(&self) -> MutexGuard<'_, Pauses> {
        // Nothing panics under the lock; were it otherwise, a stale pause is harmless.
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Pauses {
    // End by host, then model: two maps, so that a look-up needs no owned key.
    ends: HashMap<Box<str>, HashMap<Box<str>, Duration>>,
    // Invariant: the number of ends in the map, at most MAX_PAUSES.
    count: usize,
}

impl Pauses {
    fn note(&mut self, host: &str, model: &str, now: Duration, end: Duration) {
        if let Some(known) = self
            .ends
            .get_mut(host)
            .and_then(|models| models.get_mut(model))
        {
            *known = end.max(*known);
            return;
        }
        if self.count >= MAX_PAUSES {
            self.drop_passed(now);
        }
        if self.count < MAX_PAUSES {
            self.ends
                .entry(host.into())
                .or_default()
                .insert(model.into(), end);
            self.count += 1;
        }
    }

    fn drop_passed(&mut self, now: Duration) {
        self.ends.retain(|_, models| {
            models.retain(|_, end| *end > now);
            !models.is_empty()
        });
        self.count = self.ends.values().map(HashMap::len).sum();
    }
}

fn nanos(duration: Duration) -> u64 {
    // 584 years; a pause beyond is one without end.
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Keys kept at once: more hosts and models than one client talks to.
pub(crate) const MAX_PAUSES: usize = 1024;

/// Wide enough to break a crowd, narrow enough not to waste what was waited for.
const DEFAULT_SPREAD: Spread = Spread {
    of_hint: 0.25,
    growth: 1.0,
    max: Duration::from_secs(5),
};
