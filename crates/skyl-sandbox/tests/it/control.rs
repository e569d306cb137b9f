//! The sandbox's own endpoints.

use skyl_sandbox::{ErrorKind, Sandbox};

use crate::support::{ask, chat, post, sandbox};

async fn send(sandbox: &Sandbox, method: &str, path: &str) -> (u16, serde_json::Value) {
    let request = format!("{method} {path} HTTP/1.1\r\nhost: s\r\n\r\n");
    let answer = ask(sandbox, request.as_bytes()).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn health_needs_no_key() {
    let sandbox = sandbox().await;
    let expected = serde_json::json!({"status": "ok", "sandbox": true});
    assert_eq!(send(&sandbox, "GET", "/healthz").await, (200, expected));
}

#[tokio::test]
async fn scripts_can_be_forgotten_from_outside() {
    let sandbox = sandbox().await;
    let name = post(&chat("sandbox-do-429,ok"));
    assert_eq!(ask(&sandbox, &name).await.status, 429);
    assert_eq!(send(&sandbox, "DELETE", "/_sandbox/scripts").await.0, 200);
    assert_eq!(ask(&sandbox, &name).await.status, 429);
    assert_eq!(ask(&sandbox, &name).await.status, 200);
}

#[tokio::test]
async fn unknown_paths_name_the_mounts_and_wrong_methods_are_refused() {
    let sandbox = sandbox().await;
    let (status, error) = send(&sandbox, "POST", "/v1/chat/completions").await;
    assert_eq!(status, 404);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("/openai/v1") && message.contains("/compat/v1"),
        "{message}"
    );
    for (method, path) in [
        ("POST", "/healthz"),
        ("DELETE", "/_sandbox/stats"),
        ("GET", "/_sandbox/scripts"),
    ] {
        assert_eq!(send(&sandbox, method, path).await.0, 405, "{method} {path}");
    }
}

#[tokio::test]
async fn two_sandboxes_have_nothing_in_common() {
    let (one, two) = (sandbox().await, sandbox().await);
    assert_ne!(one.addr(), two.addr());
    let name = post(&chat("sandbox-do-429,ok"));
    assert_eq!(ask(&one, &name).await.status, 429);
    assert_eq!(ask(&two, &name).await.status, 429);
    assert_eq!((one.journal().len(), two.journal().len()), (1, 1));
}

#[tokio::test]
async fn an_address_that_is_taken_is_an_error_of_its_own() {
    let first = sandbox().await;
    let error = Sandbox::builder()
        .addr(first.addr())
        .start()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Bind);
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn a_sandbox_says_where_it_is() {
    let sandbox = sandbox().await;
    assert_eq!(
        sandbox.url(),
        format!("http://127.0.0.1:{}", sandbox.addr().port())
    );
    assert_eq!(
        sandbox.base_url("/openai/v1"),
        format!("{}/openai/v1", sandbox.url())
    );
    assert_eq!(sandbox.ca_pem(), None);
}
