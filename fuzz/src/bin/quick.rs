//! The corpus and a short seeded mutation of it: `quick [TARGET...] [--seconds N] [--seed S]`.
//!
//! With files (`quick TARGET --input FILE...`) it runs those alone: so a failure is replayed.
//! Targets run side by side, each on a thread with the 2 MiB stack that runtimes give theirs, so that
//! recursion too deep for them is too deep here. An input that hangs or fills the memory ends the
//! program before it ends the machine.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program talks to its user"
)]

use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, exit};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use skyl_fuzz::mutate::Mutations;
use skyl_fuzz::{TARGETS, Target, find};

fn main() -> ExitCode {
    match Options::read(env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// What the command line asks for.
#[derive(Clone, Debug)]
struct Options {
    targets: Vec<&'static Target>,
    seconds: u64,
    seed: u64,
    /// Run these and nothing else.
    inputs: Vec<PathBuf>,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            targets: Vec::new(),
            seconds: 2,
            seed: 1,
            inputs: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut number = || {
                let value = words.next().unwrap_or_default();
                let refused = || format!("{word} needs a whole number, not {value:?}");
                value.parse().map_err(|_| refused())
            };
            match word.as_str() {
                "--seconds" => options.seconds = number()?,
                "--seed" => options.seed = number()?,
                "--input" => options.inputs.extend(words.by_ref().map(PathBuf::from)),
                name => options
                    .targets
                    .push(find(name).ok_or_else(|| unknown(name))?),
            }
        }
        if !options.inputs.is_empty() && options.targets.len() != 1 {
            return Err("--input needs one target before it and files after it".to_owned());
        }
        if options.targets.is_empty() {
            options.targets = TARGETS.iter().collect();
        }
        Ok(options)
    }
}

fn unknown(name: &str) -> String {
    let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    format!(
        "there is no target {name:?}; the targets are {}",
        known.join(", ")
    )
}

/// What a worker does at this moment, for whoever watches it.
#[derive(Debug)]
struct Moment {
    target: &'static str,
    input: Vec<u8>,
    since: Instant,
}

type Current = Arc<Mutex<Option<Moment>>>;

fn run(options: &Options) -> Result<(), String> {
    println!(
        "seed {}, {} s of mutations for each target",
        options.seed, options.seconds
    );
    let waiting = Arc::new(Mutex::new(VecDeque::from(options.targets.clone())));
    let (results, arrivals) = channel();
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let workers: Vec<Current> = (0..workers.min(options.targets.len()))
        .map(|_| start(options.clone(), waiting.clone(), results.clone()))
        .collect::<Result<_, _>>()?;
    drop(results);

    let mut broken = 0_usize;
    let mut left = options.targets.len();
    while left > 0 {
        match arrivals.recv_timeout(TICK) {
            Ok(Ok(line)) => {
                println!("   {line}");
                left -= 1;
            }
            Ok(Err(report)) => {
                eprintln!("{report}");
                broken += 1;
                left -= 1;
            }
            Err(RecvTimeoutError::Timeout) => watch(&workers),
            Err(RecvTimeoutError::Disconnected) => {
                return Err("a worker ended before its targets did".to_owned());
            }
        }
    }
    match broken {
        0 => Ok(()),
        1 => Err("one target is broken, see above".to_owned()),
        more => Err(format!("{more} targets are broken, see above")),
    }
}

/// One result: the line of a target that held, or the report of one that broke.
type Outcome = Result<String, String>;

fn start(
    options: Options,
    waiting: Arc<Mutex<VecDeque<&'static Target>>>,
    results: Sender<Outcome>,
) -> Result<Current, String> {
    let current = Current::default();
    let mine = current.clone();
    let work = move || {
        loop {
            // Taken out on its own line: the queue must not stay locked while the target runs.
            let next = lock(&waiting).pop_front();
            let Some(target) = next else { return };
            let outcome = one_target(target, &options, &mine);
            if results.send(outcome).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(work)
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    Ok(current)
}

fn one_target(target: &'static Target, options: &Options, current: &Current) -> Outcome {
    if !options.inputs.is_empty() {
        for (path, input) in read_all(&options.inputs)? {
            one_input(target, &input, &path.display().to_string(), current)?;
        }
        return Ok(format!("{}: {} inputs", target.name, options.inputs.len()));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target.name);
    let corpus = read_all(&files_in(&folder)?)?;
    if corpus.is_empty() {
        return Err(format!("{}: nothing in {}", target.name, folder.display()));
    }
    for (path, input) in &corpus {
        one_input(target, input, &path.display().to_string(), current)?;
    }
    let inputs: Vec<Vec<u8>> = corpus.into_iter().map(|(_, input)| input).collect();
    let begun = now();
    let limit = Duration::from_secs(options.seconds);
    let mutations = Mutations::new(&inputs, target.words, target.name, options.seed);
    let mut tried = 0_u64;
    for input in mutations.take_while(|_| begun.elapsed() < limit) {
        let which = format!("mutation {tried} of seed {}", options.seed);
        one_input(target, &input, &which, current)?;
        tried += 1;
    }
    Ok(format!(
        "{}: {} in the corpus, {tried} mutations",
        target.name,
        inputs.len()
    ))
}

fn one_input(
    target: &'static Target,
    input: &[u8],
    which: &str,
    current: &Current,
) -> Result<(), String> {
    let since = now();
    let outcome = {
        *lock(current) = Some(Moment {
            target: target.name,
            input: input.to_owned(),
            since,
        });
        catch_unwind(|| (target.run)(input))
    };
    *lock(current) = None;
    if outcome.is_err() {
        return Err(report(target.name, input, &format!("broke on {which}")));
    }
    let taken = since.elapsed();
    if taken > SLOW {
        let why = format!("took {} s for {which}", taken.as_secs());
        return Err(report(target.name, input, &why));
    }
    Ok(())
}

/// Ends the program where an input hangs or the memory runs away.
fn watch(workers: &[Current]) {
    let too_much = resident_kib().is_some_and(|kib| kib > MOST_KIB);
    let mut ended = too_much;
    for worker in workers {
        let guard = lock(worker);
        let Some(moment) = guard.as_ref() else {
            continue;
        };
        let hangs = moment.since.elapsed() > HANGS;
        if hangs || too_much {
            let why = if hangs {
                "hangs"
            } else {
                "may be what fills the memory"
            };
            eprintln!("{}", report(moment.target, &moment.input, why));
            ended = true;
        }
    }
    if ended {
        exit(1);
    }
}

/// Keeps the input and says how to run it again.
fn report(target: &str, input: &[u8], why: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fuzz/broken");
    let path = folder.join(format!("{target}-{}", input.len()));
    let kept = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, input));
    let place = match kept {
        Ok(()) => path.canonicalize().unwrap_or(path).display().to_string(),
        Err(error) => format!("(not written: {error})"),
    };
    format!(
        "{target} {why}\n  \
         the input:    {place}\n  \
         run it again: cargo run --manifest-path fuzz/Cargo.toml --target-dir target/fuzz \
         --release -- {target} --input {place}\n  \
         once mended:  copy it to fuzz/corpus/{target}/ under a name that says what it shows"
    )
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error| format!("cannot read {}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut files = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(unreadable)?;
    // In one order everywhere, or a seed would mean another row on another machine.
    files.sort();
    Ok(files)
}

fn read_all(paths: &[PathBuf]) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let read = |path: &PathBuf| match fs::read(path) {
        Ok(input) => Ok((path.clone(), input)),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    };
    paths.iter().map(read).collect()
}

/// The memory this program holds, where the system says so (Linux).
fn resident_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "a program that times real work")]
fn now() -> Instant {
    Instant::now()
}

/// Looked at this often: memory cannot run far in it.
const TICK: Duration = Duration::from_millis(20);

/// No input takes a hundredth of this; a busy machine makes all of them slow.
const SLOW: Duration = Duration::from_secs(5);

const HANGS: Duration = Duration::from_secs(30);

const MOST_KIB: u64 = 1 << 20;

/// The stack of a Tokio worker, and of a thread of the standard library.
const STACK_BYTES: usize = 2 << 20;
