//! One request, one answer: framing, keys, errors, limits.

use serde_json::json;

use crate::support::{CHAT, End, ask, chat, connect, post, request, sandbox};

#[tokio::test]
async fn an_answer_is_whole_and_deterministic() {
    let sandbox = sandbox().await;
    let first = ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    let second = ask(&sandbox, &post(&chat("gpt-5.6"))).await;

    assert_eq!((first.status, first.end), (200, End::Whole));
    assert_eq!(first.headers("content-type"), ["application/json"]);
    assert_eq!(first.headers("x-request-id"), ["req_sandbox_1"]);
    assert_eq!(second.headers("x-request-id"), ["req_sandbox_2"]);
    assert_eq!(first.text(), second.text());
    assert_eq!(
        first.json()["choices"][0]["message"]["content"],
        "You said: a b"
    );
}

#[tokio::test]
async fn a_connection_is_kept_alive() {
    let sandbox = sandbox().await;
    let mut wire = connect(&sandbox).await;
    for _ in 0..3 {
        wire.send(&post(&chat("gpt-5.6"))).await;
        assert_eq!(wire.answer().await.unwrap().status, 200);
    }
    wire.send(&post(&chat("sandbox-status-503"))).await;
    assert_eq!(wire.answer().await.unwrap().status, 503);

    let mut other = connect(&sandbox).await;
    other.send(&post(&chat("gpt-5.6"))).await;
    other.answer().await.unwrap();

    let connections: Vec<_> = sandbox
        .journal()
        .iter()
        .map(|entry| entry.connection)
        .collect();
    assert_eq!(connections, [1, 1, 1, 1, 2]);
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order() {
    let sandbox = sandbox().await;
    let mut wire = connect(&sandbox).await;
    let name = "sandbox-do-429,503,ok";
    wire.send(&[post(&chat(name)), post(&chat(name)), post(&chat(name))].concat())
        .await;
    for status in [429, 503, 200] {
        assert_eq!(wire.answer().await.unwrap().status, status);
    }
}

#[tokio::test]
async fn both_mounts_want_the_key() {
    let sandbox = sandbox().await;
    for prefix in ["/openai/v1", "/compat/v1"] {
        let with = |auth: &str| format!("GET {prefix}/models HTTP/1.1\r\nhost: s\r\n{auth}\r\n");
        for (auth, status) in [
            ("authorization: Bearer sandbox-key\r\n", 200),
            ("authorization: bearer sandbox-key\r\n", 200),
            ("authorization: Bearer sandbox-key2\r\n", 401),
            ("authorization: Bearer \r\n", 401),
            ("authorization: sandbox-key\r\n", 401),
            ("x-api-key: sandbox-key\r\n", 401),
            ("", 401),
        ] {
            let answer = ask(&sandbox, with(auth).as_bytes()).await;
            assert_eq!(answer.status, status, "{prefix} {auth}");
        }
    }
}

#[tokio::test]
async fn a_wrong_key_goes_before_every_fault() {
    let sandbox = sandbox().await;
    let body = chat("sandbox-do-reset").to_string();
    let length = body.len();
    let request = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: s\r\nauthorization: Bearer wrong\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let answer = ask(&sandbox, request.as_bytes()).await;
    assert_eq!(answer.status, 401);
    assert_eq!(answer.json()["error"]["code"], "invalid_api_key");
    assert_eq!(sandbox.journal()[0].step, None, "no step was taken");
}

#[tokio::test]
async fn a_chunked_request_is_read_like_any_other() {
    let sandbox = sandbox().await;
    let body = chat("gpt-5.6").to_string();
    let (first, second) = body.split_at(7);
    let mut wire = connect(&sandbox).await;
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: s\r\nauthorization: Bearer sandbox-key\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    wire.send(head.as_bytes()).await;
    wire.send(format!("7\r\n{first}\r\n").as_bytes()).await;
    assert!(
        sandbox.journal().is_empty(),
        "a request that has not ended is none"
    );
    wire.send(format!("{:x}\r\n{second}\r\n0\r\n\r\n", second.len()).as_bytes())
        .await;

    assert_eq!(wire.answer().await.unwrap().status, 200);
    let entry = &sandbox.journal()[0];
    assert_eq!(entry.body_bytes, body.len() as u64);
    assert_eq!(sandbox.body(entry.seq).unwrap(), body.as_bytes());
}

#[tokio::test]
async fn a_body_that_is_too_large_is_read_to_its_end_and_refused() {
    let sandbox = sandbox().await;
    let large = "x".repeat(32 * 1024 * 1024 + 1);
    let mut wire = connect(&sandbox).await;
    wire.send(&request("POST", CHAT, &large)).await;
    let answer = wire.answer().await.unwrap();
    assert_eq!(answer.status, 413);
    assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
    let entry = &sandbox.journal()[0];
    assert_eq!(entry.body_bytes, large.len() as u64);

    // The connection is still good.
    wire.send(&post(&chat("gpt-5.6"))).await;
    assert_eq!(wire.answer().await.unwrap().status, 200);
}

#[tokio::test]
async fn an_unreadable_body_is_a_bad_request() {
    let sandbox = sandbox().await;
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    for body in ["", "{", "[]", "null", "\u{fffd}", r#"{"model":1}"#, &deep] {
        let answer = ask(&sandbox, &request("POST", CHAT, body)).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
    }
}

#[tokio::test]
async fn unknown_models_are_unknown_and_added_ones_are_not() {
    let sandbox = skyl_sandbox::Sandbox::builder()
        .model("mine")
        .start()
        .await
        .unwrap();
    for (model, status) in [
        ("gpt-5.6", 200),
        ("gpt-5.4-nano", 200),
        ("mine", 200),
        ("gpt-9", 404),
        ("GPT-5.6", 404),
        ("sandbox-status-199", 404),
        ("sandbox-status-600", 404),
        ("sandbox-status-429abc", 404),
        ("sandbox-status-", 404),
    ] {
        let answer = ask(&sandbox, &post(&chat(model))).await;
        assert_eq!(answer.status, status, "{model}");
        if status == 404 {
            assert_eq!(answer.json()["error"]["code"], "model_not_found");
        }
    }
}

#[tokio::test]
async fn the_key_can_be_another() {
    let sandbox = skyl_sandbox::Sandbox::builder()
        .key("k-1")
        .start()
        .await
        .unwrap();
    assert_eq!(sandbox.key(), "k-1");
    let get = |key: &str| {
        format!("GET /openai/v1/models HTTP/1.1\r\nhost: s\r\nauthorization: Bearer {key}\r\n\r\n")
    };
    assert_eq!(ask(&sandbox, get("k-1").as_bytes()).await.status, 200);
    assert_eq!(
        ask(&sandbox, get("sandbox-key").as_bytes()).await.status,
        401
    );
}

#[tokio::test]
async fn a_prompt_with_every_kind_of_text_comes_back_unchanged() {
    let sandbox = sandbox().await;
    let prompt = "line\r\n\tcitaat \"’\" \u{2028} 🦜 \\u0041  end \u{0}";
    let body = json!({"model": "gpt-5.6", "messages": [{"role": "user", "content": prompt}]});
    let answer = ask(&sandbox, &post(&body)).await;
    assert_eq!(
        answer.json()["choices"][0]["message"]["content"],
        format!("You said: {prompt}")
    );
}
