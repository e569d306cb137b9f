//! One retry policy, one retry budget, two kinds of calls: the client's, and a plain reqwest call.
//!
//! The engine of the client is a crate of its own, so a service need not have a second set of
//! retry rules for the calls that are not to a model. What it wants from the caller is a reading
//! of each failure: the function `classify` below.
//!
//! `cargo run -p skyl --example shared_policy_with_reqwest`

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use skyl::openai::OpenAi;
use skyl::{Client, Clock, Request};
use skyl_retry::hint::{self, HintScope};
use skyl_retry::{
    Failure, FailureClass, RetryBudget, RetryPolicy, Sent, Stopped, TokioClock, retry,
};
use skyl_sandbox::Sandbox;

/// Why a plain call failed.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The server answered with an error; the failure is read off its head, while it is there.
    Status(Failure),
    /// No answer came.
    Transport(reqwest::Error),
}

impl CallError {
    /// Reads the head of an answer that is an error.
    fn status(answer: &reqwest::Response, clock: &impl Clock) -> Self {
        let status = answer.status().as_u16();
        let class = match status {
            429 => FailureClass::Throttled,
            408 | 409 | 500.. => FailureClass::Server,
            400..500 => FailureClass::Permanent,
            _ => FailureClass::Unclassified,
        };
        let headers = answer.headers().iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        let headers = || headers.iter().copied();
        let found = hint::from_headers(headers(), clock.wall(), HintScope::All);
        let failure = Failure::new(class)
            .with_status(status)
            .with_hint(found.hint)
            .with_server_word(hint::server_word(headers()));
        Self::Status(failure)
    }

    /// What the engine needs to know.
    pub(crate) fn classify(&self) -> Failure {
        match self {
            Self::Status(failure) => *failure,
            // First, because it also counts as a failure to connect: no retry mends a certificate.
            Self::Transport(error) if is_certificate(error) => {
                Failure::new(FailureClass::Certificate).with_sent(Sent::No)
            }
            Self::Transport(error) if error.is_connect() => {
                Failure::new(FailureClass::Connect).with_sent(Sent::No)
            }
            Self::Transport(error) if error.is_timeout() => Failure::new(FailureClass::Timeout),
            Self::Transport(error) if error.is_builder() => Failure::new(FailureClass::Permanent),
            Self::Transport(_) => Failure::new(FailureClass::ConnectionLost),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(failure) => write!(f, "http {}", failure.status.unwrap_or_default()),
            Self::Transport(_) => f.write_str("no answer"),
        }
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Status(_) => None,
            Self::Transport(error) => Some(error),
        }
    }
}

/// Whether a rejected certificate is somewhere in the chain.
fn is_certificate(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return true;
        }
        // An I/O error's `source` skips the error it wraps.
        let wrapped = error.downcast_ref::<io::Error>();
        next = match wrapped.and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}

/// What all calls to one provider have in common.
pub(crate) struct Shared {
    pub(crate) policy: RetryPolicy,
    pub(crate) budget: Arc<RetryBudget>,
    /// One clock for all: the budget's reserve grows with its time.
    pub(crate) clock: TokioClock,
}

impl Shared {
    /// One plain call, retried as the client's are; every decision goes into the log.
    pub(crate) async fn get(
        &self,
        http: &reqwest::Client,
        url: &str,
        key: &str,
        log: &mut Vec<String>,
    ) -> Result<reqwest::Response, Stopped<CallError>> {
        retry(&self.policy, &self.clock)
            .budget(&*self.budget)
            .on_decision(|attempt, error: &CallError, verdict| {
                log.push(format!("attempt {}: {error}, {verdict}", attempt.number));
            })
            .run(
                async |_| {
                    let request = http.get(url).bearer_auth(key);
                    let answer = request.send().await.map_err(CallError::Transport)?;
                    if answer.status().is_success() {
                        Ok(answer)
                    } else {
                        Err(CallError::status(&answer, &self.clock))
                    }
                },
                CallError::classify,
            )
            .await
    }
}

pub(crate) async fn run(sandbox: &Sandbox, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    // With a budget of retries: an outage is not multiplied by them, whoever makes the calls.
    let policy = RetryPolicy::fleet()
        .to_builder()
        .max_delay(Duration::from_secs(10))
        .build()?;
    let shared = Shared {
        budget: RetryBudget::for_policy(&policy).ok_or("the policy has no retry budget")?,
        clock: TokioClock::new(),
        policy,
    };

    let base_url = sandbox.base_url("/openai/v1");
    let client = Client::builder(OpenAi::new(sandbox.key()).base_url(&*base_url))
        .policy(shared.policy.clone())
        .retry_budget(Arc::clone(&shared.budget))
        .clock(shared.clock)
        .build()?;
    let request = Request::new("sandbox-do-503(ra-ms=1),ok").user("Hello");
    let answer = client.complete(&request).await?;
    writeln!(out, "client: {} attempts", answer.attempts().len())?;

    // The other call is to a server that is overloaded twice, then has nothing of that name.
    let url = format!("{base_url}/models/sandbox-do-529(ra-ms=1)*2,404");
    let mut log = Vec::new();
    // reqwest has retries of its own; two layers that retry multiply each other.
    let http = reqwest::Client::builder()
        .retry(reqwest::retry::never())
        .timeout(Duration::from_secs(30))
        .build()?;
    if let Err(stopped) = shared.get(&http, &url, sandbox.key(), &mut log).await {
        log.push(stopped.to_string());
    }
    for line in log {
        writeln!(out, "plain call: {line}")?;
    }

    // Ten tokens, less one for each retry, and a tenth for the client's success.
    let tokens = shared.budget.balance(shared.clock.now());
    writeln!(out, "retries left in the budget: {tokens:.0}")?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&Sandbox::start().await?, &mut io::stdout()).await
}
