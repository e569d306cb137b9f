//! Faults at random that are the same every time.
//!
//! Which fault a request meets is a function of the seed, of its body, and of how often that body
//! was seen: never of the order of arrival. So a soak with a thousand calls in flight meets the
//! same faults on every run, and a failure can be replayed by its seed.

use sha2::{Digest, Sha256};

use crate::script::{Script, Step};

/// A share of requests that meet a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Chaos {
    // Invariant: from 0 to 1.
    rate: f64,
    seed: u64,
    faults: Vec<Script>,
}

impl Chaos {
    /// Faults for this share of requests, from 0 (none) to 1 (all); `None` for any other number.
    #[must_use]
    pub fn new(rate: f64, seed: u64) -> Option<Self> {
        // A NaN is in no range.
        (0.0..=1.0).contains(&rate).then(|| {
            let faults = FAULTS.iter().filter_map(|fault| fault.parse().ok());
            Self {
                rate,
                seed,
                faults: faults.collect(),
            }
        })
    }

    /// The fault of the request with this body, which has been seen `seen` times before.
    pub(crate) fn step(&self, body_sha256: &str, seen: u64) -> Option<&Step> {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_be_bytes());
        hash.update(body_sha256);
        hash.update(seen.to_be_bytes());
        let hash = hash.finalize();
        let word = |at: usize| {
            let bytes = hash.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            u32::from_be_bytes(bytes.unwrap_or_default())
        };
        let drawn = f64::from(word(0)) / (f64::from(u32::MAX) + 1.0);
        if drawn >= self.rate {
            return None;
        }
        let which = usize::try_from(word(4)).unwrap_or(0) % self.faults.len().max(1);
        self.faults.get(which).map(|fault| fault.at(0).1)
    }
}

/// What can happen, each as likely as the others. Waits are short: a soak has many of them.
const FAULTS: [&str; 18] = [
    "429(ra-ms=20)",
    "429",
    "500",
    "502(body=html)",
    "503(ra-ms=20)",
    "503(body=empty)",
    "529(body=overloaded)",
    "reset",
    "close",
    "reset-mid",
    "close-mid",
    "first-error",
    "stream-error(1)",
    "stream-truncate(1)",
    "stream-reset(1)",
    "stall(20)",
    "stall-mid(20)+comments(20)",
    "slow(1)+split(7)",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(chaos: &Chaos, body: &str) -> Vec<Option<String>> {
        (0..20)
            .map(|seen| chaos.step(body, seen).map(|step| format!("{step:?}")))
            .collect()
    }

    #[test]
    fn every_fault_of_the_table_is_a_script() {
        assert_eq!(Chaos::new(1.0, 0).unwrap().faults.len(), FAULTS.len());
    }

    #[test]
    fn the_same_seed_and_body_meet_the_same_faults() {
        let chaos = |seed| Chaos::new(0.5, seed).unwrap();
        assert_eq!(steps(&chaos(1), "a"), steps(&chaos(1), "a"));
        assert_ne!(steps(&chaos(1), "a"), steps(&chaos(2), "a"));
        assert_ne!(steps(&chaos(1), "a"), steps(&chaos(1), "b"));
    }

    #[test]
    fn the_rate_is_the_share_that_meets_a_fault() {
        let share = |rate| {
            let chaos = Chaos::new(rate, 7).unwrap();
            (0..10_000)
                .filter(|n| chaos.step(&n.to_string(), 0).is_some())
                .count()
        };
        assert_eq!(share(0.0), 0);
        assert_eq!(share(1.0), 10_000);
        assert!((2_800..3_200).contains(&share(0.3)), "{}", share(0.3));
    }

    #[test]
    fn a_rate_outside_its_range_is_refused() {
        for rate in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(Chaos::new(rate, 0), None, "{rate}");
        }
    }
}
