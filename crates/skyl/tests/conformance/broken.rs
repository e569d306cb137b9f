//! Streams that break after content: told once, with what had come, and never resent.

use skyl::{ErrorKind, Sent, StreamEvent};

use crate::{
    stage::{Case, Mode, Stage, defaults, drain, echo, request, script, secs, text},
    tools::weather,
};

pub(crate) async fn what_breaks_after_content_is_never_resent(case: &Case) {
    let stage = Stage::new(case).await;
    for (steps, kind) in [
        ("reset-mid", ErrorKind::Transport),
        ("close-mid", ErrorKind::Transport),
        ("stream-reset(2)", ErrorKind::Transport),
        ("stream-reset(99)", ErrorKind::Transport),
        ("stream-error(1)", ErrorKind::Server),
        ("stream-error(3)", ErrorKind::Server),
        ("stream-error(99)", ErrorKind::Server),
        ("stream-truncate(1)", ErrorKind::Truncated),
        ("stream-truncate(3)", ErrorKind::Truncated),
        ("stream-truncate(99)", ErrorKind::Truncated),
        ("split(1)+stream-error(2)", ErrorKind::Server),
        ("split(3)+close-mid", ErrorKind::Transport),
    ] {
        stage.clear();
        let asked = script(&format!("{steps},ok"), Mode::Stream);
        let mut stream = stage.client.stream(&asked).await.unwrap();
        let (events, error) = drain(&mut stream).await;
        let told = format!("{} {steps}: {error:?}", case.name);
        let error = error.unwrap();
        assert_eq!(error.kind(), kind, "{told}");
        assert!(error.delivered(), "{told}");
        assert_eq!(error.sent(), Sent::Maybe, "{told}");
        assert!(!text(&events).is_empty(), "{told}");
        assert!(echo().starts_with(&text(&events)), "{told}");
        assert!(
            !events
                .iter()
                .any(|event| matches!(event, StreamEvent::Done { .. })),
            "{told}"
        );
        assert_eq!(stream.partial().text(), text(&events), "{told}");
        assert!(stream.next().await.is_none(), "{told}");
        assert_eq!(stage.agreed(error.attempts()), [Some(200)], "{told}");
        assert_eq!(stage.events.ends(), [false], "{told}");
    }
}

pub(crate) async fn an_error_after_content_keeps_its_class(case: &Case) {
    let stage = Stage::new(case).await;
    let mut stream = stage
        .client
        .stream(&request("sandbox-stream-error"))
        .await
        .unwrap();
    let error = drain(&mut stream).await.1.unwrap();
    assert!(error.is_overloaded(), "{}: {error:?}", case.name);
    assert!(
        error
            .message()
            .unwrap()
            .contains("injected in-band failure")
    );
    // Retryable in itself: what was delivered is what forbids it.
    assert!(error.retryable() && error.delivered(), "{}", case.name);
    assert_eq!(error.http_status(), Some(200), "{}", case.name);
}

pub(crate) async fn a_stream_without_its_mark_is_truncated(case: &Case) {
    let stage = Stage::new(case).await;
    for _ in 0..2 {
        stage.clear();
        let stream = stage
            .client
            .stream(&request("sandbox-stream-truncate"))
            .await;
        let error = stream.unwrap().into_response().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "{}: {error}", case.name);
        assert!(error.delivered(), "{}", case.name);
        assert_eq!(stage.sandbox.journal().len(), 1, "{}", case.name);
    }
}

pub(crate) async fn a_stream_that_falls_silent_is_a_timeout_and_never_resent(case: &Case) {
    let stage = Stage::new(case).await;
    let asked = script("stream-stall(2;600000),ok", Mode::Stream);
    let mut stream = stage
        .client
        .stream_with(&asked, defaults().idle_timeout(secs(30)))
        .await
        .unwrap();
    let mut said = String::new();
    while said != "You said: " {
        let Some(Ok(StreamEvent::Text(piece))) = stream.next().await else {
            panic!("{}: after {said:?}", case.name)
        };
        said += &piece;
    }
    let moving = async {
        loop {
            tokio::task::yield_now().await;
            stage.clock.advance(secs(30));
        }
    };
    let next = tokio::select! { next = stream.next() => next, () = moving => unreachable!() };
    let error = next.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{}: {error}", case.name);
    assert!(error.delivered(), "{}", case.name);
    assert!(stream.next().await.is_none(), "{}", case.name);
    assert_eq!(stream.partial().text(), said, "{}", case.name);
    assert_eq!(stage.sandbox.journal().len(), 1, "{}", case.name);
    assert_eq!(stage.events.ends(), [false], "{}", case.name);
    stage.sandbox.all_closed().await;
}

pub(crate) async fn a_tool_call_that_breaks_off_is_no_call(case: &Case) {
    let stage = Stage::new(case).await;
    for n in 1..12 {
        let mut asked = weather(case.model);
        asked.model = format!("sandbox-do-stream-truncate({n})@tools");
        let mut stream = stage.client.stream(&asked).await.unwrap();
        let (events, error) = drain(&mut stream).await;
        let error = error.unwrap();
        assert_eq!(
            error.kind(),
            ErrorKind::Truncated,
            "{} {n}: {error}",
            case.name
        );
        // Whole calls are kept and handed out; a half one is neither.
        let whole: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                StreamEvent::ToolCall(call) => Some(call.clone()),
                _ => None,
            })
            .collect();
        let partial = stream.partial();
        assert!(partial.tool_calls().eq(&whole), "{} {n}", case.name);
        assert!(
            whole.iter().all(skyl::ToolCall::is_whole),
            "{} {n}",
            case.name
        );
    }
}
