//! What a call costs, at a price the caller names.

use crate::response::Usage;

/// The price of tokens, per million of them, in whatever currency the caller counts in.
///
/// There is no default: prices change without a release of this crate. [`Price::LIST`] is one that
/// was public at its date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    input: f64,
    output: f64,
}

impl Price {
    /// The public list price of autumn 2026: 0.042 US dollars per million input tokens.
    ///
    /// Output is free at it.
    pub const LIST: Self = Self::per_million(0.042, 0.0);

    /// A price per million input tokens and per million output tokens.
    ///
    /// Both finite and at least 0, or [`ClientBuilder::build`](super::ClientBuilder::build) refuses
    /// them.
    #[must_use]
    pub const fn per_million(input: f64, output: f64) -> Self {
        Self { input, output }
    }

    /// What this usage costs; `None` where a count that has a price was not reported.
    #[must_use]
    pub fn of(&self, usage: Usage) -> Option<f64> {
        let part = |price: f64, tokens: Option<u64>| match tokens {
            _ if price <= 0.0 => Some(0.0),
            #[expect(
                clippy::cast_precision_loss,
                reason = "exact to nine quadrillion tokens, which nobody is billed for"
            )]
            Some(tokens) => Some(price * tokens as f64 / 1e6),
            None => None,
        };
        Some(part(self.input, usage.input_tokens)? + part(self.output, usage.output_tokens)?)
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        // `is_finite` first: NaN compares false with everything.
        let good = |price: f64| price.is_finite() && price >= 0.0;
        if good(self.input) && good(self.output) {
            Ok(())
        } else {
            Err("must be finite and at least 0")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: Option<u64>, output: Option<u64>) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            ..Usage::default()
        }
    }

    #[track_caller]
    fn check(price: Price, usage: Usage, expected: Option<f64>) {
        let cost = price.of(usage);
        match (cost, expected) {
            (Some(cost), Some(expected)) => assert!((cost - expected).abs() < 1e-12, "{cost}"),
            _ => assert_eq!(cost, expected),
        }
    }

    #[test]
    fn the_list_price_counts_input_alone() {
        check(Price::LIST, usage(Some(1_000_000), Some(5)), Some(0.042));
        check(Price::LIST, usage(Some(0), None), Some(0.0));
    }

    #[test]
    fn a_price_of_output_counts_too() {
        check(
            Price::per_million(1.0, 2.0),
            usage(Some(500_000), Some(250_000)),
            Some(1.0),
        );
    }

    #[test]
    fn what_was_not_reported_has_no_cost_and_is_no_zero() {
        check(Price::LIST, usage(None, Some(5)), None);
        check(Price::per_million(1.0, 2.0), usage(Some(1), None), None);
    }

    #[test]
    fn prices_that_are_none_are_refused() {
        for bad in [f64::NAN, f64::INFINITY, -0.1] {
            assert!(Price::per_million(bad, 0.0).check().is_err(), "{bad}");
            assert!(Price::per_million(0.0, bad).check().is_err(), "{bad}");
        }
        assert!(Price::LIST.check().is_ok());
        assert!(Price::per_million(0.0, 0.0).check().is_ok());
    }
}
