//! `skyl ask --batch`: every line of a file, asked side by side and answered in order.
//!
//! [`input`] reads lines, [`engine`] asks them, [`pace`] says how soon, [`store`] keeps the answers
//! so that a kill at any moment loses none, [`progress`] and [`summary`] tell of it.

mod engine;
mod file;
mod input;
mod pace;
mod progress;
mod record;
mod store;
mod summary;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use skyl::system_one::{CallOptions, Client};
use skyl::{ErrorKind, Usage};
use skyl_retry::TokioClock;

use crate::args::{AskArgs, EventSink};
use crate::asker::{self, Asker};
use crate::call::Told;
use crate::commands::ask::answer::AskObject;
use crate::commands::ask::request::{document, refused};
use crate::commands::ask::{settings, watch};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::blocking;
use crate::interrupt::Interrupt;
use crate::json::FailureObject;
use crate::program::Context;
use crate::stderr::Tone;
use crate::stdout::Form;

use self::engine::{Done, End, Engine, Outcome};
use self::input::{Count, Input, Line};
use self::pace::Pace;
use self::progress::Progress;
use self::record::{Record, Tally};
use self::store::{Store, part_of};
use self::summary::Summary;

/// Asks every line of `input` and writes the answers to `out`.
pub(super) async fn run(
    args: &AskArgs,
    input: &Path,
    out: &Path,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let settings = settings(args, context)?;
    apart(args, input, out)?;
    if !args.batch.resume {
        Store::check_absent(out)?;
    }
    let live = context.stderr.look().live;
    let count = if live { Count::Lines } else { Count::Nothing };
    // A pipe with a name is not open until somebody writes to it.
    let opened = blocking(input.to_owned(), move |input| Input::open(&input, count));
    let lines = interrupt.or(opened).await??;
    let asker = Asker::open(&settings, watch(args), Told::Not, context).await?;
    // Last, so that what is refused leaves no files behind.
    let mut store = if args.batch.resume {
        Store::resume(out)?
    } else {
        Store::create(out)?
    };
    let progress = Progress::new(context.stderr.clone(), lines.total);
    let engine = Engine {
        concurrency: args
            .batch
            .concurrency
            .map_or(CONCURRENCY, NonZeroUsize::get),
        pace: Pace::new(args.batch.rpm, args.batch.tps),
        clock: &TokioClock::new(),
        store: &mut store,
        progress: &progress,
    };
    let model = args.questions.model.as_deref();
    let ask = |line| {
        let options = asker::options(model, interrupt);
        ask(asker.client.clone(), options, line)
    };
    let running = engine.run(lines.lines(), interrupt.wait(), ask);
    let ended = asker.stage.beside(running).await;
    progress.end();
    let end = ended?;
    let totals = match end {
        End::Whole => store.finish()?,
        End::Stopped => store.leave()?,
    };
    let summary = Summary::of(&totals, args.batch.price);
    match context.form {
        Form::Json => context.stdout.object(&summary)?,
        Form::Text => context.stderr.line(Tone::Plain, &summary.line(totals.kept)),
    }
    match (end, totals.first_failure) {
        (End::Stopped, _) => Err(Failure::Told(Exit::Interrupted)),
        (End::Whole, Some((_, exit))) => Err(Failure::Told(exit)),
        (End::Whole, None) => Ok(()),
    }
}

/// Asks one line.
async fn ask(client: Client, options: CallOptions, line: Line) -> Result<Done, Failure> {
    let number = line.number;
    let request = line
        .document
        .map_err(refused)
        .and_then(|bytes| document(&bytes));
    let request = match request {
        Ok(request) => request,
        Err(failure) => return failed(number, &failure, 0),
    };
    match client.system_one_with(&request, options).await {
        Ok(response) => {
            let Usage {
                input_tokens,
                output_tokens,
                ..
            } = response.usage();
            let attempts = response.attempts().len();
            let tally = Tally {
                retried: attempts > 1,
                input_tokens: input_tokens.unwrap_or_default(),
                output_tokens: output_tokens.unwrap_or_default(),
            };
            let record = Record::new(number, &AskObject::of(&response), tally)?;
            Ok(Done {
                outcome: Outcome::Answered(record),
                tokens: input_tokens.map(|input| input.saturating_add(tally.output_tokens)),
                requests: u64::try_from(attempts).unwrap_or(u64::MAX),
            })
        }
        Err(error) => {
            let attempts = error.attempts().len();
            if error.kind() == ErrorKind::Cancelled {
                return Ok(Done {
                    outcome: Outcome::Stopped,
                    tokens: None,
                    requests: u64::try_from(attempts).unwrap_or(u64::MAX),
                });
            }
            failed(number, &error.into(), attempts)
        }
    }
}

fn failed(line: u64, failure: &Failure, attempts: usize) -> Result<Done, Failure> {
    let tally = Tally {
        retried: attempts > 1,
        ..Tally::default()
    };
    let record = Record::new(line, &FailureObject::of(failure), tally)?;
    Ok(Done {
        outcome: Outcome::Failed(record, failure.exit(), failure.line()),
        tokens: None,
        requests: u64::try_from(attempts).unwrap_or(u64::MAX),
    })
}

/// Refuses one file for two uses: the answers would be written over what they answer.
fn apart(args: &AskArgs, input: &Path, out: &Path) -> Result<(), Failure> {
    let part = part_of(out);
    let events = match &args.watch.events {
        Some(EventSink::File(path)) => Some(path.as_path()),
        _ => None,
    };
    for (flag, path) in [("--batch", Some(input)), ("--events", events)] {
        if let Some(path) = path
            && [out, &part].iter().any(|ours| same(path, ours))
        {
            return Err(Failure::usage(format!(
                "{flag} {}: the answers are written there",
                path.display()
            )));
        }
    }
    if out == Path::new("-") {
        return Err(Failure::usage(
            "--out: a batch is kept in a file, so that it can be resumed",
        ));
    }
    Ok(())
}

fn same(one: &Path, other: &Path) -> bool {
    match (resolved(one), resolved(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// The one path of a file, by whatever name; of one that is not there yet, as it will be.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(whole) = path.canonicalize() {
        return Some(whole);
    }
    let folder = match path.parent()? {
        here if here == Path::new("") => Path::new("."),
        folder => folder,
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Enough to hide the time of a request; the API's published limit takes 20 requests a second.
const CONCURRENCY: usize = 8;
