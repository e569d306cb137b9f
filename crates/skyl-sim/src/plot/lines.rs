//! Charts of lines, each with its name at its end.

use crate::number::length;
use crate::plot::Band;
use crate::plot::axis::{Axis, rounded_up, tick};
use crate::plot::svg::{Anchor, Canvas, colour, text_width};

/// A chart under way.
pub(super) struct Chart {
    title: String,
    subtitle: String,
    across: String,
    up: String,
    top: Option<f64>,
    band: Option<Band>,
    lines: Vec<Line>,
}

/// A line and its name.
pub(super) struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

impl Line {
    pub(super) fn new(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.to_owned(),
            points,
        }
    }
}

impl Chart {
    pub(super) fn new(title: &str, across: &str, up: &str) -> Self {
        Self {
            title: title.to_owned(),
            subtitle: String::new(),
            across: across.to_owned(),
            up: up.to_owned(),
            top: None,
            band: None,
            lines: Vec::new(),
        }
    }

    pub(super) fn subtitle(mut self, subtitle: &str) -> Self {
        subtitle.clone_into(&mut self.subtitle);
        self
    }

    /// Fixes the upper end; without it, the highest point decides.
    pub(super) fn top(mut self, top: f64) -> Self {
        self.top = Some(top);
        self
    }

    pub(super) fn band(mut self, band: Option<Band>) -> Self {
        self.band = band;
        self
    }

    pub(super) fn lines(mut self, lines: Vec<Line>) -> Self {
        self.lines = lines;
        self
    }

    pub(super) fn draw(&self) -> String {
        let mut canvas = Canvas::new(WIDTH, HEIGHT);
        canvas.text((16.0, 28.0), Anchor::Start, "title", &self.title);
        if !self.subtitle.is_empty() {
            canvas.text((16.0, 48.0), Anchor::Start, "quiet", &self.subtitle);
        }
        self.draw_in(&mut canvas, 0.0, WIDTH);
        canvas.finish(&format!("{}: {} over {}", self.title, self.up, self.across))
    }

    fn draw_in(&self, canvas: &mut Canvas, left: f64, width: f64) {
        let names = self.lines.iter().map(|line| text_width(&line.name));
        let room = names.fold(0.0, f64::max) + 14.0;
        let (x0, x1) = (left + 62.0, left + width - room - 10.0);
        let (y0, y1) = (HEIGHT - 54.0, 84.0);
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let widest = points().map(|point| point.0).fold(0.0, f64::max);
        let highest = points().map(|point| point.1).fold(0.0, f64::max);
        let across = Axis::new(widest, x0, x1);
        let up = Axis::new(self.top.unwrap_or(rounded_up(highest, TICKS_UP)), y0, y1);
        canvas.text((x0 - 46.0, y1 - 14.0), Anchor::Start, "quiet", &self.up);
        for figure in up.ticks(TICKS_UP) {
            canvas.line((x0, up.at(figure)), (x1, up.at(figure)), "grid");
            let at = (x0 - 8.0, up.at(figure) + 4.0);
            canvas.text(at, Anchor::End, "quiet", &tick(figure));
        }
        if let Some(band) = self.band {
            draw_band(canvas, band, &across, (y0, y1));
        }
        for figure in across.ticks(ticks_across(width)) {
            canvas.line(
                (across.at(figure), y0),
                (across.at(figure), y0 + 5.0),
                "axis",
            );
            let at = (across.at(figure), y0 + 19.0);
            canvas.text(at, Anchor::Middle, "quiet", &tick(figure));
        }
        canvas.line((x0, y0), (x1, y0), "axis");
        let middle = f64::midpoint(x0, x1);
        canvas.text((middle, y0 + 40.0), Anchor::Middle, "quiet", &self.across);
        for (at, line) in self.lines.iter().enumerate() {
            let points: Vec<(f64, f64)> = line
                .points
                .iter()
                .map(|(x, y)| (across.at(*x), up.at(*y)))
                .collect();
            canvas.path(&thinned(&points), &format!("curve {}", colour(at)));
        }
        self.draw_names(canvas, &across, &up, (y0, y1));
    }

    /// The names: each at the end of its line, and moved as little as keeps them apart.
    fn draw_names(&self, canvas: &mut Canvas, across: &Axis, up: &Axis, (y0, y1): (f64, f64)) {
        let mut names: Vec<(f64, f64, usize)> = self
            .lines
            .iter()
            .enumerate()
            .filter_map(|(at, line)| {
                let (x, y) = line.points.last()?;
                Some((up.at(*y), across.at(*x), at))
            })
            .collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        let wanted: Vec<f64> = names.iter().map(|name| name.0).collect();
        let right = names.iter().map(|name| name.1).fold(0.0, f64::max);
        for ((_, x, at), y) in names.iter().zip(apart(&wanted, y1, y0)) {
            // A line that ends early is named where it ends, if nobody else is there.
            let alone = wanted
                .iter()
                .filter(|other| (*other - y).abs() < LINE)
                .count()
                < 2;
            let x = if alone { *x } else { right };
            let class = format!("halo {}", colour(*at));
            canvas.text(
                (x + 7.0, y + 4.0),
                Anchor::Start,
                &class,
                &self.lines[*at].name,
            );
        }
    }
}

/// Two charts of one subject.
pub(super) fn side_by_side(left: &Chart, right: &Chart) -> String {
    let mut canvas = Canvas::new(2.0 * HALF_WIDTH, HEIGHT);
    canvas.text((16.0, 28.0), Anchor::Start, "title", &left.title);
    left.draw_in(&mut canvas, 0.0, HALF_WIDTH);
    right.draw_in(&mut canvas, HALF_WIDTH, HALF_WIDTH);
    canvas.finish(&left.title)
}

pub(super) fn draw_band(canvas: &mut Canvas, band: Band, across: &Axis, (y0, y1): (f64, f64)) {
    let (from, until) = (across.at(band.from), across.at(band.until));
    canvas.rectangle((from, y1), (until - from, y0 - y1), "band");
    let middle = f64::midpoint(from, until);
    canvas.text((middle, y1 - 4.0), Anchor::Middle, "quiet", band.label);
}

pub(super) fn ticks_across(width: f64) -> u32 {
    if width > 600.0 { 10 } else { 5 }
}

/// Places as near to the wanted ones as leaves a line between any two; those come in order.
fn apart(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut placed: Vec<f64> = Vec::new();
    for want in wanted {
        let least = placed.last().map_or(top, |last| last + LINE);
        placed.push(want.max(least));
    }
    // What ran out at the bottom pushes the others up again.
    let mut most = bottom;
    for place in placed.iter_mut().rev() {
        *place = place.min(most);
        most = *place - LINE;
    }
    placed
}

/// Points that can be told apart: one per tenth of a pixel across, ends kept.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut thin: Vec<(f64, f64)> = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let far = thin.last().is_none_or(|last| point.0 - last.0 >= 0.5);
        if far || length(at) + 1.0 >= length(points.len()) {
            thin.push(*point);
        }
    }
    thin
}

const WIDTH: f64 = 860.0;
const HALF_WIDTH: f64 = 520.0;
const HEIGHT: f64 = 400.0;
const LINE: f64 = 15.0;
const TICKS_UP: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_apart_and_inside() {
        assert_eq!(apart(&[50.0, 51.0, 200.0], 0.0, 300.0), [50.0, 65.0, 200.0]);
        assert_eq!(apart(&[299.0, 300.0], 0.0, 300.0), [285.0, 300.0]);
        assert!(apart(&[], 0.0, 1.0).is_empty());
    }

    #[test]
    fn a_thinned_line_keeps_its_ends() {
        let points: Vec<(f64, f64)> = (0..1000).map(|x| (f64::from(x) / 100.0, 1.0)).collect();
        let thin = thinned(&points);
        assert!(thin.len() < 30);
        assert_eq!((thin[0], thin[thin.len() - 1]), (points[0], points[999]));
    }
}
