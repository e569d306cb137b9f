//! The two servers a fleet can meet.

pub(crate) mod occ;
pub(crate) mod server;

use crate::number::{float, index, whole};
use crate::random::{Luck, Purpose, unit};
use crate::scenario::Scenario;

/// When each client makes its first call, in order of time.
///
/// Clients are numbered by that order. So calls that are under way at one time lie side by side in
/// memory, and the queue holds one start at a time: each brings the next.
fn starts(scenario: &Scenario, clients: u32, luck: Luck) -> Vec<u64> {
    let within = float(scenario.fleet.start_within);
    let start = |client| whole(unit(&mut luck.of(Purpose::Start, client, 0)) * within);
    let mut starts: Vec<u64> = (0..clients).map(start).collect();
    starts.sort_unstable();
    starts
}

/// The start after this one, if this was a client's first call and not the last client's.
fn next_start(starts: &[u64], call: u32) -> Option<(u64, u32)> {
    let next = call.checked_add(1)?;
    let start = starts.get(index(u64::from(next)))?;
    Some((*start, next))
}

/// Why a run did not come to its end: somebody called it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CalledOff;

/// Asks now and then whether the run is still wanted.
pub(crate) struct Patience<'a> {
    called_off: &'a (dyn Fn() -> bool + Sync),
    events: u64,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(called_off: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self {
            called_off,
            events: 0,
        }
    }

    /// One more event; `Ok(false)` when there have been too many, and the run ends where it is.
    #[inline]
    pub(crate) fn event(&mut self) -> Result<bool, CalledOff> {
        self.events += 1;
        if self.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) && (self.called_off)() {
            return Err(CalledOff);
        }
        Ok(self.events < MOST_EVENTS)
    }
}

const EVENTS_BETWEEN_LOOKS: u64 = 1 << 14;

/// Hours of computing; a policy that never waits and never gives up would go on to the horizon.
const MOST_EVENTS: u64 = 100_000_000_000;
