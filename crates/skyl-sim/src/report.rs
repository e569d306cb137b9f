//! What came out: one row per policy and fleet size, and the CSV of them.

use skyl_retry::StopReason;

use crate::calls::STOPS;
use crate::measure::{Measured, Recovery};
use crate::number::{float, length, millis};
use crate::plan::Job;
use crate::scenario::Scenario;
use crate::tally::Timeline;

/// The rows of one scenario, in the order of the plan.
#[derive(Clone, Debug)]
pub struct Report {
    pub(crate) scenario: Scenario,
    /// One per failure rate, fleet size and policy.
    pub rows: Vec<Row>,
}

/// One policy and fleet size, over all its seeds.
///
/// Means are over the seeds; deviations are those of a sample, 0 for a single seed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The scenario; with several failure rates, all but the first have theirs after it.
    pub scenario: String,
    /// The policy's name.
    pub policy: String,
    /// The fleet's size.
    pub clients: u32,
    /// How many runs the figures are of.
    pub seeds: u32,
    /// The share of calls that failed by themselves.
    pub failure_rate: f64,
    /// Attempts that reached the server.
    pub calls: Mean,
    /// Milliseconds from the start to the end of the last call.
    pub time_ms: Mean,
    /// Attempts per call that began.
    pub load: f64,
    /// Attempts per call that succeeded; `None` if none did.
    pub calls_per_success: Option<f64>,
    /// Milliseconds from a call's start to its success: half of them took no longer.
    pub p50_ms: Option<f64>,
    /// The same for 95 of a hundred.
    pub p95_ms: Option<f64>,
    /// The same for 99 of a hundred.
    pub p99_ms: Option<f64>,
    /// The busiest 100 ms at the server over the mean of all.
    pub peak_over_mean: f64,
    /// The share of calls that succeeded, of all that were to be made.
    pub goodput: f64,
    /// How long after the outage calls fared as before it; `Never` if one seed's did not.
    pub recovery: Recovery,
    /// The most attempts of a call over the median.
    pub unfairness: f64,
    /// Where the calls ended, summed over the seeds.
    pub ends: Ends,
    pub(crate) timeline: Timeline,
}

/// A mean and the deviation around it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of a sample; 0 for one run.
    pub sd: f64,
}

/// Where calls ended; each ends in exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ends {
    /// With an answer.
    pub succeeded: u64,
    /// With an error, by the engine's reason; reasons that did not occur are left out.
    pub stopped: Vec<(StopReason, u64)>,
    /// Not by the end of the run.
    pub unfinished: u64,
    /// The run ended before they began.
    pub not_begun: u64,
    /// Attempts of all calls, as the clients count them.
    pub attempts: u64,
}

impl Ends {
    /// Calls that stopped because the retry budget was empty.
    #[must_use]
    pub fn refused_by_budget(&self) -> u64 {
        let budget = |(reason, _): &&(StopReason, u64)| *reason == StopReason::RetryBudget;
        self.stopped
            .iter()
            .find(budget)
            .map_or(0, |(_, count)| *count)
    }

    /// All calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        let stopped: u64 = self.stopped.iter().map(|(_, count)| count).sum();
        self.succeeded + stopped + self.unfinished + self.not_begun
    }
}

impl Report {
    /// The name of the scenario.
    #[must_use]
    pub fn name(&self) -> &str {
        self.scenario.name()
    }

    /// What it is about, in a line.
    #[must_use]
    pub fn title(&self) -> &str {
        self.scenario.title()
    }

    /// What to look for; may be empty.
    #[must_use]
    pub fn about(&self) -> &str {
        self.scenario.about()
    }

    /// Adds the rows to a CSV text; begin it with [`CSV_HEADER`] and a line end.
    pub fn write_csv(&self, csv: &mut String) {
        for row in &self.rows {
            csv.push_str(&row.csv());
            csv.push('\n');
        }
    }
}

impl Row {
    /// Attempts that reached the server in each 100 ms of the first run, from its start.
    #[must_use]
    pub fn arrivals(&self) -> &[u32] {
        &self.timeline.arrived
    }

    pub(crate) fn of(scenario: &Scenario, policy: &str, job: Job, runs: &[Measured]) -> Self {
        let over = |figure: fn(&Measured) -> f64| Mean::of(runs.iter().map(figure));
        // A run in which nothing happened has neither a peak nor anybody to be unfair to.
        let of_begun = |figure: fn(&Measured) -> f64| {
            Mean::of(runs.iter().filter(|run| run.begun > 0).map(figure)).mean
        };
        let sum = |figure: fn(&Measured) -> u64| runs.iter().map(figure).sum::<u64>();
        let percentile = |which: usize| {
            let took = runs.iter().filter_map(|run| run.took);
            let took: Vec<f64> = took.map(|took| millis(took[which])).collect();
            (!took.is_empty()).then(|| Mean::of(took.into_iter()).mean)
        };
        let (calls, succeeded) = (sum(|run| run.calls), sum(|run| run.succeeded));
        let failure_rate = scenario.server.failure_rates[job.rate];
        let all = float(scenario.calls(job.clients)) * length(runs.len());
        let stopped = STOPS.iter().enumerate().filter_map(|(place, reason)| {
            let count: u64 = runs.iter().map(|run| run.stopped[place]).sum();
            (count > 0).then_some((*reason, count))
        });
        Self {
            scenario: match job.rate {
                0 => scenario.name.clone(),
                _ => format!("{} p={failure_rate}", scenario.name),
            },
            policy: policy.to_owned(),
            clients: job.clients,
            seeds: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            failure_rate,
            calls: over(|run| float(run.calls)),
            time_ms: over(|run| millis(run.last)),
            load: float(calls) / float(sum(|run| run.begun)).max(1.0),
            calls_per_success: (succeeded > 0).then(|| float(calls) / float(succeeded)),
            p50_ms: percentile(0),
            p95_ms: percentile(1),
            p99_ms: percentile(2),
            peak_over_mean: of_begun(|run| run.peak_over_mean),
            goodput: float(succeeded) / all.max(1.0),
            recovery: recovery(runs),
            unfairness: of_begun(|run| run.unfairness),
            ends: Ends {
                succeeded,
                stopped: stopped.collect(),
                unfinished: sum(|run| run.unfinished),
                not_begun: sum(|run| run.not_begun),
                attempts: sum(|run| run.attempts),
            },
            timeline: runs
                .first()
                .map(|run| run.timeline.clone())
                .unwrap_or_default(),
        }
    }

    fn csv(&self) -> String {
        let optional = |figure: Option<f64>| figure.map(decimal).unwrap_or_default();
        let recovery = match self.recovery {
            Recovery::NotAsked => String::new(),
            Recovery::AfterMs(ms) => decimal(ms),
            Recovery::Never => "never".to_owned(),
        };
        [
            quoted(&self.scenario),
            quoted(&self.policy),
            self.clients.to_string(),
            decimal(self.calls.mean),
            decimal(self.calls.sd),
            decimal(self.time_ms.mean),
            decimal(self.time_ms.sd),
            optional(self.calls_per_success),
            optional(self.p50_ms),
            optional(self.p95_ms),
            optional(self.p99_ms),
            decimal(self.peak_over_mean),
            decimal(self.goodput),
            recovery,
        ]
        .join(",")
    }
}

impl Mean {
    fn of(figures: impl Iterator<Item = f64>) -> Self {
        let figures: Vec<f64> = figures.collect();
        let count = length(figures.len());
        if figures.is_empty() {
            return Self::default();
        }
        let mean = figures.iter().sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        let sd = if figures.len() > 1 {
            (squares / (count - 1.0)).sqrt()
        } else {
            0.0
        };
        Self { mean, sd }
    }
}

/// One seed that stays down is a fleet that may stay down.
fn recovery(runs: &[Measured]) -> Recovery {
    let mut times = Vec::new();
    for run in runs {
        match run.recovery {
            Recovery::AfterMs(ms) => times.push(ms),
            other => return other,
        }
    }
    Recovery::AfterMs(Mean::of(times.into_iter()).mean)
}

/// At most three decimals, and no zeros after the last one that says something.
pub(crate) fn decimal(figure: f64) -> String {
    let text = format!("{figure:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// A field of a CSV, in quotes where it would not be read back otherwise (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// The header of the CSV, without a line end.
pub const CSV_HEADER: &str = "scenario,policy,clients,calls_mean,calls_sd,time_ms_mean,time_ms_sd,\
calls_per_success,p50_ms,p95_ms,p99_ms,peak_over_mean,goodput,recovery_ms";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_always_the_same() {
        for (figure, expected) in [
            (0.0, "0"),
            (-0.0001, "0"),
            (1.5, "1.5"),
            (1000.0, "1000"),
            (0.9374, "0.937"),
            (2.0 / 3.0, "0.667"),
        ] {
            assert_eq!(decimal(figure), expected);
        }
    }

    #[test]
    fn a_mean_of_one_has_no_deviation_and_one_of_more_a_samples() {
        let mean = Mean::of([4.0].into_iter());
        assert_eq!(mean, Mean { mean: 4.0, sd: 0.0 });
        let mean = Mean::of([1.0, 3.0].into_iter());
        assert!((mean.mean - 2.0).abs() < 1e-9 && (mean.sd - 2_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn names_with_commas_stay_one_field() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("plain"), "plain");
    }
}
