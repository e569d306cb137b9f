//! A client that goes away ends every wait of its request.

use skyl_sandbox::Sandbox;

use crate::support::{chat, connect, post, sandbox, streamed};

/// Holds for an hour unless the client is noticed to be gone.
async fn held(sandbox: &Sandbox, request: &[u8], seen: &str) {
    let mut wire = connect(sandbox).await;
    let before = sandbox.stats().requests;
    wire.send(request).await;
    sandbox.received(before + 1).await;
    wire.until(seen).await;
    assert_eq!(sandbox.stats().connections_open, 1);
    drop(wire);
    sandbox.all_closed().await;
    assert_eq!(sandbox.stats().connections_open, 0);
}

#[tokio::test]
async fn every_wait_ends_when_the_client_hangs_up() {
    let sandbox = sandbox().await;
    for (step, streaming, seen) in [
        ("stall(3600000)", false, ""),
        ("reset+stall(3600000)", false, ""),
        ("stall-mid(3600000)", false, "chatcmpl"),
        ("stall-mid(3600000)", true, "You "),
        ("stream-stall(2;3600000)", true, "said: "),
        ("slow(3600000)", false, "200 OK"),
        ("slow(3600000)", true, "200 OK"),
        ("comments(3600000)", false, "\n\r\n"),
        ("comments(3600000)", true, ": sandbox"),
    ] {
        let model = format!("sandbox-do-{step}");
        let body = if streaming {
            streamed(&model)
        } else {
            chat(&model)
        };
        held(&sandbox, &post(&body), seen).await;
    }
}

#[tokio::test]
async fn a_request_that_breaks_off_was_never_made() {
    let sandbox = sandbox().await;
    let request = post(&chat("gpt-5.6"));
    let mut wire = connect(&sandbox).await;
    wire.send(&request[..request.len() - 1]).await;
    drop(wire);
    let mut second = connect(&sandbox).await;
    second.send(&request).await;
    second.answer().await.unwrap();
    drop(second);
    sandbox.all_closed().await;
    assert_eq!(sandbox.journal().len(), 1);
}

#[tokio::test]
async fn shutting_down_ends_every_connection_and_frees_the_port() {
    let sandbox = sandbox().await;
    let addr = sandbox.addr();
    let mut wire = connect(&sandbox).await;
    wire.send(&post(&chat("sandbox-do-stall(3600000)"))).await;
    sandbox.received(1).await;
    sandbox.shutdown().await;
    wire.end().await;
    assert!(tokio::net::TcpStream::connect(addr).await.is_err());
}

#[tokio::test]
async fn dropping_a_sandbox_ends_it() {
    let sandbox = sandbox().await;
    let mut wire = connect(&sandbox).await;
    wire.send(&post(&chat("sandbox-do-stall(3600000)"))).await;
    sandbox.received(1).await;
    drop(sandbox);
    wire.end().await;
}
