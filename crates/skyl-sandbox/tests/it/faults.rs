//! Every fault as bytes, or their absence, on the socket.

use serde_json::{Value, json};

use crate::support::{End, ask, chat, connect, fate, post, request, sandbox, scripted, streamed};

#[tokio::test]
async fn every_status_from_200_to_599_comes_in_the_provider_s_shape() {
    let sandbox = sandbox().await;
    let mut wire = connect(&sandbox).await;
    for status in 200..=599_u16 {
        let model = format!("sandbox-status-{status}");
        wire.send(&post(&chat(&model))).await;
        let answer = wire.answer().await.unwrap();
        assert_eq!((answer.status, answer.end), (status, End::Whole));
        if matches!(status, 204 | 205 | 304) {
            assert_eq!(answer.text(), "", "{status}");
        } else {
            let error = &answer.json()["error"];
            assert_eq!(
                error["message"],
                format!("sandbox: injected status {model}")
            );
            assert!(
                error["type"].is_string() && error.get("code").is_some(),
                "{error}"
            );
        }
        let hint = if status == 429 { vec!["1"] } else { Vec::new() };
        assert_eq!(answer.headers("retry-after"), hint, "{status}");
    }
    let journal = sandbox.journal();
    assert!(
        journal.iter().all(|entry| entry.connection == 1),
        "no status ends a connection"
    );
    assert!(
        journal
            .iter()
            .zip(200..)
            .all(|(entry, status)| entry.status == Some(status))
    );
}

#[tokio::test]
async fn types_and_codes_are_the_provider_s_own() {
    let sandbox = sandbox().await;
    for (step, kind, code) in [
        ("401", "invalid_request_error", json!("invalid_api_key")),
        ("404", "invalid_request_error", json!("model_not_found")),
        ("418", "invalid_request_error", Value::Null),
        ("429", "requests", json!("rate_limit_exceeded")),
        (
            "429(body=quota)",
            "insufficient_quota",
            json!("insufficient_quota"),
        ),
        (
            "400(body=context)",
            "invalid_request_error",
            json!("context_length_exceeded"),
        ),
        ("500", "server_error", Value::Null),
        (
            "503",
            "service_unavailable_error",
            json!("server_is_overloaded"),
        ),
        (
            "529(body=overloaded)",
            "service_unavailable_error",
            json!("server_is_overloaded"),
        ),
        ("200", "api_error", Value::Null),
        ("302", "api_error", Value::Null),
    ] {
        let answer = ask(&sandbox, &post(&chat(&format!("sandbox-do-{step}")))).await;
        let error = &answer.json()["error"];
        assert_eq!(
            (&error["type"], &error["code"]),
            (&json!(kind), &code),
            "{step}"
        );
    }
}

#[tokio::test]
async fn a_fault_by_name_needs_nothing_but_the_name() {
    let sandbox = sandbox().await;
    for (model, status) in [("sandbox-status-503", 503), ("sandbox-do-418", 418)] {
        let bare = json!({"model": model}).to_string();
        let answer = ask(
            &sandbox,
            &request("POST", "/openai/v1/chat/completions", &bare),
        )
        .await;
        assert_eq!(answer.status, status);
    }
    // The ordinary answer behind a script still wants its messages.
    let bare = json!({"model": "sandbox-do-ok"}).to_string();
    let answer = ask(
        &sandbox,
        &request("POST", "/openai/v1/chat/completions", &bare),
    )
    .await;
    assert_eq!(answer.status, 400);
}

#[tokio::test]
async fn hints_are_on_the_wire_as_written() {
    let sandbox = sandbox().await;
    for (step, header, value) in [
        ("429(ra=2)", "retry-after", "2"),
        ("429(ra=1.50)", "retry-after", "1.50"),
        ("429(ra-ms=007)", "retry-after-ms", "007"),
        ("429(ra-raw=-1e5, soon)", "retry-after", "-1e5, soon"),
        ("429(ra-raw=später)", "retry-after", "später"),
        ("503(should-retry=false)", "x-should-retry", "false"),
        ("400(should-retry=true)", "x-should-retry", "true"),
    ] {
        let answer = ask(&sandbox, &post(&chat(&format!("sandbox-do-{step}")))).await;
        assert_eq!(answer.headers(header), [value], "{step}");
    }
    let none = ask(&sandbox, &post(&chat("sandbox-do-429"))).await;
    for header in ["retry-after", "retry-after-ms", "x-should-retry"] {
        assert!(none.headers(header).is_empty(), "{header}");
    }
    let both = ask(
        &sandbox,
        &post(&chat("sandbox-do-429(ra=1;ra-raw=3;ra-ms=5)")),
    )
    .await;
    assert_eq!(both.headers("retry-after"), ["1", "3"]);
    assert_eq!(both.headers("retry-after-ms"), ["5"]);
    let date = ask(&sandbox, &post(&chat("sandbox-do-503(ra-date=+30)"))).await;
    let date = date.headers("retry-after")[0];
    assert!(date.len() == 29 && date.ends_with(" GMT"), "{date}");
}

#[tokio::test]
async fn a_reset_is_an_rst_and_a_close_a_fin_before_any_byte() {
    let sandbox = sandbox().await;
    for body in [
        chat("sandbox-do-reset"),
        streamed("sandbox-do-reset"),
        chat("sandbox-do-stall(1)+reset"),
    ] {
        assert_eq!(fate(&sandbox, &body).await, Err(End::Rst));
    }
    for body in [
        chat("sandbox-do-close"),
        streamed("sandbox-do-close"),
        chat("sandbox-do-close+stall(1)"),
    ] {
        assert_eq!(fate(&sandbox, &body).await, Err(End::Fin));
    }
    assert!(sandbox.journal().iter().all(|entry| entry.status.is_none()));
    sandbox.all_closed().await;
}

#[tokio::test]
async fn a_reset_on_a_used_connection_leaves_the_answers_before_it_whole() {
    let sandbox = sandbox().await;
    let mut wire = connect(&sandbox).await;
    wire.send(&post(&chat("gpt-5.6"))).await;
    assert_eq!(wire.answer().await.unwrap().end, End::Whole);
    wire.send(&post(&chat("sandbox-do-reset"))).await;
    assert_eq!(wire.end().await, End::Rst);
}

#[tokio::test]
async fn a_body_breaks_in_its_middle() {
    let sandbox = sandbox().await;
    let whole = ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    for (step, end) in [
        ("close-mid", End::Fin),
        ("reset-mid", End::Rst),
        ("stream-truncate(1)", End::Fin),
        ("stream-reset(1)", End::Rst),
        ("close-mid+split(7)", End::Fin),
        ("reset-mid+slow(1)", End::Rst),
    ] {
        let answer = ask(&sandbox, &post(&chat(&format!("sandbox-do-{step}")))).await;
        assert_eq!((answer.status, answer.end), (200, end), "{step}");
        let part = answer.text();
        assert!(
            !part.is_empty() && part.len() < whole.text().len(),
            "{step}: {part}"
        );
        assert!(serde_json::from_str::<Value>(&part).is_err(), "{step}");
    }
}

#[tokio::test]
async fn in_band_errors_without_streaming_are_a_200_with_the_error_as_body() {
    let sandbox = sandbox().await;
    for step in ["first-error", "stream-error(3)"] {
        let answer = ask(&sandbox, &post(&chat(&format!("sandbox-do-{step}")))).await;
        assert_eq!((answer.status, answer.end), (200, End::Whole), "{step}");
        assert_eq!(
            answer.json()["error"]["code"],
            "server_is_overloaded",
            "{step}"
        );
    }
}

#[tokio::test]
async fn bodies_can_be_a_proxy_s_empty_or_cut() {
    let sandbox = sandbox().await;
    let html = ask(&sandbox, &post(&chat("sandbox-do-502(body=html)"))).await;
    assert_eq!(html.headers("content-type"), ["text/html; charset=utf-8"]);
    assert!(html.text().contains("<html>"));
    let empty = ask(&sandbox, &post(&chat("sandbox-do-500(body=empty)"))).await;
    assert_eq!(
        (empty.status, empty.text().as_str(), empty.end),
        (500, "", End::Whole)
    );
    let cut = ask(&sandbox, &post(&chat("sandbox-do-503(body=cut)"))).await;
    assert_eq!(
        cut.end,
        End::Whole,
        "the HTTP body is whole, the JSON is not"
    );
    assert!(serde_json::from_str::<Value>(&cut.text()).is_err());
}

#[tokio::test]
async fn pieces_come_in_chunks_of_that_size() {
    let sandbox = sandbox().await;
    let whole = ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    for size in [1, 3, 1000, 100_000] {
        let model = format!("sandbox-do-split({size})");
        let answer = ask(&sandbox, &post(&chat(&model))).await;
        let sizes: Vec<_> = answer.chunks.iter().map(Vec::len).collect();
        let (last, full) = sizes.split_last().unwrap();
        assert!(
            full.iter().all(|full| *full == size) && (1..=size).contains(last),
            "{sizes:?}"
        );
        assert_eq!(answer.text().replace(&model, "gpt-5.6"), whole.text());
    }
}

#[tokio::test]
async fn blank_lines_come_ahead_of_a_body_that_takes_its_time() {
    let sandbox = sandbox().await;
    let answer = ask(&sandbox, &post(&chat("sandbox-do-comments(25)"))).await;
    let lines = answer
        .text()
        .chars()
        .take_while(|char| *char == '\n')
        .count();
    assert_eq!(lines, 3, "one every 10 ms for 25 ms");
    assert_eq!(answer.json()["object"], "chat.completion");
}

#[tokio::test]
async fn a_script_is_kept_per_full_name_and_its_last_step_is_repeated() {
    let sandbox = sandbox().await;
    let name = |tag: &str| chat(&format!("sandbox-do-429(ra=1)*2,reset,ok{tag}"));
    for expected in [Ok(429), Ok(429), Err(End::Rst), Ok(200), Ok(200)] {
        assert_eq!(fate(&sandbox, &name("@t1")).await, expected);
    }
    assert_eq!(
        fate(&sandbox, &name("@t2")).await,
        Ok(429),
        "a new tag is a new run"
    );
    assert_eq!(fate(&sandbox, &name("")).await, Ok(429));
    let steps: Vec<_> = sandbox.journal().iter().map(|entry| entry.step).collect();
    assert_eq!(steps, [0, 0, 1, 2, 2, 0, 0].map(Some));

    sandbox.clear_scripts();
    assert_eq!(
        fate(&sandbox, &name("@t1")).await,
        Ok(429),
        "forgotten, so it starts anew"
    );
}

#[tokio::test]
async fn a_script_that_does_not_parse_is_refused_with_its_place() {
    let sandbox = sandbox().await;
    let tagged = format!("sandbox-do-ok@{}", "x".repeat(65));
    let long = format!("sandbox-do-{}", "ok,".repeat(3000));
    for (model, part) in [
        ("sandbox-do-", "at byte 0: expected a verb"),
        ("sandbox-do-429,nope", "at byte 4: expected a verb"),
        ("sandbox-do-429(wait=3)", "at byte 4: expected ra="),
        (
            "sandbox-do-ok*0",
            "at byte 3: expected a whole number from 1 to 10000",
        ),
        (&tagged, "a tag of 1 to 64"),
        (&long, "8192 bytes"),
    ] {
        let answer = ask(&sandbox, &post(&chat(model))).await;
        assert_eq!(answer.status, 400, "{model}");
        let error = answer.json()["error"].clone();
        assert_eq!(error["type"], "invalid_request_error");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
}

#[tokio::test]
async fn a_server_s_script_is_one_run_over_all_its_requests() {
    let sandbox = scripted("429,503,ok").await;
    assert_eq!(fate(&sandbox, &chat("gpt-5.6")).await, Ok(429));
    // A fault in a name goes before it and takes no step, and neither does a wrong key.
    assert_eq!(fate(&sandbox, &chat("sandbox-status-418")).await, Ok(418));
    assert_eq!(
        ask(
            &sandbox,
            b"GET /openai/v1/models HTTP/1.1\r\nhost: s\r\n\r\n"
        )
        .await
        .status,
        401
    );
    assert_eq!(
        ask(&sandbox, &request("GET", "/compat/v1/models", ""))
            .await
            .status,
        503
    );
    assert_eq!(
        fate(&sandbox, &chat("unknown")).await,
        Ok(404),
        "`ok` is the ordinary answer"
    );
    assert_eq!(fate(&sandbox, &chat("sandbox-refusal")).await, Ok(200));
    let steps: Vec<_> = sandbox.journal().iter().map(|entry| entry.step).collect();
    assert_eq!(steps, [Some(0), None, None, Some(1), Some(2), Some(2)]);

    sandbox.clear_scripts();
    assert_eq!(fate(&sandbox, &chat("gpt-5.6")).await, Ok(429));
}

#[tokio::test]
async fn a_model_asked_for_by_path_can_be_a_fault_too() {
    let sandbox = sandbox().await;
    let get = |id: &str| request("GET", &format!("/openai/v1/models/{id}"), "");
    assert_eq!(ask(&sandbox, &get("gpt-5.6")).await.json()["id"], "gpt-5.6");
    assert_eq!(ask(&sandbox, &get("gpt-9")).await.status, 404);
    assert_eq!(ask(&sandbox, &get("sandbox-status-503")).await.status, 503);
    let script = get("sandbox-do-429%28ra%3D1%29%2C502");
    assert_eq!(ask(&sandbox, &script).await.headers("retry-after"), ["1"]);
    assert_eq!(ask(&sandbox, &script).await.status, 502);
    let names: Vec<_> = sandbox
        .journal()
        .iter()
        .map(|entry| entry.model.clone().unwrap())
        .collect();
    assert_eq!(
        names[2..],
        [
            "sandbox-status-503",
            "sandbox-do-429(ra=1),502",
            "sandbox-do-429(ra=1),502"
        ]
    );
}

#[tokio::test]
async fn concurrent_requests_never_share_a_step() {
    let sandbox = sandbox().await;
    let body = chat("sandbox-do-429*20,503*20,ok");
    let asks = (0..60).map(|_| fate(&sandbox, &body));
    let mut statuses = Vec::new();
    // All are on their way before the first is answered.
    for ask in join_all(asks).await {
        statuses.push(ask.unwrap());
    }
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(429), count(503), count(200)), (20, 20, 20));
    let journaled: Vec<_> = sandbox
        .journal()
        .iter()
        .map(|entry| entry.status.unwrap())
        .collect();
    assert_eq!(
        journaled,
        [vec![429; 20], vec![503; 20], vec![200; 20]].concat()
    );
}

/// Polls all futures together until each is done.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|cx| {
        for (future, output) in &mut running {
            if output.is_none()
                && let std::task::Poll::Ready(done) = future.as_mut().poll(cx)
            {
                *output = Some(done);
            }
        }
        if running.iter().all(|(_, output)| output.is_some()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    running
        .into_iter()
        .filter_map(|(_, output)| output)
        .collect()
}
