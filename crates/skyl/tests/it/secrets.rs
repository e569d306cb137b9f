//! The key: sent where it belongs, and found nowhere else, even if the server says it back.

use std::error::Error as _;
use std::fmt::Write;

use skyl::openai::{OpenAi, OpenAiCompatible};
use skyl::{Client, Error};
use skyl_retry::ManualClock;

use crate::raw::{Raw, error_body, json, reply, sse};
use crate::support::{Bench, bench, bench_with, drain, request};

const KEY: &str = "sk-se/cret+0123456789";

fn client(server: &Raw) -> (Client, crate::support::Events) {
    let events = crate::support::Events::default();
    let client = Client::builder(OpenAi::new(KEY).base_url(server.base_url()))
        .clock(ManualClock::skipping())
        .max_retries(1)
        .hook(events.hook())
        .build()
        .unwrap();
    (client, events)
}

/// Everything an error can print.
pub(crate) fn prints(error: &Error) -> String {
    let mut all = format!(
        "{error} {error:?} {error:#?} {:?} {:?} {:?} {:?} {:?}",
        error.message(),
        error.body(),
        error.code(),
        error.request_id(),
        error.attempts(),
    );
    let mut next = error.source();
    while let Some(source) = next {
        write!(all, " {source} {source:?}").unwrap();
        next = source.source();
    }
    if let Some(last) = error.last_error() {
        all += &prints(last);
    }
    all
}

#[tokio::test]
async fn the_key_goes_out_in_its_header() {
    let server = Raw::serve(vec![json(401, "{}")]).await;
    client(&server).0.complete(&request()).await.unwrap_err();
    assert_eq!(
        server.requests()[0].header("authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
}

// The spellings of the key a server may use; each must go, whatever field it stands in.
#[tokio::test]
async fn a_key_that_a_server_echoes_appears_nowhere() {
    let percent = "sk-se%2Fcret%2B0123456789";
    let json_slash = r"sk-se\/cret+0123456789";
    let json_code = r"sk-se\u002fcret\u002B0123456789";
    for spelling in [KEY, percent, json_slash, json_code] {
        let body = error_body("auth", spelling, &format!("Incorrect key {spelling} given"));
        let head = ("x-request-id", spelling);
        for status in [401, 429, 200] {
            let server = Raw::serve(vec![reply(status, &[head], &body)]).await;
            let (client, events) = client(&server);
            let error = client.complete(&request()).await.unwrap_err();
            let all = prints(&error) + &format!("{:?}", events.all());
            for part in [spelling, KEY, "0123456789"] {
                assert!(!all.contains(part), "{part} in {all}");
            }
            assert!(all.contains("[redacted]"));
        }
    }
}

#[tokio::test]
async fn a_key_that_a_stream_echoes_appears_nowhere() {
    let frame = |text: &str| format!("data: {}\n\n", error_body("server_error", "x", text));
    let echo = frame(&format!("no {KEY}"));
    let content = crate::raw::delta("Par");
    for frames in [vec![&*echo], vec![&*content, &*echo]] {
        let server = Raw::serve(vec![sse(&frames)]).await;
        let (client, events) = client(&server);
        let error = match client.stream(&request()).await {
            Err(error) => error,
            Ok(mut stream) => drain(&mut stream).await.1.unwrap(),
        };
        let all = prints(&error) + &format!("{:?}", events.all());
        assert!(!all.contains("cret"), "{all}");
    }
}

#[tokio::test]
async fn a_body_cut_within_the_key_keeps_none_of_it() {
    let body = format!("{} {KEY}", "x".repeat(64 * 1024 - 13));
    let server = Raw::serve(vec![json(400, &body)]).await;
    let error = client(&server).0.complete(&request()).await.unwrap_err();
    assert!(!prints(&error).contains("sk-se"));

    let body = format!("{} {KEY}", "x".repeat(2040));
    let server = Raw::serve(vec![json(400, &body)]).await;
    let error = client(&server).0.complete(&request()).await.unwrap_err();
    assert!(
        !prints(&error).contains("sk-se"),
        "scrubbed before it is cut to what is kept"
    );
}

#[tokio::test]
async fn clients_builders_and_options_print_no_key() {
    let server = Raw::serve(vec![json(400, "{}")]).await;
    let dialect = OpenAi::new(KEY).base_url(server.base_url());
    let builder = Client::builder(dialect.clone());
    let mut all = format!("{dialect:?} {builder:?}");
    let client = builder.build().unwrap();
    let options = skyl::CallOptions::new().header("x-mine", KEY);
    write!(all, "{client:?} {client:#?} {options:?}").unwrap();
    assert!(!all.contains("cret"), "{all}");
}

// Whatever the transport says of an address, its query and its user stay out of it.
#[tokio::test]
async fn an_address_in_a_transport_error_loses_query_and_user() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let base = format!("http://user:pass-word@{address}/v1");
    let client = Client::builder(OpenAiCompatible::new(base))
        .clock(ManualClock::skipping())
        .max_retries(0)
        .build()
        .unwrap();
    let error = client.complete(&request()).await.unwrap_err();
    let all = prints(&error);
    assert!(
        !all.contains("pass-word") && !all.contains("user:"),
        "{all}"
    );
    assert!(
        all.contains(&address.to_string()),
        "host and port help: {all}"
    );
}

#[tokio::test]
async fn prompts_and_answers_stay_out_of_debug_prints() {
    let body = error_body(
        "invalid_request_error",
        "x",
        "you asked: What is the capital",
    );
    let server = Raw::serve(vec![json(400, &body), crate::raw::ok("Paris")]).await;
    let Bench { client, .. } = bench(&server);
    let request = request();
    let error = client.complete(&request).await.unwrap_err();
    let answer = client.complete(&request).await.unwrap();
    let all = format!("{request:?} {error:?} {answer:?}");
    assert!(!all.contains("capital") && !all.contains("Paris"), "{all}");
}

#[tokio::test]
async fn an_empty_or_missing_key_sends_no_credential() {
    let server = Raw::serve(vec![crate::raw::ok("Paris")]).await;
    let client = Client::builder(OpenAiCompatible::new(server.base_url()))
        .build()
        .unwrap();
    client.complete(&request()).await.unwrap();
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_header_may_not_replace_the_credential_but_may_be_one_where_there_is_none() {
    let server = Raw::serve(vec![crate::raw::ok("Paris")]).await;
    let options = || skyl::CallOptions::new().header("Authorization", "Bearer other");
    let Bench { client, .. } = bench_with(&server, |builder| builder);
    let error = client
        .complete_with(&request(), options())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), skyl::ErrorKind::BadRequest);
    assert!(error.message().unwrap().contains("credential"), "{error}");
    assert!(server.requests().is_empty());

    let client = Client::builder(OpenAiCompatible::new(server.base_url()))
        .build()
        .unwrap();
    client.complete_with(&request(), options()).await.unwrap();
    assert_eq!(
        server.requests()[0].header("authorization"),
        Some("Bearer other")
    );
}

#[test]
fn a_key_no_header_can_carry_is_refused_at_build_without_printing_it() {
    let error = Client::builder(OpenAi::new("sk-se\ncret-0123456789"))
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), skyl::ErrorKind::Auth);
    assert!(!prints(&error).contains("cret"));
}
