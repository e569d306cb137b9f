//! From figures to pixels, and where the ticks stand.

use crate::report::decimal;

/// A stretch of figures laid on a stretch of pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    top: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// From 0 at one end to `top` at the other.
    pub(super) fn new(top: f64, from: f64, to: f64) -> Self {
        // A figure without any size still needs an axis.
        let top = if top.is_finite() && top > 0.0 {
            top
        } else {
            1.0
        };
        Self { top, from, to }
    }

    pub(super) fn at(&self, figure: f64) -> f64 {
        let share = (figure / self.top).clamp(0.0, 1.0);
        self.from + (self.to - self.from) * share
    }

    /// About so many round figures, from 0.
    pub(super) fn ticks(&self, about: u32) -> Vec<f64> {
        let step = step(self.top, about);
        let mut ticks = Vec::new();
        for number in 0..100_u32 {
            let tick = step * f64::from(number);
            // A little over, so that a tick on the very end is not lost to rounding.
            if tick > self.top * 1.000_001 {
                break;
            }
            ticks.push(tick);
        }
        ticks
    }
}

/// The least round figure that holds the top, so that the last tick is at the end.
pub(super) fn rounded_up(top: f64, about: u32) -> f64 {
    if !top.is_finite() || top <= 0.0 {
        return 1.0;
    }
    let step = step(top, about);
    (top / step - 1e-9).ceil() * step
}

/// A tick as text: `10 000`, `0.5`.
pub(super) fn tick(figure: f64) -> String {
    let text = decimal(figure);
    if figure < 10_000.0 {
        return text;
    }
    let digits = text.len();
    let mut grouped = String::new();
    for (at, digit) in text.chars().enumerate() {
        if at > 0 && (digits - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// 1, 2 or 5 times a power of ten.
fn step(top: f64, about: u32) -> f64 {
    let rough = top / f64::from(about.max(1));
    let power = 10_f64.powf(rough.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0].into_iter();
    let fits = |step: &f64| step * power >= rough * 0.999_999;
    round.clone().find(fits).unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_end() {
        let ticks = Axis::new(rounded_up(157.6, 6), 0.0, 1.0).ticks(6);
        assert_eq!(ticks, [0.0, 50.0, 100.0, 150.0, 200.0]);
        assert_eq!(Axis::new(1.0, 0.0, 1.0).ticks(5).len(), 6);
        assert_eq!(tick(0.5), "0.5");
        assert_eq!(tick(12_000.0), "12\u{202f}000");
    }

    #[test]
    fn an_axis_of_nothing_is_still_one() {
        for top in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            let axis = Axis::new(top, 10.0, 20.0);
            assert!((axis.at(0.0) - 10.0).abs() < 1e-9);
            assert!(axis.ticks(4).len() > 1);
            assert!((rounded_up(top, 4) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn what_lies_outside_is_put_on_the_edge() {
        let axis = Axis::new(10.0, 100.0, 0.0);
        assert!((axis.at(20.0)).abs() < 1e-9);
        assert!((axis.at(-5.0) - 100.0).abs() < 1e-9);
    }
}
