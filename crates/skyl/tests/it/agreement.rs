//! `retryable()` and the loop agree: on the chat policy a call is retried if and only if its error
//! is retryable, nothing was delivered, and a retry is left.

use proptest::prelude::*;
use skyl::Error;

use crate::raw::{Act, Raw, error_body, json, reply, sse, sse_open};
use crate::support::{Bench, bench_with, drain, request};

/// One way for an attempt to go wrong.
#[derive(Clone, Debug)]
enum Wrong {
    Status { status: u16, word: Option<&'static str>, body: String },
    InBand { status: u16, word: Option<&'static str>, body: String },
    Close,
    Reset,
    Half,
}

impl Wrong {
    fn acts(&self) -> Vec<Act> {
        match self {
            Self::Status { status, word, body } | Self::InBand { status, word, body } => {
                let word = word.map(|word| ("x-should-retry", word));
                reply(*status, word.as_slice(), body)
            }
            Self::Close => vec![Act::Close],
            Self::Reset => vec![Act::Reset],
            Self::Half => {
                vec![Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_vec()), Act::Close]
            }
        }
    }
}

fn bodies() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("{}".to_owned()),
        Just("<html>".to_owned()),
        Just(error_body("insufficient_quota", "insufficient_quota", "no")),
        Just(error_body("invalid_request_error", "context_length_exceeded", "long")),
        Just(error_body("invalid_request_error", "invalid_api_key", "no")),
        Just(error_body("server_error", "server_is_overloaded", "busy")),
        Just(error_body("requests", "rate_limit_exceeded", "slow")),
        Just(error_body("x", "y", "z")),
        Just(r#"{"error":{"code":503}}"#.to_owned()),
    ]
}

fn wrongs() -> impl Strategy<Value = Wrong> {
    let word = || prop_oneof![2 => Just(None), 1 => Just(Some("true")), 1 => Just(Some("false"))];
    prop_oneof![
        6 => (300u16..600, word(), bodies()).prop_map(|(status, word, body)| {
            Wrong::Status { status, word, body }
        }),
        3 => (word(), bodies()).prop_map(|(word, body)| Wrong::InBand { status: 200, word, body }),
        1 => Just(Wrong::Close),
        1 => Just(Wrong::Reset),
        1 => Just(Wrong::Half),
    ]
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn agrees(error: &Error, requests: usize, retries: u32) -> Result<(), TestCaseError> {
    let expected = if error.retryable() && !error.delivered() { retries as usize + 1 } else { 1 };
    prop_assert_eq!(requests, expected, "{} {:?}", error, error);
    prop_assert_eq!(error.attempts().len(), expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_loop_retries_exactly_what_is_retryable(wrong in wrongs(), retries in 0u32..3) {
        run(async {
            let server = Raw::serve(vec![wrong.acts()]).await;
            let Bench { client, .. } = bench_with(&server, |b| b.max_retries(retries));
            let error = client.complete(&request()).await.unwrap_err();
            agrees(&error, server.requests().len(), retries)
        })?;
    }

    #[test]
    fn the_start_of_a_stream_is_retried_exactly_if_retryable(wrong in wrongs(), retries in 0u32..3) {
        run(async {
            let server = Raw::serve(vec![wrong.acts()]).await;
            let Bench { client, .. } = bench_with(&server, |b| b.max_retries(retries));
            let error = client.stream(&request()).await.unwrap_err();
            agrees(&error, server.requests().len(), retries)
        })?;
    }

    #[test]
    fn what_was_delivered_is_never_asked_for_again(body in bodies(), close in any::<bool>()) {
        run(async {
            let frames = [crate::raw::delta("a"), format!("data: {body}\n\n")];
            let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
            let script = if close { [sse_open(&frames), vec![Act::Close]].concat() } else { sse(&frames) };
            let server = Raw::serve(vec![script, json(200, "{}")]).await;
            let Bench { client, .. } = bench_with(&server, |b| b);
            let mut stream = client.stream(&request()).await.unwrap();
            let error = drain(&mut stream).await.1.unwrap();
            prop_assert!(error.delivered());
            agrees(&error, server.requests().len(), 3)
        })?;
    }
}
