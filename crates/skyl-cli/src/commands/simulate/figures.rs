//! The one object of the command.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use skyl_sim::{Recovery, Report, Row};

#[derive(Debug, Serialize)]
pub(super) struct SimulationObject<'a> {
    seed: u64,
    rows: Vec<RowObject<'a>>,
}

/// A row of the CSV by the same names, and what the CSV has no room for.
#[derive(Debug, Serialize)]
struct RowObject<'a> {
    scenario: &'a str,
    policy: &'a str,
    clients: u32,
    seeds: u32,
    failure_rate: Figure,
    calls_mean: Figure,
    calls_sd: Figure,
    time_ms_mean: Figure,
    time_ms_sd: Figure,
    load: Figure,
    calls_per_success: Option<Figure>,
    p50_ms: Option<Figure>,
    p95_ms: Option<Figure>,
    p99_ms: Option<Figure>,
    peak_over_mean: Figure,
    goodput: Figure,
    /// Null without an outage, `"never"` where it did not come back.
    recovery_ms: Option<RecoveryFigure>,
    unfairness: Figure,
    ends: EndsObject,
}

/// Where the calls of all seeds ended.
#[derive(Debug, Serialize)]
struct EndsObject {
    succeeded: u64,
    /// By the engine's reason.
    stopped: BTreeMap<&'static str, u64>,
    unfinished: u64,
    not_begun: u64,
}

pub(super) fn object(seed: u64, reports: &[Report]) -> SimulationObject<'_> {
    let rows = reports.iter().flat_map(|report| &report.rows);
    SimulationObject {
        seed,
        rows: rows.map(RowObject::of).collect(),
    }
}

impl<'a> RowObject<'a> {
    fn of(row: &'a Row) -> Self {
        Self {
            scenario: &row.scenario,
            policy: &row.policy,
            clients: row.clients,
            seeds: row.seeds,
            failure_rate: Figure(row.failure_rate),
            calls_mean: Figure(row.calls.mean),
            calls_sd: Figure(row.calls.sd),
            time_ms_mean: Figure(row.time_ms.mean),
            time_ms_sd: Figure(row.time_ms.sd),
            load: Figure(row.load),
            calls_per_success: row.calls_per_success.map(Figure),
            p50_ms: row.p50_ms.map(Figure),
            p95_ms: row.p95_ms.map(Figure),
            p99_ms: row.p99_ms.map(Figure),
            peak_over_mean: Figure(row.peak_over_mean),
            goodput: Figure(row.goodput),
            recovery_ms: match row.recovery {
                Recovery::NotAsked => None,
                Recovery::AfterMs(ms) => Some(RecoveryFigure::After(Figure(ms))),
                Recovery::Never => Some(RecoveryFigure::Never("never")),
            },
            unfairness: Figure(row.unfairness),
            ends: EndsObject {
                succeeded: row.ends.succeeded,
                stopped: row
                    .ends
                    .stopped
                    .iter()
                    .map(|(reason, count)| (reason.as_str(), *count))
                    .collect(),
                unfinished: row.ends.unfinished,
                not_begun: row.ends.not_begun,
            },
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RecoveryFigure {
    After(Figure),
    Never(&'static str),
}

/// A figure with three decimals at most, as in the CSV; whole where it is whole.
#[derive(Clone, Copy, Debug)]
struct Figure(f64);

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounded = (self.0 * 1e3).round() / 1e3;
        if rounded.fract() == 0.0 && (0.0..MOST_WHOLE).contains(&rounded) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, not negative and small enough"
            )]
            return serializer.serialize_u64(rounded as u64);
        }
        serializer.serialize_f64(rounded)
    }
}

/// 2⁵³: above, floats skip whole numbers.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_whole_where_they_are() {
        let text = |figure| serde_json::to_string(&Figure(figure)).unwrap();
        assert_eq!(text(3.0), "3");
        assert_eq!(text(0.93741), "0.937");
        assert_eq!(text(-0.0), "0");
        assert_eq!(text(1e300), "1e+300");
    }
}
