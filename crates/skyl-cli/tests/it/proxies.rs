//! Proxies named in the environment.

use crate::support::{Canned, answer, skyl};

const ANSWER: &str = r#"{"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop",
    "message":{"role":"assistant","content":"Paris"}}]}"#;

fn ask(proxy: &str, variable: &str) -> crate::support::Skyl {
    // A name that nobody resolves: only the proxy can answer for it.
    skyl([
        "chat",
        "hi",
        "--base-url",
        "http://provider.invalid/v1",
        "--model",
        "m",
    ])
    .args(["--retry-base", "1ms"])
    .env(variable, proxy)
}

#[test]
fn a_proxy_of_the_environment_is_asked_for_the_provider() {
    for variable in ["http_proxy", "ALL_PROXY"] {
        let proxy = Canned::serve(vec![answer("200 OK", "", ANSWER)]);
        let ran = ask(proxy.url(), variable).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Paris\n"), "{ran:?}");
        let requests = proxy.requests();
        assert!(
            requests[0].starts_with("POST http://provider.invalid/v1/chat/completions HTTP/1.1"),
            "{requests:?}"
        );
    }
}

#[test]
fn a_provider_that_needs_no_proxy_is_asked_directly() {
    let server = Canned::serve(vec![answer("200 OK", "", ANSWER)]);
    let base = format!("{}/v1", server.url());
    let ran = skyl(["chat", "hi", "--base-url", &base, "--model", "m"])
        .env("http_proxy", "http://127.0.0.1:1")
        .env("no_proxy", "127.0.0.1")
        .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(server.requests()[0].starts_with("POST /v1/chat/completions"));
}

#[test]
fn the_proxys_own_failure_is_an_answer_like_any_other() {
    let busy = answer("503 Service Unavailable", "", "no upstream");
    let proxy = Canned::serve(vec![busy, answer("200 OK", "", ANSWER)]);
    let ran = ask(proxy.url(), "http_proxy").run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(proxy.requests().len(), 2);
}

#[test]
fn a_proxy_that_wants_a_login_is_asked_once() {
    let proxy = Canned::serve(vec![answer(
        "407 Proxy Authentication Required",
        "Proxy-Authenticate: Basic\r\n",
        "",
    )]);
    let ran = ask(proxy.url(), "http_proxy").args(["--json"]).run();
    assert_eq!(
        (ran.code, &ran.object()["error"]["kind"]),
        (3, &"auth".into()),
        "{ran:?}"
    );
    assert_eq!(proxy.requests().len(), 1);
}

#[test]
fn a_proxy_that_is_not_there_is_a_transport_failure() {
    let ran = ask("http://127.0.0.1:1", "http_proxy")
        .args(["--json"])
        .run();
    assert_eq!(
        (ran.code, &ran.object()["error"]["kind"]),
        (7, &"transport".into()),
        "{ran:?}"
    );
}
