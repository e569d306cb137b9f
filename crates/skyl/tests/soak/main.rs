//! The soak: thousands of calls through a provider that fails, then the two records held together.
//!
//! The sandbox writes down every request it received, the client every attempt it made. After the
//! run they must agree call by call: nothing lost, nothing sent twice that must not be, no wait
//! shorter than the server asked, every failure of the kind that was foretold. Half of the calls
//! bring their faults in the model's name, so that their whole course is known beforehand; the
//! other half meets the sandbox's chaos.
//!
//! A program of its own, so that `cargo xtask soak --calls N --seed S` can ask for more: the same
//! seed draws the same calls and the same faults. Waits are real, and a few milliseconds long.
#![expect(
    clippy::disallowed_methods,
    reason = "what is soaked is the real thing, the real clock included"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a program of the tests talks to its user and stops like the tests do"
)]

mod check;
mod course;
mod draw;
mod report;
mod run;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Instant;

use skyl_sandbox::{Chaos, Sandbox};

use crate::report::Report;
use crate::run::Clients;

/// What is asked for on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Settings {
    calls: u64,
    seed: u64,
    /// The share of requests that meet the sandbox's own faults.
    chaos: f64,
    /// Calls in flight at once.
    concurrency: usize,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // What lists or filters tests by name finds none here.
    if words.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    match settings(&words) {
        Ok(settings) => soak(settings),
        Err(message) => {
            eprintln!("soak: {message}");
            ExitCode::from(2)
        }
    }
}

fn settings(words: &[String]) -> Result<Settings, String> {
    let mut settings = DEFAULTS;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word} has no value"))?;
        let bad = || format!("{word}: {value:?} is out of its range");
        match word.as_str() {
            "--calls" => settings.calls = value.parse().map_err(|_| bad())?,
            "--seed" => settings.seed = value.parse().map_err(|_| bad())?,
            "--chaos" => settings.chaos = value.parse().map_err(|_| bad())?,
            "--concurrency" => {
                let number: NonZeroUsize = value.parse().map_err(|_| bad())?;
                settings.concurrency = number.get();
            }
            _ => {
                return Err(format!(
                    "there is no {word}; there are --calls, --seed, --chaos, --concurrency"
                ));
            }
        }
    }
    Chaos::new(settings.chaos, 0).ok_or("--chaos is a share from 0 to 1")?;
    Ok(settings)
}

fn soak(settings: Settings) -> ExitCode {
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let report = runtime.block_on(all(settings));
    print!("{}", report.text(&settings, began.elapsed()));
    if report.agrees() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs the calls in batches, each checked and forgotten before the next: memory stays the same
/// however many there are.
async fn all(settings: Settings) -> Report {
    let chaos = Chaos::new(settings.chaos, settings.seed).unwrap();
    let sandbox = Sandbox::builder().chaos(chaos).start().await.unwrap();
    let clients = Clients::of(&sandbox, settings.seed);
    let mut report = Report::new(settings.seed);
    let mut next = 0;
    while next < settings.calls {
        let end = settings.calls.min(next.saturating_add(BATCH));
        let told = run::batch(&clients, settings, next..end).await;
        let journal = sandbox.journal();
        check::batch(&told, &journal, &mut report);
        sandbox.clear_journal();
        sandbox.clear_scripts();
        next = end;
    }
    check::hooks(&clients, &mut report);
    report
}

/// What the test command runs.
const DEFAULTS: Settings = Settings {
    calls: 20_000,
    seed: 1,
    chaos: 0.3,
    concurrency: 64,
};

const BATCH: u64 = 2_000;
