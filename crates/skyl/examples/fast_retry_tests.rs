//! Tests of retries that take no time: two ways, neither of which changes what is tested.
//!
//! 1. Shrink the waits. The same retries, the same backoff, next to no time.
//! 2. Inject a `ManualClock`. The production figures, exact waits, and no time at all.
//!
//! Whoever writes tests like those at the end of this page takes the clock from `skyl` with its
//! feature `test-util`: `skyl::ManualClock`.
//!
//! `cargo run -p skyl --example fast_retry_tests`

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use skyl::openai::OpenAi;
use skyl::{Client, ClientBuilder, Request};
use skyl_retry::ManualClock;
use skyl_sandbox::Sandbox;

/// A client as the program under test builds it: all waits are the defaults.
fn builder(sandbox: &Sandbox) -> ClientBuilder {
    Client::builder(OpenAi::new(sandbox.key()).base_url(sandbox.base_url("/openai/v1")))
}

/// The first way: the same retry count, negligible waits.
fn with_short_waits(builder: ClientBuilder) -> ClientBuilder {
    builder
        .retry_delay(Duration::from_millis(1), Duration::from_millis(10))
        // This one matters too: `sandbox-status-429` sends a real `Retry-After` of one second.
        .retry_after_cap(Duration::from_millis(1))
}

/// The second way: a clock that jumps over every wait and remembers it. The seed fixes the jitter.
fn with_clock(builder: ClientBuilder, clock: &ManualClock) -> ClientBuilder {
    builder.clock(clock.clone()).seed(7)
}

pub(crate) async fn run(sandbox: &Sandbox, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let request = Request::new("sandbox-status-429").user("Hello");
    let clock = ManualClock::skipping();
    for (way, client) in [
        ("short waits", with_short_waits(builder(sandbox))),
        ("manual clock", with_clock(builder(sandbox), &clock)),
    ] {
        let Err(error) = client.build()?.complete(&request).await else {
            return Err("this model always answers 429".into());
        };
        writeln!(out, "{way}: {} attempts", error.attempts().len())?;
        for attempt in error.attempts() {
            if let Some(wait) = attempt.wait {
                writeln!(out, "  waited {wait:?}")?;
            }
        }
    }
    writeln!(out, "skipped on the manual clock: {:?}", clock.sleeps())?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&Sandbox::start().await?, &mut std::io::stdout()).await
}

#[cfg(test)]
mod tests {
    use skyl::{CallOptions, ErrorKind, RetryStop};

    use super::*;

    #[tokio::test]
    async fn gives_up_after_four_attempts() {
        let sandbox = Sandbox::start().await.unwrap();
        let client = with_short_waits(builder(&sandbox)).build().unwrap();
        let request = Request::new("sandbox-status-429").user("Hello");

        let error = client.complete(&request).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::RateLimit);
        assert_eq!(error.retry_stop(), Some(RetryStop::AttemptsExhausted));
        // What the server saw, not what the client says.
        assert_eq!(sandbox.journal().len(), 4);
    }

    #[tokio::test]
    async fn waits_what_the_server_asks_and_its_own_backoff_otherwise() {
        let sandbox = Sandbox::start().await.unwrap();
        let clock = ManualClock::skipping();
        let client = with_clock(builder(&sandbox), &clock).build().unwrap();
        let request = Request::new("sandbox-do-429(ra=90),503*2,ok").user("Hello");

        let answer = client.complete(&request).await.unwrap();

        assert_eq!(answer.attempts().len(), 4);
        let waits = clock.sleeps();
        assert_eq!(waits[0], Duration::from_secs(90));
        // Full jitter: anything from zero to the ceiling of that retry.
        assert!(waits[1] <= Duration::from_secs(1) && waits[2] <= Duration::from_secs(2));
    }

    #[tokio::test]
    async fn a_shutdown_does_not_wait_for_the_backoff() {
        let sandbox = Sandbox::start().await.unwrap();
        // This clock stands still, so the call stays in its wait until somebody ends it.
        let clock = ManualClock::new();
        let client = with_clock(builder(&sandbox), &clock).build().unwrap();
        let request = Request::new("sandbox-status-429").user("Hello");
        let sleeping = clock.until_sleeping();

        let options = CallOptions::new().cancel_on(sleeping);
        let error = client.complete_with(&request, options).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Cancelled);
        let last = error.last_error().map(skyl::Error::kind);
        assert_eq!(last, Some(ErrorKind::RateLimit));
        assert_eq!(sandbox.journal().len(), 1);
    }
}
