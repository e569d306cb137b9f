//! What is said when something failed.

use std::error::Error as _;

use skyl::{Error, ErrorKind};
use skyl_retry::StopReason;
use skyl_retry::duration::Human;

use crate::failure::Failure;
use crate::json::FailureObject;
use crate::stderr::{Stderr, Tone};
use crate::stdout::{Form, Stdout};

/// Says what failed: to people on standard error, to programs on standard output.
pub(crate) fn report(failure: &Failure, form: Form, stdout: &Stdout, stderr: &Stderr) {
    stderr.erase();
    if matches!(failure, Failure::Told(_)) {
        return;
    }
    match failure {
        Failure::Arguments { rendered, .. } => stderr.block(rendered),
        Failure::Call(call) => {
            stderr.line(Tone::Alarm, &call.error.to_string());
            for detail in call.advice.iter().cloned().chain(details(&call.error)) {
                stderr.line(Tone::Plain, &format!("  {detail}"));
            }
        }
        Failure::OutputClosed | Failure::Told(_) => {}
        Failure::Usage(_) | Failure::Internal(_) => {
            stderr.line(Tone::Alarm, &format!("error: {}", failure.line()));
        }
        Failure::Interrupted | Failure::Refused { .. } => stderr.line(Tone::Alarm, &failure.line()),
    }
    if form == Form::Json
        && let Err(second) = stdout.object(&FailureObject::of(failure))
        && !matches!(second, Failure::OutputClosed)
    {
        stderr.line(Tone::Alarm, &format!("error: {}", second.line()));
    }
}

/// What helps at three in the morning and is not in the error's own line.
fn details(error: &Error) -> Vec<String> {
    let mut details = Vec::new();
    if let Some(stop) = error
        .retry_stop()
        .filter(|stop| says_more(*stop, error.kind()))
    {
        let asked = match stop {
            StopReason::HintOverCap | StopReason::TimeBudget | StopReason::Deadline => {
                error.retry_after()
            }
            _ => None,
        };
        let asked = asked.map(|wait| format!(" (the server asked for {})", Human(wait)));
        let asked = asked.unwrap_or_default();
        let line = format!("no further attempt: {}{asked}", stop.explain());
        details.push(line);
    }
    if let Some(last) = error.last_error() {
        details.push(format!("last failure: {last}"));
    }
    if let Some(id) = error.request_id() {
        details.push(format!("request id: {id}"));
    }
    let mut cause = error.source();
    while let Some(inner) = cause {
        details.push(format!("caused by: {inner}"));
        cause = inner.source();
    }
    details
}

/// Whether the engine's reason tells something that the kind of the error does not.
fn says_more(stop: StopReason, kind: ErrorKind) -> bool {
    match stop {
        StopReason::TimeBudget
        | StopReason::RetryBudget
        | StopReason::ServerSaidNo
        | StopReason::HintOverCap
        | StopReason::ContentDelivered => true,
        StopReason::Deadline => kind != ErrorKind::Deadline,
        _ => false,
    }
}
