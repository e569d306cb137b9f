//! The record of a call's attempts: what happened, how long it took, what was waited.

use std::time::Duration;

use crate::kind::ErrorKind;

/// One attempt of a call, as it stands in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// Its number, from 0: above 0 means it was a retry.
    pub number: u32,
    /// The HTTP status; `None` if no answer came.
    pub status: Option<u16>,
    /// What went wrong; `None` if it succeeded.
    pub kind: Option<ErrorKind>,
    /// From sending to the last byte read; a stream's success: to its first content.
    pub duration: Duration,
    /// The wait that was planned after it; `None` if it was the last.
    pub wait: Option<Duration>,
    /// The shared pause waited out before it; zero without one.
    pub pause: Duration,
}

/// The attempts of one call. The first is kept in place: most calls have no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attempts {
    Few(Option<Attempt>),
    Many(Vec<Attempt>),
}

impl Attempts {
    pub(crate) fn push(&mut self, attempt: Attempt) {
        match self {
            Self::Few(slot @ None) => *slot = Some(attempt),
            Self::Few(Some(first)) => {
                let mut all = Vec::with_capacity(USUAL_ATTEMPTS);
                all.extend([*first, attempt]);
                *self = Self::Many(all);
            }
            Self::Many(all) => all.push(attempt),
        }
    }

    pub(crate) fn as_slice(&self) -> &[Attempt] {
        match self {
            Self::Few(slot) => slot.as_slice(),
            Self::Many(all) => all,
        }
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut Attempt> {
        match self {
            Self::Few(slot) => slot.as_mut(),
            Self::Many(all) => all.last_mut(),
        }
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Self::Few(None)
    }
}

/// The attempts of a call under the default policy that uses all its retries.
const USUAL_ATTEMPTS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(number: u32) -> Attempt {
        Attempt {
            number,
            status: Some(200),
            kind: None,
            duration: Duration::ZERO,
            wait: None,
            pause: Duration::ZERO,
        }
    }

    #[test]
    fn the_record_keeps_order_from_none_to_many() {
        let mut attempts = Attempts::default();
        assert!(attempts.as_slice().is_empty());
        for number in 0..6 {
            attempts.push(attempt(number));
            let numbers: Vec<u32> = attempts.as_slice().iter().map(|a| a.number).collect();
            assert_eq!(numbers, (0..=number).collect::<Vec<_>>());
            assert_eq!(attempts.last_mut().map(|a| a.number), Some(number));
        }
    }

    #[test]
    fn one_attempt_needs_no_heap() {
        let mut attempts = Attempts::default();
        attempts.push(attempt(0));
        assert!(matches!(attempts, Attempts::Few(Some(_))));
        attempts.push(attempt(1));
        assert!(matches!(attempts, Attempts::Many(_)));
    }
}
