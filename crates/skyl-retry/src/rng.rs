//! Randomness: a small seeded generator, and the source that hands out one per call.
//!
//! Waits need draws that differ between calls and clients, not secrets, so the generator is
//! xoshiro256++ (32 bytes, about a nanosecond per draw) and never a lock or a system call.
//! [`Rng`] is deliberately not `Clone`: a cloned generator repeats its parent's draws, which is
//! how whole fleets came to retry in step. [`Rng::fork`] and [`Seeds`] give independent ones.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::nanos::from_nanos;

/// A small seedable random generator; one belongs to one call.
///
/// The same seed gives the same draws on every platform and in every release of one minor version.
#[derive(Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Starts the sequence that belongs to `seed`; every seed is allowed, zero included.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut seeder = seed;
        let mut state = [0; 4];
        for word in &mut state {
            seeder = seeder.wrapping_add(GOLDEN_GAMMA);
            *word = mix(seeder);
        }
        // `mix` is a bijection and the four inputs differ, so the state is never all zero.
        Self { state }
    }

    /// Starts a sequence that no other generator of this process or fleet shares.
    ///
    /// The operating system's randomness comes in through the standard library's hash keys; a
    /// process-wide counter keeps two generators apart even where those keys repeat.
    #[must_use]
    pub fn from_entropy() -> Self {
        Self::from_seed(entropy())
    }

    /// Splits off an independent generator; both go on with different sequences.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self::from_seed(self.next_u64())
    }

    /// Draws 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Draws uniformly from `0..=max`, both ends included.
    pub fn up_to(&mut self, max: Duration) -> Duration {
        from_nanos(self.up_to_nanos(max.as_nanos()))
    }

    #[inline]
    pub(crate) fn up_to_nanos(&mut self, max: u128) -> u128 {
        match u64::try_from(max) {
            Ok(max) => u128::from(self.up_to_u64(max)),
            Err(_) => self.up_to_wide(max),
        }
    }

    /// Uniform in `0..=max` by multiply and shift, rejecting the few draws that would bias it.
    #[inline]
    fn up_to_u64(&mut self, max: u64) -> u64 {
        let Some(range) = max.checked_add(1) else {
            return self.next_u64();
        };
        let mut product = u128::from(self.next_u64()) * u128::from(range);
        if low(product) < range {
            let threshold = range.wrapping_neg() % range;
            while low(product) < threshold {
                product = u128::from(self.next_u64()) * u128::from(range);
            }
        }
        high(product)
    }

    /// The same for ranges beyond 64 bits (waits of more than 584 years), by masked rejection.
    fn up_to_wide(&mut self, max: u128) -> u128 {
        let mask = u128::MAX >> max.leading_zeros();
        loop {
            let draw = (u128::from(self.next_u64()) << 64) | u128::from(self.next_u64());
            if draw & mask <= max {
                return draw & mask;
            }
        }
    }
}

/// Hands out one generator per call; shared by reference between threads.
///
/// One atomic addition per generator. A client owns one `Seeds`, so its calls are apart from each
/// other, and two clients made from entropy are apart too. [`Seeds::from_seed`] makes a whole
/// client repeatable: the n-th generator is a function of the seed and n.
#[derive(Debug)]
pub struct Seeds {
    next: AtomicU64,
}

impl Seeds {
    /// Starts from the operating system's randomness.
    #[must_use]
    pub fn from_entropy() -> Self {
        Self::from_seed(entropy())
    }

    /// Starts from a fixed seed, for tests and simulations.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self {
            next: AtomicU64::new(mix(seed)),
        }
    }

    /// Gives the next generator; none is ever given twice.
    #[must_use]
    pub fn next_rng(&self) -> Rng {
        // Relaxed: the counter guards no other memory. An odd step visits all 2⁶⁴ seeds.
        Rng::from_seed(mix(self.next.fetch_add(GOLDEN_GAMMA, Ordering::Relaxed)))
    }
}

fn entropy() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(COUNTER.fetch_add(1, Ordering::Relaxed));
    hasher.finish()
}

/// The finalizer of `SplitMix64`: a bijection that spreads every input bit over all output bits.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half is what is asked for"
)]
fn low(product: u128) -> u64 {
    product as u64
}

fn high(product: u128) -> u64 {
    (product >> 64) as u64
}

/// The step of `SplitMix64`: 2⁶⁴ divided by the golden ratio, made odd.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    // The strategies' prelude has a trait of this name.
    use super::Rng;

    fn draws(rng: &mut Rng) -> Vec<u64> {
        (0..8).map(|_| rng.next_u64()).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_draws() {
        assert_eq!(draws(&mut Rng::from_seed(7)), draws(&mut Rng::from_seed(7)));
        assert_ne!(draws(&mut Rng::from_seed(7)), draws(&mut Rng::from_seed(8)));
        assert!(draws(&mut Rng::from_seed(0)).iter().any(|&draw| draw != 0));
    }

    #[test]
    fn draws_are_those_of_the_published_generator() {
        let mut rng = Rng {
            state: [1, 2, 3, 4],
        };
        let reference = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
            14_011_001_112_246_962_877,
            12_406_186_145_184_390_807,
        ];
        assert_eq!(draws(&mut rng), reference);
        // Seeded as its authors advise.
        assert_eq!(Rng::from_seed(0).next_u64(), 0x5317_5d61_490b_23df);
        assert_eq!(Rng::from_seed(42).next_u64(), 0xd076_4d4f_4476_689f);
    }

    #[test]
    fn no_two_generators_share_a_sequence() {
        let mut seen = HashSet::new();
        let seeds = Seeds::from_entropy();
        let mut parent = Rng::from_entropy();
        for _ in 0..1000 {
            assert!(seen.insert(draws(&mut Rng::from_entropy())));
            assert!(seen.insert(draws(&mut seeds.next_rng())));
            assert!(seen.insert(draws(&mut parent.fork())));
            assert!(seen.insert(draws(&mut parent)));
        }
    }

    #[test]
    fn a_seeded_source_hands_out_a_repeatable_series() {
        let (one, other) = (Seeds::from_seed(3), Seeds::from_seed(3));
        let series = |seeds: &Seeds| {
            (0..4)
                .map(|_| draws(&mut seeds.next_rng()))
                .collect::<Vec<_>>()
        };
        let first = series(&one);
        assert_eq!(first, series(&other));
        assert_ne!(first, series(&one), "it goes on, it does not start over");
    }

    #[test]
    fn both_ends_of_a_range_are_drawn_about_equally_often() {
        let mut rng = Rng::from_seed(1);
        let mut counts = [0_u32; 5];
        for _ in 0..50_000 {
            let nanos = rng.up_to(Duration::from_nanos(4)).as_nanos();
            counts[usize::try_from(nanos).unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|count| (9_500..10_500).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn no_residue_is_favored() {
        // Three quarters of 2⁶⁴: without rejection every third value would come twice as often.
        let mut rng = Rng::from_seed(1);
        let max = 3 * (1_u128 << 62) - 1;
        let mut counts = [0_u32; 3];
        for _ in 0..30_000 {
            counts[usize::try_from(rng.up_to_nanos(max) % 3).unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|count| (9_500..10_500).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn wide_ranges_are_filled_evenly() {
        let mut rng = Rng::from_seed(1);
        for max in [
            u128::from(u64::MAX),
            u128::from(u64::MAX) + 1,
            Duration::MAX.as_nanos(),
        ] {
            let above_half = (0..10_000)
                .filter(|_| rng.up_to_nanos(max) > max / 2)
                .count();
            assert!((4_700..5_300).contains(&above_half), "{max}: {above_half}");
        }
    }

    proptest! {
        #[test]
        fn no_draw_leaves_its_range(seed in any::<u64>(), secs in any::<u64>(), nanos in 0_u32..1_000_000_000) {
            let mut rng = Rng::from_seed(seed);
            for max in [Duration::new(secs, nanos), Duration::from_nanos(secs), Duration::ZERO] {
                prop_assert!(rng.up_to(max) <= max);
            }
        }
    }
}
