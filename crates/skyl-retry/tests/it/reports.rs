//! What went wrong for others in public, as whole calls. Each report is named as `repo#number`;
//! where it is about one rule alone, its test stands beside that rule.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use skyl_retry::hint::{HintScope, from_headers};
use skyl_retry::{
    Clock, Facts, Failure, FailureClass, Hint, Jitter, ManualClock, OverCap, RetryBudget,
    RetryBudgetPolicy, RetryPolicy, Rng, StopReason, Stopped, decide, retry,
};
use tokio::sync::Barrier;

use crate::{Outcome, SECOND, Script, classify, exact};

const DAY: Duration = Duration::from_secs(86_400);

/// Retries at once, so that no reserve is earned while a test counts tokens.
fn at_once() -> RetryPolicy {
    exact().initial_delay(Duration::ZERO).build().unwrap()
}

fn fleet_budget() -> Arc<RetryBudget> {
    RetryBudget::for_policy(&RetryPolicy::fleet()).unwrap()
}

/// What a call comes to whose attempts all fail with these headers, and what it slept.
async fn told(policy: &RetryPolicy, headers: &[(&str, &str)]) -> (Stopped<Failure>, Vec<Duration>) {
    let clock = ManualClock::skipping();
    let attempt = async |_| {
        let lines = headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()));
        let found = from_headers(lines, clock.wall(), HintScope::All);
        let failure = Failure::new(FailureClass::Throttled).with_status(429);
        Err::<(), _>(failure.with_hint(found.hint))
    };
    let stopped = retry(policy, &clock)
        .run(attempt, |failure| *failure)
        .await
        .unwrap_err();
    (stopped, clock.sleeps())
}

// vellum-ai/vellum-assistant#3233, basecamp/basecamp-sdk#781, Azure/azure-sdk-for-js#39130,
// openai/openai-node#1840: one branch of the parser escaped the limit that another one kept.
#[tokio::test]
async fn every_way_to_ask_for_too_long_a_wait_meets_the_same_ceiling() {
    let nines = "9".repeat(400);
    let clamp = exact().max_retries(1).build().unwrap();
    let give_up = exact().over_cap(OverCap::GiveUp).build().unwrap();
    for headers in [
        &[("retry-after", "301")][..],
        &[("retry-after", "2147483")],
        &[("retry-after", "2147484")],
        &[("retry-after", "2200000")],
        &[("retry-after", nines.as_str())],
        &[("retry-after-ms", "2147483648")],
        &[("retry-after-ms", nines.as_str())],
        &[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")],
        &[("retry-after", "Wednesday, 02-Dec-26 00:00:00 GMT")],
        &[("retry-after", "Wed Dec  2 00:00:00 2026")],
        &[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "596h31m23.648s"),
        ],
        &[
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2030-01-01T00:00:00Z"),
        ],
    ] {
        let (stopped, sleeps) = told(&clamp, headers).await;
        assert_eq!(stopped.reason, StopReason::AttemptsExhausted);
        assert_eq!(sleeps, [300 * SECOND], "{headers:?}");

        let (stopped, sleeps) = told(&give_up, headers).await;
        assert_eq!(stopped.reason, StopReason::HintOverCap, "{headers:?}");
        assert_eq!((stopped.attempts, sleeps.len()), (1, 0));
        let raw = stopped.last.unwrap().hint.wait().unwrap();
        assert!(raw > 300 * SECOND, "the wait itself stays readable");
    }
}

// urllib3/urllib3#1822, teng-lin/notebooklm-py#1275, backblaze-labs/b2-mcp#288,
// NousResearch/hermes-agent#84762, openai-node 6.49: aborted, asleep for years, or back after 1 ms.
#[tokio::test]
async fn a_wait_nobody_can_read_neither_ends_the_retries_nor_hurries_them() {
    let policy = exact().build().unwrap();
    for value in [
        "1m0s",
        "500ms",
        "-5",
        "+3",
        "0x10",
        "1e400",
        "nan",
        "soon",
        "Sep 2027",
        "Jan 1 2030",
        "",
        "30 Nov 2026 12:00:00 GMT",
    ] {
        let (stopped, sleeps) = told(&policy, &[("retry-after", value)]).await;
        assert_eq!(stopped.reason, StopReason::AttemptsExhausted, "{value}");
        assert_eq!(sleeps, [SECOND, 2 * SECOND, 4 * SECOND], "{value}");
    }
    // What can be read is not among them.
    let (_, sleeps) = told(&policy, &[("retry-after", "1.5")]).await;
    assert_eq!(sleeps, [Duration::from_millis(1500); 3]);
}

// kubescape/kubevuln#754, will-ockmore/httpx-retries#13, supabase/supabase-swift#1341: a wait of
// zero skipped the backoff and its jitter, or began the ladder anew: 25,216 requests in 2 s.
#[tokio::test]
async fn zero_and_stale_waits_do_not_bring_a_crowd_back_at_once() {
    for value in ["0", "0.000", "Mon, 30 Nov 2026 23:59:50 GMT", "1796083190"] {
        let headers = [("retry-after", value)];
        let (stopped, sleeps) = told(&exact().build().unwrap(), &headers).await;
        assert_eq!(stopped.attempts, 4, "{value}");
        assert_eq!(sleeps, [SECOND, 2 * SECOND, 4 * SECOND], "{value}");
        let mut first = HashSet::new();
        for _ in 0..50 {
            first.insert(told(&RetryPolicy::chat(), &headers).await.1[0]);
        }
        assert!(first.len() > 45, "{value}: {} of 50 differ", first.len());
    }
}

// vercel/ai#12585: willing to wait for days, told 3,832 s, and all attempts spent in seconds.
#[tokio::test]
async fn a_window_of_days_can_stand_in_for_a_count() {
    let policy = RetryPolicy::builder()
        .max_retries(1000)
        .budget(7 * DAY)
        .max_retry_after(7 * DAY)
        .build()
        .unwrap();
    let (stopped, sleeps) = told(&policy, &[("retry-after", "3832")]).await;
    assert_eq!(stopped.reason, StopReason::TimeBudget);
    assert_eq!(sleeps, [3832 * SECOND; 157]);
    assert!(sleeps.iter().sum::<Duration>() + 3832 * SECOND > 7 * DAY);
}

// openclaw/openclaw#68543: a wait as long as the cap was cut back to it, and all met there again.
#[test]
fn told_exactly_the_cap_a_fleet_does_not_return_as_one() {
    let failure = Failure::new(FailureClass::Throttled)
        .with_status(429)
        .with_hint(Hint::Wait(300 * SECOND));
    let mut rng = Rng::from_seed(1);
    let mut waits = HashSet::new();
    for _ in 0..1000 {
        let policy = RetryPolicy::fleet();
        let verdict = decide(&policy, &failure, &Facts::new(0), None, &mut rng, || true);
        let wait = verdict.retry_after().unwrap();
        assert!((300 * SECOND..=330 * SECOND).contains(&wait), "{wait:?}");
        waits.insert(wait);
    }
    assert!(waits.len() > 990, "{} of 1000 differ", waits.len());
}

// App-vNext/Polly#1866, Polly-Contrib/Polly.Contrib.WaitAndRetry#24, openai-agents-python#3226,
// fluent/fluent-logger-forward-node#44, typespec_client_core 1.1: the power wrapped to nothing, to
// less than nothing, or to for ever.
#[tokio::test]
async fn a_thousand_retries_end_neither_in_a_hot_loop_nor_in_a_wait_for_ever() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Status(503)]);
    let policy = exact()
        .initial_delay(Duration::from_millis(200))
        .max_retries(1000)
        .build()
        .unwrap();
    let stopped = retry(&policy, &clock)
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.attempts, 1001);
    let sleeps = clock.sleeps();
    assert!(sleeps.is_sorted(), "no wait is shorter than the one before");
    assert_eq!(sleeps[0], Duration::from_millis(200));
    assert_eq!(sleeps[9..], [60 * SECOND; 991]);
}

// procrastinate-org/procrastinate#1462, backon 1.6, retry-policies 0.5.2: now + wait overflowed.
#[tokio::test]
async fn waits_and_limits_without_end_can_be_added_up() {
    let endless = exact()
        .max_retry_after(Duration::MAX)
        .max_retries(2)
        .build()
        .unwrap();
    let asks = |(): &()| Failure::new(FailureClass::Server).with_hint(Hint::Wait(Duration::MAX));
    for (budget, deadline, reason) in [
        (Duration::ZERO, None, StopReason::AttemptsExhausted),
        (10 * SECOND, None, StopReason::TimeBudget),
        (Duration::ZERO, Some(Duration::MAX), StopReason::Deadline),
        (Duration::ZERO, Some(DAY), StopReason::Deadline),
    ] {
        let policy = endless.to_builder().budget(budget).build().unwrap();
        let clock = ManualClock::skipping();
        clock.advance(SECOND);
        let stopped = retry(&policy, &clock)
            .deadline(deadline)
            .run(async |_| Err::<(), _>(()), asks)
            .await
            .unwrap_err();
        assert_eq!(stopped.reason, reason, "{budget:?} {deadline:?}");
    }
}

// aws/aws-sdk-kotlin#1318: users took the empty budget for a bug, as nothing said its name.
// tower and reqwest: 200 calls in a total outage made 295 requests in a third of a second.
#[tokio::test]
async fn an_outage_spends_the_bucket_and_no_more_and_says_so() {
    let (clock, policy, budget) = (ManualClock::skipping(), at_once(), fleet_budget());
    let script = Script::new(&clock, &[Outcome::Status(503)]);
    let mut refused = 0;
    for _ in 0..200 {
        let stopped = retry(&policy, &clock)
            .budget(&*budget)
            .run(async |_| script.attempt(), classify)
            .await
            .unwrap_err();
        assert_eq!(stopped.last, Some(Outcome::Status(503)));
        if stopped.reason == StopReason::RetryBudget {
            refused += 1;
            assert!(stopped.to_string().ends_with("the retry budget is empty"));
        }
    }
    // Ten tokens: three retries for each of the first three calls, and one for the fourth.
    assert_eq!((script.called_at().len(), refused), (210, 197));
    assert!(budget.balance(clock.now()) < 1.0, "and the balance tells");
}

// aws/aws-sdk-go-v2#3550: one outage emptied the bucket, and no success ever filled it again.
#[tokio::test]
async fn after_an_outage_successes_bring_the_retries_back() {
    let (clock, policy, budget) = (ManualClock::skipping(), at_once(), fleet_budget());
    while budget.withdraw(clock.now()) {}
    let run = async |outcomes: &[Outcome]| {
        let script = Script::new(&clock, outcomes);
        let call = retry(&policy, &clock).budget(&*budget);
        call.run(async |_| script.attempt(), classify).await
    };
    let broken = [Outcome::Status(503), Outcome::Ok];
    assert_eq!(
        run(&broken).await.unwrap_err().reason,
        StopReason::RetryBudget
    );
    for _ in 0..11 {
        assert_eq!(run(&[Outcome::Ok]).await, Ok("answer"));
    }
    assert_eq!(run(&broken).await, Ok("answer"));
}

// failsafe-go: the budget was asked after the wait, and its refusal replaced the real failure.
#[tokio::test]
async fn an_empty_budget_costs_no_wait_and_does_not_hide_the_failure() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Asks(429, 7)]);
    let budget = fleet_budget();
    while budget.withdraw(clock.now()) {}
    let policy = RetryPolicy::chat();
    let stopped = retry(&policy, &clock)
        .budget(&*budget)
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.reason, StopReason::RetryBudget);
    assert_eq!(stopped.last, Some(Outcome::Asks(429, 7)));
    assert_eq!(clock.sleeps(), []);
}

// envoyproxy/envoy-mobile#811: a share of the requests in flight leaves nothing to those that die
// together, since each one that ends makes the share smaller.
#[tokio::test]
async fn calls_that_die_together_are_each_retried() {
    let (clock, budget) = (ManualClock::skipping(), fleet_budget());
    let together = Arc::new(Barrier::new(6));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let (clock, budget, together) = (clock.clone(), budget.clone(), together.clone());
        calls.spawn(async move {
            let policy = RetryPolicy::fleet();
            let attempt = async |attempt: skyl_retry::Attempt| {
                if attempt.number > 0 {
                    return Ok("answer");
                }
                together.wait().await;
                Err(())
            };
            retry(&policy, &clock)
                .budget(&*budget)
                .run(attempt, |()| Failure::new(FailureClass::ConnectionLost))
                .await
        });
    }
    assert!(calls.join_all().await.iter().all(Result::is_ok));
}

// envoyproxy/gateway#2769, envoyproxy/envoy#25660: clients with little traffic starve on a ratio.
#[tokio::test]
async fn a_client_of_one_call_a_minute_always_has_a_retry_left() {
    let fleet = RetryPolicy::fleet().retry_budget().unwrap();
    let without_reserve = RetryBudgetPolicy {
        reserve_per_second: 0.0,
        ..fleet
    };
    for (figures, lost) in [(fleet, 0), (without_reserve, 89)] {
        let clock = ManualClock::skipping();
        let budget = RetryBudget::new(&figures).unwrap();
        let policy = at_once();
        let mut failed = 0;
        for _ in 0..100 {
            clock.advance(60 * SECOND);
            let script = Script::new(&clock, &[Outcome::Status(503), Outcome::Ok]);
            let answer = retry(&policy, &clock)
                .budget(&budget)
                .run(async |_| script.attempt(), classify)
                .await;
            failed += usize::from(answer.is_err());
        }
        assert_eq!(failed, lost, "{figures:?}");
    }
}

// googleapis/gax-java#591: what had timed out was asked again at once, which kept it down.
#[tokio::test]
async fn timeouts_wait_and_pay_like_any_failure() {
    for policy in [
        exact(),
        RetryPolicy::system_one()
            .to_builder()
            .initial_delay(SECOND)
            .jitter(Jitter::Shave(0.0))
            .max_retries(3),
    ] {
        let policy = policy.build().unwrap();
        let (clock, budget) = (ManualClock::skipping(), fleet_budget());
        let stopped = retry(&policy, &clock)
            .budget(&*budget)
            .run(
                async |_| Err::<(), _>(()),
                |()| Failure::new(FailureClass::Timeout),
            )
            .await
            .unwrap_err();
        assert_eq!(stopped.reason, StopReason::AttemptsExhausted);
        assert_eq!(clock.sleeps(), [SECOND, 2 * SECOND, 4 * SECOND]);
        // Three tokens of ten are gone; the reserve has earned seven tenths in seven seconds.
        assert!((budget.balance(clock.now()) - 7.7).abs() < 0.01);
    }
}
