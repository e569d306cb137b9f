//! The two servers a fleet can meet.

pub(crate) mod occ;
pub(crate) mod server;

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
