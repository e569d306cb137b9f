//! The calls themselves: real clients, real sockets.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use skyl::anthropic::Anthropic;
use skyl::gemini::Gemini;
use skyl::openai::{OpenAi, OpenAiCompatible, Responses};
use skyl::{
    Attempt, CallOptions, Client, Dialect, Error, HookEvent, Operation, Request, RetryPolicy,
    StreamEvent, system_one,
};
use skyl_sandbox::{DEFAULT_KEY, Sandbox};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time;

use crate::Settings;
use crate::draw::{self, Course, Drawn, Leaving};

/// Where calls go.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    model: &'static str,
    /// Whether it has streams; else it follows the rules of System One.
    pub(crate) streams: bool,
    dialect: fn(&Sandbox) -> Option<Arc<dyn Dialect>>,
}

/// Every dialect, and System One.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "openai",
        model: "gpt-5.6",
        streams: true,
        dialect: |sandbox| {
            let dialect = OpenAi::new(DEFAULT_KEY).base_url(sandbox.base_url("/openai/v1"));
            Some(Arc::new(dialect))
        },
    },
    Target {
        name: "responses",
        model: "gpt-5.6",
        streams: true,
        dialect: |sandbox| {
            let dialect = Responses::new(DEFAULT_KEY).base_url(sandbox.base_url("/openai/v1"));
            Some(Arc::new(dialect))
        },
    },
    Target {
        name: "compat",
        model: "gpt-5.6",
        streams: true,
        dialect: |sandbox| {
            let dialect = OpenAiCompatible::new(sandbox.base_url("/compat/v1")).key(DEFAULT_KEY);
            Some(Arc::new(dialect))
        },
    },
    Target {
        name: "anthropic",
        model: "claude-sonnet-5",
        streams: true,
        dialect: |sandbox| {
            let dialect = Anthropic::new(DEFAULT_KEY).base_url(sandbox.base_url("/anthropic"));
            Some(Arc::new(dialect))
        },
    },
    Target {
        name: "gemini",
        model: "gemini-3.6-flash",
        streams: true,
        dialect: |sandbox| {
            let dialect = Gemini::new(DEFAULT_KEY).base_url(sandbox.base_url("/gemini"));
            Some(Arc::new(dialect))
        },
    },
    Target {
        name: "system_one",
        model: "jev-latest",
        streams: false,
        dialect: |_| None,
    },
];

/// A client of each target.
pub(crate) struct Clients {
    pub(crate) all: Vec<Arc<Line>>,
}

/// A client, and what its hooks heard.
pub(crate) struct Line {
    pub(crate) target: &'static Target,
    client: AnyClient,
    pub(crate) heard: Arc<Heard>,
}

enum AnyClient {
    Chat(Client),
    SystemOne(system_one::Client),
}

/// Events, counted.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) attempts: AtomicU64,
    pub(crate) ends: AtomicU64,
}

/// What a call told of itself.
pub(crate) struct Told {
    pub(crate) drawn: Drawn,
    pub(crate) target: &'static str,
    /// The answer to this call's question and to no other's.
    pub(crate) expected: String,
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
        let all = TARGETS
            .iter()
            .map(|target| Arc::new(Line::new(target, sandbox, seed)));
        Self { all: all.collect() }
    }
}

impl Line {
    fn new(target: &'static Target, sandbox: &Sandbox, seed: u64) -> Self {
        let heard = Arc::<Heard>::default();
        let ears = Arc::clone(&heard);
        let hook = move |event: &HookEvent<'_>| {
            let count = match event.operation() {
                Operation::StreamEnd => &ears.ends,
                _ => &ears.attempts,
            };
            count.fetch_add(1, Ordering::Relaxed);
        };
        let client = match (target.dialect)(sandbox) {
            Some(dialect) => AnyClient::Chat(
                Client::builder_shared(dialect)
                    .policy(hurried(&RetryPolicy::chat()))
                    .seed(seed)
                    .hook(hook)
                    .build()
                    .unwrap(),
            ),
            None => AnyClient::SystemOne(
                system_one::Client::builder_from(|_| None)
                    .api_key(DEFAULT_KEY)
                    .base_url(sandbox.base_url("/typesafe"))
                    .policy(hurried(&RetryPolicy::system_one()))
                    .seed(seed)
                    .hook(hook)
                    .build()
                    .unwrap(),
            ),
        };
        Self {
            target,
            client,
            heard,
        }
    }

    async fn call(&self, drawn: Drawn, seed: u64) -> Told {
        let question = format!("call {} of the soak with seed {seed}", drawn.number);
        let expected = match drawn.course {
            Course::Whole | Course::Streamed => format!("You said: {question}"),
            Course::SystemOne => question.clone(),
        };
        let leaving = drawn.leaving;
        let mut told = Told {
            target: self.target.name,
            expected,
            attempts: Vec::new(),
            text: String::new(),
            outcome: Outcome::Left,
            started: false,
            drawn,
        };
        let model = self.model(&told.drawn, seed);
        let call = self.converse(model, &question, &mut told);
        match leaving {
            // Time is up or not; either way the record is what the call told.
            Leaving::Drops(after) => {
                let _in_time = time::timeout(after, call).await.is_ok();
            }
            _ => call.await,
        }
        told
    }

    fn model(&self, drawn: &Drawn, seed: u64) -> String {
        match &drawn.script {
            Some(script) => format!("sandbox-do-{}@{seed}-{}", script.text, drawn.number),
            None => self.target.model.to_owned(),
        }
    }

    async fn converse(&self, model: String, question: &str, told: &mut Told) {
        let (number, leaving) = (told.drawn.number.to_string(), told.drawn.leaving);
        match &self.client {
            AnyClient::Chat(client) => {
                let request = Request::new(model).user(question);
                let mut options = CallOptions::new().header(NUMBER_HEADER, number);
                match leaving {
                    Leaving::Cancels(after) => options = options.cancel_on(time::sleep(after)),
                    Leaving::Deadline(length) => options = options.total_timeout(length),
                    Leaving::Stays | Leaving::Drops(_) => {}
                }
                match told.drawn.course {
                    Course::Streamed => stream(client, &request, options, told).await,
                    _ => complete(client, &request, options, told).await,
                }
            }
            AnyClient::SystemOne(client) => {
                // The one option there is comes back: the answer names its question.
                let choice = system_one::Choice::new("Which call is this?").option(question);
                let questions = system_one::Questions::new().ask("call", choice);
                let request = system_one::Request::new(question, questions).model(model);
                let mut options = system_one::CallOptions::new().header(NUMBER_HEADER, number);
                match leaving {
                    Leaving::Cancels(after) => options = options.cancel_on(time::sleep(after)),
                    Leaving::Deadline(length) => options = options.total_timeout(length),
                    Leaving::Stays | Leaving::Drops(_) => {}
                }
                ask(client, &request, options, told).await;
            }
        }
    }
}

async fn complete(client: &Client, request: &Request, options: CallOptions, told: &mut Told) {
    match client.complete_with(request, options).await {
        Ok(answer) => {
            told.text = answer.text();
            told.attempts = answer.attempts().to_vec();
            told.outcome = Outcome::Answered;
        }
        Err(error) => told.failed(error),
    }
}

async fn stream(client: &Client, request: &Request, options: CallOptions, told: &mut Told) {
    let mut stream = match client.stream_with(request, options).await {
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

async fn ask(
    client: &system_one::Client,
    request: &system_one::Request,
    options: system_one::CallOptions,
    told: &mut Told,
) {
    match client.system_one_with(request, options).await {
        Ok(answer) => {
            told.text.clone_from(&answer.choice("call").unwrap().choice);
            told.attempts = answer.attempts().to_vec();
            told.outcome = Outcome::Answered;
        }
        Err(error) => told.failed(error),
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
        let drawn = draw::call(settings.seed, number);
        let line = Arc::clone(&clients.all[drawn.target]);
        let place = Arc::clone(&places).acquire_owned().await.unwrap();
        calls.spawn(async move {
            let told = line.call(drawn, settings.seed).await;
            drop(place);
            told
        });
    }
    let told = calls.join_all().await;
    let ended = u64::try_from(told.len()).unwrap();
    assert_eq!(ended, expected, "a call was lost");
    told
}

/// The policy with waits a soak can afford.
fn hurried(policy: &RetryPolicy) -> RetryPolicy {
    policy
        .to_builder()
        .initial_delay(Duration::from_millis(1))
        .max_delay(LONGEST_BACKOFF)
        .build()
        .unwrap()
}

/// The longest wait without a server's word.
pub(crate) const LONGEST_BACKOFF: Duration = Duration::from_millis(4);

/// Tells which call a request belongs to.
pub(crate) const NUMBER_HEADER: &str = "x-soak-call";
