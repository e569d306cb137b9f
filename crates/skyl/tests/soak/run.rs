//! The calls themselves: real clients, real sockets.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use skyl::anthropic::Anthropic;
use skyl::gemini::Gemini;
use skyl::openai::{OpenAi, OpenAiCompatible};
use skyl::{
    Attempt, CallOptions, Client, Dialect, Error, HookEvent, Jitter, Operation, Request,
    RetryPolicy, StreamEvent,
};
use skyl_sandbox::{DEFAULT_KEY, Sandbox};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time;

use crate::Settings;
use crate::draw::{self, Drawn, Leaving};

/// A client of each dialect.
pub(crate) struct Clients {
    pub(crate) all: Vec<Arc<Target>>,
}

/// A client, and what its hooks heard.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    model: &'static str,
    client: Client,
    pub(crate) attempts_heard: Arc<AtomicU64>,
    pub(crate) ends_heard: Arc<AtomicU64>,
}

/// What a call told of itself.
pub(crate) struct Told {
    pub(crate) drawn: Drawn,
    pub(crate) target: &'static str,
    pub(crate) prompt: String,
    pub(crate) attempts: Vec<Attempt>,
    /// The text: all of it, or what a stream had delivered.
    pub(crate) text: String,
    pub(crate) outcome: Outcome,
    /// Whether a stream was handed out.
    pub(crate) started: bool,
}

/// How a call ended.
pub(crate) enum Outcome {
    Answered,
    Failed(Error),
    /// The future was dropped: nobody was told anything.
    Left,
}

impl Clients {
    pub(crate) fn of(sandbox: &Sandbox, seed: u64) -> Self {
        let dialects: [(&str, &str, Arc<dyn Dialect>); 4] = [
            (
                "openai",
                "gpt-5.6",
                Arc::new(OpenAi::new(DEFAULT_KEY).base_url(sandbox.base_url("/openai/v1"))),
            ),
            (
                "compat",
                "gpt-5.6",
                Arc::new(OpenAiCompatible::new(sandbox.base_url("/compat/v1")).key(DEFAULT_KEY)),
            ),
            (
                "anthropic",
                "claude-sonnet-5",
                Arc::new(Anthropic::new(DEFAULT_KEY).base_url(sandbox.base_url("/anthropic"))),
            ),
            (
                "gemini",
                "gemini-3.6-flash",
                Arc::new(Gemini::new(DEFAULT_KEY).base_url(sandbox.base_url("/gemini"))),
            ),
        ];
        let all = dialects
            .into_iter()
            .map(|(name, model, dialect)| Arc::new(Target::new(name, model, dialect, seed)));
        Self { all: all.collect() }
    }
}

impl Target {
    fn new(name: &'static str, model: &'static str, dialect: Arc<dyn Dialect>, seed: u64) -> Self {
        let (attempts_heard, ends_heard) =
            (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let (attempts, ends) = (Arc::clone(&attempts_heard), Arc::clone(&ends_heard));
        let client = Client::builder_shared(dialect)
            .policy(policy())
            .seed(seed)
            .hook(move |event: &HookEvent<'_>| {
                let heard = match event.operation() {
                    Operation::StreamEnd => &ends,
                    _ => &attempts,
                };
                heard.fetch_add(1, Ordering::Relaxed);
            })
            .build()
            .unwrap();
        Self {
            name,
            model,
            client,
            attempts_heard,
            ends_heard,
        }
    }

    async fn call(&self, drawn: Drawn, seed: u64) -> Told {
        let prompt = format!("call {} of the soak with seed {seed}", drawn.number);
        let model = match &drawn.script {
            Some(script) => format!("sandbox-do-{}@{}-{}", script.text, seed, drawn.number),
            None => self.model.to_owned(),
        };
        let request = Request::new(model).user(&prompt).max_tokens(100);
        let mut options = CallOptions::new().header(NUMBER_HEADER, drawn.number.to_string());
        match drawn.leaving {
            Leaving::Cancels(after) => options = options.cancel_on(time::sleep(after)),
            Leaving::Deadline(length) => options = options.total_timeout(length),
            Leaving::Stays | Leaving::Drops(_) => {}
        }
        let mut told = Told {
            target: self.name,
            prompt,
            attempts: Vec::new(),
            text: String::new(),
            outcome: Outcome::Left,
            started: false,
            drawn,
        };
        let leaving = told.drawn.leaving;
        let call = self.ask(&request, options, &mut told);
        match leaving {
            // Time is up or not; either way the record is what the call told.
            Leaving::Drops(after) => {
                let _in_time = time::timeout(after, call).await.is_ok();
            }
            _ => call.await,
        }
        told
    }

    async fn ask(&self, request: &Request, options: CallOptions, told: &mut Told) {
        if !told.drawn.streamed {
            match self.client.complete_with(request, options).await {
                Ok(answer) => {
                    told.text = answer.text();
                    told.attempts = answer.attempts().to_vec();
                    told.outcome = Outcome::Answered;
                }
                Err(error) => told.failed(error),
            }
            return;
        }
        let mut stream = match self.client.stream_with(request, options).await {
            Ok(stream) => stream,
            Err(error) => return told.failed(error),
        };
        told.started = true;
        told.attempts = stream.attempts().to_vec();
        while let Some(event) = stream.next().await {
            match event {
                Ok(StreamEvent::Text(piece)) => told.text.push_str(&piece),
                Ok(_) => {}
                Err(error) => return told.failed(error),
            }
        }
        told.outcome = Outcome::Answered;
    }
}

impl Told {
    fn failed(&mut self, error: Error) {
        self.attempts = error.attempts().to_vec();
        self.outcome = Outcome::Failed(error);
    }
}

/// Makes the calls of these numbers, so many at once, and waits for all.
pub(crate) async fn batch(clients: &Clients, settings: Settings, numbers: Range<u64>) -> Vec<Told> {
    let places = Arc::new(Semaphore::new(settings.concurrency));
    let mut calls = JoinSet::new();
    let expected = numbers.end - numbers.start;
    for number in numbers {
        let drawn = draw::call(settings.seed, number, clients.all.len());
        let target = Arc::clone(&clients.all[drawn.client]);
        let place = Arc::clone(&places).acquire_owned().await.unwrap();
        calls.spawn(async move {
            let told = target.call(drawn, settings.seed).await;
            drop(place);
            told
        });
    }
    let told = calls.join_all().await;
    assert_eq!(
        u64::try_from(told.len()).unwrap(),
        expected,
        "a call was lost"
    );
    told
}

/// The chat policy with waits a soak can afford.
fn policy() -> RetryPolicy {
    RetryPolicy::builder()
        .initial_delay(Duration::from_millis(1))
        .max_delay(LONGEST_BACKOFF)
        .jitter(Jitter::Full)
        .build()
        .unwrap()
}

/// The longest wait without a server's word.
pub(crate) const LONGEST_BACKOFF: Duration = Duration::from_millis(4);

/// Tells which call a request belongs to.
pub(crate) const NUMBER_HEADER: &str = "x-soak-call";
