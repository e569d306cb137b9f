//! Connections: how they fail, what that proves, and that none is used twice after a failure.

use std::error::Error as _;
use std::io;

use skyl::openai::OpenAi;
use skyl::{Client, ErrorKind, RetryStop, Sent};
use skyl_retry::ManualClock;
use tokio::net::TcpListener;

use crate::raw::{Act, Raw, json, ok, reply};
use crate::support::{Bench, KEY, bench, ms, request, statuses};

/// An address nobody listens on.
async fn closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

fn client_of(base_url: &str) -> Client {
    Client::builder(OpenAi::new(KEY).base_url(base_url))
        .clock(ManualClock::skipping())
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_refused_connection_is_retried_and_known_to_be_unsent() {
    let error = client_of(&closed_port().await)
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert_eq!(error.sent(), Sent::No);
    assert_eq!(statuses(&error), [None; 4]);
    assert_eq!(
        error.to_string(),
        "skyl: giving up after 4 attempts: skyl: openai: request failed: connection refused"
    );
}

#[tokio::test]
async fn the_source_is_the_transports_cause_down_to_the_io_error() {
    let error = client_of(&closed_port().await)
        .complete(&request())
        .await
        .unwrap_err();
    let mut chain = Vec::new();
    let mut next = error.source();
    while let Some(source) = next {
        chain.push(source);
        next = source.source();
    }
    assert!(
        chain
            .iter()
            .all(|source| !source.to_string().contains("skyl")),
        "{chain:?}"
    );
    let io = chain
        .iter()
        .find_map(|source| source.downcast_ref::<io::Error>());
    assert_eq!(
        io.map(io::Error::kind),
        Some(io::ErrorKind::ConnectionRefused)
    );
}

#[tokio::test]
async fn a_host_that_does_not_resolve_is_known_to_be_unsent() {
    let error = client_of("http://nowhere.invalid/v1")
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.sent()),
        (ErrorKind::Transport, Sent::No)
    );
    assert_eq!(error.message(), Some("the host name cannot be resolved"));
    assert_eq!(error.attempts().len(), 4);
}

// A peer that accepts and never says hello: connecting includes TLS. The connect timeout belongs
// to the HTTP library and so to the real clock; it is all but zero, and the peer is silent for ever.
#[tokio::test]
async fn a_connect_timeout_is_known_to_be_unsent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}/v1", listener.local_addr().unwrap());
    let client = Client::builder(OpenAi::new(KEY).base_url(address))
        .clock(ManualClock::skipping())
        .connect_timeout(ms(1))
        .build()
        .unwrap();
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.sent()),
        (ErrorKind::Transport, Sent::No)
    );
    assert_eq!(
        error.message(),
        Some("no connection within the connect timeout")
    );
    assert_eq!(error.attempts().len(), 4);
}

#[tokio::test]
async fn a_tls_handshake_that_fails_is_known_to_be_unsent() {
    // Plain HTTP, to somebody who speaks TLS. The raw server sees no request in it and closes.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}/v1", listener.local_addr().unwrap());
    let answers = async {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream
                .try_write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .unwrap();
        }
    };
    let client = client_of(&address);
    let request = request();
    let error = tokio::select! {
        outcome = client.complete(&request) => outcome.unwrap_err(),
        () = answers => unreachable!(),
    };
    assert_eq!(
        (error.kind(), error.sent()),
        (ErrorKind::Transport, Sent::No),
        "{error:?}"
    );
}

// juspay/hyperswitch-prism#2257, keycloak/keycloak#52978: it proves nothing about the request
#[tokio::test]
async fn a_connection_lost_after_the_request_is_retried_as_possibly_sent() {
    for act in [Act::Close, Act::Reset] {
        let server = Raw::serve(vec![vec![act.clone()]]).await;
        let error = bench(&server)
            .client
            .complete(&request())
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.sent()),
            (ErrorKind::Transport, Sent::Maybe),
            "{act:?}"
        );
        assert_eq!(statuses(&error), [None; 4]);
        assert_eq!(server.requests().len(), 4);
    }
}

#[tokio::test]
async fn a_reset_says_so() {
    let server = Raw::serve(vec![vec![Act::Reset]]).await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.message(), Some("connection reset"));
}

// hyperium/hyper#2136: the pool hands out a connection the server has closed
#[tokio::test]
async fn a_pooled_connection_that_was_closed_costs_no_attempt() {
    let mut closing = ok("Paris");
    closing.push(Act::Close);
    let mut server = Raw::serve(vec![closing]).await;
    let Bench { client, .. } = bench(&server);
    client.complete(&request()).await.unwrap();
    server.all_closed().await;
    let answer = client.complete(&request()).await.unwrap();
    assert_eq!(answer.attempts().len(), 1);
    let connections: Vec<_> = server
        .requests()
        .iter()
        .map(|seen| seen.connection)
        .collect();
    assert_eq!(connections, [0, 1]);
}

#[tokio::test]
async fn a_healthy_connection_is_used_again_also_after_an_error_status() {
    let server = Raw::serve(vec![json(503, "{}"), ok("a"), ok("b")]).await;
    let Bench { client, .. } = bench(&server);
    client.complete(&request()).await.unwrap();
    client.complete(&request()).await.unwrap();
    assert!(server.requests().iter().all(|seen| seen.connection == 0));
}

// awslabs/aws-sdk-rust#827: retries on dead connections
#[tokio::test]
async fn no_retry_runs_on_the_connection_that_failed() {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let server = Raw::serve(vec![
        ok("warm"),
        vec![Act::Reset],
        vec![Act::Close],
        vec![Act::Wait(go.clone()), Act::Hang],
        ok("Paris"),
    ])
    .await;
    let clock = ManualClock::skipping();
    let Bench { client, .. } = crate::support::bench_on(clock.clone(), &server.base_url(), |b| {
        b.attempt_timeout(ms(90))
    });
    client.complete(&request()).await.unwrap();
    let request = request();
    let call = client.complete(&request);
    let timer = async {
        while server.requests().len() < 4 {
            tokio::task::yield_now().await;
        }
        clock.advance(ms(91));
        std::future::pending::<()>().await;
    };
    let answer = tokio::select! { answer = call => answer.unwrap(), () = timer => unreachable!() };
    let kinds: Vec<_> = answer
        .attempts()
        .iter()
        .map(|attempt| attempt.kind)
        .collect();
    let (transport, timeout) = (Some(ErrorKind::Transport), Some(ErrorKind::Timeout));
    assert_eq!(kinds, [transport, transport, timeout, None]);
    let seen: Vec<_> = server
        .requests()
        .iter()
        .map(|seen| seen.connection)
        .collect();
    assert_eq!(seen, [0, 0, 1, 2, 3]);
}

#[tokio::test]
async fn redirects_are_answers_and_not_followed() {
    let server = Raw::serve(vec![
        reply(307, &[("Location", "/v1/chat/completions")], ""),
        ok("never"),
    ])
    .await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.status()),
        (ErrorKind::Unclassified, Some(307))
    );
    assert_eq!(error.to_string(), "skyl: openai: request failed (http 307)");
    assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn compression_is_not_asked_for_and_the_program_is_named() {
    let server = Raw::serve(vec![ok("Paris")]).await;
    bench(&server).client.complete(&request()).await.unwrap();
    let seen = &server.requests()[0];
    assert_eq!(seen.header("accept-encoding"), None);
    assert_eq!(
        seen.header("user-agent"),
        Some(concat!("skyl/", env!("CARGO_PKG_VERSION")))
    );
    assert_eq!(seen.header("content-type"), Some("application/json"));
}

#[cfg(feature = "reqwest")]
#[tokio::test]
async fn the_callers_http_settings_apply_but_skyls_own_win() {
    let server = Raw::serve(vec![reply(302, &[("Location", "/")], ""), ok("Paris")]).await;
    let Bench { client, .. } = crate::support::bench_with(&server, |builder| {
        builder.http(|http| {
            let mut headers = http::HeaderMap::new();
            headers.insert("x-mine", http::HeaderValue::from_static("1"));
            http.default_headers(headers)
                .redirect(reqwest::redirect::Policy::limited(5))
        })
    });
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(error.status(), Some(302));
    assert_eq!(server.requests()[0].header("x-mine"), Some("1"));
    assert_eq!(server.requests().len(), 1);
}

#[cfg(feature = "reqwest")]
#[tokio::test]
async fn http_settings_that_cannot_be_are_a_builder_error() {
    let dialect = OpenAi::new(KEY).base_url("http://localhost/v1");
    let error = Client::builder(dialect)
        .http(|http| http.user_agent("a\nb"))
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert!(error.source().is_some());
}
