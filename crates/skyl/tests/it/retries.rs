//! What is retried, how often, and what is said of it in the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use skyl::{
    Choice, ErrorKind, FailureClass, RetryBudget, RetryBudgetPolicy, RetryPolicy, RetryStop, Sent,
};

use crate::raw::{Act, Raw, error, error_body, json, ok, reply};
use crate::support::{Bench, bench, bench_with, ms, request, secs, statuses};

fn rate_limited() -> Vec<Act> {
    error(429, "requests", "rate_limit_exceeded", "slow down")
}

#[tokio::test]
async fn two_429s_and_an_answer_are_three_identical_requests_and_one_answer() {
    let server = Raw::serve(vec![rate_limited(), rate_limited(), ok("Paris")]).await;
    let Bench {
        client,
        clock,
        events,
    } = bench(&server);

    let answer = client.complete(&request()).await.unwrap();

    assert_eq!(answer.text(), "Paris");
    let seen = server.requests();
    assert_eq!(seen.len(), 3);
    assert!(!seen[0].body.is_empty());
    assert!(seen.iter().all(|request| request.body == seen[0].body));

    let record: Vec<_> = answer
        .attempts()
        .iter()
        .map(|a| (a.number, a.status, a.kind, a.wait))
        .collect();
    let waits = clock.sleeps();
    let limited = Some(ErrorKind::RateLimit);
    assert_eq!(
        record,
        [
            (0, Some(429), limited, Some(waits[0])),
            (1, Some(429), limited, Some(waits[1])),
            (2, Some(200), None, None),
        ]
    );
    let heard: Vec<_> = events
        .all()
        .iter()
        .map(|e| (e.attempt, e.status, e.kind, e.wait))
        .collect();
    assert_eq!(heard, record);
    assert!(
        events
            .all()
            .iter()
            .all(|event| event.call == events.all()[0].call)
    );
}

#[tokio::test]
async fn a_429_for_ever_is_four_requests_and_says_so() {
    let server = Raw::serve(vec![json(429, "{}")]).await;
    let Bench {
        client,
        clock,
        events,
    } = bench(&server);

    let error = client.complete(&request()).await.unwrap_err();

    assert_eq!(
        error.to_string(),
        "skyl: giving up after 4 attempts: skyl: openai: rate limited (http 429)"
    );
    assert_eq!(error.kind(), ErrorKind::RateLimit);
    assert_eq!(error.retry_stop(), Some(RetryStop::AttemptsExhausted));
    assert_eq!(server.requests().len(), 4);
    assert_eq!(error.attempts().len(), 4);
    assert_eq!(events.all().len(), 4);
    assert_eq!(clock.sleeps().len(), 3);
    assert_eq!(
        events.all()[3].retry_stop,
        Some(RetryStop::AttemptsExhausted)
    );
    assert_eq!(events.all()[3].wait, None);
    assert!(
        events.all()[..3]
            .iter()
            .all(|event| event.will_retry && event.retry_stop.is_none())
    );
}

#[tokio::test]
async fn with_retries_off_the_error_is_bare() {
    let server = Raw::serve(vec![rate_limited()]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.max_retries(0));

    let error = client.complete(&request()).await.unwrap_err();

    assert_eq!(
        error.to_string(),
        "skyl: openai: rate limited (http 429): slow down"
    );
    assert_eq!(error.retry_stop(), Some(RetryStop::RetriesDisabled));
    assert_eq!(server.requests().len(), 1);
    assert!(clock.sleeps().is_empty());
    assert!(error.retryable(), "retryable, though nobody retried it");
}

#[tokio::test]
async fn final_answers_are_one_request_each() {
    for (status, kind) in [
        (400, ErrorKind::BadRequest),
        (401, ErrorKind::Auth),
        (402, ErrorKind::QuotaExhausted),
        (403, ErrorKind::Auth),
        (404, ErrorKind::NotFound),
        (407, ErrorKind::Auth),
        (418, ErrorKind::BadRequest),
        (422, ErrorKind::BadRequest),
        // apache/httpcomponents-client#708 asks for one retry of a 425. It is about early data in
        // TLS, which is never sent here, so it is a client error like any other.
        (425, ErrorKind::BadRequest),
        (302, ErrorKind::Unclassified),
        (304, ErrorKind::Unclassified),
    ] {
        let server = Raw::serve(vec![json(status, "{}"), ok("never")]).await;
        let Bench { client, events, .. } = bench(&server);

        let error = client.complete(&request()).await.unwrap_err();

        assert_eq!(error.kind(), kind, "status {status}");
        assert_eq!(error.status(), Some(status));
        assert_eq!(
            error.retry_stop(),
            Some(RetryStop::NotRetryable),
            "status {status}"
        );
        assert!(!error.retryable());
        assert!(!error.to_string().contains("giving up"), "{error}");
        assert_eq!(server.requests().len(), 1, "status {status}");
        assert_eq!(events.all().len(), 1);
    }
}

#[tokio::test]
async fn transient_answers_are_retried() {
    for status in [408, 409, 429, 500, 502, 503, 504, 520, 529, 599] {
        let server = Raw::serve(vec![json(status, "{}"), ok("Paris")]).await;
        let answer = bench(&server).client.complete(&request()).await.unwrap();
        assert_eq!(answer.attempts().len(), 2, "status {status}");
        assert_eq!(answer.attempts()[0].status, Some(status));
    }
}

// 64bit/async-openai#74 of the same kind; openai/openai-python#1671
#[tokio::test]
async fn an_exhausted_quota_is_not_asked_again() {
    for code in [
        "insufficient_quota",
        "credit_balance_exhausted",
        "project_spend_limit_exceeded",
    ] {
        let server = Raw::serve(vec![error(429, "insufficient_quota", code, "no money")]).await;
        let error = bench(&server)
            .client
            .complete(&request())
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::QuotaExhausted);
        assert_eq!(error.code(), Some(code));
        assert_eq!(server.requests().len(), 1);
    }
}

// BerriAI/litellm#22697
#[tokio::test]
async fn a_context_that_is_too_long_is_not_asked_again() {
    let body = error_body(
        "invalid_request_error",
        "context_length_exceeded",
        "too long",
    );
    let server = Raw::serve(vec![json(400, &body)]).await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextLength);
    assert_eq!(error.group(), Some(skyl::Group::BadRequest));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_refusal_without_text_is_one_request_and_keeps_its_words_and_usage() {
    let body = r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"I cannot."},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}"#;
    let server = Raw::serve(vec![json(200, body)]).await;
    let Bench { client, events, .. } = bench(&server);

    let error = client.complete(&request()).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Refusal);
    assert_eq!(error.message(), Some("I cannot."));
    assert_eq!(
        error.to_string(),
        "skyl: openai: model declined the request: I cannot."
    );
    assert_eq!(error.usage().unwrap().input_tokens, Some(5));
    assert_eq!((error.status(), error.http_status()), (None, Some(200)));
    assert_eq!(server.requests().len(), 1);
    assert_eq!(events.all()[0].input_tokens, Some(5));
}

#[tokio::test]
async fn a_200_with_neither_answer_nor_error_is_retried() {
    for body in [r#"{"choices":null}"#, r#"{"choices":[]}"#, "{}", ""] {
        let server = Raw::serve(vec![json(200, body), ok("Paris")]).await;
        let answer = bench(&server).client.complete(&request()).await.unwrap();
        assert_eq!(answer.text(), "Paris", "{body}");
        assert_eq!(answer.attempts()[0].kind, Some(ErrorKind::Server), "{body}");
        assert_eq!(answer.attempts()[0].status, Some(200));
    }
}

#[tokio::test]
async fn an_error_in_a_200_is_that_error() {
    let server = Raw::serve(vec![
        json(200, r#"{"error":{"message":"busy","code":503}}"#),
        json(
            200,
            &error_body("invalid_request_error", "invalid_api_key", "no"),
        ),
    ])
    .await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    assert_eq!(error.attempts()[0].kind, Some(ErrorKind::Server));
    assert_eq!(statuses(&error), [Some(200), Some(200)]);
    assert_eq!(error.http_status(), Some(200));
}

// AltimateAI/altimate-code#1119
#[tokio::test]
async fn html_from_a_proxy_keeps_its_status_and_a_200_of_it_is_unreadable() {
    let html = "<html><body>Bad Gateway</body></html>";
    let page = |status| reply(status, &[("Content-Type", "text/html")], html);
    let server = Raw::serve(vec![page(502), page(200)]).await;

    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();

    assert_eq!(error.attempts()[0].kind, Some(ErrorKind::Server));
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(error.http_status(), Some(200));
    assert_eq!(error.body(), Some(html));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_overloaded_provider_is_told_from_a_broken_one() {
    let server = Raw::serve(vec![json(529, "{}")]).await;
    let bench_of = |server| bench_with(server, |builder| builder.max_retries(0));
    let error = bench_of(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.is_overloaded()),
        (ErrorKind::Server, true)
    );

    let server = Raw::serve(vec![json(500, "{}")]).await;
    let error = bench_of(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.is_overloaded()),
        (ErrorKind::Server, false)
    );
}

#[tokio::test]
async fn the_servers_word_stops_a_503() {
    let no = reply(503, &[("x-should-retry", "false")], "{}");
    let server = Raw::serve(vec![no, ok("never")]).await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.retry_stop(), Some(RetryStop::ServerSaidNo));
    assert!(!error.retryable());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_servers_word_makes_a_302_retryable_but_nothing_final() {
    let yes = |status, body: &str| reply(status, &[("x-should-retry", "true")], body);
    let server = Raw::serve(vec![yes(302, ""), ok("Paris")]).await;
    let answer = bench(&server).client.complete(&request()).await.unwrap();
    assert_eq!(answer.attempts().len(), 2);

    let quota = error_body("insufficient_quota", "insufficient_quota", "no money");
    for (status, body) in [(400, "{}"), (401, "{}"), (422, "{}"), (429, &*quota)] {
        let server = Raw::serve(vec![yes(status, body)]).await;
        let error = bench(&server)
            .client
            .complete(&request())
            .await
            .unwrap_err();
        assert!(!error.retryable(), "{status}");
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn the_callers_own_choice_replaces_the_table_and_the_servers_word() {
    let asked = Arc::new(AtomicU32::new(0));
    let counter = asked.clone();
    let server = Raw::serve(vec![
        reply(422, &[("x-should-retry", "false")], "{}"),
        json(503, "{}"),
        ok("never"),
    ])
    .await;
    let Bench { client, .. } = bench_with(&server, move |builder| {
        builder.should_retry(move |failure| {
            counter.fetch_add(1, Ordering::Relaxed);
            assert_eq!(failure.sent, Sent::Maybe);
            if failure.status == Some(422) {
                Choice::Retry
            } else {
                Choice::Stop
            }
        })
    });
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(statuses(&error), [Some(422), Some(503)]);
    assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
    assert!(
        error.retryable(),
        "the caller's choice does not change what the kind says"
    );
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn the_callers_choice_has_the_class_to_decide_by() {
    let server = Raw::serve(vec![vec![Act::Close], json(429, "{}"), ok("Paris")]).await;
    let Bench { client, .. } = bench_with(&server, |builder| {
        builder.should_retry(|failure| match failure.class {
            FailureClass::ConnectionLost => Choice::Retry,
            _ => Choice::Stop,
        })
    });
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(statuses(&error), [None, Some(429)]);
}

#[tokio::test]
async fn backoff_stays_within_its_ceilings_and_varies() {
    let server = Raw::serve(vec![json(500, "{}")]).await;
    let mut first = Vec::new();
    for seed in 0..8 {
        let Bench { client, clock, .. } =
            bench_with(&server, |builder| builder.seed(seed).max_retries(8));
        client.complete(&request()).await.unwrap_err();
        let sleeps = clock.sleeps();
        for (n, sleep) in sleeps.iter().enumerate() {
            let ceiling = ms(500 << n).min(secs(30));
            assert!(*sleep <= ceiling, "retry {n} waited {sleep:?}");
        }
        first.push(sleeps[0]);
    }
    first.sort_unstable();
    first.dedup();
    assert!(first.len() > 6, "eight calls, eight draws: {first:?}");
}

#[tokio::test]
async fn two_clients_never_wait_in_step() {
    let server = Raw::serve(vec![json(500, "{}")]).await;
    let mut waits = Vec::new();
    for _ in 0..2 {
        let clock = skyl_retry::ManualClock::skipping();
        let dialect = skyl::openai::OpenAi::new("sk-test-0123456789").base_url(server.base_url());
        let client = skyl::Client::builder(dialect)
            .clock(clock.clone())
            .build()
            .unwrap();
        client.complete(&request()).await.unwrap_err();
        client.clone().complete(&request()).await.unwrap_err();
        waits.extend(clock.sleeps().chunks(3).map(<[_]>::to_vec));
    }
    assert_eq!(waits.len(), 4);
    for (at, one) in waits.iter().enumerate() {
        assert!(waits[..at].iter().all(|other| other != one), "{waits:?}");
    }
}

#[tokio::test]
async fn a_time_budget_stops_before_the_wait_with_the_last_error_itself() {
    let server = Raw::serve(vec![
        reply(503, &[("Retry-After", "40")], "{}"),
        ok("never"),
    ])
    .await;
    let policy = RetryPolicy::builder().budget(secs(30)).build().unwrap();
    let Bench {
        client,
        clock,
        events,
    } = bench_with(&server, |builder| builder.policy(policy));
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);
    assert_eq!(error.retry_stop(), Some(RetryStop::TimeBudget));
    assert_eq!(
        error.to_string(),
        "skyl: openai: provider server error (http 503)"
    );
    assert!(clock.sleeps().is_empty());
    assert_eq!(events.all()[0].retry_stop, Some(RetryStop::TimeBudget));
}

#[tokio::test]
async fn an_empty_retry_budget_stops_the_retry_not_the_call() {
    let figures = RetryBudgetPolicy {
        ratio: 0.5,
        reserve_per_second: 0.0,
        capacity: 1.0,
        initial: Some(1.0),
    };
    let policy = RetryPolicy::builder()
        .retry_budget(figures)
        .build()
        .unwrap();
    let server = Raw::serve(vec![json(500, "{}"), json(500, "{}"), ok("Paris")]).await;
    let Bench { client, .. } = bench_with(&server, |builder| builder.policy(policy));

    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(error.retry_stop(), Some(RetryStop::RetryBudget));
    assert_eq!(error.attempts().len(), 2, "one token, one retry");
    assert_eq!(client.complete(&request()).await.unwrap().text(), "Paris");
}

#[tokio::test]
async fn a_given_retry_budget_is_shared_between_clients() {
    let figures = RetryBudgetPolicy {
        ratio: 0.0,
        reserve_per_second: 0.0,
        capacity: 1.0,
        initial: None,
    };
    let budget = Arc::new(RetryBudget::new(&figures).unwrap());
    let server = Raw::serve(vec![json(500, "{}")]).await;
    let of_its_own = bench_with(&server, |builder| builder.policy(RetryPolicy::fleet())).client;
    assert!(bench(&server).client.retry_budget().is_none());
    assert!(
        of_its_own
            .retry_budget()
            .is_some_and(|own| !Arc::ptr_eq(own, &budget))
    );
    let made = |budget: &Arc<RetryBudget>| {
        let budget = budget.clone();
        bench_with(&server, |builder| builder.retry_budget(budget)).client
    };
    let (one, other) = (made(&budget), made(&budget));
    assert!(
        one.retry_budget()
            .is_some_and(|shared| Arc::ptr_eq(shared, &budget))
    );
    assert_eq!(
        one.complete(&request()).await.unwrap_err().attempts().len(),
        2
    );
    let error = other.complete(&request()).await.unwrap_err();
    assert_eq!(error.attempts().len(), 1);
    assert_eq!(error.retry_stop(), Some(RetryStop::RetryBudget));
}
