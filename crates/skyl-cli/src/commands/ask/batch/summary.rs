//! What a batch came to.

use std::fmt::Write as _;

use serde::Serialize;

use crate::commands::ask::batch::store::Totals;

/// The one object of a batch; it counts all lines, those of earlier runs included.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    lines: u64,
    answered: u64,
    failed: u64,
    /// Lines that took more than one attempt.
    retried: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// Null without a price.
    cost: Option<f64>,
}

impl Summary {
    /// `price` is that of a million input tokens.
    pub(super) fn of(totals: &Totals, price: Option<f64>) -> Self {
        Self {
            lines: totals.answered.saturating_add(totals.failed),
            answered: totals.answered,
            failed: totals.failed,
            retried: totals.retried,
            input_tokens: totals.input_tokens,
            output_tokens: totals.output_tokens,
            cost: price.map(|price| cost(price, totals.input_tokens)),
        }
    }

    /// The summary for people; `kept` is how many an earlier run had answered.
    pub(super) fn line(&self, kept: u64) -> String {
        let mut line = format!("{} lines: {} answered", self.lines, self.answered);
        // Writing to a string cannot fail.
        let mut add = |text: std::fmt::Arguments<'_>| {
            let _infallible = line.write_fmt(text);
        };
        if kept > 0 {
            add(format_args!(" ({kept} of them before)"));
        }
        add(format_args!(
            ", {} failed, {} retried",
            self.failed, self.retried
        ));
        add(format_args!(
            "; {} input and {} output tokens",
            self.input_tokens, self.output_tokens
        ));
        if let Some(cost) = self.cost {
            add(format_args!("; cost {cost}"));
        }
        line
    }
}

/// To a billionth, so that the binary fraction of a price does not show.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact to nine quadrillion tokens, which nobody is billed for"
)]
fn cost(price: f64, tokens: u64) -> f64 {
    (price * tokens as f64 * 1e3).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals() -> Totals {
        Totals {
            answered: 1998,
            kept: 0,
            failed: 2,
            retried: 31,
            input_tokens: 1_234_567,
            output_tokens: 40_112,
            first_failure: None,
        }
    }

    #[test]
    fn the_object_has_every_field_and_no_cost_without_a_price() {
        let object = serde_json::to_string(&Summary::of(&totals(), None)).unwrap();
        assert_eq!(
            object,
            r#"{"lines":2000,"answered":1998,"failed":2,"retried":31,"input_tokens":1234567,"output_tokens":40112,"cost":null}"#
        );
        let object = serde_json::to_string(&Summary::of(&totals(), Some(0.042))).unwrap();
        assert!(object.ends_with(r#""cost":0.051851814}"#), "{object}");
    }

    #[test]
    fn the_line_tells_the_same() {
        let line = |kept, price| Summary::of(&totals(), price).line(kept);
        assert_eq!(
            line(0, None),
            "2000 lines: 1998 answered, 2 failed, 31 retried; \
             1234567 input and 40112 output tokens"
        );
        assert!(line(12, Some(2.0)).contains("(12 of them before)"));
        assert!(line(12, Some(2.0)).ends_with("; cost 2.469134"));
    }
}
