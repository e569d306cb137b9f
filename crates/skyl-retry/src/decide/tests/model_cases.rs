use proptest::prelude::*;

use super::*;
use crate::decide::model;
use crate::policy::RetryPolicyBuilder;
use crate::rng::Rng;

/// Small figures in whole milliseconds, so that the model's floats are exact enough to agree.
fn millis(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

fn any_jitter() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::Decorrelated),
        (0.0..=1.0).prop_map(Jitter::Shave),
    ]
}

fn any_policy() -> impl Strategy<Value = RetryPolicy> {
    let numbers = (
        0_u32..6,
        millis(0..2000),
        millis(0..5000),
        any_jitter(),
        millis(1..8000),
        prop_oneof![Just(Duration::ZERO), millis(1..20_000)],
    );
    let spread = prop::option::of((0.0..3.0, 1.0..3.0, millis(0..4000)));
    let switches = prop::array::uniform8(any::<bool>());
    (
        numbers,
        spread,
        switches,
        prop::sample::select(vec!["", "429", "408, 429, 500-599", "300-599"]),
    )
        .prop_map(
            |((retries, initial, more, jitter, cap, budget), spread, on, statuses)| {
                let builder: RetryPolicyBuilder = RetryPolicy::builder()
                    .max_retries(retries)
                    .initial_delay(initial)
                    .max_delay(initial + more)
                    .jitter(jitter)
                    .max_retry_after(cap)
                    .budget(budget)
                    .spread(spread.map(|(of_hint, growth, max)| Spread {
                        of_hint,
                        growth,
                        max,
                    }))
                    .honor_retry_after(on[0])
                    .honor_should_retry(on[1])
                    .retry_on_conn_err(on[2])
                    .retry_on_timeout(on[3])
                    .retry_unsent(on[4])
                    .over_cap(if on[5] {
                        OverCap::Clamp
                    } else {
                        OverCap::GiveUp
                    })
                    .zero_hint(if on[6] {
                        ZeroHint::Backoff
                    } else {
                        ZeroHint::Obey
                    })
                    .retry_by(if on[7] {
                        RetryBy::Kind
                    } else {
                        RetryBy::Status
                    })
                    .retry_statuses(statuses.parse().unwrap());
                built(builder)
            },
        )
}

fn any_failure() -> impl Strategy<Value = Failure> {
    use FailureClass::*;
    let classes = vec![
        Throttled,
        Throttled,
        Server,
        Server,
        Permanent,
        Connect,
        ConnectionLost,
        Timeout,
        Certificate,
        Truncated,
        Decode,
        Unclassified,
    ];
    let hint = prop_oneof![
        Just(Hint::Absent),
        Just(Hint::Unusable),
        Just(Hint::Wait(Duration::ZERO)),
        millis(1..10_000).prop_map(Hint::Wait),
    ];
    let status = prop::option::of(prop::sample::select(vec![
        200_u16, 302, 401, 408, 422, 429, 500, 529, 600,
    ]));
    (
        prop::sample::select(classes),
        status,
        hint,
        any::<bool>(),
        prop::option::weighted(0.3, any::<bool>()),
        prop::bool::weighted(0.05),
    )
        .prop_map(|(class, status, hint, sent, word, delivered)| {
            Failure::new(class)
                .with_status(status)
                .with_hint(hint)
                .with_sent(if sent { Sent::Maybe } else { Sent::No })
                .with_server_word(word)
                .with_delivered(delivered)
        })
}

/// One failed attempt of a call: the failure, its length, and what else is said about it.
fn any_step() -> impl Strategy<Value = (Failure, Duration, Option<Choice>, bool, bool)> {
    let asked = prop::option::weighted(
        0.3,
        prop::sample::select(vec![Choice::Retry, Choice::Retry, Choice::Stop]),
    );
    (
        any_failure(),
        millis(0..3000),
        asked,
        prop::bool::weighted(0.05),
        prop::bool::weighted(0.9),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// A whole call, failure by failure: the engine and the model agree at every step.
    #[test]
    fn the_engine_agrees_with_the_model_step_by_step(
        policy in any_policy(),
        steps in prop::collection::vec(any_step(), 1..10),
        deadline in prop::option::of(millis(0..30_000)),
        timeout in prop::option::of(millis(1..3000)),
        seed in any::<u64>(),
    ) {
        let mut rng = Rng::from_seed(seed);
        let mut facts = Facts::new(0).with_attempt_timeout(timeout);
        let mut now = Duration::ZERO;
        for (failure, length, asked, cancelled, token) in steps {
            now += length;
            facts.elapsed = now;
            facts.remaining = deadline.map(|deadline| deadline.saturating_sub(now));
            facts.cancelled = cancelled;
            let mut withdrawals = 0;
            let verdict = decide(&policy, &failure, &facts, asked, &mut rng, || { withdrawals += 1; token });

            let planned = verdict.wait.map_or(Duration::ZERO, |wait| wait.total());
            let expected = model::expected(&policy, &failure, &facts, asked, planned, token);
            match (verdict.decision, expected) {
                (Decision::RetryAfter(wait), Ok(range)) => {
                    let (wait, slack) = (wait.as_secs_f64(), 1e-8);
                    prop_assert!(range.start() - slack <= wait && wait <= range.end() + slack, "{} in {:?}", wait, range);
                    prop_assert_eq!(withdrawals, 1);
                }
                (Decision::Stop(reason), Err(word)) => {
                    prop_assert_eq!(reason.as_str(), word);
                    prop_assert_eq!(withdrawals, usize::from(word == "retry_budget"));
                    break;
                }
                (decision, expected) => prop_assert!(false, "engine {decision:?}, model {expected:?}"),
            }
            now += planned;
            facts = facts.after(&verdict);
        }
    }

    /// Extreme figures: nothing panics, and the caps hold.
    #[test]
    fn no_wait_is_above_its_cap_or_below_the_servers(
        policy in any_policy(),
        hint in (any::<u64>(), 0_u32..1_000_000_000).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
        cap in (any::<u64>(), 1_u32..1_000_000_000).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
        facts in (any::<u32>(), any::<u64>(), any::<u32>()),
        seed in any::<u64>(),
    ) {
        let builder = policy.to_builder().max_retries(u32::MAX).max_retry_after(cap).over_cap(OverCap::Clamp);
        let policy = built(builder.honor_retry_after(true).budget(Duration::ZERO));
        let (retry, elapsed, hints) = facts;
        let facts = Facts::new(retry).with_elapsed(Duration::from_secs(elapsed)).with_consecutive_hints(hints);
        let mut rng = Rng::from_seed(seed);
        for failure in [asks(hint), server()] {
            let verdict = decide(&policy, &failure, &facts, Some(Choice::Retry), &mut rng, || true);
            let Some(wait) = verdict.retry_after() else {
                prop_assert_eq!(retry, u32::MAX);
                continue;
            };
            if verdict.hinted() {
                let spread = policy.spread().map_or(Duration::ZERO, |spread| spread.max);
                prop_assert!(wait >= hint.min(cap));
                prop_assert!(wait <= cap.saturating_add(spread));
            } else {
                prop_assert!(wait <= policy.max_delay());
            }
        }
    }
}
