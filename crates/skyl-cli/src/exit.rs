//! Exit codes: what a script branches on.

use std::process::ExitCode;

use skyl::{Error, ErrorKind};

/// The codes the program ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    /// Wrong usage, or a failure of the program itself.
    Usage,
    /// Refused on this side: nothing was sent.
    Refused,
    Auth,
    /// The request is wrong and stays wrong.
    Request,
    /// Rate limit or quota.
    Limit,
    /// The provider failed, or its answer cannot be used.
    Provider,
    /// No usable reply: network, time, certificate.
    Network,
    Interrupted,
}

impl Exit {
    /// The code for a call's error.
    pub(crate) fn of(error: &Error) -> Self {
        Self::of_facts(error.kind(), error.status(), !error.attempts().is_empty())
    }

    /// `sent` is whether any attempt was made.
    fn of_facts(kind: ErrorKind, status: Option<u16>, sent: bool) -> Self {
        match kind {
            ErrorKind::Cancelled => Self::Interrupted,
            // Time can run out before the first attempt; that is no refusal.
            ErrorKind::Deadline => Self::Network,
            ErrorKind::Unsupported => Self::Refused,
            _ if !sent => Self::Refused,
            ErrorKind::Auth => Self::Auth,
            ErrorKind::BadRequest
            | ErrorKind::NotFound
            | ErrorKind::Refusal
            | ErrorKind::ContextLength => Self::Request,
            ErrorKind::RateLimit | ErrorKind::QuotaExhausted => Self::Limit,
            ErrorKind::Server | ErrorKind::Decode | ErrorKind::Truncated => Self::Provider,
            // With a status somebody answered, and said something nobody can use.
            ErrorKind::Unclassified if status.is_some() => Self::Request,
            ErrorKind::Transport
            | ErrorKind::Timeout
            | ErrorKind::Certificate
            | ErrorKind::Unclassified => Self::Network,
            // A closed stream is only read again by a mistake of this program.
            _ => Self::Usage,
        }
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Usage => 1,
            Self::Refused => 2,
            Self::Auth => 3,
            Self::Request => 4,
            Self::Limit => 5,
            Self::Provider => 6,
            Self::Network => 7,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_code() {
        for (kind, code) in [
            (ErrorKind::Auth, 3),
            (ErrorKind::RateLimit, 5),
            (ErrorKind::NotFound, 4),
            (ErrorKind::BadRequest, 4),
            (ErrorKind::Server, 6),
            (ErrorKind::Unsupported, 2),
            (ErrorKind::Refusal, 4),
            (ErrorKind::StreamClosed, 1),
            (ErrorKind::Transport, 7),
            (ErrorKind::Timeout, 7),
            (ErrorKind::Certificate, 7),
            (ErrorKind::Cancelled, 130),
            (ErrorKind::Deadline, 7),
            (ErrorKind::QuotaExhausted, 5),
            (ErrorKind::ContextLength, 4),
            (ErrorKind::Truncated, 6),
            (ErrorKind::Decode, 6),
            (ErrorKind::Unclassified, 7),
        ] {
            assert_eq!(Exit::of_facts(kind, None, true).code(), code, "{kind:?}");
        }
    }

    #[test]
    fn an_unclassified_answer_is_the_requests_fault_and_no_answer_the_networks() {
        let code = |status| Exit::of_facts(ErrorKind::Unclassified, status, true).code();
        assert_eq!(code(Some(302)), 4);
        assert_eq!(code(None), 7);
    }

    #[test]
    fn what_was_never_sent_was_refused_here_unless_it_was_stopped() {
        let code = |kind| Exit::of_facts(kind, None, false).code();
        assert_eq!(code(ErrorKind::BadRequest), 2);
        assert_eq!(code(ErrorKind::Auth), 2);
        assert_eq!(code(ErrorKind::Unsupported), 2);
        assert_eq!(code(ErrorKind::Cancelled), 130);
        assert_eq!(code(ErrorKind::Deadline), 7);
    }
}
