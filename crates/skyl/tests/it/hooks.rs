//! Hooks: every attempt, before the wait, and nothing they do harms the call.

use std::panic::{set_hook, take_hook};
use std::sync::{Arc, Mutex};

use skyl::{Clock, ErrorKind, HookEvent, Operation};
use skyl_retry::ManualClock;

use crate::raw::{Raw, json, ok, reply};
use crate::support::{Bench, Events, bench, bench_on, bench_with, request, secs};

#[tokio::test]
async fn an_event_tells_what_happened() {
    let limited = reply(
        429,
        &[("Retry-After", "2"), ("x-request-id", "req_1")],
        "{}",
    );
    let server = Raw::serve(vec![limited, ok("Paris")]).await;
    let Bench { client, events, .. } = bench(&server);
    client.complete(&request()).await.unwrap();

    let [first, second] = <[_; 2]>::try_from(events.all()).unwrap();
    assert_eq!(first.operation, Operation::Complete);
    assert_eq!(first.model.as_deref(), Some("gpt-asked"));
    assert_eq!((first.attempt, first.status), (0, Some(429)));
    assert_eq!(first.kind, Some(ErrorKind::RateLimit));
    assert_eq!(
        first.error.as_deref(),
        Some("skyl: openai: rate limited (http 429)")
    );
    assert_eq!(first.request_id.as_deref(), Some("req_1"));
    assert_eq!((first.will_retry, first.wait), (true, Some(secs(2))));
    assert_eq!((first.input_tokens, first.stop_reason), (None, None));

    assert_eq!(
        (second.attempt, second.status, second.kind),
        (1, Some(200), None)
    );
    assert_eq!(second.served_model.as_deref(), Some("gpt-served"));
    assert_eq!(
        (second.input_tokens, second.stop_reason),
        (Some(5), Some("end_turn"))
    );
    assert_eq!(
        (second.will_retry, second.wait, second.retry_stop),
        (false, None, None)
    );
    assert!(!second.completed && second.first_content.is_none());
}

#[tokio::test]
async fn the_event_comes_before_the_wait() {
    let server = Raw::serve(vec![
        reply(503, &[("Retry-After", "30")], "{}"),
        ok("Paris"),
    ])
    .await;
    let clock = ManualClock::skipping();
    let times = Arc::new(Mutex::new(Vec::new()));
    let (log, hook_clock) = (times.clone(), clock.clone());
    let Bench { client, .. } = bench_on(clock, &server.base_url(), |builder| {
        builder.hook(move |_: &HookEvent| log.lock().unwrap().push(hook_clock.now()))
    });
    client.complete(&request()).await.unwrap();
    assert_eq!(*times.lock().unwrap(), [secs(0), secs(30)]);
}

#[tokio::test]
async fn all_hooks_hear_all_events_in_their_order() {
    let server = Raw::serve(vec![json(503, "{}"), ok("Paris")]).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let (first, second) = (order.clone(), order.clone());
    let Bench { client, .. } = bench_with(&server, |builder| {
        builder
            .hook(move |event| first.lock().unwrap().push((1, event.attempt())))
            .hook(move |event| second.lock().unwrap().push((2, event.attempt())))
    });
    client.complete(&request()).await.unwrap();
    assert_eq!(*order.lock().unwrap(), [(1, 0), (2, 0), (1, 1), (2, 1)]);
}

#[tokio::test]
async fn a_hook_that_panics_loses_no_response_and_no_other_hook() {
    let server = Raw::serve(vec![json(503, "{}"), ok("Paris")]).await;
    let heard = Events::default();
    let Bench { client, .. } = bench_with(&server, |builder| {
        builder
            .hook(|_| panic!("a hook's own mistake"))
            .hook(heard.hook())
    });
    // The panic is meant; its message need not be in the tests' output.
    let print = take_hook();
    set_hook(Box::new(|_| {}));
    let answer = client.complete(&request()).await;
    set_hook(print);
    assert_eq!(answer.unwrap().text(), "Paris");
    assert_eq!(heard.all().len(), 2);
}

#[tokio::test]
async fn refusals_before_any_network_fire_nothing() {
    let server = Raw::serve(vec![ok("never")]).await;
    let Bench { client, events, .. } = bench(&server);
    let error = client
        .complete(&skyl::Request::new("gpt").stop("x"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert_eq!(
        error.to_string(),
        "skyl: openai: invalid request: there are no messages"
    );
    assert!(error.attempts().is_empty() && error.retry_stop().is_none());
    assert_eq!(error.sent(), skyl::Sent::No);

    let mut many_stops = request();
    many_stops.stop = vec!["x".into(); 5];
    let error = client.complete(&many_stops).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error
            .to_string()
            .starts_with("skyl: openai: unsupported by this provider: ")
    );
    assert!(events.all().is_empty() && server.requests().is_empty());
}

#[tokio::test]
async fn calls_have_ids_of_their_own() {
    let server = Raw::serve(vec![ok("Paris")]).await;
    let one = bench(&server);
    let other = bench(&server);
    for bench in [&one, &one, &other] {
        bench.client.complete(&request()).await.unwrap();
    }
    let mut calls: Vec<_> = one
        .events
        .all()
        .into_iter()
        .chain(other.events.all())
        .map(|event| event.call)
        .collect();
    calls.sort();
    calls.dedup();
    assert_eq!(calls.len(), 3, "also for clients of one seed: {calls:?}");
}
