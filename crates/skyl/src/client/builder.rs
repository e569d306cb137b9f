//! Builds a client, and refuses by name what it will not take.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use skyl_retry::{Choice, Clock, Failure, RetryBudget, RetryPolicy};

use crate::client::Client;
use crate::client::settings::Settings;
use crate::clock::AnyClock;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::hook::HookEvent;

/// Collects a client's settings and checks them once, at [`build`](Self::build).
///
/// Later settings win over earlier ones; hooks add up.
#[must_use = "a builder does nothing until `build`"]
pub struct ClientBuilder {
    dialect: Arc<dyn Dialect>,
    settings: Settings,
}

/// Retries.
///
/// Where each default comes from stands in the [guide](crate::guide#figures-of-a-policy).
impl ClientBuilder {
    pub(crate) fn new(dialect: Arc<dyn Dialect>) -> Self {
        Self {
            dialect,
            settings: Settings::new(RetryPolicy::builder()),
        }
    }

    /// Sets the retries after the first attempt. Default: 3. Zero is off; at most 1,000.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.settings.policy = self.settings.policy.max_retries(retries);
        self
    }

    /// Sets the bounds of the own backoff. Default: 500 ms and 30 s.
    ///
    /// The wait before retry n, from 0, is drawn uniformly from `0..=min(base · 2ⁿ, max)`. A base
    /// of zero is refused while retries are on, and so is a `max` below it; at most 7 days.
    pub fn retry_delay(mut self, base: Duration, max: Duration) -> Self {
        self.settings.policy = self.settings.policy.initial_delay(base).max_delay(max);
        self
    }

    /// Caps the wait a server may ask for. Default: 5 min. Above 0, at most 7 days.
    pub fn retry_after_cap(mut self, cap: Duration) -> Self {
        self.settings.policy = self.settings.policy.max_retry_after(cap);
        self
    }

    /// Sets the whole retry policy. Default: [`RetryPolicy::chat`].
    ///
    /// Replaces what [`max_retries`](Self::max_retries), [`retry_delay`](Self::retry_delay) and
    /// [`retry_after_cap`](Self::retry_after_cap) have set before.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "handed over, as every setting is"
    )]
    pub fn policy(mut self, policy: RetryPolicy) -> Self {
        self.settings.policy = policy.to_builder();
        self
    }

    /// Asks this closure, instead of the server's word and the table, whether to retry.
    ///
    /// It replaces the choice and nothing else: attempts, budgets and deadlines still hold, and
    /// delivered content, cancellation and rejected certificates are not put to it.
    pub fn should_retry<F>(mut self, choose: F) -> Self
    where
        F: Fn(&Failure) -> Choice + Send + Sync + 'static,
    {
        self.settings.should_retry = Some(Arc::new(choose));
        self
    }

    /// Shares a retry budget with others. Default: one of its own if the policy has figures for it.
    pub fn retry_budget(mut self, budget: Arc<RetryBudget>) -> Self {
        self.settings.retry_budget = Some(budget);
        self
    }

    /// Lets one call's server wait hold back all calls to the same host and model. Default: off.
    ///
    /// Each waits for what is left, spread a little, before its next attempt; the wait can be
    /// cancelled, never passes a deadline, and stands in the attempt's record as its pause.
    pub fn shared_pause(mut self, on: bool) -> Self {
        self.settings.shared_pause = on;
        self
    }
}

/// Time.
impl ClientBuilder {
    /// Limits each attempt, its body included. Default: 10 min, as the official SDKs do.
    ///
    /// Above 0, at most 7 days. A passed attempt timeout is retried. For a stream it limits the
    /// time to the first content, unless [`first_content_timeout`](Self::first_content_timeout)
    /// says otherwise.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeouts.attempt = Some(timeout);
        self
    }

    /// Limits the time to a stream's first content. Default: the attempt timeout.
    ///
    /// Above 0, at most 7 days. Comments and pings do not count as content. Models that think long
    /// need it long.
    pub fn first_content_timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeouts.first_content = Some(timeout);
        self
    }

    /// Limits the silence between two bytes after a stream's first content. Default: 5 min.
    ///
    /// Above 0, at most 7 days. Comments and pings count as life. The default is skyl's own.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeouts.idle = Some(timeout);
        self
    }

    /// Limits connecting, TLS included. Default: 10 s. Above 0, at most 7 days.
    ///
    /// Kept by the HTTP library on the real clock, also under an injected one. The default is skyl's
    /// own.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.settings.connect_timeout = timeout;
        self
    }

    /// Limits every whole call: attempts, waits, and the rest of a stream. Default: none.
    ///
    /// Above 0, at most 7 days. Unlike an attempt timeout it is final.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.settings.total_timeout = Some(timeout);
        self
    }

    /// Injects the clock of all waits and timeouts. Default: Tokio's.
    ///
    /// For tests that must not wait: see `ManualClock` behind the feature `test-util`.
    pub fn clock<C>(mut self, clock: C) -> Self
    where
        C: Clock + Send + Sync + 'static,
        C::Sleep: Send + 'static,
    {
        self.settings.clock = Some(AnyClock::given(clock));
        self
    }

    /// Fixes the randomness of all waits. Default: the system's, and no two clients share any.
    ///
    /// For tests alone: clients of one seed retry in step.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = Some(seed);
        self
    }
}

/// The rest.
impl ClientBuilder {
    /// Adds a hook, called once per attempt and at the end of every stream.
    ///
    /// It is told a [`HookEvent`]. All hooks are called, in the order they were added, on the task
    /// that makes the call and before its wait.
    pub fn hook<F>(mut self, hook: F) -> Self
    where
        F: Fn(&HookEvent<'_>) + Send + Sync + 'static,
    {
        self.settings.hooks.push(hook);
        self
    }

    /// Names a header that carries the retry's number, from 1, on retries. Default: none.
    pub fn attempt_header(mut self, name: impl Into<String>) -> Self {
        self.settings.attempt_header = Some(name.into());
        self
    }

    /// Names a header that carries one random value for all attempts of a call. Default: none.
    ///
    /// For providers that document one: without it a retried request may be billed twice.
    pub fn idempotency_key_header(mut self, name: impl Into<String>) -> Self {
        self.settings.idempotency_key_header = Some(name.into());
        self
    }

    /// Caps the body of an answer, and a stream's content, in bytes. Default: 64 MiB. Above 0.
    ///
    /// A longer one is an error of kind [`Decode`](crate::ErrorKind::Decode). The default is skyl's
    /// own: room for any answer seen so far, images in base64 included.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_body_bytes = bytes;
        self
    }

    /// Adjusts the HTTP library's own builder: proxies, certificates, pools, name resolution.
    ///
    /// skyl's own settings (redirects and retries off, HTTP/1.1, no compression, the connect
    /// timeout) are applied after it and win. A timeout set here is obeyed, counts as an attempt
    /// timeout, and lives on the real clock.
    #[cfg(feature = "reqwest")]
    pub fn http<F>(mut self, adjust: F) -> Self
    where
        F: FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder + Send + 'static,
    {
        self.settings.adjust = Some(Box::new(adjust));
        self
    }

    /// Checks every setting and makes the client.
    ///
    /// # Errors
    /// Kind [`BadRequest`](crate::ErrorKind::BadRequest), naming the setting: a policy figure out of its
    /// range or above the client's limits, a policy whose waits cannot vary (a fleet on a fixed
    /// schedule attacks its own provider), a timeout of zero or over 7 days, a header name or base
    /// address that is none. Kind [`Auth`](crate::ErrorKind::Auth) for a key no header can carry.
    pub fn build(self) -> Result<Client, Error> {
        let service = Arc::new(Arc::clone(&self.dialect));
        Ok(Client {
            core: Arc::new(self.settings.core(service)?),
            dialect: self.dialect,
        })
    }
}

// The dialect's own print may show its address, and an address may carry a key.
impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("provider", &self.dialect.name())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
