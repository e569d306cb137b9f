//! Listing models: all pages, never for ever.

use std::sync::Arc;

use bytes::Bytes;
use skyl::{
    ApiKey, CallOptions, Client, Decoded, Dialect, Encoded, ErrorKind, Fault, Head, Mode,
    ModelInfo, ModelsPage, Operation, Request, RetryStop, StreamDecoder,
};
use skyl_retry::ManualClock;

use crate::raw::{Raw, json};
use crate::support::{Bench, Events, bench, secs};

const LIST: &str =
    r#"{"object":"list","data":[{"id":"a","object":"model"},{"id":"b","object":"model"}]}"#;

#[tokio::test]
async fn models_are_listed_and_retried_like_any_call() {
    let server = Raw::serve(vec![json(503, "{}"), json(200, LIST)]).await;
    let Bench { client, events, .. } = bench(&server);
    let ids: Vec<_> = client
        .models()
        .await
        .unwrap()
        .into_iter()
        .map(|model| model.id)
        .collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(
        events.sequence(),
        [(Operation::Models, 0), (Operation::Models, 1)]
    );
    assert_eq!(events.all()[0].model, None);
    let seen = &server.requests()[0];
    assert!(
        seen.head.starts_with("GET /v1/models HTTP/1.1"),
        "{}",
        seen.head
    );
    assert_eq!((seen.header("content-type"), seen.body.len()), (None, 0));
}

#[tokio::test]
async fn a_list_that_cannot_be_had_is_an_error() {
    let server = Raw::serve(vec![json(401, "{}")]).await;
    let error = bench(&server).client.models().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    assert_eq!(error.attempts().len(), 1);
}

/// A provider written outside the crate, whose models come in pages.
#[derive(Debug)]
struct Paged {
    name: String,
    base_url: String,
    lists: bool,
}

impl Dialect for Paged {
    fn name(&self) -> &str {
        &self.name
    }

    fn base_url(&self) -> &str {
        &self.base_url
    }

    fn key(&self) -> Option<&ApiKey> {
        None
    }

    fn encode(&self, _: &Request, _: Mode) -> Result<Encoded, Fault> {
        Ok(Encoded::post("/ask", Bytes::from_static(b"{}")))
    }

    fn decode(&self, _: &Head<'_>, _: &[u8]) -> Result<Decoded, Fault> {
        Err(Fault::empty_response())
    }

    fn stream_decoder(&self, _: &Head<'_>) -> Box<dyn StreamDecoder> {
        unreachable!("not streamed in these tests")
    }

    fn classify(&self, head: &Head<'_>, _: &[u8]) -> Fault {
        Fault::from_status(head.status)
    }

    fn encode_models(&self, cursor: Option<&str>) -> Result<Encoded, Fault> {
        match (self.lists, cursor) {
            (false, _) => Err(Fault::unsupported("no list")),
            (true, None) => Ok(Encoded::get("/models")),
            (true, Some(cursor)) => Ok(Encoded::get(format!("/models?after={cursor}"))),
        }
    }

    fn decode_models(&self, _: &Head<'_>, body: &[u8]) -> Result<ModelsPage, Fault> {
        let text = std::str::from_utf8(body).unwrap();
        let (id, next) = text.split_once('>').unwrap();
        let model = ModelInfo::new(id, Bytes::new());
        Ok(ModelsPage::new(
            vec![model],
            Some(next.to_owned()).filter(|next| !next.is_empty()),
        ))
    }
}

fn paged(server: &Raw, lists: bool) -> (Client, Events, ManualClock) {
    let events = Events::default();
    let clock = ManualClock::skipping();
    let dialect = Arc::new(Paged {
        name: "paged".to_owned(),
        base_url: server.base_url(),
        lists,
    });
    let client = Client::builder_shared(dialect)
        .clock(clock.clone())
        .hook(events.hook())
        .build()
        .unwrap();
    (client, events, clock)
}

#[tokio::test]
async fn all_pages_are_read_each_retried_by_itself_under_one_call_id() {
    let server = Raw::serve(vec![
        json(200, "a>2"),
        json(503, ""),
        json(200, "b>3"),
        json(200, "c>"),
    ])
    .await;
    let (client, events, _) = paged(&server, true);
    let ids: Vec<_> = client
        .models()
        .await
        .unwrap()
        .into_iter()
        .map(|model| model.id)
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
    let attempts: Vec<_> = events.all().iter().map(|event| event.attempt).collect();
    assert_eq!(attempts, [0, 0, 1, 0]);
    assert!(
        events
            .all()
            .iter()
            .all(|event| event.call == events.all()[0].call)
    );
    let paths: Vec<_> = server
        .requests()
        .iter()
        .map(|seen| seen.head.split(' ').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(
        paths,
        [
            "/v1/models",
            "/v1/models?after=2",
            "/v1/models?after=2",
            "/v1/models?after=3"
        ]
    );
}

#[tokio::test]
async fn a_cursor_that_does_not_move_is_an_error() {
    let server = Raw::serve(vec![json(200, "a>2")]).await;
    let (client, _, _) = paged(&server, true);
    let error = client.models().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(error.message(), Some("the list of models does not move on"));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn pages_that_never_end_are_an_error() {
    // Two cursors in turn: each moves, the list never ends.
    let script = (0..2_000)
        .map(|n| json(200, if n % 2 == 0 { "a>2" } else { "b>3" }))
        .collect();
    let server = Raw::serve(script).await;
    let (client, _, _) = paged(&server, true);
    let error = client.models().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(error.attempts().len(), 1, "those of the last page");
    assert_eq!(server.requests().len(), 1_000);
}

#[tokio::test]
async fn a_provider_without_a_list_is_asked_nothing() {
    let server = Raw::serve(vec![json(200, "never>")]).await;
    let (client, events, _) = paged(&server, false);
    let error = client.models().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(!error.retryable());
    assert!(server.requests().is_empty() && events.all().is_empty());
}

#[tokio::test]
async fn the_deadline_is_for_all_pages() {
    let wait = crate::raw::reply(503, &[("Retry-After", "20")], "");
    let server = Raw::serve(vec![
        wait.clone(),
        json(200, "a>2"),
        wait.clone(),
        json(200, "b>"),
    ])
    .await;
    let (client, _, clock) = paged(&server, true);
    let error = client
        .models_with(CallOptions::new().total_timeout(secs(30)))
        .await
        .unwrap_err();
    assert_eq!(error.retry_stop(), Some(RetryStop::Deadline));
    assert_eq!(clock.sleeps(), [secs(20)]);
}

#[tokio::test]
async fn a_dialect_from_outside_gets_retries_and_hooks_unchanged() {
    let server = Raw::serve(vec![json(200, "{}")]).await;
    let (client, events, _) = paged(&server, true);
    let error = client
        .complete(&Request::new("m").user("u"))
        .await
        .unwrap_err();
    assert_eq!(error.provider(), Some("paged"));
    assert_eq!(error.attempts().len(), 4);
    assert_eq!(events.all().len(), 4);
    assert!(
        server
            .requests()
            .iter()
            .all(|seen| seen.header("authorization").is_none())
    );
}
