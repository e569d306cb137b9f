//! The page "Retries and Budgets", sentence by sentence, in its order.
//!
//! A reader can hold this file against the page: each sentence that says how a call behaves is a
//! test named after it, under the page's own headings.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};
use skyl::system_one::{CallOptions, Request, State};
use skyl::{Choice, ErrorKind, FailureClass, Jitter, RetryPolicy, RetryStop};
use skyl_retry::ManualClock;
use tokio::sync::Notify;

use crate::raw::{Act, Raw};
use crate::support::{ms, secs};
use crate::system_one::support::{
    Bench, Running, STATE, answered, ask, bench, bench_on, bench_with, policed, questions,
    received, status, told,
};

// A call to SystemOne or ListModels can fail for reasons unrelated to the request itself: a dropped
// connection, a momentarily overloaded System One, a rate limit.

#[tokio::test]
async fn a_system_one_call_survives_a_dropped_connection_an_overload_and_a_rate_limit() {
    for failure in [vec![Act::Reset], vec![Act::Close], status(529), status(429)] {
        let server = Raw::serve(vec![failure, answered()]).await;
        let response = ask(&bench(&server).client).await.unwrap();
        assert_eq!(response.attempts().len(), 2);
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_list_models_call_survives_them_by_the_same_policy() {
    let models = crate::raw::json(
        200,
        r#"{"models":[{"name":"jev-latest","description":"d","release_date":"2026-09-01"}]}"#,
    );
    let server = Raw::serve(vec![vec![Act::Reset], status(529), models]).await;
    let Bench { client, clock, .. } = bench(&server);
    let models = client.list_models().await.unwrap();
    assert_eq!(models.len(), 1);
    assert_eq!(server.requests().len(), 3);
    let waits = clock.sleeps();
    assert!(waits[0] <= ms(500) && waits[1] <= ms(1000), "{waits:?}");

    let server = Raw::serve(vec![status(503)]).await;
    let error = bench(&server).client.list_models().await.unwrap_err();
    assert_eq!(server.requests().len(), 3, "two retries, as for a question");
    assert_eq!(error.retry_stop(), Some(RetryStop::AttemptsExhausted));
}

// RetryPolicy handles that class of failure so a caller does not write a retry loop at every call
// site.

#[tokio::test]
async fn the_caller_writes_no_loop() {
    let server = Raw::serve(vec![status(429), vec![Act::Close], answered()]).await;
    let response = ask(&bench(&server).client).await.unwrap();
    assert!((response.noul("late").unwrap().noul - 0.93).abs() < 1e-9);
}

// Retrying on its own turns one slow response into a much slower one, and turns a fleet of clients
// into a thundering herd against an already-struggling server. RetryPolicy therefore combines
// bounded exponential backoff with jitter, ceilings on both the server's stated wait and the retry
// schedule, and a fixed line between failures worth retrying and failures that fail again
// regardless.

#[test]
fn the_policy_combines_backoff_jitter_two_ceilings_and_a_fixed_line() {
    let policy = RetryPolicy::system_one();
    assert_eq!(policy.jitter(), Jitter::Shave(0.25));
    assert_eq!(policy.max_retry_after(), secs(300));
    assert_eq!(policy.budget(), Some(secs(30)));
    assert!(!policy.retry_statuses().contains(422));
}

// # What gets retried
//
// RetryStatuses defaults to 408, 429, and the whole 500–599 range.

#[tokio::test]
async fn retry_statuses_defaults_to_408_429_and_the_whole_range_from_500_to_599() {
    let statuses = RetryPolicy::system_one().retry_statuses();
    for code in 100..=599_u16 {
        let expected = matches!(code, 408 | 429 | 500..=599);
        assert_eq!(statuses.contains(code), expected, "{code}");
    }
    for code in [408, 429, 500, 501, 505, 529, 599] {
        let server = Raw::serve(vec![status(code), answered()]).await;
        let response = ask(&bench(&server).client).await.unwrap();
        assert_eq!(response.attempts()[0].status, Some(code));
    }
    for code in [
        300, 302, 307, 400, 401, 402, 403, 404, 405, 409, 413, 418, 425, 600,
    ] {
        let server = Raw::serve(vec![status(code), answered()]).await;
        let error = ask(&bench(&server).client).await.unwrap_err();
        assert_eq!(error.http_status(), Some(code));
        assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable), "{code}");
        assert_eq!(server.requests().len(), 1, "{code}");
    }
}

// RetryOnConnErr and RetryOnTimeout both default to true.

#[tokio::test]
async fn retry_on_conn_err_and_retry_on_timeout_both_default_to_true() {
    let policy = RetryPolicy::system_one();
    assert!(policy.retry_on_conn_err() && policy.retry_on_timeout());
}

// Those defaults cover the failures where sending the same request again can succeed: a dropped
// connection, a timeout, a 429, and a 529 overloaded response all leave the request itself valid,
// and the server or network is what could not handle it this time.

#[tokio::test]
async fn a_timeout_is_retried() {
    let server = Raw::serve(vec![vec![Act::Hang], answered()]).await;
    let clock = ManualClock::skipping();
    let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| builder);
    let mut call = Running::ask(client);
    received(&server, 1).await;
    clock.advance(secs(10));
    let response = call.end().await.unwrap();
    assert_eq!(response.attempts()[0].kind, Some(ErrorKind::Timeout));
    assert_eq!(response.attempts()[0].duration, secs(10));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_overloaded_529_is_told_from_a_broken_server_and_retried() {
    let server = Raw::serve(vec![status(529)]).await;
    let error = ask(&bench(&server).client).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);
    assert!(error.is_overloaded());
    assert_eq!(server.requests().len(), 3);
}

// A 422 is different in kind. The server parsed the request and rejected its content, so the
// identical bytes produce the identical rejection. 422 falls outside RetryStatuses and is never
// retried.

#[tokio::test]
async fn a_422_is_never_retried() {
    let server = Raw::serve(vec![told(422, "Retry-After", "1"), answered()]).await;
    let Bench { client, clock, .. } = bench(&server);
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
    assert_eq!(server.requests().len(), 1);
    assert!(clock.sleeps().is_empty());
}

#[tokio::test]
async fn a_policy_with_422_among_its_statuses_is_refused() {
    let set = "422, 500-599".parse().unwrap();
    let policy = RetryPolicy::system_one()
        .to_builder()
        .retry_statuses(set)
        .build()
        .unwrap();
    let error = skyl::system_one::Client::builder_from(|_| None)
        .api_key("ts-0123456789")
        .policy(policy.clone())
        .build()
        .unwrap_err();
    assert!(error.to_string().contains("retry_statuses"), "{error}");

    let server = Raw::serve(vec![answered()]).await;
    let error = bench(&server)
        .client
        .system_one_with(
            &Request::new(STATE, questions()),
            CallOptions::new().policy(policy),
        )
        .await
        .unwrap_err();
    assert!(error.to_string().contains("retry_statuses"), "{error}");
    assert!(server.requests().is_empty());
}

// ShouldRetry overrides the whole default set for a caller that needs different behavior.

#[tokio::test]
async fn should_retry_overrides_the_whole_default_set() {
    let server = Raw::serve(vec![status(422), status(409), status(503), answered()]).await;
    let Bench { client, .. } = bench_with(&server, |builder| {
        builder.should_retry(|failure| match failure.status {
            Some(422 | 409) => Choice::Retry,
            _ => Choice::Stop,
        })
    });
    let error = ask(&client).await.unwrap_err();
    let statuses: Vec<_> = error.attempts().iter().map(|a| a.status).collect();
    assert_eq!(statuses, [Some(422), Some(409), Some(503)]);
    assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
}

#[tokio::test]
async fn should_retry_replaces_nothing_but_the_choice() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let server = Raw::serve(vec![status(404)]).await;
    let Bench { client, .. } = bench_with(&server, move |builder| {
        builder.should_retry(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Choice::Retry
        })
    });
    let error = ask(&client).await.unwrap_err();
    assert_eq!(server.requests().len(), 3, "the retries still end");
    assert_eq!(error.retry_stop(), Some(RetryStop::AttemptsExhausted));
    assert_eq!(
        asked.load(Ordering::Relaxed),
        3,
        "the last attempt included"
    );

    let server = Raw::serve(vec![told(404, "Retry-After", "31")]).await;
    let Bench { client, .. } =
        bench_with(&server, |builder| builder.should_retry(|_| Choice::Retry));
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.retry_stop(), Some(RetryStop::TimeBudget));
}

#[tokio::test]
async fn should_retry_of_one_call_is_that_calls() {
    let server = Raw::serve(vec![status(503), answered()]).await;
    let client = bench(&server).client;
    let request = Request::new(STATE, questions());
    let options = CallOptions::new().should_retry(|_| Choice::Stop);
    client.system_one_with(&request, options).await.unwrap_err();
    assert_eq!(server.requests().len(), 1);
    ask(&client).await.unwrap();
}

// SystemOne is an HTTP POST, and the TypeSafe API provides no idempotency key that would make
// retrying it safe.

#[tokio::test]
async fn a_question_is_a_post_without_an_idempotency_key() {
    let server = Raw::serve(vec![status(503), answered()]).await;
    ask(&bench(&server).client).await.unwrap();
    for request in server.requests() {
        assert!(request.head.starts_with("POST /v1/systemone "));
        assert!(!request.head.to_ascii_lowercase().contains("idempotency"));
    }
}

// A timeout or connection reset, both retried by default, does not tell the client whether the
// server already processed the request; the request may have gone through and failed to return a
// response in time. A retry then repeats the same logical request, and if the first attempt landed,
// the caller can be billed twice for one logical call. The absence of an idempotency key is a
// limitation of the external API.

#[tokio::test]
async fn a_reset_does_not_tell_whether_the_request_was_processed() {
    let server = Raw::serve(vec![vec![Act::Reset]]).await;
    let error = ask(&bench(&server).client).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert_eq!(error.sent(), skyl::Sent::Maybe);
    assert_eq!(
        server.requests().len(),
        3,
        "the same logical request, three times"
    );
}

// A caller that cannot tolerate double-billing sets RetryOnTimeout: false and RetryOnConnErr: false,
// which surfaces those failures immediately as errors instead of retrying them.

#[tokio::test]
async fn with_retry_on_conn_err_off_a_dropped_connection_surfaces_immediately() {
    let whole = String::from_utf8_lossy(match &answered()[0] {
        Act::Send(bytes) => bytes,
        _ => unreachable!("an answer is bytes"),
    })
    .into_owned();
    let cut = Act::Send(whole[..whole.len() - 10].into());
    for failure in [
        vec![Act::Reset],
        vec![Act::Close],
        vec![cut.clone(), Act::Close],
        vec![cut, Act::Reset],
    ] {
        let server = Raw::serve(vec![failure, answered()]).await;
        let Bench { client, clock, .. } =
            policed(&server, |policy| policy.retry_on_conn_err(false));
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Transport);
        assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
        assert_eq!(server.requests().len(), 1);
        assert!(clock.sleeps().is_empty());
    }
}

#[tokio::test]
async fn with_retry_on_timeout_off_a_timeout_surfaces_immediately() {
    let server = Raw::serve(vec![vec![Act::Hang], answered()]).await;
    let Bench { client, clock, .. } = policed(&server, |policy| policy.retry_on_timeout(false));
    let mut call = Running::ask(client);
    received(&server, 1).await;
    clock.advance(secs(10));
    let error = call.end().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn with_both_switches_off_answered_statuses_are_still_retried() {
    let server = Raw::serve(vec![status(503), answered()]).await;
    let Bench { client, .. } = policed(&server, |policy| {
        policy.retry_on_conn_err(false).retry_on_timeout(false)
    });
    assert_eq!(ask(&client).await.unwrap().attempts().len(), 2);
}

// # Backoff and jitter
//
// The delay before a retry grows exponentially. For attempt n, the raw delay is min(InitialDelay *
// 2^n, MaxDelay), doubling from InitialDelay (500ms) toward the MaxDelay ceiling (5s), both by
// default.

#[tokio::test]
async fn the_raw_delay_doubles_from_500_ms_toward_the_ceiling_of_5_s() {
    let server = Raw::serve(vec![status(503)]).await;
    let Bench { client, clock, .. } = policed(&server, |policy| {
        policy
            .jitter(Jitter::Shave(0.0))
            .max_retries(6)
            .budget(Duration::ZERO)
    });
    ask(&client).await.unwrap_err();
    let expected = [500, 1000, 2000, 4000, 5000, 5000].map(ms);
    assert_eq!(clock.sleeps(), expected);
}

// Growth alone spreads retries over time but leaves clients that hit the same failure at the same
// moment retrying in lockstep. Jitter (default 0.25) shaves the computed delay down by a random
// fraction between 0 and Jitter, spreading those retries across a small window instead of one spike.

#[tokio::test]
async fn jitter_shaves_the_delay_down_by_a_random_fraction_up_to_a_quarter() {
    let server = Raw::serve(vec![status(503)]).await;
    let mut first = Vec::new();
    for seed in 0..64 {
        let Bench { client, clock, .. } = bench_with(&server, |builder| builder.seed(seed));
        ask(&client).await.unwrap_err();
        let waits = clock.sleeps();
        assert!(waits[0] > ms(374) && waits[0] <= ms(500), "{waits:?}");
        assert!(waits[1] > ms(749) && waits[1] <= ms(1000), "{waits:?}");
        first.push(waits[0]);
    }
    first.sort_unstable();
    first.dedup();
    assert!(first.len() > 60, "no lockstep: {first:?}");
    assert!(
        first[first.len() - 1] > first[0] + ms(90),
        "the whole window: {first:?}"
    );
}

// MaxRetries (default 2) bounds how many times this repeats, and 0 disables retries outright.

#[tokio::test]
async fn max_retries_bounds_how_many_times_this_repeats() {
    let server = Raw::serve(vec![status(503)]).await;
    let error = ask(&bench(&server).client).await.unwrap_err();
    assert_eq!(server.requests().len(), 3);
    assert_eq!(
        error.to_string(),
        "skyl: giving up after 3 attempts: skyl: typesafe: provider server error (http 503): no"
    );
}

#[tokio::test]
async fn max_retries_of_0_disables_retries_outright() {
    for failure in [status(503), status(429), vec![Act::Reset]] {
        let server = Raw::serve(vec![failure]).await;
        let Bench { client, clock, .. } = bench_with(&server, |builder| builder.max_retries(0));
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.retry_stop(), Some(RetryStop::RetriesDisabled));
        assert!(!error.to_string().contains("giving up"), "{error}");
        assert_eq!(server.requests().len(), 1);
        assert!(clock.sleeps().is_empty());
    }
}

// HonorRetryAfter (default true) replaces that computed delay with the wait the server states in
// retry-after-ms or Retry-After.

#[tokio::test]
async fn honor_retry_after_replaces_the_delay_with_the_servers_wait() {
    for (name, value, wait) in [
        ("retry-after-ms", "1500", ms(1500)),
        ("Retry-After", "2", secs(2)),
        // Shorter than the backoff, and longer than its ceiling: exactly what the server said.
        ("retry-after-ms", "7", ms(7)),
        ("Retry-After", "20", secs(20)),
    ] {
        let server = Raw::serve(vec![told(429, name, value), answered()]).await;
        let Bench { client, clock, .. } = bench(&server);
        ask(&client).await.unwrap();
        assert_eq!(clock.sleeps(), [wait], "{name}: {value}");
    }
}

#[tokio::test]
async fn with_honor_retry_after_off_the_computed_delay_stays() {
    let server = Raw::serve(vec![told(429, "Retry-After", "20")]).await;
    let Bench { client, clock, .. } =
        bench_with(&server, |builder| builder.honor_retry_after(false));
    let error = ask(&client).await.unwrap_err();
    let waits = clock.sleeps();
    assert!(waits[0] <= ms(500) && waits[1] <= ms(1000), "{waits:?}");
    assert_eq!(
        error.retry_after(),
        Some(secs(20)),
        "still there to be read"
    );
}

// MaxRetryAfter (default 5 minutes) clamps down any parsed duration that exceeds it. The server
// knows how long its own rate limit or overload will last and the client does not, so the server's
// figure wins over the client's guess up to that ceiling.

#[tokio::test]
async fn max_retry_after_clamps_down_any_duration_that_exceeds_it() {
    let server = Raw::serve(vec![told(503, "Retry-After", "301"), answered()]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.budget(Duration::ZERO));
    ask(&client).await.unwrap();
    assert_eq!(clock.sleeps(), [secs(300)]);

    let server = Raw::serve(vec![told(503, "Retry-After", "300"), answered()]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| {
        builder.budget(Duration::ZERO).max_retry_after(secs(299))
    });
    ask(&client).await.unwrap();
    assert_eq!(clock.sleeps(), [secs(299)]);
}

// Without the ceiling, a misconfigured or malicious server could ask the client to wait an hour, a
// day, or longer, and be obeyed.

#[tokio::test]
async fn a_server_that_asks_for_a_day_or_longer_is_not_obeyed() {
    for value in ["3600", "86400", "99999999999999999999", "2200000"] {
        let server = Raw::serve(vec![told(429, "Retry-After", value), answered()]).await;
        let Bench { client, clock, .. } =
            bench_with(&server, |builder| builder.budget(Duration::ZERO));
        ask(&client).await.unwrap();
        assert_eq!(clock.sleeps(), [secs(300)], "{value}");
    }
}

// # What the budget bounds
//
// Budget (default 30s; 0 means unlimited) bounds when a new retry attempt is allowed to start.

#[tokio::test]
async fn a_budget_of_0_is_unlimited() {
    let server = Raw::serve(vec![told(429, "Retry-After", "299")]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| {
        builder.budget(Duration::ZERO).max_retries(50)
    });
    let error = ask(&client).await.unwrap_err();
    assert_eq!(clock.sleeps().len(), 50);
    assert_eq!(error.retry_stop(), Some(RetryStop::AttemptsExhausted));
}

#[tokio::test]
async fn no_retry_starts_past_the_budget_whatever_the_waits() {
    for seed in 0..20 {
        let hints = (0..40).map(|n| told(429, "retry-after-ms", &format!("{}", 37 * n + seed)));
        let server = Raw::serve(hints.collect()).await;
        let Bench { client, clock, .. } =
            bench_with(&server, |builder| builder.max_retries(1000).seed(seed));
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.retry_stop(), Some(RetryStop::TimeBudget));
        let slept: Duration = clock.sleeps().iter().sum();
        assert!(slept <= secs(30), "{slept:?}");
        let next = error.retry_after().unwrap();
        assert!(
            slept + next > secs(30),
            "stopped too early: {slept:?} + {next:?}"
        );
    }
}

// It does not limit how many times the client retries, and it does not cap the call's total
// wall-clock time.

#[tokio::test]
async fn the_budget_does_not_limit_how_many_times_the_client_retries() {
    let server = Raw::serve(vec![told(429, "retry-after-ms", "1")]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.max_retries(200));
    let error = ask(&client).await.unwrap_err();
    assert_eq!(clock.sleeps().len(), 200);
    assert_eq!(error.retry_stop(), Some(RetryStop::AttemptsExhausted));
}

// The check runs once per retry, right before the client would sleep for the next backoff or
// server-supplied delay: if that sleep would push elapsed time past the budget, the client skips the
// retry and returns the last error immediately.

#[tokio::test]
async fn a_sleep_past_the_budget_is_skipped_and_the_last_error_comes_back_at_once() {
    let server = Raw::serve(vec![told(503, "Retry-After", "31"), answered()]).await;
    let Bench {
        client,
        clock,
        events,
    } = bench(&server);
    let error = ask(&client).await.unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Server,
        "the error itself, not one about the budget"
    );
    assert_eq!(error.status(), Some(503));
    assert_eq!(error.retry_stop(), Some(RetryStop::TimeBudget));
    assert_eq!(error.retry_after(), Some(secs(31)));
    assert!(error.last_error().is_none());
    assert!(clock.sleeps().is_empty());
    assert_eq!(server.requests().len(), 1);
    assert!(!events.all()[0].will_retry);
    assert!(!error.to_string().contains("giving up"), "{error}");
}

#[tokio::test]
async fn a_sleep_that_ends_exactly_with_the_budget_is_allowed() {
    let server = Raw::serve(vec![told(503, "Retry-After", "30"), answered()]).await;
    let Bench { client, clock, .. } = bench(&server);
    ask(&client).await.unwrap();
    assert_eq!(clock.sleeps(), [secs(30)]);

    let server = Raw::serve(vec![told(503, "retry-after-ms", "30001"), answered()]).await;
    ask(&bench(&server).client).await.unwrap_err();
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_budget_holds_for_the_own_backoff_too() {
    let server = Raw::serve(vec![status(503)]).await;
    let Bench { client, clock, .. } = policed(&server, |policy| {
        policy
            .jitter(Jitter::Shave(0.0))
            .max_retries(100)
            .budget(ms(1500))
    });
    let error = ask(&client).await.unwrap_err();
    assert_eq!(clock.sleeps(), [ms(500), ms(1000)]);
    assert_eq!(error.retry_stop(), Some(RetryStop::TimeBudget));
}

// An attempt already in flight sits outside this check, so Budget never interrupts a request
// actively waiting on the network, and one slow attempt can still take arbitrarily long.

#[tokio::test]
async fn one_slow_attempt_can_still_take_arbitrarily_long() {
    let go = Arc::new(Notify::new());
    let mut slow = answered();
    slow.insert(0, Act::Wait(go.clone()));
    let server = Raw::serve(vec![slow]).await;
    let clock = ManualClock::new();
    let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| {
        builder.attempt_timeout(secs(7 * 24 * 60 * 60))
    });
    let mut call = Running::ask(client);
    received(&server, 1).await;
    let long = secs(6 * 24 * 60 * 60);
    clock.advance(long);
    tokio::task::yield_now().await;
    assert!(!call.is_finished(), "the budget of 30 s does not cut it");
    go.notify_one();
    let response = call.end().await.unwrap();
    assert_eq!(response.elapsed(), long);
    assert_eq!(response.attempts().len(), 1);
}

#[tokio::test]
async fn a_retry_in_flight_when_the_budget_passes_is_finished_too() {
    let go = Arc::new(Notify::new());
    let mut slow = answered();
    slow.insert(0, Act::Wait(go.clone()));
    let server = Raw::serve(vec![told(503, "Retry-After", "29"), slow]).await;
    let clock = ManualClock::skipping();
    let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| builder);
    let mut call = Running::ask(client);
    received(&server, 2).await;
    clock.advance(secs(9));
    go.notify_one();
    assert_eq!(call.end().await.unwrap().elapsed(), secs(38));
}

// ctx and the per-attempt WithTimeout and WithRequestTimeout bound a single attempt's duration;
// Budget governs retry scheduling.

#[tokio::test]
async fn the_timeout_of_client_or_call_bounds_a_single_attempt() {
    for per_call in [false, true] {
        let server = Raw::serve(vec![vec![Act::Hang], answered()]).await;
        let clock = ManualClock::skipping();
        let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| {
            builder.attempt_timeout(if per_call { secs(600) } else { secs(3) })
        });
        let options = CallOptions::new();
        let options = if per_call {
            options.attempt_timeout(secs(3))
        } else {
            options
        };
        let mut call = Running::ask_with(client, options);
        received(&server, 1).await;
        clock.advance(secs(3));
        let response = call.end().await.unwrap();
        assert_eq!(response.attempts()[0].duration, secs(3));
        assert_eq!(response.attempts()[0].kind, Some(ErrorKind::Timeout));
    }
}

// ctx cancellation sits above all of this. A cancelled context aborts the call immediately,
// mid-backoff included, rather than finishing that sleep. The caller has stated that it no longer
// wants the result, and waiting out the backoff first would silently delay a cooperative shutdown.

#[tokio::test]
async fn cancellation_aborts_the_call_immediately_mid_backoff_included() {
    let server = Raw::serve(vec![told(503, "Retry-After", "20"), answered()]).await;
    let clock = ManualClock::new();
    let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| builder);
    let stop = Arc::new(Notify::new());
    let stopped = stop.clone();
    let mut call = Running::ask_with(
        client,
        CallOptions::new().cancel_on(async move { stopped.notified().await }),
    );
    clock.until_sleeping().await;
    stop.notify_one();
    // The clock stands still: had the call waited out its sleep, this would never end.
    let error = call.end().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(error.last_error().unwrap().status(), Some(503));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn cancellation_aborts_an_attempt_in_flight_and_closes_its_connection() {
    let mut server = Raw::serve(vec![vec![Act::Hang]]).await;
    let Bench { client, .. } = bench(&server);
    let stop = Arc::new(Notify::new());
    let stopped = stop.clone();
    let mut call = Running::ask_with(
        client,
        CallOptions::new().cancel_on(async move { stopped.notified().await }),
    );
    received(&server, 1).await;
    stop.notify_one();
    assert_eq!(call.end().await.unwrap_err().kind(), ErrorKind::Cancelled);
    server.all_closed().await;
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_deadline_cuts_the_attempt_in_flight_and_keeps_the_last_real_error() {
    let server = Raw::serve(vec![told(429, "Retry-After", "1"), vec![Act::Hang]]).await;
    let clock = ManualClock::skipping();
    let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| {
        builder.total_timeout(secs(5))
    });
    let mut call = Running::ask(client);
    received(&server, 2).await;
    clock.advance(secs(4));
    let error = call.end().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Deadline);
    assert_eq!(error.retry_stop(), Some(RetryStop::Deadline));
    let last = error.last_error().unwrap();
    assert_eq!(
        (last.kind(), last.status()),
        (ErrorKind::RateLimit, Some(429))
    );
}

#[tokio::test]
async fn a_deadline_that_has_passed_sends_nothing() {
    let server = Raw::serve(vec![answered()]).await;
    let client = bench(&server).client;
    let options = CallOptions::new().deadline(an_instant());
    let error = client
        .system_one_with(&Request::new(STATE, questions()), options)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Deadline);
    assert!(server.requests().is_empty());
}

// # Marshaling the body once
//
// The client marshals the request body to JSON once, before the first attempt, and replays those
// bytes unchanged on every retry rather than re-encoding state and questions each time. Every
// retried request is therefore byte-identical to the original, a second marshal cannot produce
// different output, and no attempt re-validates the body.

#[tokio::test]
async fn every_retried_request_is_byte_identical_to_the_original() {
    let server = Raw::serve(vec![status(503), vec![Act::Reset], answered()]).await;
    ask(&bench(&server).client).await.unwrap();
    let seen = server.requests();
    assert_eq!(seen.len(), 3);
    assert!(!seen[0].body.is_empty());
    assert!(seen.iter().all(|request| request.body == seen[0].body));
}

/// A state that says something else each time it is written.
struct Counting(Arc<AtomicU32>);

impl Serialize for Counting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let times = self.0.fetch_add(1, Ordering::Relaxed);
        serializer.collect_map([("written", times)])
    }
}

#[tokio::test]
async fn state_is_written_once_and_no_attempt_re_validates_the_body() {
    let times = Arc::new(AtomicU32::new(0));
    let server = Raw::serve(vec![status(503), status(503), answered()]).await;
    let state = State::serialize(&Counting(times.clone())).unwrap();
    let response = bench(&server)
        .client
        .system_one(state, questions())
        .await
        .unwrap();
    assert_eq!(response.attempts().len(), 3);
    assert_eq!(times.load(Ordering::Relaxed), 1, "written once");
    for request in server.requests() {
        let body = String::from_utf8(request.body).unwrap();
        assert!(body.contains(r#""written":0"#), "{body}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_before_the_first_attempt_and_then_never_looked_at() {
    let server = Raw::serve(vec![answered()]).await;
    let Bench { client, events, .. } = bench(&server);
    let error = client
        .system_one(STATE, skyl::system_one::Questions::new())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert!(error.attempts().is_empty());
    assert!(events.all().is_empty());
    assert!(server.requests().is_empty());
}

#[expect(
    clippy::disallowed_methods,
    reason = "a deadline is given as an Instant, and this one is to have passed"
)]
fn an_instant() -> Instant {
    Instant::now()
}

// The class a caller's own choice sees is the one the switches go by.
#[tokio::test]
async fn an_answer_that_breaks_off_is_a_connection_error_to_the_callers_choice_too() {
    let server = Raw::serve(vec![vec![
        Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_vec()),
        Act::Close,
    ]])
    .await;
    let Bench { client, .. } = bench_with(&server, |builder| {
        builder.should_retry(|failure| {
            assert_eq!(failure.class, FailureClass::ConnectionLost);
            assert_eq!(failure.status, None);
            Choice::Stop
        })
    });
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.http_status(), Some(200));
    assert_eq!(error.kind(), ErrorKind::Transport);
}
