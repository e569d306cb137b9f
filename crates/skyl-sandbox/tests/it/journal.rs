//! The journal and its guarantees, seen from a client in any language.

use std::num::NonZeroUsize;

use serde_json::{Value, json};
use skyl_sandbox::Sandbox;

use crate::support::{ask, chat, connect, post, request, sandbox};

async fn get(sandbox: &Sandbox, path: &str) -> (u16, Value) {
    let answer = ask(
        sandbox,
        format!("GET {path} HTTP/1.1\r\nhost: s\r\n\r\n").as_bytes(),
    )
    .await;
    (answer.status, answer.json())
}

fn seqs(entries: &Value) -> Vec<u64> {
    entries
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["seq"].as_u64().unwrap())
        .collect()
}

#[tokio::test]
async fn an_entry_has_exactly_these_fields() {
    let sandbox = sandbox().await;
    let body = chat("sandbox-do-503,ok").to_string();
    ask(
        &sandbox,
        &request("POST", "/openai/v1/chat/completions?x=1", &body),
    )
    .await;
    let (status, entries) = get(&sandbox, "/_sandbox/journal").await;
    assert_eq!(status, 200);
    let entry = entries[0].as_object().unwrap();
    let names: Vec<_> = entry.keys().map(String::as_str).collect();
    let expected = [
        "seq",
        "time_ms",
        "connection",
        "method",
        "path",
        "mount",
        "model",
        "step",
        "status",
        "body_sha256",
        "body_bytes",
        "headers",
    ];
    assert_eq!(names, expected);
    assert_eq!(entry["seq"], 1);
    assert!(entry["time_ms"].is_u64());
    assert_eq!(entry["connection"], 1);
    assert_eq!(entry["method"], "POST");
    assert_eq!(entry["path"], "/openai/v1/chat/completions");
    assert_eq!(entry["mount"], "openai");
    assert_eq!(entry["model"], "sandbox-do-503,ok");
    assert_eq!(entry["step"], 0);
    assert_eq!(entry["status"], 503);
    assert_eq!(entry["body_bytes"], body.len());
    let headers = entry["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["host", "sandbox"])), "{headers:?}");
    assert!(
        headers.contains(&json!(["authorization", "[redacted]"])),
        "{headers:?}"
    );
    assert!(!entries.to_string().contains("sandbox-key"));
}

#[tokio::test]
async fn a_body_s_hash_is_sha_256() {
    let sandbox = sandbox().await;
    ask(
        &sandbox,
        &request("POST", "/openai/v1/chat/completions", "abc"),
    )
    .await;
    // The digest of "abc" in FIPS 180-4's examples.
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sandbox.journal()[0].body_sha256, digest);
    assert_eq!(sandbox.body(1).unwrap(), "abc");
    assert_eq!(sandbox.body(2), None);
}

#[tokio::test]
async fn a_request_stands_in_the_journal_before_its_first_byte_goes_out() {
    let sandbox = sandbox().await;
    let mut wire = connect(&sandbox).await;
    wire.send(&post(&chat("sandbox-do-418+stall(3600000)")))
        .await;
    sandbox.received(1).await;
    let held = sandbox.journal();
    assert_eq!(
        held[0].status,
        Some(418),
        "as decided, though nothing was sent yet"
    );
    drop(wire);
    sandbox.all_closed().await;
    assert_eq!(sandbox.journal(), held, "an entry never changes");
}

#[tokio::test]
async fn a_page_begins_after_its_mark() {
    let sandbox = sandbox().await;
    for _ in 0..5 {
        ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    }
    for (query, expected) in [
        ("", &[1, 2, 3, 4, 5][..]),
        ("?after=0", &[1, 2, 3, 4, 5]),
        ("?after=3", &[4, 5]),
        ("?limit=2", &[1, 2]),
        ("?after=1&limit=2", &[2, 3]),
        ("?limit=0", &[]),
        ("?after=5", &[]),
        ("?after=18446744073709551615", &[]),
        ("?after=4&limit=18446744073709551615", &[5]),
    ] {
        let (status, page) = get(&sandbox, &format!("/_sandbox/journal{query}")).await;
        assert_eq!((status, seqs(&page)), (200, expected.to_vec()), "{query}");
    }
    assert_eq!(sandbox.journal_after(3).len(), 2);
}

#[tokio::test]
async fn a_bad_query_is_refused_by_name() {
    let sandbox = sandbox().await;
    for (query, named) in [
        ("after=x", "after"),
        ("after=-1", "after"),
        ("after=+1", "after"),
        ("after=", "after"),
        ("after=1.5", "after"),
        ("limit=18446744073709551616", "limit"),
        ("since=1", "since"),
    ] {
        let (status, error) = get(&sandbox, &format!("/_sandbox/journal?{query}")).await;
        assert_eq!(status, 400, "{query}");
        assert!(
            error["error"]["message"].as_str().unwrap().contains(named),
            "{error}"
        );
    }
}

#[tokio::test]
async fn only_requests_to_mounts_are_journaled() {
    let sandbox = sandbox().await;
    get(&sandbox, "/healthz").await;
    get(&sandbox, "/_sandbox/journal").await;
    get(&sandbox, "/_sandbox/stats").await;
    get(&sandbox, "/openai/v10/models").await;
    assert!(sandbox.journal().is_empty());
    assert_eq!(sandbox.stats().requests, 0);
    // Those that a mount refuses are.
    for path in ["/openai/v1", "/openai/v1/nope", "/compat/v1/models"] {
        ask(
            &sandbox,
            format!("GET {path} HTTP/1.1\r\nhost: s\r\n\r\n").as_bytes(),
        )
        .await;
    }
    let mounts: Vec<_> = sandbox.journal().iter().map(|entry| entry.mount).collect();
    assert_eq!(mounts, ["openai", "openai", "compat"]);
    assert!(
        sandbox
            .journal()
            .iter()
            .all(|entry| entry.model.is_none() && entry.step.is_none())
    );
}

#[tokio::test]
async fn clearing_forgets_entries_and_keeps_counting() {
    let sandbox = sandbox().await;
    ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    let cleared = ask(
        &sandbox,
        b"DELETE /_sandbox/journal HTTP/1.1\r\nhost: s\r\n\r\n",
    )
    .await;
    assert_eq!(cleared.status, 200);
    assert!(sandbox.journal().is_empty());
    ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    assert_eq!(sandbox.journal()[0].seq, 2);
    assert_eq!(sandbox.stats().journal_dropped, 0, "cleared is not dropped");
}

#[tokio::test]
async fn the_oldest_are_dropped_and_counted() {
    let keep = NonZeroUsize::new(3).unwrap();
    let sandbox = Sandbox::builder().keep(keep).start().await.unwrap();
    for tag in 0..5 {
        ask(&sandbox, &post(&chat(&format!("sandbox-do-429,ok@{tag}")))).await;
    }
    let (_, stats) = get(&sandbox, "/_sandbox/stats").await;
    assert_eq!(stats["requests"], 5);
    assert_eq!(
        (&stats["journal_entries"], &stats["journal_dropped"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(
        (&stats["scripts"], &stats["scripts_dropped"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(seqs(&get(&sandbox, "/_sandbox/journal").await.1), [3, 4, 5]);
    // A run that was forgotten starts anew, one that was not goes on.
    assert_eq!(
        ask(&sandbox, &post(&chat("sandbox-do-429,ok@4")))
            .await
            .status,
        200
    );
    assert_eq!(
        ask(&sandbox, &post(&chat("sandbox-do-429,ok@0")))
            .await
            .status,
        429
    );
}
