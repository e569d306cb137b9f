//! Whole runs against the sandbox: journal, attempts and hook events must tell one story.

use skyl::openai::{OpenAi, OpenAiCompatible};
use skyl::{Client, ErrorKind, Operation, Request, StopReason};
use skyl_retry::ManualClock;
use skyl_sandbox::{DEFAULT_KEY, Sandbox};

use crate::support::{Bench, Events, drain, secs, text};

async fn bench() -> (Sandbox, Bench) {
    let sandbox = Sandbox::start().await.unwrap();
    let bench = bench_of(&sandbox);
    (sandbox, bench)
}

fn bench_of(sandbox: &Sandbox) -> Bench {
    let (events, clock) = (Events::default(), ManualClock::skipping());
    let dialect = OpenAi::new(DEFAULT_KEY).base_url(sandbox.base_url("/openai/v1"));
    let client = Client::builder(dialect)
        .clock(clock.clone())
        .seed(7)
        .hook(events.hook())
        .build()
        .unwrap();
    Bench {
        client,
        clock,
        events,
    }
}

fn ask(model: &str) -> Request {
    Request::new(model).user("What is the capital of France?")
}

/// What the journal, the record and the hooks say of the statuses, which must be one thing.
fn agreed(sandbox: &Sandbox, bench: &Bench, record: &[skyl::Attempt]) -> Vec<Option<u16>> {
    let journal: Vec<_> = sandbox.journal().iter().map(|entry| entry.status).collect();
    let attempts: Vec<_> = record.iter().map(|attempt| attempt.status).collect();
    let mut events = bench.events.all();
    events.retain(|event| event.operation != Operation::StreamEnd);
    let heard: Vec<_> = events.iter().map(|event| event.status).collect();
    assert_eq!(journal, attempts);
    assert_eq!(journal, heard);
    let bodies: Vec<_> = sandbox
        .journal()
        .into_iter()
        .map(|entry| entry.body_sha256)
        .collect();
    assert!(
        bodies.iter().all(|body| *body == bodies[0]),
        "byte-identical bodies"
    );
    journal
}

#[tokio::test]
async fn the_ordinary_answer_takes_one_attempt() {
    let (sandbox, bench) = bench().await;
    let answer = bench.client.complete(&ask("gpt-5.6")).await.unwrap();
    assert!(!answer.text().is_empty());
    assert_eq!(answer.stop_reason, StopReason::EndTurn);
    assert!(answer.usage.input_tokens.is_some() && answer.request_id.is_some());
    assert_eq!(agreed(&sandbox, &bench, answer.attempts()), [Some(200)]);
}

#[tokio::test]
async fn a_bad_minute_is_survived_and_told_alike_by_all() {
    let (sandbox, bench) = bench().await;
    let answer = bench
        .client
        .complete(&ask("sandbox-do-429(ra=1)*2,reset,ok"))
        .await
        .unwrap();
    let statuses = agreed(&sandbox, &bench, answer.attempts());
    assert_eq!(statuses, [Some(429), Some(429), None, Some(200)]);
    assert_eq!(bench.clock.sleeps()[..2], [secs(1), secs(1)]);
}

#[tokio::test]
async fn every_way_to_lose_an_answer_is_retried() {
    for script in [
        "reset",
        "close",
        "reset-mid",
        "close-mid",
        "500",
        "502(body=html)",
        "429(body=cut)",
        "503(body=empty)",
    ] {
        let (sandbox, bench) = bench().await;
        let model = format!("sandbox-do-{script},ok");
        let answer = bench.client.complete(&ask(&model)).await.unwrap();
        assert_eq!(
            agreed(&sandbox, &bench, answer.attempts()).len(),
            2,
            "{script}"
        );
    }
}

#[tokio::test]
async fn final_failures_are_one_request() {
    for (model, kind) in [
        ("sandbox-status-400", ErrorKind::BadRequest),
        ("sandbox-status-401", ErrorKind::Auth),
        ("sandbox-status-403", ErrorKind::Auth),
        ("sandbox-status-404", ErrorKind::NotFound),
        ("sandbox-status-407", ErrorKind::Auth),
        ("sandbox-status-418", ErrorKind::BadRequest),
        ("sandbox-status-422", ErrorKind::BadRequest),
        ("sandbox-do-429(body=quota)", ErrorKind::QuotaExhausted),
        ("sandbox-do-400(body=context)", ErrorKind::ContextLength),
        ("sandbox-refusal", ErrorKind::Refusal),
        ("sandbox-content-filter", ErrorKind::Refusal),
        ("no-such-model", ErrorKind::NotFound),
    ] {
        for streamed in [false, true] {
            let (sandbox, bench) = bench().await;
            let error = if streamed {
                match bench.client.stream(&ask(model)).await {
                    Ok(stream) => stream.into_response().await.unwrap_err(),
                    Err(error) => error,
                }
            } else {
                bench.client.complete(&ask(model)).await.unwrap_err()
            };
            assert_eq!(error.kind(), kind, "{model}: {error}");
            assert_eq!(sandbox.journal().len(), 1, "{model}");
        }
    }
}

#[tokio::test]
async fn the_429_model_sends_a_wait_that_a_cap_makes_fast() {
    let (sandbox, bench) = bench().await;
    let error = bench
        .client
        .complete(&ask("sandbox-status-429"))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("skyl: giving up after 4 attempts: skyl: openai: rate limited (http 429)"),
        "{error}"
    );
    assert_eq!(bench.clock.sleeps(), [secs(1); 3]);
    assert_eq!(agreed(&sandbox, &bench, error.attempts()), [Some(429); 4]);
}

#[tokio::test]
async fn the_servers_word_is_obeyed() {
    let (sandbox, bench) = bench().await;
    bench
        .client
        .complete(&ask("sandbox-do-503(should-retry=false),ok"))
        .await
        .unwrap_err();
    bench
        .client
        .complete(&ask("sandbox-do-302(should-retry=true),ok"))
        .await
        .unwrap();
    assert_eq!(sandbox.journal().len(), 1 + 2);
}

#[tokio::test]
async fn a_streamed_answer_equals_the_whole_one() {
    for model in [
        "gpt-5.6",
        "sandbox-reasoning",
        "sandbox-do-split(1)",
        "sandbox-do-split(3)",
    ] {
        let (_sandbox, bench) = bench().await;
        let complete = bench.client.complete(&ask(model)).await.unwrap();
        let streamed = bench
            .client
            .stream(&ask(model))
            .await
            .unwrap()
            .into_response()
            .await
            .unwrap();
        assert_eq!(streamed.message, complete.message, "{model}");
        assert_eq!(
            (streamed.stop_reason, streamed.usage),
            (complete.stop_reason, complete.usage)
        );
        assert_eq!(streamed.model, complete.model);
    }
}

#[tokio::test]
async fn stream_starts_are_retried_and_what_follows_is_not() {
    let (sandbox, bench) = bench().await;
    let model = "sandbox-do-429(ra=1),reset,first-error,close-mid,stream-error(1)";
    let policy = skyl::RetryPolicy::builder().max_retries(9).build().unwrap();
    let options = skyl::CallOptions::new().policy(policy);
    let mut stream = bench
        .client
        .stream_with(&ask(model), options)
        .await
        .unwrap();
    let (events, error) = drain(&mut stream).await;
    let error = error.unwrap();
    // A cut after the first content frame is no failed start: it is a failed stream.
    assert_eq!(error.kind(), ErrorKind::Transport, "{error}");
    assert!(error.delivered() && !text(&events).is_empty());
    assert_eq!(
        agreed(&sandbox, &bench, error.attempts()),
        [Some(429), None, Some(200), Some(200)]
    );
    assert_eq!(bench.events.of(Operation::StreamEnd).len(), 1);
}

#[tokio::test]
async fn every_break_after_content_surfaces_once_and_is_never_resent() {
    for (model, kind) in [
        ("sandbox-stream-error", ErrorKind::Server),
        ("sandbox-stream-truncate", ErrorKind::Truncated),
        ("sandbox-do-stream-reset(2)", ErrorKind::Transport),
        ("sandbox-do-reset-mid", ErrorKind::Transport),
    ] {
        let (sandbox, bench) = bench().await;
        let mut stream = bench.client.stream(&ask(model)).await.unwrap();
        let (events, error) = drain(&mut stream).await;
        let error = error.unwrap();
        assert_eq!(error.kind(), kind, "{model}: {error}");
        assert!(error.delivered() && !text(&events).is_empty(), "{model}");
        assert_eq!(sandbox.journal().len(), 1, "{model}");
        assert_eq!(bench.events.of(Operation::StreamEnd).len(), 1, "{model}");
    }
}

#[tokio::test]
async fn dropping_a_stream_is_seen_by_the_server() {
    let (sandbox, bench) = bench().await;
    let mut stream = bench
        .client
        .stream(&ask("sandbox-do-stream-stall(1;600000)"))
        .await
        .unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    sandbox.all_closed().await;
    assert_eq!(bench.events.of(Operation::StreamEnd).len(), 1);
}

#[tokio::test]
async fn models_are_listed_and_a_wrong_key_is_not_asked_twice() {
    let (sandbox, bench) = bench().await;
    let models = bench.client.models().await.unwrap();
    assert!(models.iter().any(|model| model.id == "gpt-5.6"));

    let dialect = OpenAiCompatible::new(sandbox.base_url("/compat/v1")).key("sk-wrong-0123");
    let client = Client::builder(dialect).build().unwrap();
    let error = client.models().await.unwrap_err();
    assert_eq!((error.kind(), error.attempts().len()), (ErrorKind::Auth, 1));
}

#[tokio::test]
async fn a_key_the_sandbox_echoes_in_three_spellings_appears_nowhere() {
    let sandbox = Sandbox::builder()
        .key("sk-se/cret+key")
        .start()
        .await
        .unwrap();
    let dialect = OpenAi::new("sk-se/cret+key").base_url(sandbox.base_url("/openai/v1"));
    let client = Client::builder(dialect).build().unwrap();
    let error = client.complete(&ask("sandbox-echo-key")).await.unwrap_err();
    let all = format!("{error} {error:?} {:?} {:?}", error.message(), error.body());
    assert!(!all.contains("cret"), "{all}");
    assert!(all.contains("[redacted]"), "{all}");
}

#[tokio::test]
async fn many_calls_at_once_each_keep_their_own_record() {
    let (sandbox, bench) = bench().await;
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..20 {
        let client = bench.client.clone();
        calls.spawn(async move {
            let model = format!("sandbox-do-503*{},ok@{n}", n % 3 + 1);
            (n % 3 + 1, client.complete(&ask(&model)).await.unwrap())
        });
    }
    let mut requests = 0;
    while let Some(done) = calls.join_next().await {
        let (failures, answer) = done.unwrap();
        assert_eq!(answer.attempts().len(), failures + 1);
        requests += answer.attempts().len();
    }
    assert_eq!(sandbox.journal().len(), requests);
    assert_eq!(bench.events.all().len(), requests);
}
