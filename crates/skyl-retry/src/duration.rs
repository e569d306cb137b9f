//! Durations in text: `500ms`, `30s`, `5m`, `1h30m`, `7d`.
//!
//! For flags, files and explanations. [`parse`] refuses a number without a unit, since "is that
//! seconds or milliseconds?" must never be a guess; a bare `0` needs none. [`Human`] writes what
//! [`parse`] reads back unchanged.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::decimal::{DAY, GO_UNITS, HOUR, MINUTE, SECOND, with_units};
use crate::nanos::from_nanos;

/// Reads a duration: numbers with units `d h m s ms us ns`, or a bare `0`.
///
/// Numbers may have a fraction (`1.5s`) and units may be combined (`1m30s`). More than the longest
/// [`Duration`] is the longest.
///
/// # Errors
/// [`InvalidDuration`] if a unit is missing or unknown, or for anything that is not such a text.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(skyl_retry::duration::parse("1m30s")?, Duration::from_secs(90));
/// assert!(skyl_retry::duration::parse("5").is_err());
/// # Ok::<(), skyl_retry::duration::InvalidDuration>(())
/// ```
pub fn parse(text: &str) -> Result<Duration, InvalidDuration> {
    let text = text.trim();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut units = [("d", DAY); GO_UNITS.len() + 1];
    units[1..].copy_from_slice(&GO_UNITS);
    with_units(text, &units)
        .map(from_nanos)
        .ok_or_else(|| InvalidDuration {
            text: text.to_owned(),
        })
}

/// A text that is no duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidDuration {
    text: String,
}

impl fmt::Display for InvalidDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.escape_debug();
        if !text.clone().any(|c| !c.is_ascii_digit() && c != '.') {
            return write!(f, "\"{text}\" needs a unit, such as {text}s or {text}ms");
        }
        write!(
            f,
            "\"{text}\" is no duration such as 500ms, 30s, 5m or 1h30m"
        )
    }
}

impl Error for InvalidDuration {}

/// Writes a duration exactly and short: `0s`, `312ms`, `1.5s`, `1m30s`, `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Human(pub Duration);

impl fmt::Display for Human {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        if nanos == 0 {
            return f.write_str("0s");
        }
        if let Some((unit, length)) = SMALL.into_iter().find(|(_, length)| nanos < length * 1000) {
            return write_decimal(f, nanos, length, unit);
        }
        for (unit, length, within) in [("d", DAY, u128::MAX), ("h", HOUR, 24), ("m", MINUTE, 60)] {
            let count = nanos / length % within;
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        match nanos % MINUTE {
            0 => Ok(()),
            rest => write_decimal(f, rest, SECOND, "s"),
        }
    }
}

/// Writes a duration to the millisecond, for people; below one, to the microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rough(pub Duration);

impl fmt::Display for Rough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let step = match nanos {
            0..1_000 => 1,
            1_000..1_000_000 => 1_000,
            _ => 1_000_000,
        };
        Human(from_nanos(nanos - nanos % step)).fmt(f)
    }
}

fn write_decimal(f: &mut fmt::Formatter<'_>, nanos: u128, unit: u128, name: &str) -> fmt::Result {
    write!(f, "{}", nanos / unit)?;
    let (mut rest, mut place) = (nanos % unit, unit);
    if rest > 0 {
        f.write_str(".")?;
    }
    while rest > 0 {
        place /= 10;
        write!(f, "{}", rest / place)?;
        rest %= place;
    }
    f.write_str(name)
}

/// The units below a second, smallest first.
const SMALL: [(&str, u128); 3] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000)];
