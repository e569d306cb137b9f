//! Cancelling: at once, everywhere, and with the last real error kept.

use std::future::{pending, ready};

use skyl::{CallOptions, Clock, ErrorKind, RetryStop, Sent};
use skyl_retry::ManualClock;
use tokio::sync::oneshot;

use crate::raw::{Act, Raw, delta, json, ok, reply, sse_open};
use crate::support::{Bench, bench, bench_on, drain, request, secs, text};

fn wait_30() -> Vec<Act> {
    reply(429, &[("Retry-After", "30")], "{}")
}

// openai/openai-node#2580, vercel/ai#7656: an abort settled only when the wait had ended
#[tokio::test]
async fn cancelling_in_a_wait_ends_it_at_once_and_keeps_the_429() {
    let server = Raw::serve(vec![wait_30(), ok("never")]).await;
    let Bench {
        client,
        clock,
        events,
    } = bench_on(ManualClock::new(), &server.base_url(), |b| b);
    let (cancel, cancelled) = oneshot::channel::<()>();
    let request = request();
    let call = client.complete_with(&request, CallOptions::new().cancel_on(cancelled));
    let user = async {
        clock.until_sleeping().await;
        cancel.send(()).unwrap();
        pending::<()>().await;
    };
    let error =
        tokio::select! { outcome = call => outcome.unwrap_err(), () = user => unreachable!() };

    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(error.to_string(), "skyl: openai: cancelled");
    assert_eq!(error.retry_stop(), Some(RetryStop::Cancelled));
    let last = error.last_error().unwrap();
    assert_eq!(
        (last.kind(), last.retry_after()),
        (ErrorKind::RateLimit, Some(secs(30)))
    );
    assert_eq!(clock.now(), secs(0), "the clock has not moved");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(error.attempts().len(), 1);
    assert_eq!(
        error.attempts()[0].wait,
        Some(secs(30)),
        "the wait was planned"
    );
    assert_eq!(events.all().len(), 1, "its event was fired before the wait");
}

#[tokio::test]
async fn dropping_the_call_in_a_wait_ends_it_too() {
    let server = Raw::serve(vec![wait_30(), ok("never")]).await;
    let Bench {
        client,
        clock,
        events,
    } = bench_on(ManualClock::new(), &server.base_url(), |b| b);
    let request = request();
    tokio::select! {
        _ = client.complete(&request) => unreachable!(),
        _ = clock.until_sleeping() => {}
    }
    assert_eq!(server.requests().len(), 1);
    assert_eq!(events.all().len(), 1);
    clock.advance(secs(60));
    tokio::task::yield_now().await;
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn cancelling_in_flight_ends_the_attempt_and_closes_its_connection() {
    let mut server = Raw::serve(vec![json(503, "{}"), vec![Act::Hang]]).await;
    let Bench { client, events, .. } = bench(&server);
    let (cancel, cancelled) = oneshot::channel::<()>();
    let request = request();
    let call = client.complete_with(&request, CallOptions::new().cancel_on(cancelled));
    let user = async {
        while server.requests().len() < 2 {
            tokio::task::yield_now().await;
        }
        cancel.send(()).unwrap();
        pending::<()>().await;
    };
    let error =
        tokio::select! { outcome = call => outcome.unwrap_err(), () = user => unreachable!() };

    assert_eq!(
        (error.kind(), error.sent()),
        (ErrorKind::Cancelled, Sent::Maybe)
    );
    assert_eq!(error.last_error().unwrap().kind(), ErrorKind::Server);
    let kinds: Vec<_> = error
        .attempts()
        .iter()
        .map(|attempt| attempt.kind)
        .collect();
    assert_eq!(kinds, [Some(ErrorKind::Server), Some(ErrorKind::Cancelled)]);
    assert_eq!(events.all()[1].retry_stop, Some(RetryStop::Cancelled));
    server.all_closed().await;
}

#[tokio::test]
async fn dropping_the_call_in_flight_fires_the_event_of_its_attempt() {
    let mut server = Raw::serve(vec![vec![Act::Hang]]).await;
    let Bench { client, events, .. } = bench(&server);
    let request = request();
    let seen = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! { _ = client.complete(&request) => unreachable!(), () = seen => {} }
    let events = events.all();
    assert_eq!(events.len(), 1);
    assert_eq!(
        (events[0].kind, events[0].will_retry),
        (Some(ErrorKind::Cancelled), false)
    );
    server.all_closed().await;
}

#[tokio::test]
async fn a_call_cancelled_before_it_began_sends_nothing() {
    let server = Raw::serve(vec![ok("never")]).await;
    let Bench { client, events, .. } = bench(&server);
    let options = CallOptions::new().cancel_on(ready(()));
    let error = client.complete_with(&request(), options).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.sent()),
        (ErrorKind::Cancelled, Sent::No)
    );
    assert!(error.attempts().is_empty() && events.all().is_empty());
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_cancellation_that_never_comes_changes_nothing() {
    let server = Raw::serve(vec![json(503, "{}"), ok("Paris")]).await;
    let options = CallOptions::new().cancel_on(pending::<()>());
    let answer = bench(&server)
        .client
        .complete_with(&request(), options)
        .await
        .unwrap();
    assert_eq!(answer.text(), "Paris");
}

// langwatch/langwatch#6604: cancelled while failing, the next attempt still ran
#[tokio::test]
async fn cancellation_seen_after_a_failed_attempt_wins_over_the_failure() {
    let server = Raw::serve(vec![json(503, "{}"), ok("never")]).await;
    let (cancel, cancelled) = oneshot::channel::<()>();
    let cancel = std::sync::Mutex::new(Some(cancel));
    // The caller's own classifier cancels, so the failure and the cancellation come together; the
    // engine looks again before it waits.
    let Bench { client, clock, .. } = bench_on(ManualClock::skipping(), &server.base_url(), |b| {
        b.hook(move |_| {
            if let Some(cancel) = cancel.lock().unwrap().take() {
                cancel.send(()).unwrap();
            }
        })
    });
    let options = CallOptions::new().cancel_on(cancelled);
    let error = client.complete_with(&request(), options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(error.last_error().unwrap().status(), Some(503));
    assert_eq!(server.requests().len(), 1);
    assert!(clock.sleeps().is_empty(), "cancelled before the wait began");
}

#[tokio::test]
async fn cancelling_a_stream_ends_it_and_closes_its_connection() {
    let mut server = Raw::serve(vec![[sse_open(&[&delta("Par")]), vec![Act::Hang]].concat()]).await;
    let Bench { client, .. } = bench(&server);
    let (cancel, cancelled) = oneshot::channel::<()>();
    let options = CallOptions::new().cancel_on(cancelled);
    let mut stream = client.stream_with(&request(), options).await.unwrap();
    cancel.send(()).unwrap();

    let (events, error) = drain(&mut stream).await;

    assert_eq!(text(&events), "Par", "what has arrived is handed out first");
    let error = error.unwrap();
    assert_eq!(
        (error.kind(), error.delivered()),
        (ErrorKind::Cancelled, true)
    );
    assert_eq!(error.retry_stop(), Some(RetryStop::Cancelled));
    assert!(stream.next().await.is_none());
    server.all_closed().await;
}
