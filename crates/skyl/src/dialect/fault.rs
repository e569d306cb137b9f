//! What went wrong, before the client knows what it cost.

use skyl_retry::Hint;

use crate::kind::{ErrorKind, classify_status};
use crate::response::Usage;

/// A failure as a dialect sees it: facts from the wire, without attempts, waits or keys.
///
/// Boxed, so that a `Result` with it stays one word wide.
#[derive(Clone, Debug)]
pub struct Fault(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    status: Option<u16>,
    code: Option<String>,
    message: Option<String>,
    overloaded: bool,
    hint: Hint,
    usage: Option<Usage>,
    request_id: Option<String>,
}

impl Fault {
    /// A fault of a kind, with nothing else known.
    #[must_use]
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            status: None,
            code: None,
            message: None,
            overloaded: false,
            hint: Hint::Absent,
            usage: None,
            request_id: None,
        }))
    }

    /// A fault classified by its status alone; 529 counts as overloaded.
    #[must_use]
    pub fn from_status(status: u16) -> Self {
        Self::new(classify_status(status)).with_overloaded(status == 529)
    }

    /// A reply with neither an answer nor an error: a transient failure of the provider.
    #[must_use]
    pub fn empty_response() -> Self {
        Self::new(ErrorKind::Server).with_message("empty response: neither an answer nor an error")
    }

    /// A reply that cannot be read; says why without quoting it.
    #[must_use]
    pub fn decode(why: impl Into<String>) -> Self {
        Self::new(ErrorKind::Decode).with_message(why)
    }

    /// Something the provider cannot express.
    #[must_use]
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported).with_message(what)
    }

    /// Sets a numeric code of the body; only 100 to 599 counts as a status.
    #[must_use]
    pub fn with_status(mut self, status: Option<u16>) -> Self {
        self.0.status = status.filter(|status| (100..=599).contains(status));
        self
    }

    /// Sets the provider's code or type.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// Sets the provider's message; empty text is none.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = Some(message.into()).filter(|message| !message.is_empty());
        self
    }

    /// Says that the provider is overloaded rather than broken.
    #[must_use]
    pub fn with_overloaded(mut self, overloaded: bool) -> Self {
        self.0.overloaded = overloaded;
        self
    }

    /// Sets a structured wait of the body.
    #[must_use]
    pub fn with_hint(mut self, hint: Hint) -> Self {
        self.0.hint = hint;
        self
    }

    /// Sets what the failed answer cost.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.0.usage = Some(usage);
        self
    }

    /// Sets a request id of the body.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// A numeric code of the body in 100–599.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// The provider's code or type.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The provider's message.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    /// Whether the provider is overloaded.
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        self.0.overloaded
    }

    /// The structured wait of the body.
    #[must_use]
    pub fn hint(&self) -> Hint {
        self.0.hint
    }

    /// What the failed answer cost.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.0.usage
    }

    /// The request id of the body.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_code_outside_the_range_is_no_status() {
        let status = |code| {
            Fault::new(ErrorKind::Server)
                .with_status(Some(code))
                .status()
        };
        assert_eq!(status(503), Some(503));
        assert_eq!(status(99), None);
        assert_eq!(status(600), None);
    }
}
