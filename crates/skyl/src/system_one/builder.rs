//! Builds a client: what was set, else the environment, else the defaults.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use skyl_retry::{Choice, Clock, Failure, Jitter, OverCap, RetryBudget, RetryPolicy, StatusSet};

use crate::client::{Settings, prepare};
use crate::clock::AnyClock;
use crate::error::Error;
use crate::hook::HookEvent;
use crate::key::ApiKey;
use crate::kind::ErrorKind;
use crate::system_one::client::{Client, Shared};
use crate::system_one::cost::Price;
use crate::system_one::decode::Strictness;
use crate::system_one::service::{PROVIDER, SystemOne};

/// Collects a client's settings and checks them once, at [`build`](Self::build).
///
/// Later settings win over earlier ones, and both over the environment; hooks and headers add up.
#[must_use = "a builder does nothing until `build`"]
pub struct ClientBuilder {
    key: Option<ApiKey>,
    base_url: String,
    model: String,
    headers: Vec<(String, String)>,
    price: Option<Price>,
    strictness: Strictness,
    context_check: ContextCheck,
    images: bool,
    long_context: bool,
    settings: Settings,
}

/// What a request that seems to pass a ceiling of the context comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContextCheck {
    /// Nothing: it is not looked at.
    Off,
    /// A warning on the response.
    #[default]
    Warn,
    /// An error of kind [`ContextLength`](crate::ErrorKind::ContextLength); nothing is sent.
    Error,
}

/// Whom to ask.
impl ClientBuilder {
    /// Reads the three variables and begins with the defaults.
    pub(super) fn from_env(variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| variable(name).as_deref().and_then(given);
        let mut settings = Settings::new(RetryPolicy::system_one().to_builder());
        settings.timeouts.attempt = Some(ATTEMPT_TIMEOUT);
        settings.attempt_header = Some(RETRY_COUNT.to_owned());
        Self {
            key: variable(KEY_VARIABLE).map(ApiKey::new),
            base_url: variable(BASE_URL_VARIABLE).unwrap_or_else(|| BASE_URL.to_owned()),
            model: variable(MODEL_VARIABLE).unwrap_or_else(|| MODEL.to_owned()),
            headers: Vec::new(),
            price: None,
            strictness: Strictness::default(),
            context_check: ContextCheck::default(),
            images: false,
            long_context: false,
            settings,
        }
    }

    /// Sets the API key. Default: `TYPESAFE_API_KEY`. Blank is as if not called.
    pub fn api_key(mut self, key: impl Into<ApiKey>) -> Self {
        let key = key.into();
        if !key.expose().is_empty() {
            self.key = Some(key);
        }
        self
    }

    /// Sets the root before `/v1`. Default: `TYPESAFE_BASE_URL`, else `https://api.typesafe.ai`.
    ///
    /// A path before it is kept, and a `/v1` at its end is accepted. Blank is as if not called.
    /// Query, fragment and user are refused.
    pub fn base_url(mut self, url: impl AsRef<str>) -> Self {
        self.base_url = given(url.as_ref()).unwrap_or(self.base_url);
        self
    }

    /// Sets the model of requests that name none. Default: `TYPESAFE_DEFAULT_MODEL`, else `jev-latest`.
    ///
    /// Never checked against a list. Pin a version (`jev-1.13.0`) where thresholds are tuned to it.
    /// Blank is as if not called.
    pub fn model(mut self, model: impl AsRef<str>) -> Self {
        self.model = given(model.as_ref()).unwrap_or(self.model);
        self
    }

    /// Adds a header to every request; see [`CallOptions::header`](super::CallOptions::header).
    ///
    /// A call's own header of that name replaces it.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Opts in to images: assets and box questions. Default: off, as the API has it.
    ///
    /// Sends `TypeSafe-Danger-Zone-Images: true`. Without it a request that holds images is refused
    /// before it is sent.
    pub fn images(mut self, on: bool) -> Self {
        self.images = on;
        self
    }

    /// Opts in to contexts past the two ceilings. Default: off, as the API has it.
    ///
    /// Sends `TypeSafe-Danger-Zone-Long-Context: true`; requests are then held to the long ceiling.
    pub fn long_context(mut self, on: bool) -> Self {
        self.long_context = on;
        self
    }
}

/// Retries.
///
/// The fields of the API's own page on retries, by their names, and a few it does not have. Where
/// each default comes from stands at [`RetryPolicy::system_one`].
impl ClientBuilder {
    /// Sets the whole retry policy. Default: [`RetryPolicy::system_one`].
    ///
    /// Replaces what the setters of single figures have set before. A policy whose waits cannot vary
    /// is taken.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "handed over, as every setting is"
    )]
    pub fn policy(mut self, policy: RetryPolicy) -> Self {
        self.settings.policy = policy.to_builder();
        self
    }

    /// Sets the retries after the first attempt. Default: 2. Zero is off; at most 1,000.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.settings.policy = self.settings.policy.max_retries(retries);
        self
    }

    /// Sets the first backoff. Default: 500 ms. Zero retries at once; at most 7 days.
    pub fn initial_delay(mut self, delay: Duration) -> Self {
        self.settings.policy = self.settings.policy.initial_delay(delay);
        self
    }

    /// Caps the backoff. Default: 5 s. Not below the first; at most 7 days.
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.settings.policy = self.settings.policy.max_delay(delay);
        self
    }

    /// Sets how a backoff varies. Default: shaved by a random fraction up to 0.25.
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.settings.policy = self.settings.policy.jitter(jitter);
        self
    }

    /// Sets whether the server's wait replaces the backoff. Default: `true`.
    pub fn honor_retry_after(mut self, honor: bool) -> Self {
        self.settings.policy = self.settings.policy.honor_retry_after(honor);
        self
    }

    /// Caps the wait a server may ask for. Default: 5 min. Above 0, at most 7 days.
    pub fn max_retry_after(mut self, cap: Duration) -> Self {
        self.settings.policy = self.settings.policy.max_retry_after(cap);
        self
    }

    /// Sets what becomes of a server's wait above the cap. Default: [`OverCap::Clamp`].
    pub fn over_cap(mut self, over_cap: OverCap) -> Self {
        self.settings.policy = self.settings.policy.over_cap(over_cap);
        self
    }

    /// Bounds when a retry may start, counted from the start of the call. Default: 30 s.
    ///
    /// Zero is unlimited; at most 7 days. Asked once before each wait: one that would pass it is not
    /// begun. It never cuts an attempt; [`total_timeout`](Self::total_timeout) does.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.settings.policy = self.settings.policy.budget(budget);
        self
    }

    /// Sets the statuses that are retried. Default: 408, 429, 500–599. 422 is refused.
    ///
    /// For requests that must not be processed twice, `[429, 503, 529]`: a 500 or 504 may come after
    /// the work was done.
    pub fn retry_statuses(mut self, statuses: StatusSet) -> Self {
        self.settings.policy = self.settings.policy.retry_statuses(statuses);
        self
    }

    /// Sets whether connection errors are retried. Default: `true`.
    ///
    /// An answer that breaks off counts as one.
    pub fn retry_on_conn_err(mut self, retry: bool) -> Self {
        self.settings.policy = self.settings.policy.retry_on_conn_err(retry);
        self
    }

    /// Sets whether attempts that timed out are retried. Default: `true`.
    pub fn retry_on_timeout(mut self, retry: bool) -> Self {
        self.settings.policy = self.settings.policy.retry_on_timeout(retry);
        self
    }

    /// Sets whether provably unsent requests are retried despite their switch. Default: `false`.
    ///
    /// Names that do not resolve, refused connections, connect timeouts, failed handshakes: with the
    /// two switches off and this on, nothing is billed twice and the harmless failures still heal.
    pub fn retry_unsent(mut self, retry: bool) -> Self {
        self.settings.policy = self.settings.policy.retry_unsent(retry);
        self
    }

    /// Asks this closure, instead of the table of statuses and switches, whether to retry.
    ///
    /// It replaces the choice and nothing else: attempts, budgets and deadlines still hold, and
    /// cancellation and rejected certificates are not put to it. It may ask for a 422 again.
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

    /// Lets one call's server wait hold back all calls to the same model. Default: off.
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
    /// Limits each attempt, its body included. Default: 10 s, as the API's own clients do.
    ///
    /// Above 0, at most 7 days. A passed attempt timeout is retried, unless
    /// [`retry_on_timeout`](Self::retry_on_timeout) is off.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeouts.attempt = Some(timeout);
        self
    }

    /// Limits connecting, TLS included. Default: 10 s. Above 0, at most 7 days.
    ///
    /// A passed one proves that nothing was sent. Kept by the HTTP library on the real clock, also
    /// under an injected one. With both limits at 10 s the attempt's may come first: set this one
    /// lower where [`retry_unsent`](Self::retry_unsent) is to tell the two apart.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.settings.connect_timeout = timeout;
        self
    }

    /// Limits every whole call, waits and the attempt in flight included. Default: none.
    ///
    /// Above 0, at most 7 days. Unlike an attempt timeout it is final: kind
    /// [`Deadline`](crate::ErrorKind::Deadline), with the last real error in
    /// [`last_error`](crate::Error::last_error).
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
    /// Adds a hook, called once per attempt and before its wait, with a [`HookEvent`].
    pub fn hook<F>(mut self, hook: F) -> Self
    where
        F: Fn(&HookEvent<'_>) + Send + Sync + 'static,
    {
        self.settings.hooks.push(hook);
        self
    }

    /// Sets how answers that are not as promised are taken. Default: [`Strictness::Strict`].
    pub fn strictness(mut self, strictness: Strictness) -> Self {
        self.strictness = strictness;
        self
    }

    /// Sets what a request that seems too long comes to. Default: [`ContextCheck::Warn`].
    ///
    /// The length is an estimate that errs on the long side, and the server's count is what holds.
    pub fn context_check(mut self, check: ContextCheck) -> Self {
        self.context_check = check;
        self
    }

    /// Names the price that [`Response::cost`](super::Response::cost) goes by. Default: none.
    pub fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Caps the body of an answer, in bytes. Default: 64 MiB. Above 0.
    ///
    /// A longer one is an error of kind [`Decode`](crate::ErrorKind::Decode).
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
    /// Kind [`Auth`](crate::ErrorKind::Auth) where there is no key, or one that no header can carry.
    /// Kind [`BadRequest`](crate::ErrorKind::BadRequest), naming the setting, for every other that
    /// cannot be: a policy figure out of its range or above the client's limits, 422 among the
    /// retried statuses, a timeout of zero or over 7 days, a header that is none or not the caller's
    /// to set, a base URL that is none, a price that is none.
    pub fn build(self) -> Result<Client, Error> {
        let provider = Arc::from(PROVIDER);
        let refuse = |what: &str, why: &str| Error::refused(&provider, format!("{what}: {why}"));

        let key = self.key.ok_or_else(|| {
            Error::new(ErrorKind::Auth)
                .provided_by(&provider)
                .with_message(format!("no API key: set {KEY_VARIABLE} or `api_key`"))
        })?;
        let base_url = root(&self.base_url).map_err(|why| refuse("base URL", why))?;
        if let Some(price) = &self.price {
            price.check().map_err(|why| refuse("price", why))?;
        }
        let core = self.settings.core(Arc::new(SystemOne { base_url, key }))?;
        prepare::check_headers(&core, &self.headers)?;
        Ok(Client::new(Shared {
            core,
            model: self.model,
            headers: self.headers,
            price: self.price,
            strictness: self.strictness,
            context_check: self.context_check,
            images: self.images,
            long_context: self.long_context,
        }))
    }
}

// A base URL or a header may hold a secret.
impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("model", &self.model)
            .field("strictness", &self.strictness)
            .field("context_check", &self.context_check)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// A text without white space around it; nothing if nothing is left.
pub(super) fn given(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The root before `/v1`, without a slash at its end.
fn root(url: &str) -> Result<String, &'static str> {
    let parsed = reqwest::Url::parse(url).map_err(|_| "is not an address")?;
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return Err("must not have a query or a fragment");
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("must not name a user; the key has a setting of its own");
    }
    let root = url.trim_end_matches('/');
    Ok(root
        .strip_suffix("/v1")
        .unwrap_or(root)
        .trim_end_matches('/')
        .to_owned())
}

const KEY_VARIABLE: &str = "TYPESAFE_API_KEY";
const BASE_URL_VARIABLE: &str = "TYPESAFE_BASE_URL";
const MODEL_VARIABLE: &str = "TYPESAFE_DEFAULT_MODEL";

const BASE_URL: &str = "https://api.typesafe.ai";
const MODEL: &str = "jev-latest";

/// What the API's own clients allow for an attempt (autumn 2026).
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of the retry, on retries alone.
pub(super) const RETRY_COUNT: &str = "X-TypeSafe-Retry-Count";
