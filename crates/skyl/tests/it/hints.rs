//! The server's wait: obeyed, capped, kept raw on the error. How values are read is the engine's.

use std::time::{Duration, SystemTime};

use skyl::{Clock, ErrorKind, OverCap, RetryPolicy, RetryStop, parse_retry_after};
use skyl_retry::ManualClock;

use crate::raw::{Act, Raw, error_body, json, ok, reply};
use crate::support::{Bench, bench, bench_with, ms, request, secs};

/// The wait after one answer with this header, and the raw value on the error.
async fn told(name: &str, value: &str) -> (Duration, Option<Duration>) {
    let server = Raw::serve(vec![reply(429, &[(name, value)], "{}"), json(400, "{}")]).await;
    let Bench { client, clock, .. } = bench(&server);
    client.complete(&request()).await.unwrap_err();
    // Dates are read against a clock that the wait has moved, so the raw value needs its own call.
    let server = Raw::serve(vec![reply(429, &[(name, value)], "{}")]).await;
    let Bench { client, .. } = bench_with(&server, |builder| builder.max_retries(0));
    let error = client.complete(&request()).await.unwrap_err();
    (clock.sleeps()[0], error.retry_after())
}

#[tokio::test]
async fn the_servers_wait_replaces_the_backoff_and_stays_readable() {
    for (name, value, wait) in [
        ("Retry-After", "7", secs(7)),
        ("Retry-After", "1.5", ms(1500)),
        ("retry-after-ms", "120", ms(120)),
        ("retry-after-ms", "0.5", Duration::from_micros(500)),
        ("x-ms-retry-after-ms", "60000", secs(60)),
        // 60 s is above the backoff's cap of 30 s and obeyed all the same.
        ("Retry-After", "60", secs(60)),
        ("Retry-After", "Tue, 01 Dec 2026 00:00:10 GMT", secs(10)),
        ("Retry-After", "Tuesday, 01-Dec-26 00:00:10 GMT", secs(10)),
        ("Retry-After", "Tue Dec  1 00:00:10 2026", secs(10)),
    ] {
        assert_eq!(
            told(name, value).await,
            (wait, Some(wait)),
            "{name}: {value}"
        );
    }
}

// GCWing/OpenBitFun#1628 wants tiny waits raised to the own backoff. Here the server's word stands:
// it knows when its window resets, and `max_retries` bounds what a wrong one can cost.
#[tokio::test]
async fn a_tiny_wait_is_obeyed_as_said_every_time() {
    let server = Raw::serve(vec![reply(429, &[("Retry-After", "1")], "{}")]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.max_retries(10));
    client.complete(&request()).await.unwrap_err();
    assert_eq!(clock.sleeps(), [secs(1); 10]);
}

#[tokio::test]
async fn a_wait_above_the_cap_is_cut_but_readable_raw() {
    for (value, raw) in [("3600", secs(3600)), ("86400", secs(86_400))] {
        assert_eq!(told("Retry-After", value).await, (secs(300), Some(raw)));
    }
    let (wait, raw) = told("Retry-After", "99999999999999999999999").await;
    assert_eq!(wait, secs(300));
    assert!(raw.unwrap() > secs(1_000_000));
}

#[tokio::test]
async fn a_wait_of_zero_or_in_the_past_is_the_own_backoff_and_zero_stays_readable() {
    for value in ["0", "Tue, 01 Dec 2020 00:00:00 GMT"] {
        let (wait, raw) = told("Retry-After", value).await;
        assert!(wait <= ms(500));
        assert_eq!(raw, Some(Duration::ZERO), "{value}");
    }
}

#[tokio::test]
async fn values_nobody_can_read_are_the_own_backoff_and_nothing_on_the_error() {
    for value in [
        "soon",
        "-1",
        "nan",
        "inf",
        "1e3",
        "0x10",
        "+3",
        "1 s",
        "",
        "Tue, 31 Feb 2026 00:00:00 GMT",
    ] {
        let (wait, raw) = told("Retry-After", value).await;
        assert!(wait <= ms(500), "{value}");
        assert_eq!(raw, None, "{value}");
    }
}

#[tokio::test]
async fn a_shorter_cap_makes_tests_fast() {
    let server = Raw::serve(vec![reply(429, &[("Retry-After", "1")], "{}")]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| {
        builder.retry_delay(ms(1), ms(10)).retry_after_cap(ms(50))
    });
    client.complete(&request()).await.unwrap_err();
    assert_eq!(clock.sleeps(), [ms(50); 3]);
}

// openai/openai-python#3555, openai/openai-node#1840: the wait must be visible
#[tokio::test]
async fn a_policy_may_give_up_over_the_cap_with_the_wait_in_the_error() {
    let policy = RetryPolicy::builder()
        .over_cap(OverCap::GiveUp)
        .build()
        .unwrap();
    let server = Raw::serve(vec![reply(429, &[("Retry-After", "301")], "{}")]).await;
    let Bench { client, events, .. } = bench_with(&server, |builder| builder.policy(policy));
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(error.retry_stop(), Some(RetryStop::HintOverCap));
    assert_eq!(error.retry_after(), Some(secs(301)));
    assert_eq!(error.to_string(), "skyl: openai: rate limited (http 429)");
    assert!(
        events.all()[0].why.as_ref().unwrap().contains("5m"),
        "{:?}",
        events.all()[0].why
    );
}

#[tokio::test]
async fn the_event_explains_the_wait() {
    let server = Raw::serve(vec![
        reply(429, &[("Retry-After", "1")], "{}"),
        json(503, "{}"),
        reply(429, &[("Retry-After", "86400")], "{}"),
        ok("Paris"),
    ])
    .await;
    let Bench { client, events, .. } = bench(&server);
    client.complete(&request()).await.unwrap();
    let why: Vec<_> = events
        .all()
        .into_iter()
        .map(|event| event.why.unwrap_or_default())
        .collect();
    assert_eq!(why[0], "server asked for 1s");
    assert!(why[1].starts_with("backoff "), "{}", why[1]);
    assert_eq!(why[2], "server asked for 1d, cut to 5m");
    assert_eq!(why[3], "");
}

// BerriAI/litellm#27823: a gateway has the wait in its prose alone
#[tokio::test]
async fn a_wait_in_the_words_of_the_error_is_the_last_resort() {
    let words = error_body(
        "requests",
        "rate_limit_exceeded",
        "Please try again in 6.5s.",
    );
    let server = Raw::serve(vec![json(429, &words), ok("Paris")]).await;
    let Bench { client, clock, .. } = bench(&server);
    client.complete(&request()).await.unwrap();
    assert_eq!(clock.sleeps(), [ms(6500)]);

    let server = Raw::serve(vec![
        reply(429, &[("Retry-After", "2")], words),
        ok("Paris"),
    ])
    .await;
    let Bench { client, clock, .. } = bench(&server);
    client.complete(&request()).await.unwrap();
    assert_eq!(clock.sleeps(), [secs(2)], "a header wins over words");
}

#[tokio::test]
async fn an_exhausted_limits_reset_is_a_wait_and_a_limit_that_is_not_is_none() {
    let limits = |remaining| {
        reply(
            429,
            &[
                ("x-ratelimit-remaining-tokens", remaining),
                ("x-ratelimit-reset-tokens", "6m0s"),
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-requests", "4s"),
            ],
            "{}",
        )
    };
    let server = Raw::serve(vec![limits("17"), ok("Paris")]).await;
    let Bench { client, clock, .. } = bench(&server);
    client.complete(&request()).await.unwrap();
    assert_eq!(clock.sleeps(), [secs(4)]);

    let server = Raw::serve(vec![limits("0"), ok("Paris")]).await;
    let Bench { client, clock, .. } = bench(&server);
    client.complete(&request()).await.unwrap();
    assert_eq!(
        clock.sleeps(),
        [secs(300)],
        "the latest of the exhausted, cut to the cap"
    );
}

#[tokio::test]
async fn the_rate_limit_state_is_on_answers_and_errors() {
    let limits: &[(&str, &str)] = &[
        ("x-ratelimit-limit-requests", "60"),
        ("x-ratelimit-remaining-requests", "59"),
        ("x-ratelimit-reset-requests", "1s"),
    ];
    let server = Raw::serve(vec![
        reply(400, limits, "{}"),
        reply(200, limits, crate::raw::answer("a")),
    ])
    .await;
    let Bench { client, .. } = bench(&server);
    let error = client.complete(&request()).await.unwrap_err();
    let answer = client.complete(&request()).await.unwrap();
    for state in [error.rate_limit().copied(), answer.rate_limit] {
        let requests = state.unwrap().requests.unwrap();
        assert_eq!(
            (requests.limit, requests.remaining, requests.reset),
            (Some(60), Some(59), Some(secs(1)))
        );
    }
}

#[tokio::test]
async fn dates_are_read_against_the_wall_clock_given() {
    let server = Raw::serve(vec![
        reply(
            429,
            &[("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")],
            "{}",
        ),
        ok("Paris"),
    ])
    .await;
    let clock = ManualClock::skipping();
    clock.set_wall(SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_757));
    let Bench { client, clock, .. } = crate::support::bench_on(clock, &server.base_url(), |b| b);
    client.complete(&request()).await.unwrap();
    assert_eq!(clock.sleeps(), [secs(20)]);
}

#[test]
fn callers_can_read_a_header_themselves() {
    let now = ManualClock::new().wall();
    assert_eq!(parse_retry_after("120", now), secs(120));
    assert_eq!(
        parse_retry_after("Tue, 01 Dec 2026 00:00:10 GMT", now),
        secs(10)
    );
    for unusable in ["", "soon", "-3", "Tue, 01 Dec 2020 00:00:00 GMT"] {
        assert_eq!(
            parse_retry_after(unusable, now),
            Duration::ZERO,
            "{unusable}"
        );
    }
    assert_eq!(skyl::classify_status(429), ErrorKind::RateLimit);
}

fn paused_script() -> Vec<Vec<Act>> {
    vec![reply(429, &[("Retry-After", "20")], "{}"), ok("Paris")]
}

#[tokio::test]
async fn a_shared_pause_holds_back_other_calls_to_the_same_model() {
    let server = Raw::serve(paused_script()).await;
    let Bench {
        client,
        clock,
        events,
    } = bench_with(&server, |builder| builder.max_retries(0).shared_pause(true));
    client.complete(&request()).await.unwrap_err();

    let answer = client.clone().complete(&request()).await.unwrap();
    let pause = answer.attempts()[0].pause;
    assert!(pause >= secs(20) && pause <= secs(25), "{pause:?}");
    assert_eq!(clock.sleeps(), [pause]);
    assert_eq!(events.all()[1].pause, pause);
    assert_eq!(
        answer.attempts()[0].duration,
        Duration::ZERO,
        "the pause is no part of the attempt"
    );

    let other = skyl::Request::new("another-model").user("hi");
    assert_eq!(
        client.complete(&other).await.unwrap().attempts()[0].pause,
        Duration::ZERO
    );
}

#[tokio::test]
async fn without_a_shared_pause_calls_do_not_wait_for_each_other() {
    let server = Raw::serve(paused_script()).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.max_retries(0));
    client.complete(&request()).await.unwrap_err();
    client.complete(&request()).await.unwrap();
    assert!(clock.sleeps().is_empty());
}

#[tokio::test]
async fn a_shared_pause_past_the_deadline_is_not_begun() {
    let server = Raw::serve(paused_script()).await;
    let Bench {
        client,
        clock,
        events,
    } = bench_with(&server, |builder| builder.max_retries(0).shared_pause(true));
    client.complete(&request()).await.unwrap_err();
    let options = skyl::CallOptions::new().total_timeout(secs(10));
    let error = client.complete_with(&request(), options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Deadline);
    assert_eq!(error.retry_stop(), Some(RetryStop::Deadline));
    assert!(error.attempts().is_empty());
    assert!(clock.sleeps().is_empty());
    assert_eq!((server.requests().len(), events.all().len()), (1, 1));
}

#[tokio::test]
async fn a_shared_pause_does_not_make_the_call_that_met_it_wait_twice() {
    let server = Raw::serve(paused_script()).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.shared_pause(true));
    client.complete(&request()).await.unwrap();
    assert_eq!(clock.sleeps(), [secs(20)]);
}
