//! The dialects, and what every test needs: a sandbox, a client on a manual clock, and its events.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use skyl::anthropic::Anthropic;
use skyl::gemini::Gemini;
use skyl::openai::{OpenAi, OpenAiCompatible, Responses};
use skyl::{
    Attempt, CallOptions, Client, Dialect, Error, ErrorKind, HookEvent, Operation, Request,
    Response, ResponseStream, RetryPolicy, StreamEvent,
};
use skyl_retry::ManualClock;
use skyl_sandbox::{DEFAULT_KEY, Sandbox};

/// One dialect, and what its provider has.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one question to a provider, asked by its name in the tests"
)]
pub(crate) struct Case {
    /// How failures name it.
    pub(crate) name: &'static str,
    /// The dialect, at this sandbox and with this key.
    pub(crate) make: fn(&Sandbox, &str) -> Arc<dyn Dialect>,
    pub(crate) model: &'static str,
    /// What the sandbox says ahead of a tool call; `None` is nothing.
    pub(crate) lead: fn(prompt: &str) -> Option<String>,
    /// The least limit of an answer the provider takes, in tokens.
    pub(crate) least_tokens: u32,
    /// Whether stop texts can be given.
    pub(crate) takes_stops: bool,
    /// Whether the provider tells apart that a stop text ended the answer.
    pub(crate) names_stop_text: bool,
    /// Whether it tells how much it wrote to a cache.
    pub(crate) tells_cache_writes: bool,
    /// Whether calls in one answer can be held to one.
    pub(crate) limits_parallel: bool,
    /// Whether reasoning comes with a state that has to go back.
    pub(crate) signs_reasoning: bool,
    /// Whether sampling can be set.
    pub(crate) samples: bool,
    /// Whether reasoning goes back in words; else it is left out with a warning.
    pub(crate) replays_reasoning: bool,
    /// How many requests it takes to list 1,100 models.
    pub(crate) pages: usize,
    /// The status of a wrong key.
    pub(crate) wrong_key: u16,
    /// Whether each answer has an id of its own request.
    pub(crate) numbers_requests: bool,
}

pub(crate) const OPENAI: Case = Case {
    name: "openai",
    make: |sandbox, key| Arc::new(OpenAi::new(key).base_url(sandbox.base_url("/openai/v1"))),
    model: "gpt-5.6",
    lead: |_| None,
    least_tokens: 1,
    takes_stops: true,
    names_stop_text: false,
    tells_cache_writes: true,
    limits_parallel: true,
    signs_reasoning: false,
    replays_reasoning: false,
    samples: true,
    pages: 1,
    wrong_key: 401,
    numbers_requests: true,
};

pub(crate) const COMPAT: Case = Case {
    name: "compat",
    make: |sandbox, key| Arc::new(OpenAiCompatible::new(sandbox.base_url("/compat/v1")).key(key)),
    ..OPENAI
};

pub(crate) const ANTHROPIC: Case = Case {
    name: "anthropic",
    make: |sandbox, key| Arc::new(Anthropic::new(key).base_url(sandbox.base_url("/anthropic"))),
    model: "claude-opus-5",
    lead: |prompt| Some(format!("You said: {prompt}")),
    names_stop_text: true,
    signs_reasoning: true,
    replays_reasoning: true,
    pages: 2,
    ..OPENAI
};

pub(crate) const ANTHROPIC_2026: Case = Case {
    name: "anthropic 2026-10-21",
    make: |sandbox, key| {
        let dialect = Anthropic::new(key).base_url(sandbox.base_url("/anthropic/v1"));
        Arc::new(dialect.version("2026-10-21").bearer())
    },
    samples: false,
    ..ANTHROPIC
};

pub(crate) const GEMINI: Case = Case {
    name: "gemini",
    make: |sandbox, key| Arc::new(Gemini::new(key).base_url(sandbox.base_url("/gemini"))),
    model: "gemini-3.6-flash",
    lead: |_| Some("Checking. ".to_owned()),
    least_tokens: 1,
    takes_stops: true,
    names_stop_text: false,
    tells_cache_writes: false,
    limits_parallel: false,
    signs_reasoning: true,
    replays_reasoning: false,
    samples: true,
    pages: 2,
    wrong_key: 400,
    numbers_requests: false,
};

pub(crate) const RESPONSES: Case = Case {
    name: "responses",
    make: |sandbox, key| Arc::new(Responses::new(key).base_url(sandbox.base_url("/openai/v1"))),
    least_tokens: 16,
    takes_stops: false,
    signs_reasoning: true,
    replays_reasoning: true,
    ..OPENAI
};

/// Every dialect, for what goes from one to another.
pub(crate) const ALL: [&Case; 6] = [
    &OPENAI,
    &COMPAT,
    &ANTHROPIC,
    &ANTHROPIC_2026,
    &GEMINI,
    &RESPONSES,
];

/// Runs of white space and a character of four bytes: a stream has to give back each byte.
pub(crate) const PROMPT: &str = "two  spaces,\na line, \ttab, naïve 🚀";

/// What the sandbox says to it.
pub(crate) fn echo() -> String {
    format!("You said: {PROMPT}")
}

/// A sandbox and a client of one dialect; waits take no time.
pub(crate) struct Stage {
    pub(crate) case: &'static str,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) client: Client,
    pub(crate) clock: ManualClock,
    pub(crate) events: Events,
}

impl Stage {
    pub(crate) async fn new(case: &Case) -> Self {
        Self::at(case, Arc::new(Sandbox::start().await.unwrap()))
    }

    /// A client of a sandbox that is there already.
    pub(crate) fn at(case: &Case, sandbox: Arc<Sandbox>) -> Self {
        let (clock, events) = (ManualClock::skipping(), Events::default());
        let client = Client::builder_shared((case.make)(&sandbox, DEFAULT_KEY))
            .clock(clock.clone())
            .seed(7)
            .hook(events.hook())
            .build()
            .unwrap();
        Self {
            case: case.name,
            sandbox,
            client,
            clock,
            events,
        }
    }

    /// Sets the manual clock's date to the real one, by which the sandbox writes dates.
    #[expect(
        clippy::disallowed_methods,
        reason = "dates of the sandbox are read against it"
    )]
    pub(crate) fn set_date(&self) {
        self.clock.set_wall(SystemTime::now());
    }

    /// Forgets what the journal and the hooks have seen.
    pub(crate) fn clear(&self) {
        self.sandbox.clear_journal();
        self.events.0.lock().unwrap().clear();
    }

    /// An answer, complete and streamed, must be the same.
    #[track_caller]
    fn same(&self, complete: &Response, streamed: &Response) {
        let mut streamed = streamed.clone();
        streamed.raw = complete.raw.clone();
        // Two requests have two ids.
        assert_eq!(
            streamed.request_id.is_some(),
            complete.request_id.is_some(),
            "{}",
            self.case
        );
        streamed.request_id.clone_from(&complete.request_id);
        assert_eq!(streamed.message, complete.message, "{}", self.case);
        assert_eq!(&streamed, complete, "{}", self.case);
    }

    /// Asks twice, complete and streamed, and gives the one answer.
    pub(crate) async fn ask(&self, request: &Request) -> Response {
        let complete = self.client.complete(request).await;
        let complete = complete.unwrap_or_else(|error| panic!("{}: {error}", self.case));
        let stream = self.client.stream(request).await;
        let stream = stream.unwrap_or_else(|error| panic!("{} streamed: {error}", self.case));
        let streamed = stream.into_response().await;
        let streamed = streamed.unwrap_or_else(|error| panic!("{} streamed: {error}", self.case));
        self.same(&complete, &streamed);
        complete
    }

    /// The error of a call, before or after its stream has begun.
    pub(crate) async fn fail(&self, request: &Request, mode: Mode, options: CallOptions) -> Error {
        let outcome = self.try_ask(request, mode, options).await;
        match outcome {
            Ok(_) => panic!("{} {mode:?} {}: no error", self.case, request.model),
            Err(error) => error,
        }
    }

    /// The answer of a call, read to its end.
    pub(crate) async fn try_ask(
        &self,
        request: &Request,
        mode: Mode,
        options: CallOptions,
    ) -> Result<Response, Error> {
        match mode {
            Mode::Complete => self.client.complete_with(request, options).await,
            Mode::Stream => {
                let stream = self.client.stream_with(request, options).await?;
                stream.into_response().await
            }
        }
    }

    /// Record, hooks and journal tell one story; gives its statuses.
    #[track_caller]
    pub(crate) fn agreed(&self, record: &[Attempt]) -> Vec<Option<u16>> {
        let journal = self.sandbox.journal();
        let received: Vec<_> = journal.iter().map(|entry| entry.status).collect();
        let attempts: Vec<_> = record.iter().map(|attempt| attempt.status).collect();
        let mut events = self.events.all();
        let end = events
            .iter()
            .find(|event| event.operation == Operation::StreamEnd);
        let end = end.and_then(|event| event.kind);
        events.retain(|event| event.operation != Operation::StreamEnd);
        let heard: Vec<_> = events.iter().map(|event| event.status).collect();
        assert_eq!(received, attempts, "{}: journal and record", self.case);
        assert_eq!(received, heard, "{}: journal and hooks", self.case);
        for (at, (attempt, event)) in record.iter().zip(&events).enumerate() {
            let number = u32::try_from(at).unwrap();
            assert_eq!((attempt.number, event.attempt), (number, number));
            // A stream that broke after its start was told of at its end.
            let broke = end.filter(|_| at + 1 == record.len());
            assert_eq!(attempt.kind, broke.or(event.kind), "{}", self.case);
            assert_eq!(attempt.wait, event.wait, "{}", self.case);
            assert_eq!(event.will_retry, at + 1 < record.len(), "{}", self.case);
            assert_eq!(event.call, events[0].call, "{}", self.case);
        }
        for entry in &journal {
            assert_eq!(entry.body_sha256, journal[0].body_sha256, "{}", self.case);
            assert_eq!(entry.path, journal[0].path, "{}", self.case);
        }
        received
    }
}

/// The two ways to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Complete,
    Stream,
}

pub(crate) const MODES: [Mode; 2] = [Mode::Complete, Mode::Stream];

pub(crate) fn request(model: &str) -> Request {
    Request::new(model).user(PROMPT)
}

/// A request that runs a script from its first step; each mode has a run of its own.
pub(crate) fn script(steps: &str, mode: Mode) -> Request {
    request(&format!("sandbox-do-{steps}@{mode:?}"))
}

/// Options with this many retries.
pub(crate) fn retries(most: u32) -> CallOptions {
    CallOptions::new().policy(RetryPolicy::builder().max_retries(most).build().unwrap())
}

pub(crate) fn defaults() -> CallOptions {
    CallOptions::new()
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
    let texts = events.iter().filter_map(|event| match event {
        StreamEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A hook event, kept.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) call: String,
    pub(crate) operation: Operation,
    pub(crate) attempt: u32,
    pub(crate) status: Option<u16>,
    pub(crate) kind: Option<ErrorKind>,
    pub(crate) wait: Option<Duration>,
    pub(crate) will_retry: bool,
    pub(crate) completed: bool,
}

/// What a hook has heard.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<Event>>>);

impl Events {
    fn hook(&self) -> impl Fn(&HookEvent<'_>) + Send + Sync + 'static {
        let events = self.0.clone();
        move |event| {
            events.lock().unwrap().push(Event {
                call: event.call_id().to_string(),
                operation: event.operation(),
                attempt: event.attempt(),
                status: event.status(),
                kind: event.kind(),
                wait: event.planned_wait(),
                will_retry: event.will_retry(),
                completed: event.completed(),
            });
        }
    }

    pub(crate) fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    /// What was heard of the ends of streams: whether each was completed.
    pub(crate) fn ends(&self) -> Vec<bool> {
        let mut events = self.all();
        events.retain(|event| event.operation == Operation::StreamEnd);
        events.iter().map(|event| event.completed).collect()
    }
}
