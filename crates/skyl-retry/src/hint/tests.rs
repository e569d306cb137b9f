mod date_cases;
mod header_cases;
mod prose_cases;
mod retry_after_cases;
mod value_cases;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;

use crate::failure::Hint;
use crate::hint;

/// 2026-12-01 00:00:00 UTC, a Tuesday.
const NOW: u64 = 1_796_083_200;

fn wall() -> SystemTime {
    at(NOW)
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn secs(seconds: u64) -> Hint {
    Hint::Wait(Duration::from_secs(seconds))
}

fn millis(millis: u64) -> Hint {
    Hint::Wait(Duration::from_millis(millis))
}

const LONGEST: Hint = Hint::Wait(Duration::MAX);
const ZERO: Hint = Hint::Wait(Duration::ZERO);

#[test]
fn each_source_has_its_word() {
    use hint::HintSource::{Body, Prose, RateLimitReset, RetryAfter, RetryAfterMs};
    for (source, word) in [
        (RetryAfterMs, "retry_after_ms"),
        (RetryAfter, "retry_after"),
        (Body, "body"),
        (RateLimitReset, "rate_limit_reset"),
        (Prose, "prose"),
    ] {
        assert_eq!(source.as_str(), word);
        assert_eq!(source.to_string(), word);
    }
}

proptest! {
    /// No parser panics, whatever the bytes and whatever the wall clock says.
    #[test]
    fn no_reader_panics_on_any_input(
        bytes in prop::collection::vec(any::<u8>(), 0..64),
        text in "\\PC{0,40}",
        offset in any::<i64>(),
    ) {
        let distance = Duration::from_secs(offset.unsigned_abs() / 4);
        let wall = match offset {
            0.. => UNIX_EPOCH.checked_add(distance),
            _ => UNIX_EPOCH.checked_sub(distance),
        }.unwrap_or(UNIX_EPOCH);
        let reading = hint::explain(&bytes, wall);
        prop_assert_eq!(reading.hint(), hint::parse_retry_after(&bytes, wall));
        prop_assert!(!reading.to_string().is_empty());
        prop_assert!(reading.steps().len() > 1);
        let waits = hint::parse_retry_after_or_zero(&text, wall);
        prop_assert_eq!(waits, hint::parse_retry_after(&text, wall).wait().unwrap_or_default());
        for read in [hint::go_duration, hint::protobuf_duration, hint::milliseconds, hint::prose] {
            prop_assert!(read(&text) <= LONGEST);
        }
        for read in [hint::rfc3339, hint::epoch_seconds, hint::epoch_millis, hint::reset] {
            prop_assert!(read(&text, wall) <= LONGEST);
        }
        let headers = [("x-ratelimit-reset-requests", &bytes[..]), (&text[..], &bytes[..])];
        let found = hint::from_headers(headers, wall, hint::HintScope::All);
        prop_assert_eq!(found.source.is_some(), found.hint.wait().is_some());
    }

    /// Texts made of the pieces that real values are made of reach deeper than random ones.
    #[test]
    fn no_reader_panics_on_scrambled_values(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..10),
    ) {
        let text = pieces.concat();
        prop_assert!(!hint::explain(&text, wall()).to_string().is_empty());
        for read in [hint::go_duration, hint::protobuf_duration, hint::milliseconds, hint::prose] {
            prop_assert!(read(&text) <= LONGEST);
        }
        for read in [hint::rfc3339, hint::epoch_seconds, hint::epoch_millis, hint::reset] {
            prop_assert!(read(&text, wall()) <= LONGEST);
        }
    }

    #[test]
    fn every_number_of_seconds_is_that_wait(seconds in 0_u64..1_000_000_000, nanos in 0_u32..1_000_000_000) {
        let wait = Duration::new(seconds, nanos);
        let text = format!("{seconds}.{nanos:09}");
        prop_assert_eq!(hint::parse_retry_after(&text, wall()), Hint::Wait(wait));
    }
}

const PIECES: [&str; 34] = [
    "0",
    "1",
    "59",
    "60",
    "2026",
    "1796083200",
    "99999999999999999999999999999999999999999",
    ".",
    "-",
    "+",
    ":",
    ",",
    " ",
    "e",
    "x",
    "Tue, ",
    "Tuesday, ",
    "Tue ",
    "01",
    "Dec",
    "Feb",
    "31",
    "T",
    "Z",
    "GMT",
    "00:00:00",
    "s",
    "ms",
    "m",
    "h",
    "\u{b5}s",
    "try again in ",
    "retry after ",
    "ü",
];
