//! The client: one path for every call.
//!
//! validate → encode once → attempt → classify → decide → hook → wait → attempt. `complete`, the
//! start of `stream` and `models` share it; they differ only in what one attempt does with the
//! answer. All judgement is the engine's ([`skyl_retry::decide`]), all waiting its driver's: there
//! is no second loop here.
//!
//! Large futures are pinned where they are made: `.await` alone would move them once more at every
//! level, and moving its own states cost a call more than the decisions do.

mod builder;
mod call;
mod exchange;
mod models;
mod options;
mod plan;
pub(crate) mod prepare;
mod service;
mod settings;

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use http::HeaderName;
use skyl_retry::{Clock, RetryBudget, RetryPolicy, Seeds, SharedPause};
use tracing::Instrument;

use crate::answer::Response;
use crate::client::options::ShouldRetry;
use crate::client::prepare::{JSON, accepted};
use crate::clock::AnyClock;
use crate::dialect::{Dialect, Fault, Mode};
use crate::error::Error;
use crate::hook::{CallId, Hooks, Operation};
use crate::http::Http;
use crate::request::Request;
use crate::response::ModelInfo;
use crate::scrub::Scrubber;
use crate::stream::ResponseStream;

pub use self::builder::ClientBuilder;
pub use self::options::CallOptions;

pub(crate) use self::call::{Call, Success, Taken, reply_error};
pub(crate) use self::exchange::{Whole, idle_error, transport_error, whole};
pub(crate) use self::options::{Cancel, Timeouts};
pub(crate) use self::plan::Plan;
pub(crate) use self::service::Service;
pub(crate) use self::settings::Settings;

/// Makes calls to one provider that survive bad minutes.
///
/// Cheap to clone and safe to share: clones have one pool of connections and one retry budget. The
/// settings and their defaults are on [`ClientBuilder`].
///
/// ```no_run
/// use skyl::{Client, Request};
///
/// # async fn example(dialect: impl skyl::Dialect) -> Result<(), skyl::Error> {
/// let client = Client::builder(dialect).max_retries(5).build()?;
/// let request = Request::new("gpt-6").user("What is the capital of France?");
/// let answer = client.complete(&request).await?;
/// println!("{}", answer.text());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client {
    core: Arc<Core>,
    dialect: Arc<dyn Dialect>,
}

/// What all clones of a client share.
pub(crate) struct Core {
    pub(crate) service: Arc<dyn Service>,
    pub(crate) provider: Arc<str>,
    pub(crate) http: Http,
    /// The address of the last call: most clients call one, and reading it takes a twentieth of
    /// the processor time of a call over loopback.
    pub(crate) address: Mutex<Option<(String, reqwest::Url)>>,
    pub(crate) scrubber: Scrubber,
    pub(crate) policy: RetryPolicy,
    pub(crate) timeouts: Timeouts,
    pub(crate) total_timeout: Option<Duration>,
    pub(crate) hooks: Hooks,
    pub(crate) should_retry: Option<Arc<ShouldRetry>>,
    // Empty until a policy first asks for one.
    pub(crate) retry_budget: OnceLock<Arc<RetryBudget>>,
    pub(crate) pauses: Option<SharedPause>,
    pub(crate) attempt_header: Option<HeaderName>,
    pub(crate) idempotency_header: Option<HeaderName>,
    pub(crate) max_body_bytes: usize,
    pub(crate) clock: AnyClock,
    pub(crate) seeds: Seeds,
    /// Random bits that keep this client's call ids apart from every other's.
    pub(crate) id: u64,
    pub(crate) calls: AtomicU64,
}

impl Client {
    /// Starts a client of this provider.
    pub fn builder(dialect: impl Dialect) -> ClientBuilder {
        ClientBuilder::new(Arc::new(dialect))
    }

    /// Starts a client of a provider that is shared, or was chosen while running.
    pub fn builder_shared(dialect: Arc<dyn Dialect>) -> ClientBuilder {
        ClientBuilder::new(dialect)
    }

    /// The provider's name.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.core.provider
    }

    /// The retry policy of calls that bring none of their own.
    #[must_use]
    pub fn policy(&self) -> &RetryPolicy {
        &self.core.policy
    }

    /// The bucket retries are paid from; `None` if there is none.
    ///
    /// To be shared with other clients by [`ClientBuilder::retry_budget`].
    #[must_use]
    pub fn retry_budget(&self) -> Option<&Arc<RetryBudget>> {
        self.core.retry_budget.get()
    }

    /// Asks for one whole answer.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind). What is wrong locally is refused before anything is
    /// sent; then [`Error::attempts`] is empty.
    ///
    /// # Cancel safety
    /// Dropping the future ends the call at once, in mid-attempt and in mid-wait, and closes the
    /// connection in use. The provider may still answer, and bill, what it has received.
    pub async fn complete(&self, request: &Request) -> Result<Response, Error> {
        pin!(self.complete_with(request, CallOptions::new())).await
    }

    /// Asks for one whole answer, with options of its own.
    ///
    /// # Errors
    /// As [`complete`](Self::complete); also for options that cannot be, by name.
    ///
    /// # Cancel safety
    /// As [`complete`](Self::complete).
    pub async fn complete_with(
        &self,
        request: &Request,
        mut options: CallOptions,
    ) -> Result<Response, Error> {
        let core = &*self.core;
        request.validate().map_err(|fault| core.refuse(&fault))?;
        let cancel = std::mem::take(&mut options.cancel);
        let plan = Plan::new(core, &options, Timeouts::attempt)?;
        let mut encoded = self
            .dialect
            .encode(request, Mode::Complete)
            .map_err(|fault| core.refuse(&fault))?;
        let warnings = std::mem::take(&mut encoded.warnings);
        let wire = prepare::wire(core, &plan, encoded, JSON)?;
        let call = Call::new(
            core,
            &plan,
            core.next_id(),
            Operation::Complete,
            Some(&request.model),
        );
        let span = call.span();
        pin!(exchange::complete(
            &call,
            &*self.dialect,
            &wire,
            warnings,
            cancel
        ))
        .instrument(span)
        .await
    }

    /// Asks for an answer as a stream; resolves at its first content.
    ///
    /// Only the start is retried: everything that fails before the first content, an error inside
    /// the stream included, is a failed attempt like any other. After it nothing is ever sent
    /// again, and a failure comes out of the stream.
    ///
    /// # Errors
    /// As [`complete`](Self::complete).
    ///
    /// # Cancel safety
    /// As [`complete`](Self::complete). Dropping the stream closes its connection.
    pub async fn stream(&self, request: &Request) -> Result<ResponseStream, Error> {
        pin!(self.stream_with(request, CallOptions::new())).await
    }

    /// Asks for an answer as a stream, with options of its own.
    ///
    /// Deadline, idle timeout and cancellation hold to the end of the stream.
    ///
    /// # Errors
    /// As [`complete_with`](Self::complete_with).
    ///
    /// # Cancel safety
    /// As [`stream`](Self::stream).
    pub async fn stream_with(
        &self,
        request: &Request,
        mut options: CallOptions,
    ) -> Result<ResponseStream, Error> {
        let core = &*self.core;
        request.validate().map_err(|fault| core.refuse(&fault))?;
        let cancel = std::mem::take(&mut options.cancel);
        let plan = Plan::new(core, &options, Timeouts::first_content)?;
        let mut encoded = self
            .dialect
            .encode(request, Mode::Stream)
            .map_err(|fault| core.refuse(&fault))?;
        let warnings = std::mem::take(&mut encoded.warnings);
        let wire = prepare::wire(core, &plan, encoded, accepted(&*self.dialect))?;
        let call = Call::new(
            core,
            &plan,
            core.next_id(),
            Operation::Stream,
            Some(&request.model),
        );
        let span = call.span();
        pin!(exchange::stream(
            &self.core,
            &self.dialect,
            &call,
            &wire,
            &warnings,
            cancel
        ))
        .instrument(span)
        .await
    }

    /// Lists the provider's models, all pages of them.
    ///
    /// Each page is retried by itself and fires hooks of its own, all under one call id.
    ///
    /// # Errors
    /// As [`complete`](Self::complete); `Unsupported`, which is never retried, where the provider
    /// cannot list models; `Decode` if its pages never end.
    ///
    /// # Cancel safety
    /// As [`complete`](Self::complete).
    pub async fn models(&self) -> Result<Vec<ModelInfo>, Error> {
        self.models_with(CallOptions::new()).await
    }

    /// Lists the provider's models, with options of its own; the deadline is for all pages.
    ///
    /// # Errors
    /// As [`models`](Self::models); also for options that cannot be, by name.
    ///
    /// # Cancel safety
    /// As [`complete`](Self::complete).
    pub async fn models_with(&self, options: CallOptions) -> Result<Vec<ModelInfo>, Error> {
        models::list(&self.core, &*self.dialect, options).await
    }
}

impl Core {
    /// A dialect's refusal before any network.
    pub(crate) fn refuse(&self, fault: &Fault) -> Error {
        Error::from_fault(fault, &self.provider, &self.scrubber)
    }

    pub(crate) fn next_id(&self) -> CallId {
        // Relaxed: the counter guards no other memory.
        CallId {
            client: self.id,
            number: self.calls.fetch_add(1, Ordering::Relaxed),
        }
    }

    pub(crate) fn wall(&self) -> SystemTime {
        self.clock.wall()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}

// The dialect's own print may show its address, and an address may carry a key.
impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("provider", &self.provider)
            .field("policy", &self.policy)
            .field("timeouts", &self.timeouts)
            .field("total_timeout", &self.total_timeout)
            .field("hooks", &self.hooks)
            .field("max_body_bytes", &self.max_body_bytes)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
