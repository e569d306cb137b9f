//! Bodies: sent unchanged, read whole or counted as lost, never without a limit.

use skyl::{ErrorKind, RetryStop, Sent};

use crate::raw::{Act, Raw, answer, error_body, json, ok, reply};
use crate::support::{Bench, bench, bench_with, request, statuses};

/// The first `keep` bytes of an answer, then whatever `end` does.
fn cut(whole: Vec<Act>, drop: usize, end: Act) -> Vec<Act> {
    let [Act::Send(mut bytes)] = <[Act; 1]>::try_from(whole).unwrap() else {
        unreachable!()
    };
    bytes.truncate(bytes.len() - drop);
    vec![Act::Send(bytes), end]
}

// adamcavendish/aioduct#162, apache/shenyu#6413, axios/axios#11181: a retry with an empty body
#[tokio::test]
async fn every_attempt_sends_the_whole_body() {
    let server = Raw::serve(vec![
        json(503, "{}"),
        vec![Act::Close],
        vec![Act::Reset],
        ok("Paris"),
    ])
    .await;
    bench(&server).client.complete(&request()).await.unwrap();
    let seen = server.requests();
    assert_eq!(seen.len(), 4);
    for request in &seen {
        assert_eq!(request.body, seen[0].body);
        assert_eq!(
            request.header("content-length"),
            Some(&*seen[0].body.len().to_string())
        );
        assert!(
            request
                .head
                .starts_with("POST /v1/chat/completions HTTP/1.1")
        );
    }
}

// astral-sh/uv#8144, #9246: the break comes while the body is read
#[tokio::test]
async fn a_body_that_breaks_off_is_retried() {
    for end in [Act::Close, Act::Reset] {
        let server = Raw::serve(vec![cut(ok("Paris"), 10, end), ok("Paris")]).await;
        let answer = bench(&server).client.complete(&request()).await.unwrap();
        let first = answer.attempts()[0];
        assert_eq!(
            (first.kind, first.status),
            (Some(ErrorKind::Transport), Some(200))
        );
        assert_eq!(answer.text(), "Paris");
    }
}

#[tokio::test]
async fn a_body_that_always_breaks_off_keeps_what_the_head_said() {
    let whole = reply(200, &[("x-request-id", "req_7")], answer("Paris"));
    let server = Raw::serve(vec![cut(whole, 10, Act::Close)]).await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert_eq!((error.status(), error.http_status()), (None, Some(200)));
    assert_eq!(error.request_id(), Some("req_7"));
    assert_eq!(error.sent(), Sent::Maybe);
    assert_eq!(statuses(&error), [Some(200); 4]);
    assert_eq!(
        error.to_string(),
        "skyl: giving up after 4 attempts: skyl: openai: request failed: \
         connection closed before the answer was complete"
    );
    assert!(std::error::Error::source(&error).is_some());
}

// A truncated error body is a connection error in other clients, and the status is lost with it.
#[tokio::test]
async fn a_status_whose_body_cannot_be_read_keeps_its_kind() {
    let whole = reply(
        429,
        &[("Retry-After", "7")],
        error_body("requests", "slow", "slow down"),
    );
    for end in [Act::Close, Act::Reset] {
        let server = Raw::serve(vec![cut(whole.clone(), 10, end)]).await;
        let Bench { client, clock, .. } = bench(&server);
        let error = client.complete(&request()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RateLimit);
        assert_eq!(statuses(&error), [Some(429); 4]);
        assert_eq!(clock.sleeps(), [std::time::Duration::from_secs(7); 3]);
    }
}

#[tokio::test]
async fn a_long_error_body_is_read_to_64_kib_and_kept_to_2_kib_at_a_character() {
    let long = "é".repeat(40_000);
    let server = Raw::serve(vec![json(400, &long)]).await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert_eq!(error.body(), Some(&*"é".repeat(1024)));

    let one_more = format!("x{long}");
    let server = Raw::serve(vec![json(400, &one_more)]).await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(
        error.body().map(str::len),
        Some(2047),
        "cut before the character, not in it"
    );
}

#[tokio::test]
async fn an_error_body_that_never_ends_does_not_hold_up_the_call() {
    let head = "HTTP/1.1 500 No\r\nContent-Type: text/plain\r\n\r\n";
    let mut acts = vec![Act::Send(head.into())];
    acts.extend((0..64).map(|_| Act::Send(vec![b'x'; 2048])));
    acts.push(Act::Hang);
    let server = Raw::serve(vec![acts, ok("Paris")]).await;
    let answer = bench(&server).client.complete(&request()).await.unwrap();
    assert_eq!(answer.attempts()[0].kind, Some(ErrorKind::Server));
}

#[tokio::test]
async fn an_answer_over_the_cap_is_unreadable_and_one_at_the_cap_is_not() {
    let body = answer("Paris");
    let server = Raw::serve(vec![json(200, &body)]).await;
    let at = |cap| bench_with(&server, |builder| builder.max_body_bytes(cap)).client;
    assert!(at(body.len()).complete(&request()).await.is_ok());
    let error = at(body.len() - 1).complete(&request()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_answer_in_many_chunks_is_put_together() {
    let body = answer("Paris");
    let mut acts = vec![Act::Send(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
    )];
    acts.extend(
        body.as_bytes()
            .chunks(7)
            .map(|piece| crate::raw::chunk(std::str::from_utf8(piece).unwrap())),
    );
    acts.push(Act::Send(b"0\r\n\r\n".to_vec()));
    let server = Raw::serve(vec![acts]).await;
    let answer = bench(&server).client.complete(&request()).await.unwrap();
    assert_eq!(answer.raw, body);
    assert_eq!(answer.text(), "Paris");
}

#[tokio::test]
async fn statuses_without_a_body_are_no_answer() {
    for status in [204, 205] {
        let head = format!("HTTP/1.1 {status} Nothing\r\nContent-Length: 0\r\n\r\n");
        let server = Raw::serve(vec![vec![Act::Send(head.into_bytes())]]).await;
        let Bench { client, .. } = bench_with(&server, |builder| builder.max_retries(0));
        let error = client.complete(&request()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Server, "{status}: {error}");
        assert_eq!(error.http_status(), Some(status));
    }
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_unreadable() {
    let server = Raw::serve(vec![vec![Act::Send(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec())]]).await;
    let error = bench(&server)
        .client
        .complete(&request())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
    assert_eq!(server.requests().len(), 1);
}
