//! Measurements against peers in the same run.
//!
//! `cargo run --release -p bench` prints every table; a name prints one. `--smoke` runs each
//! measurement once and briefly, to see that it still runs. Ratios are what to quote: absolute
//! times belong to one machine on one day.
//!
//! `--features peers` adds the peers that take long to build: clients of AI providers. A profiler
//! gets one contender alone by `drive SUITE CONTENDER CALLS`, as in `drive complete skyl 1000`.
//!
//! With `--features allocations` the same tables show allocations instead of times, and `--counts
//! FILE` sets such tables beside the times. `cargo xtask figures` does both and writes the page of
//! figures.

mod client;
mod counts;
mod engine;
mod growth;
mod markdown;
mod measure;
mod page;
mod server;
mod sizes;
mod sse;

use std::alloc::System;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use crate::counts::Counts;
use crate::measure::{Bench, Effort};

#[cfg_attr(feature = "allocations", global_allocator)]
static ALLOCATIONS: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Name, what it measures, how.
type Suite = (&'static str, &'static str, fn(&Bench) -> String);

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

fn main() -> ExitCode {
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
    if arguments == ["serve"] {
        server::serve();
        return ExitCode::SUCCESS;
    }
    done(Call::read(&arguments).and_then(Call::run))
}

/// What the command line asks for.
struct Call {
    bench: Bench,
    suites: Vec<&'static Suite>,
    page: Option<String>,
}

impl Call {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let mut bench = Bench {
            effort: Effort::Full,
            counts: Counts::default(),
        };
        let (mut suites, mut page) = (Vec::new(), None);
        let mut arguments = arguments.iter();
        let file = |option, file: Option<&String>| {
            file.cloned()
                .ok_or_else(|| format!("{option} needs a file"))
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--smoke" => bench.effort = Effort::Smoke,
                "--page" => page = Some(file("--page", arguments.next())?),
                "--counts" => {
                    let path = file("--counts", arguments.next())?;
                    let text = std::fs::read_to_string(&path)
                        .map_err(|error| format!("cannot read {path}: {error}"))?;
                    bench.counts = Counts::read(&text);
                }
                name => {
                    let suite = SUITES.iter().find(|(of, ..)| *of == name);
                    suites.push(suite.ok_or_else(|| unknown(name))?);
                }
            }
        }
        if suites.is_empty() {
            suites.extend(SUITES);
        }
        Ok(Self {
            bench,
            suites,
            page,
        })
    }

    /// Measures, and prints each suite as it is done, or writes them all to a page.
    #[expect(clippy::print_stdout, reason = "a program that prints tables")]
    fn run(self) -> Result<(), String> {
        let Some(path) = self.page else {
            for (.., run) in self.suites {
                println!("{}", run(&self.bench));
            }
            return Ok(());
        };
        let mut text = page::head();
        for (.., run) in self.suites {
            text.push('\n');
            text.push_str(run(&self.bench).trim_end());
            text.push('\n');
        }
        std::fs::write(&path, text).map_err(|error| format!("cannot write {path}: {error}"))
    }
}

fn unknown(argument: &str) -> String {
    let mut text = format!(
        "unknown argument `{argument}`; there are --smoke, --counts FILE, --page FILE and:"
    );
    for (name, what, _) in SUITES {
        text.extend(["\n  ", name, ": ", what]);
    }
    text
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
