//! What is counted while a run goes on.

use skyl_retry::StopReason;

use crate::calls::STOPS;
use crate::number::index;

/// Counts of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) begun: u64,
    pub(crate) succeeded: u64,
    pub(crate) stopped: [u64; STOPS.len()],
    pub(crate) unfinished: u64,
    pub(crate) not_begun: u64,
    /// When the last call ended.
    pub(crate) last: u64,
    /// How long each call took that succeeded.
    pub(crate) took: Vec<u64>,
    /// Calls by their retries; the last place holds those with more.
    pub(crate) by_retries: Vec<u64>,
    pub(crate) most_retries: u32,
    pub(crate) timeline: Timeline,
}

/// Counts per [`BIN`] of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// Attempts that reached the server.
    pub(crate) arrived: Vec<u32>,
    /// Calls that began.
    pub(crate) began: Vec<u32>,
    /// Calls that began then and have succeeded since.
    pub(crate) kept: Vec<u32>,
    /// Calls that succeeded then.
    pub(crate) done: Vec<u32>,
}

impl Tally {
    #[inline]
    pub(crate) fn began(&mut self, now: u64) {
        self.begun += 1;
        count(&mut self.timeline.began, now);
    }

    /// An attempt at the server, whatever becomes of it.
    #[inline]
    pub(crate) fn arrived(&mut self, now: u64) {
        count(&mut self.timeline.arrived, now);
    }

    #[inline]
    pub(crate) fn succeeded(&mut self, began: u64, now: u64, retries: u32) {
        self.succeeded += 1;
        self.took.push(now - began);
        count(&mut self.timeline.kept, began);
        count(&mut self.timeline.done, now);
        self.ended(now, retries);
    }

    pub(crate) fn stopped(&mut self, now: u64, reason: Option<StopReason>, retries: u32) {
        let place = STOPS.iter().position(|stop| Some(*stop) == reason);
        debug_assert!(place.is_some(), "{reason:?}");
        if let Some(place) = place {
            self.stopped[place] += 1;
        }
        self.ended(now, retries);
    }

    pub(crate) fn unfinished(&mut self, retries: u32) {
        self.unfinished += 1;
        self.tried(retries);
    }

    pub(crate) fn not_begun(&mut self) {
        self.not_begun += 1;
    }

    fn ended(&mut self, now: u64, retries: u32) {
        self.last = self.last.max(now);
        self.tried(retries);
    }

    fn tried(&mut self, retries: u32) {
        self.most_retries = self.most_retries.max(retries);
        let place = index(u64::from(retries)).min(MOST_RETRIES_APART);
        if self.by_retries.len() <= place {
            self.by_retries.resize(place + 1, 0);
        }
        self.by_retries[place] += 1;
    }
}

fn count(bins: &mut Vec<u32>, time: u64) {
    let place = index(time / BIN);
    if bins.len() <= place {
        bins.resize(place + 1, 0);
    }
    bins[place] = bins[place].saturating_add(1);
}

/// 100 ms in nanoseconds: a peak that is shorter is smoothed by any server's own queue.
pub(crate) const BIN: u64 = 100_000_000;

/// Calls with more retries than this count as having so many when the median is sought.
const MOST_RETRIES_APART: usize = 100_000;
