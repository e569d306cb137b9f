//! The provider's errors: `detail` is a list of issues, an object, or a bare text.

use serde_json::{Value, json};

use crate::{
    answer::Whole,
    mounts::{Cause, words},
};

/// A request the provider refuses.
#[derive(Debug)]
pub(super) struct Refusal {
    status: u16,
    detail: Value,
}

impl Refusal {
    /// A request that does not fit the schema: 422, one entry per issue.
    pub(super) fn issues(issues: Vec<Issue>) -> Self {
        Self {
            status: 422,
            detail: issues.into_iter().map(Issue::into_json).collect(),
        }
    }

    /// A request that fits the schema and breaks a rule beside it: 400 with a bare text.
    pub(super) fn text(message: impl Into<String>) -> Self {
        Self::plain(400, message)
    }

    /// The same as an object.
    pub(super) fn usage(message: &str) -> Self {
        Self::object(400, "api_usage_error", Some(message))
    }

    pub(super) fn model(model: &str) -> Self {
        Self::usage(&format!("Unknown model: {model}"))
    }

    /// Too long a context; the provider says neither which limit nor how far.
    pub(super) fn too_long() -> Self {
        Self::object(400, "max_tokens_exceeded", None)
    }

    pub(super) fn no_key() -> Self {
        let message = "Must supply an API key! Send it as 'Authorization: Bearer <key>'.";
        Self::object(403, "authentication_error", Some(message))
    }

    pub(super) fn wrong_key() -> Self {
        Self::object(401, "authentication_error", Some("Invalid API key."))
    }

    pub(super) fn path() -> Self {
        Self::plain(404, "Not Found")
    }

    pub(super) fn method() -> Self {
        Self::plain(405, "Method Not Allowed")
    }

    pub(super) fn plain(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            detail: Value::String(message.into()),
        }
    }

    fn object(status: u16, kind: &str, message: Option<&str>) -> Self {
        Self {
            status,
            detail: object(kind, message),
        }
    }

    pub(super) fn whole(&self) -> Whole {
        Whole::json(self.status, &json!({"detail": self.detail}))
    }
}

/// One thing that does not fit the schema.
#[derive(Debug)]
pub(super) struct Issue {
    kind: &'static str,
    loc: Vec<Value>,
    message: String,
    /// What was sent in that place, echoed as the provider does it.
    input: Value,
    context: Option<Value>,
}

impl Issue {
    pub(super) fn new(
        kind: &'static str,
        loc: Vec<Value>,
        message: impl Into<String>,
        input: &Value,
    ) -> Self {
        Self {
            kind,
            loc,
            message: message.into(),
            input: input.clone(),
            context: None,
        }
    }

    pub(super) fn with_context(mut self, context: Value) -> Self {
        self.context = Some(context);
        self
    }

    fn into_json(self) -> Value {
        let mut issue =
            json!({"type": self.kind, "loc": self.loc, "msg": self.message, "input": self.input});
        if let Some(context) = self.context {
            issue["ctx"] = context;
        }
        issue
    }
}

/// The error a status carries when a test asks for the status.
pub(super) fn injected(status: u16, cause: Cause, message: &str) -> Whole {
    let detail = match (cause, status) {
        (Cause::Quota, _) => object("insufficient_quota", Some(message)),
        (Cause::Context, _) => object("max_tokens_exceeded", None),
        (Cause::Overloaded, _) => object("overloaded_error", Some(message)),
        (Cause::Usual, 404 | 405) => Value::String(message.to_owned()),
        (Cause::Usual, 422) => {
            let issue = Issue::new("value_error", vec![json!("body")], message, &Value::Null);
            json!([issue.into_json()])
        }
        (Cause::Usual, _) => object(usual(status), Some(message)),
    };
    Whole::json(status, &json!({"detail": detail}))
}

/// A 401 that quotes the key it was shown: as it is, percent-encoded, JSON-escaped.
pub(super) fn echo(key: &str) -> Whole {
    let [plain, percent, escaped] = words::spellings(key);
    let message = format!("Invalid API key: {plain} ({percent})");
    let body = json!({"detail": object("authentication_error", Some(&message))}).to_string();
    Whole {
        status: 401,
        content_type: crate::answer::JSON,
        body: words::with_raw_text(body, "shown", &escaped).into(),
    }
}

fn object(kind: &str, message: Option<&str>) -> Value {
    let mut detail = json!({"error_type": kind});
    if let Some(message) = message {
        detail["message"] = json!(message);
    }
    detail
}

/// The type of a status. The first two rows are recorded; where nothing is known the type says
/// nothing, so the status speaks.
fn usual(status: u16) -> &'static str {
    match status {
        400 => "api_usage_error",
        401 | 403 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}
