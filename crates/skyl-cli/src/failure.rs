//! Why the program did not do what it was asked, whoever is to blame.

use std::io;

use skyl::{Error, ErrorKind, ToolCall};

use crate::exit::Exit;

/// A failure of any part of the program.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The caller's: what was asked makes no sense. Holds one line.
    Usage(String),
    /// The same, found by the argument parser, with its own longer text for people.
    Arguments { message: String, rendered: String },
    /// Ours, or the machine's.
    Internal(String),
    /// The request's: it cannot be sent to this provider as it is, and was not.
    Refused { provider: &'static str, why: String },
    /// The call's.
    Call(Box<FailedCall>),
    /// Somebody asked the program to stop while no call was under way.
    Interrupted,
    /// Everything has been said already; what is left is the code.
    Told(Exit),
    /// Nobody reads standard output any more: no failure to tell anyone of.
    OutputClosed,
}

/// A call that failed, and what it had delivered by then.
#[derive(Debug)]
pub(crate) struct FailedCall {
    pub(crate) error: Error,
    pub(crate) text: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    /// What this side knows of the cause, line by line.
    pub(crate) advice: Vec<String>,
}

impl FailedCall {
    pub(crate) fn new(error: Error, text: String, tool_calls: Vec<ToolCall>) -> Self {
        Self {
            error,
            text,
            tool_calls,
            advice: Vec::new(),
        }
    }
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::Internal(message.into())
    }

    /// A failed write to standard output.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::OutputClosed;
        }
        Self::Internal(format!("cannot write to standard output: {error}"))
    }

    /// The failure in one line.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Usage(message) | Self::Arguments { message, .. } | Self::Internal(message) => {
                message.clone()
            }
            // As the client says it of what it refuses itself.
            Self::Refused { provider, why } => {
                let kind = ErrorKind::BadRequest.text();
                format!("skyl: {provider}: {kind}: {why}")
            }
            Self::Call(call) => call.error.to_string(),
            Self::Interrupted => format!("skyl: {}", ErrorKind::Cancelled.text()),
            Self::Told(_) => "not everything was answered".to_owned(),
            Self::OutputClosed => "standard output is closed".to_owned(),
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Arguments { .. } | Self::Internal(_) => Exit::Usage,
            Self::Refused { .. } => Exit::Refused,
            Self::Told(exit) => *exit,
            Self::Call(call) => Exit::of(&call.error),
            Self::Interrupted => Exit::Interrupted,
            // A reader that has seen enough is no error, as with every other filter.
            Self::OutputClosed => Exit::Ok,
        }
    }
}

/// A call that failed before it delivered anything.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Call(Box::new(FailedCall::new(error, String::new(), Vec::new())))
    }
}
