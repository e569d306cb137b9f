//! The single values of headers, body hints and rate-limit resets.
//!
//! Each reader takes the whole text, white space around it aside, or refuses it whole: reading
//! `6m0s` as six seconds is worse than not reading it.

use std::time::{Duration, SystemTime};

use crate::decimal::{Decimal, GO_UNITS, MILLISECOND, SECOND, with_units};
use crate::failure::Hint;
use crate::hint::date::{self, Instant};
use crate::nanos::from_nanos;

/// Reads decimal milliseconds: `1500`, `0.5`.
#[must_use]
pub fn milliseconds(text: &str) -> Hint {
    nanos(Decimal::whole(text.trim()).map(|number| number.times(MILLISECOND)))
}

/// Reads a Go duration: `12ms`, `6m0s`, `1h2m3.5s`.
#[must_use]
pub fn go_duration(text: &str) -> Hint {
    nanos(with_units(text.trim(), &GO_UNITS))
}

/// Reads a protobuf duration in JSON: `45.837906927s`.
#[must_use]
pub fn protobuf_duration(text: &str) -> Hint {
    let number = text.trim().strip_suffix('s').and_then(Decimal::whole);
    nanos(number.map(|number| number.times(SECOND)))
}

/// Reads an RFC 3339 instant: `2026-11-30T12:00:14Z`. A past one is a wait of zero.
#[must_use]
pub fn rfc3339(text: &str, wall: SystemTime) -> Hint {
    until(date::rfc_3339(text.trim()), wall)
}

/// Reads an instant in seconds since 1970; zero, which means "unknown", is unusable.
#[must_use]
pub fn epoch_seconds(text: &str, wall: SystemTime) -> Hint {
    until(epoch(text.trim(), SECOND), wall)
}

/// Reads an instant in milliseconds since 1970; zero, which means "unknown", is unusable.
#[must_use]
pub fn epoch_millis(text: &str, wall: SystemTime) -> Hint {
    until(epoch(text.trim(), MILLISECOND), wall)
}

/// Reads a rate-limit reset in any of the forms in use.
///
/// A Go duration, seconds, an RFC 3339 instant, or an instant in seconds or milliseconds since
/// 1970; a bare number is an instant if that lies within 366 days of now. `0` and `-1` are how
/// servers say "unknown", and unusable.
#[must_use]
pub fn reset(text: &str, wall: SystemTime) -> Hint {
    let text = text.trim();
    let Some(number) = Decimal::whole(text) else {
        return match with_units(text, &GO_UNITS) {
            Some(0) => Hint::Unusable,
            Some(length) => Hint::Wait(from_nanos(length)),
            None => rfc3339(text, wall),
        };
    };
    if number.is_zero() {
        return Hint::Unusable;
    }
    let now = Instant::of(wall);
    match [SECOND, MILLISECOND]
        .iter()
        .find_map(|&unit| near_epoch(number, unit, now))
    {
        Some(instant) => until(Some(instant), wall),
        None => nanos(Some(number.times(SECOND))),
    }
}

/// The number as an instant since 1970, if that lies near enough to now to be meant.
pub(super) fn near_epoch(number: Decimal<'_>, unit: u128, now: Instant) -> Option<Instant> {
    let instant = Instant::since_epoch(number.times(unit));
    // A clock that stands near 1970 is unset, not right: there every short length would be one.
    let plausible = !instant.is_within(UNSET, Instant::since_epoch(0));
    (plausible && instant.is_within(NEAR, now)).then_some(instant)
}

fn epoch(text: &str, unit: u128) -> Option<Instant> {
    let number = Decimal::whole(text).filter(|number| !number.is_zero())?;
    Some(Instant::since_epoch(number.times(unit)))
}

fn until(instant: Option<Instant>, wall: SystemTime) -> Hint {
    let Some(instant) = instant else {
        return Hint::Unusable;
    };
    Hint::Wait(instant.after(Instant::of(wall)).unwrap_or(Duration::ZERO))
}

fn nanos(nanos: Option<u128>) -> Hint {
    nanos.map_or(Hint::Unusable, |nanos| Hint::Wait(from_nanos(nanos)))
}

/// How near an epoch second must be to be taken for one: a year, leap day included.
///
/// As a length the same digits would be half a century, which no server means.
const NEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// No server has sent an epoch second of the first ten years after 1970.
const UNSET: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
