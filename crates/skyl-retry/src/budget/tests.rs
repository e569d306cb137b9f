use std::thread;

use proptest::prelude::*;

use super::*;

const ZERO: Duration = Duration::ZERO;

fn figures(ratio: f64, reserve_per_second: f64, capacity: f64, initial: f64) -> RetryBudgetPolicy {
    RetryBudgetPolicy {
        ratio,
        reserve_per_second,
        capacity,
        initial: Some(initial),
    }
}

fn budget(ratio: f64, reserve_per_second: f64, capacity: f64, initial: f64) -> RetryBudget {
    RetryBudget::new(&figures(ratio, reserve_per_second, capacity, initial)).unwrap()
}

/// Takes tokens until there are none.
fn drain(budget: &RetryBudget, now: Duration) -> usize {
    std::iter::from_fn(|| budget.withdraw(now).then_some(())).count()
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn a_bucket_starts_full_unless_told() {
    let full = RetryBudget::new(&RetryBudgetPolicy {
        initial: None,
        ..figures(0.1, 0.0, 10.0, 0.0)
    })
    .unwrap();
    assert_eq!(drain(&full, ZERO), 10);
    assert_eq!(drain(&budget(0.1, 0.0, 10.0, 3.0), ZERO), 3);
    assert_eq!(drain(&budget(0.1, 0.0, 10.0, 0.0), ZERO), 0);
    assert_eq!(drain(&budget(0.1, 0.0, 10.0, 2.999), ZERO), 2);
}

#[test]
fn figures_out_of_range_make_no_bucket() {
    assert_eq!(
        RetryBudget::new(&figures(f64::NAN, 0.0, 1.0, 0.0))
            .unwrap_err()
            .key(),
        "retry_budget.ratio"
    );
    assert_eq!(
        RetryBudget::new(&figures(0.1, 0.0, 1.0, 2.0))
            .unwrap_err()
            .key(),
        "retry_budget.initial"
    );
}

#[test]
fn a_policy_makes_its_bucket_and_without_figures_none() {
    let made = RetryBudget::for_policy(&RetryPolicy::fleet()).unwrap();
    assert_eq!(drain(&made, ZERO), 10);
    assert!(RetryBudget::for_policy(&RetryPolicy::chat()).is_none());
}

#[test]
fn the_ratio_is_exact_to_one_percent() {
    for (ratio, reserve) in [
        (0.1, 0.0),
        (0.1, 0.1),
        (0.01, 10.0),
        (0.2, 1000.0),
        (0.000_1, 1000.0),
        (1.0 / 3.0, 0.1),
    ] {
        let budget = budget(ratio, reserve, 1000.0, 0.0);
        let mut taken = 0.0;
        let successes = 100.0 / ratio;
        let mut made = 0.0;
        while made < successes {
            budget.deposit();
            made += 1.0;
            if budget.withdraw(ZERO) {
                taken += 1.0;
            }
        }
        assert!((99.0..=101.0).contains(&taken), "{ratio}: {taken} of 100");
    }
}

#[test]
fn an_outage_drains_the_bucket_and_successes_refill_it() {
    let budget = budget(0.1, 0.0, 10.0, 10.0);
    assert_eq!(drain(&budget, ZERO), 10);
    assert_eq!(
        drain(&budget, secs(3600)),
        0,
        "without a reserve, time alone brings nothing"
    );
    for _ in 0..11 {
        budget.deposit();
    }
    assert_eq!(drain(&budget, secs(3600)), 1);
}

#[test]
fn the_reserve_is_a_rate_and_not_a_burst() {
    let budget = budget(0.1, 0.1, 10.0, 0.0);
    assert!(!budget.withdraw(secs(9)));
    assert!(budget.withdraw(secs(10)));
    assert!(!budget.withdraw(secs(19)));
    assert!(budget.withdraw(secs(20)));
    // A year of idleness saves no more than the bucket holds.
    assert_eq!(drain(&budget, secs(31_536_000)), 10);
}

#[test]
fn parts_of_a_second_pay_their_part() {
    let budget = budget(0.0, 4.0, 100.0, 0.0);
    let millis = Duration::from_millis;
    assert!(!budget.withdraw(millis(249)));
    assert!(budget.withdraw(millis(250)));
    assert!(!budget.withdraw(millis(499)));
    assert!((budget.balance(millis(1_625)) - 5.5).abs() < 1e-6);
}

#[test]
fn the_scale_is_as_fine_as_the_figures_allow() {
    let scale = |ratio, reserve, capacity| budget(ratio, reserve, capacity, 0.0).one;
    assert_eq!(scale(0.1, 0.1, 10.0), 1 << 32);
    assert_eq!(scale(0.1, 1.0, 10.0), 1 << 32);
    assert_eq!(scale(0.1, 1.5, 10.0), 1 << 31);
    assert_eq!(scale(0.1, 1000.0, 10.0), 1 << 22);
    assert_eq!(scale(0.1, 0.0, 1e9), 1 << 31);
}

#[test]
fn deposits_stop_at_the_capacity() {
    let budget = budget(0.5, 0.0, 2.0, 0.0);
    for _ in 0..1_000_000 {
        budget.deposit();
    }
    // The word itself stops there too: years of successes must not carry it to its end.
    assert_eq!(budget.word.load(Relaxed), budget.capacity);
    assert_eq!(drain(&budget, ZERO), 2);
}

#[test]
fn a_clock_step_creates_no_tokens() {
    let steady = budget(0.0, 1.0, 100.0, 0.0);
    assert_eq!(drain(&steady, secs(50)), 50);
    // Back and forth again, by any number of readers: nothing is earned twice.
    for now in [0, 49, 10, 50, 0, 50] {
        assert_eq!(drain(&steady, secs(now)), 0, "{now}");
    }
    assert_eq!(drain(&steady, secs(51)), 1);
    // Far ahead is never more than the bucket.
    assert_eq!(drain(&steady, Duration::MAX), 100);
    assert_eq!(drain(&steady, Duration::MAX), 0);
}

#[test]
fn extreme_figures_neither_overflow_nor_starve() {
    let largest = budget(1000.0, 1000.0, 1e9, 1e9);
    assert!(largest.withdraw(ZERO) && largest.withdraw(Duration::MAX));
    for _ in 0..1000 {
        largest.deposit();
    }
    assert!((largest.balance(Duration::MAX) - 1e9).abs() < 1.0);
    let smallest = budget(0.0, 0.0, 1.0, 0.0);
    smallest.deposit();
    assert!(!smallest.withdraw(Duration::MAX));
    assert!(smallest.balance(Duration::MAX).abs() < f64::EPSILON);
}

#[test]
fn the_balance_tells_what_is_there() {
    let budget = budget(0.25, 0.5, 4.0, 1.0);
    let check = |now, expected: f64| assert!((budget.balance(now) - expected).abs() < 1e-6);
    check(ZERO, 1.0);
    check(secs(2), 2.0);
    budget.deposit();
    check(secs(2), 2.25);
    check(secs(60), 4.0);
    assert!(budget.withdraw(secs(60)));
    check(secs(60), 3.0);
    assert!(format!("{budget:?}").starts_with("RetryBudget"));
}

#[test]
fn threads_spend_no_more_than_was_there() {
    let budget = budget(0.5, 0.0, 1e6, 100.0);
    let taken: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    (0..10_000)
                        .filter(|n| {
                            if n % 2 == 0 {
                                budget.deposit();
                            }
                            budget.withdraw(ZERO)
                        })
                        .count()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    // 100 tokens, and half a token for each of 20,000 deposits.
    assert_eq!(taken + drain(&budget, ZERO), 10_100);
}

#[derive(Clone, Debug)]
enum Step {
    Deposit,
    Withdraw,
    Pass(u64),
}

proptest! {
    /// A bucket kept in the plain way: level and time, cut to the capacity at every step.
    #[test]
    fn the_word_agrees_with_a_plain_bucket(
        steps in prop::collection::vec(
            prop_oneof![
                3 => Just(Step::Deposit),
                3 => Just(Step::Withdraw),
                1 => (0_u64..50).prop_map(Step::Pass),
            ],
            1..200,
        ),
        quarters in (0_u32..8, 0_u32..8, 4_u32..40, 0_u32..4),
    ) {
        // Quarters are exact in both, so the two must agree to the token.
        let (ratio, reserve, capacity, initial) = quarters;
        let q = |n: u32| f64::from(n) / 4.0;
        let budget = budget(q(ratio), q(reserve), q(capacity), q(initial));
        let (mut level, mut now) = (q(initial), 0_u64);
        for step in steps {
            match step {
                Step::Deposit => {
                    budget.deposit();
                    level = (level + q(ratio)).min(q(capacity));
                }
                Step::Withdraw => {
                    let enough = level >= 1.0;
                    prop_assert_eq!(budget.withdraw(secs(now)), enough);
                    level -= f64::from(u8::from(enough));
                }
                Step::Pass(seconds) => {
                    now += seconds;
                    let seconds = f64::from(u32::try_from(seconds).unwrap());
                    level = (level + seconds * q(reserve)).min(q(capacity));
                }
            }
            prop_assert!((budget.balance(secs(now)) - level).abs() < 1e-6);
        }
    }
}
