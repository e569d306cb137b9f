//! What most tests need: a client on a manual clock, and a log of its hook events.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use skyl::openai::OpenAi;
use skyl::{
    Client, ClientBuilder, Error, ErrorKind, HookEvent, Operation, Request, ResponseStream,
    RetryStop, StreamEvent,
};
use skyl_retry::ManualClock;

use crate::raw::Raw;

pub(crate) const KEY: &str = "sk-test-0123456789";

/// A client of a raw server, its clock, and what its hook heard.
pub(crate) struct Bench {
    pub(crate) client: Client,
    pub(crate) clock: ManualClock,
    pub(crate) events: Events,
}

/// A client whose waits take no time.
pub(crate) fn bench(server: &Raw) -> Bench {
    bench_with(server, |builder| builder)
}

/// A client whose waits take no time, with settings of its own.
pub(crate) fn bench_with(server: &Raw, set: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Bench {
    bench_on(ManualClock::skipping(), &server.base_url(), set)
}

/// A client on this clock.
pub(crate) fn bench_on(
    clock: ManualClock,
    base_url: &str,
    set: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Bench {
    let events = Events::default();
    let builder = Client::builder(OpenAi::new(KEY).base_url(base_url))
        .clock(clock.clone())
        .seed(1)
        .hook(events.hook());
    Bench {
        client: set(builder).build().unwrap(),
        clock,
        events,
    }
}

pub(crate) fn request() -> Request {
    Request::new("gpt-asked").user("What is the capital of France?")
}

/// A hook event, kept.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) call: String,
    pub(crate) operation: Operation,
    pub(crate) model: Option<String>,
    pub(crate) served_model: Option<String>,
    pub(crate) attempt: u32,
    pub(crate) status: Option<u16>,
    pub(crate) kind: Option<ErrorKind>,
    pub(crate) request_id: Option<String>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) stop_reason: Option<&'static str>,
    pub(crate) wait: Option<Duration>,
    pub(crate) pause: Duration,
    pub(crate) will_retry: bool,
    pub(crate) retry_stop: Option<RetryStop>,
    pub(crate) why: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) first_content: Option<Duration>,
    pub(crate) completed: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<Event>>>);

impl Events {
    pub(crate) fn hook(&self) -> impl Fn(&HookEvent<'_>) + Send + Sync + 'static {
        let events = self.0.clone();
        move |event| {
            events.lock().unwrap().push(Event {
                call: event.call_id().to_string(),
                operation: event.operation(),
                model: event.model().map(str::to_owned),
                served_model: event.served_model().map(str::to_owned),
                attempt: event.attempt(),
                status: event.status(),
                kind: event.kind(),
                request_id: event.request_id().map(str::to_owned),
                input_tokens: event.usage().and_then(|usage| usage.input_tokens),
                stop_reason: event.stop_reason().map(skyl::StopReason::as_str),
                wait: event.planned_wait(),
                pause: event.pause(),
                will_retry: event.will_retry(),
                retry_stop: event.retry_stop(),
                why: event.verdict().map(|verdict| verdict.to_string()),
                error: event.error().map(ToString::to_string),
                first_content: event.time_to_first_content(),
                completed: event.completed(),
            });
        }
    }

    pub(crate) fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    /// Operation and attempt of each event, in order.
    pub(crate) fn sequence(&self) -> Vec<(Operation, u32)> {
        self.all()
            .iter()
            .map(|event| (event.operation, event.attempt))
            .collect()
    }

    pub(crate) fn of(&self, operation: Operation) -> Vec<Event> {
        self.all()
            .into_iter()
            .filter(|event| event.operation == operation)
            .collect()
    }
}

/// Statuses of the attempts of a failed call.
pub(crate) fn statuses(error: &Error) -> Vec<Option<u16>> {
    error
        .attempts()
        .iter()
        .map(|attempt| attempt.status)
        .collect()
}

/// Reads a stream to its end or its error.
pub(crate) async fn drain(stream: &mut ResponseStream) -> (Vec<StreamEvent>, Option<Error>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// The text a stream has handed out.
pub(crate) fn text(events: &[StreamEvent]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
