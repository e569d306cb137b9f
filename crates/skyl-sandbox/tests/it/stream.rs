//! Streams: order, exact text, and every way to break them.

use serde_json::{Value, json};

use crate::support::{Answer, End, ask, post, sandbox, streamed};

fn chunks(answer: &Answer) -> Vec<Value> {
    let frames = answer.frames();
    let data = frames.iter().filter(|frame| *frame != "[DONE]");
    data.map(|frame| serde_json::from_str(frame).unwrap())
        .collect()
}

fn text(answer: &Answer) -> String {
    let chunks = chunks(answer);
    let pieces = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    pieces.collect()
}

fn done(answer: &Answer) -> bool {
    answer
        .frames()
        .last()
        .is_some_and(|frame| frame == "[DONE]")
}

#[tokio::test]
async fn a_stream_is_role_pieces_finish_usage_done() {
    let sandbox = sandbox().await;
    let mut body = streamed("gpt-5.6");
    body["stream_options"] = json!({"include_usage": true});
    let answer = ask(&sandbox, &post(&body)).await;

    assert_eq!((answer.status, answer.end), (200, End::Whole));
    assert_eq!(
        answer.headers("content-type"),
        ["text/event-stream; charset=utf-8"]
    );
    assert_eq!(
        answer.frames().len(),
        answer.chunks.len(),
        "one chunk per frame"
    );
    assert!(done(&answer));
    let chunks = chunks(&answer);
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    let pieces: Vec<_> = chunks[1..5]
        .iter()
        .map(|c| &c["choices"][0]["delta"]["content"])
        .collect();
    assert_eq!(pieces, ["You ", "said: ", "a ", "b"]);
    assert_eq!(chunks[5]["choices"][0]["finish_reason"], "stop");
    assert!(
        chunks[..6]
            .iter()
            .all(|chunk| chunk["usage"].is_null() && chunk.get("usage").is_some())
    );
    assert_eq!(chunks[6]["choices"], json!([]));
    assert_eq!(chunks[6]["usage"]["completion_tokens"], 4);
    assert_eq!(chunks.len(), 7);
}

#[tokio::test]
async fn without_being_asked_a_stream_has_no_usage() {
    let sandbox = sandbox().await;
    let answer = ask(&sandbox, &post(&streamed("gpt-5.6"))).await;
    assert!(
        chunks(&answer)
            .iter()
            .all(|chunk| chunk.get("usage").is_none())
    );
}

#[tokio::test]
async fn a_status_comes_before_the_stream() {
    let sandbox = sandbox().await;
    let answer = ask(&sandbox, &post(&streamed("sandbox-status-429"))).await;
    assert_eq!(
        (answer.status, answer.headers("retry-after")),
        (429, vec!["1"])
    );
    assert_eq!(answer.headers("content-type"), ["application/json"]);
}

#[tokio::test]
async fn truncation_ends_the_body_properly_and_says_nothing() {
    let sandbox = sandbox().await;
    for _ in 0..2 {
        let answer = ask(&sandbox, &post(&streamed("sandbox-stream-truncate"))).await;
        assert_eq!(answer.end, End::Whole, "the last chunk comes");
        assert_eq!(text(&answer), "You ");
        assert!(!done(&answer));
        let finished = |chunk: &Value| !chunk["choices"][0]["finish_reason"].is_null();
        assert!(!chunks(&answer).iter().any(finished));
    }
    for (n, expected) in [(0, ""), (2, "You said: "), (99, "You said: a b")] {
        let answer = ask(
            &sandbox,
            &post(&streamed(&format!("sandbox-do-stream-truncate({n})"))),
        )
        .await;
        assert_eq!(
            (text(&answer).as_str(), answer.end, done(&answer)),
            (expected, End::Whole, false)
        );
    }
}

#[tokio::test]
async fn an_error_in_mid_stream_is_the_provider_s_overload_error() {
    let sandbox = sandbox().await;
    for (model, expected) in [
        ("sandbox-stream-error", "You "),
        ("sandbox-do-stream-error(3)", "You said: a "),
        ("sandbox-do-first-error", ""),
    ] {
        let answer = ask(&sandbox, &post(&streamed(model))).await;
        assert_eq!((answer.status, answer.end), (200, End::Whole), "{model}");
        assert_eq!(text(&answer), expected, "{model}");
        let last = chunks(&answer).pop().unwrap();
        assert_eq!(last["error"]["code"], "server_is_overloaded", "{model}");
        assert!(!done(&answer));
    }
    let first = ask(&sandbox, &post(&streamed("sandbox-do-first-error"))).await;
    assert_eq!(first.frames().len(), 1, "not even a role frame");
}

#[tokio::test]
async fn a_broken_stream_keeps_its_content_and_loses_its_last_chunk() {
    let sandbox = sandbox().await;
    for (step, end, expected) in [
        ("close-mid", End::Fin, "You "),
        ("reset-mid", End::Rst, "You "),
        ("stream-reset(0)", End::Rst, ""),
        ("stream-reset(2)", End::Rst, "You said: "),
        ("stream-reset(2)+slow(1)", End::Rst, "You said: "),
    ] {
        let answer = ask(&sandbox, &post(&streamed(&format!("sandbox-do-{step}")))).await;
        assert_eq!((answer.status, answer.end), (200, end), "{step}");
        assert_eq!(text(&answer), expected, "{step}");
    }
}

#[tokio::test]
async fn comments_come_before_the_first_frame() {
    let sandbox = sandbox().await;
    let answer = ask(
        &sandbox,
        &post(&streamed("sandbox-do-comments(25)+stream-truncate(1)")),
    )
    .await;
    let body = answer.text();
    assert_eq!(body.lines().filter(|line| line.starts_with(':')).count(), 3);
    assert!(body.starts_with(':'));
    assert!(body.rfind("\n:").unwrap() < body.find("data: ").unwrap());
    assert_eq!(text(&answer), "You ");
}

#[tokio::test]
async fn a_stream_can_be_split_anywhere() {
    let sandbox = sandbox().await;
    let whole = ask(&sandbox, &post(&streamed("sandbox-do-ok@w")))
        .await
        .text();
    for size in [1, 2, 7, 64] {
        let model = format!("sandbox-do-split({size})");
        let answer = ask(&sandbox, &post(&streamed(&model))).await;
        let (_, full) = answer.chunks.split_last().unwrap();
        assert!(full.iter().all(|chunk| chunk.len() == size), "{size}");
        assert_eq!(answer.text().replace(&model, "sandbox-do-ok@w"), whole);
    }
}

#[tokio::test]
async fn a_pause_in_mid_stream_loses_nothing() {
    let sandbox = sandbox().await;
    let plain = text(&ask(&sandbox, &post(&streamed("gpt-5.6"))).await);
    for step in [
        "stall-mid(1)",
        "stream-stall(2;1)",
        "slow(1)+split(50)",
        "stall(1)",
    ] {
        let answer = ask(&sandbox, &post(&streamed(&format!("sandbox-do-{step}")))).await;
        assert_eq!(
            (text(&answer), done(&answer)),
            (plain.clone(), true),
            "{step}"
        );
    }
}

#[tokio::test]
async fn a_connection_is_good_after_a_stream_that_ended_properly() {
    let sandbox = sandbox().await;
    let mut wire = crate::support::connect(&sandbox).await;
    for model in [
        "gpt-5.6",
        "sandbox-stream-truncate",
        "sandbox-stream-error",
        "sandbox-do-first-error",
    ] {
        wire.send(&post(&streamed(model))).await;
        assert_eq!(wire.answer().await.unwrap().end, End::Whole, "{model}");
    }
    assert_eq!(sandbox.stats().connections, 1);
}
