//! Nothing that got no answer is sent twice where the caller forbade it: by the sandbox's journal.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use skyl::system_one::{CallOptions, Client, Noul, Questions, Request};
use skyl::{Error, ErrorKind};
use skyl_retry::{Clock, Rng, TokioClock};
use skyl_sandbox::Sandbox;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Waits take no time, limits of attempts do: they meet real sockets.
#[derive(Clone, Copy)]
struct Impatient(TokioClock);

impl Clock for Impatient {
    type Sleep = <TokioClock as Clock>::Sleep;

    fn now(&self) -> Duration {
        self.0.now()
    }

    fn wall(&self) -> SystemTime {
        self.0.wall()
    }

    fn sleep(&self, _: Duration) -> Self::Sleep {
        self.0.sleep(Duration::ZERO)
    }

    fn guard(&self, duration: Duration) -> Self::Sleep {
        self.0.guard(duration)
    }
}

/// One step of a script: an answer, or one of the ways to get none.
fn step(rng: &mut Rng) -> &'static str {
    match rng.next_u64() % 64 {
        0..16 => "ok",
        16..22 => "503",
        22..26 => "429",
        26..29 => "529",
        29..32 => "500(ra-ms=3)",
        32..40 => "reset",
        40..46 => "close",
        46..54 => "reset-mid",
        54..62 => "close-mid",
        // Few, since each of them is waited out.
        62 => "stall(60000)",
        _ => "stall-mid(60000)",
    }
}

/// Whether a step answers the request.
fn answers(step: &str) -> bool {
    step == "ok" || step.starts_with(|first: char| first.is_ascii_digit())
}

// The facts of each call: what it asked, and how it ended.
type Outcome = (String, Result<usize, Error>);

async fn one(client: Client, model: String, number: usize) -> Outcome {
    let questions = Questions::new().ask("late", Noul::new("Is a delivery late?"));
    let request = Request::new(format!("parcel {number}"), questions);
    let options = CallOptions::new().model(&model);
    let outcome = client.system_one_with(&request, options).await;
    (model, outcome.map(|response| response.attempts().len()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn across_10_000_calls_with_both_switches_off_no_request_that_got_no_answer_is_sent_twice() {
    const CALLS: usize = 10_000;
    const SEED: u64 = 8841;
    let sandbox = Sandbox::start().await.unwrap();
    let client = Client::builder_from(|_| None)
        .api_key("sandbox-key")
        .base_url(sandbox.base_url("/typesafe"))
        .retry_on_conn_err(false)
        .retry_on_timeout(false)
        .attempt_timeout(Duration::from_millis(400))
        .clock(Impatient(TokioClock::new()))
        .seed(SEED)
        .build()
        .unwrap();

    let mut rng = Rng::from_seed(SEED);
    let at_once = Arc::new(Semaphore::new(48));
    let mut scripts = HashMap::new();
    let mut calls = JoinSet::new();
    for number in 0..CALLS {
        let steps = [step(&mut rng), step(&mut rng), step(&mut rng)];
        let model = format!("sandbox-do-{}@{number}", steps.join(","));
        scripts.insert(model.clone(), steps);
        let client = client.clone();
        let slot = at_once.clone().acquire_owned().await.unwrap();
        calls.spawn(async move {
            let outcome = one(client, model, number).await;
            drop(slot);
            outcome
        });
    }
    let outcomes: HashMap<_, _> = calls.join_all().await.into_iter().collect();
    assert_eq!(outcomes.len(), CALLS);

    let mut sent: HashMap<String, Vec<_>> = HashMap::new();
    for entry in sandbox.journal() {
        let model = entry.model.clone().unwrap();
        sent.entry(model).or_default().push(entry);
    }
    let mut unanswered = 0;
    let mut retried = 0;
    for (model, entries) in &sent {
        for (at, entry) in entries.iter().enumerate() {
            let step = scripts[model][entry.step.unwrap()];
            let last = at + 1 == entries.len();
            assert!(
                answers(step) || last,
                "seed {SEED}: {model} sent again after {step}"
            );
            assert_eq!(entry.body_sha256, entries[0].body_sha256, "{model}");
            unanswered += usize::from(!answers(step));
            retried += usize::from(!last);
        }
    }
    assert!(
        unanswered > CALLS / 5,
        "{unanswered} requests got no answer"
    );
    assert!(
        retried > CALLS / 20,
        "{retried} answers were followed by a retry"
    );

    // The client says of each call what the journal says.
    for (model, outcome) in &outcomes {
        let journal = sent.get(model).map_or(0, Vec::len);
        match outcome {
            Ok(attempts) => assert_eq!(*attempts, journal, "{model}"),
            Err(error) => {
                // What the client gave up on may not have been read by the server yet.
                let unseen = usize::from(error.kind() == ErrorKind::Timeout);
                let attempts = error.attempts().len();
                assert!(
                    (journal..=journal + unseen).contains(&attempts),
                    "{model}: {error}"
                );
            }
        }
    }
}

#[tokio::test]
async fn with_retry_unsent_refused_connections_are_still_retried() {
    // A port nobody listens on: bound once, and let go.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    for (unsent, attempts) in [(true, 3), (false, 1)] {
        let client = Client::builder_from(|_| None)
            .api_key("ts-0123456789")
            .base_url(format!("http://127.0.0.1:{port}"))
            .retry_on_conn_err(false)
            .retry_on_timeout(false)
            .retry_unsent(unsent)
            .clock(Impatient(TokioClock::new()))
            .build()
            .unwrap();
        let questions = Questions::new().ask("late", Noul::new("Is a delivery late?"));
        let error = client.system_one("parcel", questions).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Transport);
        assert_eq!(error.sent(), skyl::Sent::No);
        assert_eq!(error.attempts().len(), attempts);
    }
}
