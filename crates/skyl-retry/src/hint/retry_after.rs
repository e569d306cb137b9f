//! One `Retry-After` value, read and explained.
//!
//! RFC 9110 10.2.3 allows digits or an HTTP date; servers also send fractions, and now and then the
//! instant itself as an epoch second. Those are read. What merely looks like a number to a lenient
//! parser (`+3`, `1e3`, `0x10`, `1_0`, `inf`) is not: on such values no two clients agree, and a
//! wrong wait is worse than the own backoff.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::decimal::{Decimal, SECOND};
use crate::duration::Human;
use crate::failure::Hint;
use crate::hint::date::{self, Instant, NotADate};
use crate::hint::value::near_epoch;
use crate::nanos::from_nanos;

/// Reads a `Retry-After` value: decimal seconds, or an HTTP date read against `wall`.
///
/// Zero and dates in the past are a wait of zero; too many digits are the longest wait there is.
/// White space around the value is ignored.
#[must_use]
pub fn parse_retry_after(value: impl AsRef<[u8]>, wall: SystemTime) -> Hint {
    explain(value, wall).hint()
}

/// Reads a `Retry-After` value and keeps how it was read.
///
/// ```
/// use skyl_retry::hint::explain;
/// use std::time::UNIX_EPOCH;
///
/// assert_eq!(explain("90", UNIX_EPOCH).to_string(), "seconds: wait 1m30s");
/// assert_eq!(explain("-5", UNIX_EPOCH).to_string(), "unusable: a sign is not allowed");
/// ```
#[must_use]
pub fn explain(value: impl AsRef<[u8]>, wall: SystemTime) -> Reading {
    Reading {
        rule: read(value.as_ref().trim_ascii(), Instant::of(wall)),
    }
}

/// How a `Retry-After` value was read; its text explains it in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The rule that read the value, with what it gave.
    pub rule: Rule,
}

impl Reading {
    /// The wait: raw, before any cap.
    #[must_use]
    pub fn hint(&self) -> Hint {
        match self.rule {
            Rule::Seconds { wait, .. }
            | Rule::EpochSeconds { wait, .. }
            | Rule::Date { wait, .. } => Hint::Wait(wait),
            Rule::Refused(_) => Hint::Unusable,
        }
    }

    /// The rules in the order they were tried, each with its outcome, one line each.
    #[must_use]
    pub fn steps(&self) -> Vec<String> {
        let mut steps = Vec::new();
        let mut step = |rule: &str, outcome: &str| steps.push(format!("{rule}: {outcome}"));
        match self.rule {
            Rule::Seconds { .. } => {
                step(SECONDS, "yes");
                step(EPOCH, "no");
            }
            Rule::EpochSeconds { .. } => {
                step(SECONDS, "yes");
                step(EPOCH, "yes");
            }
            Rule::Date { .. } => {
                step(SECONDS, "no");
                step(DATE, "yes");
            }
            Rule::Refused(refusal) => {
                step(SECONDS, "no");
                step(DATE, "no");
                step("no rule reads it", refusal.as_str());
            }
        }
        steps.push(self.to_string());
        steps
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, wait, past) = match self.rule {
            Rule::Seconds {
                saturated: true, ..
            } => {
                return f.write_str("seconds: more than can be counted, the longest wait there is");
            }
            Rule::Seconds { wait, .. } => ("seconds", wait, false),
            Rule::EpochSeconds { wait, past } => ("an instant in seconds since 1970", wait, past),
            Rule::Date { form, wait, past } => (form.as_str(), wait, past),
            Rule::Refused(refusal) => return write!(f, "unusable: {refusal}"),
        };
        if past {
            return write!(f, "{what}: already past, wait 0s");
        }
        write!(f, "{what}: wait {}", Human(wait))
    }
}

/// The rule a value was read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Seconds from now.
    #[non_exhaustive]
    Seconds {
        /// The wait.
        wait: Duration,
        /// Whether the number was too large and was cut to the longest duration.
        saturated: bool,
    },
    /// A number that is an instant: seconds since 1970, within 366 days of now.
    #[non_exhaustive]
    EpochSeconds {
        /// The wait; zero if the instant has passed.
        wait: Duration,
        /// Whether the instant has passed.
        past: bool,
    },
    /// An HTTP date.
    #[non_exhaustive]
    Date {
        /// Which of the three forms.
        form: DateForm,
        /// The wait; zero if the date has passed.
        wait: Duration,
        /// Whether the date has passed.
        past: bool,
    },
    /// No wait can be read from it.
    Refused(Refusal),
}

/// The three forms of an HTTP date (RFC 9110 5.6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DateForm {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    ImfFixdate,
    /// `Sunday, 06-Nov-94 08:49:37 GMT`; the year is the latest at most 50 years ahead.
    Rfc850,
    /// `Sun Nov  6 08:49:37 1994`
    Asctime,
}

impl DateForm {
    /// The form's name, for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ImfFixdate => "an HTTP date (IMF-fixdate)",
            Self::Rfc850 => "an HTTP date (RFC 850)",
            Self::Asctime => "an HTTP date (asctime)",
        }
    }
}

/// Why a value is no wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing but white space.
    Empty,
    /// Bytes that are not ASCII.
    NotAscii,
    /// A number with a sign.
    Signed,
    /// A number with an exponent.
    Exponent,
    /// A number in hexadecimal.
    Hex,
    /// A number that lacks its digits before or after the point.
    Point,
    /// Several numbers.
    List,
    /// A number followed by something else, such as a unit.
    Trailing,
    /// A date in a form HTTP does not know.
    DateForm,
    /// A date no calendar has.
    ImpossibleDate,
    /// Neither a number nor a date.
    Unknown,
}

impl Refusal {
    /// The reason, for people; its wording may change.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "it is empty",
            Self::NotAscii => "it is not ASCII",
            Self::Signed => "a sign is not allowed",
            Self::Exponent => "an exponent is not allowed",
            Self::Hex => "hexadecimal is not allowed",
            Self::Point => "a point needs digits on both sides",
            Self::List => "it holds several numbers",
            Self::Trailing => "something follows the number; a unit is not allowed",
            Self::DateForm => "the date has none of the three forms of HTTP",
            Self::ImpossibleDate => "no calendar has this date",
            Self::Unknown => "it is neither a number nor a date",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn read(value: &[u8], now: Instant) -> Rule {
    let Some(text) = str::from_utf8(value).ok().filter(|text| text.is_ascii()) else {
        return Rule::Refused(Refusal::NotAscii);
    };
    if let Some(number) = Decimal::whole(text) {
        return seconds(number, now);
    }
    match date::http_date(text, now) {
        Ok((form, instant)) => {
            let wait = instant.after(now);
            Rule::Date {
                form,
                wait: wait.unwrap_or(Duration::ZERO),
                past: wait.is_none(),
            }
        }
        Err(NotADate::Impossible) => Rule::Refused(Refusal::ImpossibleDate),
        Err(NotADate::OtherForm) => Rule::Refused(refusal(text)),
    }
}

fn seconds(number: Decimal<'_>, now: Instant) -> Rule {
    if let Some(instant) = near_epoch(number, SECOND, now) {
        let wait = instant.after(now);
        return Rule::EpochSeconds {
            wait: wait.unwrap_or(Duration::ZERO),
            past: wait.is_none(),
        };
    }
    let nanos = number.times(SECOND);
    Rule::Seconds {
        wait: from_nanos(nanos),
        saturated: nanos > Duration::MAX.as_nanos(),
    }
}

/// Names what is wrong with a text that no rule reads; a guess for people, without consequence.
fn refusal(text: &str) -> Refusal {
    let Some(first) = text.chars().next() else {
        return Refusal::Empty;
    };
    let Some((_, rest)) = Decimal::split(text) else {
        let after = &text[first.len_utf8()..];
        let digits_follow = after.starts_with(|c: char| c.is_ascii_digit());
        return match first {
            '+' | '-' => Refusal::Signed,
            '.' if digits_follow => Refusal::Point,
            _ if text.contains(':') || MONTHS.iter().any(|month| text.contains(month)) => {
                Refusal::DateForm
            }
            _ => Refusal::Unknown,
        };
    };
    let is = |c: char, set: &str| set.contains(c);
    match rest.chars().next() {
        Some('.') => Refusal::Point,
        Some(',' | ';') => Refusal::List,
        Some(c) if is(c, "eE") => Refusal::Exponent,
        Some(c) if is(c, "xX") && text.starts_with('0') => Refusal::Hex,
        _ if rest.contains(':') || MONTHS.iter().any(|month| rest.contains(month)) => {
            Refusal::DateForm
        }
        _ => Refusal::Trailing,
    }
}

const SECONDS: &str = "decimal seconds";
const EPOCH: &str = "an epoch second within 366 days of now";
const DATE: &str = "an HTTP date";

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
