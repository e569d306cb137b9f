//! Every interleaving of two or three threads on the budget's word.

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;

use crate::budget::RetryBudget;
use crate::policy::RetryBudgetPolicy;

fn budget(initial: f64, ratio: f64, reserve_per_second: f64) -> Arc<RetryBudget> {
    let policy = RetryBudgetPolicy {
        ratio,
        reserve_per_second,
        capacity: 4.0,
        initial: Some(initial),
    };
    Arc::new(RetryBudget::new(&policy).unwrap())
}

#[test]
fn loom_one_token_is_never_spent_twice() {
    loom::model(|| {
        let budget = budget(1.0, 0.0, 0.0);
        let other = budget.clone();
        let thread = thread::spawn(move || other.withdraw(Duration::ZERO));
        let here = budget.withdraw(Duration::ZERO);
        assert!(
            here ^ thread.join().unwrap(),
            "exactly one of the two gets it"
        );
    });
}

#[test]
fn loom_three_threads_share_two_tokens() {
    loom::model(|| {
        let budget = budget(2.0, 0.0, 0.0);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let budget = budget.clone();
                thread::spawn(move || budget.withdraw(Duration::ZERO))
            })
            .collect();
        let here = budget.withdraw(Duration::ZERO);
        let spent = threads.into_iter().map(|t| t.join().unwrap()).chain([here]);
        assert_eq!(spent.filter(|&taken| taken).count(), 2);
    });
}

#[test]
fn loom_no_deposit_is_lost_beside_another() {
    loom::model(|| {
        let budget = budget(0.0, 0.5, 0.0);
        let other = budget.clone();
        let thread = thread::spawn(move || other.deposit());
        budget.deposit();
        thread.join().unwrap();
        assert!(budget.withdraw(Duration::ZERO));
        assert!(!budget.withdraw(Duration::ZERO));
    });
}

#[test]
fn loom_no_deposit_is_lost_beside_a_withdrawal() {
    loom::model(|| {
        let budget = budget(1.0, 1.0, 0.0);
        let other = budget.clone();
        let thread = thread::spawn(move || other.deposit());
        assert!(budget.withdraw(Duration::ZERO));
        thread.join().unwrap();
        assert!(budget.withdraw(Duration::ZERO));
        assert!(!budget.withdraw(Duration::ZERO));
    });
}

#[test]
fn loom_the_reserve_pays_once_for_two_who_read_different_times() {
    loom::model(|| {
        // One token by the first second: whoever comes first takes it, whatever the other's clock.
        let budget = budget(0.0, 0.0, 1.0);
        let other = budget.clone();
        let thread = thread::spawn(move || other.withdraw(Duration::from_millis(1000)));
        let here = budget.withdraw(Duration::from_millis(1900));
        assert!(here ^ thread.join().unwrap());
        assert!(
            budget.withdraw(Duration::from_millis(2000)),
            "the second token is due by then"
        );
    });
}
