//! Randomness of a run: one number decides everything, and every part has draws of its own.
//!
//! A decision draws from a generator that is a function of the run's seed, the call and the retry.
//! So no state is kept per call, no two calls share a sequence, and two policies in the same run
//! meet the same luck: what differs between them is the policy.

use skyl_retry::Rng;

use crate::number::float;

/// The draws of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Luck {
    seed: u64,
}

impl Luck {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed: mix(seed) }
    }

    /// The generator for one purpose of one attempt of one call.
    #[inline]
    pub(crate) fn of(self, purpose: Purpose, call: u32, attempt: u32) -> Rng {
        let place = (u64::from(call) << 32) | u64::from(attempt);
        // Two rounds: the parts of the key must not cancel each other out.
        Rng::from_seed(mix(mix(self.seed ^ purpose as u64).wrapping_add(place)))
    }

    /// A generator for draws that happen in the order of events.
    pub(crate) fn stream(self, purpose: Purpose) -> Draws {
        Draws::new(self.of(purpose, u32::MAX, u32::MAX))
    }
}

/// What a draw is for.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Purpose {
    Start = 1,
    Wait = 2,
    Pause = 3,
    Failure = 4,
    Network = 5,
}

/// Draws of other shapes from a generator's bits.
#[derive(Debug)]
pub(crate) struct Draws {
    rng: Rng,
    // The second of a pair of normal draws, kept for the next one.
    spare: Option<f64>,
}

impl Draws {
    pub(crate) fn new(rng: Rng) -> Self {
        Self { rng, spare: None }
    }

    /// Uniform in `[0, 1)`.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        unit(&mut self.rng)
    }

    /// Normal with mean 0 and deviation 1, by the polar method.
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }
}

/// Uniform in `[0, 1)`, from the upper 53 bits.
#[inline]
pub(crate) fn unit(rng: &mut Rng) -> f64 {
    float(rng.next_u64() >> 11) / TWO_TO_53
}

/// The finalizer of `SplitMix64`: a bijection that spreads every input bit over all output bits.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_places_share_a_sequence_and_each_repeats() {
        let luck = Luck::new(7);
        let first = |purpose, call, attempt| luck.of(purpose, call, attempt).next_u64();
        let mut seen = HashSet::new();
        for call in 0..100 {
            for attempt in 0..100 {
                assert!(seen.insert(first(Purpose::Wait, call, attempt)));
                assert!(seen.insert(first(Purpose::Failure, call, attempt)));
            }
        }
        assert_eq!(first(Purpose::Wait, 3, 4), first(Purpose::Wait, 3, 4));
        assert_ne!(
            first(Purpose::Wait, 3, 4),
            Luck::new(8).of(Purpose::Wait, 3, 4).next_u64()
        );
    }

    #[test]
    fn draws_have_the_moments_of_their_shape() {
        let mut draws = Luck::new(1).stream(Purpose::Network);
        let normal: Vec<f64> = (0..100_000).map(|_| draws.normal()).collect();
        let mean = normal.iter().sum::<f64>() / 1e5;
        let variance = normal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.015, "{mean}");
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
        let units: Vec<f64> = (0..100_000).map(|_| draws.unit()).collect();
        assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));
        assert!((units.iter().sum::<f64>() / 1e5 - 0.5).abs() < 0.005);
    }
}
