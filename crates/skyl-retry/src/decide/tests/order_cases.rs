use super::*;

/// Everything stops the retry; one cause after the other is taken away, and the next one speaks.
#[test]
fn the_checks_come_in_the_stated_order() {
    let mut call = Call {
        builder: RetryPolicy::builder()
            .max_retries(0)
            .max_retry_after(SECOND)
            .over_cap(OverCap::GiveUp)
            .budget(2 * SECOND),
        failure: Failure::new(FailureClass::Certificate)
            .with_hint(Hint::Wait(5 * SECOND))
            .with_server_word(false)
            .with_delivered(true),
        facts: Facts::new(3)
            .with_cancelled(true)
            .with_elapsed(10 * SECOND)
            .with_remaining(SECOND),
        token: false,
    };
    call.stops(StopReason::Cancelled);
    call.facts.cancelled = false;
    call.stops(StopReason::ContentDelivered);
    call.failure.delivered = false;
    call.stops(StopReason::NotRetryable);
    call.failure.class = FailureClass::Permanent;
    call.stops(StopReason::ServerSaidNo);
    call.failure.server_word = None;
    call.stops(StopReason::NotRetryable);
    call.failure.class = FailureClass::Throttled;
    call.stops(StopReason::RetriesDisabled);
    call.builder = call.builder.clone().max_retries(3);
    call.stops(StopReason::AttemptsExhausted);
    call.facts.retry = 2;
    call.stops(StopReason::HintOverCap);
    call.builder = call.builder.clone().over_cap(OverCap::Clamp);
    call.stops(StopReason::TimeBudget);
    call.facts.elapsed = SECOND;
    call.stops(StopReason::Deadline);
    call.facts.remaining = Some(2 * SECOND);
    assert_eq!(call.decide(), (Some(StopReason::RetryBudget), 1));
    call.token = true;
    assert_eq!(call.decide(), (None, 1));
}

struct Call {
    builder: RetryPolicyBuilder,
    failure: Failure,
    facts: Facts,
    token: bool,
}

impl Call {
    /// It stops for this reason, and a retry that would not be sent costs no token.
    #[track_caller]
    fn stops(&self, reason: StopReason) {
        assert_eq!(self.decide(), (Some(reason), 0));
    }

    /// Why it stops, and how often a token was asked for.
    fn decide(&self) -> (Option<StopReason>, u32) {
        let mut asked = 0;
        let withdraw = || {
            asked += 1;
            self.token
        };
        let policy = built(self.builder.clone());
        let mut rng = Rng::from_seed(1);
        let verdict = decide(
            &policy,
            &self.failure,
            &self.facts,
            None,
            &mut rng,
            withdraw,
        );
        (verdict.stop(), asked)
    }
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
    let words: Vec<_> = StopReason::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(
        words.join(", "),
        "not_retryable, retries_disabled, attempts_exhausted, time_budget, deadline, retry_budget, \
         server_said_no, hint_over_cap, content_delivered, cancelled"
    );
}
