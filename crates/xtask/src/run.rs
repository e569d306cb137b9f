//! Runs steps one after the other, and says what it runs and how long it took.
#![expect(
    clippy::print_stdout,
    reason = "the commands and times are what it is for"
)]

use std::{
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use crate::{
    metadata::{Metadata, Reach, cargo},
    setup,
    steps::{Invocation, Program, Step, Tests, Work},
};

/// Installs what the steps need, then runs them in order up to the first failure.
///
/// Prints each step's name, its commands and its time, and at the end a table of all.
///
/// # Errors
/// When something cannot be installed or a step fails; the text says what to run again.
pub fn run(steps: &[&Step]) -> Result<(), String> {
    let metadata = metadata()?;

    let needs = setup::all(steps.iter().copied());
    if !needs.is_empty() {
        println!("== setup: what the steps need");
        setup::install(&needs, &metadata)?;
    }

    let mut rows = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        println!("\n== {}: {}", step.name, step.about);
        let mut spent = Spent::default();
        let outcome = perform(step, &metadata, &mut spent);
        println!("   {}: {}", step.name, shown(spent.total()));
        let passed = outcome.is_ok();
        rows.push(Row {
            name: step.name,
            end: if passed { End::Passed } else { End::Failed },
            spent,
        });
        if let Err(failure) = outcome {
            let later = steps.iter().skip(index.saturating_add(1));
            rows.extend(later.map(|s| Row {
                name: s.name,
                end: End::NotRun,
                spent: Spent::default(),
            }));
            println!("\n{}\n", table(&rows));
            return Err(failure.report(step.name));
        }
    }
    println!("\n{}\n\n{}", table(&rows), closing_line(&rows));
    Ok(())
}

/// Runs commands outside of any step, printing each; the first that fails ends it.
///
/// # Errors
/// When one fails; the text repeats it.
pub fn commands(invocations: &[Invocation], root: &Path) -> Result<(), String> {
    for invocation in invocations {
        println!("$ {invocation}");
        invoke(invocation, root).map_err(|why| format!("{invocation}: {why}"))?;
    }
    Ok(())
}

/// Reads the workspace one stands in.
///
/// # Errors
/// When there is none, or cargo cannot read it.
pub fn metadata() -> Result<Metadata, String> {
    let here = env::current_dir().map_err(|e| format!("no working folder: {e}"))?;
    Metadata::load(&here, Reach::Members)
}

/// Time, by what it was spent on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Spent {
    building: Duration,
    testing: Duration,
}

impl Spent {
    fn total(self) -> Duration {
        self.building.saturating_add(self.testing)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            building: self.building.saturating_add(other.building),
            testing: self.testing.saturating_add(other.testing),
        }
    }
}

/// One line of the table at the end.
#[derive(Debug, Clone, Copy)]
struct Row {
    name: &'static str,
    end: End,
    spent: Spent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    /// An earlier step failed.
    NotRun,
}

/// Why a step ended, and the command to repeat if it was one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Failure {
    why: String,
    command: Option<String>,
}

impl Failure {
    fn report(&self, step: &str) -> String {
        let alone = self.command.as_ref();
        let alone = alone.map_or_else(String::new, |c| format!("\n  its command alone: {c}"));
        format!(
            "step {step} failed: {}\n  run it again:      cargo xtask test {step}{alone}",
            self.why
        )
    }
}

fn perform(step: &Step, metadata: &Metadata, spent: &mut Spent) -> Result<(), Failure> {
    match step.work {
        Work::Commands(commands) => {
            for invocation in commands(metadata) {
                println!("   $ {invocation}");
                let start = now();
                let outcome = invoke(&invocation, &metadata.root);
                let taken = start.elapsed();
                let part = if invocation.runs_tests() {
                    &mut spent.testing
                } else {
                    &mut spent.building
                };
                *part = part.saturating_add(taken);
                outcome.map_err(|why| Failure {
                    why,
                    command: Some(invocation.to_string()),
                })?;
            }
            Ok(())
        }
        Work::Check { reads, check } => {
            for invocation in reads() {
                println!("   $ {invocation}");
            }
            let start = now();
            let problems = check(&metadata.root);
            spent.testing = start.elapsed();
            let problems = problems.map_err(|why| Failure { why, command: None })?;
            for problem in &problems {
                println!("   - {problem}");
            }
            match problems.len() {
                0 => Ok(()),
                1 => Err(Failure {
                    why: "one problem, named above".to_owned(),
                    command: None,
                }),
                n => Err(Failure {
                    why: format!("{n} problems, named above"),
                    command: None,
                }),
            }
        }
    }
}

fn invoke(invocation: &Invocation, root: &Path) -> Result<(), String> {
    let (mut command, name) = match &invocation.program {
        Program::Cargo => (cargo(root), "cargo".to_owned()),
        Program::At(path) => (Command::new(path), path.display().to_string()),
    };
    command
        .current_dir(root)
        .args(&invocation.arguments)
        .envs(invocation.variable.clone());
    let cannot_run = |e: std::io::Error| format!("cannot run {name}: {e}");
    if invocation.tests == Tests::Optional {
        return judge(command.status().map_err(cannot_run)?);
    }

    let mut child = command.stdout(Stdio::piped()).spawn().map_err(cannot_run)?;
    let mut passed = 0_u64;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(|e| format!("cannot read what {name} prints: {e}"))?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            passed = passed.saturating_add(tests_passed(&line));
        }
    }
    judge(child.wait().map_err(cannot_run)?)?;
    if passed == 0 {
        return Err("no test ran, so nothing was shown".to_owned());
    }
    Ok(())
}

fn judge(status: ExitStatus) -> Result<(), String> {
    if status.success() {
        Ok(())
    } else {
        Err(status.to_string())
    }
}

/// The number in `test result: ok. 3 passed; …`, the line that ends each test program.
fn tests_passed(line: &str) -> u64 {
    let summary = line.strip_prefix("test result: ok. ");
    let number = summary.and_then(|s| s.split(' ').next());
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn table(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let time = shown(row.spent.total());
        match row.end {
            End::Passed => format!("{:<12}{time:>9}", row.name),
            End::Failed => format!("{:<12}{time:>9}  FAILED", row.name),
            End::NotRun => format!("{:<12}{:>9}  not run", row.name, "-"),
        }
    };
    let mut lines = vec![format!("{:<12}{:>9}", "step", "time")];
    lines.extend(rows.iter().map(line));
    lines.join("\n")
}

fn closing_line(rows: &[Row]) -> String {
    let spent = rows
        .iter()
        .fold(Spent::default(), |sum, row| sum.plus(row.spent));
    let steps = if rows.len() == 1 {
        "The step"
    } else {
        "All steps"
    };
    let passed = format!(
        "{steps} passed in {}: builds {}, tests and checks {}.",
        shown(spent.total()),
        shown(spent.building),
        shown(spent.testing)
    );
    [
        passed,
        slow("Builds", spent.building, BUILD_LIMIT),
        slow("Tests and checks", spent.testing, TEST_LIMIT),
    ]
    .concat()
}

fn slow(what: &str, taken: Duration, limit: Duration) -> String {
    if taken <= limit {
        return String::new();
    }
    format!(
        " {what} took longer than the {} meant for two cores.",
        shown(limit)
    )
}

fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        format!("{:.1}s", time.as_secs_f64())
    } else {
        format!("{}m {:02}s", seconds / 60, seconds % 60)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program that times real commands"
)]
fn now() -> Instant {
    Instant::now()
}

/// What a cold build may take on two cores. Said when passed, no failure: machines differ.
const BUILD_LIMIT: Duration = Duration::from_secs(12 * 60);

/// What all tests may take on two cores.
const TEST_LIMIT: Duration = Duration::from_secs(6 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, building: u64, testing: u64) -> Row {
        let spent = Spent {
            building: Duration::from_secs(building),
            testing: Duration::from_secs(testing),
        };
        Row {
            name,
            end: End::Passed,
            spent,
        }
    }

    #[test]
    fn times_read_naturally() {
        assert_eq!(shown(Duration::ZERO), "0.0s");
        assert_eq!(shown(Duration::from_millis(12_340)), "12.3s");
        assert_eq!(shown(Duration::from_secs(62)), "1m 02s");
        assert_eq!(shown(Duration::from_secs(4_000)), "66m 40s");
    }

    #[test]
    fn the_table_has_a_line_per_step_and_marks_the_failure() {
        let failed = Row {
            end: End::Failed,
            ..row("clippy", 62, 0)
        };
        let not_run = Row {
            end: End::NotRun,
            ..row("test", 0, 0)
        };
        assert_eq!(
            table(&[row("fmt", 1, 0), failed, not_run]),
            "step             time\n\
             fmt              1.0s\n\
             clippy         1m 02s  FAILED\n\
             test                -  not run"
        );
    }

    #[test]
    fn the_closing_line_parts_builds_from_tests() {
        assert_eq!(
            closing_line(&[row("build", 60, 0), row("test", 0, 30)]),
            "All steps passed in 1m 30s: builds 1m 00s, tests and checks 30.0s."
        );
    }

    #[test]
    fn a_slow_run_is_said_but_passes() {
        let line = closing_line(&[row("build", 721, 0)]);
        assert!(
            line.ends_with(" Builds took longer than the 12m 00s meant for two cores."),
            "{line}"
        );
        let line = closing_line(&[row("test", 0, 361)]);
        assert!(
            line.contains("Tests and checks took longer than the 6m 00s"),
            "{line}"
        );
    }

    #[test]
    fn a_failure_says_what_to_run_again() {
        let why = "exit status: 101".to_owned();
        let command = Some("cargo fmt --all --check".to_owned());
        assert_eq!(
            Failure { why, command }.report("fmt"),
            "step fmt failed: exit status: 101\n  \
             run it again:      cargo xtask test fmt\n  \
             its command alone: cargo fmt --all --check"
        );
    }

    #[test]
    fn passed_tests_are_counted_from_the_last_line_alone() {
        assert_eq!(
            tests_passed("test result: ok. 3 passed; 0 failed; 1 ignored"),
            3
        );
        assert_eq!(tests_passed("test result: ok. 0 passed; 0 failed"), 0);
        assert_eq!(tests_passed("test result: FAILED. 3 passed; 1 failed"), 0);
        assert_eq!(tests_passed("test loom_budget ... ok"), 0);
    }
}
