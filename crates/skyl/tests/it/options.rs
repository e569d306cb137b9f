//! What one call may set for itself, and what it may not.

use skyl::{CallOptions, Choice, ErrorKind, RetryPolicy, RetryStop};

use crate::raw::{Raw, json, ok};
use crate::support::{Bench, bench, bench_with, ms, request, secs};

#[tokio::test]
async fn a_call_may_bring_its_own_policy() {
    let server = Raw::serve(vec![json(503, "{}")]).await;
    let Bench { client, .. } = bench(&server);
    let policy = RetryPolicy::builder().max_retries(1).build().unwrap();
    let error = client
        .complete_with(&request(), CallOptions::new().policy(policy))
        .await
        .unwrap_err();
    assert_eq!(error.attempts().len(), 2);
    assert_eq!(
        client
            .complete(&request())
            .await
            .unwrap_err()
            .attempts()
            .len(),
        4
    );
}

#[tokio::test]
async fn a_calls_policy_must_vary_its_waits_too() {
    let server = Raw::serve(vec![ok("never")]).await;
    let fixed = RetryPolicy::builder()
        .initial_delay(secs(0))
        .build()
        .unwrap();
    let options = CallOptions::new().policy(fixed);
    let error = bench(&server)
        .client
        .complete_with(&request(), options)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert!(
        error.message().unwrap().contains("initial_delay"),
        "{error}"
    );
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_calls_choice_wins_over_the_clients() {
    let server = Raw::serve(vec![json(503, "{}")]).await;
    let Bench { client, .. } =
        bench_with(&server, |builder| builder.should_retry(|_| Choice::Retry));
    let options = CallOptions::new().should_retry(|_| Choice::Stop);
    let error = client.complete_with(&request(), options).await.unwrap_err();
    assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
    assert_eq!(
        client
            .complete(&request())
            .await
            .unwrap_err()
            .attempts()
            .len(),
        4
    );
}

#[tokio::test]
async fn timeouts_that_cannot_be_are_refused_by_name() {
    let server = Raw::serve(vec![ok("never")]).await;
    let Bench { client, .. } = bench(&server);
    let week = secs(7 * 24 * 60 * 60);
    for (name, options) in [
        ("attempt_timeout", CallOptions::new().attempt_timeout(ms(0))),
        (
            "first_content_timeout",
            CallOptions::new().first_content_timeout(ms(0)),
        ),
        ("idle_timeout", CallOptions::new().idle_timeout(ms(0))),
        ("total_timeout", CallOptions::new().total_timeout(ms(0))),
        (
            "total_timeout",
            CallOptions::new().total_timeout(week + ms(1)),
        ),
    ] {
        let error = client.complete_with(&request(), options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest);
        assert!(error.message().unwrap().starts_with(name), "{error}");
    }
    assert!(server.requests().is_empty());
    let options = CallOptions::new().total_timeout(week);
    assert!(client.complete_with(&request(), options).await.is_ok());
}

#[tokio::test]
async fn headers_are_on_every_attempt_and_replace_skyls_own() {
    let server = Raw::serve(vec![json(503, "{}"), ok("Paris")]).await;
    let options = CallOptions::new()
        .header("X-Team", "search")
        .header("User-Agent", "mine/1");
    bench(&server)
        .client
        .complete_with(&request(), options)
        .await
        .unwrap();
    for seen in server.requests() {
        assert_eq!(seen.header("x-team"), Some("search"));
        assert_eq!(seen.header("user-agent"), Some("mine/1"));
    }
}

#[tokio::test]
async fn headers_that_cannot_be_are_refused_by_name_and_nothing_is_sent() {
    let server = Raw::serve(vec![ok("never")]).await;
    let Bench { client, .. } = bench(&server);
    for (name, value) in [
        ("bad name", "1"),
        ("x-y", "a\nb"),
        ("Content-Length", "3"),
        ("Host", "x"),
    ] {
        let options = CallOptions::new().header(name, value);
        let error = client.complete_with(&request(), options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest);
        assert!(error.message().unwrap().contains(name), "{error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn the_attempt_header_counts_retries_and_is_not_on_the_first_attempt() {
    let server = Raw::serve(vec![json(503, "{}"), json(503, "{}"), ok("Paris")]).await;
    let Bench { client, .. } = bench_with(&server, |b| b.attempt_header("X-Retry-Count"));
    client.complete(&request()).await.unwrap();
    let counts: Vec<_> = server
        .requests()
        .iter()
        .map(|seen| seen.header("x-retry-count").map(str::to_owned))
        .collect();
    assert_eq!(counts, [None, Some("1".into()), Some("2".into())]);
}

// BasedHardware/omi#12921, tuskyapp/Tusky#2152: a key made per attempt never dedupes
#[tokio::test]
async fn the_idempotency_key_is_one_per_call_and_the_same_on_every_attempt() {
    let server = Raw::serve(vec![
        json(503, "{}"),
        ok("a"),
        json(503, "{}"),
        ok("b"),
        ok("c"),
    ])
    .await;
    let Bench { client, .. } = bench_with(&server, |b| b.idempotency_key_header("Idempotency-Key"));
    client.complete(&request()).await.unwrap();
    client.complete(&request()).await.unwrap();
    client
        .complete_with(&request(), CallOptions::new().idempotency_key("mine"))
        .await
        .unwrap();
    let keys: Vec<_> = server
        .requests()
        .iter()
        .map(|seen| seen.header("idempotency-key").unwrap().to_owned())
        .collect();
    assert_eq!(keys[0], keys[1]);
    assert_eq!(keys[2], keys[3]);
    assert_ne!(keys[0], keys[2]);
    assert_eq!(keys[4], "mine");
    let shape: Vec<usize> = keys[0].split('-').map(str::len).collect();
    assert_eq!(shape, [8, 4, 4, 4, 12]);
    assert_eq!(
        keys[0].as_bytes()[14],
        b'4',
        "a version 4 UUID: {}",
        keys[0]
    );
}

#[tokio::test]
async fn without_a_header_for_it_no_idempotency_key_is_sent() {
    let server = Raw::serve(vec![ok("a")]).await;
    let options = CallOptions::new().idempotency_key("mine");
    bench(&server)
        .client
        .complete_with(&request(), options)
        .await
        .unwrap();
    assert!(!server.requests()[0].head.contains("mine"));
}
