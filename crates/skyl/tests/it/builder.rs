//! What `build` refuses, by name, and what it takes.

use std::collections::HashSet;
use std::time::Duration;

use skyl::openai::{OpenAi, OpenAiCompatible};
use skyl::{
    Client, ClientBuilder, Error, ErrorKind, Jitter, Response, ResponseStream, RetryPolicy, Tool,
};

use crate::support::{KEY, ms, secs};

fn builder() -> ClientBuilder {
    Client::builder(OpenAi::new(KEY))
}

#[track_caller]
fn refused(builder: ClientBuilder, name: &str) {
    let error = builder.build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert!(error.message().unwrap().contains(name), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("skyl: openai: invalid request: "),
        "{error}"
    );
    assert!(error.attempts().is_empty());
}

const WEEK: Duration = secs(7 * 24 * 60 * 60);

#[test]
fn settings_at_their_limits_are_taken() {
    builder().max_retries(1_000).build().unwrap();
    builder().max_retries(0).build().unwrap();
    builder().retry_delay(ms(1), ms(1)).build().unwrap();
    builder().retry_delay(WEEK, WEEK).build().unwrap();
    builder().retry_after_cap(WEEK).build().unwrap();
    builder()
        .attempt_timeout(WEEK)
        .connect_timeout(WEEK)
        .total_timeout(WEEK)
        .build()
        .unwrap();
    builder().max_body_bytes(1).build().unwrap();
    builder()
        .max_retries(0)
        .retry_delay(ms(0), ms(0))
        .build()
        .unwrap();
}

#[test]
fn settings_past_their_limits_are_refused_by_name() {
    refused(builder().max_retries(1_001), "max_retries");
    refused(builder().retry_delay(ms(2), ms(1)), "max_delay");
    refused(builder().retry_delay(ms(1), WEEK + ms(1)), "max_delay");
    refused(builder().retry_after_cap(ms(0)), "max_retry_after");
    refused(builder().retry_after_cap(WEEK + ms(1)), "max_retry_after");
    refused(builder().attempt_timeout(ms(0)), "attempt_timeout");
    refused(
        builder().first_content_timeout(ms(0)),
        "first_content_timeout",
    );
    refused(builder().idle_timeout(WEEK + ms(1)), "idle_timeout");
    refused(builder().connect_timeout(ms(0)), "connect_timeout");
    refused(builder().total_timeout(ms(0)), "total_timeout");
    refused(builder().max_body_bytes(0), "max_body_bytes");
    refused(builder().attempt_header("a b"), "attempt_header");
    refused(
        builder().idempotency_key_header(""),
        "idempotency_key_header",
    );
}

#[test]
fn a_policy_whose_waits_cannot_vary_is_refused_by_name() {
    let policy = |jitter| RetryPolicy::builder().jitter(jitter).max_delay(ms(500));
    refused(builder().retry_delay(ms(0), secs(1)), "initial_delay");
    refused(
        builder().policy(policy(Jitter::Shave(0.0)).build().unwrap()),
        "jitter",
    );
    refused(
        builder().policy(policy(Jitter::Decorrelated).build().unwrap()),
        "max_delay",
    );
    builder()
        .policy(policy(Jitter::Shave(0.25)).build().unwrap())
        .build()
        .unwrap();
    builder().policy(RetryPolicy::system_one()).build().unwrap();
    builder().policy(RetryPolicy::fleet()).build().unwrap();
}

#[test]
fn base_addresses_that_are_none_are_refused() {
    for url in [
        "",
        "localhost:8099/v1",
        "ftp://host/v1",
        "http://",
        "not a url",
    ] {
        let error = Client::builder(OpenAiCompatible::new(url))
            .build()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest, "{url}");
        assert!(
            error.message().unwrap().contains("base URL"),
            "{url}: {error}"
        );
    }
    Client::builder(OpenAiCompatible::new("https://host:8443/v1"))
        .build()
        .unwrap();
}

#[test]
fn a_dialect_chosen_while_running_is_taken_too() {
    let dialect: std::sync::Arc<dyn skyl::Dialect> = std::sync::Arc::new(OpenAi::new(KEY));
    let client = Client::builder_shared(dialect).build().unwrap();
    assert_eq!(client.provider(), "openai");
    assert_eq!(client.policy().max_retries(), 3);
}

#[test]
fn later_settings_win() {
    let policy = RetryPolicy::builder().max_retries(9).build().unwrap();
    let client = builder()
        .max_retries(2)
        .policy(policy.clone())
        .build()
        .unwrap();
    assert_eq!(client.policy().max_retries(), 9);
    let client = builder().policy(policy).max_retries(2).build().unwrap();
    assert_eq!(client.policy().max_retries(), 2);
}

#[test]
fn clients_are_shared_freely_and_errors_are_one_word() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    fn sent<T: Send + Sync + 'static>() {}
    fn moved<T: Send>(_: T) {}
    shared::<Client>();
    shared::<Response>();
    sent::<Error>();
    moved::<Option<ResponseStream>>(None);
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Error>>(), size_of::<usize>());

    let client = builder().build().unwrap();
    let request = skyl::Request::new("m")
        .user("u")
        .tool(Tool::new("t", serde_json::json!({})));
    moved(client.complete(&request));
    moved(client.stream(&request));
    moved(client.models());
    let _names: HashSet<ErrorKind> = HashSet::new();
}

#[test]
fn a_call_takes_little_room_in_its_callers_future() {
    let client = builder().build().unwrap();
    let request = skyl::Request::new("m").user("u");
    assert!(size_of_val(&client.complete(&request)) < 8 << 10);
    assert!(size_of_val(&client.stream(&request)) < 8 << 10);
    assert!(size_of_val(&client.models()) < 8 << 10);
}
