//! Instants on the command line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skyl_retry::Hint;
use skyl_retry::hint;

/// An instant, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) SystemTime);

/// Reads RFC 3339, an HTTP date, or seconds since 1970.
///
/// The engine's own readers do the work: read at the epoch, a wait *is* an instant.
pub(crate) fn parse(text: &str) -> Result<Moment, String> {
    let since_epoch = match hint::rfc3339(text, UNIX_EPOCH) {
        Hint::Wait(wait) => Some(wait),
        _ => match hint::parse_retry_after(text, UNIX_EPOCH) {
            Hint::Wait(wait) => Some(wait),
            _ => None,
        },
    };
    since_epoch
        .filter(|wait| *wait <= LATEST)
        .and_then(|wait| UNIX_EPOCH.checked_add(wait))
        .map(Moment)
        .ok_or_else(|| {
            "expected a time such as 2026-10-21T07:28:00Z, an HTTP date, or seconds since 1970"
                .to_owned()
        })
}

/// The end of the year 9999, the last that a date can be written for.
const LATEST: Duration = Duration::from_secs(253_402_300_799);

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        let Moment(time) = parse(text).ok()?;
        time.duration_since(UNIX_EPOCH)
            .ok()
            .map(|since| since.as_secs())
    }

    #[test]
    fn three_forms_of_an_instant_are_read() {
        for text in [
            "2015-10-21T07:28:00Z",
            "Wed, 21 Oct 2015 07:28:00 GMT",
            "1445412480",
        ] {
            assert_eq!(seconds(text), Some(1_445_412_480), "{text}");
        }
        assert_eq!(seconds("0"), Some(0));
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in ["", "soon", "-1", "7:28", "99999999999999999999"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
