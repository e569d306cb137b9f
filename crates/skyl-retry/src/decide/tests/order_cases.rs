use std::cell::Cell;

use super::*;

/// Everything stops the retry; one cause after the other is taken away, and the next one speaks.
#[test]
fn the_checks_come_in_the_stated_order() {
    let mut builder = RetryPolicy::builder()
        .max_retries(3)
        .max_retry_after(SECOND)
        .over_cap(OverCap::GiveUp)
        .budget(2 * SECOND);
    let mut failure = Failure::new(FailureClass::Certificate)
        .with_status(495)
        .with_hint(Hint::Wait(5 * SECOND))
        .with_server_word(false)
        .with_delivered(true);
    let mut facts = Facts::new(3)
        .with_cancelled(true)
        .with_elapsed(10 * SECOND)
        .with_remaining(SECOND);
    let mut token = false;
    let withdrawn = Cell::new(0);
    let reason = |builder: &RetryPolicyBuilder, failure: &Failure, facts: &Facts, token: bool| {
        let policy = built(builder.clone());
        let withdraw = || {
            withdrawn.set(withdrawn.get() + 1);
            token
        };
        decide(
            &policy,
            failure,
            facts,
            None,
            &mut Rng::from_seed(1),
            withdraw,
        )
        .stop()
    };
    let check = |builder: &_, failure: &_, facts: &_, token, expected| {
        assert_eq!(reason(builder, failure, facts, token), expected);
    };

    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::Cancelled),
    );
    facts.cancelled = false;
    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::ContentDelivered),
    );
    failure.delivered = false;
    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::NotRetryable),
    );
    failure.class = FailureClass::Permanent;
    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::ServerSaidNo),
    );
    failure.server_word = None;
    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::NotRetryable),
    );
    failure.class = FailureClass::Throttled;
    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::AttemptsExhausted),
    );
    check(
        &builder.clone().max_retries(0),
        &failure,
        &facts,
        token,
        Some(StopReason::RetriesDisabled),
    );
    facts.retry = 2;
    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::HintOverCap),
    );
    builder = builder.over_cap(OverCap::Clamp);
    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::TimeBudget),
    );
    facts.elapsed = SECOND;
    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::Deadline),
    );
    facts.remaining = Some(2 * SECOND);
    assert_eq!(
        withdrawn.get(),
        0,
        "a retry that would not be sent costs no token"
    );
    check(
        &builder,
        &failure,
        &facts,
        token,
        Some(StopReason::RetryBudget),
    );
    token = true;
    check(&builder, &failure, &facts, token, None);
    assert_eq!(withdrawn.get(), 2);
}

#[test]
fn retries_are_counted_from_the_first_attempt_on() {
    let policy = RetryPolicy::chat();
    for retry in 0..3 {
        assert!(
            judge(&policy, &server(), &Facts::new(retry))
                .retry_after()
                .is_some()
        );
    }
    for retry in [3, 4, u32::MAX] {
        stops(
            &policy,
            &server(),
            &Facts::new(retry),
            StopReason::AttemptsExhausted,
        );
    }
}

#[test]
fn retries_that_are_off_have_a_reason_of_their_own() {
    let off = built(RetryPolicy::builder().max_retries(0));
    stops(&off, &server(), &Facts::new(0), StopReason::RetriesDisabled);
    // A failure that would not be retried anyway says so.
    let rejected = Failure::new(FailureClass::Permanent).with_status(401);
    stops(&off, &rejected, &Facts::new(0), StopReason::NotRetryable);
}

#[test]
fn the_time_budget_allows_equality_and_nothing_beyond() {
    let policy = built(RetryPolicy::builder().budget(30 * SECOND));
    let failure = asks(10 * SECOND);
    waits(
        &policy,
        &failure,
        &Facts::new(0).with_elapsed(20 * SECOND),
        10 * SECOND,
    );
    let late = Facts::new(0).with_elapsed(20 * SECOND + Duration::from_nanos(1));
    stops(&policy, &failure, &late, StopReason::TimeBudget);
    stops(
        &policy,
        &failure,
        &Facts::new(0).with_elapsed(Duration::MAX),
        StopReason::TimeBudget,
    );
}

#[test]
fn a_time_budget_of_zero_is_unlimited() {
    let policy = built(
        RetryPolicy::system_one()
            .to_builder()
            .budget(Duration::ZERO),
    );
    waits(
        &policy,
        &asks(10 * SECOND),
        &Facts::new(0).with_elapsed(Duration::MAX),
        10 * SECOND,
    );
}

#[test]
fn the_time_budget_stops_a_call_whose_server_asks_for_more_than_is_left() {
    // Seed 001: 429 with a wait of 40 s under a budget of 30 s is one attempt.
    stops(
        &RetryPolicy::system_one(),
        &asks(40 * SECOND),
        &Facts::new(0),
        StopReason::TimeBudget,
    );
    waits(
        &RetryPolicy::system_one(),
        &asks(30 * SECOND),
        &Facts::new(0),
        30 * SECOND,
    );
}

#[test]
fn a_wait_that_would_pass_the_deadline_is_not_begun() {
    let policy = RetryPolicy::chat();
    let failure = asks(10 * SECOND);
    stops(
        &policy,
        &failure,
        &Facts::new(0).with_remaining(9 * SECOND),
        StopReason::Deadline,
    );
    waits(
        &policy,
        &failure,
        &Facts::new(0).with_remaining(20 * SECOND),
        10 * SECOND,
    );
    waits(&policy, &failure, &Facts::new(0), 10 * SECOND);
}

#[test]
fn a_retry_with_too_little_time_left_is_not_begun() {
    let policy = RetryPolicy::chat();
    let failure = asks(10 * SECOND);
    let millis = Duration::from_millis;
    // Without an attempt timeout a tenth of a second must be left.
    let left = |left| Facts::new(0).with_remaining(10 * SECOND + left);
    stops(&policy, &failure, &left(millis(99)), StopReason::Deadline);
    waits(&policy, &failure, &left(millis(100)), 10 * SECOND);
    // A short attempt needs a tenth of its own time.
    let short = |left_over| left(left_over).with_attempt_timeout(millis(200));
    stops(&policy, &failure, &short(millis(19)), StopReason::Deadline);
    waits(&policy, &failure, &short(millis(20)), 10 * SECOND);
    // A long one no more than the tenth of a second.
    let long = |left_over| left(left_over).with_attempt_timeout(60 * SECOND);
    stops(&policy, &failure, &long(millis(99)), StopReason::Deadline);
    waits(&policy, &failure, &long(millis(100)), 10 * SECOND);
}

#[test]
fn an_empty_retry_budget_stops_the_retry_and_shows_the_plan() {
    let verdict = decide(
        &RetryPolicy::chat(),
        &asks(SECOND),
        &Facts::new(0),
        None,
        &mut Rng::from_seed(1),
        || false,
    );
    assert_eq!(verdict.stop(), Some(StopReason::RetryBudget));
    assert_eq!(verdict.wait.map(|wait| wait.total()), Some(SECOND));
    assert_eq!(
        verdict.to_string(),
        "stopped: the retry budget is empty (server asked for 1s)"
    );
}

#[test]
fn each_reason_has_its_word() {
    let words: Vec<_> = StopReason::ALL
        .iter()
        .map(|reason| reason.to_string())
        .collect();
    assert_eq!(
        words.join(", "),
        "not_retryable, retries_disabled, attempts_exhausted, time_budget, deadline, retry_budget, \
         server_said_no, hint_over_cap, content_delivered, cancelled"
    );
}
