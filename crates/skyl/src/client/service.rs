//! Whoever is called, as far as the path of a call cares.
//!
//! A chat dialect says much more than this, and System One says something else; sending, retrying,
//! hooks and scrubbing need no more of either. So there is one path of calls, and no dialect has to
//! pretend to be something it is not.

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use skyl_retry::hint::HintScope;
use skyl_retry::{InvalidPolicy, RetryPolicy};

use crate::dialect::{Dialect, Fault, Head};
use crate::key::ApiKey;

/// Where requests go, how they are signed, and what an answer that failed means.
pub(crate) trait Service: fmt::Debug + Send + Sync {
    /// The name in errors and hooks.
    fn name(&self) -> &str;

    /// Scheme, host and path prefix, without a slash at the end.
    fn base_url(&self) -> &str;

    /// The key, to be scrubbed from whatever a server echoes.
    fn key(&self) -> Option<&ApiKey>;

    /// Puts the key into the request's headers.
    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Fault>;

    /// Classifies an answer with a status of 300 or more; the body may be anything.
    fn classify(&self, head: &Head<'_>, body: &[u8]) -> Fault;

    /// What of the body of a failed answer may be kept, as text; `None` for nothing of it.
    fn kept_body(&self, status: u16, body: &[u8]) -> Option<String>;

    /// The sources the server's wait is read from.
    fn hint_scope(&self) -> HintScope;

    /// Refuses a policy this client will not run, by the name of the figure.
    fn check_policy(&self, policy: &RetryPolicy) -> Result<(), InvalidPolicy>;
}

impl Service for Arc<dyn Dialect> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn base_url(&self) -> &str {
        (**self).base_url()
    }

    fn key(&self) -> Option<&ApiKey> {
        (**self).key()
    }

    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Fault> {
        (**self).authorize(headers)
    }

    fn classify(&self, head: &Head<'_>, body: &[u8]) -> Fault {
        (**self).classify(head, body)
    }

    fn kept_body(&self, _status: u16, body: &[u8]) -> Option<String> {
        (!body.is_empty()).then(|| String::from_utf8_lossy(body).into_owned())
    }

    fn hint_scope(&self) -> HintScope {
        HintScope::All
    }

    fn check_policy(&self, policy: &RetryPolicy) -> Result<(), InvalidPolicy> {
        policy.check_client_limits()?;
        // A fleet on a fixed schedule attacks its own provider.
        policy.wait_can_vary()
    }
}
