//! The headers: which names are read, and how repeated lines count.

use std::time::SystemTime;

use crate::decimal::Decimal;
use crate::failure::Hint;
use crate::hint::retry_after::parse_retry_after;
use crate::hint::value::{milliseconds, reset};

/// Reads the server's own word: `x-should-retry: true` or `false`.
///
/// Anything else is no word. If the header comes with both, `false` stands: not retrying is the
/// answer that can be taken back.
#[must_use]
pub fn server_word<'a>(headers: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Option<bool> {
    headers
        .into_iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("x-should-retry"))
        .filter_map(|(_, value)| match value.trim_ascii() {
            word if word.eq_ignore_ascii_case(b"true") => Some(true),
            word if word.eq_ignore_ascii_case(b"false") => Some(false),
            _ => None,
        })
        .min()
}

pub(super) fn retry_after_ms<'a>(headers: impl Iterator<Item = (&'a str, &'a [u8])>) -> Hint {
    let is_ms = |name: &str| {
        name.eq_ignore_ascii_case("retry-after-ms")
            || name.eq_ignore_ascii_case("x-ms-retry-after-ms")
    };
    largest(
        headers
            .filter(|(name, _)| is_ms(name))
            .map(|(_, value)| read(value, milliseconds)),
    )
}

pub(super) fn retry_after<'a>(
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    wall: SystemTime,
) -> Hint {
    let lines = headers.filter(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
    largest(lines.map(|(_, value)| parse_retry_after(value, wall)))
}

/// The latest reset among the limits that have nothing remaining.
///
/// A limit that still has something left is no reason to wait, however late it resets.
pub(super) fn rate_limit_reset<'a>(
    headers: &(impl Iterator<Item = (&'a str, &'a [u8])> + Clone),
    wall: SystemTime,
) -> Hint {
    let lines = headers.clone().filter(|(name, _)| {
        Limit::named(name, "reset").is_some_and(|limit| limit.is_exhausted(headers.clone()))
    });
    largest(lines.map(|(_, value)| read(value, |text| reset(text, wall))))
}

/// One rate limit, by the family of its headers and its dimension (`requests`, `tokens` …).
#[derive(Clone, Copy)]
struct Limit<'a> {
    family: Family,
    dimension: &'a str,
}

#[derive(Clone, Copy, PartialEq)]
enum Family {
    /// `x-ratelimit-{reset,remaining}-DIMENSION`
    OpenAi,
    /// `anthropic-ratelimit-DIMENSION-{reset,remaining}`
    Anthropic,
}

impl<'a> Limit<'a> {
    fn named(name: &'a str, property: &str) -> Option<Self> {
        let found = |family, dimension: &'a str| Self { family, dimension };
        if let Some(rest) = strip_prefix(name, "x-ratelimit-") {
            let dimension = strip_prefix(rest, property).and_then(|rest| rest.strip_prefix('-'));
            return dimension.map(|dimension| found(Family::OpenAi, dimension));
        }
        let rest = strip_prefix(name, "anthropic-ratelimit-")?;
        let (dimension, last) = rest.rsplit_once('-')?;
        last.eq_ignore_ascii_case(property)
            .then(|| found(Family::Anthropic, dimension))
    }

    fn is_exhausted(self, mut headers: impl Iterator<Item = (&'a str, &'a [u8])>) -> bool {
        headers.any(|(name, value)| {
            let same = Limit::named(name, "remaining").is_some_and(|other| {
                other.family == self.family && other.dimension.eq_ignore_ascii_case(self.dimension)
            });
            let number = str::from_utf8(value)
                .ok()
                .and_then(|text| Decimal::whole(text.trim()));
            same && number.is_some_and(Decimal::is_zero)
        })
    }
}

fn strip_prefix<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = name.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn read(value: &[u8], parse: impl FnOnce(&str) -> Hint) -> Hint {
    str::from_utf8(value).map_or(Hint::Unusable, parse)
}

/// The largest wait of several lines; hints are ordered so that any wait beats none.
fn largest(hints: impl Iterator<Item = Hint>) -> Hint {
    hints.max().unwrap_or(Hint::Absent)
}
