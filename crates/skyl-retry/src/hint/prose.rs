//! Waits in an error message's words.
//!
//! The last resort, for providers that say the wait nowhere else. Only a number with a unit right
//! after one of a few phrases counts, only in the first 4 KiB, and the first readable one stands.

use crate::decimal::{DAY, Decimal, HOUR, MILLISECOND, MINUTE, SECOND, Unit};
use crate::failure::Hint;
use crate::nanos::from_nanos;

/// Finds a wait in a message: `try again in 6.5s`, `Please retry in 10h17m5.7s`.
///
/// Units may be spelled out (`in 20 seconds`, `after 1 minute and 30 seconds`). Without a unit
/// nothing is guessed.
///
/// ```
/// use skyl_retry::{Hint, hint::prose};
/// use std::time::Duration;
///
/// let message = "Rate limit reached for requests. Please try again in 6.5s.";
/// assert_eq!(prose(message), Hint::Wait(Duration::from_millis(6500)));
/// assert_eq!(prose("Please try again later."), Hint::Absent);
/// ```
#[must_use]
pub fn prose(text: &str) -> Hint {
    let text = head(text).to_ascii_lowercase();
    let mut hint = Hint::Absent;
    let mut rest = text.as_str();
    while let Some(after) = next_phrase(rest) {
        if let Some(nanos) = spoken(after) {
            return Hint::Wait(from_nanos(nanos));
        }
        hint = Hint::Unusable;
        rest = after;
    }
    hint
}

/// The first bytes of the text, cut at a character.
fn head(text: &str) -> &str {
    let end = (0..=MAX_LEN.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// The text after the first phrase in it.
fn next_phrase(text: &str) -> Option<&str> {
    let ends = PHRASES
        .iter()
        .filter_map(|phrase| Some(text.find(phrase)? + phrase.len()));
    Some(&text[ends.min()?..])
}

/// Reads numbers with units: glued, spaced, spelled out, joined by commas or "and".
fn spoken(text: &str) -> Option<u128> {
    let (mut total, mut rest) = part(text)?;
    // What follows belongs to the wait only if it reads as another part of one.
    while let Some((more, after)) = part(joint(rest)) {
        total = total.saturating_add(more);
        rest = after;
    }
    Some(total)
}

/// One number with its unit, off the front.
fn part(text: &str) -> Option<(u128, &str)> {
    let (number, rest) = Decimal::split(text.trim_start_matches(' '))?;
    let rest = rest.trim_start_matches(' ');
    let end = rest
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(rest.len());
    let (word, rest) = rest.split_at(end);
    let &(_, nanos) = UNITS.iter().find(|(name, _)| *name == word)?;
    Some((number.times(nanos), rest))
}

fn joint(text: &str) -> &str {
    let text = text
        .strip_prefix(',')
        .unwrap_or(text)
        .trim_start_matches(' ');
    text.strip_prefix("and ").unwrap_or(text)
}

/// Messages are short; what lies beyond is quoted input, not the server's word.
const MAX_LEN: usize = 4096;

const PHRASES: [&str; 4] = [
    "try again in ",
    "try again after ",
    "retry in ",
    "retry after ",
];

const UNITS: [Unit; 25] = [
    ("ms", MILLISECOND),
    ("msec", MILLISECOND),
    ("msecs", MILLISECOND),
    ("millisecond", MILLISECOND),
    ("milliseconds", MILLISECOND),
    ("s", SECOND),
    ("sec", SECOND),
    ("secs", SECOND),
    ("second", SECOND),
    ("seconds", SECOND),
    ("m", MINUTE),
    ("min", MINUTE),
    ("mins", MINUTE),
    ("minute", MINUTE),
    ("minutes", MINUTE),
    ("h", HOUR),
    ("hr", HOUR),
    ("hrs", HOUR),
    ("hour", HOUR),
    ("hours", HOUR),
    ("d", DAY),
    ("day", DAY),
    ("days", DAY),
    ("us", MILLISECOND / 1000),
    ("ns", 1),
];
