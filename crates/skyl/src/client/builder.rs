//! Builds a client, and refuses by name what it will not take.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use http::{HeaderMap, HeaderName};
use skyl_retry::{
    Choice, Clock, Failure, InvalidPolicy, RetryBudget, RetryPolicy, RetryPolicyBuilder, Rng,
    Seeds, SharedPause,
};

use crate::client::options::{ShouldRetry, Timeouts};
use crate::client::{Client, Core};
use crate::clock::AnyClock;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::hook::{HookEvent, Hooks};
use crate::http::{Adjust, Http};
use crate::scrub::{LEAST_BYTES, Scrubber};

/// Collects a client's settings and checks them once, at [`build`](Self::build).
///
/// Later settings win over earlier ones; hooks add up.
#[must_use = "a builder does nothing until `build`"]
pub struct ClientBuilder {
    dialect: Arc<dyn Dialect>,
    policy: RetryPolicyBuilder,
    timeouts: Timeouts,
    connect_timeout: Duration,
    total_timeout: Option<Duration>,
    hooks: Hooks,
    should_retry: Option<Arc<ShouldRetry>>,
    retry_budget: Option<Arc<RetryBudget>>,
    shared_pause: bool,
    attempt_header: Option<String>,
    idempotency_key_header: Option<String>,
    max_body_bytes: usize,
    clock: Option<AnyClock>,
    seed: Option<u64>,
    adjust: Option<Adjust>,
}

/// Retries.
///
/// Where each default comes from stands in the [guide](crate::guide#figures-of-a-policy).
impl ClientBuilder {
    pub(crate) fn new(dialect: Arc<dyn Dialect>) -> Self {
        Self {
            dialect,
            policy: RetryPolicy::builder(),
            timeouts: Timeouts::default(),
            connect_timeout: CONNECT_TIMEOUT,
            total_timeout: None,
            hooks: Hooks::default(),
            should_retry: None,
            retry_budget: None,
            shared_pause: false,
            attempt_header: None,
            idempotency_key_header: None,
            max_body_bytes: MAX_BODY_BYTES,
            clock: None,
            seed: None,
            adjust: None,
        }
    }

    /// Sets the retries after the first attempt. Default: 3. Zero is off; at most 1,000.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.policy = self.policy.max_retries(retries);
        self
    }

    /// Sets the bounds of the own backoff. Default: 500 ms and 30 s.
    ///
    /// The wait before retry n, from 0, is drawn uniformly from `0..=min(base · 2ⁿ, max)`. A base
    /// of zero is refused while retries are on, and so is a `max` below it; at most 7 days.
    pub fn retry_delay(mut self, base: Duration, max: Duration) -> Self {
        self.policy = self.policy.initial_delay(base).max_delay(max);
        self
    }

    /// Caps the wait a server may ask for. Default: 5 min. Above 0, at most 7 days.
    pub fn retry_after_cap(mut self, cap: Duration) -> Self {
        self.policy = self.policy.max_retry_after(cap);
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
        self.policy = policy.to_builder();
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
        self.should_retry = Some(Arc::new(choose));
        self
    }

    /// Shares a retry budget with others. Default: one of its own if the policy has figures for it.
    pub fn retry_budget(mut self, budget: Arc<RetryBudget>) -> Self {
        self.retry_budget = Some(budget);
        self
    }

    /// Lets one call's server wait hold back all calls to the same host and model. Default: off.
    ///
    /// Each waits for what is left, spread a little, before its next attempt; the wait can be
    /// cancelled, never passes a deadline, and stands in the attempt's record as its pause.
    pub fn shared_pause(mut self, on: bool) -> Self {
        self.shared_pause = on;
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
        self.timeouts.attempt = Some(timeout);
        self
    }

    /// Limits the time to a stream's first content. Default: the attempt timeout.
    ///
    /// Above 0, at most 7 days. Comments and pings do not count as content. Models that think long
    /// need it long.
    pub fn first_content_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.first_content = Some(timeout);
        self
    }

    /// Limits the silence between two bytes after a stream's first content. Default: 5 min.
    ///
    /// Above 0, at most 7 days. Comments and pings count as life. The default is skyl's own.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.idle = Some(timeout);
        self
    }

    /// Limits connecting, TLS included. Default: 10 s. Above 0, at most 7 days.
    ///
    /// Kept by the HTTP library on the real clock, also under an injected one. The default is skyl's
    /// own.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Limits every whole call: attempts, waits, and the rest of a stream. Default: none.
    ///
    /// Above 0, at most 7 days. Unlike an attempt timeout it is final.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
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
        self.clock = Some(AnyClock::given(clock));
        self
    }

    /// Fixes the randomness of all waits. Default: the system's, and no two clients share any.
    ///
    /// For tests alone: clients of one seed retry in step.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
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
        self.hooks.push(hook);
        self
    }

    /// Names a header that carries the retry's number, from 1, on retries. Default: none.
    pub fn attempt_header(mut self, name: impl Into<String>) -> Self {
        self.attempt_header = Some(name.into());
        self
    }

    /// Names a header that carries one random value for all attempts of a call. Default: none.
    ///
    /// For providers that document one: without it a retried request may be billed twice.
    pub fn idempotency_key_header(mut self, name: impl Into<String>) -> Self {
        self.idempotency_key_header = Some(name.into());
        self
    }

    /// Caps the body of an answer, and a stream's content, in bytes. Default: 64 MiB. Above 0.
    ///
    /// A longer one is an error of kind [`Decode`](crate::ErrorKind::Decode). The default is skyl's
    /// own: room for any answer seen so far, images in base64 included.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = bytes;
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
        self.adjust = Some(Box::new(adjust));
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
        let provider: Arc<str> = self.dialect.name().into();
        let refuse = |what: &str, why: &str| Error::refused(&provider, format!("{what}: {why}"));
        let invalid = |invalid: InvalidPolicy| Error::invalid_policy(&provider, &invalid);

        let policy = self.policy.build().map_err(invalid)?;
        check_policy(&policy).map_err(invalid)?;
        for (name, timeout) in [
            ("attempt_timeout", self.timeouts.attempt),
            ("first_content_timeout", self.timeouts.first_content),
            ("idle_timeout", self.timeouts.idle),
            ("connect_timeout", Some(self.connect_timeout)),
            ("total_timeout", self.total_timeout),
        ] {
            check_timeout(timeout).map_err(|why| refuse(name, why))?;
        }
        if self.max_body_bytes == 0 {
            return Err(refuse("max_body_bytes", "must be above 0"));
        }
        let header = |setting: &str, name: Option<String>| match name.map(HeaderName::try_from) {
            None => Ok(None),
            Some(Ok(name)) => Ok(Some(name)),
            Some(Err(_)) => Err(refuse(setting, "is not a header name")),
        };
        let attempt_header = header("attempt_header", self.attempt_header)?;
        let idempotency_header = header("idempotency_key_header", self.idempotency_key_header)?;

        let scrubber = Scrubber::new(self.dialect.key());
        check_base_url(self.dialect.base_url()).map_err(|why| refuse("base URL", why))?;
        // Put in anew for every call; here only a key that cannot be sent is to come to light.
        self.dialect
            .authorize(&mut HeaderMap::new())
            .map_err(|fault| Error::from_fault(&fault, &provider, &scrubber))?;
        if self
            .dialect
            .key()
            .is_some_and(|key| (1..LEAST_BYTES).contains(&key.expose().len()))
        {
            tracing::warn!(
                provider = &*provider,
                "the API key is under {LEAST_BYTES} bytes: it cannot be kept out of echoed texts"
            );
        }
        let http = Http::build(self.dialect.base_url(), self.connect_timeout, self.adjust)
            .map_err(|source| {
                Error::refused(&provider, "the HTTP client cannot be set up").with_source(source)
            })?;

        let retry_budget = OnceLock::new();
        if let Some(budget) = self
            .retry_budget
            .or_else(|| RetryBudget::for_policy(&policy))
        {
            // The cell is new, so there is nothing in it to be in the way.
            let _first = retry_budget.set(budget);
        }
        Ok(Client {
            core: Arc::new(Core {
                dialect: self.dialect,
                provider,
                http,
                address: Mutex::default(),
                scrubber,
                policy,
                timeouts: self.timeouts,
                total_timeout: self.total_timeout,
                hooks: self.hooks,
                should_retry: self.should_retry,
                retry_budget,
                pauses: self.shared_pause.then(SharedPause::new),
                attempt_header,
                idempotency_header,
                max_body_bytes: self.max_body_bytes,
                clock: self.clock.unwrap_or_else(AnyClock::tokio),
                seeds: self.seed.map_or_else(Seeds::from_entropy, Seeds::from_seed),
                id: Rng::from_entropy().next_u64(),
                calls: AtomicU64::new(0),
            }),
        })
    }
}

// Closures and the HTTP library's builder have nothing to show.
impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("provider", &self.dialect.name())
            .field("policy", &self.policy)
            .field("timeouts", &self.timeouts)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}

/// What the client asks of every policy, at `build` and per call.
pub(crate) fn check_policy(policy: &RetryPolicy) -> Result<(), InvalidPolicy> {
    policy.check_client_limits()?;
    policy.wait_can_vary()
}

pub(crate) fn check_timeout(timeout: Option<Duration>) -> Result<(), &'static str> {
    match timeout {
        Some(Duration::ZERO) => Err("must be above 0"),
        Some(timeout) if timeout > LONGEST => Err("must be at most 7 days"),
        _ => Ok(()),
    }
}

fn check_base_url(url: &str) -> Result<(), &'static str> {
    let url = reqwest::Url::parse(url).map_err(|_| "is not an address")?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(()),
        "http" | "https" => Err("has no host"),
        _ => Err("must begin with http:// or https://"),
    }
}

/// Enough for any handshake that will come about; a host that takes longer is down.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Room for any answer seen so far, images in base64 included, and still a bound.
const MAX_BODY_BYTES: usize = 64 << 20;

/// Longer limits are mistakes: milliseconds taken for seconds, or the like.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);
