//! From counts to figures.

use crate::calls::STOPS;
use crate::number::{float, index, length};
use crate::scenario::Outage;
use crate::tally::{BIN, Tally, Timeline};

/// One run in figures.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// At the server.
    pub(crate) calls: u64,
    /// At the clients: what all calls together have tried.
    pub(crate) attempts: u64,
    pub(crate) begun: u64,
    pub(crate) succeeded: u64,
    pub(crate) stopped: [u64; STOPS.len()],
    pub(crate) unfinished: u64,
    pub(crate) not_begun: u64,
    pub(crate) last: u64,
    /// The middle, the 95th and the 99th of a hundred; `None` if nothing succeeded.
    pub(crate) took: Option<[u64; 3]>,
    pub(crate) peak_over_mean: f64,
    pub(crate) unfairness: f64,
    pub(crate) recovery: Recovery,
    pub(crate) timeline: Timeline,
}

/// How long the fleet took to be served as before, counted from the end of the outage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recovery {
    /// There was no outage.
    NotAsked,
    /// After so many milliseconds; 0 is at once.
    AfterMs(f64),
    /// Not by the end of the traffic.
    Never,
}

impl Measured {
    pub(crate) fn of(mut tally: Tally, outage: Option<&Outage>) -> Self {
        let took = percentiles(&mut tally.took);
        let timeline = tally.timeline;
        Self {
            calls: sum(&timeline.arrived),
            attempts: attempts(&tally.by_retries),
            begun: tally.begun,
            succeeded: tally.succeeded,
            stopped: tally.stopped,
            unfinished: tally.unfinished,
            not_begun: tally.not_begun,
            last: tally.last,
            took,
            peak_over_mean: peak_over_mean(&timeline.arrived),
            unfairness: unfairness(&tally.by_retries, tally.most_retries),
            recovery: outage.map_or(Recovery::NotAsked, |outage| recovery(&timeline, outage)),
            timeline,
        }
    }
}

/// Nearest ranks, so that each is a time that some call really took.
fn percentiles(took: &mut [u64]) -> Option<[u64; 3]> {
    let last = took.len().checked_sub(1)?;
    Some([50, 95, 99].map(|percent| {
        let rank = (took.len() * percent).div_ceil(100).saturating_sub(1);
        *took.select_nth_unstable(rank.min(last)).1
    }))
}

fn attempts(by_retries: &[u64]) -> u64 {
    (1_u64..)
        .zip(by_retries)
        .map(|(tries, calls)| tries * calls)
        .sum()
}

/// The busiest bin over the mean of all bins from the first attempt to the last.
fn peak_over_mean(arrived: &[u32]) -> f64 {
    let Some(first) = arrived.iter().position(|count| *count > 0) else {
        return 0.0;
    };
    let peak = arrived.iter().copied().max().unwrap_or_default();
    f64::from(peak) * length(arrived.len() - first) / float(sum(arrived))
}

/// The most attempts of one call over the median of all calls.
fn unfairness(by_retries: &[u64], most_retries: u32) -> f64 {
    let calls: u64 = by_retries.iter().sum();
    let mut below = 0;
    let median = by_retries.iter().position(|count| {
        below += count;
        below * 2 >= calls
    });
    match median {
        Some(median) if calls > 0 => (f64::from(most_retries) + 1.0) / (length(median) + 1.0),
        _ => 0.0,
    }
}

/// When calls began to be served as before the outage, and were from then on.
///
/// A call counts when it begins and is kept if it succeeds later. Among the calls that began in any
/// five seconds after the outage, 99 % of the share before it must be kept. The time is the end of
/// the last bin with a lost call in the last five seconds that fell short.
fn recovery(timeline: &Timeline, outage: &Outage) -> Recovery {
    let bins = timeline.began.len();
    let kept = |bin: usize| timeline.kept.get(bin).copied().unwrap_or_default();
    let share = |from: usize, until: usize| {
        let began: u32 = timeline.began[from..until].iter().sum();
        let kept: u32 = (from..until).map(kept).sum();
        (began > 0).then(|| f64::from(kept) / f64::from(began))
    };
    let begin = index(outage.from / BIN).min(bins);
    let end = index(outage.until.div_ceil(BIN));
    if end >= bins {
        // Nobody began a call after it, so nobody was kept from one.
        return Recovery::NotAsked;
    }
    let goal = share(0, begin).unwrap_or(1.0) * RECOVERED;
    // Whole windows; the first one in any case, where the traffic ends sooner.
    let mut windows = (end..bins).filter(|from| from + WINDOW <= bins || *from == end);
    let short = windows.rfind(|from| {
        let until = (from + WINDOW).min(bins);
        share(*from, until).is_some_and(|share| share < goal)
    });
    let Some(from) = short else {
        return Recovery::AfterMs(0.0);
    };
    let until = (from + WINDOW).min(bins);
    if until == bins {
        return Recovery::Never;
    }
    let failing = |bin: &usize| timeline.began[*bin] > kept(*bin);
    let last = (from..until).rev().find(failing).unwrap_or(from);
    Recovery::AfterMs(length(last + 1 - end) * float(BIN) / 1e6)
}

fn sum(bins: &[u32]) -> u64 {
    bins.iter().map(|count| u64::from(*count)).sum()
}

const RECOVERED: f64 = 0.99;

/// Five seconds: long enough for a share to mean something in a small fleet.
const WINDOW: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::OutageKind;

    fn outage(from: u64, until: u64) -> Outage {
        Outage {
            from: from * BIN,
            until: until * BIN,
            kind: OutageKind::Status,
        }
    }

    fn timeline(kept: impl Fn(usize) -> u32) -> Timeline {
        Timeline {
            began: vec![10; 300],
            kept: (0..300).map(kept).collect(),
            ..Timeline::default()
        }
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut took: Vec<u64> = (1..=200).rev().collect();
        assert_eq!(percentiles(&mut took), Some([100, 190, 198]));
        assert_eq!(percentiles(&mut [7]), Some([7, 7, 7]));
        assert_eq!(percentiles(&mut []), None);
    }

    #[test]
    fn the_peak_is_over_the_mean_since_the_first_attempt() {
        assert!((peak_over_mean(&[0, 0, 6, 0, 3]) - 2.0).abs() < 1e-9);
        assert!(peak_over_mean(&[0, 0]).abs() < 1e-9);
    }

    #[test]
    fn unfairness_is_the_most_attempts_over_the_median() {
        // Three calls with one attempt, one with four.
        assert!((unfairness(&[3, 0, 0, 1], 3) - 4.0).abs() < 1e-9);
        assert!(unfairness(&[], 0).abs() < 1e-9);
    }

    #[test]
    fn a_fleet_recovers_when_the_last_short_window_has_passed() {
        let recovered = recovery(
            &timeline(|bin| if (100..163).contains(&bin) { 0 } else { 10 }),
            &outage(100, 150),
        );
        assert_eq!(recovered, Recovery::AfterMs(1300.0));
    }

    #[test]
    fn a_fleet_that_was_never_hurt_recovers_at_once_and_one_that_stays_down_never() {
        let outage = outage(100, 150);
        let fine = timeline(|bin| if (100..150).contains(&bin) { 0 } else { 10 });
        assert_eq!(recovery(&fine, &outage), Recovery::AfterMs(0.0));
        let down = timeline(|bin| if bin >= 100 { 0 } else { 10 });
        assert_eq!(recovery(&down, &outage), Recovery::Never);
    }

    #[test]
    fn recovery_is_to_what_was_before_and_not_to_perfection() {
        // Half was kept before, and half is kept after.
        let half = timeline(|bin| if (100..150).contains(&bin) { 0 } else { 5 });
        assert_eq!(recovery(&half, &outage(100, 150)), Recovery::AfterMs(0.0));
    }

    #[test]
    fn an_outage_after_all_traffic_is_not_asked_about() {
        let fine = timeline(|_| 10);
        assert_eq!(recovery(&fine, &outage(100, 300)), Recovery::NotAsked);
    }
}
