//! `retryable()` and the loop agree: on the chat policy a call is retried if and only if its error
//! is retryable, nothing was delivered, and a retry is left.

use proptest::prelude::*;
use skyl::{CallOptions, Client, Error, RetryPolicy};

use crate::raw::{Act, Raw, delta, error_body, json, reply, sse, sse_open};
use crate::support::{Bench, bench, drain, request};

/// One way for an attempt to go wrong.
#[derive(Clone, Debug)]
enum Wrong {
    Status {
        status: u16,
        word: Option<&'static str>,
        body: String,
    },
    InBand {
        status: u16,
        word: Option<&'static str>,
        body: String,
    },
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
                vec![
                    Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_vec()),
                    Act::Close,
                ]
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
        Just(error_body(
            "invalid_request_error",
            "context_length_exceeded",
            "long"
        )),
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

/// One runtime, server and client for all cases of a test.
struct Stage {
    runtime: tokio::runtime::Runtime,
    server: Raw,
    bench: Bench,
}

impl Stage {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let server = runtime.block_on(Raw::serve(vec![json(200, "{}")]));
        let bench = bench(&server);
        Self {
            runtime,
            server,
            bench,
        }
    }

    /// The error of a call that meets this script, and the requests it took.
    fn meet<W>(&self, script: Vec<Vec<Act>>, work: W) -> (Error, usize)
    where
        W: AsyncFnOnce(&Client) -> Error,
    {
        self.server.play(script);
        let error = self.runtime.block_on(work(&self.bench.client));
        (error, self.server.requests().len())
    }
}

fn options(retries: u32) -> CallOptions {
    CallOptions::new().policy(RetryPolicy::builder().max_retries(retries).build().unwrap())
}

fn agrees((error, requests): &(Error, usize), retries: u32) -> Result<(), TestCaseError> {
    let expected = if error.retryable() && !error.delivered() {
        retries as usize + 1
    } else {
        1
    };
    prop_assert_eq!(*requests, expected, "{} {:?}", error, error);
    prop_assert_eq!(error.attempts().len(), expected);
    Ok(())
}

#[test]
fn the_loop_retries_exactly_what_is_retryable() {
    let stage = Stage::new();
    proptest!(|(wrong in wrongs(), retries in 0u32..3)| {
        let met = stage.meet(vec![wrong.acts()], async |client| {
            client.complete_with(&request(), options(retries)).await.unwrap_err()
        });
        agrees(&met, retries)?;
    });
}

#[test]
fn the_start_of_a_stream_is_retried_exactly_if_retryable() {
    let stage = Stage::new();
    proptest!(|(wrong in wrongs(), retries in 0u32..3)| {
        let met = stage.meet(vec![wrong.acts()], async |client| {
            client.stream_with(&request(), options(retries)).await.unwrap_err()
        });
        agrees(&met, retries)?;
    });
}

#[test]
fn what_was_delivered_is_never_asked_for_again() {
    let stage = Stage::new();
    proptest!(|(body in bodies(), close in any::<bool>())| {
        let frames = [delta("a"), format!("data: {body}\n\n")];
        let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
        let script =
            if close { [sse_open(&frames), vec![Act::Close]].concat() } else { sse(&frames) };
        let met = stage.meet(vec![script, json(200, "{}")], async |client| {
            let mut stream = client.stream(&request()).await.unwrap();
            drain(&mut stream).await.1.unwrap()
        });
        prop_assert!(met.0.delivered());
        agrees(&met, 3)?;
    });
}
