//! The figures of a delay table.
//!
//! Three of the four jitters draw from a plain range, so their figures are exact. Decorrelated
//! waits depend on the wait before; their figures come from the engine itself, run many times from
//! a fixed seed, so that two runs of the command agree.

use std::time::Duration;

use skyl_retry::{Choice, Facts, Failure, FailureClass, Jitter, RetryPolicy, Rng, decide};

/// A policy's waits, retry by retry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    pub(super) mean_total: Duration,
    /// The sum of the ceilings, or the time budget where that is less.
    pub(super) worst_total: Duration,
}

/// The wait before one retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) floor: Duration,
    pub(super) ceiling: Duration,
    pub(super) mean: Duration,
    pub(super) p50: Duration,
    pub(super) p95: Duration,
    pub(super) p99: Duration,
}

impl Table {
    pub(super) fn of(policy: &RetryPolicy) -> Self {
        let rows = match policy.jitter() {
            Jitter::Full => exact(policy, |_| Duration::ZERO),
            Jitter::Equal => exact(policy, |ceiling| ceiling / 2),
            Jitter::Shave(fraction) => exact(policy, |ceiling| {
                at(1.0 - fraction, Duration::ZERO, ceiling)
            }),
            _ => drawn(policy),
        };
        let total = |figure: fn(&Row) -> Duration| {
            rows.iter()
                .map(figure)
                .fold(Duration::ZERO, Duration::saturating_add)
        };
        // A wait that would pass the time budget is not begun.
        let budget = policy.budget().unwrap_or(Duration::MAX);
        let mean_total = total(|row| row.mean).min(budget);
        let worst_total = total(|row| row.ceiling).min(budget);
        Self {
            rows,
            mean_total,
            worst_total,
        }
    }
}

impl Row {
    /// Draws uniform between two ends.
    fn uniform(floor: Duration, ceiling: Duration) -> Self {
        let share = |share| at(share, floor, ceiling);
        Self {
            floor,
            ceiling,
            mean: share(0.5),
            p50: share(0.5),
            p95: share(0.95),
            p99: share(0.99),
        }
    }

    /// Draws as they came, in ascending order; at least one.
    fn sampled(draws: &[Duration], ceiling: Duration) -> Self {
        let rank = |percent: usize| {
            let at = (draws.len() * percent).div_ceil(100).saturating_sub(1);
            draws.get(at).copied().unwrap_or_default()
        };
        let sum = draws
            .iter()
            .fold(Duration::ZERO, |sum, draw| sum.saturating_add(*draw));
        let count = u32::try_from(draws.len()).unwrap_or(u32::MAX).max(1);
        Self {
            floor: draws.first().copied().unwrap_or_default(),
            ceiling,
            mean: sum / count,
            p50: rank(50),
            p95: rank(95),
            p99: rank(99),
        }
    }
}

fn exact(policy: &RetryPolicy, floor: impl Fn(Duration) -> Duration) -> Vec<Row> {
    (0..policy.max_retries().min(MOST_ROWS))
        .map(|retry| policy.ceiling(retry))
        .map(|ceiling| Row::uniform(floor(ceiling), ceiling))
        .collect()
}

fn drawn(policy: &RetryPolicy) -> Vec<Row> {
    let retries = policy.max_retries().min(MOST_ROWS);
    // Here only the draws are of interest; what may end a call is told beside the table.
    let Ok(policy) = policy.to_builder().budget(Duration::ZERO).build() else {
        return Vec::new();
    };
    let failure = Failure::new(FailureClass::Throttled);
    let mut rng = Rng::from_seed(SEED);
    let mut draws = vec![Vec::new(); usize::try_from(retries).unwrap_or_default()];
    for _ in 0..(MOST_DRAWS / retries.max(1)).clamp(LEAST_CALLS, MOST_CALLS) {
        let mut facts = Facts::new(0);
        for column in &mut draws {
            let verdict = decide(
                &policy,
                &failure,
                &facts,
                Some(Choice::Retry),
                &mut rng,
                || true,
            );
            column.push(verdict.backoff().unwrap_or_default());
            facts = facts.after(&verdict);
        }
    }
    draws
        .iter_mut()
        .zip(0_u32..)
        .map(|(draws, retry)| {
            draws.sort_unstable();
            Row::sampled(draws, policy.ceiling(retry))
        })
        .collect()
}

/// The point at a share of the way between two lengths; exact at both ends.
fn at(share: f64, from: Duration, to: Duration) -> Duration {
    let way = to.saturating_sub(from);
    // Shares are in 0..=1, but a float product may still round past the end of the longest.
    let part = Duration::try_from_secs_f64(way.as_secs_f64() * share)
        .unwrap_or(way)
        .min(way);
    from.saturating_add(part)
}

/// A table nobody reads to its end; clients take no more retries either.
const MOST_ROWS: u32 = 1000;

const SEED: u64 = 1;

/// Percentiles within about a percent, in well under a second.
const MOST_CALLS: u32 = 20_000;
const LEAST_CALLS: u32 = 2_000;
const MOST_DRAWS: u32 = 2_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn with(jitter: Jitter, retries: u32) -> RetryPolicy {
        RetryPolicy::builder()
            .jitter(jitter)
            .max_retries(retries)
            .build()
            .unwrap()
    }

    #[test]
    fn the_chat_policys_table_is_the_documented_one() {
        let table = Table::of(&RetryPolicy::chat());
        let ceilings: Vec<_> = table.rows.iter().map(|row| row.ceiling).collect();
        assert_eq!(ceilings, [ms(500), ms(1000), ms(2000)]);
        assert_eq!(table.rows[0].mean, ms(250));
        assert_eq!(table.rows[2].p95, ms(1900));
        assert_eq!(table.rows[2].p99, ms(1980));
        assert_eq!((table.mean_total, table.worst_total), (ms(1750), ms(3500)));
    }

    #[test]
    fn a_time_budget_bounds_the_total_and_no_budget_does_not() {
        let policy = RetryPolicy::builder().max_retries(20);
        let unlimited = Table::of(&policy.clone().build().unwrap());
        assert!(unlimited.worst_total > ms(60_000));
        let bounded = Table::of(&policy.budget(ms(60_000)).build().unwrap());
        assert_eq!(bounded.worst_total, ms(60_000));
    }

    #[test]
    fn no_retries_are_an_empty_table() {
        let table = Table::of(&with(Jitter::Full, 0));
        assert_eq!((table.rows.len(), table.worst_total), (0, Duration::ZERO));
        assert_eq!(Table::of(&with(Jitter::Decorrelated, 0)).rows.len(), 0);
    }

    #[test]
    fn every_jitter_agrees_with_what_the_engine_draws() {
        for jitter in [
            Jitter::Full,
            Jitter::Equal,
            Jitter::Shave(0.25),
            Jitter::Decorrelated,
        ] {
            let policy = with(jitter, 4);
            let table = Table::of(&policy);
            let drawn = drawn(&policy);
            for (row, drawn) in table.rows.iter().zip(&drawn) {
                assert_eq!(row.ceiling, drawn.ceiling, "{jitter}");
                for (told, seen) in [
                    (row.mean, drawn.mean),
                    (row.p50, drawn.p50),
                    (row.p95, drawn.p95),
                    (row.p99, drawn.p99),
                ] {
                    let off = told.abs_diff(seen).as_secs_f64() / row.ceiling.as_secs_f64();
                    assert!(off < 0.02, "{jitter}: {told:?} is not {seen:?}");
                }
            }
        }
    }

    #[test]
    fn a_table_is_bounded_whatever_the_retries() {
        assert_eq!(Table::of(&with(Jitter::Full, u32::MAX)).rows.len(), 1000);
    }

    #[test]
    fn the_longest_lengths_do_not_panic() {
        for jitter in [
            Jitter::Full,
            Jitter::Equal,
            Jitter::Shave(1.0),
            Jitter::Decorrelated,
        ] {
            let policy = RetryPolicy::builder()
                .jitter(jitter)
                .max_retries(50)
                .initial_delay(Duration::MAX)
                .max_delay(Duration::MAX)
                .build()
                .unwrap();
            assert_eq!(Table::of(&policy).worst_total, Duration::MAX);
        }
    }
}
