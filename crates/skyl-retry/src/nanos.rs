//! Durations as nanoseconds, without overflow.
//!
//! A [`Duration`] reaches 2⁶⁴ seconds, more nanoseconds than a `u64` holds; `u128` holds them all.
//! Everything saturates: a wait too long to write down is cut to the cap later, never wrapped.

use std::time::Duration;

/// Turns nanoseconds back into a duration; more than the longest duration is the longest.
#[inline]
pub(crate) fn from_nanos(nanos: u128) -> Duration {
    // Every wait of under 584 years takes this way: 128-bit division is a slow library call.
    if let Ok(nanos) = u64::try_from(nanos) {
        return Duration::from_nanos(nanos);
    }
    match u64::try_from(nanos / NANOS_PER_SECOND) {
        Ok(seconds) => {
            // The remainder is below 10⁹, so the conversion cannot fail.
            let rest = u32::try_from(nanos % NANOS_PER_SECOND).unwrap_or(0);
            Duration::new(seconds, rest)
        }
        Err(_) => Duration::MAX,
    }
}

/// Multiplies nanoseconds by a factor, rounded down; NaN and negative factors give zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "float-to-int casts saturate and send NaN to zero, which is what a wait needs"
)]
#[inline]
pub(crate) fn scale(nanos: u128, factor: f64) -> u128 {
    // Every wait of under 584 years converts in one instruction; 128 bits are a library call.
    let nanos = u64::try_from(nanos).map_or_else(|_| nanos as f64, |nanos| nanos as f64);
    let product = nanos * factor;
    if product < ONE_WORD {
        return u128::from(product as u64);
    }
    // 0 × ∞ is NaN, which the cast sends to zero: a wait of nothing stays nothing.
    product as u128
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// 2⁶⁴, the first number a `u64` does not hold.
const ONE_WORD: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_survive_the_round_trip_and_saturate_beyond() {
        for duration in [Duration::ZERO, Duration::from_millis(1500), Duration::MAX] {
            assert_eq!(from_nanos(duration.as_nanos()), duration);
        }
        assert_eq!(from_nanos(u128::MAX), Duration::MAX);
    }

    #[test]
    fn scaling_saturates_and_never_goes_below_zero() {
        assert_eq!(scale(100, 0.25), 25);
        assert_eq!(scale(100, f64::INFINITY), u128::MAX);
        for factor in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            assert_eq!(scale(100, factor), 0);
        }
        assert_eq!(scale(0, f64::INFINITY), 0);
        // Across the end of one word, where the way of converting changes.
        assert_eq!(scale(1 << 63, 2.0), 1 << 64);
        assert_eq!(scale(1 << 65, 0.5), 1 << 64);
        assert_eq!(scale(1 << 65, 0.25), 1 << 63);
    }
}
