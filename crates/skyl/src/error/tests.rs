use std::io;
use std::sync::Arc;

use skyl_retry::Hint;

use super::*;
use crate::dialect::Fault;
use crate::scrub::Scrubber;

fn openai() -> Arc<str> {
    "openai".into()
}

fn of(fault: &Fault) -> Error {
    Error::from_fault(fault, &openai(), &Scrubber::default())
}

const ALL: [ErrorKind; 18] = [
    ErrorKind::Auth,
    ErrorKind::RateLimit,
    ErrorKind::NotFound,
    ErrorKind::BadRequest,
    ErrorKind::Server,
    ErrorKind::Unsupported,
    ErrorKind::Refusal,
    ErrorKind::StreamClosed,
    ErrorKind::Transport,
    ErrorKind::Timeout,
    ErrorKind::Certificate,
    ErrorKind::Cancelled,
    ErrorKind::Deadline,
    ErrorKind::QuotaExhausted,
    ErrorKind::ContextLength,
    ErrorKind::Truncated,
    ErrorKind::Decode,
    ErrorKind::Unclassified,
];

#[test]
fn the_text_leaves_out_what_is_not_known() {
    assert_eq!(
        Error::new(ErrorKind::Server).to_string(),
        "skyl: provider server error"
    );
    assert_eq!(
        of(&Fault::new(ErrorKind::Server)).to_string(),
        "skyl: openai: provider server error"
    );

    let mut error = of(&Fault::new(ErrorKind::RateLimit).with_message("slow down"));
    error.inner_mut().http_status = Some(429);
    assert_eq!(
        error.to_string(),
        "skyl: openai: rate limited (http 429): slow down"
    );
}

#[test]
fn every_kind_has_its_text() {
    for (kind, text) in [
        (ErrorKind::Auth, "authentication failed"),
        (ErrorKind::RateLimit, "rate limited"),
        (ErrorKind::NotFound, "not found"),
        (ErrorKind::BadRequest, "invalid request"),
        (ErrorKind::Server, "provider server error"),
        (ErrorKind::Unsupported, "unsupported by this provider"),
        (ErrorKind::Refusal, "model declined the request"),
        (ErrorKind::StreamClosed, "stream is closed"),
        (ErrorKind::Transport, "request failed"),
        (ErrorKind::Unclassified, "request failed"),
        (ErrorKind::Timeout, "attempt timed out"),
        (ErrorKind::Certificate, "certificate rejected"),
        (ErrorKind::Cancelled, "cancelled"),
        (ErrorKind::Deadline, "deadline passed"),
        (ErrorKind::QuotaExhausted, "quota exhausted"),
        (ErrorKind::ContextLength, "context too long"),
        (ErrorKind::Truncated, "response truncated"),
        (ErrorKind::Decode, "unreadable response"),
    ] {
        assert_eq!(
            of(&Fault::new(kind)).to_string(),
            format!("skyl: openai: {text}")
        );
    }
}

#[test]
fn giving_up_is_said_only_when_the_attempts_are_used_up() {
    for stop in RetryStop::ALL {
        let mut error = of(&Fault::new(ErrorKind::Server));
        error.inner_mut().retry_stop = Some(stop);
        let says = error.to_string().starts_with("skyl: giving up after ");
        assert_eq!(says, stop == RetryStop::AttemptsExhausted, "{stop}");
    }
}

#[test]
fn only_what_time_can_heal_is_retryable() {
    for kind in ALL {
        let expected = matches!(
            kind,
            ErrorKind::RateLimit
                | ErrorKind::Server
                | ErrorKind::Transport
                | ErrorKind::Timeout
                | ErrorKind::Truncated
        );
        let mut error = of(&Fault::new(kind));
        assert_eq!(error.retryable(), expected, "{kind:?}");

        error.inner_mut().delivered = true;
        error.inner_mut().retry_stop = Some(RetryStop::AttemptsExhausted);
        assert_eq!(error.retryable(), expected, "neither changes it: {kind:?}");
    }
}

#[test]
fn the_servers_word_counts_where_the_kind_allows() {
    for kind in ALL {
        let mut error = of(&Fault::new(kind));
        error.inner_mut().http_status = Some(302);
        let by_kind = error.retryable();
        error.inner_mut().server_word = Some(false);
        assert!(!error.retryable(), "{kind:?}");
        error.inner_mut().server_word = Some(true);
        let may = matches!(kind, ErrorKind::Decode | ErrorKind::Unclassified);
        assert_eq!(error.retryable(), by_kind || may, "{kind:?}");
    }
    let mut error = Error::new(ErrorKind::Unclassified);
    error.inner_mut().server_word = Some(true);
    assert!(!error.retryable(), "without a status nobody answered");
}

#[test]
fn the_status_is_http_from_300_up_else_the_bodys_code() {
    for (http, body, status) in [
        (None, None, None),
        (Some(200), None, None),
        (Some(200), Some(503), Some(503)),
        (Some(299), Some(100), Some(100)),
        (Some(300), Some(503), Some(300)),
        (Some(429), None, Some(429)),
        (None, Some(429), Some(429)),
    ] {
        let mut error = of(&Fault::new(ErrorKind::Server).with_status(body));
        error.inner_mut().http_status = http;
        assert_eq!((error.status(), error.http_status()), (status, http));
    }
}

#[test]
fn a_wait_is_raw_and_absent_unusable_and_zero_are_told_apart() {
    let wait = |hint| of(&Fault::new(ErrorKind::RateLimit).with_hint(hint)).retry_after();
    assert_eq!(wait(Hint::Absent), None);
    assert_eq!(wait(Hint::Unusable), None);
    assert_eq!(wait(Hint::Wait(Duration::ZERO)), Some(Duration::ZERO));
    assert_eq!(wait(Hint::Wait(Duration::MAX)), Some(Duration::MAX));
}

#[test]
fn a_long_message_is_cut_at_a_character() {
    let error = of(&Fault::new(ErrorKind::Server).with_message("é".repeat(2000)));
    assert_eq!(error.message().map(str::len), Some(2048));
    let error = of(&Fault::new(ErrorKind::Server).with_message(format!("x{}", "é".repeat(2000))));
    assert_eq!(error.message().map(str::len), Some(2047));
}

#[test]
fn control_characters_do_not_break_the_line() {
    let error = of(&Fault::new(ErrorKind::Server).with_message("a\nb\x1b[31mc\r\u{85}é"));
    assert_eq!(
        error.to_string(),
        r"skyl: openai: provider server error: a\nb\u{1b}[31mc\r\u{85}é"
    );
    assert_eq!(error.message(), Some("a\nb\x1b[31mc\r\u{85}é"));
}

#[test]
fn the_source_is_the_transports_and_never_skyls_own_text() {
    assert!(of(&Fault::new(ErrorKind::Server)).source().is_none());
    let cause = io::Error::from(io::ErrorKind::ConnectionReset);
    let error = Error::new(ErrorKind::Transport).with_source(Box::new(cause));
    let source = error.source().unwrap();
    assert!(source.downcast_ref::<io::Error>().is_some());
}

#[test]
fn local_refusals_are_known_to_be_unsent() {
    let error = Error::refused(&openai(), "max_retries: too many");
    assert_eq!(error.sent(), Sent::No);
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert!(error.attempts().is_empty() && error.retry_stop().is_none());
    assert_eq!(error.elapsed(), Duration::ZERO);
}

#[test]
fn debug_prints_show_how_much_was_said_not_what() {
    let mut error = of(&Fault::new(ErrorKind::BadRequest).with_message("you said: secret plan"));
    error.inner_mut().body = Some("secret plan".into());
    let print = format!("{error:?}");
    assert!(!print.contains("secret"), "{print}");
    assert!(
        print.contains("message_bytes: 21") && print.contains("body_bytes: 11"),
        "{print}"
    );
}
