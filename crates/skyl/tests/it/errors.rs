//! What an error tells, over the wire; its text and its parts are tested beside the type.

use std::error::Error as _;

use skyl::ErrorKind;

use crate::raw::{Raw, error, json, reply};
use crate::support::{Bench, bench, bench_with, request, secs};

#[tokio::test]
async fn an_error_carries_what_the_provider_said() {
    let body = crate::raw::error_body("requests", "rate_limit_exceeded", "slow down");
    let headers = [("x-request-id", "req_9"), ("Retry-After", "7")];
    let server = Raw::serve(vec![reply(429, &headers, &body)]).await;
    let Bench { client, .. } = bench_with(&server, |builder| builder.max_retries(0));
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimit);
    assert_eq!(
        (error.status(), error.http_status()),
        (Some(429), Some(429))
    );
    assert_eq!(error.provider(), Some("openai"));
    assert_eq!(error.message(), Some("slow down"));
    assert_eq!(error.code(), Some("rate_limit_exceeded"));
    assert_eq!(error.body(), Some(&*body));
    assert_eq!(error.request_id(), Some("req_9"));
    assert_eq!(error.retry_after(), Some(secs(7)));
    assert!(error.source().is_none(), "a status has no cause but itself");
}

#[tokio::test]
async fn request_ids_are_found_under_every_name() {
    for name in [
        "x-request-id",
        "request-id",
        "x-generation-id",
        "apim-request-id",
        "cf-ray",
    ] {
        let server = Raw::serve(vec![reply(400, &[(name, "id-1")], "{}")]).await;
        let error = bench(&server)
            .client
            .complete(&request())
            .await
            .unwrap_err();
        assert_eq!(error.request_id(), Some("id-1"), "{name}");
    }
    let server = Raw::serve(vec![json(400, "{}")]).await;
    assert_eq!(
        bench(&server)
            .client
            .complete(&request())
            .await
            .unwrap_err()
            .request_id(),
        None
    );
}

#[tokio::test]
async fn a_numeric_code_in_a_200_is_the_status_and_the_http_status_stays_readable() {
    let server = Raw::serve(vec![json(
        200,
        r#"{"error":{"message":"busy","code":503}}"#,
    )])
    .await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(
        (error.status(), error.http_status()),
        (Some(503), Some(200))
    );
    assert_eq!(
        error.to_string(),
        "skyl: giving up after 4 attempts: skyl: openai: provider server error (http 503): busy"
    );
}

#[tokio::test]
async fn a_message_of_many_lines_is_one_line_in_the_text() {
    let server = Raw::serve(vec![error(400, "x", "y", r"two\nlines")]).await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.message(), Some("two\nlines"));
    assert_eq!(
        error.to_string(),
        r"skyl: openai: invalid request (http 400): two\nlines"
    );
}

#[tokio::test]
async fn elapsed_and_durations_are_the_calls_own() {
    let server = Raw::serve(vec![reply(503, &[("Retry-After", "4")], "{}")]).await;
    let Bench { client, .. } = bench_with(&server, |builder| builder.max_retries(2));
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(error.elapsed(), secs(8));
    let waits: Vec<_> = error
        .attempts()
        .iter()
        .map(|attempt| attempt.wait)
        .collect();
    assert_eq!(waits, [Some(secs(4)), Some(secs(4)), None]);
}
