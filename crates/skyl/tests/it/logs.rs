//! Spans and events: one span per call, one event per attempt, and nothing secret in them.

use std::cell::RefCell;
use std::fmt::{Debug, Write};
use std::sync::Once;

use skyl::Client;
use skyl::openai::OpenAi;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::raw::{Raw, error_body, json, ok};
use crate::support::{Bench, KEY, bench, request};

thread_local! {
    /// What this test has heard; each test runs on a thread of its own.
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps every span and event of this crate as a line, for the thread it happens on.
///
/// One for the whole process: subscribers that come and go beside each other make `tracing` forget
/// what somebody still wants to hear.
struct Lines;

pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Lines).unwrap());
    HEARD.with_borrow_mut(Vec::clear);
}

pub(crate) fn heard() -> Vec<String> {
    HEARD.with_borrow(Clone::clone)
}

fn keep(metadata: &Metadata<'_>, record: impl FnOnce(&mut Fields)) {
    if metadata.target().starts_with("skyl") {
        let mut fields = Fields(format!("{} {}", metadata.level(), metadata.name()));
        record(&mut fields);
        HEARD.with_borrow_mut(|heard| heard.push(fields.0));
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        keep(span.metadata(), |fields| span.record(fields));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        keep(event.metadata(), |fields| event.record(fields));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_call_is_a_span_and_every_attempt_an_event() {
    listen();
    let server = Raw::serve(vec![json(503, "{}"), ok("Paris")]).await;
    bench(&server).client.complete(&request()).await.unwrap();

    let all = heard();
    assert_eq!(all.len(), 3, "{all:#?}");
    for part in [
        "skyl.call",
        "gen_ai.provider.name=\"openai\"",
        "gen_ai.request.model=\"gpt-asked\"",
    ] {
        assert!(all[0].contains(part), "{part} in {}", all[0]);
    }
    for part in [
        "WARN",
        "http.response.status_code=503",
        "error.type=\"server\"",
        "skyl.wait_ms=",
    ] {
        assert!(all[1].contains(part), "{part} in {}", all[1]);
    }
    for part in [
        "DEBUG",
        "http.request.resend_count=1",
        "gen_ai.response.model=\"gpt-served\"",
    ] {
        assert!(all[2].contains(part), "{part} in {}", all[2]);
    }
}

#[tokio::test]
async fn logs_hold_no_key_no_prompt_and_no_answer() {
    listen();
    let echo = error_body(
        "auth",
        KEY,
        &format!("bad key {KEY} in What is the capital"),
    );
    let server = Raw::serve(vec![json(401, &echo), ok("Paris")]).await;
    let Bench { client, .. } = bench(&server);
    client.complete(&request()).await.unwrap_err();
    client.complete(&request()).await.unwrap();
    client
        .stream(&request())
        .await
        .unwrap()
        .into_response()
        .await
        .unwrap();
    let all = heard().join("\n");
    assert!(all.contains("attempt failed") && all.contains("stream ended"));
    for secret in [KEY, "capital", "Paris"] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
}

#[tokio::test]
async fn a_key_too_short_to_be_scrubbed_is_warned_about() {
    for (key, warned) in [
        ("short", true),
        ("1234567", true),
        ("12345678", false),
        ("", false),
    ] {
        listen();
        Client::builder(OpenAi::new(key)).build().unwrap();
        let all = heard();
        assert_eq!(
            all.iter().any(|line| line.starts_with("WARN")),
            warned,
            "{key}: {all:?}"
        );
        assert!(key.is_empty() || !all.join("").contains(key));
    }
}
