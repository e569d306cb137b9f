//! The examples, run: each does what its page says, and shows what a reader is to see.

use std::time::Duration;

use skyl::openai::OpenAi;
use skyl::{Client, Request};
use skyl_retry::{FailureClass, RetryBudget, RetryPolicy, Sent, TokioClock};
use skyl_sandbox::{Sandbox, Tls};
use tokio::net::TcpSocket;

use crate::shared_policy_with_reqwest::Shared;

#[path = "../../examples/fast_retry_tests.rs"]
#[expect(dead_code, reason = "the tests call `run`, not `main`")]
mod fast_retry_tests;
#[path = "../../examples/own_dialect.rs"]
#[expect(dead_code, reason = "the tests call `run`, not `main`")]
mod own_dialect;
#[path = "../../examples/retry_rate.rs"]
#[expect(dead_code, reason = "the tests call `run`, not `main`")]
mod retry_rate;
#[path = "../../examples/shared_policy_with_reqwest.rs"]
#[expect(dead_code, reason = "the tests call `run`, not `main`")]
mod shared_policy_with_reqwest;
#[path = "../../examples/stream_to_terminal.rs"]
#[expect(dead_code, reason = "the tests call `run`, not `main`")]
mod stream_to_terminal;
#[path = "../../examples/structured_output.rs"]
#[expect(dead_code, reason = "the tests call `run`, not `main`")]
mod structured_output;
#[path = "../../examples/tool_loop.rs"]
#[expect(dead_code, reason = "the tests call `run`, not `main`")]
mod tool_loop;

/// Runs an example in a sandbox of its own, and gives what it wrote.
macro_rules! shown {
    ($example:ident) => {{
        let sandbox = Sandbox::start().await.unwrap();
        let mut out = Vec::new();
        $example::run(&sandbox, &mut out).await.unwrap();
        (String::from_utf8(out).unwrap(), sandbox)
    }};
}

#[tokio::test]
async fn retry_rate() {
    let (shown, sandbox) = shown!(retry_rate);
    assert_eq!(
        shown,
        "provider    attempts  retries    rate\n\
         openai             7        3   42.8 %\n\
         anthropic          2        0    0.0 %\n"
    );
    assert_eq!(sandbox.journal().len(), 9, "the server counts the same");
}

#[test]
fn a_provider_nobody_called_has_a_rate_of_zero() {
    assert_eq!(retry_rate::RetryRate::default().read(), (0, 0, 0));
}

#[tokio::test]
async fn fast_retry_tests() {
    let (shown, sandbox) = shown!(fast_retry_tests);
    assert_eq!(
        shown,
        "short waits: 4 attempts\n  waited 1ms\n  waited 1ms\n  waited 1ms\n\
         manual clock: 4 attempts\n  waited 1s\n  waited 1s\n  waited 1s\n\
         skipped on the manual clock: [1s, 1s, 1s]\n"
    );
    assert_eq!(sandbox.journal().len(), 8);
}

#[tokio::test]
async fn tool_loop() {
    let (shown, sandbox) = shown!(tool_loop);
    assert_eq!(
        shown,
        "user asks What is the weather in Kampala?\n\
         model calls get_weather with {\"city\":\"Kampala\",\"units\":\"metric\"}\n\
         tool says 18 degrees and clear in Kampala\n\
         model answers The tool said: 18 degrees and clear in Kampala\n"
    );
    assert_eq!(sandbox.journal().len(), 2);
}

#[tokio::test]
async fn a_model_that_calls_tools_for_ever_is_left_after_eight_rounds() {
    let call = r#"HTTP/1.1 200 OK

{"choices": [{"message": {"tool_calls": [{"id": "c", "type": "function",
"function": {"name": "get_weather", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]}"#;
    let (base_url, _server) = own_dialect::serve(vec![call; 8]).await.unwrap();
    let openai = OpenAi::new("sandbox-key").base_url(base_url);
    let client = Client::builder(openai).build().unwrap();
    let request = Request::new("gpt-5.6").user("What is the weather?");

    let mut out = Vec::new();
    let error = tool_loop::ask(&client, request, &mut out)
        .await
        .unwrap_err();

    assert_eq!(error.to_string(), "no answer after 8 rounds of tools");
    let shown = String::from_utf8(out).unwrap();
    assert_eq!(shown.matches("tool says which city?\n").count(), 8);
}

#[tokio::test]
async fn structured_output() {
    let (shown, _) = shown!(structured_output);
    assert_eq!(
        shown,
        "gpt-5.6: Triage { summary: \"sandbox\", severity: 1, customer_waits: true }\n\
         sandbox-refusal: the model declined\n"
    );
}

#[tokio::test]
async fn stream_to_terminal() {
    let (shown, sandbox) = shown!(stream_to_terminal);
    assert_eq!(
        shown,
        "> sandbox-do-529(ra-ms=1),first-error,ok+split(7)\n\
         You said: Tell me something [31mred.\n[end_turn, 6 tokens]\n\
         > sandbox-stream-truncate\n\
         You \n[broke off after 4 bytes: skyl: openai: response truncated]\n"
    );
    assert_eq!(sandbox.journal().len(), 4, "nothing after the cut");
}

#[tokio::test]
async fn shared_policy_with_reqwest() {
    let (shown, sandbox) = shown!(shared_policy_with_reqwest);
    // How far each wait is spread is drawn anew every time.
    let lines: Vec<_> = shown
        .lines()
        .map(|line| line.split(", spread").next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "client: 2 attempts",
            "plain call: attempt 0: http 529, server asked for 1ms",
            "plain call: attempt 1: http 529, server asked for 1ms",
            "plain call: attempt 2: http 404, stopped: a retry would get the same answer",
            "plain call: gave up after 3 attempts: a retry would get the same answer",
            "retries left in the budget: 7",
        ]
    );
    assert_eq!(sandbox.journal().len(), 5);
}

#[tokio::test]
async fn a_plain_call_to_nobody_is_retried_and_one_to_a_false_certificate_is_not() {
    let shared = Shared {
        policy: RetryPolicy::builder()
            .max_retries(1)
            .initial_delay(Duration::from_millis(1))
            .build()
            .unwrap(),
        budget: RetryBudget::for_policy(&RetryPolicy::fleet()).unwrap(),
        clock: TokioClock::new(),
    };
    let http = reqwest::Client::new();
    // Bound and never listening: the port stays taken, and nobody answers on it.
    let held = TcpSocket::new_v4().unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let nobody = format!("http://{}", held.local_addr().unwrap());
    let false_one = Sandbox::builder().tls(Tls::SelfSigned);
    let false_one = false_one.start().await.unwrap();

    for (url, class, attempts) in [
        (nobody, FailureClass::Connect, 2),
        (false_one.url(), FailureClass::Certificate, 1),
    ] {
        let mut log = Vec::new();
        let stopped = shared.get(&http, &url, "key", &mut log).await.unwrap_err();
        let failure = stopped.last.unwrap().classify();
        assert_eq!((failure.class, failure.sent), (class, Sent::No));
        assert_eq!(stopped.attempts, attempts);
    }
}

#[tokio::test]
async fn own_dialect() {
    let mut out = Vec::new();
    own_dialect::run(&mut out).await.unwrap();
    let shown = String::from_utf8(out).unwrap();
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(
        lines,
        [
            "the answer: Hello yourself",
            "a piece: Polly wants",
            "a piece:  a",
            "the end: skyl: parrot: response truncated",
            "hook: complete, attempt 0: \
             skyl: parrot: provider server error (http 503): try again later",
            "hook: complete, attempt 1: \
             skyl: parrot: request failed: connection closed before the answer was complete",
            "hook: complete, attempt 2: ok",
            "hook: stream, attempt 0: skyl: parrot: provider server error: still",
            "hook: stream, attempt 1: ok",
            "hook: stream_end, attempt 1: skyl: parrot: response truncated",
        ]
    );
}
