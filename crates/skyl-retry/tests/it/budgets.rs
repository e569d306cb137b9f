//! The time budget over whole calls, whatever the attempts take and the server asks for.

use std::cell::RefCell;
use std::time::Duration;

use proptest::prelude::*;
use skyl_retry::{
    Clock, Failure, FailureClass, Hint, ManualClock, RetryPolicy, Rng, StopReason, Verdict, retry,
};

/// Lengths of every size: none, of the order of the budget, and beyond all reason.
fn any_length() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (0_u64..40_000).prop_map(Duration::from_millis),
        (0_u64..40).prop_map(Duration::from_secs),
        (any::<u64>(), 0_u32..1_000_000_000).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
        Just(Duration::MAX),
    ]
}

/// When each attempt began, each verdict with the time it was given at, and why the call ended.
struct Played {
    began: Vec<Duration>,
    verdicts: Vec<(Duration, Verdict)>,
    reason: StopReason,
}

/// Plays a call whose attempts all fail: how long each takes, and what wait it is answered with.
fn play(policy: &RetryPolicy, attempts: &[(Duration, Option<Duration>)], seed: u64) -> Played {
    let clock = ManualClock::skipping();
    let began = RefCell::new(Vec::new());
    let verdicts = RefCell::new(Vec::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let call = retry(policy, &clock)
        .rng(Rng::from_seed(seed))
        .on_decision(|_, _: &Option<Duration>, verdict| {
            verdicts.borrow_mut().push((clock.now(), *verdict));
        })
        .run(
            async |attempt| {
                began.borrow_mut().push(clock.now());
                let at = usize::try_from(attempt.number).unwrap() % attempts.len();
                clock.advance(attempts[at].0);
                Err::<(), _>(attempts[at].1)
            },
            |asked| {
                let hint = asked.map_or(Hint::Absent, Hint::Wait);
                Failure::new(FailureClass::Server)
                    .with_status(503)
                    .with_hint(hint)
            },
        );
    let reason = runtime.block_on(call).unwrap_err().reason;
    Played {
        began: began.take(),
        verdicts: verdicts.take(),
        reason,
    }
}

proptest! {
    /// No retry starts past the budget, and none is held back that would have started within it.
    #[test]
    fn a_retry_starts_exactly_if_its_wait_ends_within_the_budget(
        budget in any_length(),
        attempts in prop::collection::vec((any_length(), prop::option::of(any_length())), 1..8),
        seed in any::<u64>(),
    ) {
        let policy = RetryPolicy::system_one()
            .to_builder()
            .max_retries(12)
            .max_retry_after(Duration::MAX)
            .budget(budget)
            .build()
            .unwrap();
        let played = play(&policy, &attempts, seed);

        for began in &played.began[1..] {
            prop_assert!(budget.is_zero() || *began <= budget, "{began:?} of {budget:?}");
        }
        for (now, verdict) in &played.verdicts {
            match (verdict.stop(), verdict.wait) {
                (None, Some(wait)) => {
                    prop_assert!(budget.is_zero() || now.saturating_add(wait.total()) <= budget);
                }
                (Some(StopReason::TimeBudget), Some(wait)) => {
                    prop_assert!(!budget.is_zero());
                    prop_assert!(now.saturating_add(wait.total()) > budget);
                }
                (stop, _) => prop_assert_eq!(stop, Some(StopReason::AttemptsExhausted)),
            }
        }
    }

    /// Zero is unlimited: it never stops a call, whatever the lengths.
    #[test]
    fn a_budget_of_zero_never_stops_a_call(
        attempts in prop::collection::vec((any_length(), prop::option::of(any_length())), 1..8),
        retries in 0_u32..12,
    ) {
        let policy = RetryPolicy::system_one()
            .to_builder()
            .max_retries(retries)
            .budget(Duration::ZERO)
            .build()
            .unwrap();
        let played = play(&policy, &attempts, 1);
        prop_assert_eq!(played.began.len(), usize::try_from(retries).unwrap() + 1);
        prop_assert_ne!(played.reason, StopReason::TimeBudget);
    }

    /// Equality is allowed, to the nanosecond.
    #[test]
    fn a_wait_that_ends_with_the_budget_may_begin_and_one_a_nanosecond_longer_may_not(
        took in (0_u64..20_000).prop_map(Duration::from_millis),
        asked in (1_u64..20_000).prop_map(Duration::from_millis),
    ) {
        let policy = |budget| {
            let builder = RetryPolicy::system_one().to_builder().max_retries(1);
            builder.budget(budget).build().unwrap()
        };
        let exact = took + asked;
        let attempts = [(took, Some(asked))];
        prop_assert_eq!(play(&policy(exact), &attempts, 1).began.len(), 2);
        let less = exact.saturating_sub(Duration::from_nanos(1));
        let played = play(&policy(less), &attempts, 1);
        prop_assert_eq!((played.began.len(), played.reason), (1, StopReason::TimeBudget));
    }
}
