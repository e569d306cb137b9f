//! Whether a failure is worth a retry at all.

use crate::decide::StopReason;
use crate::failure::{Failure, FailureClass, Sent};
use crate::policy::{RetryBy, RetryPolicy};

/// Whether to retry, before attempts, waits and budgets are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Choice {
    /// A retry may help.
    Retry,
    /// A retry gets the same answer.
    Stop,
}

/// The engine's own choice: the server's word where the policy obeys it, else the table.
///
/// Attempts, budgets, cancellation and delivered content play no part. A rejected certificate is
/// never retried.
pub fn choose(policy: &RetryPolicy, failure: &Failure) -> Choice {
    match made(policy, failure, None) {
        Ok(()) if failure.class != FailureClass::Certificate => Choice::Retry,
        _ => Choice::Stop,
    }
}

/// The choice, with the reason where it is to stop.
#[inline]
pub(super) fn made(
    policy: &RetryPolicy,
    failure: &Failure,
    asked: Option<Choice>,
) -> Result<(), StopReason> {
    let retry = match asked {
        Some(choice) => choice == Choice::Retry,
        None => match failure.server_word.filter(|_| policy.honor_should_retry()) {
            Some(false) => return Err(StopReason::ServerSaidNo),
            Some(true) => server_may_ask(failure) || by_table(policy, failure),
            None => by_table(policy, failure),
        },
    };
    if retry {
        Ok(())
    } else {
        Err(StopReason::NotRetryable)
    }
}

/// What `x-should-retry: true` adds to the table: answers whose meaning nobody could read.
///
/// Never a failure that is final in itself: a server cannot talk a caller into resending a bad key.
fn server_may_ask(failure: &Failure) -> bool {
    match failure.class {
        FailureClass::Decode => true,
        FailureClass::Unclassified => failure.status.is_some(),
        _ => false,
    }
}

#[inline]
fn by_table(policy: &RetryPolicy, failure: &Failure) -> bool {
    if policy.retry_by() == RetryBy::Status
        && let Some(status) = failure.status.filter(|status| !SUCCESS.contains(status))
    {
        return policy.retry_statuses().contains(status);
    }
    // By kind; also where no status decides: no answer at all, an error inside a 2xx answer.
    match failure.class {
        FailureClass::Throttled | FailureClass::Server => true,
        // An answer that broke off may have been billed like any other lost answer, so it follows
        // the same switch.
        FailureClass::Connect | FailureClass::ConnectionLost | FailureClass::Truncated => {
            policy.retry_on_conn_err() || unsent(policy, failure)
        }
        FailureClass::Timeout => policy.retry_on_timeout() || unsent(policy, failure),
        FailureClass::Permanent
        | FailureClass::Certificate
        | FailureClass::Decode
        | FailureClass::Unclassified => false,
    }
}

fn unsent(policy: &RetryPolicy, failure: &Failure) -> bool {
    policy.retry_unsent() && failure.sent == Sent::No
}

/// A 2xx is no verdict on a failed attempt: the failure came after it.
const SUCCESS: std::ops::RangeInclusive<u16> = 200..=299;
