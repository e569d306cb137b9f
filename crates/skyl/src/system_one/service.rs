//! System One as the path of a call sees it.

use http::{HeaderMap, header};
use skyl_retry::hint::HintScope;
use skyl_retry::{InvalidPolicy, RetryPolicy};

use crate::client::Service;
use crate::dialect::{Fault, Head, bearer};
use crate::key::ApiKey;
use crate::kind::ErrorKind;
use crate::system_one::{detail, redact};

/// Where System One is, and the key for it.
#[derive(Clone, Debug)]
pub(super) struct SystemOne {
    pub(super) base_url: String,
    pub(super) key: ApiKey,
}

impl Service for SystemOne {
    fn name(&self) -> &str {
        PROVIDER
    }

    fn base_url(&self) -> &str {
        &self.base_url
    }

    fn key(&self) -> Option<&ApiKey> {
        Some(&self.key)
    }

    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Fault> {
        // A header could carry the space of a key pasted in two halves, or its stray quote; the
        // server would only answer that there is no such key.
        if !self
            .key
            .expose()
            .bytes()
            .all(|byte| byte.is_ascii_graphic())
        {
            return Err(Fault::new(ErrorKind::Auth)
                .with_message("the API key holds white space or a character no key has"));
        }
        headers.insert(header::AUTHORIZATION, bearer(&self.key)?);
        Ok(())
    }

    fn classify(&self, head: &Head<'_>, body: &[u8]) -> Fault {
        detail::classify(head.status, body)
    }

    fn kept_body(&self, status: u16, body: &[u8]) -> Option<String> {
        (!body.is_empty()).then(|| redact::redacted_body(status, body))
    }

    fn hint_scope(&self) -> HintScope {
        HintScope::RetryAfterOnly
    }

    // Waits that cannot vary are allowed: the API's documented range of jitter begins at zero.
    fn check_policy(&self, policy: &RetryPolicy) -> Result<(), InvalidPolicy> {
        policy.check_client_limits()?;
        policy.refuse_422()
    }
}

/// The name in errors, hooks and logs.
pub(super) const PROVIDER: &str = "typesafe";
