//! Durations in text: `500ms`, `30s`, `5m`, `1h30m`, `7d`.
//!
//! For flags, files and explanations. [`parse`] refuses a number without a unit, since "is that
//! seconds or milliseconds?" must never be a guess; a bare `0` needs none. [`Human`] writes what
//! [`parse`] reads back unchanged.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::decimal::{DAY, Decimal, GO_UNITS, HOUR, MINUTE, SECOND, with_units};
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
        if Decimal::whole(&self.text).is_some() {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_carry_their_units() {
        for (text, millis) in [
            ("0", 0),
            ("0s", 0),
            ("500ms", 500),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1m30s", 90_000),
            ("1.5s", 1500),
            ("2h", 7_200_000),
            ("7d", 604_800_000),
            (" 1s ", 1000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn a_number_without_a_unit_is_refused_with_a_suggestion() {
        assert_eq!(
            parse("5").unwrap_err().to_string(),
            "\"5\" needs a unit, such as 5s or 5ms"
        );
        assert_eq!(
            parse("00").unwrap_err().to_string(),
            "\"00\" needs a unit, such as 00s or 00ms"
        );
        for bad in [
            "", "s", "-5s", "5 s", "5x", "1e3s", "5sec", "1m30", "soon\n",
        ] {
            assert!(
                parse(bad)
                    .unwrap_err()
                    .to_string()
                    .contains("is no duration"),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_duration_too_long_to_count_saturates() {
        assert_eq!(parse("99999999999999999999d"), Ok(Duration::MAX));
    }

    #[test]
    fn people_read_short_texts() {
        for (millis, text) in [
            (0, "0s"),
            (312, "312ms"),
            (1000, "1s"),
            (1500, "1.5s"),
            (60_000, "1m"),
            (90_500, "1m30.5s"),
            (3_600_000, "1h"),
            (86_400_000, "1d"),
            (90_000_000, "1d1h"),
            (86_405_000, "1d5s"),
        ] {
            assert_eq!(Human(Duration::from_millis(millis)).to_string(), text);
        }
        assert_eq!(Human(Duration::from_nanos(1_500)).to_string(), "1.5us");
        assert_eq!(Human(Duration::from_nanos(7)).to_string(), "7ns");
        assert_eq!(
            Rough(Duration::from_nanos(312_999_999)).to_string(),
            "312ms"
        );
        assert_eq!(Rough(Duration::from_nanos(1_999)).to_string(), "1us");
        assert_eq!(Rough(Duration::from_nanos(7)).to_string(), "7ns");
        assert_eq!(Rough(Duration::new(61, 999_999)).to_string(), "1m1s");
    }

    proptest! {
        #[test]
        fn every_duration_reads_back_as_it_is_written(secs in any::<u64>(), nanos in 0_u32..1_000_000_000, small in any::<u64>()) {
            for duration in [Duration::new(secs, nanos), Duration::from_nanos(small), Duration::from_nanos(small % 1_000_000)] {
                prop_assert_eq!(parse(&Human(duration).to_string()), Ok(duration));
            }
        }
    }
}
