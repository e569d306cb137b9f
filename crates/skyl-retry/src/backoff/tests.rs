use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::policy::RetryPolicyBuilder;
use crate::rng::Rng;

const JITTERS: [Jitter; 5] = [
    Jitter::Full,
    Jitter::Equal,
    Jitter::Decorrelated,
    Jitter::Shave(0.25),
    Jitter::Shave(1.0),
];

fn policy(initial: Duration, max: Duration, jitter: Jitter) -> RetryPolicy {
    builder(initial, max, jitter).build().unwrap()
}

fn builder(initial: Duration, max: Duration, jitter: Jitter) -> RetryPolicyBuilder {
    RetryPolicy::builder()
        .initial_delay(initial)
        .max_delay(max)
        .jitter(jitter)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Draws as a call would: each with the one before as its previous.
fn series(policy: &RetryPolicy, retries: u32, rng: &mut Rng) -> Vec<Duration> {
    let mut previous = None;
    (0..retries)
        .map(|retry| *previous.insert(draw(policy, retry, previous, rng).wait))
        .collect()
}

#[test]
fn each_jitter_keeps_its_range() {
    let mut rng = Rng::from_seed(1);
    for retry in 0..12 {
        let ceiling = millis(100 * 2_u64.pow(retry)).min(millis(5000));
        for (jitter, least) in [
            (Jitter::Full, Duration::ZERO),
            (Jitter::Equal, ceiling / 2),
            (Jitter::Shave(0.25), ceiling * 3 / 4),
            (Jitter::Shave(0.0), ceiling),
        ] {
            let policy = policy(millis(100), millis(5000), jitter);
            for _ in 0..200 {
                let drawn = draw(&policy, retry, None, &mut rng);
                assert_eq!(drawn.ceiling, ceiling);
                assert!(
                    (least..=ceiling).contains(&drawn.wait),
                    "{jitter}: {drawn:?}"
                );
            }
        }
    }
}

#[test]
fn full_jitter_reaches_both_ends() {
    let policy = policy(
        Duration::from_nanos(3),
        Duration::from_nanos(3),
        Jitter::Full,
    );
    let mut rng = Rng::from_seed(1);
    let drawn: HashSet<_> = (0..200)
        .map(|_| draw(&policy, 0, None, &mut rng).wait.as_nanos())
        .collect();
    assert_eq!(drawn, (0..=3).collect());
}

#[test]
fn decorrelated_jitter_grows_from_its_own_draws() {
    let policy = policy(millis(100), millis(5000), Jitter::Decorrelated);
    let mut rng = Rng::from_seed(1);
    let mut longest = Duration::ZERO;
    for _ in 0..500 {
        let first = draw(&policy, 0, None, &mut rng).wait;
        assert!((millis(100)..=millis(300)).contains(&first));
        let second = draw(&policy, 1, Some(first), &mut rng);
        assert!((millis(100)..=first * 3).contains(&second.wait));
        assert_eq!(second.ceiling, first * 3);
        let late = draw(&policy, 7, Some(millis(4000)), &mut rng).wait;
        assert!((millis(100)..=millis(5000)).contains(&late));
        longest = longest.max(late);
    }
    assert_eq!(longest, millis(5000), "draws above the cap are cut to it");
}

#[test]
fn a_shave_takes_from_the_whole_length_and_not_from_its_parts() {
    // Scaling seconds and nanoseconds apart gave waits of exactly 1, 3, 6 and 14 s.
    let policy = policy(millis(1000), millis(60_000), Jitter::Shave(0.99));
    let mut rng = Rng::from_seed(1);
    let whole_seconds =
        (0..1000).filter(|&n| draw(&policy, n % 6, None, &mut rng).wait.subsec_nanos() == 0);
    assert_eq!(whole_seconds.count(), 0);
}

#[test]
fn a_whole_shave_is_never_more_than_the_ceiling() {
    // A float rounds this length up by a nanosecond.
    let long = (1 << 53) + 3;
    assert_eq!(room(Jitter::Shave(1.0), long), long);
}

#[test]
fn no_crowd_gathers_on_the_cap() {
    // Clipping after jitter put a quarter to a third of all waits exactly on the cap.
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Shave(0.25)] {
        let policy = policy(millis(500), millis(5000), jitter);
        let mut rng = Rng::from_seed(1);
        let on_the_cap =
            (0..10_000).filter(|_| draw(&policy, 20, None, &mut rng).wait == millis(5000));
        assert!(on_the_cap.count() < 3, "{jitter}");
    }
}

#[test]
fn waits_vary_at_every_attempt() {
    for jitter in JITTERS {
        let policy = policy(millis(500), millis(30_000), jitter);
        let mut rng = Rng::from_seed(1);
        let calls: Vec<_> = (0..50).map(|_| series(&policy, 40, &mut rng)).collect();
        for retry in 0..40 {
            let waits: HashSet<_> = calls.iter().map(|call| call[retry]).collect();
            assert!(
                waits.len() > 20,
                "{jitter} at retry {retry}: {} of 50 differ",
                waits.len()
            );
        }
    }
}

#[test]
fn two_calls_never_go_in_step() {
    for jitter in JITTERS {
        let policy = policy(millis(500), millis(30_000), jitter);
        let calls: HashSet<_> = (0..1000)
            .map(|_| series(&policy, 3, &mut Rng::from_entropy()))
            .collect();
        assert_eq!(calls.len(), 1000, "{jitter}");
    }
}

#[test]
fn an_initial_delay_of_zero_retries_at_once() {
    for jitter in JITTERS {
        let policy = policy(Duration::ZERO, millis(5000), jitter);
        for retry in [0, 1, 63, 64, 65, 100, u32::MAX] {
            assert_eq!(
                draw(&policy, retry, None, &mut Rng::from_seed(1)).wait,
                Duration::ZERO
            );
            assert_eq!(ceiling(&policy, retry), Duration::ZERO);
        }
    }
}

#[test]
fn growth_is_exact_across_the_end_of_a_word() {
    for (delay, retry) in [
        (1, 62),
        (1, 63),
        (1, 64),
        (1, 65),
        (3, 61),
        (3, 62),
        (3, 63),
        (u64::MAX, 0),
        (u64::MAX, 1),
    ] {
        let policy = policy(Duration::from_nanos(delay), Duration::MAX, Jitter::Full);
        let exact = u128::from(delay) << retry;
        assert_eq!(
            ceiling(&policy, retry).as_nanos(),
            exact,
            "{delay} · 2^{retry}"
        );
    }
}

#[test]
fn growth_saturates_to_the_cap_and_never_wraps() {
    for (initial, max, retry) in [
        (millis(2000), millis(300_000), 50),
        (millis(50), millis(30_000), 40),
        (Duration::from_nanos(1), Duration::MAX, 100),
        (Duration::from_secs(10_000_000_000), Duration::MAX, 90),
        (Duration::MAX, Duration::MAX, u32::MAX),
    ] {
        for jitter in JITTERS {
            let policy = policy(initial, max, jitter);
            assert_eq!(ceiling(&policy, retry), max, "{jitter}");
            assert!(draw(&policy, retry, Some(max), &mut Rng::from_seed(1)).wait <= max);
        }
    }
}

fn any_duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (0_u64..100_000).prop_map(Duration::from_millis),
        any::<u64>().prop_map(Duration::from_nanos),
        (any::<u64>(), 0_u32..1_000_000_000).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
        Just(Duration::MAX),
    ]
}

fn any_jitter() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::Decorrelated),
        (0.0..=1.0).prop_map(Jitter::Shave),
        // The whole ceiling, which a float may round up.
        Just(Jitter::Shave(1.0)),
    ]
}

proptest! {
    #[test]
    fn no_backoff_is_above_its_ceiling_or_the_cap(
        (a, b, previous) in (any_duration(), any_duration(), any_duration()),
        jitter in any_jitter(),
        retry in any::<u32>(),
        seed in any::<u64>(),
    ) {
        let policy = policy(a.min(b), a.max(b), jitter);
        let mut rng = Rng::from_seed(seed);
        for (retry, previous) in [(retry, Some(previous)), (retry % 70, None)] {
            let drawn = draw(&policy, retry, previous, &mut rng);
            prop_assert!(drawn.wait <= drawn.ceiling);
            prop_assert!(drawn.ceiling <= policy.max_delay());
        }
        // From its own draws, no backoff is above the ceiling told for its index either.
        for (retry, wait) in (0..).zip(series(&policy, 8, &mut rng)) {
            prop_assert!(wait <= ceiling(&policy, retry), "retry {}", retry);
        }
    }

    #[test]
    fn ceilings_never_fall(
        (a, b) in (any_duration(), any_duration()),
        jitter in any_jitter(),
        retry in any::<u32>(),
        small in 0_u32..200,
    ) {
        let policy = policy(a.min(b), a.max(b), jitter);
        for retry in [retry, small] {
            let next = ceiling(&policy, retry.saturating_add(1));
            prop_assert!(ceiling(&policy, retry) <= next);
            prop_assert!(next <= policy.max_delay());
            prop_assert!(ceiling(&policy, 0) >= policy.initial_delay().min(next));
        }
    }
}
