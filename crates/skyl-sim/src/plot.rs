//! Pictures of a report: SVG that needs no caption, on light paper and on dark.
//!
//! Lines carry their names, so that there is no legend to look up; axes say what they count. The
//! colours are a palette that people with colour-blind eyes can tell apart, and turn lighter where
//! the reader's screen is dark. Written by hand: a picture here is rectangles, lines and text, and
//! the same figures must give the same bytes.

mod axis;
mod lines;
mod panels;
mod svg;

use crate::number::{float, length};
use crate::plot::lines::{Chart, Line};
use crate::report::{Report, Row};
use crate::scenario::{Capacity, Model, OutageKind, Scenario};

pub(crate) use self::svg::escape;

/// One picture of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    name: String,
    svg: String,
}

impl Picture {
    /// The name for a file: the scenario, what it shows, and `.svg`.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.name
    }

    /// The picture itself.
    #[must_use]
    pub fn svg(&self) -> &str {
        &self.svg
    }
}

impl Report {
    /// The pictures that say something about this scenario; none without rows.
    ///
    /// Calls at the server over time, for each policy; answers over time; and, with several fleet
    /// sizes or failure rates, what changes with those. Over time it is the largest fleet that is
    /// shown, its first failure rate and its first seed.
    #[must_use]
    pub fn pictures(&self) -> Vec<Picture> {
        let mut pictures = Vec::new();
        let mut add = |what: &str, svg: String| {
            let name = format!("{}-{what}.svg", file_name(self.name()));
            pictures.push(Picture { name, svg });
        };
        let shown = self.shown();
        if shown.is_empty() {
            return pictures;
        }
        if self.scenario.server.failure_rates.len() > 1 {
            add("failures", self.over_failure_rates());
            return pictures;
        }
        if self.several_sizes() {
            add("clients", self.over_clients());
        }
        add("requests", panels::draw(&self.scenario, &shown));
        if self.scenario.fleet.calls > 1 {
            add("answers", self.answers(&shown));
        } else {
            add("completion", self.completion(&shown));
        }
        pictures
    }

    /// The rows that are shown over time.
    fn shown(&self) -> Vec<&Row> {
        let largest = self.rows.iter().map(|row| row.clients).max();
        let first = self.scenario.server.failure_rates[0].to_bits();
        let is_shown =
            |row: &&Row| Some(row.clients) == largest && row.failure_rate.to_bits() == first;
        self.rows.iter().filter(is_shown).collect()
    }

    fn several_sizes(&self) -> bool {
        self.rows
            .iter()
            .any(|row| row.clients != self.rows[0].clients)
    }

    /// The share of calls that have their answer, over time.
    fn completion(&self, shown: &[&Row]) -> String {
        let lines = shown.iter().map(|row| {
            let mut served = 0;
            let mut points = vec![(0.0, 0.0)];
            for (bin, done) in row.timeline.done.iter().enumerate() {
                served += u64::from(*done);
                let share = 100.0 * float(served) / f64::from(row.clients);
                points.push(((length(bin) + 1.0) / 10.0, share));
            }
            Line::new(&row.policy, points)
        });
        Chart::new(self.title(), "seconds", "calls with an answer, %")
            .subtitle(&format!("{} clients", grouped(shown[0].clients)))
            .band(band(&self.scenario))
            .top(100.0)
            .lines(lines.collect())
            .draw()
    }

    /// Answers per second, over time.
    fn answers(&self, shown: &[&Row]) -> String {
        let lines = shown.iter().map(|row| {
            // The last second is not whole.
            let seconds = row.timeline.began.len() / 10;
            let points = (0..seconds).map(|second| {
                let bins = row.timeline.done.iter().skip(second * 10).take(10);
                let done: u32 = bins.sum();
                (length(second) + 0.5, f64::from(done))
            });
            Line::new(&row.policy, points.collect())
        });
        Chart::new(self.title(), "seconds", "answers per second")
            .subtitle(&format!("{} clients", grouped(shown[0].clients)))
            .band(band(&self.scenario))
            .lines(lines.collect())
            .draw()
    }

    /// Work and time, against the size of the fleet.
    fn over_clients(&self) -> String {
        let work = self.lines(|row| {
            let calls = row.calls_per_success?;
            Some((f64::from(row.clients), calls))
        });
        let time = self.lines(|row| Some((f64::from(row.clients), row.time_ms.mean / 1e3)));
        lines::side_by_side(
            &Chart::new(self.title(), "clients", "calls per success").lines(work),
            &Chart::new("", "clients", "seconds to the end of the last call").lines(time),
        )
    }

    /// Success and load, against the chance that a call fails by itself.
    fn over_failure_rates(&self) -> String {
        let success = self.lines(|row| Some((row.failure_rate * 100.0, row.goodput * 100.0)));
        let load = self.lines(|row| Some((row.failure_rate * 100.0, row.load)));
        let failing = "calls that fail by themselves, %";
        lines::side_by_side(
            &Chart::new(self.title(), failing, "served, %")
                .top(100.0)
                .lines(success),
            &Chart::new("", failing, "calls at the server, per call begun").lines(load),
        )
    }

    /// One line per policy, of the points its rows give, from left to right.
    fn lines(&self, point: impl Fn(&Row) -> Option<(f64, f64)>) -> Vec<Line> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.policy.as_str()) {
                names.push(&row.policy);
            }
        }
        let line = |name: &&str| {
            let rows = self.rows.iter().filter(|row| row.policy == **name);
            let mut points: Vec<(f64, f64)> = rows.filter_map(&point).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Line::new(name, points)
        };
        names.iter().map(line).collect()
    }
}

/// A stretch of time that is shaded, in seconds, and what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    from: f64,
    until: f64,
    label: &'static str,
}

fn band(scenario: &Scenario) -> Option<Band> {
    scenario.outage.map(|outage| Band {
        from: float(outage.from) / 1e9,
        until: float(outage.until) / 1e9,
        label: match outage.kind {
            OutageKind::Status => "down",
            OutageKind::Refuse => "refuses",
            OutageKind::Hang => "hangs",
            OutageKind::Slow(_) => "slow",
        },
    })
}

/// What the server can take in 100 ms; `None` without a limit.
fn capacity(scenario: &Scenario, clients: u32) -> Option<f64> {
    if scenario.model == Model::Occ {
        return None;
    }
    let limiter = scenario.server.limiter.map(|limiter| limiter.per_second);
    let server = match scenario.server.capacity {
        Capacity::Unlimited => None,
        capacity => capacity.per_second(scenario.fleet.traffic(clients)),
    };
    let per_second = match (limiter, server) {
        (Some(one), Some(other)) => one.min(other),
        (one, other) => one.or(other)?,
    };
    Some(per_second / 10.0)
}

/// A count with thin spaces between thousands.
fn grouped(count: u32) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// What a file system takes without a thought.
fn file_name(name: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars()
        .map(|c| if safe(c) { c } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1000), "1\u{202f}000");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn names_of_files_hold_no_path() {
        assert_eq!(file_name("../a b"), "..-a-b");
    }
}
