//! The server's own bytes.

use crate::support::{Canned, Server, answer, skyl};

/// An answer as no JSON writer of ours would put it, with bytes that are no text at its end.
const ODD: &[u8] =
    b"{ \"id\":\"a\",\r\n\t\"choices\" : [ {\"index\":0,\"message\":{\"role\":\"assistant\",\
    \"content\":\"h\\u0069\"},\"finish_reason\":\"stop\"} ],\n\"x\": 1.0e0 }\n\n";

#[test]
fn the_body_of_the_answer_arrives_byte_by_byte() {
    let server = Canned::serve(vec![answer("200 OK", "", ODD)]);
    let ran = skyl(["chat", "hi", "--raw", "--model", "m"])
        .args(["--base-url", server.url()])
        .run();
    assert_eq!(
        (ran.code, ran.stdout.as_bytes(), ran.stderr.as_str()),
        (0, ODD, "")
    );
}

#[test]
fn retries_before_the_answer_leave_no_trace_in_it() {
    let server = Canned::serve(vec![
        answer("503 Busy", "", r#"{"error":{"message":"busy"}}"#),
        answer("200 OK", "", ODD),
    ]);
    let ran = skyl(["chat", "hi", "--raw", "--model", "m", "--retry-base", "1ms"])
        .args(["--base-url", server.url()])
        .run();
    assert_eq!((ran.code, ran.stdout.as_bytes()), (0, ODD));
    assert_eq!(ran.attempts().len(), 2, "{ran:?}");
}

#[test]
fn with_a_failure_the_body_is_told_to_people_without_the_key() {
    let body = "<html>\u{1b}[2J down for sk-very-secret</html>";
    let run = |raw: &[&str]| {
        let server = Canned::serve(vec![answer("502 Bad", "", body)]);
        let mut run = skyl(["chat", "hi", "--max-retries", "0", "--model", "m"])
            .args(["--base-url", server.url()])
            .env("SKYL_API_KEY", "sk-very-secret");
        for arg in raw {
            run = run.args([arg]);
        }
        run.run()
    };
    let ran = run(&["--raw"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (6, ""), "{ran:?}");
    assert!(
        ran.stderr
            .contains("the body began: <html>\\x1b[2J down for [redacted]</html>"),
        "{ran:?}"
    );
    // Nobody else asked for it.
    assert!(!run(&[]).stderr.contains("html"));
}

#[test]
fn each_model_of_a_list_arrives_as_it_was_sent() {
    let list = "{\"object\":\"list\",\"data\":[ {\"id\":\"a\", \"x\":1.50},{\"id\" : \"b\"} ]}";
    let server = Canned::serve(vec![answer("200 OK", "", list)]);
    let ran = skyl(["models", "--raw"])
        .args(["--base-url", server.url()])
        .run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "{\"id\":\"a\", \"x\":1.50}\n{\"id\" : \"b\"}\n"),
        "{ran:?}"
    );
}

#[test]
fn two_answers_on_one_output_are_refused_and_nothing_is_sent() {
    let server = Server::start();
    for args in [
        &["chat", "hi", "--raw", "--json"][..],
        &["--json", "chat", "hi", "--raw"],
        &["models", "--raw", "--json"],
    ] {
        let mut run = skyl([]);
        for arg in args {
            run = run.args([arg]);
        }
        let ran = run.run();
        assert_eq!(
            (ran.code, ran.object()["error"]["kind"].as_str()),
            (1, Some("usage")),
            "{args:?}"
        );
    }
    let ran = server
        .chat(["hi", "-m", "gpt-5.6", "--raw", "--stream"])
        .run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("--stream"), "{ran:?}");
    assert!(server.journal().is_empty());
}
