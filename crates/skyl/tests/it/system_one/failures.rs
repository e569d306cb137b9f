//! What a failed call says, and what it keeps to itself.

use std::sync::Arc;

use skyl::system_one::{CallOptions, ContextCheck, Questions, Request};
use skyl::{ErrorKind, Operation, RetryBudget, RetryBudgetPolicy, RetryPolicy, RetryStop, Sent};
use skyl_retry::ManualClock;

use crate::logs::{heard, listen};
use crate::raw::{Act, Raw, json, reply};
use crate::secrets::prints;
use crate::support::{ms, secs};
use crate::system_one::support::{
    ANSWER, Bench, KEY, Running, STATE, answered, ask, bench, bench_on, bench_with, policed,
    questions, received, status, told,
};

#[tokio::test]
async fn each_status_has_its_kind_its_words_and_its_request_id() {
    let detail = |text: &str| format!(r#"{{"detail":{text}}}"#);
    let object = |kind: &str| detail(&format!(r#"{{"error_type":"{kind}","message":"said"}}"#));
    for (code, body, kind, message) in [
        (
            400,
            detail(r#""said""#),
            ErrorKind::BadRequest,
            Some("said"),
        ),
        (
            400,
            object("api_usage_error"),
            ErrorKind::BadRequest,
            Some("said"),
        ),
        (
            400,
            detail(r#"{"error_type":"max_tokens_exceeded"}"#),
            ErrorKind::ContextLength,
            Some("max_tokens_exceeded"),
        ),
        (
            401,
            object("authentication_error"),
            ErrorKind::Auth,
            Some("said"),
        ),
        (
            403,
            object("authentication_error"),
            ErrorKind::Auth,
            Some("said"),
        ),
        (
            404,
            detail(r#""Not Found""#),
            ErrorKind::NotFound,
            Some("Not Found"),
        ),
        (
            422,
            detail(r#"[{"type":"missing","loc":["body","state"],"msg":"Field required"}]"#),
            ErrorKind::BadRequest,
            Some("state: Field required"),
        ),
        (429, String::new(), ErrorKind::RateLimit, None),
        (529, String::new(), ErrorKind::Server, None),
        (408, String::new(), ErrorKind::Server, None),
    ] {
        let head = [("x-typesafe-request-id", "req_1"), ("cf-ray", "ray")];
        let server = Raw::serve(vec![reply(code, &head, &body)]).await;
        let Bench { client, events, .. } = bench_with(&server, |builder| builder.max_retries(0));
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{code} {body}");
        assert_eq!(error.status(), Some(code));
        assert_eq!(error.message(), message, "{code} {body}");
        assert_eq!(error.request_id(), Some("req_1"));
        assert_eq!(error.provider(), Some("typesafe"));
        assert_eq!(events.all()[0].request_id.as_deref(), Some("req_1"));
    }
}

#[tokio::test]
async fn the_wait_the_server_asked_for_stands_on_every_error_raw() {
    for code in [429, 503, 529, 400] {
        let server = Raw::serve(vec![told(code, "Retry-After", "3600")]).await;
        let error = ask(&bench(&server).client).await.unwrap_err();
        assert_eq!(error.retry_after(), Some(secs(3600)), "{code}");
    }
}

#[tokio::test]
async fn html_cut_and_empty_bodies_keep_kind_and_status() {
    let html = "<html><body>Bad Gateway</body></html>";
    for body in [
        html,
        "",
        r#"{"detail":{"error_type":"authen"#,
        "\u{0}\u{ff}",
    ] {
        for (code, kind) in [
            (401, ErrorKind::Auth),
            (404, ErrorKind::NotFound),
            (422, ErrorKind::BadRequest),
            (429, ErrorKind::RateLimit),
            (502, ErrorKind::Server),
        ] {
            let server = Raw::serve(vec![json(code, body)]).await;
            let error = ask(&bench(&server).client).await.unwrap_err();
            assert_eq!(
                (error.kind(), error.status()),
                (kind, Some(code)),
                "{body:?}"
            );
        }
    }
}

/// An answer that promises more than comes, and then breaks off.
fn cut(status: u16, end: Act) -> Vec<Act> {
    let head = format!("HTTP/1.1 {status} X\r\nRetry-After: 7\r\nContent-Length: 999\r\n\r\n{{");
    vec![Act::Send(head.into_bytes()), end]
}

#[tokio::test]
async fn an_error_body_that_breaks_off_keeps_status_and_wait() {
    for end in [Act::Close, Act::Reset] {
        let server = Raw::serve(vec![cut(429, end.clone()), answered()]).await;
        let Bench { client, clock, .. } = bench(&server);
        let response = ask(&client).await.unwrap();
        assert_eq!(response.attempts()[0].kind, Some(ErrorKind::RateLimit));
        assert_eq!(clock.sleeps(), [secs(7)]);

        let server = Raw::serve(vec![cut(401, end), answered()]).await;
        let error = ask(&bench(&server).client).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Auth);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn an_oversized_503_is_still_a_503() {
    let server = Raw::serve(vec![json(503, &"x".repeat(1 << 20)), answered()]).await;
    let Bench { client, .. } = bench_with(&server, |builder| builder.max_body_bytes(1 << 10));
    assert_eq!(ask(&client).await.unwrap().attempts()[0].status, Some(503));
}

#[tokio::test]
async fn a_2xx_that_breaks_off_is_a_connection_error() {
    for end in [Act::Close, Act::Reset] {
        let server = Raw::serve(vec![cut(200, end.clone()), answered()]).await;
        let response = ask(&bench(&server).client).await.unwrap();
        let first = response.attempts()[0];
        assert_eq!(
            (first.kind, first.status),
            (Some(ErrorKind::Transport), Some(200))
        );

        server.play(vec![cut(200, end), answered()]);
        let Bench { client, .. } = policed(&server, |policy| policy.retry_on_conn_err(false));
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.sent(), Sent::Maybe);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_2xx_that_stalls_in_its_body_is_a_timeout() {
    for switch in [true, false] {
        let server = Raw::serve(vec![cut(200, Act::Hang), answered()]).await;
        let clock = ManualClock::skipping();
        let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| {
            builder.retry_on_timeout(switch)
        });
        let mut call = Running::ask(client);
        received(&server, 1).await;
        clock.advance(secs(10));
        match call.end().await {
            Ok(response) => {
                assert!(switch);
                assert_eq!(response.attempts()[0].kind, Some(ErrorKind::Timeout));
            }
            Err(error) => {
                assert!(!switch);
                assert_eq!(error.kind(), ErrorKind::Timeout);
                assert_eq!(server.requests().len(), 1);
            }
        }
    }
}

#[tokio::test]
async fn a_whole_body_that_cannot_be_read_is_final() {
    let missing = r#"{"model":"m","answers":{},"usage":{"input_tokens":1,"output_tokens":1}}"#;
    let other = r#"{"model":"m","answers":{"late":{"type":"choice","choice":"a","confidence":1,"probabilities":{"a":1}}},"usage":{"input_tokens":1,"output_tokens":1}}"#;
    let no_figure = r#"{"model":"m","answers":{"late":{"type":"noul"}},"usage":{"input_tokens":1,"output_tokens":1}}"#;
    let too_much = ANSWER.replace("0.93", "1.7");
    for body in [
        "", "{", "[]", "<html>", "null", missing, other, no_figure, &too_much,
    ] {
        let server = Raw::serve(vec![json(200, body), answered()]).await;
        let error = ask(&bench(&server).client).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode, "{body}");
        assert_eq!(error.http_status(), Some(200));
        assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
        assert_eq!(server.requests().len(), 1, "{body}");
    }
}

#[tokio::test]
async fn an_answer_above_the_cap_is_an_error_and_final() {
    let server = Raw::serve(vec![answered()]).await;
    let Bench { client, .. } = bench_with(&server, |builder| builder.max_body_bytes(100));
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(server.requests().len(), 1);
    let Bench { client, .. } = bench_with(&server, |builder| builder.max_body_bytes(ANSWER.len()));
    ask(&client).await.unwrap();
}

#[tokio::test]
async fn a_redirect_is_an_error_and_is_not_followed() {
    for code in [301, 302, 303, 307, 308] {
        let server = Raw::serve(vec![told(code, "Location", "/v1/systemone"), answered()]).await;
        let error = ask(&bench(&server).client).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unclassified, "{code}");
        assert_eq!(error.status(), Some(code));
        assert_eq!(server.requests().len(), 1);
    }
}

/// A validation error that says back what was asked.
const ECHO: &str = r#"{"detail":[{"type":"string_type","loc":["body","state","str"],"msg":"Input should be a valid string","input":{"text":"parcel-8841 is late again"},"ctx":{"given":"parcel-8841 is late again"}},{"type":"missing","loc":["body","questions","late","noul","criteria"],"msg":"Field required","input":{"instructions":"Is a delivery late?"}}]}"#;

#[tokio::test]
async fn what_a_422_says_back_of_the_request_is_nowhere() {
    let cut = &ECHO[..150];
    for body in [ECHO, cut] {
        listen();
        let server = Raw::serve(vec![json(422, body)]).await;
        let Bench { client, events, .. } = bench(&server);
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.status(), Some(422));
        let logs = heard();
        assert!(!logs.is_empty());
        let all = format!("{} {:?} {logs:?}", prints(&error), events.all());
        for secret in ["parcel-8841", "Is a delivery late", KEY] {
            assert!(!all.contains(secret), "{secret} in {all}");
        }
    }
    let server = Raw::serve(vec![json(422, ECHO)]).await;
    let error = ask(&bench(&server).client).await.unwrap_err();
    assert_eq!(
        error.message(),
        Some(
            "state.str: Input should be a valid string; questions.late.noul.criteria: Field required"
        )
    );
    assert!(
        error.body().unwrap().contains("string_type"),
        "the rest of it stays"
    );
}

#[tokio::test]
async fn what_prose_quotes_of_the_request_is_nowhere() {
    let quotes = [
        r#"{"detail":"cannot judge 'parcel-8841 is late again'"}"#,
        r#"{"detail":{"error_type":"api_usage_error","message":"Is a delivery late? is no question"}}"#,
        r#"{"detail":[{"loc":["body","state"],"msg":"Value error, got parcel-8841 is late again"}]}"#,
        "<html><title>Blocked: parcel-8841 is late again</title></html>",
    ];
    for (body, code) in quotes.into_iter().zip([400, 422, 422, 403]) {
        listen();
        let server = Raw::serve(vec![json(code, body)]).await;
        let Bench { client, events, .. } = bench(&server);
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.status(), Some(code));
        let logs = heard();
        let all = format!("{} {:?} {logs:?}", prints(&error), events.all());
        for secret in ["parcel-8841", "Is a delivery late"] {
            assert!(!all.contains(secret), "{secret} in {all}");
        }
        assert!(all.contains("[redacted]"), "{all}");
    }
}

#[tokio::test]
async fn the_requests_words_are_in_no_print_and_no_log_of_a_call_that_went_well() {
    listen();
    let server = Raw::serve(vec![status(503), answered()]).await;
    let Bench { client, events, .. } = bench(&server);
    let request = Request::new(STATE, questions());
    let response = client
        .system_one_with(&request, CallOptions::new())
        .await
        .unwrap();
    let all = format!("{request:?} {response:?} {:?} {:?}", events.all(), heard());
    for secret in ["parcel-8841", "Is a delivery late", KEY] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
}

#[tokio::test]
async fn a_key_the_server_says_back_is_nowhere() {
    let body = format!(
        r#"{{"detail":{{"error_type":"authentication_error","message":"bad key {KEY}"}}}}"#
    );
    let head = ("x-typesafe-request-id", KEY);
    for code in [401, 429] {
        let server = Raw::serve(vec![reply(code, &[head], &body)]).await;
        let Bench { client, events, .. } = bench(&server);
        let error = ask(&client).await.unwrap_err();
        let all = format!("{} {:?}", prints(&error), events.all());
        assert!(!all.contains(KEY), "{all}");
        assert!(all.contains("[redacted]"));
    }
}

#[tokio::test]
async fn cancelled_deadline_and_attempt_timeout_are_three_kinds() {
    let server = Raw::serve(vec![vec![Act::Hang]]).await;
    let clock = ManualClock::skipping();
    let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| {
        builder.max_retries(0)
    });

    let mut timed_out = Running::ask(client.clone());
    received(&server, 1).await;
    clock.advance(secs(10));
    assert_eq!(
        timed_out.end().await.unwrap_err().kind(),
        ErrorKind::Timeout
    );

    let options = CallOptions::new().total_timeout(secs(3));
    let mut overdue = Running::ask_with(client.clone(), options);
    received(&server, 2).await;
    clock.advance(secs(3));
    assert_eq!(overdue.end().await.unwrap_err().kind(), ErrorKind::Deadline);

    let options = CallOptions::new().cancel_on(std::future::ready(()));
    let error = Running::ask_with(client, options).end().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(server.requests().len(), 2, "cancelled before it was sent");
}

#[tokio::test]
async fn no_retry_begins_in_a_useless_rest_of_the_deadline() {
    let server = Raw::serve(vec![told(503, "retry-after-ms", "4950"), answered()]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.total_timeout(secs(5)));
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.status(), Some(503), "the last error itself");
    assert_eq!(error.retry_stop(), Some(RetryStop::Deadline));
    assert!(clock.sleeps().is_empty());

    let server = Raw::serve(vec![told(503, "retry-after-ms", "4900"), answered()]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.total_timeout(secs(5)));
    ask(&client).await.unwrap();
    assert_eq!(clock.sleeps(), [ms(4900)]);
}

/// A call that waits to retry while another is told to hold back for so many seconds.
async fn paused_in_its_backoff(seconds: &str) -> (Raw, ManualClock, Running) {
    let server = Raw::serve(vec![
        status(503),
        told(429, "Retry-After", seconds),
        answered(),
    ])
    .await;
    let clock = ManualClock::new();
    let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| {
        builder.shared_pause(true)
    });
    let waiting = Running::ask(client.clone());
    clock.until_sleeping().await;
    let once = RetryPolicy::system_one().to_builder().max_retries(0);
    let options = CallOptions::new().policy(once.build().unwrap());
    let error = Running::ask_with(client, options).end().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimit);
    clock.advance(ms(500));
    (server, clock, waiting)
}

#[tokio::test]
async fn a_shared_pause_past_the_budget_starts_no_retry() {
    let (server, _, mut call) = paused_in_its_backoff("40").await;
    let error = call.end().await.unwrap_err();
    assert_eq!(error.status(), Some(503), "the last error itself");
    assert_eq!(error.retry_stop(), Some(RetryStop::TimeBudget));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_shared_pause_within_the_budget_is_waited_out() {
    let (server, clock, mut call) = paused_in_its_backoff("20").await;
    clock.until_sleeping().await;
    clock.advance(secs(25));
    let response = call.end().await.unwrap();
    let pause = response.attempts()[1].pause;
    assert!(pause >= ms(19_500) && pause <= secs(25), "{pause:?}");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn an_empty_retry_budget_stops_the_retry_and_never_the_call() {
    let server = Raw::serve(vec![status(503)]).await;
    let figures = RetryBudgetPolicy {
        ratio: 0.1,
        reserve_per_second: 0.0,
        capacity: 3.0,
        initial: None,
    };
    let budget = Arc::new(RetryBudget::new(&figures).unwrap());
    let Bench { client, .. } = bench_with(&server, |builder| builder.retry_budget(budget));
    let first = ask(&client).await.unwrap_err();
    assert_eq!(first.retry_stop(), Some(RetryStop::AttemptsExhausted));
    let second = ask(&client).await.unwrap_err();
    assert_eq!(second.retry_stop(), Some(RetryStop::RetryBudget));
    assert_eq!((first.attempts().len(), second.attempts().len()), (3, 2));
}

#[tokio::test]
async fn calls_at_the_same_time_share_no_retry_state() {
    let server = Raw::serve(vec![status(503)]).await;
    let client = bench(&server).client;
    let (one, two) = tokio::join!(ask(&client), ask(&client));
    for error in [one.unwrap_err(), two.unwrap_err()] {
        let numbers: Vec<_> = error.attempts().iter().map(|a| a.number).collect();
        assert_eq!(numbers, [0, 1, 2]);
    }
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn hooks_hear_of_every_attempt_under_the_names_of_the_two_calls() {
    let server = Raw::serve(vec![status(503), answered()]).await;
    let Bench { client, events, .. } = bench(&server);
    ask(&client).await.unwrap();
    server.play(vec![status(503), json(200, r#"{"models":[]}"#)]);
    client.list_models().await.unwrap();
    assert_eq!(
        events.sequence(),
        [
            (Operation::SystemOne, 0),
            (Operation::SystemOne, 1),
            (Operation::ListModels, 0),
            (Operation::ListModels, 1),
        ]
    );
    let told = &events.all()[1];
    assert_eq!(told.model.as_deref(), Some("jev-latest"));
    assert_eq!(told.served_model.as_deref(), Some("jev-1.13.0"));
    assert_eq!(told.input_tokens, Some(431));
    assert_eq!(told.request_id.as_deref(), Some("req_ok"));
    assert!(events.all()[0].will_retry && !told.will_retry);
}

#[tokio::test]
async fn what_is_wrong_locally_is_named_by_its_path_and_not_sent() {
    let server = Raw::serve(vec![answered()]).await;
    let client = bench(&server).client;
    let choice = skyl::system_one::Choice::new("Which team?");
    let no_options = Questions::new().ask("team", choice);
    let error = client.system_one(STATE, no_options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert!(error.to_string().contains("questions.team"), "{error}");
    assert_eq!(error.sent(), Sent::No);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_context_that_seems_too_long_is_a_warning_an_error_or_nothing() {
    // About 83 thousand tokens by the estimate: over both ceilings.
    let long = "x".repeat(250_000);
    let server = Raw::serve(vec![answered()]).await;
    let check = |check| bench_with(&server, move |builder| builder.context_check(check)).client;

    let response = bench(&server)
        .client
        .system_one(&*long, questions())
        .await
        .unwrap();
    assert_eq!(response.warnings().len(), 2, "{:?}", response.warnings());

    let off = check(ContextCheck::Off)
        .system_one(&*long, questions())
        .await
        .unwrap();
    assert!(off.warnings().is_empty());

    let sent = server.requests().len();
    let strict = check(ContextCheck::Error);
    let error = strict.system_one(&*long, questions()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextLength);
    assert!(error.attempts().is_empty());
    assert_eq!(server.requests().len(), sent);
    strict.system_one(STATE, questions()).await.unwrap();

    let Bench { client, .. } = bench_with(&server, |builder| {
        builder
            .context_check(ContextCheck::Error)
            .long_context(true)
    });
    let response = client.system_one(&*long, questions()).await.unwrap();
    assert!(response.warnings().is_empty());
    let last = server.requests().pop().unwrap();
    assert_eq!(
        last.header("typesafe-danger-zone-long-context"),
        Some("true")
    );
}

#[tokio::test]
async fn images_are_sent_only_with_the_opt_in() {
    let server = Raw::serve(vec![json(
        200,
        r#"{"model":"m","answers":{"parcel":{"type":"box","box":{"top":0.1,"bottom":0.2,"left":0.1,"right":0.2},"confidence":null}},"usage":{"input_tokens":1,"output_tokens":1}}"#,
    )])
    .await;
    let question = skyl::system_one::BoxQuestion::new("Where is the parcel?");
    let questions = Questions::new().ask("parcel", question);
    let error = bench(&server)
        .client
        .system_one(STATE, questions.clone())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("images(true)"), "{error}");
    assert!(server.requests().is_empty());

    let Bench { client, .. } = bench_with(&server, |builder| builder.images(true));
    let response = client.system_one(STATE, questions).await.unwrap();
    assert!((response.bounding_box("parcel").unwrap().top - 0.1).abs() < 1e-9);
    let sent = server.requests().pop().unwrap();
    assert_eq!(sent.header("typesafe-danger-zone-images"), Some("true"));
}
