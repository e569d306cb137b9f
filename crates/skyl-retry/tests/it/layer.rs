//! The `tower` layer.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, Ready, pending, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skyl_retry::{
    Clock, Failure, FailureClass, Hint, ManualClock, RetryBudget, RetryBudgetPolicy, RetryError,
    RetryLayer, RetryPolicy, Seeds, StopReason,
};
use tower::{BoxError, Layer, Service, ServiceExt, service_fn};

use crate::{SECOND, exact};

/// What a service answers: a status, or an error with a text.
type Answer = Result<u16, String>;

/// A server that follows a script, repeats its last line, and notes what it was sent.
#[derive(Clone)]
struct Script {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    seen: Arc<Mutex<Vec<Arc<str>>>>,
}

impl Script {
    fn new(answers: &[Answer]) -> Self {
        Self {
            answers: Arc::new(Mutex::new(answers.iter().cloned().collect())),
            seen: Arc::default(),
        }
    }

    fn answer(&self, request: Arc<str>) -> Answer {
        self.seen.lock().unwrap().push(request);
        let mut answers = self.answers.lock().unwrap();
        match answers.len() {
            1 => answers[0].clone(),
            _ => answers.pop_front().unwrap(),
        }
    }

    fn calls(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    fn service(
        &self,
    ) -> impl Service<Arc<str>, Response = u16, Error = BoxError, Future: Send> + Clone + Send + 'static
    {
        let script = self.clone();
        service_fn(move |request| ready(script.answer(request).map_err(BoxError::from)))
    }
}

fn classify(outcome: Result<&u16, &BoxError>) -> Option<Failure> {
    match outcome {
        Ok(429) => Some(
            Failure::new(FailureClass::Throttled)
                .with_status(429)
                .with_hint(Hint::Wait(7 * SECOND)),
        ),
        Ok(&status @ 500..) => Some(Failure::new(FailureClass::Server).with_status(status)),
        Ok(&status @ 400..) => Some(Failure::new(FailureClass::Permanent).with_status(status)),
        Ok(_) => None,
        Err(error) if error.to_string() == "final" => None,
        Err(_) => Some(Failure::new(FailureClass::ConnectionLost)),
    }
}

type Classify = fn(Result<&u16, &BoxError>) -> Option<Failure>;

fn layer(policy: RetryPolicy, clock: &ManualClock) -> RetryLayer<ManualClock, Classify> {
    RetryLayer::new(policy, clock.clone(), classify)
}

fn error(text: &str) -> Answer {
    Err(text.to_owned())
}

#[tokio::test]
async fn a_success_passes_untouched() {
    let (clock, script) = (ManualClock::skipping(), Script::new(&[Ok(200)]));
    let service = layer(RetryPolicy::chat(), &clock).layer(script.service());
    assert_eq!(service.oneshot("ask".into()).await.unwrap(), 200);
    assert_eq!(script.calls(), 1);
    assert_eq!(clock.sleeps(), []);
}

#[tokio::test]
async fn responses_and_errors_are_retried_as_the_caller_reads_them() {
    let clock = ManualClock::skipping();
    let script = Script::new(&[Ok(429), error("reset"), Ok(503), Ok(200)]);
    let service = layer(exact().build().unwrap(), &clock).layer(script.service());
    assert_eq!(service.oneshot("ask".into()).await.unwrap(), 200);
    assert_eq!(clock.sleeps(), [7 * SECOND, 2 * SECOND, 4 * SECOND]);
}

#[tokio::test]
async fn every_attempt_sends_the_same_request_by_reference_count() {
    let clock = ManualClock::skipping();
    let script = Script::new(&[Ok(503), Ok(503), Ok(200)]);
    let service = layer(RetryPolicy::chat(), &clock).layer(script.service());
    let request: Arc<str> = "a large body".into();
    service.oneshot(Arc::clone(&request)).await.unwrap();
    let seen = script.seen.lock().unwrap();
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|sent| Arc::ptr_eq(sent, &request)));
}

#[tokio::test]
async fn the_last_failed_response_comes_back_as_it_is() {
    for (answer, calls) in [(503, 4), (401, 1)] {
        let (clock, script) = (ManualClock::skipping(), Script::new(&[Ok(answer)]));
        let service = layer(RetryPolicy::chat(), &clock).layer(script.service());
        assert_eq!(service.oneshot("ask".into()).await.unwrap(), answer);
        assert_eq!(script.calls(), calls);
    }
}

#[tokio::test]
async fn the_last_error_comes_back_with_the_reason() {
    let (clock, script) = (ManualClock::skipping(), Script::new(&[error("reset")]));
    let service = layer(RetryPolicy::chat(), &clock).layer(script.service());
    let failed = service.oneshot("ask".into()).await.unwrap_err();
    assert_eq!(failed.reason(), StopReason::AttemptsExhausted);
    assert_eq!(failed.attempts(), 4);
    assert!(!failed.cut_in_flight());
    assert_eq!(
        failed.to_string(),
        "gave up after 4 attempts: no retry is left"
    );
    assert_eq!(failed.source().unwrap().to_string(), "reset");
    assert_eq!(failed.last().unwrap().to_string(), "reset");
    assert_eq!(failed.into_last().unwrap().to_string(), "reset");
}

#[tokio::test]
async fn an_error_that_is_no_failure_is_handed_back_and_pays_nothing() {
    let (clock, script) = (ManualClock::skipping(), Script::new(&[error("final")]));
    let budget = budget(0.0);
    let service = layer(RetryPolicy::chat(), &clock)
        .budget(Arc::clone(&budget))
        .layer(script.service());
    let failed = service.oneshot("ask".into()).await.unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (StopReason::NotRetryable, 1)
    );
    assert!(budget.balance(Duration::ZERO) < 0.1);
}

fn budget(initial: f64) -> Arc<RetryBudget> {
    let figures = RetryBudgetPolicy {
        ratio: 0.5,
        reserve_per_second: 0.0,
        capacity: 10.0,
        initial: Some(initial),
    };
    Arc::new(RetryBudget::new(&figures).unwrap())
}

#[tokio::test]
async fn services_of_one_layer_share_its_retry_budget() {
    let clock = ManualClock::skipping();
    let script = Script::new(&[Ok(503)]);
    let layer = layer(exact().max_retries(1).build().unwrap(), &clock).budget(budget(1.0));
    for calls in [2, 3] {
        let service = layer.clone().layer(script.service());
        assert_eq!(service.oneshot("ask".into()).await.unwrap(), 503);
        assert_eq!(script.calls(), calls, "the second call has no token left");
    }
    // Two successes pay for one more.
    let well = Script::new(&[Ok(200)]);
    for _ in 0..2 {
        layer
            .layer(well.service())
            .oneshot("ask".into())
            .await
            .unwrap();
    }
    layer
        .layer(script.service())
        .oneshot("ask".into())
        .await
        .unwrap();
    assert_eq!(script.calls(), 5);
}

#[tokio::test]
async fn a_policy_with_a_retry_budget_brings_it_along() {
    let clock = ManualClock::skipping();
    let policy = exact()
        .retry_budget(RetryBudgetPolicy {
            ratio: 0.0,
            reserve_per_second: 0.0,
            capacity: 1.0,
            initial: None,
        })
        .build()
        .unwrap();
    let script = Script::new(&[Ok(503)]);
    layer(policy.clone(), &clock)
        .layer(script.service())
        .oneshot("ask".into())
        .await
        .unwrap();
    assert_eq!(script.calls(), 2);
    // And it can be taken off.
    let free = layer(policy, &clock).budget(None).layer(script.service());
    free.oneshot("ask".into()).await.unwrap();
    assert_eq!(script.calls(), 6);
}

#[tokio::test]
async fn each_call_draws_its_own_waits_and_a_seed_repeats_them() {
    let draws = |seed| async move {
        let (clock, script) = (ManualClock::skipping(), Script::new(&[Ok(503)]));
        let layer = layer(RetryPolicy::chat(), &clock).seeds(Seeds::from_seed(seed));
        for _ in 0..2 {
            layer
                .layer(script.service())
                .oneshot("ask".into())
                .await
                .unwrap();
        }
        clock.sleeps()
    };
    let (first, again, other) = (draws(1).await, draws(1).await, draws(2).await);
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert_ne!(first[..3], first[3..], "two calls are not in step");
}

#[tokio::test]
async fn the_total_timeout_begins_no_wait_that_passes_it() {
    let (clock, script) = (ManualClock::skipping(), Script::new(&[Ok(429)]));
    let limited = layer(RetryPolicy::chat(), &clock).total_timeout(5 * SECOND);
    assert_eq!(
        limited
            .layer(script.service())
            .oneshot("ask".into())
            .await
            .unwrap(),
        429
    );
    assert_eq!((script.calls(), clock.sleeps()), (1, Vec::new()));

    let roomy = limited.total_timeout(60 * SECOND);
    roomy
        .layer(script.service())
        .oneshot("ask".into())
        .await
        .unwrap();
    assert_eq!(script.calls(), 1 + 4);
}

#[tokio::test]
async fn the_total_timeout_counts_from_the_call() {
    let (clock, script) = (ManualClock::skipping(), Script::new(&[Ok(200)]));
    let layer = layer(RetryPolicy::chat(), &clock).total_timeout(5 * SECOND);
    clock.advance(60 * SECOND);
    assert_eq!(
        layer
            .layer(script.service())
            .oneshot("ask".into())
            .await
            .unwrap(),
        200
    );

    let none = layer.total_timeout(Duration::ZERO).layer(script.service());
    let failed = none.oneshot("ask".into()).await.unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (StopReason::Deadline, 0)
    );
    assert!(failed.last().is_none() && failed.source().is_none());
}

#[tokio::test]
async fn the_attempt_timeout_is_a_fact_for_the_least_window() {
    // After a wait of 7 s there are 50 ms left: enough for attempts of half a second.
    for (timeout, calls) in [(None, 1), (Some(SECOND / 2), 2)] {
        let clock = ManualClock::skipping();
        let script = Script::new(&[Ok(429), Ok(401)]);
        let service = layer(RetryPolicy::chat(), &clock)
            .total_timeout(Duration::from_millis(7050))
            .attempt_timeout(timeout)
            .layer(script.service());
        service.oneshot("ask".into()).await.unwrap();
        assert_eq!(script.calls(), calls);
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn an_attempt_in_flight_is_cut_at_the_total_timeout() {
    let clock = ManualClock::new();
    let service = layer(RetryPolicy::chat(), &clock)
        .total_timeout(5 * SECOND)
        .layer(service_fn(async |()| {
            pending::<Result<u16, BoxError>>().await
        }));
    let mut call = pin!(service.oneshot(()));
    assert!(poll_once(call.as_mut()).is_pending());
    clock.advance(5 * SECOND);
    let Poll::Ready(Err(failed)) = poll_once(call) else {
        panic!("still running");
    };
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (StopReason::Deadline, 1)
    );
    assert!(failed.cut_in_flight());
}

#[test]
fn a_retry_that_is_cut_keeps_the_error_before_it_and_no_response() {
    for (first, last) in [(error("reset"), Some("reset")), (Ok(503), None)] {
        let clock = ManualClock::new();
        let script = Script::new(&[first, Ok(200)]);
        let service = layer(exact().build().unwrap(), &clock)
            .total_timeout(5 * SECOND)
            .layer(service_fn(move |request: Arc<str>| {
                let script = script.clone();
                async move {
                    if script.calls() == 1 {
                        pending::<()>().await;
                    }
                    script.answer(request).map_err(BoxError::from)
                }
            }));
        let mut call = pin!(service.oneshot("ask".into()));
        assert!(poll_once(call.as_mut()).is_pending());
        clock.advance(SECOND);
        assert!(poll_once(call.as_mut()).is_pending());
        clock.advance(4 * SECOND);
        let Poll::Ready(Err(failed)) = poll_once(call) else {
            panic!("still running");
        };
        assert_eq!(
            (failed.reason(), failed.attempts()),
            (StopReason::Deadline, 2)
        );
        assert!(failed.cut_in_flight());
        assert_eq!(failed.last().map(ToString::to_string).as_deref(), last);
    }
}

#[test]
fn dropping_a_call_ends_it_in_mid_wait() {
    let (clock, script) = (ManualClock::new(), Script::new(&[Ok(429)]));
    let service = layer(RetryPolicy::chat(), &clock).layer(script.service());
    {
        let mut call = pin!(service.oneshot("ask".into()));
        assert!(poll_once(call.as_mut()).is_pending());
        assert_eq!(clock.sleeps(), [7 * SECOND]);
    }
    clock.advance(60 * SECOND);
    assert!(poll_once(pin!(clock.until_sleeping())).is_pending());
    assert_eq!(script.calls(), 1);
}

#[test]
fn a_failed_response_is_let_go_before_the_wait() {
    let clock = ManualClock::new();
    let alive = Arc::new(());
    let answer = Arc::clone(&alive);
    let service = RetryLayer::new(
        RetryPolicy::chat(),
        clock.clone(),
        |_: Result<&Arc<()>, &Infallible>| Some(Failure::new(FailureClass::Server)),
    )
    .layer(service_fn(move |()| ready(Ok(Arc::clone(&answer)))));
    let mut call = pin!(service.oneshot(()));
    assert!(poll_once(call.as_mut()).is_pending());
    assert_eq!(clock.sleeps().len(), 1);
    assert_eq!(
        Arc::strong_count(&alive),
        2,
        "the service's own, and this one"
    );
}

#[tokio::test]
async fn what_follows_each_failure_is_told() {
    let clock = ManualClock::skipping();
    let script = Script::new(&[Ok(429), Ok(401)]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&told);
    let service = layer(RetryPolicy::chat(), &clock)
        .on_decision(move |attempt, failure, verdict| {
            log.lock()
                .unwrap()
                .push((attempt.number, failure.status, verdict.to_string()));
        })
        .layer(script.service());
    service.oneshot("ask".into()).await.unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        [
            (0, Some(429), "server asked for 7s".to_owned()),
            (
                1,
                Some(401),
                "stopped: a retry would get the same answer".to_owned()
            ),
        ]
    );
}

/// A service that counts how often it was made ready, and panics if called without.
struct Strict {
    ready: bool,
    polls: Arc<AtomicUsize>,
    // Each clone says "not yet" this often before it is ready.
    pending: usize,
    left: usize,
    // The poll, counted over all clones, from which on it is broken.
    fails_from: usize,
}

impl Strict {
    fn new(pending: usize, fails_from: usize) -> Self {
        Self {
            ready: false,
            polls: Arc::default(),
            pending,
            left: pending,
            fails_from,
        }
    }
}

/// A clone has not been made ready, whatever its parent was.
impl Clone for Strict {
    fn clone(&self) -> Self {
        Self {
            ready: false,
            polls: Arc::clone(&self.polls),
            pending: self.pending,
            left: self.pending,
            fails_from: self.fails_from,
        }
    }
}

impl Service<()> for Strict {
    type Response = u16;
    type Error = BoxError;
    type Future = Ready<Result<u16, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.polls.fetch_add(1, Ordering::Relaxed) >= self.fails_from {
            return Poll::Ready(Err("broken".into()));
        }
        if self.left > 0 {
            self.left -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: ()) -> Self::Future {
        assert!(
            std::mem::take(&mut self.ready),
            "called without being ready"
        );
        ready(Ok(503))
    }
}

#[tokio::test]
async fn each_attempt_is_called_on_a_service_that_is_ready_for_it() {
    for pending in [0, 2] {
        let clock = ManualClock::skipping();
        let strict = Strict::new(pending, usize::MAX);
        let polls = Arc::clone(&strict.polls);
        let mut service = layer(RetryPolicy::chat(), &clock).layer(strict);
        for calls in 1..=2 {
            assert_eq!(service.ready().await.unwrap().call(()).await.unwrap(), 503);
            // Four attempts, each of which was made ready once, the first of them by the caller.
            let readied = 4 * (pending + 1);
            assert_eq!(polls.load(Ordering::Relaxed), calls * readied);
        }
    }
}

#[tokio::test]
async fn a_service_that_never_becomes_ready_says_so_before_any_attempt() {
    let clock = ManualClock::skipping();
    let mut service = layer(RetryPolicy::chat(), &clock).layer(Strict::new(0, 0));
    let failed = service.ready().await.map(|_| ()).unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (StopReason::NotRetryable, 0)
    );
    assert_eq!(failed.source().unwrap().to_string(), "broken");
}

#[tokio::test]
async fn a_service_that_breaks_before_a_retry_gives_that_attempts_error() {
    let clock = ManualClock::skipping();
    let service = layer(RetryPolicy::chat(), &clock).layer(Strict::new(0, 1));
    let failed = service.oneshot(()).await.unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (StopReason::AttemptsExhausted, 4)
    );
    assert_eq!(failed.into_last().unwrap().to_string(), "broken");
}

#[test]
fn a_retry_waits_for_readiness_no_longer_than_the_total_timeout() {
    #[derive(Clone)]
    struct Once(Arc<AtomicUsize>);

    impl Service<()> for Once {
        type Response = u16;
        type Error = BoxError;
        type Future = Ready<Result<u16, BoxError>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 => Poll::Ready(Ok(())),
                _ => Poll::Pending,
            }
        }

        fn call(&mut self, _request: ()) -> Self::Future {
            ready(Err("reset".into()))
        }
    }

    let clock = ManualClock::new();
    let layer = layer(exact().build().unwrap(), &clock).total_timeout(5 * SECOND);
    let mut call = pin!(layer.layer(Once(Arc::default())).oneshot(()));
    assert!(poll_once(call.as_mut()).is_pending());
    clock.advance(SECOND);
    assert!(poll_once(call.as_mut()).is_pending());
    clock.advance(4 * SECOND);
    let Poll::Ready(Err(failed)) = poll_once(call) else {
        panic!("still waiting");
    };
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (StopReason::Deadline, 2)
    );
    assert_eq!(failed.last().unwrap().to_string(), "reset");
}

#[tokio::test]
async fn it_stacks_with_layers_that_box_their_errors() {
    let (clock, script) = (ManualClock::skipping(), Script::new(&[error("reset")]));
    let service = tower::ServiceBuilder::new()
        .map_err(BoxError::from)
        .layer(layer(RetryPolicy::chat(), &clock))
        .map_err(|error: BoxError| error)
        .service(script.service());
    let failed = service.oneshot("ask".into()).await.unwrap_err();
    assert_eq!(failed.downcast_ref::<RetryError>().unwrap().attempts(), 4);
}

#[test]
fn calls_and_services_go_between_threads() {
    fn goes<T: Send>(_: &T) {}
    let clock = ManualClock::skipping();
    let mut service = layer(RetryPolicy::chat(), &clock).layer(Script::new(&[Ok(200)]).service());
    goes(&service.call("ask".into()));
    goes(&service);
    assert_eq!(clock.now(), Duration::ZERO);
}

#[test]
fn services_show_their_settings_and_what_they_wrap() {
    let clock = ManualClock::skipping();
    let layer = layer(RetryPolicy::chat(), &clock);
    let service = layer.layer("the service below");
    assert_eq!(*service.get_ref(), "the service below");
    let shown = format!("{layer:?} {:?}", service.clone());
    assert!(
        shown.contains("max_retries: 3") && shown.contains("the service below"),
        "{shown}"
    );
}
