//! Set-up and checks: `cargo xtask` lists the commands.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program talks to its user"
)]

use std::{env, process::ExitCode};

use xtask::{
    fuzz, reports, run, setup,
    steps::{self, STEPS, Step},
};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [] | ["help" | "-h" | "--help"] => {
            println!("{}", help());
            Ok(())
        }
        ["setup"] => run::metadata().and_then(|m| setup::install(&setup::all(STEPS), &m)),
        ["reports"] => run::metadata().and_then(|m| reports::write(&m.root)),
        ["test", names @ ..] => select(names).and_then(|steps| run::run(&steps)),
        ["soak", words @ ..] => {
            run::metadata().and_then(|m| run::commands(&[steps::soak(words)], &m.root))
        }
        ["figures"] => run::metadata().and_then(|m| run::commands(&steps::figures(), &m.root)),
        ["fuzz", words @ ..] => fuzz::Session::read(words).and_then(|session| {
            let root = run::metadata()?.root;
            run::commands(&session.commands(&root)?, &root)
        }),
        [other, ..] => Err(format!(
            "cannot read `{}`: {other:?} is not a command here; `cargo xtask` lists them",
            words.join(" ")
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The named steps in the order of the table, each once; all of them when none is named.
fn select(names: &[&str]) -> Result<Vec<&'static Step>, String> {
    if let Some(unknown) = names.iter().find(|n| STEPS.iter().all(|s| s.name != **n)) {
        let known: Vec<&str> = STEPS.iter().map(|s| s.name).collect();
        return Err(format!(
            "there is no step {unknown:?}; the steps are {}",
            known.join(", ")
        ));
    }
    let wanted = |step: &&Step| names.is_empty() || names.contains(&step.name);
    Ok(STEPS.iter().filter(wanted).collect())
}

fn help() -> String {
    let mut lines = COMMANDS.map(str::to_owned).to_vec();
    lines.extend(
        STEPS
            .iter()
            .map(|step| format!("  {:<12}{}", step.name, step.about)),
    );
    lines.join("\n")
}

const COMMANDS: [&str; 14] = [
    "Set-up and checks of this workspace.",
    "",
    "cargo xtask                 list the commands",
    "cargo xtask test            install what the steps need, then run them all",
    "cargo xtask test STEP...    run single steps",
    "cargo xtask setup           install what the steps need, run nothing",
    "cargo xtask soak [--calls N] [--seed S]",
    "                            hold the client's records to the sandbox's, over many failing calls",
    "cargo xtask reports         make the page of bug reports from its rows",
    "cargo xtask figures         measure everything beside its peers and write the page of figures",
    "cargo xtask fuzz TARGET [--seconds N]",
    "                            look for inputs that break a parser, with libFuzzer",
    "",
    "Steps, in order:",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn names(steps: &[&Step]) -> Vec<&'static str> {
        steps.iter().map(|s| s.name).collect()
    }

    #[test]
    fn no_name_selects_every_step() {
        assert_eq!(select(&[]).unwrap().len(), STEPS.len());
    }

    #[test]
    fn named_steps_run_once_and_in_the_order_of_the_table() {
        assert_eq!(
            names(&select(&["test", "fmt", "test"]).unwrap()),
            ["fmt", "test"]
        );
    }

    #[test]
    fn an_unknown_step_is_refused_with_the_names_that_exist() {
        let error = select(&["fmt", "fmtt"]).unwrap_err();
        assert!(
            error.contains("\"fmtt\"") && error.contains("licences"),
            "{error}"
        );
    }

    #[test]
    fn the_help_has_one_line_for_each_step() {
        let help = help();
        for step in STEPS {
            let lines = help.lines().filter(|l| l.contains(step.about)).count();
            assert_eq!(lines, 1, "{}", step.name);
        }
    }
}
