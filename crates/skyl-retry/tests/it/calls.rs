//! Whole calls: what is tried, when, and what comes back.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use skyl_retry::{
    Attempt, Choice, Clock, Failure, FailureClass, Jitter, ManualClock, RetryBudget,
    RetryBudgetPolicy, RetryPolicy, Rng, StopReason, Stopped, Verdict, WaitSource, retry,
};

use crate::{Outcome, SECOND, Script, classify, exact};

#[tokio::test]
async fn a_first_success_is_one_attempt() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Ok]);
    let policy = RetryPolicy::chat();
    let answer = retry(&policy, &clock)
        .run(async |_| script.attempt(), classify)
        .await;
    assert_eq!(answer, Ok("answer"));
    assert_eq!(script.called_at(), [0.0]);
    assert_eq!(clock.sleeps(), []);
}

/// A clock nobody may look at.
struct Untouchable;

impl Clock for Untouchable {
    type Sleep = std::future::Pending<()>;

    fn now(&self) -> Duration {
        panic!("the clock was read")
    }

    fn wall(&self) -> SystemTime {
        panic!("the wall clock was read")
    }

    fn sleep(&self, _: Duration) -> Self::Sleep {
        panic!("something slept")
    }
}

#[tokio::test]
async fn a_first_success_reads_no_clock() {
    let policy = RetryPolicy::fleet();
    let budget = RetryBudget::for_policy(&policy).unwrap();
    let answer = retry(&policy, &Untouchable)
        .budget(&*budget)
        .attempt_timeout(SECOND)
        .run(async |_| Ok::<_, Outcome>(1), classify)
        .await;
    assert_eq!(answer, Ok(1));
}

#[tokio::test]
async fn a_final_failure_reads_no_clock_either() {
    let policy = RetryPolicy::chat();
    let stopped = retry(&policy, &Untouchable)
        .run(async |_| Err::<(), _>(Outcome::Status(401)), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.reason, StopReason::NotRetryable);
}

#[tokio::test]
async fn each_attempt_begins_after_the_wait_before_it() {
    let clock = ManualClock::skipping();
    let script = Script::new(
        &clock,
        &[Outcome::Status(503), Outcome::Status(503), Outcome::Ok],
    );
    let policy = exact().build().unwrap();
    // What the synchronous part of the operation builds is built after the wait, too: signatures
    // and time stamps must not be stale.
    let built = RefCell::new(Vec::new());
    let operation = |attempt: Attempt| {
        built.borrow_mut().push((attempt.number, clock.now()));
        let outcome = script.attempt();
        async move { outcome }
    };
    let answer = retry(&policy, &clock).run(operation, classify).await;
    assert_eq!(answer, Ok("answer"));
    assert_eq!(script.called_at(), [0.0, 1.0, 3.0]);
    assert_eq!(
        built.into_inner(),
        [(0, Duration::ZERO), (1, SECOND), (2, 3 * SECOND)]
    );
}

#[tokio::test]
async fn when_no_retry_is_left_the_last_error_comes_back() {
    let clock = ManualClock::skipping();
    let script = Script::new(
        &clock,
        &[
            Outcome::Status(500),
            Outcome::Status(502),
            Outcome::Status(503),
            Outcome::Status(529),
        ],
    );
    let policy = RetryPolicy::chat();
    let stopped = retry(&policy, &clock)
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.reason, StopReason::AttemptsExhausted);
    assert_eq!(stopped.attempts, 4);
    assert_eq!(stopped.last, Some(Outcome::Status(529)));
    assert!(!stopped.cut_in_flight);
    assert_eq!(script.called_at().len(), 4);
}

#[tokio::test]
async fn with_retries_off_there_is_one_attempt() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Status(503)]);
    let policy = RetryPolicy::builder().max_retries(0).build().unwrap();
    let stopped = retry(&policy, &clock)
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(
        (stopped.reason, stopped.attempts),
        (StopReason::RetriesDisabled, 1)
    );
    assert_eq!(script.called_at().len(), 1);
}

#[tokio::test]
async fn what_is_final_is_tried_once() {
    for outcome in [
        Outcome::Status(400),
        Outcome::Status(401),
        Outcome::Certificate,
    ] {
        let clock = ManualClock::skipping();
        let script = [outcome];
        let script = Script::new(&clock, &script);
        let policy = RetryPolicy::chat();
        let stopped = retry(&policy, &clock)
            .run(async |_| script.attempt(), classify)
            .await
            .unwrap_err();
        assert_eq!(stopped.reason, StopReason::NotRetryable);
        assert_eq!(stopped.last, Some(outcome));
        assert_eq!(script.called_at().len(), 1);
    }
}

#[tokio::test]
async fn the_servers_wait_is_slept_to_the_letter() {
    let clock = ManualClock::skipping();
    let script = Script::new(
        &clock,
        &[Outcome::Asks(429, 7), Outcome::Asks(429, 3600), Outcome::Ok],
    );
    let policy = RetryPolicy::chat();
    let answer = retry(&policy, &clock)
        .run(async |_| script.attempt(), classify)
        .await;
    assert_eq!(answer, Ok("answer"));
    assert_eq!(clock.sleeps(), [7 * SECOND, 300 * SECOND]);
}

#[tokio::test]
async fn fast_tests_shrink_the_waits_and_nothing_else() {
    // Seed 000: the same retries, negligible time, the server's wait capped as well.
    let clock = ManualClock::skipping();
    let script = Script::new(
        &clock,
        &[Outcome::Asks(429, 1), Outcome::Status(503), Outcome::Ok],
    );
    let policy = RetryPolicy::builder()
        .initial_delay(Duration::from_millis(1))
        .max_delay(Duration::from_millis(10))
        .max_retry_after(Duration::from_millis(50))
        .build()
        .unwrap();
    let answer = retry(&policy, &clock)
        .run(async |_| script.attempt(), classify)
        .await;
    assert_eq!(answer, Ok("answer"));
    assert_eq!(clock.sleeps()[0], Duration::from_millis(50));
    assert!(clock.sleeps()[1] <= Duration::from_millis(2));
}

#[tokio::test]
async fn the_time_budget_counts_attempts_and_waits() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Status(503)]).taking(4 * SECOND);
    // 4 s, wait 1 s, 4 s: at 9 s a wait of 2 s would pass a budget of 10 s.
    let policy = exact().max_retries(9).budget(10 * SECOND).build().unwrap();
    let stopped = retry(&policy, &clock)
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.reason, StopReason::TimeBudget);
    assert_eq!(stopped.last, Some(Outcome::Status(503)));
    assert_eq!(script.called_at(), [0.0, 5.0]);
    assert_eq!(clock.now(), 9 * SECOND, "the refused wait was not begun");
}

#[tokio::test]
async fn the_time_budget_counts_from_the_beginning_of_the_call() {
    let clock = ManualClock::skipping();
    clock.advance(3600 * SECOND);
    let script = Script::new(&clock, &[Outcome::Status(503), Outcome::Ok]);
    let policy = exact().budget(SECOND).build().unwrap();
    let answer = retry(&policy, &clock)
        .run(async |_| script.attempt(), classify)
        .await;
    assert_eq!(answer, Ok("answer"));
}

#[tokio::test]
async fn the_time_budget_never_cuts_an_attempt() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Ok]).taking(3600 * SECOND);
    let policy = exact().budget(SECOND).build().unwrap();
    let answer = retry(&policy, &clock)
        .run(async |_| script.attempt(), classify)
        .await;
    assert_eq!(answer, Ok("answer"));
}

#[tokio::test]
async fn steps_of_the_wall_clock_change_nothing() {
    let clock = ManualClock::skipping();
    let script = Script::new(
        &clock,
        &[Outcome::Status(503), Outcome::Status(503), Outcome::Ok],
    );
    let policy = exact().budget(60 * SECOND).build().unwrap();
    let answer = retry(&policy, &clock)
        .run(
            async |attempt| {
                let hour = 3600 * SECOND;
                let wall = clock.wall();
                clock.set_wall(if attempt.number == 0 {
                    wall - hour
                } else {
                    wall + 2 * hour
                });
                script.attempt()
            },
            classify,
        )
        .await;
    assert_eq!(answer, Ok("answer"));
    assert_eq!(script.called_at(), [0.0, 1.0, 3.0]);
}

fn tokens(initial: f64) -> RetryBudget {
    let policy = RetryBudgetPolicy {
        ratio: 0.25,
        reserve_per_second: 0.0,
        capacity: 10.0,
        initial: Some(initial),
    };
    RetryBudget::new(&policy).unwrap()
}

#[tokio::test]
async fn an_empty_retry_budget_stops_retries_and_never_calls() {
    let clock = ManualClock::skipping();
    let budget = tokens(2.0);
    let policy = exact().build().unwrap();
    for (attempts, reason) in [(3, StopReason::RetryBudget), (1, StopReason::RetryBudget)] {
        let script = Script::new(&clock, &[Outcome::Status(503)]);
        let stopped = retry(&policy, &clock)
            .budget(&budget)
            .run(async |_| script.attempt(), classify)
            .await
            .unwrap_err();
        assert_eq!((stopped.attempts, stopped.reason), (attempts, reason));
        assert_eq!(stopped.last, Some(Outcome::Status(503)));
    }
}

#[tokio::test]
async fn a_successful_call_deposits_once_and_a_failed_one_nothing() {
    let clock = ManualClock::skipping();
    let budget = tokens(3.0);
    let policy = exact().build().unwrap();
    let balance = || budget.balance(clock.now());
    let run = async |outcomes: &[Outcome]| {
        let script = Script::new(&clock, outcomes);
        retry(&policy, &clock)
            .budget(&budget)
            .run(async |_| script.attempt(), classify)
            .await
            .is_ok()
    };
    assert!(run(&[Outcome::Ok]).await);
    assert!((balance() - 3.25).abs() < 1e-6);
    assert!(run(&[Outcome::Status(503), Outcome::Status(503), Outcome::Ok]).await);
    assert!((balance() - 1.5).abs() < 1e-6, "two retries, one success");
    assert!(!run(&[Outcome::Status(401)]).await);
    assert!((balance() - 1.5).abs() < 1e-6);
}

#[tokio::test]
async fn the_callers_choice_is_asked_once_per_failed_attempt() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Status(401)]);
    let policy = exact().build().unwrap();
    let mut asked = Vec::new();
    let stopped = retry(&policy, &clock)
        .should_retry(|failure| {
            asked.push(failure.status);
            Choice::Retry
        })
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.reason, StopReason::AttemptsExhausted);
    assert_eq!(asked, [Some(401); 4], "the last one included");
}

#[tokio::test]
async fn the_caller_can_stop_what_the_table_would_retry() {
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Status(503)]);
    let policy = RetryPolicy::chat();
    let stopped = retry(&policy, &clock)
        .should_retry(|_| Choice::Stop)
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(
        (stopped.reason, stopped.attempts),
        (StopReason::NotRetryable, 1)
    );
}

#[tokio::test]
async fn vetoes_are_not_put_to_the_caller() {
    let delivered = |_: &Outcome| Failure::new(FailureClass::Server).with_delivered(true);
    let clock = ManualClock::skipping();
    let script = Script::new(&clock, &[Outcome::Certificate]);
    let policy = RetryPolicy::chat();
    let asked = Cell::new(0);
    let ask = |_: &Failure| {
        asked.set(asked.get() + 1);
        Choice::Retry
    };
    let attempt = async |_| script.attempt();
    let certificate = retry(&policy, &clock)
        .should_retry(ask)
        .run(attempt, classify)
        .await;
    assert_eq!(certificate.unwrap_err().reason, StopReason::NotRetryable);
    let streamed = retry(&policy, &clock)
        .should_retry(ask)
        .run(attempt, delivered)
        .await;
    assert_eq!(streamed.unwrap_err().reason, StopReason::ContentDelivered);
    let cancelled = retry(&policy, &clock)
        .should_retry(ask)
        .cancel_on(async {})
        .run(attempt, classify)
        .await;
    assert_eq!(cancelled.unwrap_err().reason, StopReason::Cancelled);
    assert_eq!(asked.get(), 0);
}

#[tokio::test]
async fn every_decision_is_told_before_its_wait() {
    let clock = ManualClock::skipping();
    let script = Script::new(
        &clock,
        &[
            Outcome::Status(503),
            Outcome::Asks(429, 5),
            Outcome::Status(401),
        ],
    );
    let policy = exact().build().unwrap();
    let mut told = Vec::new();
    let stopped = retry(&policy, &clock)
        .on_decision(|attempt: &Attempt, error: &Outcome, verdict: &Verdict| {
            told.push((attempt.number, *error, verdict.to_string(), clock.now()));
        })
        .run(async |_| script.attempt(), classify)
        .await
        .unwrap_err();
    assert_eq!(stopped.attempts, 3);
    let expected = [
        (0, Outcome::Status(503), "backoff 1s of at most 1s", 0),
        (1, Outcome::Asks(429, 5), "server asked for 5s", 1),
        (
            2,
            Outcome::Status(401),
            "stopped: a retry would get the same answer",
            6,
        ),
    ];
    let expected =
        expected.map(|(number, error, text, at)| (number, error, text.to_owned(), at * SECOND));
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_seeded_call_repeats_and_others_never_go_in_step() {
    let policy = RetryPolicy::chat();
    let sleeps = async |rng: Option<Rng>| {
        let clock = ManualClock::skipping();
        let call = retry(&policy, &clock);
        let call = match rng {
            Some(rng) => call.rng(rng),
            None => call,
        };
        let stopped = call
            .run(async |_| Err::<(), _>(Outcome::Status(503)), classify)
            .await;
        assert!(stopped.is_err());
        clock.sleeps()
    };
    let first = sleeps(Some(Rng::from_seed(9))).await;
    assert_eq!(first, sleeps(Some(Rng::from_seed(9))).await);
    assert_ne!(first, sleeps(Some(Rng::from_seed(10))).await);
    assert_ne!(sleeps(None).await, sleeps(None).await);
}

#[tokio::test]
async fn decorrelated_waits_grow_from_the_call_s_own_draws() {
    let clock = ManualClock::skipping();
    let policy = RetryPolicy::builder()
        .jitter(Jitter::Decorrelated)
        .initial_delay(SECOND)
        .max_delay(3600 * SECOND)
        .max_retries(6)
        .build()
        .unwrap();
    let mut ceilings = Vec::new();
    let stopped = retry(&policy, &clock)
        .rng(Rng::from_seed(1))
        .on_decision(|_, _: &Outcome, verdict| {
            if let Some(WaitSource::Backoff { ceiling, .. }) = verdict.wait {
                ceilings.push(ceiling);
            }
        })
        .run(async |_| Err::<(), _>(Outcome::Status(503)), classify)
        .await;
    assert!(stopped.is_err());
    let mut previous = SECOND;
    for (ceiling, slept) in ceilings.iter().zip(clock.sleeps()) {
        assert_eq!(*ceiling, previous * 3);
        previous = slept;
    }
    assert_eq!(ceilings.len(), 6);
}

#[derive(Debug)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken pipe")
    }
}

impl Error for Broken {}

#[tokio::test]
async fn an_end_says_attempts_and_reason_and_keeps_the_cause_apart() {
    let clock = ManualClock::skipping();
    let policy = RetryPolicy::chat();
    let stopped: Stopped<Broken> = retry(&policy, &clock)
        .run(
            async |_| Err::<(), _>(Broken),
            |_| Failure::new(FailureClass::ConnectionLost),
        )
        .await
        .unwrap_err();
    assert_eq!(
        stopped.to_string(),
        "gave up after 4 attempts: no retry is left"
    );
    assert_eq!(stopped.source().unwrap().to_string(), "broken pipe");

    let policy = RetryPolicy::builder().max_retries(0).build().unwrap();
    let once: Stopped<Broken> = retry(&policy, &clock)
        .run(
            async |_| Err::<(), _>(Broken),
            |_| Failure::new(FailureClass::ConnectionLost),
        )
        .await
        .unwrap_err();
    assert_eq!(once.to_string(), "gave up after 1 attempt: retries are off");
}
