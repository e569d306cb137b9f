//! The provider's error objects: type, code and status as its reference pairs them.

use serde_json::{Value, json};

use crate::{
    answer::Whole,
    mounts::{Cause, words},
};

/// A request the provider refuses.
#[derive(Debug)]
pub(super) struct Refusal {
    status: u16,
    kind: &'static str,
    message: String,
}

impl Refusal {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: "invalid_request_error",
            message: message.into(),
        }
    }

    /// A field that is wrong, named by its path as the provider does.
    pub(super) fn field(path: &str, what: &str) -> Self {
        Self::invalid(format!("{path}: {what}"))
    }

    pub(super) fn missing(path: &str) -> Self {
        Self::field(path, "Field required")
    }

    pub(super) fn extra(path: &str) -> Self {
        Self::field(path, "Extra inputs are not permitted")
    }

    pub(super) fn key(message: &str) -> Self {
        Self {
            status: 401,
            kind: "authentication_error",
            message: message.to_owned(),
        }
    }

    pub(super) fn not_found(message: &str) -> Self {
        Self {
            status: 404,
            kind: "not_found_error",
            message: message.to_owned(),
        }
    }

    pub(super) fn method() -> Self {
        Self {
            status: 405,
            ..Self::invalid("Method Not Allowed")
        }
    }

    pub(super) fn whole(&self) -> Whole {
        Whole::json(self.status, &object(self.kind, &self.message))
    }
}

/// The error a status carries when a test asks for the status.
pub(super) fn injected(status: u16, cause: Cause, message: &str) -> Whole {
    let body = match cause {
        Cause::Quota => {
            let mut body = object("rate_limit_error", message);
            body["error"]["details"] = json!({"error_code": "enforced_spend_limit_reached"});
            body
        }
        // The provider has no code for it: the phrase is all there is.
        Cause::Context => {
            let phrase = format!("prompt is too long: 400001 tokens > 400000 maximum ({message})");
            object("invalid_request_error", &phrase)
        }
        Cause::Overloaded => object("overloaded_error", message),
        Cause::Usual => object(usual(status), message),
    };
    Whole::json(status, &body)
}

/// The error of a stream that has begun.
pub(super) fn overloaded(message: &str) -> Value {
    json!({"type": "error", "error": {"details": null, "type": "overloaded_error", "message": message}})
}

/// A 401 that quotes the key it was shown: as it is, percent-encoded, JSON-escaped.
pub(super) fn echo(key: &str) -> Whole {
    let [plain, percent, escaped] = words::spellings(key);
    let message = format!("invalid x-api-key: {plain} ({percent})");
    let body = object("authentication_error", &message).to_string();
    Whole {
        status: 401,
        content_type: crate::answer::JSON,
        body: words::with_raw_text(body, "shown", &escaped).into(),
    }
}

/// An error's body names its request, as the header does.
pub(super) fn numbered(answer: Whole, request_id: &str) -> Whole {
    let text = std::str::from_utf8(&answer.body).unwrap_or_default();
    // A body that was cut, or is no error object, stays as it is.
    if !(text.starts_with(r#"{"type":"error","#) && text.ends_with('}')) {
        return answer;
    }
    Whole {
        body: words::with_raw_text(text.to_owned(), "request_id", request_id).into(),
        ..answer
    }
}

fn object(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

/// The type of a status. Where nothing is known it says nothing, so the status speaks.
fn usual(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 => "change_outcome_unknown",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    }
}
