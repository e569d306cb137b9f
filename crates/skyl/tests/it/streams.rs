//! Streams: the start is retried like any call, the rest never; and every one has its end told.

use futures_core::Stream;
use futures_core::stream::FusedStream;
use skyl::{
    ErrorKind, Operation, Request, ResponseStream, RetryStop, StopReason, StreamEvent, Tool,
};

use crate::raw::{
    Act, DONE, Raw, answer, chunk, delta, error, error_body, finish, json, ok, reply, role, sse,
    sse_open, usage,
};
use crate::support::{Bench, bench, bench_with, drain, request, statuses, text};

fn frames(frames: &[String]) -> Vec<Act> {
    sse(&frames.iter().map(String::as_str).collect::<Vec<_>>())
}

fn open(frames: &[String]) -> Vec<Act> {
    sse_open(&frames.iter().map(String::as_str).collect::<Vec<_>>())
}

fn whole() -> Vec<Act> {
    frames(&[
        role(),
        delta("Par"),
        delta("is"),
        finish("stop"),
        usage(),
        DONE.into(),
    ])
}

fn error_frame(kind: &str, code: &str) -> String {
    format!("data: {}\n\n", error_body(kind, code, "busy"))
}

async fn stream_of(script: Vec<Vec<Act>>) -> (Raw, Bench, ResponseStream) {
    let server = Raw::serve(script).await;
    let bench = bench(&server);
    let stream = bench.client.stream(&request()).await.unwrap();
    (server, bench, stream)
}

#[tokio::test]
async fn a_stream_hands_out_its_text_and_ends_with_reason_and_usage() {
    let (_server, bench, mut stream) = stream_of(vec![whole()]).await;
    let (events, error) = drain(&mut stream).await;
    assert!(error.is_none());
    assert_eq!(text(&events), "Paris");
    let StreamEvent::Done { stop_reason, usage } = events.last().unwrap() else {
        panic!("{events:?}")
    };
    assert_eq!(*stop_reason, StopReason::EndTurn);
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(5), Some(2))
    );
    assert_eq!(stream.model(), Some("gpt-served"));
    assert_eq!(stream.request_id(), Some("req_s"));
    assert!(stream.is_terminated());
    assert!(stream.next().await.is_none());

    let sequence = bench.events.sequence();
    assert_eq!(
        sequence,
        [(Operation::Stream, 0), (Operation::StreamEnd, 0)]
    );
    let end = &bench.events.all()[1];
    assert!(end.completed && end.kind.is_none());
    assert_eq!(end.input_tokens, Some(5));
    assert_eq!(end.stop_reason, Some("end_turn"));
    assert_eq!(end.served_model.as_deref(), Some("gpt-served"));
    assert_eq!(end.call, bench.events.all()[0].call);
    assert!(end.first_content.is_some());
}

#[tokio::test]
async fn a_streamed_answer_is_the_one_complete_would_have_given() {
    let body = answer("Paris").replace("\"stop\"", "\"length\"");
    let server = Raw::serve(vec![
        reply(
            200,
            &[
                ("x-request-id", "req_s"),
                ("Content-Type", "application/json"),
            ],
            body,
        ),
        frames(&[
            role(),
            delta("Par"),
            delta("is"),
            finish("length"),
            usage(),
            DONE.into(),
        ]),
    ])
    .await;
    let Bench { client, .. } = bench(&server);
    let complete = client.complete(&request()).await.unwrap();
    let mut streamed = client
        .stream(&request())
        .await
        .unwrap()
        .into_response()
        .await
        .unwrap();
    assert!(streamed.raw.is_empty());
    streamed.raw = complete.raw.clone();
    assert_eq!(streamed, complete);
}

#[tokio::test]
async fn warnings_about_the_request_are_on_streamed_answers_too() {
    let reasoning = skyl::Part::Reasoning(skyl::Reasoning::new("hm", None));
    let turn = skyl::Message::new(
        skyl::Role::Assistant,
        vec![reasoning, skyl::Part::text("a")],
    );
    let request = request().message(turn).user("and?");
    let server = Raw::serve(vec![ok("Paris"), whole()]).await;
    let Bench { client, .. } = bench(&server);
    let complete = client.complete(&request).await.unwrap();
    let streamed = client
        .stream(&request)
        .await
        .unwrap()
        .into_response()
        .await
        .unwrap();
    assert!(!complete.warnings.is_empty());
    assert_eq!(streamed.warnings, complete.warnings);
}

// 64bit/async-openai#23, jeremychone/rust-genai#117: the start of a stream is a call like any other
#[tokio::test]
async fn the_start_is_retried_like_complete_hooks_included() {
    use ErrorKind::{RateLimit, Server, Transport};

    let first_error = frames(&[error_frame("server_error", "server_is_overloaded")]);
    let server = Raw::serve(vec![
        error(429, "requests", "rate_limit_exceeded", "slow down"),
        vec![Act::Reset],
        first_error,
        open(&[role()]).into_iter().chain([Act::Close]).collect(),
        whole(),
    ])
    .await;
    let Bench {
        client,
        clock,
        events,
    } = bench_with(&server, |builder| builder.max_retries(4));
    let stream = client.stream(&request()).await.unwrap();

    let kinds: Vec<_> = stream
        .attempts()
        .iter()
        .map(|attempt| attempt.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            Some(RateLimit),
            Some(Transport),
            Some(Server),
            Some(Transport),
            None
        ]
    );
    assert_eq!(stream.attempts()[2].status, Some(200));
    assert_eq!(events.all().len(), 5);
    assert_eq!(clock.sleeps().len(), 4);
    let bodies = server.requests();
    assert!(bodies.iter().all(|request| request.body == bodies[0].body));
}

#[tokio::test]
async fn a_final_error_at_the_start_is_one_request() {
    for (script, kind) in [
        (json(401, "{}"), ErrorKind::Auth),
        (
            frames(&[error_frame("invalid_request_error", "invalid_api_key")]),
            ErrorKind::Auth,
        ),
        (
            frames(&[error_frame("insufficient_quota", "insufficient_quota")]),
            ErrorKind::QuotaExhausted,
        ),
    ] {
        let server = Raw::serve(vec![script]).await;
        let Bench { client, events, .. } = bench(&server);
        let error = client.stream(&request()).await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(!error.delivered());
        assert_eq!(server.requests().len(), 1);
        assert_eq!(
            events.sequence(),
            [(Operation::Stream, 0)],
            "no stream began, so none ended"
        );
    }
}

#[tokio::test]
async fn a_start_that_always_fails_gives_up_as_complete_does() {
    let server = Raw::serve(vec![frames(&[role()])]).await;
    let error = bench(&server).client.stream(&request()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "skyl: giving up after 4 attempts: skyl: openai: response truncated"
    );
    assert_eq!(error.kind().group(), Some(skyl::Group::Server));
    assert_eq!(statuses(&error), [Some(200); 4]);
    assert!(!error.delivered());
}

/// What becomes of a stream that hands out "Par" and then does this.
async fn after_par(rest: Vec<Act>) -> (skyl::Error, ResponseStream, Bench, Raw) {
    let script = [open(&[role(), delta("Par")]), rest].concat();
    let (server, bench, mut stream) = stream_of(vec![script, whole()]).await;
    let (events, error) = drain(&mut stream).await;
    assert_eq!(text(&events), "Par");
    assert!(stream.next().await.is_none());
    (error.unwrap(), stream, bench, server)
}

#[tokio::test]
async fn what_fails_after_content_is_never_resent_and_never_a_success() {
    let end = || Act::Send(b"0\r\n\r\n".to_vec());
    let overloaded = error_frame("server_error", "server_is_overloaded");
    for (rest, kind) in [
        (vec![Act::Close], ErrorKind::Transport),
        (vec![Act::Reset], ErrorKind::Transport),
        (vec![end()], ErrorKind::Truncated),
        (vec![chunk(&overloaded), end()], ErrorKind::Server),
        (
            vec![chunk(&overloaded), chunk(DONE), end()],
            ErrorKind::Server,
        ),
        (
            vec![chunk(&error_frame("requests", "rate_limit_exceeded"))],
            ErrorKind::RateLimit,
        ),
        (vec![chunk("data: {not json}\n\n")], ErrorKind::Decode),
        (
            vec![
                chunk("{\"error\": {\"message\": \"bare\", \"code\": 503}}\n\n"),
                end(),
            ],
            ErrorKind::Server,
        ),
    ] {
        let (error, stream, bench, server) = after_par(rest).await;
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.delivered(), "{error}");
        assert_eq!(error.retry_stop(), Some(RetryStop::ContentDelivered));
        assert_eq!(server.requests().len(), 1, "{error}");
        assert!(!error.to_string().contains("giving up"));
        assert_eq!(error.request_id(), Some("req_s"));
        assert_eq!(error.attempts(), stream.attempts());
        assert_eq!(error.attempts()[0].kind, Some(kind));

        let partial = stream.partial();
        assert_eq!(partial.text(), "Par");
        assert_eq!(stream.model(), Some("gpt-served"));

        let ends = bench.events.of(Operation::StreamEnd);
        assert_eq!(ends.len(), 1, "{error}");
        assert_eq!((ends[0].kind, ends[0].completed), (Some(kind), false));
        drop(stream);
        assert_eq!(
            bench.events.of(Operation::StreamEnd).len(),
            1,
            "told once, dropped or not"
        );
    }
}

#[tokio::test]
async fn an_error_in_mid_stream_is_classified_by_its_own_code() {
    let (error, ..) = after_par(vec![chunk(&error_frame(
        "server_error",
        "server_is_overloaded",
    ))])
    .await;
    assert!(error.is_overloaded());
    assert!(
        error.retryable(),
        "delivered does not change what the kind says"
    );
    assert_eq!(error.message(), Some("busy"));
}

#[tokio::test]
async fn usage_that_came_before_the_break_is_kept() {
    let (error, ..) = after_par(vec![chunk(&usage()), Act::Close]).await;
    assert_eq!(error.usage().unwrap().input_tokens, Some(5));
}

// vercel/ai#19165, can1357/oh-my-pi#9433: when a stream is whole
#[tokio::test]
async fn a_reason_to_stop_or_done_makes_a_stream_whole() {
    for rest in [
        vec![finish("stop")],
        vec![DONE.to_owned()],
        vec![finish("stop"), DONE.to_owned()],
        vec![finish("stop"), "data: [DONE]".to_owned()],
    ] {
        let all = [vec![role(), delta("Paris")], rest].concat();
        let (_server, _bench, stream) = stream_of(vec![frames(&all)]).await;
        assert_eq!(
            stream.into_response().await.unwrap().text(),
            "Paris",
            "{all:?}"
        );
    }
}

#[tokio::test]
async fn what_breaks_after_the_terminal_mark_breaks_nothing() {
    for act in [Act::Close, Act::Reset] {
        let script = [open(&[delta("Paris"), finish("stop")]), vec![act]].concat();
        let (_server, bench, stream) = stream_of(vec![script]).await;
        let answer = stream.into_response().await.unwrap();
        assert_eq!(answer.text(), "Paris");
        assert!(bench.events.of(Operation::StreamEnd)[0].completed);
    }
}

// anomalyco/opencode#40454: the last event lost when the final blank line is missing
#[tokio::test]
async fn the_last_event_counts_without_its_blank_line() {
    let last = finish("stop").trim_end().to_owned();
    let (_server, _bench, stream) = stream_of(vec![frames(&[delta("Paris"), last])]).await;
    assert_eq!(
        stream.into_response().await.unwrap().stop_reason,
        StopReason::EndTurn
    );
}

#[tokio::test]
async fn half_a_last_event_is_a_truncated_answer() {
    let half = finish("stop")[..60].to_owned();
    let (_server, _bench, mut stream) = stream_of(vec![frames(&[delta("Paris"), half])]).await;
    let (_, error) = drain(&mut stream).await;
    assert_eq!(error.unwrap().kind(), ErrorKind::Truncated);
}

#[tokio::test]
async fn comments_neither_delay_the_start_nor_count_as_it() {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let mut script = sse_open(&[": OPENROUTER PROCESSING\n\n"; 200]);
    script.push(chunk(&delta("Par")));
    script.push(Act::Wait(go.clone()));
    script.push(chunk(": more\n\n"));
    script.push(chunk(&finish("stop")));
    script.push(Act::Send(b"0\r\n\r\n".to_vec()));
    let (_server, _bench, stream) = stream_of(vec![script]).await;
    go.notify_one();
    assert_eq!(stream.into_response().await.unwrap().text(), "Par");
}

#[tokio::test]
async fn more_than_64_frames_without_content_are_unreadable_and_64_are_not() {
    let with = |count: usize| {
        frames(&[vec![role(); count], vec![delta("Paris"), finish("stop")]].concat())
    };
    let (_server, _bench, stream) = stream_of(vec![with(64)]).await;
    assert_eq!(stream.into_response().await.unwrap().text(), "Paris");

    let server = Raw::serve(vec![with(65)]).await;
    let error = bench(&server).client.stream(&request()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn more_than_a_mebibyte_without_content_is_unreadable() {
    let padded = role().replace(
        "\"model\"",
        &format!("\"pad\":\"{}\",\"model\"", "x".repeat(1 << 19)),
    );
    let server = Raw::serve(vec![frames(&[padded.clone(), padded.clone(), padded])]).await;
    let error = bench(&server).client.stream(&request()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
}

#[tokio::test]
async fn a_stream_of_more_than_the_cap_is_unreadable() {
    let server = Raw::serve(vec![frames(&[
        delta("Paris"),
        delta(" is"),
        finish("stop"),
    ])])
    .await;
    let Bench { client, .. } = bench_with(&server, |builder| builder.max_body_bytes(7));
    let mut stream = client.stream(&request()).await.unwrap();
    let (events, error) = drain(&mut stream).await;
    assert_eq!(text(&events), "Paris");
    assert_eq!(error.unwrap().kind(), ErrorKind::Decode);
}

#[tokio::test]
async fn a_json_answer_to_the_wish_for_a_stream_is_that_answer() {
    let (_server, bench, mut stream) = stream_of(vec![ok("Paris")]).await;
    let (events, error) = drain(&mut stream).await;
    assert!(error.is_none());
    assert_eq!(text(&events), "Paris");
    assert!(matches!(
        events.last(),
        Some(StreamEvent::Done {
            stop_reason: StopReason::EndTurn,
            ..
        })
    ));
    assert!(bench.events.of(Operation::StreamEnd)[0].completed);
}

#[tokio::test]
async fn a_json_error_in_a_200_to_the_wish_for_a_stream_is_that_error() {
    let busy = json(200, r#"{"error":{"message":"busy","code":503}}"#);
    let (server, _bench, stream) = stream_of(vec![busy, whole()]).await;
    assert_eq!(stream.attempts()[0].kind, Some(ErrorKind::Server));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_empty_answer_to_the_wish_for_a_stream_is_no_success() {
    let (_server, _bench, stream) = stream_of(vec![json(200, ""), json(200, "{}"), whole()]).await;
    let kinds: Vec<_> = stream
        .attempts()
        .iter()
        .map(|attempt| attempt.kind)
        .collect();
    assert_eq!(
        kinds,
        [Some(ErrorKind::Server), Some(ErrorKind::Server), None]
    );
}

#[tokio::test]
async fn html_to_the_wish_for_a_stream_is_unreadable() {
    let page = reply(200, &[("Content-Type", "text/html")], "<html></html>");
    let server = Raw::serve(vec![page]).await;
    let error = bench(&server).client.stream(&request()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(error.body(), Some("<html></html>"));
}

#[tokio::test]
async fn a_stream_under_another_name_is_read_as_one() {
    for kind in ["application/json", "text/plain", ""] {
        let body = [role(), delta("Paris"), finish("stop"), DONE.into()].concat();
        let (_server, _bench, stream) =
            stream_of(vec![reply(200, &[("Content-Type", kind)], body)]).await;
        assert_eq!(
            stream.into_response().await.unwrap().text(),
            "Paris",
            "{kind}"
        );
    }
}

#[tokio::test]
async fn an_answer_without_content_is_an_answer() {
    let empty = frames(&[role(), finish("length"), usage(), DONE.into()]);
    let (_server, bench, mut stream) = stream_of(vec![empty]).await;
    let (events, error) = drain(&mut stream).await;
    assert!(error.is_none());
    assert!(
        matches!(&events[..], [StreamEvent::Done { stop_reason: StopReason::MaxTokens, usage }]
        if usage.input_tokens == Some(5))
    );
    assert_eq!(bench.events.of(Operation::StreamEnd)[0].first_content, None);
}

#[tokio::test]
async fn a_stream_without_content_resolves_at_its_terminal_mark() {
    let script = [open(&[role(), finish("stop")]), vec![Act::Hang]].concat();
    let (_server, _bench, stream) = stream_of(vec![script]).await;
    assert_eq!(stream.attempts().len(), 1);
}

#[tokio::test]
async fn a_refusal_without_text_is_an_error_streamed_too() {
    let piece = delta("").replace("\"content\":\"\"", "\"refusal\":\"I cannot.\"");
    let script = frames(&[role(), piece, finish("stop"), usage(), DONE.into()]);
    let (server, bench, mut stream) = stream_of(vec![script]).await;
    let (events, error) = drain(&mut stream).await;
    let error = error.unwrap();
    assert_eq!(events, [StreamEvent::Refusal("I cannot.".into())]);
    assert_eq!(error.kind(), ErrorKind::Refusal);
    assert_eq!(error.message(), Some("I cannot."));
    assert_eq!(error.usage().unwrap().input_tokens, Some(5));
    assert_eq!(server.requests().len(), 1);
    assert_eq!(bench.events.of(Operation::StreamEnd).len(), 1);
}

#[tokio::test]
async fn a_refusal_without_a_word_is_an_error_at_the_start_with_its_usage() {
    let script = frames(&[role(), finish("content_filter"), usage(), DONE.into()]);
    let server = Raw::serve(vec![script]).await;
    let error = bench(&server).client.stream(&request()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refusal);
    assert_eq!(error.usage().unwrap().input_tokens, Some(5));
    assert_eq!(
        error.to_string(),
        "skyl: openai: model declined the request"
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_refusal_with_text_is_an_answer_that_says_so() {
    let script = frames(&[delta("Well,"), finish("content_filter"), DONE.into()]);
    let (_server, _bench, stream) = stream_of(vec![script]).await;
    let answer = stream.into_response().await.unwrap();
    assert_eq!(
        (answer.text(), answer.stop_reason),
        ("Well,".into(), StopReason::Refusal)
    );
}

// 64bit/async-openai#577: a dropped stream kept its connection
#[tokio::test]
async fn dropping_a_stream_closes_its_connection_and_tells_its_end() {
    let script = [open(&[delta("Par")]), vec![Act::Hang]].concat();
    let (mut server, bench, mut stream) = stream_of(vec![script]).await;
    stream.next().await.unwrap().unwrap();
    drop(stream);
    server.all_closed().await;
    let ends = bench.events.of(Operation::StreamEnd);
    assert_eq!(ends.len(), 1);
    assert_eq!((ends[0].completed, ends[0].kind), (false, None));
}

#[tokio::test]
async fn a_stream_that_is_never_read_has_its_end_told_too() {
    let (_server, bench, stream) = stream_of(vec![whole()]).await;
    drop(stream);
    assert_eq!(
        bench.events.sequence(),
        [(Operation::Stream, 0), (Operation::StreamEnd, 0)]
    );
}

#[tokio::test]
async fn closing_a_stream_closes_its_connection_and_says_so_once() {
    let script = [open(&[delta("Par"), delta("is")]), vec![Act::Hang]].concat();
    let (mut server, bench, mut stream) = stream_of(vec![script]).await;
    stream.next().await.unwrap().unwrap();
    stream.close();
    stream.close();
    server.all_closed().await;
    assert_eq!(bench.events.of(Operation::StreamEnd).len(), 1);
    assert!(!stream.is_terminated());

    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StreamClosed);
    assert_eq!(error.to_string(), "skyl: openai: stream is closed");
    assert!(!error.retryable());
    assert!(stream.next().await.is_none() && stream.is_terminated());
    assert!(stream.partial().text().starts_with("Par"));
    drop(stream);
    assert_eq!(bench.events.of(Operation::StreamEnd).len(), 1);
}

#[tokio::test]
async fn closing_a_stream_at_its_end_does_nothing() {
    let (_server, bench, mut stream) = stream_of(vec![whole()]).await;
    drain(&mut stream).await;
    stream.close();
    assert!(stream.next().await.is_none());
    assert_eq!(bench.events.of(Operation::StreamEnd).len(), 1);
    assert!(stream.into_response().await.is_ok());
}

#[tokio::test]
async fn a_closed_stream_gives_no_response() {
    let (_server, _bench, mut stream) = stream_of(vec![whole()]).await;
    stream.close();
    assert_eq!(
        stream.into_response().await.unwrap_err().kind(),
        ErrorKind::StreamClosed
    );
}

#[tokio::test]
async fn a_connection_whose_stream_was_read_to_its_end_is_used_again() {
    let (server, bench, stream) = stream_of(vec![whole(), ok("Paris")]).await;
    stream.into_response().await.unwrap();
    bench.client.complete(&request()).await.unwrap();
    let connections: Vec<_> = server
        .requests()
        .iter()
        .map(|seen| seen.connection)
        .collect();
    assert_eq!(connections, [0, 0]);
}

#[tokio::test]
async fn half_a_tool_call_is_not_in_what_is_left_of_a_broken_stream() {
    let piece = |json: &str| delta("").replace("\"content\":\"\"", json);
    let start = piece(
        r#""tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"moon","arguments":"{\"x\""}}]"#,
    );
    let (_server, _bench, mut stream) =
        stream_of(vec![frames(&[delta("Let me see."), start])]).await;
    let (events, error) = drain(&mut stream).await;
    assert_eq!(error.unwrap().kind(), ErrorKind::Truncated);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, StreamEvent::ToolCallStart { .. }))
    );
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, StreamEvent::ToolCall(_)))
    );
    let partial = stream.partial();
    assert_eq!(partial.tool_calls().count(), 0);
    assert_eq!(partial.text(), "Let me see.");
}

#[tokio::test]
async fn a_stream_of_tool_calls_starts_at_the_first_call() {
    let piece = |json: &str| delta("").replace("\"content\":\"\"", json);
    let start = piece(
        r#""tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"moon","arguments":""}}]"#,
    );
    let rest = piece(r#""tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]"#);
    let script = frames(&[role(), start, rest, finish("tool_calls"), DONE.into()]);
    let server = Raw::serve(vec![script]).await;
    let schema = serde_json::json!({"type": "object"});
    let request: Request = request().tool(Tool::new("moon", schema));
    let stream = bench(&server).client.stream(&request).await.unwrap();
    let answer = stream.into_response().await.unwrap();
    let call = answer.tool_calls().next().unwrap();
    assert_eq!(
        (&*call.id, &*call.name, &*call.arguments),
        ("c1", "moon", "{\"x\":1}")
    );
    assert_eq!(answer.stop_reason, StopReason::ToolUse);
}

#[test]
fn streams_can_be_moved_between_threads_and_polled_without_pinning() {
    fn check<T: Stream<Item = Result<StreamEvent, skyl::Error>> + FusedStream + Send + Unpin>() {}
    check::<ResponseStream>();
}
