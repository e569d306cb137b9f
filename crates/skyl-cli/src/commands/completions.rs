//! `skyl completions`: what a shell needs to complete commands and flags.

use clap::CommandFactory;
use serde::Serialize;

use crate::args::{Cli, CompletionsArgs};
use crate::failure::Failure;
use crate::stdout::{Form, Stdout};

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs, form: Form, stdout: &Stdout) -> Result<(), Failure> {
    // Written to memory first: the generator takes a writer that fails for a bug of its own.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "skyl", &mut script);
    let script = String::from_utf8(script)
        .map_err(|error| Failure::internal(format!("the script is no text: {error}")))?;
    match form {
        Form::Text => stdout.text(&script),
        Form::Json => stdout.object(&CompletionsObject {
            shell: args.shell.to_string(),
            script: &script,
        }),
    }
}

/// The one object of the command.
#[derive(Debug, Serialize)]
struct CompletionsObject<'a> {
    shell: String,
    script: &'a str,
}
