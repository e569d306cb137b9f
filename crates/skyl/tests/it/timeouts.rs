//! Attempt timeouts are retried; deadlines are final; nothing waits on the real clock.

use std::future::Future;
use std::time::Duration;

use skyl::{CallOptions, Clock, ErrorKind, RetryStop, Sent};
use skyl_retry::ManualClock;

use crate::raw::{Act, Raw, chunk, delta, finish, json, ok, reply, role, sse_open};
use crate::support::{Bench, bench_on, drain, request, secs, statuses, text};

/// Runs the call, and moves the clock on once the server has seen `requests` of them.
async fn while_moving<T>(
    call: impl Future<Output = T>,
    clock: &ManualClock,
    server: &Raw,
    moves: &[(usize, Duration)],
) -> T {
    let moving = async {
        for (requests, by) in moves {
            while server.requests().len() < *requests {
                tokio::task::yield_now().await;
            }
            clock.advance(*by);
        }
        std::future::pending::<()>().await;
    };
    tokio::select! { outcome = call => outcome, () = moving => unreachable!() }
}

async fn stalled(
    set: impl FnOnce(skyl::ClientBuilder) -> skyl::ClientBuilder,
    script: Vec<Vec<Act>>,
) -> (Raw, Bench) {
    let server = Raw::serve(script).await;
    let bench = bench_on(ManualClock::skipping(), &server.base_url(), set);
    (server, bench)
}

#[tokio::test]
async fn an_attempt_timeout_is_retried() {
    let (server, bench) = stalled(
        |builder| builder.attempt_timeout(secs(90)),
        vec![vec![Act::Hang], ok("Paris")],
    )
    .await;
    let request = request();
    let call = bench.client.complete(&request);
    let answer = while_moving(call, &bench.clock, &server, &[(1, secs(90))])
        .await
        .unwrap();
    let first = answer.attempts()[0];
    assert_eq!((first.kind, first.status), (Some(ErrorKind::Timeout), None));
    assert_eq!(first.duration, secs(90));
}

#[tokio::test]
async fn an_attempt_that_always_times_out_says_so() {
    let (server, bench) = stalled(
        |builder| builder.attempt_timeout(secs(90)).max_retries(1),
        vec![vec![Act::Hang]],
    )
    .await;
    let request = request();
    let call = bench.client.complete(&request);
    let moves = [(1, secs(91)), (2, secs(91))];
    let error = while_moving(call, &bench.clock, &server, &moves)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "skyl: giving up after 2 attempts: skyl: openai: attempt timed out: no answer within 1m30s"
    );
    assert_eq!((error.sent(), error.retryable()), (Sent::Maybe, true));
    assert_eq!(error.status(), None);
}

// openai/openai-node#1825: the timer was cleared when the headers arrived
#[tokio::test]
async fn the_attempt_timeout_spans_the_body() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{";
    let (server, bench) = stalled(
        |builder| builder,
        vec![vec![Act::Send(head.into()), Act::Hang], ok("Paris")],
    )
    .await;
    let request = request();
    let call = bench.client.complete(&request);
    let answer = while_moving(call, &bench.clock, &server, &[(1, secs(600))])
        .await
        .unwrap();
    let first = answer.attempts()[0];
    assert_eq!(
        first.kind,
        Some(ErrorKind::Timeout),
        "after the default of ten minutes"
    );
    assert!(matches!(first.status, None | Some(200)));
}

#[tokio::test]
async fn no_attempt_timeout_fires_before_its_time() {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let mut acts = vec![Act::Wait(go.clone())];
    acts.extend(ok("Paris"));
    let (server, bench) = stalled(|builder| builder.attempt_timeout(secs(90)), vec![acts]).await;
    let request = request();
    let call = bench.client.complete(&request);
    let mover = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        bench.clock.advance(secs(89));
        go.notify_one();
        std::future::pending::<()>().await;
    };
    let answer = tokio::select! { answer = call => answer.unwrap(), () = mover => unreachable!() };
    assert_eq!(answer.attempts().len(), 1);
    assert_eq!(answer.elapsed, secs(89));
}

#[tokio::test]
async fn a_stalled_error_body_is_not_waited_for_long() {
    let head = "HTTP/1.1 429 No\r\nRetry-After: 3\r\nContent-Length: 1000\r\n\r\n{";
    let (_server, bench) = stalled(
        |builder| builder,
        vec![vec![Act::Send(head.into()), Act::Hang], ok("Paris")],
    )
    .await;
    let request = request();
    let call = bench.client.complete(&request);
    let mover = async {
        loop {
            bench.clock.advance(secs(1));
            settle().await;
        }
    };
    let answer = tokio::select! { answer = call => answer.unwrap(), () = mover => unreachable!() };
    let first = answer.attempts()[0];
    assert_eq!(
        (first.kind, first.status),
        (Some(ErrorKind::RateLimit), Some(429))
    );
    assert_eq!(first.wait, Some(secs(3)));
}

#[tokio::test]
async fn a_deadline_cuts_the_attempt_in_flight_and_is_final() {
    let (server, bench) = stalled(|builder| builder, vec![json(503, "{}"), vec![Act::Hang]]).await;
    let request = request();
    let options = CallOptions::new().total_timeout(secs(60));
    let call = bench.client.complete_with(&request, options);
    let error = while_moving(call, &bench.clock, &server, &[(2, secs(61))])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Deadline);
    assert_eq!(error.retry_stop(), Some(RetryStop::Deadline));
    assert_eq!(error.to_string(), "skyl: openai: deadline passed");
    assert_eq!(error.last_error().unwrap().status(), Some(503));
    assert_eq!(statuses(&error), [Some(503), None]);
    assert_eq!(error.attempts()[1].kind, Some(ErrorKind::Deadline));
    assert!(!error.retryable());
    let events = bench.events.all();
    assert_eq!(
        events.len(),
        2,
        "the attempt that was cut has its event too"
    );
    assert_eq!(events[1].retry_stop, Some(RetryStop::Deadline));
}

// openai/openai-python#3555, googleapis L19: a wait is never begun past the deadline
#[tokio::test]
async fn a_deadline_is_never_slept_past() {
    let (server, bench) = stalled(
        |builder| builder,
        vec![reply(429, &[("Retry-After", "30")], "{}"), ok("never")],
    )
    .await;
    let options = CallOptions::new().total_timeout(secs(20));
    let error = bench
        .client
        .complete_with(&request(), options)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimit, "the last error itself");
    assert_eq!(error.retry_stop(), Some(RetryStop::Deadline));
    assert_eq!(error.to_string(), "skyl: openai: rate limited (http 429)");
    assert_eq!(error.retry_after(), Some(secs(30)));
    assert!(bench.clock.sleeps().is_empty());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_wait_that_fits_before_the_deadline_is_waited() {
    let (_server, bench) = stalled(
        |builder| builder,
        vec![reply(429, &[("Retry-After", "30")], "{}"), ok("Paris")],
    )
    .await;
    let options = CallOptions::new().total_timeout(secs(31));
    bench
        .client
        .complete_with(&request(), options)
        .await
        .unwrap();
    assert_eq!(bench.clock.sleeps(), [secs(30)]);
}

#[tokio::test]
async fn the_clients_total_timeout_holds_for_every_call_and_a_calls_own_replaces_it() {
    let script = vec![reply(429, &[("Retry-After", "30")], "{}")];
    let (_server, bench) = stalled(
        |builder| builder.total_timeout(secs(20)).max_retries(1),
        script,
    )
    .await;
    let error = bench.client.complete(&request()).await.unwrap_err();
    assert_eq!(error.retry_stop(), Some(RetryStop::Deadline));
    let options = CallOptions::new().total_timeout(secs(40));
    let error = bench
        .client
        .complete_with(&request(), options)
        .await
        .unwrap_err();
    assert_eq!(error.retry_stop(), Some(RetryStop::AttemptsExhausted));
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline is an Instant, and this one has passed"
)]
async fn a_deadline_in_the_past_sends_nothing() {
    let (server, bench) = stalled(|builder| builder, vec![ok("never")]).await;
    let options = CallOptions::new().deadline(std::time::Instant::now());
    let error = bench
        .client
        .complete_with(&request(), options)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Deadline);
    assert_eq!(error.sent(), Sent::No);
    assert!(error.attempts().is_empty() && error.last_error().is_none());
    assert!(server.requests().is_empty() && bench.events.all().is_empty());
}

// livekit/agents#5508: slow first tokens of thinking models
#[tokio::test]
async fn the_time_to_first_content_is_a_setting_of_its_own() {
    let (server, bench) = stalled(
        |builder| {
            builder
                .attempt_timeout(secs(5))
                .first_content_timeout(secs(60))
                .max_retries(0)
        },
        vec![vec![Act::Hang]],
    )
    .await;
    let request = request();
    let call = bench.client.stream(&request);
    let error = while_moving(call, &bench.clock, &server, &[(1, secs(59)), (1, secs(1))])
        .await
        .unwrap_err();
    assert_eq!(error.attempts()[0].duration, secs(60));

    let call = bench.client.complete(&request);
    let error = while_moving(call, &bench.clock, &server, &[(2, secs(5))])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
}

#[tokio::test]
async fn comments_do_not_stretch_the_time_to_first_content() {
    let (server, bench) = stalled(
        |builder| builder.attempt_timeout(secs(60)),
        vec![
            [
                sse_open(&[": hello\n\n", &role(), ": still here\n\n"]),
                vec![Act::Hang],
            ]
            .concat(),
            ok("Paris"),
        ],
    )
    .await;
    let request = request();
    let call = bench.client.stream(&request);
    let stream = while_moving(call, &bench.clock, &server, &[(1, secs(61))])
        .await
        .unwrap();
    assert_eq!(stream.attempts()[0].kind, Some(ErrorKind::Timeout));
    assert_eq!(stream.attempts().len(), 2);
}

// anthropics/anthropic-sdk-typescript#867, openai/codex#33051: a silent stream hangs for ever
#[tokio::test]
async fn a_silent_stream_ends_after_its_idle_timeout_and_is_not_resent() {
    let frames = [role(), delta("Par")];
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let (server, bench) = stalled(
        |builder| builder,
        vec![[sse_open(&frames), vec![Act::Hang]].concat()],
    )
    .await;
    let mut stream = bench.client.stream(&request()).await.unwrap();
    let mover = async {
        loop {
            bench.clock.advance(secs(5));
            settle().await;
        }
    };
    let (events, error) =
        tokio::select! { end = drain(&mut stream) => end, () = mover => unreachable!() };
    let error = error.unwrap();
    assert_eq!(text(&events), "Par");
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.delivered());
    assert_eq!(error.message(), Some("no byte of the stream within 5m"));
    assert_eq!(error.retry_stop(), Some(RetryStop::ContentDelivered));
    assert!(error.elapsed() >= secs(300));
    assert_eq!(server.requests().len(), 1);
}

// openai/codex#658: one client timeout killed healthy long streams
#[tokio::test]
async fn a_stream_that_lives_outlasts_every_timeout() {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let mut acts = sse_open(&[&delta("a")]);
    for piece in 0..20 {
        acts.push(Act::Wait(go.clone()));
        // Comments are life as much as content is.
        acts.push(if piece % 2 == 0 {
            chunk(": ping\n\n")
        } else {
            chunk(&delta("b"))
        });
    }
    acts.push(chunk(&finish("stop")));
    acts.push(Act::Send(b"0\r\n\r\n".to_vec()));
    let (_server, bench) = stalled(
        |builder| builder.attempt_timeout(secs(60)).idle_timeout(secs(60)),
        vec![acts],
    )
    .await;
    let mut stream = bench.client.stream(&request()).await.unwrap();
    let mover = async {
        loop {
            // Half of the idle timeout passes before each sign of life.
            for _ in 0..6 {
                bench.clock.advance(secs(5));
                settle().await;
            }
            go.notify_one();
        }
    };
    let (events, error) =
        tokio::select! { end = drain(&mut stream) => end, () = mover => unreachable!() };
    assert!(error.is_none(), "{error:?}");
    assert_eq!(text(&events), "abbbbbbbbbb");
    assert!(bench.clock.now() >= secs(600));
}

#[tokio::test]
async fn silence_is_counted_from_the_last_byte_and_not_from_the_first_silence() {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let mut acts = sse_open(&[&delta("a")]);
    acts.extend([Act::Wait(go.clone()), chunk(&delta("b")), Act::Hang]);
    let (_server, bench) = stalled(|builder| builder.idle_timeout(secs(60)), vec![acts]).await;
    let mut stream = bench.client.stream(&request()).await.unwrap();
    let mover = async {
        for step in 1.. {
            settle().await;
            bench.clock.advance(secs(5));
            settle().await;
            if step == 10 {
                go.notify_one();
            }
        }
    };
    let (events, error) =
        tokio::select! { end = drain(&mut stream) => end, () = mover => unreachable!() };
    assert_eq!(text(&events), "ab");
    assert_eq!(error.unwrap().kind(), ErrorKind::Timeout);
    // The second byte came after 50 s; the steps are of 5 s.
    let ended = bench.clock.now();
    assert!((secs(110)..=secs(120)).contains(&ended), "{ended:?}");
}

/// Lets everything that is ready run, the server's sockets included.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_deadline_holds_to_the_end_of_a_stream() {
    let (server, bench) = stalled(
        |builder| builder,
        vec![[sse_open(&[&delta("Par")]), vec![Act::Hang]].concat()],
    )
    .await;
    let options = CallOptions::new().total_timeout(secs(60));
    let mut stream = bench.client.stream_with(&request(), options).await.unwrap();
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(text(&[first]), "Par");
    let (_, error) =
        while_moving(drain(&mut stream), &bench.clock, &server, &[(1, secs(61))]).await;
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::Deadline);
    assert_eq!(error.retry_stop(), Some(RetryStop::Deadline));
    assert!(error.delivered());
    assert!(stream.next().await.is_none());
}

// debezium/debezium#777: a corrected wall clock made fresh calls look expired
#[tokio::test]
async fn a_wall_clock_that_jumps_changes_no_elapsed_time() {
    let server = Raw::serve(vec![reply(429, &[("Retry-After", "2")], "{}"), ok("Paris")]).await;
    let clock = ManualClock::skipping();
    let wall = clock.clone();
    let bench = bench_on(clock, &server.base_url(), |builder| {
        builder
            .total_timeout(secs(60))
            .hook(move |_| wall.set_wall(std::time::SystemTime::UNIX_EPOCH))
    });
    let answer = bench.client.complete(&request()).await.unwrap();
    assert_eq!(answer.elapsed, secs(2));
}
