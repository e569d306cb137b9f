use super::*;

#[test]
fn the_servers_wait_wins_over_the_backoff() {
    for wait in [Duration::from_millis(1), SECOND, 299 * SECOND] {
        waits(&RetryPolicy::chat(), &asks(wait), &Facts::new(0), wait);
    }
    // max_delay bounds the backoff alone.
    let policy = built(RetryPolicy::builder().max_delay(SECOND));
    waits(&policy, &asks(200 * SECOND), &Facts::new(0), 200 * SECOND);
}

#[test]
fn a_wait_above_the_cap_is_cut_to_it_and_never_below() {
    let policy = RetryPolicy::chat();
    waits(&policy, &asks(300 * SECOND), &Facts::new(0), 300 * SECOND);
    for long in [301 * SECOND, 86_400 * SECOND, Duration::MAX] {
        waits(&policy, &asks(long), &Facts::new(0), 300 * SECOND);
    }
    let verdict = judge(&policy, &asks(86_400 * SECOND), &Facts::new(0));
    assert_eq!(verdict.to_string(), "server asked for 1d, cut to 5m");
}

#[test]
fn giving_up_above_the_cap_hands_the_failure_back() {
    let policy = built(
        RetryPolicy::builder()
            .over_cap(OverCap::GiveUp)
            .max_retry_after(120 * SECOND),
    );
    stops(
        &policy,
        &asks(121 * SECOND),
        &Facts::new(0),
        StopReason::HintOverCap,
    );
    waits(&policy, &asks(120 * SECOND), &Facts::new(0), 120 * SECOND);
    let verdict = judge(&policy, &asks(121 * SECOND), &Facts::new(0));
    assert_eq!(
        verdict.to_string(),
        "stopped: the server asked for a longer wait than allowed (server asked for 2m1s)"
    );
}

#[test]
fn a_wait_of_zero_means_what_the_policy_says() {
    let own = judge(&RetryPolicy::chat(), &asks(Duration::ZERO), &Facts::new(1));
    assert!(!own.hinted());
    assert!(matches!(
        own.wait,
        Some(WaitSource::Backoff {
            ceiling: SECOND,
            ..
        })
    ));

    let obeyed = judge(
        &RetryPolicy::system_one(),
        &asks(Duration::ZERO),
        &Facts::new(1),
    );
    assert_eq!(obeyed.retry_after(), Some(Duration::ZERO));
    assert!(obeyed.hinted());
}

#[test]
fn a_wait_of_zero_forever_ends_with_the_attempts_and_keeps_the_ladder() {
    // A zero that reset the backoff once made 25,000 requests in two seconds.
    let policy = RetryPolicy::system_one();
    let mut facts = Facts::new(0);
    let mut attempts = 1;
    while let Some(wait) = {
        let verdict = judge(&policy, &asks(Duration::ZERO), &facts);
        facts = facts.after(&verdict);
        verdict.retry_after()
    } {
        assert_eq!(wait, Duration::ZERO);
        attempts += 1;
    }
    assert_eq!(attempts, 3);
    // A wait of zero in between leaves the next backoff where it would have been.
    let after_zero = Facts::new(0).after(&judge(&policy, &asks(Duration::ZERO), &Facts::new(0)));
    assert!(matches!(
        judge(&policy, &server(), &after_zero).wait,
        Some(WaitSource::Backoff {
            ceiling: SECOND,
            ..
        })
    ));
}

#[test]
fn a_wait_that_cannot_be_read_is_the_own_backoff() {
    for policy in [RetryPolicy::chat(), RetryPolicy::system_one()] {
        for hint in [Hint::Absent, Hint::Unusable] {
            let verdict = judge(&policy, &server().with_hint(hint), &Facts::new(0));
            assert!(!verdict.hinted() && verdict.backoff().is_some());
        }
    }
}

#[test]
fn a_server_that_is_not_honored_is_not_obeyed() {
    let policy = built(
        RetryPolicy::builder()
            .honor_retry_after(false)
            .over_cap(OverCap::GiveUp),
    );
    let verdict = judge(&policy, &asks(600 * SECOND), &Facts::new(0));
    assert!(!verdict.hinted());
    assert!(verdict.retry_after().is_some_and(|wait| wait <= SECOND / 2));
}

#[test]
fn without_a_spread_the_wait_is_exactly_what_the_server_said() {
    let mut rng = Rng::from_seed(1);
    for _ in 0..100 {
        let verdict = decide(
            &RetryPolicy::chat(),
            &asks(SECOND),
            &Facts::new(0),
            None,
            &mut rng,
            || true,
        );
        assert_eq!(verdict.retry_after(), Some(SECOND));
    }
}

fn spread_policy(of_hint: f64, growth: f64, max: Duration) -> RetryPolicy {
    built(
        RetryPolicy::builder()
            .spread(Spread {
                of_hint,
                growth,
                max,
            })
            .max_retries(100),
    )
}

/// The shortest and longest of many waits.
fn extremes(policy: &RetryPolicy, failure: &Failure, facts: &Facts) -> (f64, f64) {
    let mut rng = Rng::from_seed(1);
    let waits = (0..2000).map(|_| {
        let verdict = decide(policy, failure, facts, None, &mut rng, || true);
        verdict.retry_after().unwrap().as_secs_f64()
    });
    waits.fold((f64::MAX, 0.0), |(low, high), wait| {
        (wait.min(low), wait.max(high))
    })
}

#[track_caller]
fn spreads(policy: &RetryPolicy, failure: &Failure, facts: &Facts, low: f64, high: f64) {
    let (shortest, longest) = extremes(policy, failure, facts);
    let slack = (high - low) / 50.0;
    assert!(
        low <= shortest && shortest < low + slack,
        "shortest {shortest}, not {low}"
    );
    assert!(
        high - slack < longest && longest <= high,
        "longest {longest}, not {high}"
    );
}

#[test]
fn a_spread_is_added_on_top_and_grows_with_hinted_retries_in_a_row() {
    let policy = spread_policy(0.5, 2.0, 30 * SECOND);
    let failure = asks(4 * SECOND);
    spreads(&policy, &failure, &Facts::new(0), 4.0, 6.0);
    spreads(
        &policy,
        &failure,
        &Facts::new(1).with_consecutive_hints(1),
        4.0,
        8.0,
    );
    spreads(
        &policy,
        &failure,
        &Facts::new(2).with_consecutive_hints(2),
        4.0,
        12.0,
    );
    // Its own cap bounds it, however long the row.
    spreads(
        &policy,
        &failure,
        &Facts::new(9).with_consecutive_hints(9),
        4.0,
        34.0,
    );
    spreads(
        &policy,
        &failure,
        &Facts::new(9).with_consecutive_hints(u32::MAX),
        4.0,
        34.0,
    );
}

#[test]
fn a_spread_is_added_after_clamping() {
    let policy = spread_policy(0.1, 1.0, 300 * SECOND);
    spreads(&policy, &asks(3600 * SECOND), &Facts::new(0), 300.0, 330.0);
    let capped = spread_policy(1.0, 1.0, 10 * SECOND);
    spreads(&capped, &asks(3600 * SECOND), &Facts::new(0), 300.0, 310.0);
}

#[test]
fn a_spread_of_nothing_is_none() {
    for policy in [
        spread_policy(0.0, 1.0, SECOND),
        spread_policy(1.0, 1.0, Duration::ZERO),
        spread_policy(0.0, f64::MAX, SECOND),
    ] {
        let facts = Facts::new(5).with_consecutive_hints(5);
        waits(&policy, &asks(4 * SECOND), &facts, 4 * SECOND);
    }
    // A wait of zero spreads by a share of zero.
    let obeys = built(RetryPolicy::fleet().to_builder().zero_hint(ZeroHint::Obey));
    waits(
        &obeys,
        &asks(Duration::ZERO),
        &Facts::new(0),
        Duration::ZERO,
    );
}

#[test]
fn a_spread_does_not_touch_the_own_backoff() {
    let fleet = RetryPolicy::fleet();
    let facts = Facts::new(0).with_consecutive_hints(7);
    assert_eq!(
        judge(&fleet, &server(), &facts),
        judge(&RetryPolicy::chat(), &server(), &facts)
    );
}

#[test]
fn limits_see_the_wait_with_its_spread() {
    let policy = spread_policy(1.0, 1.0, 30 * SECOND)
        .to_builder()
        .budget(10 * SECOND);
    let policy = built(policy);
    let mut rng = Rng::from_seed(1);
    let (mut stopped, mut retried) = (0, 0);
    for _ in 0..200 {
        let verdict = decide(
            &policy,
            &asks(9 * SECOND),
            &Facts::new(0),
            None,
            &mut rng,
            || true,
        );
        let planned = verdict.wait.unwrap().total();
        if let Some(reason) = verdict.stop() {
            assert_eq!(reason, StopReason::TimeBudget);
            assert!(planned > 10 * SECOND);
            stopped += 1;
        } else {
            assert!(planned <= 10 * SECOND);
            retried += 1;
        }
    }
    assert!(stopped > 0 && retried > 0);
}

#[test]
fn the_facts_of_the_next_retry_follow_from_the_verdict() {
    let policy = built(
        RetryPolicy::builder()
            .jitter(Jitter::Decorrelated)
            .max_retries(9),
    );
    let backoff = judge(&policy, &server(), &Facts::new(0));
    let second = Facts::new(0).after(&backoff);
    assert_eq!(
        second,
        Facts::new(1).with_previous_backoff(backoff.backoff())
    );

    // A hinted retry counts, and leaves the previous backoff where it was.
    let hinted = judge(&policy, &asks(SECOND), &second);
    let third = second.after(&hinted);
    assert_eq!(
        third,
        Facts::new(2)
            .with_previous_backoff(backoff.backoff())
            .with_consecutive_hints(1)
    );
    let fourth = third.after(&judge(&policy, &asks(SECOND), &third));
    assert_eq!(fourth.consecutive_hints, 2);
    // A retry on the own backoff ends the row.
    assert_eq!(
        fourth
            .after(&judge(&policy, &server(), &fourth))
            .consecutive_hints,
        0
    );
    assert_eq!(Facts::new(u32::MAX).after(&hinted).retry, u32::MAX);
}

#[test]
fn a_verdict_explains_itself() {
    let explained = |wait| Verdict::retry(wait).to_string();
    let backoff = WaitSource::Backoff {
        drawn: Duration::from_micros(312_400),
        ceiling: Duration::from_millis(500),
    };
    assert_eq!(explained(backoff), "backoff 312ms of at most 500ms");
    let spread = WaitSource::Hint {
        asked: SECOND,
        obeyed: SECOND,
        spread: Duration::from_millis(250),
    };
    assert_eq!(explained(spread), "server asked for 1s, spread by 250ms");
    assert_eq!(spread.total(), Duration::from_millis(1250));
    assert_eq!(
        Verdict::stopped(StopReason::AttemptsExhausted).to_string(),
        "stopped: no retry is left"
    );
    let endless = WaitSource::Hint {
        asked: Duration::MAX,
        obeyed: Duration::MAX,
        spread: SECOND,
    };
    assert_eq!(endless.total(), Duration::MAX);
}
