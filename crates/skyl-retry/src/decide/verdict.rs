//! What a decision says: retry or stop, why, and where the wait came from.

use std::fmt;
use std::time::Duration;

use crate::duration::{Human, Rough};

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// Wait this long, then try again.
    RetryAfter(Duration),
    /// Make no further attempt.
    Stop(StopReason),
}

/// Why no further attempt is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The failure would repeat: by its kind, its status, or the caller's own choice.
    NotRetryable,
    /// Retries are off (`max_retries` is 0).
    RetriesDisabled,
    /// Every retry has been used.
    AttemptsExhausted,
    /// The wait would pass the time budget.
    TimeBudget,
    /// The wait would pass the deadline, or leave no time worth an attempt; or it has passed.
    Deadline,
    /// The retry budget has no token left.
    RetryBudget,
    /// The server said not to retry.
    ServerSaidNo,
    /// The server asked for a longer wait than the policy allows.
    HintOverCap,
    /// Content had reached the caller; resending would repeat it.
    ContentDelivered,
    /// The caller cancelled.
    Cancelled,
}

impl StopReason {
    /// Every reason, for tables and tests.
    pub const ALL: [Self; 10] = [
        Self::NotRetryable,
        Self::RetriesDisabled,
        Self::AttemptsExhausted,
        Self::TimeBudget,
        Self::Deadline,
        Self::RetryBudget,
        Self::ServerSaidNo,
        Self::HintOverCap,
        Self::ContentDelivered,
        Self::Cancelled,
    ];

    /// The reason in snake case, as it stands in records and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotRetryable => "not_retryable",
            Self::RetriesDisabled => "retries_disabled",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::TimeBudget => "time_budget",
            Self::Deadline => "deadline",
            Self::RetryBudget => "retry_budget",
            Self::ServerSaidNo => "server_said_no",
            Self::HintOverCap => "hint_over_cap",
            Self::ContentDelivered => "content_delivered",
            Self::Cancelled => "cancelled",
        }
    }

    /// The reason as a short clause for people; its wording may change.
    #[must_use]
    pub fn explain(self) -> &'static str {
        match self {
            Self::NotRetryable => "a retry would get the same answer",
            Self::RetriesDisabled => "retries are off",
            Self::AttemptsExhausted => "no retry is left",
            Self::TimeBudget => "the wait would pass the time budget",
            Self::Deadline => "the deadline leaves no time for a retry",
            Self::RetryBudget => "the retry budget is empty",
            Self::ServerSaidNo => "the server said not to retry",
            Self::HintOverCap => "the server asked for a longer wait than allowed",
            Self::ContentDelivered => "content had already reached the caller",
            Self::Cancelled => "the call was cancelled",
        }
    }
}

/// The word of [`StopReason::as_str`].
impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A decision with the wait behind it.
///
/// Its text explains it in one line: `server asked for 1s`, `backoff 312ms of at most 500ms`,
/// `server asked for 1d, cut to 5m`, `stopped: no retry is left`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Verdict {
    /// What to do.
    pub decision: Decision,
    /// The wait that was planned; also there if the plan was then stopped by a limit.
    pub wait: Option<WaitSource>,
}

impl Verdict {
    /// The backoff drawn, to be the next decision's previous one; `None` for a server's wait.
    #[must_use]
    pub fn backoff(&self) -> Option<Duration> {
        match self.wait? {
            WaitSource::Backoff { drawn, .. } => Some(drawn),
            WaitSource::Hint { .. } => None,
        }
    }

    /// Whether the wait came from the server.
    #[must_use]
    pub fn hinted(&self) -> bool {
        matches!(self.wait, Some(WaitSource::Hint { .. }))
    }

    /// The wait before the next attempt; `None` if there is none.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.decision {
            Decision::RetryAfter(wait) => Some(wait),
            Decision::Stop(_) => None,
        }
    }

    /// Why no further attempt is made; `None` if one is.
    #[must_use]
    pub fn stop(&self) -> Option<StopReason> {
        match self.decision {
            Decision::RetryAfter(_) => None,
            Decision::Stop(reason) => Some(reason),
        }
    }

    #[inline]
    pub(super) fn retry(wait: WaitSource) -> Self {
        Self {
            decision: Decision::RetryAfter(wait.total()),
            wait: Some(wait),
        }
    }

    #[inline]
    pub(super) fn stopped(reason: StopReason) -> Self {
        Self {
            decision: Decision::Stop(reason),
            wait: None,
        }
    }

    #[inline]
    pub(super) fn stopped_before(reason: StopReason, wait: WaitSource) -> Self {
        Self {
            decision: Decision::Stop(reason),
            wait: Some(wait),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Decision::Stop(reason) = self.decision {
            write!(f, "stopped: {}", reason.explain())?;
            return match self.wait {
                Some(wait) => write!(f, " ({wait})"),
                None => Ok(()),
            };
        }
        self.wait.map_or(Ok(()), |wait| wait.fmt(f))
    }
}

/// Where a wait came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitSource {
    /// The own backoff.
    #[non_exhaustive]
    Backoff {
        /// The wait drawn.
        drawn: Duration,
        /// The longest wait the draw could have given.
        ceiling: Duration,
    },
    /// The server's figure.
    #[non_exhaustive]
    Hint {
        /// What the server asked for: raw, before the cap.
        asked: Duration,
        /// What the cap left of it.
        obeyed: Duration,
        /// The random wait added on top.
        spread: Duration,
    },
}

impl WaitSource {
    /// The whole wait, saturating.
    #[must_use]
    #[inline]
    pub fn total(&self) -> Duration {
        match *self {
            Self::Backoff { drawn, .. } => drawn,
            Self::Hint { obeyed, spread, .. } => obeyed.saturating_add(spread),
        }
    }
}

impl fmt::Display for WaitSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Backoff { drawn, ceiling } => {
                write!(f, "backoff {} of at most {}", Rough(drawn), Human(ceiling))
            }
            Self::Hint {
                asked,
                obeyed,
                spread,
            } => {
                write!(f, "server asked for {}", Human(asked))?;
                if obeyed != asked {
                    write!(f, ", cut to {}", Human(obeyed))?;
                }
                if !spread.is_zero() {
                    write!(f, ", spread by {}", Rough(spread))?;
                }
                Ok(())
            }
        }
    }
}
