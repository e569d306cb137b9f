//! Measurements against peers in the same run.
//!
//! `cargo run --release -p bench` prints every table; a name prints one. `--smoke` runs each
//! measurement once and briefly, to see that it still runs. Ratios are what to quote: absolute
//! times belong to one machine on one day.
//!
//! With `--features allocations` the same tables show allocations instead of times. One build
//! does not show both: the counter costs three times what an allocation does, and would make
//! every contender that allocates look slower than it is.

mod complete;
mod engine;
mod measure;
mod sse;

use std::alloc::System;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use crate::measure::Effort;

#[cfg_attr(feature = "allocations", global_allocator)]
static ALLOCATIONS: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Name, what it measures, how.
type Suite = (&'static str, &'static str, fn(Effort) -> String);

const SUITES: &[Suite] = &[
    (
        "engine",
        "the retry engine beside backon, tokio-retry and tower",
        engine::run,
    ),
    (
        "sse",
        "the stream decoder beside eventsource-stream and sse-stream",
        sse::run,
    ),
    (
        "complete",
        "one call over loopback beside bare reqwest, in processor time",
        complete::run,
    ),
];

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints tables"
)]
fn main() -> ExitCode {
    let mut effort = Effort::Full;
    let mut names = Vec::new();
    for argument in std::env::args().skip(1) {
        if argument == "serve" {
            complete::serve();
            return ExitCode::SUCCESS;
        } else if argument == "--smoke" {
            effort = Effort::Smoke;
        } else if SUITES.iter().any(|(name, ..)| *name == argument) {
            names.push(argument);
        } else {
            eprintln!("bench: unknown argument `{argument}`; there are --smoke and:");
            for (name, what, _) in SUITES {
                eprintln!("  {name:8} {what}");
            }
            return ExitCode::FAILURE;
        }
    }
    for (name, _, run) in SUITES {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            println!("{}", run(effort));
        }
    }
    ExitCode::SUCCESS
}
