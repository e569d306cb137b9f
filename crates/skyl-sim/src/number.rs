//! Conversions between counts, nanoseconds and floats, each with its loss said once.
//!
//! Virtual time is nanoseconds in a `u64`: 584 years, and exact. Floats serve draws, rates and
//! averages; below 2⁵³ (104 days of nanoseconds) they are exact, too.

use std::time::Duration;

/// A count as a float; exact below 2⁵³.
#[expect(clippy::cast_precision_loss, reason = "counts here are below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// The same for lengths of collections.
pub(crate) fn length(count: usize) -> f64 {
    float(u64::try_from(count).unwrap_or(u64::MAX))
}

/// A float as a whole number, rounded; NaN and negative numbers are zero, large ones saturate.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates and sends NaN to zero, which is what is wanted"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// A whole number as an index; saturates where indices are narrower.
pub(crate) fn index(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A length of time in nanoseconds; more than 584 years is 584 years.
pub(crate) fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

/// Nanoseconds as milliseconds, for people and tables.
pub(crate) fn millis(nanos: u64) -> f64 {
    float(nanos) / 1e6
}
