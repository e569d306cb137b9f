//! From arguments to an exit code.

use std::ffi::OsString;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::{Cli, Command};
use crate::commands::{ask, chat, completions, explain, models, sandbox, schedule, simulate};
use crate::env::Env;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::report::report;
use crate::stderr::Stderr;
use crate::stdout::{Form, Stdout};

/// What every command is given.
pub(crate) struct Context {
    pub(crate) env: Env,
    pub(crate) form: Form,
    pub(crate) stdout: Stdout,
    pub(crate) stderr: Stderr,
}

/// Runs the program.
pub(crate) fn run(args: impl IntoIterator<Item = OsString>, env: Env) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    let mut context = Context {
        form: form(&args),
        stdout: Stdout::of_process(),
        stderr: Stderr::of_process(&env),
        env,
    };
    let done = match parse(&args, &context) {
        Ok(Some(cli)) => {
            context.form = if cli.json { Form::Json } else { Form::Text };
            start(cli.command, &context)
        }
        Ok(None) => Ok(()),
        Err(failure) => Err(failure),
    };
    match done {
        Ok(()) => Exit::Ok,
        Err(failure) => {
            report(&failure, context.form, &context.stdout, &context.stderr);
            failure.exit()
        }
    }
}

/// The arguments as a command; `None` where help or the version was wanted and has been printed.
fn parse(args: &[OsString], context: &Context) -> Result<Option<Cli>, Failure> {
    let error = match Cli::try_parse_from(args) {
        Ok(cli) => return Ok(Some(cli)),
        Err(error) => error,
    };
    let mut rendered = error.render().to_string();
    if has_loose_words(&error) {
        rendered = rendered.replacen("\n\nUsage: skyl chat", LOOSE_WORDS, 1);
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            context.stdout.text(&rendered).map(|()| None)
        }
        kind => Err(Failure::Arguments {
            message: message(kind, &rendered),
            rendered,
        }),
    }
}

/// Whether there is a word too many, and no flag.
fn has_loose_words(error: &clap::Error) -> bool {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return false;
    };
    error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-')
}

/// The parser's finding in one line, without the usage that follows it for people.
fn message(kind: ErrorKind, rendered: &str) -> String {
    if kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return MISSING.to_owned();
    }
    let finding = rendered.split("\n\n").next().unwrap_or(rendered);
    let finding = finding.trim().trim_start_matches("error: ");
    let words: Vec<&str> = finding.split_whitespace().collect();
    escape::line(&words.join(" ")).into_owned()
}

/// The form that was asked for, read without the parser: its errors have a form too.
fn form(args: &[OsString]) -> Form {
    let mut flags = args.iter().skip(1).take_while(|arg| *arg != "--");
    if flags.any(|arg| arg == "--json") {
        Form::Json
    } else {
        Form::Text
    }
}

fn start(command: Command, context: &Context) -> Result<(), Failure> {
    let Context {
        env,
        form,
        stdout,
        stderr,
    } = context;
    match command {
        Command::Completions(args) => completions::run(&args, *form, stdout),
        Command::Explain(args) => explain::run(&args, env, *form, stdout),
        Command::Schedule(args) => schedule::run(&args, env, *form, stdout),
        Command::Sandbox(args) => wait(context, async |interrupt| {
            sandbox::run(&args, *form, stdout, stderr, &interrupt).await
        }),
        Command::Simulate(args) => wait(context, async |interrupt| {
            simulate::run(&args, *form, stdout, stderr, &interrupt).await
        }),
        Command::Chat(args) => wait(context, async |interrupt| {
            chat::run(&args, context, &interrupt).await
        }),
        Command::Ask(args) => wait(context, async |interrupt| {
            ask::run(&args, context, &interrupt).await
        }),
        Command::Models(args) => wait(context, async |interrupt| {
            models::run(&args, context, &interrupt).await
        }),
    }
}

/// Runs work that waits. One thread is enough: there is one call, and it starts sooner.
fn wait(
    context: &Context,
    work: impl AsyncFnOnce(Interrupt) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(format!("cannot start: {error}")))?;
    let (form, stdout, stderr) = (context.form, context.stdout.clone(), context.stderr.clone());
    let stuck = move || {
        report(&Failure::Interrupted, form, &stdout, &stderr);
        std::process::exit(Exit::Interrupted.code().into());
    };
    let done = runtime.block_on(Interrupt::around(work, stuck));
    // A read of standard input cannot be taken back; nobody waits for it.
    runtime.shutdown_background();
    done
}

const LOOSE_WORDS: &str =
    "\n\n  tip: quotes make one prompt of several words: skyl chat 'hi there'\n\nUsage: skyl chat";

const MISSING: &str =
    "a command is missing: chat, ask, models, sandbox, simulate, schedule, explain or completions";

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_form_is_known_even_where_the_arguments_make_no_sense() {
        for (line, expected) in [
            ("skyl chat --json --bogus", Form::Json),
            ("skyl --json", Form::Json),
            ("skyl chat --bogus", Form::Text),
            ("skyl chat -- --json", Form::Text),
        ] {
            assert_eq!(form(&args(line)), expected, "{line}");
        }
    }

    #[test]
    fn a_finding_is_one_line_without_the_usage() {
        let error = Cli::try_parse_from(args("skyl chat --bogus")).unwrap_err();
        let message = message(error.kind(), &error.render().to_string());
        assert_eq!(message, "unexpected argument '--bogus' found");
    }

    #[test]
    fn a_missing_required_argument_is_named_in_the_line() {
        let error = Cli::try_parse_from(args("skyl explain")).unwrap_err();
        let message = message(error.kind(), &error.render().to_string());
        assert!(message.contains("HEADER-VALUE"), "{message}");
    }
}
