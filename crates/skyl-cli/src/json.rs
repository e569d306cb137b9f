//! The JSON contract: what `--json` and `--events` print, field by field.
//!
//! Names, order and nulls are relied on by scripts. A field that was not reported is null; it is
//! never left out, so that a reader need not tell "absent" from "unknown".

use std::time::Duration;

use serde::{Serialize, Serializer};
use skyl::{Attempt, Error, ErrorKind, ToolCall, Usage, Warning};

use crate::escape;
use crate::failure::{FailedCall, Failure};

/// A value as JSON on one line that a terminal does not obey.
pub(crate) fn line(value: &impl Serialize) -> Result<String, Failure> {
    let mut json = serde_json::to_string(value)
        .map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))?;
    // What a server wrote may be taken over as it is, spread over lines. Inside strings JSON has no
    // such characters: they stand between its parts, where one white space is as good as another.
    if json.contains(['\n', '\r', '\t']) {
        json = json.replace(['\n', '\r', '\t'], " ");
    }
    Ok(escape::json(&json).into_owned())
}

/// The one object of a failure.
#[derive(Debug, Serialize)]
pub(crate) struct FailureObject<'a> {
    error: ErrorObject<'a>,
    text: &'a str,
    tool_calls: Vec<ToolCallObject<'a>>,
}

#[derive(Debug, Serialize)]
struct ErrorObject<'a> {
    kind: &'a str,
    message: String,
    status: Option<u16>,
    provider: Option<&'a str>,
    code: Option<&'a str>,
    request_id: Option<&'a str>,
    retryable: bool,
    retry_after_ms: Option<Millis>,
    delivered: bool,
    stop_reason: Option<&'a str>,
    attempts: Vec<AttemptObject>,
}

impl<'a> FailureObject<'a> {
    pub(crate) fn of(failure: &'a Failure) -> Self {
        match failure {
            Failure::Call(call) => Self::of_call(call),
            Failure::Usage(_) | Failure::Arguments { .. } => Self::local("usage", failure),
            Failure::Interrupted => Self::local(ErrorKind::Cancelled.as_str(), failure),
            Failure::Refused { provider, .. } => {
                let mut object = Self::local(ErrorKind::BadRequest.as_str(), failure);
                object.error.provider = Some(provider);
                object
            }
            Failure::Internal(_) | Failure::OutputClosed | Failure::Told(_) => {
                Self::local("internal", failure)
            }
        }
    }

    fn of_call(call: &'a FailedCall) -> Self {
        let FailedCall {
            error,
            text,
            tool_calls,
            ..
        } = call;
        Self {
            error: ErrorObject::of(error),
            text,
            tool_calls: tool_calls.iter().map(ToolCallObject::of).collect(),
        }
    }

    /// A failure no provider had a part in.
    fn local(kind: &'a str, failure: &Failure) -> Self {
        Self {
            error: ErrorObject {
                kind,
                message: failure.line(),
                status: None,
                provider: None,
                code: None,
                request_id: None,
                retryable: false,
                retry_after_ms: None,
                delivered: false,
                stop_reason: None,
                attempts: Vec::new(),
            },
            text: "",
            tool_calls: Vec::new(),
        }
    }
}

impl<'a> ErrorObject<'a> {
    fn of(error: &'a Error) -> Self {
        Self {
            kind: error.kind().as_str(),
            message: error.to_string(),
            status: error.status(),
            provider: error.provider(),
            code: error.code(),
            request_id: error.request_id(),
            retryable: error.retryable(),
            retry_after_ms: error.retry_after().map(Millis),
            delivered: error.delivered(),
            stop_reason: error.retry_stop().map(skyl_retry::StopReason::as_str),
            attempts: attempts(error.attempts()),
        }
    }
}

/// One attempt of a call, counted from 0.
#[derive(Debug, Serialize)]
pub(crate) struct AttemptObject {
    attempt: u32,
    status: Option<u16>,
    kind: Option<&'static str>,
    duration_ms: Millis,
    wait_ms: Option<Millis>,
}

pub(crate) fn attempts(attempts: &[Attempt]) -> Vec<AttemptObject> {
    let object = |attempt: &Attempt| AttemptObject {
        attempt: attempt.number,
        status: attempt.status,
        kind: attempt.kind.map(ErrorKind::as_str),
        duration_ms: Millis(attempt.duration),
        wait_ms: attempt.wait.map(Millis),
    };
    attempts.iter().map(object).collect()
}

/// What a call cost.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names are the contract's")]
pub(crate) struct UsageObject {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

impl From<Usage> for UsageObject {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            reasoning_tokens: usage.reasoning_tokens,
        }
    }
}

/// A tool call; `arguments` is the JSON text as the model wrote it, whole or broken.
#[derive(Debug, Serialize)]
pub(crate) struct ToolCallObject<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

impl<'a> ToolCallObject<'a> {
    pub(crate) fn of(call: &'a ToolCall) -> Self {
        Self {
            id: &call.id,
            name: &call.name,
            arguments: &call.arguments,
        }
    }
}

/// Something that could not be expressed exactly.
#[derive(Debug, Serialize)]
pub(crate) struct WarningObject<'a> {
    field: &'a str,
    message: &'a str,
}

impl<'a> WarningObject<'a> {
    pub(crate) fn of(warning: &'a Warning) -> Self {
        Self {
            field: &warning.field,
            message: &warning.message,
        }
    }
}

/// A length in milliseconds: whole where it is whole, else with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millis(pub(crate) Duration);

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.subsec_nanos().is_multiple_of(NANOS_PER_MILLI)
            && let Ok(whole) = u64::try_from(self.0.as_millis())
        {
            return serializer.serialize_u64(whole);
        }
        serializer.serialize_f64(match u64::try_from(self.0.as_nanos()) {
            // Divided rather than multiplied, so that 312.000001 ms does not become 312.00000100000003.
            Ok(nanos) => to_f64(nanos) / 1e6,
            Err(_) => self.0.as_secs_f64() * 1e3,
        })
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "beyond 104 days nobody reads nanoseconds"
)]
fn to_f64(nanos: u64) -> f64 {
    nanos as f64
}

const NANOS_PER_MILLI: u32 = 1_000_000;

#[cfg(test)]
mod tests;
