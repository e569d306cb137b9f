//! The provider's error objects: type, code and status as its reference pairs them.

use serde_json::{Value, json};

use super::servers::Server;
use crate::{
    answer::Whole,
    mounts::{Cause, words as spelling},
};

/// A request the provider refuses.
#[derive(Debug)]
pub(super) struct Refusal {
    status: u16,
    message: String,
    param: Option<&'static str>,
    code: Option<&'static str>,
}

impl Refusal {
    pub(super) fn invalid(message: impl Into<String>, param: Option<&'static str>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            param,
            code: None,
        }
    }

    pub(super) fn no_key() -> Self {
        let message = "You didn't provide an API key. You need to provide your API key in an \
                       Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
        Self {
            status: 401,
            message: message.to_owned(),
            param: None,
            code: None,
        }
    }

    pub(super) fn wrong_key() -> Self {
        let message = "Incorrect API key provided. The sandbox takes the key it was started with.";
        Self {
            status: 401,
            message: message.to_owned(),
            param: None,
            code: Some("invalid_api_key"),
        }
    }

    pub(super) fn model(model: &str) -> Self {
        let message =
            format!("The model `{model}` does not exist or you do not have access to it.");
        Self {
            status: 404,
            message,
            param: None,
            code: Some("model_not_found"),
        }
    }

    pub(super) fn path(method: &str, path: &str) -> Self {
        Self {
            status: 404,
            message: format!("Invalid URL ({method} {path})"),
            param: None,
            code: None,
        }
    }

    pub(super) fn method(method: &str, path: &str) -> Self {
        let message = format!("Not allowed to {method} on {path}.");
        Self {
            status: 405,
            message,
            param: None,
            code: Some("method_not_supported"),
        }
    }

    pub(super) fn unsupported_value(message: String, param: &'static str) -> Self {
        Self {
            status: 400,
            message,
            param: Some(param),
            code: Some("unsupported_value"),
        }
    }

    /// The refusal in the shape of a compatible server, or in the reference's.
    pub(super) fn by(&self, server: Option<Server>) -> Whole {
        let Some(server) = server else {
            return self.whole();
        };
        let kind = "invalid_request_error";
        server.whole(self.status, Cause::Usual, &self.message, kind, self.code)
    }

    pub(super) fn whole(&self) -> Whole {
        let Self {
            status,
            message,
            param,
            code,
        } = self;
        Whole::json(
            *status,
            &object(message, "invalid_request_error", *param, *code),
        )
    }
}

/// The error a status carries when a test asks for the status.
pub(super) fn injected(status: u16, cause: Cause, message: &str) -> Whole {
    let (kind, code) = words(status, cause);
    Whole::json(status, &object(message, kind, None, code))
}

/// Type and code of an injected error.
pub(super) fn words(status: u16, cause: Cause) -> (&'static str, Option<&'static str>) {
    match cause {
        Cause::Quota => ("insufficient_quota", Some("insufficient_quota")),
        Cause::Context => ("invalid_request_error", Some("context_length_exceeded")),
        Cause::Overloaded => OVERLOADED,
        Cause::Usual => usual(status),
    }
}

/// A 401 that quotes the key it was shown: as it is, percent-encoded, JSON-escaped.
pub(super) fn echo(key: &str) -> Whole {
    let [plain, percent, escaped] = spelling::spellings(key);
    let message = format!("Incorrect API key provided: {plain} ({percent})");
    let body = object(
        &message,
        "invalid_request_error",
        None,
        Some("invalid_api_key"),
    )
    .to_string();
    Whole {
        status: 401,
        content_type: crate::answer::JSON,
        body: spelling::with_raw_text(body, "shown", &escaped).into(),
    }
}

pub(super) fn object(message: &str, kind: &str, param: Option<&str>, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}

/// Type and code of a status. Where nothing is known they say nothing, so the status speaks.
fn usual(status: u16) -> (&'static str, Option<&'static str>) {
    match status {
        ..400 => ("api_error", None),
        401 => ("invalid_request_error", Some("invalid_api_key")),
        403 => (
            "invalid_request_error",
            Some("unsupported_country_region_territory"),
        ),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("requests", Some("rate_limit_exceeded")),
        503 => OVERLOADED,
        400..500 => ("invalid_request_error", None),
        500.. => ("server_error", None),
    }
}

const OVERLOADED: (&str, Option<&str>) =
    ("service_unavailable_error", Some("server_is_overloaded"));
