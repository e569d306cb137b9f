//! The settings every client has, whatever it calls; checked once, by name.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use http::{HeaderMap, HeaderName};
use skyl_retry::{InvalidPolicy, RetryBudget, RetryPolicyBuilder, Rng, Seeds, SharedPause};

use crate::client::Core;
use crate::client::options::{ShouldRetry, Timeouts};
use crate::client::service::Service;
use crate::clock::AnyClock;
use crate::error::Error;
use crate::hook::Hooks;
use crate::http::{Adjust, Http};
use crate::scrub::{LEAST_BYTES, Scrubber};

/// What a builder has been told so far, the service itself left out.
pub(crate) struct Settings {
    pub(crate) policy: RetryPolicyBuilder,
    pub(crate) timeouts: Timeouts,
    pub(crate) connect_timeout: Duration,
    pub(crate) total_timeout: Option<Duration>,
    pub(crate) hooks: Hooks,
    pub(crate) should_retry: Option<Arc<ShouldRetry>>,
    pub(crate) retry_budget: Option<Arc<RetryBudget>>,
    pub(crate) shared_pause: bool,
    pub(crate) attempt_header: Option<String>,
    pub(crate) idempotency_key_header: Option<String>,
    pub(crate) max_body_bytes: usize,
    pub(crate) clock: Option<AnyClock>,
    pub(crate) seed: Option<u64>,
    pub(crate) adjust: Option<Adjust>,
}

impl Settings {
    pub(crate) fn new(policy: RetryPolicyBuilder) -> Self {
        Self {
            policy,
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

    /// Checks every setting and makes what all clones of a client share.
    pub(crate) fn core(self, service: Arc<dyn Service>) -> Result<Core, Error> {
        let provider: Arc<str> = service.name().into();
        let refuse = |what: &str, why: &str| Error::refused(&provider, format!("{what}: {why}"));
        let invalid = |invalid: InvalidPolicy| Error::invalid_policy(&provider, &invalid);

        let policy = self.policy.build().map_err(invalid)?;
        service.check_policy(&policy).map_err(invalid)?;
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

        let scrubber = Scrubber::new(service.key());
        check_base_url(service.base_url()).map_err(|why| refuse("base URL", why))?;
        // Put in anew for every call; here only a key that cannot be sent is to come to light.
        service
            .authorize(&mut HeaderMap::new())
            .map_err(|fault| Error::from_fault(&fault, &provider, &scrubber))?;
        if service
            .key()
            .is_some_and(|key| (1..LEAST_BYTES).contains(&key.expose().len()))
        {
            tracing::warn!(
                provider = &*provider,
                "the API key is under {LEAST_BYTES} bytes: it cannot be kept out of echoed texts"
            );
        }
        let http = Http::build(service.base_url(), self.connect_timeout, self.adjust).map_err(
            |source| {
                Error::refused(&provider, "the HTTP client cannot be set up").with_source(source)
            },
        )?;

        let retry_budget = OnceLock::new();
        if let Some(budget) = self
            .retry_budget
            .or_else(|| RetryBudget::for_policy(&policy))
        {
            // The cell is new, so there is nothing in it to be in the way.
            let _first = retry_budget.set(budget);
        }
        Ok(Core {
            service,
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
        })
    }
}

// Closures and the HTTP library's builder have nothing to show.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("policy", &self.policy)
            .field("timeouts", &self.timeouts)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
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
