//! The retry rate per provider: one hook, two counters.
//!
//! Retries do not show in latencies until it is too late, because the backoff absorbs them. A rate
//! that creeps from 0.5 % to 5 % is the first sign of a provider's trouble.
//!
//! `cargo run -p skyl --example retry_rate`

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use skyl::anthropic::Anthropic;
use skyl::openai::OpenAi;
use skyl::{Client, HookEvent, Operation, Request};
use skyl_sandbox::Sandbox;

/// What one provider's attempts came to; clones count together.
#[derive(Clone, Default)]
pub(crate) struct RetryRate {
    attempts: Arc<AtomicU64>,
    retries: Arc<AtomicU64>,
}

impl RetryRate {
    /// The hook that counts. A hook runs on the task that makes the call, so it does no more.
    pub(crate) fn hook(&self) -> impl Fn(&HookEvent<'_>) + Send + Sync + 'static {
        let counts = self.clone();
        move |event| {
            // The end of a stream is no attempt of its own.
            if event.operation() != Operation::StreamEnd {
                counts.attempts.fetch_add(1, Relaxed);
                counts
                    .retries
                    .fetch_add(u64::from(event.attempt() > 0), Relaxed);
            }
        }
    }

    /// Attempts, retries among them, and retries per thousand attempts: what goes to the metrics.
    pub(crate) fn read(&self) -> (u64, u64, u64) {
        let (attempts, retries) = (self.attempts.load(Relaxed), self.retries.load(Relaxed));
        // Nothing called yet: nothing retried.
        let per_thousand = retries.saturating_mul(1_000) / attempts.max(1);
        (attempts, retries, per_thousand)
    }
}

pub(crate) async fn run(sandbox: &Sandbox, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let (openai_rate, anthropic_rate) = (RetryRate::default(), RetryRate::default());

    let openai = OpenAi::new(sandbox.key()).base_url(sandbox.base_url("/openai/v1"));
    let openai = Client::builder(openai).hook(openai_rate.hook()).build()?;
    let anthropic = Anthropic::new(sandbox.key()).base_url(sandbox.base_url("/anthropic"));
    let anthropic = Client::builder(anthropic)
        .hook(anthropic_rate.hook())
        .build()?;

    // One provider has a bad minute: its model names script the faults of each attempt.
    for model in [
        "gpt-5.6",
        "sandbox-do-503(ra-ms=1),ok",
        "gpt-5.6",
        "sandbox-do-429(ra-ms=1)*2,ok",
    ] {
        openai.complete(&Request::new(model).user("Hello")).await?;
    }
    let hello = Request::new("claude-sonnet-5").user("Hello");
    anthropic.complete(&hello).await?;
    anthropic.stream(&hello).await?.into_response().await?;

    writeln!(out, "provider    attempts  retries    rate")?;
    for (client, rate) in [(&openai, &openai_rate), (&anthropic, &anthropic_rate)] {
        let (attempts, retries, per_thousand) = rate.read();
        let (whole, tenth) = (per_thousand / 10, per_thousand % 10);
        let provider = client.provider();
        writeln!(
            out,
            "{provider:<10}{attempts:>10}{retries:>9}{whole:>5}.{tenth} %"
        )?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&Sandbox::start().await?, &mut std::io::stdout()).await
}
