//! The client of System One.

use std::fmt;
use std::sync::Arc;

use skyl_retry::{RetryBudget, RetryPolicy};

use crate::client::Core;
use crate::error::Error;
use crate::system_one::builder::{ClientBuilder, ContextCheck};
use crate::system_one::call;
use crate::system_one::cost::Price;
use crate::system_one::decode::Strictness;
use crate::system_one::model::Model;
use crate::system_one::options::CallOptions;
use crate::system_one::questions::Questions;
use crate::system_one::request::Request;
use crate::system_one::response::Response;
use crate::system_one::state::State;

/// Asks System One typed questions, in spite of bad minutes.
///
/// Cheap to clone and safe to share: clones have one pool of connections and one retry budget. The
/// settings and their defaults are on [`ClientBuilder`].
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

/// What all clones of a client share.
pub(super) struct Shared {
    pub(super) core: Core,
    pub(super) model: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) price: Option<Price>,
    pub(super) strictness: Strictness,
    pub(super) context_check: ContextCheck,
    pub(super) images: bool,
    pub(super) long_context: bool,
}

impl Client {
    /// Starts a client from the environment and the defaults.
    ///
    /// Reads `TYPESAFE_API_KEY`, `TYPESAFE_BASE_URL` and `TYPESAFE_DEFAULT_MODEL` now; blank is
    /// unset, white space around a value is trimmed, and the builder's setters win.
    pub fn builder() -> ClientBuilder {
        Self::builder_from(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    /// Starts a client from variables that are looked up here instead of in the environment.
    ///
    /// For programs with an environment of their own making, and for tests:
    /// `Client::builder_from(|_| None)` reads nothing.
    pub fn builder_from(variable: impl Fn(&str) -> Option<String>) -> ClientBuilder {
        ClientBuilder::from_env(variable)
    }

    pub(super) fn new(shared: Shared) -> Self {
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The retry policy of calls that bring none of their own.
    #[must_use]
    pub fn policy(&self) -> &RetryPolicy {
        &self.shared.core.policy
    }

    /// The model of requests that name none.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.shared.model
    }

    /// The bucket retries are paid from; `None` if there is none.
    ///
    /// To be shared with other clients by [`ClientBuilder::retry_budget`].
    #[must_use]
    pub fn retry_budget(&self) -> Option<&Arc<RetryBudget>> {
        self.shared.core.retry_budget.get()
    }

    /// Asks questions about a state.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind). What is wrong locally is refused before anything is
    /// sent, with the path of what is wrong; then [`Error::attempts`] is empty.
    ///
    /// # Cancel safety
    /// Dropping the future ends the call at once, in mid-attempt and in mid-wait, and closes the
    /// connection in use. The provider may still answer, and bill, what it has received.
    pub async fn system_one(
        &self,
        state: impl Into<State>,
        questions: impl Into<Questions>,
    ) -> Result<Response, Error> {
        let request = Request::new(state, questions);
        self.system_one_with(&request, CallOptions::new()).await
    }

    /// Sends a whole request, with options of its own.
    ///
    /// The model is that of the options, else that of the request, else that of the client.
    ///
    /// # Errors
    /// As [`system_one`](Self::system_one); also for options that cannot be, by name.
    ///
    /// # Cancel safety
    /// As [`system_one`](Self::system_one).
    pub async fn system_one_with(
        &self,
        request: &Request,
        options: CallOptions,
    ) -> Result<Response, Error> {
        call::ask(&self.shared, request, options).await
    }

    /// Lists the models, by the same retry policy.
    ///
    /// The hosted API lists aliases alone; versioned names are accepted in requests though unlisted.
    ///
    /// # Errors
    /// As [`system_one`](Self::system_one).
    ///
    /// # Cancel safety
    /// As [`system_one`](Self::system_one).
    pub async fn list_models(&self) -> Result<Vec<Model>, Error> {
        self.list_models_with(CallOptions::new()).await
    }

    /// Lists the models, with options of its own; a model among them means nothing here.
    ///
    /// # Errors
    /// As [`list_models`](Self::list_models); also for options that cannot be, by name.
    ///
    /// # Cancel safety
    /// As [`system_one`](Self::system_one).
    pub async fn list_models_with(&self, options: CallOptions) -> Result<Vec<Model>, Error> {
        call::list_models(&self.shared, options).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("model", &self.shared.model)
            .field("price", &self.shared.price)
            .field("strictness", &self.shared.strictness)
            .field("context_check", &self.shared.context_check)
            .field("core", &self.shared.core)
            .finish_non_exhaustive()
    }
}
