//! The shared pause: a server's wait holds back new attempts to the same host and model.

use std::time::Duration;

use crate::policy::Spread;
use crate::rng::Rng;

/// Pauses by host and model, shared by all calls of one client.
#[derive(Debug, Default)]
pub struct SharedPause;

impl SharedPause {
    /// No pause yet.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    /// Notes that this host and model asked for a wait (already clamped) at `now`.
    pub fn note(&self, host: &str, model: &str, now: Duration, wait: Duration) {
        let _ = (host, model, now, wait);
    }

    /// The time left of the pause; `None` if there is none.
    #[must_use]
    pub fn remaining(&self, host: &str, model: &str, now: Duration) -> Option<Duration> {
        let _ = (host, model, now);
        None
    }

    /// The wait of one new attempt: what is left, plus this waiter's own spread.
    ///
    /// Without a spread of the policy's, a quarter of what is left, at most 5 s.
    #[must_use]
    pub fn wait(
        &self,
        host: &str,
        model: &str,
        now: Duration,
        spread: Option<Spread>,
        rng: &mut Rng,
    ) -> Option<Duration> {
        let _ = (host, model, now, spread, rng);
        None
    }
}
