//! The server's own clock, for the dates in its errors.

use std::time::{Duration, SystemTime};

use http::{HeaderValue, header};
use skyl_retry::Hint;
use skyl_retry::hint::parse_retry_after;

use crate::dialect::Head;

/// When a reply began, by its `Date` header; read only if an error asks for it.
#[derive(Debug, Default)]
pub(super) struct ServerDate(Option<HeaderValue>);

impl ServerDate {
    pub(super) fn of(head: &Head<'_>) -> Self {
        Self(head.headers.get(header::DATE).cloned())
    }

    /// The wall time; `None` where the server told none.
    pub(super) fn wall(&self) -> Option<SystemTime> {
        // Read against the epoch, the wait until a date is the date.
        let date = parse_retry_after(self.0.as_ref()?.as_bytes(), SystemTime::UNIX_EPOCH);
        match date {
            Hint::Wait(since) if since > Duration::ZERO => {
                SystemTime::UNIX_EPOCH.checked_add(since)
            }
            _ => None,
        }
    }
}
