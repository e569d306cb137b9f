//! How errors are made: from faults, from the transport, and by the client itself.

use std::sync::Arc;
use std::time::Duration;

use skyl_retry::{FailureClass, Hint, InvalidPolicy, Sent, StopReason as RetryStop};

use crate::attempts::Attempts;
use crate::dialect::Fault;
use crate::error::{Error, class_of};
use crate::kind::ErrorKind;
use crate::rate_limit::RateLimit;
use crate::response::Usage;
use crate::scrub::{BoxError, Scrubber};

/// All an error knows, in the box behind it.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) kind: ErrorKind,
    pub(crate) class: FailureClass,
    pub(crate) provider: Option<Arc<str>>,
    pub(crate) http_status: Option<u16>,
    pub(crate) body_status: Option<u16>,
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) hint: Hint,
    pub(crate) server_word: Option<bool>,
    pub(crate) request_id: Option<String>,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) usage: Option<Usage>,
    pub(crate) sent: Sent,
    pub(crate) delivered: bool,
    pub(crate) overloaded: bool,
    pub(crate) attempts: Attempts,
    pub(crate) retry_stop: Option<RetryStop>,
    pub(crate) elapsed: Duration,
    pub(crate) last: Option<Error>,
    pub(crate) source: Option<BoxError>,
}

impl Error {
    /// A bare error of a kind: nothing sent, nothing known.
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            class: class_of(kind),
            provider: None,
            http_status: None,
            body_status: None,
            code: None,
            message: None,
            body: None,
            hint: Hint::Absent,
            server_word: None,
            request_id: None,
            rate_limit: None,
            usage: None,
            sent: Sent::No,
            delivered: false,
            overloaded: false,
            attempts: Attempts::default(),
            retry_stop: None,
            elapsed: Duration::ZERO,
            last: None,
            source: None,
        }))
    }

    /// A refusal before any network: the caller's request or setting is wrong.
    pub(crate) fn refused(provider: &Arc<str>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest)
            .provided_by(provider)
            .with_message(message)
    }

    /// What a dialect refused or found, without what only the client knows.
    pub(crate) fn from_fault(fault: &Fault, provider: &Arc<str>, scrubber: &Scrubber) -> Self {
        let clean = |text: &str| cut(scrubber.scrub(text).into_owned());
        let mut error = Self::new(fault.kind()).provided_by(provider);
        let inner = error.inner_mut();
        inner.body_status = fault.status();
        inner.code = fault.code().map(clean);
        inner.message = fault.message().map(clean);
        inner.hint = fault.hint();
        inner.request_id = fault.request_id().map(clean);
        inner.usage = fault.usage();
        inner.overloaded = fault.is_overloaded();
        error
    }

    pub(crate) fn provided_by(mut self, provider: &Arc<str>) -> Self {
        self.0.provider = Some(Arc::clone(provider));
        self
    }

    pub(crate) fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = Some(message.into()).filter(|message| !message.is_empty());
        self
    }

    pub(crate) fn with_source(mut self, source: BoxError) -> Self {
        self.0.source = Some(source);
        self
    }

    /// A policy the client does not take, by the name of the figure.
    pub(crate) fn invalid_policy(provider: &Arc<str>, invalid: &InvalidPolicy) -> Self {
        Self::refused(provider, format!("retry policy: {invalid}"))
    }
}

/// Cuts a text to what an error keeps, at a character.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() > KEPT_BYTES {
        let end = (0..=KEPT_BYTES)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// How much of an error body or message is kept.
pub(crate) const KEPT_BYTES: usize = 2 << 10;
