//! The limiter: how soon the next line may be asked.
//!
//! Both limits space the starts evenly and allow no burst: a request takes its share of a minute, a
//! token its share of a second, and the next start comes after the one before it has been paid for.
//! So no minute sees more than its requests, whichever minute somebody looks at; a server whose
//! window is unknown cannot be hit by two bursts that meet. What a line costs is estimated before
//! and put right by what it did cost; retries are paid for once they have happened.
//!
//! The time comes in as an argument; nothing here waits.

use std::num::NonZeroU32;
use std::time::Duration;

use skyl::system_one::estimate_tokens;

/// The two limits; without any it never says to wait.
#[derive(Debug)]
pub(super) struct Pace {
    requests: Option<Axis>,
    tokens: Option<Axis>,
}

/// What a line is expected to cost, or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) requests: u64,
    pub(super) tokens: u64,
}

impl Cost {
    pub(super) const NOTHING: Self = Self {
        requests: 0,
        tokens: 0,
    };

    /// One request for a document of this many bytes.
    pub(super) fn estimate(bytes: usize) -> Self {
        Self {
            requests: 1,
            tokens: estimate_tokens(bytes),
        }
    }
}

impl Pace {
    pub(super) fn new(rpm: Option<NonZeroU32>, tps: Option<NonZeroU32>) -> Self {
        Self {
            requests: rpm.map(|rpm| Axis::new(rpm, MINUTE)),
            tokens: tps.map(|tps| Axis::new(tps, SECOND)),
        }
    }

    /// Takes a place for a line: the instant it may be asked at, not before `now`.
    pub(super) fn reserve(&mut self, now: Duration, cost: Cost) -> Duration {
        let axes = [&self.requests, &self.tokens];
        let free = axes.into_iter().flatten().map(|axis| axis.free).max();
        let start = free.unwrap_or(now).max(now);
        if let Some(axis) = &mut self.requests {
            axis.free = start.saturating_add(axis.share(cost.requests));
        }
        if let Some(axis) = &mut self.tokens {
            axis.free = start.saturating_add(axis.share(cost.tokens));
        }
        start
    }

    /// Puts an estimate right, once it is known what the line did cost.
    pub(super) fn settle(&mut self, estimate: Cost, actual: Cost) {
        if let Some(axis) = &mut self.requests {
            axis.settle(estimate.requests, actual.requests);
        }
        if let Some(axis) = &mut self.tokens {
            axis.settle(estimate.tokens, actual.tokens);
        }
    }
}

/// One limit.
#[derive(Debug)]
struct Axis {
    rate: NonZeroU32,
    per: Duration,
    /// When everything that was started has been paid for.
    free: Duration,
}

impl Axis {
    fn new(rate: NonZeroU32, per: Duration) -> Self {
        Self {
            rate,
            per,
            free: Duration::ZERO,
        }
    }

    fn settle(&mut self, estimate: u64, actual: u64) {
        let (paid, due) = (self.share(estimate), self.share(actual));
        self.free = self.free.saturating_add(due).saturating_sub(paid);
    }

    /// How long this amount takes at the rate; rounded up, so that roundings never add up to more
    /// than the limit.
    fn share(&self, amount: u64) -> Duration {
        // 2⁶⁴ amounts of 60 · 10⁹ ns fit 128 bits.
        let nanos = u128::from(amount) * self.per.as_nanos();
        let nanos = nanos.div_ceil(u128::from(self.rate.get()));
        u64::try_from(nanos).map_or(Duration::MAX, Duration::from_nanos)
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Cost = Cost {
        requests: 1,
        tokens: 100,
    };

    fn pace(rpm: u32, tps: u32) -> Pace {
        Pace::new(NonZeroU32::new(rpm), NonZeroU32::new(tps))
    }

    fn millis(starts: impl IntoIterator<Item = Duration>) -> Vec<u128> {
        starts.into_iter().map(|start| start.as_millis()).collect()
    }

    fn starts(pace: &mut Pace, now: Duration, lines: usize) -> Vec<u128> {
        millis((0..lines).map(|_| pace.reserve(now, ONE)))
    }

    #[test]
    fn without_limits_nothing_waits() {
        let now = Duration::from_secs(5);
        assert_eq!(starts(&mut pace(0, 0), now, 3), [5000; 3]);
    }

    #[test]
    fn requests_are_spread_over_the_minute() {
        assert_eq!(
            starts(&mut pace(60, 0), Duration::ZERO, 4),
            [0, 1000, 2000, 3000]
        );
    }

    #[test]
    fn tokens_are_spread_over_the_second() {
        assert_eq!(
            starts(&mut pace(0, 1000), Duration::ZERO, 4),
            [0, 100, 200, 300]
        );
    }

    #[test]
    fn the_tighter_limit_holds() {
        assert_eq!(
            starts(&mut pace(60, 1000), Duration::ZERO, 3),
            [0, 1000, 2000]
        );
        assert_eq!(
            starts(&mut pace(60, 50), Duration::ZERO, 3),
            [0, 2000, 4000]
        );
    }

    #[test]
    fn time_in_which_nothing_was_asked_is_not_saved_up() {
        let mut pace = pace(60, 0);
        starts(&mut pace, Duration::ZERO, 1);
        assert_eq!(
            starts(&mut pace, Duration::from_secs(90), 3),
            [90_000, 91_000, 92_000]
        );
    }

    #[test]
    fn no_minute_has_more_requests_than_the_limit() {
        for rpm in [1_u32, 7, 59, 1200, 100_000] {
            let mut pace = pace(rpm, 0);
            let rpm = usize::try_from(rpm).unwrap();
            let starts: Vec<Duration> = (0..3 * rpm)
                .map(|_| pace.reserve(Duration::ZERO, ONE))
                .collect();
            for window in starts.windows(rpm + 1) {
                assert!(
                    window[rpm].saturating_sub(window[0]) >= MINUTE,
                    "{rpm}: {window:?}"
                );
            }
        }
    }

    #[test]
    fn a_wrong_estimate_is_put_right_in_both_directions() {
        for (actual, next) in [(50, 50), (100, 100), (400, 400), (0, 0)] {
            let mut pace = pace(0, 1000);
            pace.reserve(Duration::ZERO, ONE);
            let actual = Cost {
                requests: 1,
                tokens: actual,
            };
            pace.settle(ONE, actual);
            assert_eq!(starts(&mut pace, Duration::ZERO, 1), [next]);
        }
    }

    #[test]
    fn retries_are_paid_for_and_what_was_never_sent_is_not() {
        for (requests, next) in [(1, 1000), (3, 3000), (0, 0)] {
            let mut pace = pace(60, 0);
            pace.reserve(Duration::ZERO, ONE);
            pace.settle(ONE, Cost { requests, ..ONE });
            assert_eq!(starts(&mut pace, Duration::ZERO, 1), [next]);
        }
    }

    #[test]
    fn each_limit_settles_its_own_amount() {
        let mut pace = pace(60, 1000);
        pace.reserve(Duration::ZERO, ONE);
        let actual = Cost {
            requests: 1,
            tokens: 5000,
        };
        pace.settle(ONE, actual);
        assert_eq!(starts(&mut pace, Duration::ZERO, 1), [5000]);
    }

    #[test]
    fn amounts_beyond_all_sense_wait_for_ever_and_break_nothing() {
        let mut pace = pace(1, 1);
        let absurd = Cost {
            requests: u64::MAX,
            tokens: u64::MAX,
        };
        pace.reserve(Duration::MAX, absurd);
        pace.settle(ONE, absurd);
        let never = Duration::from_secs(u64::MAX / 2);
        assert!(pace.reserve(Duration::ZERO, ONE) > never);
        assert_eq!(Cost::estimate(usize::MAX).requests, 1);
    }
}
