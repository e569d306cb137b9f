//! Dates to instants: the three HTTP forms, RFC 3339, and the calendar under them.
//!
//! All of them are UTC, whatever the machine's zone. A date that no calendar has (31 February) is
//! refused; a weekday must be a weekday but need not be the date's, since the date says it better.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::decimal::{Decimal, SECOND};
use crate::hint::retry_after::DateForm;
use crate::nanos::from_nanos;

/// Nanoseconds since 1970, negative before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Instant(i128);

impl Instant {
    pub(super) fn of(wall: SystemTime) -> Self {
        match wall.duration_since(UNIX_EPOCH) {
            Ok(since) => Self(since.as_nanos().cast_signed()),
            Err(before) => Self(-before.duration().as_nanos().cast_signed()),
        }
    }

    pub(super) fn since_epoch(nanos: u128) -> Self {
        Self(i128::try_from(nanos).unwrap_or(i128::MAX))
    }

    /// The time from `now` to this instant; `None` if it has passed.
    pub(super) fn after(self, now: Self) -> Option<Duration> {
        let nanos = u128::try_from(self.0.saturating_sub(now.0)).ok()?;
        Some(from_nanos(nanos))
    }

    /// Whether the two are at most this far apart, either way.
    pub(super) fn is_within(self, distance: Duration, other: Self) -> bool {
        self.0.abs_diff(other.0) <= distance.as_nanos()
    }
}

/// Reads an HTTP date; `now` settles the century of two-digit years.
pub(super) fn http_date(text: &str, now: Instant) -> Result<(DateForm, Instant), NotADate> {
    let (form, civil) = imf_fixdate(text)
        .or_else(|| rfc_850(text, now))
        .or_else(|| asctime(text))
        .ok_or(NotADate::OtherForm)?;
    let instant = civil.instant().ok_or(NotADate::Impossible)?;
    Ok((form, instant))
}

/// Why a text is no HTTP date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotADate {
    /// It has none of the three forms.
    OtherForm,
    /// It has the form, but no calendar has the date.
    Impossible,
}

/// Reads an RFC 3339 instant, with its offset from UTC.
pub(super) fn rfc_3339(text: &str) -> Option<Instant> {
    let (date, time) = text.split_once(['T', 't'])?;
    let [year, month, day] = split(date, '-')?;
    let (clock, offset) = if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        (clock, 0)
    } else {
        let (clock, offset) = time.split_at_checked(time.len().checked_sub(6)?)?;
        (clock, offset_seconds(offset)?)
    };
    let (clock, fraction) = match clock.split_at_checked(8)? {
        (clock, "") => (clock, 0),
        (clock, fraction) => {
            let fraction = Decimal::fraction(fraction.strip_prefix('.')?)?;
            (clock, i128::try_from(fraction.times(SECOND)).ok()?)
        }
    };
    let civil = Civil {
        year: fixed(year, 4)?,
        month: fixed(month, 2)?,
        day: fixed(day, 2)?,
        seconds: clock_seconds(clock)?,
    };
    let Instant(nanos) = civil.instant()?;
    Some(Instant(nanos + fraction - offset * NANOS))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
fn imf_fixdate(text: &str) -> Option<(DateForm, Civil)> {
    let (weekday, rest) = text.split_once(", ")?;
    let [day, month, year, clock, "GMT"] = split(rest, ' ')? else {
        return None;
    };
    SHORT_WEEKDAYS.contains(&weekday).then_some(())?;
    let civil = Civil {
        year: fixed(year, 4)?,
        month: month_number(month)?,
        day: fixed(day, 2)?,
        seconds: clock_seconds(clock)?,
    };
    Some((DateForm::ImfFixdate, civil))
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`
fn rfc_850(text: &str, now: Instant) -> Option<(DateForm, Civil)> {
    let (weekday, rest) = text.split_once(", ")?;
    let [date, clock, "GMT"] = split(rest, ' ')? else {
        return None;
    };
    let [day, month, year] = split(date, '-')?;
    LONG_WEEKDAYS.contains(&weekday).then_some(())?;
    let civil = Civil {
        year: fixed(year, 2)?,
        month: month_number(month)?,
        day: fixed(day, 2)?,
        seconds: clock_seconds(clock)?,
    };
    Some((DateForm::Rfc850, civil.in_century_of(now)))
}

/// `Sun Nov  6 08:49:37 1994`
fn asctime(text: &str) -> Option<(DateForm, Civil)> {
    // The day is padded with a space, so the fields are cut by place.
    let (weekday, rest) = text.split_once(' ')?;
    let (month, rest) = rest.split_once(' ')?;
    let (day, rest) = rest.split_at_checked(2)?;
    let [clock, year] = split(rest.strip_prefix(' ')?, ' ')?;
    SHORT_WEEKDAYS.contains(&weekday).then_some(())?;
    let civil = Civil {
        year: fixed(year, 4)?,
        month: month_number(month)?,
        day: match day.strip_prefix(' ') {
            Some(digit) => fixed(digit, 1)?,
            None => fixed(day, 2)?,
        },
        seconds: clock_seconds(clock)?,
    };
    Some((DateForm::Asctime, civil))
}

/// A UTC date and time of day, not yet known to exist. Ordered by time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Civil {
    year: i128,
    month: i128,
    day: i128,
    // Seconds of the day; a leap second is the first of the next minute.
    seconds: i128,
}

impl Civil {
    fn instant(self) -> Option<Instant> {
        let exists = (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day);
        exists.then(|| {
            let days = days_from_civil(self.year, self.month, self.day);
            Instant((days * DAY_SECONDS + self.seconds) * NANOS)
        })
    }

    fn from_instant(Instant(nanos): Instant) -> Self {
        let seconds = nanos.div_euclid(NANOS);
        let (year, month, day) = civil_from_days(seconds.div_euclid(DAY_SECONDS));
        Self {
            year,
            month,
            day,
            seconds: seconds.rem_euclid(DAY_SECONDS),
        }
    }

    /// Completes a two-digit year: the latest one that is at most 50 years ahead (RFC 9110 5.6.7).
    fn in_century_of(self, now: Instant) -> Self {
        let mut limit = Self::from_instant(now);
        limit.year += 50;
        let century = limit.year - limit.year.rem_euclid(100);
        let this = Self {
            year: century + self.year,
            ..self
        };
        if this <= limit {
            return this;
        }
        Self {
            year: this.year - 100,
            ..this
        }
    }
}

/// Days since 1970-01-01, by counting years from March, so that leap days come last.
fn days_from_civil(year: i128, month: i128, day: i128) -> i128 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - DAYS_TO_1970
}

fn civil_from_days(days: i128) -> (i128, i128, i128) {
    let days = days + DAYS_TO_1970;
    let era = days.div_euclid(ERA_DAYS);
    let day_of_era = days.rem_euclid(ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    (year, month, day)
}

fn days_in_month(year: i128, month: i128) -> i128 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i128::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// `08:49:37`, in seconds of the day. A leap second (`23:59:60`) is allowed.
fn clock_seconds(text: &str) -> Option<i128> {
    let [hours, minutes, seconds] = split(text, ':')?;
    let (hours, minutes, seconds) = (fixed(hours, 2)?, fixed(minutes, 2)?, fixed(seconds, 2)?);
    (hours < 24 && minutes < 60 && seconds <= 60).then_some(hours * 3600 + minutes * 60 + seconds)
}

/// `+01:00`, in seconds.
fn offset_seconds(text: &str) -> Option<i128> {
    let (sign, rest) = text.split_at_checked(1)?;
    let [hours, minutes] = split(rest, ':')?;
    let (hours, minutes) = (fixed(hours, 2)?, fixed(minutes, 2)?);
    let seconds = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
    match sign {
        "+" => Some(seconds),
        "-" => Some(-seconds),
        _ => None,
    }
}

fn month_number(name: &str) -> Option<i128> {
    let index = MONTHS.iter().position(|month| *month == name)?;
    i128::try_from(index + 1).ok()
}

/// Exactly so many digits.
fn fixed(text: &str, digits: usize) -> Option<i128> {
    let all = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    all.then(|| text.parse().ok())?
}

/// Exactly so many fields.
fn split<const N: usize>(text: &str, separator: char) -> Option<[&str; N]> {
    let mut fields = [""; N];
    let mut pieces = text.split(separator);
    for field in &mut fields {
        *field = pieces.next()?;
    }
    pieces.next().is_none().then_some(fields)
}

const NANOS: i128 = 1_000_000_000;
const DAY_SECONDS: i128 = 86_400;
const ERA_DAYS: i128 = 146_097;
/// Days from 1 March of year 0 to 1 January 1970.
const DAYS_TO_1970: i128 = 719_468;

const SHORT_WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const LONG_WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_two_eras_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1600, 3, 1);
        let first = days_from_civil(year, month, day);
        for days in first..first + 2 * ERA_DAYS {
            assert_eq!(civil_from_days(days), (year, month, day));
            assert_eq!(days_from_civil(year, month, day), days);
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(civil_from_days(0), (1970, 1, 1));
    }

    #[test]
    fn an_offset_counts_hours_and_minutes_of_a_day() {
        for (text, expected) in [
            ("+00:00", Some(0)),
            ("+01:30", Some(5_400)),
            ("-01:30", Some(-5_400)),
            ("+23:59", Some(86_340)),
            ("-00:01", Some(-60)),
            ("+24:00", None),
            ("+00:60", None),
            ("-24:60", None),
            ("*01:00", None),
            ("+1:00", None),
        ] {
            assert_eq!(offset_seconds(text), expected, "{text}");
        }
    }
}
