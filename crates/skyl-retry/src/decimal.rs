//! Plain decimal numbers and runs of numbers with units, to nanoseconds.
//!
//! One reader for headers, bodies, prose and flags. Digits with an optional fraction, nothing else:
//! no sign, no exponent, no hex, no missing digits. Too large saturates; a part of a nanosecond
//! rounds up, because a wait is never below what was asked.

/// A number written as digits with an optional fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal<'a> {
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Decimal<'a> {
    /// Splits a number off the front of the text; `None` if it does not begin with one.
    pub(crate) fn split(text: &'a str) -> Option<(Self, &'a str)> {
        let (whole, rest) = digits(text)?;
        let Some((fraction, rest)) = rest.strip_prefix('.').and_then(digits) else {
            return Some((
                Self {
                    whole,
                    fraction: "",
                },
                rest,
            ));
        };
        Some((Self { whole, fraction }, rest))
    }

    /// Reads a text that is a number from end to end.
    pub(crate) fn whole(text: &'a str) -> Option<Self> {
        Self::split(text).and_then(|(number, rest)| rest.is_empty().then_some(number))
    }

    /// Reads digits that stood after a point.
    pub(crate) fn fraction(fraction: &'a str) -> Option<Self> {
        let (fraction, rest) = digits(fraction)?;
        rest.is_empty().then_some(Self {
            whole: "0",
            fraction,
        })
    }

    /// The number times a unit, saturating; a part of a nanosecond rounds up.
    pub(crate) fn times(self, unit: u128) -> u128 {
        let whole = number(self.whole).saturating_mul(unit);
        // 18 digits are finer than a nanosecond of any unit; what follows only decides rounding.
        let (head, tail) = self.fraction.split_at(self.fraction.len().min(18));
        let divisor = 10_u128.pow(u32::try_from(head.len()).unwrap_or(18));
        let scaled = number(head).saturating_mul(unit);
        let part = scaled.div_ceil(divisor);
        let beyond = scaled.is_multiple_of(divisor) && tail.bytes().any(|b| b != b'0');
        whole
            .saturating_add(part)
            .saturating_add(u128::from(beyond))
    }

    /// Whether every digit is a zero.
    pub(crate) fn is_zero(self) -> bool {
        self.whole
            .bytes()
            .chain(self.fraction.bytes())
            .all(|b| b == b'0')
    }
}

/// Reads numbers with units, end to end: `1h2m3.5s`. Saturating.
pub(crate) fn with_units(text: &str, units: &[Unit]) -> Option<u128> {
    let mut rest = text;
    let mut total = 0_u128;
    loop {
        let (number, after) = Decimal::split(rest)?;
        // The word ends where the next number begins, so that `ms` is never read as `m`.
        let end = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (word, next) = after.split_at(end);
        let &(_, nanos) = units.iter().find(|(name, _)| *name == word)?;
        total = total.saturating_add(number.times(nanos));
        if next.is_empty() {
            return Some(total);
        }
        rest = next;
    }
}

/// A unit's name and its length in nanoseconds.
pub(crate) type Unit = (&'static str, u128);

/// The units of a Go duration. Both spellings of the micro sign are in use.
pub(crate) const GO_UNITS: [Unit; 7] = [
    ("h", HOUR),
    ("m", MINUTE),
    ("s", SECOND),
    ("ms", MILLISECOND),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("ns", 1),
];

pub(crate) const MILLISECOND: u128 = 1_000_000;
pub(crate) const SECOND: u128 = 1_000 * MILLISECOND;
pub(crate) const MINUTE: u128 = 60 * SECOND;
pub(crate) const HOUR: u128 = 60 * MINUTE;
pub(crate) const DAY: u128 = 24 * HOUR;

fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    (end > 0).then(|| text.split_at(end))
}

fn number(digits: &str) -> u128 {
    digits.bytes().fold(0, |n: u128, b| {
        n.saturating_mul(10).saturating_add(u128::from(b - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_with_an_optional_fraction() {
        for (text, nanos) in [
            ("0", 0),
            ("007", 7_000_000_000),
            ("1.5", 1_500_000_000),
            ("0.1", 100_000_000),
        ] {
            assert_eq!(
                Decimal::whole(text).map(|n| n.times(SECOND)),
                Some(nanos),
                "{text}"
            );
        }
        for bad in [
            "", ".", "1.", ".5", "+1", "-1", "1e3", "1_0", " 1", "1 ", "1.5.", "٣",
        ] {
            assert!(Decimal::whole(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn what_follows_a_number_is_left_alone() {
        let (number, rest) = Decimal::split("12.5ms").unwrap();
        assert_eq!((number.times(MILLISECOND), rest), (12_500_000, "ms"));
        let (number, rest) = Decimal::split("20.").unwrap();
        assert_eq!((number.times(SECOND), rest), (20 * SECOND, "."));
    }

    #[test]
    fn parts_of_a_nanosecond_round_up_and_sizes_saturate() {
        let nanos = |text| Decimal::whole(text).unwrap().times(SECOND);
        assert_eq!(nanos("0.0000000010"), 1);
        assert_eq!(nanos("0.0000000011"), 2);
        assert_eq!(nanos("0.000000001000000000000000000001"), 2);
        assert_eq!(nanos(&"9".repeat(60)), u128::MAX);
        assert!(Decimal::whole("0.000").unwrap().is_zero());
        assert!(!Decimal::whole("0.001").unwrap().is_zero());
    }

    #[test]
    fn units_end_where_the_next_number_begins() {
        assert_eq!(
            with_units("1m6.5s", &GO_UNITS),
            Some(MINUTE + 6_500 * MILLISECOND)
        );
        assert_eq!(with_units("5ms", &GO_UNITS), Some(5 * MILLISECOND));
        for bad in ["", "5", "5s5", "5 s", "s", "5q"] {
            assert_eq!(with_units(bad, &GO_UNITS), None, "{bad}");
        }
    }
}
