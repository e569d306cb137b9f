//! Measurements against peers in the same run.
//!
//! `cargo run --release -p bench` prints every table; a name prints one. `--smoke` runs each
//! measurement once and briefly, to see that it still runs. Ratios are what to quote: absolute
//! times belong to one machine on one day.
//!
//! `--features peers` adds the peers that take long to build: clients of AI providers. A profiler
//! gets one contender alone by `drive SUITE CONTENDER CALLS`, as in `drive complete skyl 1000`.
//!
//! With `--features allocations` the same tables show allocations instead of times. One build
//! does not show both: the counter costs three times what an allocation does, and would make
//! every contender that allocates look slower than it is.

mod client;
mod engine;
mod growth;
mod measure;
mod server;
mod sizes;
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
        "one call over loopback beside bare clients and peers, in processor time",
        client::complete,
    ),
    (
        "stream",
        "one stream over loopback beside bare reqwest and peers, in processor time",
        client::stream,
    ),
    ("sizes", "how large futures are", sizes::run),
    (
        "growth",
        "memory of calls in flight and of open streams",
        growth::run,
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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [drive, suite, name, calls] = arguments.as_slice()
        && drive == "drive"
    {
        let calls = calls.parse().unwrap_or(1);
        return done(client::drive(suite, name, calls));
    }
    if let [hold, what, name, url, steps @ ..] = arguments.as_slice()
        && hold == "hold"
    {
        return done(growth::hold(what, name, url, steps));
    }
    for argument in arguments {
        if argument == "serve" {
            server::serve();
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

#[expect(clippy::print_stderr, reason = "where a program says what went wrong")]
fn done(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bench: {why}");
            ExitCode::FAILURE
        }
    }
}
