//! One retry policy, one retry budget, two unlike operations.
//!
//! `cargo run -p skyl-retry --features tokio --example shared_policy`
//!
//! A policy holds figures and no state, so one value serves everything that should behave alike.
//! What must be shared on purpose is the retry budget: both operations burden the same provider.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use skyl_retry::{
    Attempt, Clock, Failure, FailureClass, Hint, RetryBudget, RetryPolicy, Seeds, TokioClock,
    Verdict, retry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (answer, stored) = run(&TokioClock::new()).await?;
    println!("{answer}, kept as {stored} bytes");
    Ok(())
}

/// Asks an API, then uploads what it said, both under one policy.
///
/// # Errors
/// When either operation fails for good.
pub(crate) async fn run(clock: &impl Clock) -> Result<(String, usize), Box<dyn Error>> {
    let policy = RetryPolicy::fleet()
        .to_builder()
        .initial_delay(Duration::from_millis(100))
        .build()?;
    let budget = RetryBudget::for_policy(&policy);
    let seeds = Seeds::from_entropy();

    // A plain closure, with an error type of its own: throttled once, with a wait to obey.
    let asked = Cell::new(0);
    let answer = retry(&policy, clock)
        .budget(budget.as_deref())
        .rng(seeds.next_rng())
        .deadline(clock.now() + Duration::from_secs(60))
        .on_decision(|attempt, error: &ApiError, verdict| tell("ask", attempt, error, verdict))
        .run(async |_| ask(&asked), ApiError::failure)
        .await?;

    // Another operation, whose errors are the standard library's: the connection breaks once.
    let stored = retry(&policy, clock)
        .budget(budget.as_deref())
        .rng(seeds.next_rng())
        .on_decision(|attempt, error: &std::io::Error, verdict| {
            tell("upload", attempt, error, verdict);
        })
        .run(
            |attempt| upload(&answer, attempt.number),
            |_| Failure::new(FailureClass::ConnectionLost),
        )
        .await?;
    Ok((answer, stored))
}

/// One line per failed attempt: what happened, and what follows.
fn tell(what: &str, attempt: &Attempt, error: &dyn fmt::Display, verdict: &Verdict) {
    println!("{what}, attempt {}: {error}; {verdict}", attempt.number);
}

#[derive(Debug)]
struct ApiError {
    status: u16,
    retry_after: Option<Duration>,
}

impl ApiError {
    fn failure(&self) -> Failure {
        let class = match self.status {
            429 => FailureClass::Throttled,
            500.. => FailureClass::Server,
            _ => FailureClass::Permanent,
        };
        Failure::new(class)
            .with_status(self.status)
            .with_hint(self.retry_after.map_or(Hint::Absent, Hint::Wait))
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.status)
    }
}

impl Error for ApiError {}

/// Stands for a call of an API.
fn ask(asked: &Cell<u32>) -> Result<String, ApiError> {
    asked.set(asked.get() + 1);
    match asked.get() {
        1 => Err(ApiError {
            status: 429,
            retry_after: Some(Duration::from_secs(1)),
        }),
        _ => Ok("Paris".to_owned()),
    }
}

/// Stands for an upload: what a client hands out is a future.
fn upload(text: &str, attempt: u32) -> impl Future<Output = std::io::Result<usize>> {
    std::future::ready(match attempt {
        0 => Err(std::io::ErrorKind::ConnectionReset.into()),
        _ => Ok(text.len()),
    })
}
