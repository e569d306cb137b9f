//! What went wrong for others in public, where it takes a client and a socket to see it. Each report
//! is named as `repo#number`; where it is about one rule alone, its test stands beside that rule.

use std::future::pending;
use std::time::Duration;

use skyl::openai::OpenAiCompatible;
use skyl::{CallOptions, Choice, Client, ErrorKind, RetryPolicy, RetryStop};
use skyl_retry::ManualClock;
use tokio::sync::{Notify, oneshot};

use crate::raw::{Act, DONE, Raw, chunk, delta, finish, json, ok, reply, sse_open};
use crate::support::{Bench, bench, bench_on, bench_with, drain, ms, request, secs, text};

fn asks(status: u16, seconds: &str) -> Vec<Act> {
    reply(status, &[("Retry-After", seconds)], "{}")
}

// seanmonstar/reqwest#925: the wait of a redirect was lost, and so was that of a job not yet done.
// Here a redirect is final; its wait can be read, and is obeyed for a caller who has it retried.
#[tokio::test]
async fn a_wait_counts_whatever_the_status_it_came_with() {
    let server = Raw::serve(vec![asks(301, "2"), ok("Paris")]).await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.retry_after(), Some(secs(2)));
    assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));

    let server = Raw::serve(vec![asks(301, "2"), ok("Paris")]).await;
    let Bench { client, clock, .. } =
        bench_with(&server, |builder| builder.should_retry(|_| Choice::Retry));
    assert_eq!(client.complete(&request()).await.unwrap().text(), "Paris");
    assert_eq!(clock.sleeps(), [secs(2)]);

    // "Not ready yet" holds no answer: it is retried, when it says.
    let server = Raw::serve(vec![asks(202, "2"), ok("Paris")]).await;
    let Bench { client, clock, .. } = bench(&server);
    assert_eq!(client.complete(&request()).await.unwrap().text(), "Paris");
    assert_eq!(clock.sleeps(), [secs(2)]);
}

// wojtekmach/req#463: the header won over the delay that this very call had asked for.
#[tokio::test]
async fn a_call_may_set_the_servers_wait_aside() {
    let server = Raw::serve(vec![asks(429, "100"), ok("Paris")]).await;
    let Bench { client, clock, .. } = bench(&server);
    let own = RetryPolicy::builder()
        .honor_retry_after(false)
        .build()
        .unwrap();
    let options = CallOptions::new().policy(own);
    client.complete_with(&request(), options).await.unwrap();
    assert!(clock.sleeps()[0] <= ms(500), "{:?}", clock.sleeps());

    // The next call of the same client is under the client's own policy again.
    server.play(vec![asks(429, "100"), ok("Paris")]);
    client.complete(&request()).await.unwrap();
    assert_eq!(clock.sleeps()[1], secs(100));
}

// openai/openai-agents-python#3266, BerriAI/litellm#41261: which of two limits bounds the server's
// wait was said nowhere, and one of 60 s cut a cool-down of 300 s short.
#[tokio::test]
async fn the_ceiling_of_the_backoff_does_not_bound_the_servers_wait() {
    for (asked, waited) in [("200", 200), ("300", 300), ("3600", 300)] {
        let server = Raw::serve(vec![asks(429, asked), ok("Paris")]).await;
        let Bench { client, clock, .. } =
            bench_with(&server, |builder| builder.retry_delay(ms(1), secs(1)));
        client.complete(&request()).await.unwrap();
        assert_eq!(clock.sleeps(), [secs(waited)]);
    }
}

// 64bit/async-openai 0.43, AltimateAI/altimate-code#1119: a limit of the proxy's own, told in HTML,
// ended as a JSON error without a retry.
#[tokio::test]
async fn a_rate_limit_told_in_html_is_one_with_its_wait() {
    let page = reply(
        429,
        &[("Content-Type", "text/html"), ("Retry-After", "3")],
        "<html><body>Too many requests</body></html>",
    );
    let server = Raw::serve(vec![page, ok("Paris")]).await;
    let Bench { client, clock, .. } = bench(&server);
    let answer = client.complete(&request()).await.unwrap();
    assert_eq!(answer.attempts()[0].kind, Some(ErrorKind::RateLimit));
    assert_eq!(clock.sleeps(), [secs(3)]);
}

// dirge-code/dirge#719: 118 of 154 calls were blind retries that ate a free quota of 50 a day.
#[tokio::test]
async fn what_is_left_of_a_daily_quota_is_not_spent_on_retries() {
    let refused = |message: &str| {
        let body = format!(
            r#"{{"error":{{"message":"{message}","code":429,"metadata":{{"headers":{{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1796083212000"}}}}}}}}"#
        );
        json(429, &body)
    };
    let call = async |message: &str| {
        let server = Raw::serve(vec![refused(message), ok("Paris")]).await;
        let clock = ManualClock::skipping();
        let dialect = OpenAiCompatible::new(server.base_url()).name("openrouter");
        let client = Client::builder(dialect)
            .clock(clock.clone())
            .build()
            .unwrap();
        let outcome = client.complete(&request()).await;
        (outcome, server.requests().len(), clock.sleeps())
    };
    let (outcome, requests, sleeps) = call("Rate limit exceeded: free-models-per-day").await;
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::QuotaExhausted);
    assert_eq!((requests, sleeps.len()), (1, 0));
    assert_eq!(error.retry_after(), Some(secs(12)), "readable all the same");

    // The same answer about a minute's limit is waited for, as long as its body says.
    let (outcome, requests, sleeps) = call("Rate limit exceeded: free-models-per-min").await;
    assert_eq!(outcome.unwrap().text(), "Paris");
    assert_eq!((requests, sleeps), (2, vec![secs(12)]));
}

// resilience4j/resilience4j#903, nodeshift/opossum#276, diegosouzapw/OmniRoute#13836: one caller who
// left while all were held back kept the gate shut for good.
#[tokio::test]
async fn who_leaves_during_a_shared_pause_holds_up_nobody() {
    let server = Raw::serve(vec![asks(429, "20"), ok("Paris")]).await;
    let Bench { client, clock, .. } = bench_on(ManualClock::new(), &server.base_url(), |builder| {
        builder.max_retries(0).shared_pause(true)
    });
    let request = request();
    client.complete(&request).await.unwrap_err();

    let (cancel, cancelled) = oneshot::channel::<()>();
    let call = client.complete_with(&request, CallOptions::new().cancel_on(cancelled));
    let user = async {
        clock.until_sleeping().await;
        cancel.send(()).unwrap();
        pending::<()>().await;
    };
    let error =
        tokio::select! { outcome = call => outcome.unwrap_err(), () = user => unreachable!() };
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(error.attempts().is_empty(), "nothing was sent");

    // Another one is just dropped.
    tokio::select! {
        _ = client.complete(&request) => unreachable!(),
        _ = clock.until_sleeping() => {}
    }
    assert_eq!(server.requests().len(), 1);

    clock.advance(secs(20));
    let answer = client.complete(&request).await.unwrap();
    assert_eq!(answer.attempts()[0].pause, Duration::ZERO);
}

// go-resty/resty#1197, failsafe-go/failsafe-go#65, cristalhq/hedgedhttp#7: what belonged to the start
// of a call ended with it, and the body that was still being read ended too.
#[tokio::test]
async fn a_stream_outlives_the_client_and_the_options_that_started_it() {
    let go = std::sync::Arc::new(Notify::new());
    let rest = vec![
        Act::Wait(go.clone()),
        chunk(&delta("is")),
        chunk(&finish("stop")),
        chunk(DONE),
        Act::Send(b"0\r\n\r\n".to_vec()),
    ];
    let script = [sse_open(&[&delta("Par")]), rest].concat();
    let server = Raw::serve(vec![json(503, "{}"), script]).await;
    let Bench { client, events, .. } = bench(&server);
    let options = CallOptions::new()
        .policy(RetryPolicy::chat())
        .cancel_on(pending::<()>());
    let mut stream = client.stream_with(&request(), options).await.unwrap();
    drop(client);
    go.notify_one();
    let (heard, error) = drain(&mut stream).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(text(&heard), "Paris");
    assert!(events.all().last().unwrap().completed);
}

// BerriAI/litellm#7130, mpfaffenberger/code_puppy#317, caura-ai/caura#859: layers that each retried
// multiplied, 45 requests for one call, and a log that showed a third of them.
#[tokio::test]
async fn requests_on_the_wire_are_the_attempts_on_record_and_no_more() {
    for failing in [json(429, "{}"), vec![Act::Close], vec![Act::Reset]] {
        let server = Raw::serve(vec![ok("warm"), failing]).await;
        let Bench { client, events, .. } = bench_with(&server, |builder| builder.max_retries(4));
        client.complete(&request()).await.unwrap();
        for call in 0..3 {
            let (seen, heard) = (server.requests().len(), events.all().len());
            let error = match call {
                0 => client.complete(&request()).await.unwrap_err(),
                1 => client.stream(&request()).await.unwrap_err(),
                _ => client.models().await.unwrap_err(),
            };
            assert_eq!(error.attempts().len(), 5);
            assert_eq!(server.requests().len() - seen, 5, "{error}");
            assert_eq!(events.all().len() - heard, 5, "{error}");
        }
    }
}
