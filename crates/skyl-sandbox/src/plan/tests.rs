use std::time::UNIX_EPOCH;

use super::*;
use crate::{mounts, script::Script};

fn frame(role: Role, text: &'static str) -> Frame {
    Frame {
        role,
        bytes: Bytes::from_static(text.as_bytes()),
    }
}

/// `L`ead, two contents, `T`ail.
fn streamed() -> Answer {
    let frames = vec![
        frame(Role::Lead, "L"),
        frame(Role::Content, "1"),
        frame(Role::Content, "2"),
        frame(Role::Tail, "T"),
    ];
    Answer::Stream {
        content_type: "text/event-stream",
        frames,
    }
}

fn complete() -> Answer {
    Answer::Whole(Whole {
        status: 200,
        content_type: "application/json",
        body: Bytes::from_static(b"abcdef"),
    })
}

fn planned(answer: Answer, step: &str) -> Plan {
    let script: Script = step.parse().unwrap();
    let mounts = mounts::all();
    let chat = mounts.iter().find(|mount| mount.prefix() == "/openai/v1");
    let call = Call {
        model: None,
        refused: false,
        tokens: 0,
        answer,
    };
    plan(
        chat.unwrap().as_ref(),
        call,
        script.at(0).1,
        "injected",
        Moment {
            seq: 1,
            wall: UNIX_EPOCH,
        },
    )
}

fn reply(answer: Answer, step: &str) -> Reply {
    match planned(answer, step).ending {
        Ending::Reply(reply) => reply,
        Ending::Hangup(cut) => panic!("{step}: {cut:?}"),
    }
}

/// The parts in short: data as text, waits in `<ms>`, cuts in capitals.
fn course(answer: Answer, step: &str) -> String {
    let parts = reply(answer, step).parts;
    parts
        .iter()
        .map(|part| match part {
            Part::Data(bytes) if bytes.starts_with(b"data: ") => "E".to_owned(),
            Part::Data(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Part::Wait(wait) => format!("<{}>", wait.as_millis()),
            Part::Beats { left, .. } => format!("[{}]", left.as_millis()),
            Part::Cut(Cut::Reset) => "RST".to_owned(),
            Part::Cut(Cut::Close) => "FIN".to_owned(),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_stream_ends_where_its_step_says() {
    for (step, expected) in [
        ("ok", "L 1 2 T"),
        ("stream-truncate(1)", "L 1"),
        ("stream-truncate(0)", "L"),
        // More frames than there are: all content, and still no terminal mark.
        ("stream-truncate(9)", "L 1 2"),
        ("stream-error(1)", "L 1 E"),
        ("stream-reset(2)", "L 1 2 RST"),
        ("stream-stall(1;50)", "L 1 <50> 2 T"),
        ("close-mid", "L 1 FIN"),
        ("reset-mid", "L 1 RST"),
        ("stall-mid(50)", "L 1 <50> 2 T"),
        ("first-error", "E"),
        ("slow(5)", "<5> L <5> 1 <5> 2 <5> T"),
        ("split(3)", "L12 T"),
        ("split(2)+stall-mid(9)", "L1 <9> 2T"),
        ("comments(40)", "[40] L 1 2 T"),
        ("stream-error(1)+slow(5)", "<5> L <5> 1 <5> E"),
    ] {
        assert_eq!(course(streamed(), step), expected, "{step}");
        assert_eq!(reply(streamed(), step).status, 200);
    }
}

#[test]
fn a_whole_answer_is_cut_in_the_middle_of_its_body() {
    for (step, expected) in [
        ("ok", "abcdef"),
        ("close-mid", "abc FIN"),
        ("reset-mid", "abc RST"),
        ("stall-mid(50)", "abc <50> def"),
        ("stream-truncate(1)", "abc FIN"),
        ("stream-reset(1)", "abc RST"),
        ("stream-stall(1;50)", "abc <50> def"),
        ("split(4)", "abcd ef"),
        ("comments(40)", "[40] abcdef"),
    ] {
        assert_eq!(course(complete(), step), expected, "{step}");
    }
    // The length is announced all the same, so that a client can see that bytes are missing.
    assert_eq!(reply(complete(), "close-mid").length, Some(6));
    assert_eq!(reply(complete(), "comments(40)").length, None);
}

#[test]
fn an_in_band_error_is_a_200_with_the_error_as_body() {
    for step in ["first-error", "stream-error(1)"] {
        let reply = reply(complete(), step);
        assert_eq!(reply.status, 200);
        let Some(Part::Data(body)) = reply.parts.front() else {
            panic!("{step}")
        };
        assert!(body.starts_with(b"{\"error\":"), "{step}");
    }
}

#[test]
fn a_connection_ends_before_any_byte_after_its_stall() {
    let plan = planned(complete(), "reset+stall(20)");
    assert!(matches!(plan.ending, Ending::Hangup(Cut::Reset)));
    assert_eq!(
        (plan.stall, plan.status()),
        (Duration::from_millis(20), None)
    );
    assert!(matches!(
        planned(streamed(), "close").ending,
        Ending::Hangup(Cut::Close)
    ));
}

#[test]
fn hints_are_sent_as_written_and_only_when_told() {
    let headers = |step: &str| {
        let headers = reply(complete(), step).headers;
        headers
            .into_iter()
            .filter(|(name, _)| *name != "content-type")
            .collect::<Vec<_>>()
    };
    assert_eq!(headers("429"), []);
    assert_eq!(headers("429(ra=2.0)"), [("retry-after", "2.0".to_owned())]);
    assert_eq!(
        headers("429(ra-ms=007)"),
        [("retry-after-ms", "007".to_owned())]
    );
    assert_eq!(
        headers("429(ra-raw=soon)"),
        [("retry-after", "soon".to_owned())]
    );
    assert_eq!(
        headers("503(should-retry=false)"),
        [("x-should-retry", "false".to_owned())]
    );
    let date = "Thu, 01 Jan 1970 00:00:30 GMT".to_owned();
    assert_eq!(headers("503(ra-date=30)"), [("retry-after", date)]);
}

#[test]
fn statuses_that_have_no_body_get_none() {
    for code in [204, 205, 304] {
        let reply = reply(complete(), &code.to_string());
        assert_eq!(
            (reply.status, reply.parts.len(), reply.length),
            (code, 0, Some(0))
        );
    }
    for code in [200, 201, 302, 400, 599] {
        let reply = reply(complete(), &code.to_string());
        assert!(
            matches!(reply.parts.front(), Some(Part::Data(body)) if body.starts_with(b"{\"error\":")),
            "{code}"
        );
    }
}

#[test]
fn bodies_can_be_html_empty_or_cut() {
    let body = |step: &str| match reply(complete(), step).parts.pop_front() {
        Some(Part::Data(body)) => String::from_utf8(body.to_vec()).unwrap(),
        _ => String::new(),
    };
    assert!(body("502(body=html)").starts_with("<!DOCTYPE html>"));
    assert_eq!(body("502(body=empty)"), "");
    let cut = body("502(body=cut)");
    assert!(
        cut.starts_with("{\"error\":") && !cut.ends_with('}'),
        "{cut}"
    );
    assert!(body("429(body=quota)").contains("insufficient_quota"));
    assert!(body("400(body=context)").contains("context_length_exceeded"));
    assert!(body("500(body=overloaded)").contains("server_is_overloaded"));
}
