//! The provider's error objects: the status word of each code, and the details it comes with.

use serde_json::{Value, json};

use crate::{
    answer::Whole,
    mounts::{Cause, words},
};

/// A request the provider refuses.
#[derive(Debug)]
pub(super) struct Refusal {
    status: u16,
    message: String,
    details: Value,
}

impl Refusal {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            details: Value::Null,
        }
    }

    /// A field that is wrong, named by its path in the provider's spelling.
    pub(super) fn field(path: &str, message: &str) -> Self {
        let violation = json!({"field": path, "description": message});
        Self {
            details: json!([{"@type": BAD_REQUEST, "fieldViolations": [violation]}]),
            ..Self::invalid(message)
        }
    }

    /// A field the provider does not know, in an object (empty for the request itself).
    pub(super) fn unknown(name: &str, object: &str) -> Self {
        let at = if object.is_empty() {
            String::new()
        } else {
            format!(" at '{object}'")
        };
        let message = format!(
            "Invalid JSON payload received. Unknown name \"{name}\"{at}: Cannot find field."
        );
        Self::field(object, &message)
    }

    pub(super) fn value(path: &str, value: &Value) -> Self {
        Self::field(path, &format!("Invalid value at '{path}', {value}"))
    }

    pub(super) fn key() -> Self {
        Self {
            details: key_details(),
            ..Self::invalid(WRONG_KEY)
        }
    }

    pub(super) fn forbidden(message: &str) -> Self {
        Self {
            status: 403,
            ..Self::invalid(message)
        }
    }

    pub(super) fn not_found(message: &str) -> Self {
        Self {
            status: 404,
            ..Self::invalid(message)
        }
    }

    pub(super) fn model(model: &str, version: &str) -> Self {
        Self::not_found(&format!(
            "models/{model} is not found for API version {version}, or is not supported for this \
             method. Call ListModels to see the list of available models and their supported \
             methods."
        ))
    }

    pub(super) fn whole(&self) -> Whole {
        pretty(
            self.status,
            &object(self.status, word(self.status), &self.message, &self.details),
        )
    }
}

/// The error a status carries when a test asks for the status.
pub(super) fn injected(status: u16, cause: Cause, message: &str) -> Whole {
    let body = match cause {
        Cause::Quota => {
            let violation = json!({
                "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
                "quotaDimensions": {"location": "global", "model": "gemini-3.6-flash"},
                "quotaValue": "20",
            });
            let failure = json!({"@type": QUOTA_FAILURE, "violations": [violation]});
            let message = format!("You exceeded your current quota. ({message})");
            object(status, "RESOURCE_EXHAUSTED", &message, &json!([failure]))
        }
        // The provider has no code for it: the phrase is all there is.
        Cause::Context => {
            let phrase = format!(
                "The input token count (1000001) exceeds the maximum number of tokens allowed \
                 (1000000). ({message})"
            );
            object(status, "INVALID_ARGUMENT", &phrase, &Value::Null)
        }
        Cause::Overloaded => overload(status, message),
        Cause::Usual => object(status, word(status), message, &Value::Null),
    };
    pretty(status, &body)
}

/// The error of a stream that has begun.
pub(super) fn overloaded(message: &str) -> Value {
    overload(503, message)
}

fn overload(status: u16, message: &str) -> Value {
    let message = format!("The model is overloaded. Please try again later. ({message})");
    object(status, "UNAVAILABLE", &message, &Value::Null)
}

/// The refusal of a key that quotes it: as it is, percent-encoded, JSON-escaped.
pub(super) fn echo(key: &str) -> Whole {
    let [plain, percent, escaped] = words::spellings(key);
    let message = format!("API key not valid: {plain} ({percent})");
    let answer = pretty(400, &object(400, word(400), &message, &key_details()));
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    Whole {
        body: words::with_raw_text(body, "shown", &escaped).into(),
        ..answer
    }
}

/// A JSON body as the provider writes it, over many lines.
pub(super) fn pretty(status: u16, body: &Value) -> Whole {
    Whole {
        status,
        content_type: JSON,
        body: format!("{body:#}\n").into(),
    }
}

fn object(code: u16, status: &str, message: &str, details: &Value) -> Value {
    let mut error = json!({"code": code, "message": message, "status": status});
    if !details.is_null() {
        error["details"] = details.clone();
    }
    json!({"error": error})
}

fn key_details() -> Value {
    json!([
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
            "metadata": {"service": "generativelanguage.googleapis.com"},
        },
        {
            "@type": "type.googleapis.com/google.rpc.LocalizedMessage",
            "locale": "en-US",
            "message": WRONG_KEY,
        },
    ])
}

/// The status word of a code. Where there is none it says nothing, so the code speaks.
fn word(status: u16) -> &'static str {
    match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        412 => "FAILED_PRECONDITION",
        416 => "OUT_OF_RANGE",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        500 => "INTERNAL",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "UNKNOWN",
    }
}

pub(super) const JSON: &str = "application/json; charset=UTF-8";

const WRONG_KEY: &str = "API key not valid. Please pass a valid API key.";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const QUOTA_FAILURE: &str = "type.googleapis.com/google.rpc.QuotaFailure";
