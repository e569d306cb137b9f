//! The steps of `cargo xtask test`, in the order in which they run.
//!
//! What fails soonest comes first. A step is a few commands or one check of this crate; a new one is
//! a row of [`STEPS`] and the function it names.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use crate::{
    duplicates, fuzz, layout, licences,
    metadata::{Metadata, Package, Reach},
    python::Environment,
    reports,
    setup::Need,
    sources, trees,
};

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The word that selects it on the command line.
    pub name: &'static str,
    /// What it holds, in one line.
    pub about: &'static str,
    /// What must be installed before.
    pub needs: &'static [Need],
    /// What it does.
    pub work: Work,
}

/// What a step does.
#[derive(Debug, Clone, Copy)]
pub enum Work {
    /// Runs commands; the first that fails ends the step.
    Commands(fn(&Metadata) -> Vec<Invocation>),
    /// Asks a function of this crate for problems; none means that it passed.
    Check {
        /// The commands whose output it reads, to print.
        reads: fn() -> Vec<Invocation>,
        /// The check, given the root of the workspace.
        check: fn(&Path) -> Result<Vec<String>, String>,
    },
}

/// One call of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What is started, at the root of the workspace.
    pub program: Program,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// A variable set for it alone.
    pub variable: Option<(&'static str, String)>,
    /// Whether a run in which no test ran is a failure.
    pub tests: Tests,
}

/// What an invocation starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// The cargo that runs us, if one does.
    Cargo,
    /// A program by its path.
    At(PathBuf),
}

/// Whether a run without tests fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tests {
    /// The command filters tests by name, and a filter that fits none would pass for ever.
    Required,
    /// The command need not run a test.
    Optional,
}

impl Invocation {
    pub(crate) fn new(arguments: &str) -> Self {
        Self {
            program: Program::Cargo,
            arguments: arguments.split(' ').map(str::to_owned).collect(),
            variable: None,
            tests: Tests::Optional,
        }
    }

    pub(crate) fn with_variable(self, name: &'static str, value: impl Into<String>) -> Self {
        Self {
            variable: Some((name, value.into())),
            ..self
        }
    }

    /// Whether its time counts as running tests, not as building.
    #[must_use]
    pub fn runs_tests(&self) -> bool {
        if self.program != Program::Cargo {
            return true;
        }
        let subcommand = self.arguments.first().map(String::as_str);
        let builds_only = self.arguments.iter().any(|a| a == "--no-run");
        matches!(subcommand, Some("test" | "run")) && !builds_only
    }
}

impl fmt::Display for Invocation {
    /// Writes the command as one would type it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, value)) = &self.variable {
            write!(f, "{name}=\"{value}\" ")?;
        }
        match &self.program {
            Program::Cargo => f.write_str("cargo")?,
            Program::At(path) => write!(f, "{}", path.display())?,
        }
        write!(f, " {}", self.arguments.join(" "))
    }
}

fn fmt_check(_: &Metadata) -> Vec<Invocation> {
    vec![Invocation::new("fmt --all --check")]
}

fn clippy(_: &Metadata) -> Vec<Invocation> {
    vec![Invocation::new(
        "clippy --workspace --all-targets --all-features -- -D warnings",
    )]
}

/// Each library with no feature, with each alone and with all; each crate's tests as one types
/// `cargo test -p` for it. One crate at a time: a workspace build would unite their features.
fn features(metadata: &Metadata) -> Vec<Invocation> {
    let of_ours = metadata
        .members()
        .filter(|m| !layout::FREE.contains(&m.name.as_str()));
    of_ours.flat_map(combinations).collect()
}

fn combinations(package: &Package) -> Vec<Invocation> {
    let clippy = |flags: &str| {
        Invocation::new(&format!(
            "clippy -p {} {flags} -- -D warnings",
            package.name
        ))
    };
    let mut all = vec![clippy("--all-targets")];
    let features: Vec<&str> = package
        .features
        .iter()
        .map(String::as_str)
        .filter(|f| *f != "default")
        .collect();
    if !package.library {
        return all;
    }
    all.push(clippy("--lib --no-default-features"));
    for feature in &features {
        all.push(clippy(&format!(
            "--lib --no-default-features --features {feature}"
        )));
    }
    // With one feature, that one alone is all of them.
    if 1 < features.len() {
        all.push(clippy("--lib --all-features"));
    }
    all
}

fn build(_: &Metadata) -> Vec<Invocation> {
    vec![Invocation::new(&format!("test {TEST_TARGETS} --no-run"))]
}

fn test(_: &Metadata) -> Vec<Invocation> {
    vec![Invocation::new(&format!(
        "test {TEST_TARGETS} --no-fail-fast"
    ))]
}

/// The program is among what [`build`] builds, with the same features, so that in the whole gate
/// nothing is built a second time.
fn sdk(metadata: &Metadata) -> Vec<Invocation> {
    let mut commands = build(metadata);
    let pytest = Invocation {
        program: Program::At(Environment::of(metadata).python()),
        ..Invocation::new("-m pytest -q sdk")
    };
    let program = metadata.target.join("debug/skyl").display().to_string();
    commands.push(pytest.with_variable("SKYL_BIN", program));
    commands
}

fn doctest(_: &Metadata) -> Vec<Invocation> {
    vec![Invocation::new(
        "test --workspace --exclude bench --all-features --doc --no-fail-fast",
    )]
}

/// Libraries alone: the program and the client are both called `skyl`, and rustdoc would write both
/// into one folder at the same time.
fn docs(_: &Metadata) -> Vec<Invocation> {
    let doc = Invocation::new("doc --workspace --exclude bench --lib --no-deps --all-features");
    vec![doc.with_variable("RUSTDOCFLAGS", "-D warnings")]
}

/// Models run in release: loom walks every interleaving. They have a folder of their own, since
/// the flag would make cargo build everything else again.
fn loom(_: &Metadata) -> Vec<Invocation> {
    let command = "test -p skyl-retry --release --lib --target-dir target/loom";
    let build = Invocation::new(&format!("{command} --no-run"));
    let run = Invocation {
        tests: Tests::Required,
        ..Invocation::new(&format!("{command} loom_"))
    };
    [build, run]
        .map(|i| i.with_variable("RUSTFLAGS", "--cfg loom"))
        .into()
}

/// Not in release: this asks whether the measurements run, and judges no figure.
fn bench(_: &Metadata) -> Vec<Invocation> {
    vec![Invocation::new("run -p bench -- --smoke")]
}

/// The soak on demand; in the gate it is among the tests, with figures of its own. In release: it is
/// asked for by the hundred thousand.
#[must_use]
pub fn soak(words: &[&str]) -> Invocation {
    let mut command = Invocation::new("test -p skyl --release --test soak --");
    command
        .arguments
        .extend(words.iter().map(|word| (*word).to_owned()));
    command
}

/// The page of figures: a build that counts allocations, then one that takes times.
#[must_use]
pub fn figures() -> [Invocation; 2] {
    let counted = "target/allocations.md";
    [
        format!(
            "run --release -p bench --features peers,allocations -- \
             engine sse complete stream --page {counted}"
        ),
        format!(
            "run --release -p bench --features peers -- \
             --counts {counted} --page docs/figures.md"
        ),
    ]
    .map(|command| Invocation::new(&command))
}

fn layout_check(root: &Path) -> Result<Vec<String>, String> {
    layout::check(&Metadata::load(root, Reach::Members)?)
}

fn licences_check(root: &Path) -> Result<Vec<String>, String> {
    Ok(licences::problems(&Metadata::load(
        root,
        Reach::Everything,
    )?))
}

fn duplicates_check(root: &Path) -> Result<Vec<String>, String> {
    Ok(duplicates::problems(&Metadata::load(
        root,
        Reach::Everything,
    )?))
}

fn reads(reach: Reach) -> Vec<Invocation> {
    vec![Invocation::new(&reach.arguments().join(" "))]
}

// Examples are built with the tests: people copy them first. `bench` is left out: it has no tests,
// and the peers it measures against would take minutes to build and turn on features of shared
// packages that nothing else has.
const TEST_TARGETS: &str =
    "--workspace --exclude bench --all-features --lib --bins --tests --examples";

/// Everything the gate holds.
pub const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        about: "the code is formatted",
        needs: &[Need::Rustfmt],
        work: Work::Commands(fmt_check),
    },
    Step {
        name: "layout",
        about: "arrows between crates run down; folders, paths and lints are as agreed",
        needs: &[],
        work: Work::Check {
            reads: || reads(Reach::Members),
            check: layout_check,
        },
    },
    Step {
        name: "sources",
        about: "no file is too long, no work is marked as left undone",
        needs: &[],
        work: Work::Check {
            reads: Vec::new,
            check: sources::check,
        },
    },
    Step {
        name: "reports",
        about: "every bug report in the table has a test that exists, or a reason",
        needs: &[],
        work: Work::Check {
            reads: Vec::new,
            check: reports::check,
        },
    },
    Step {
        name: "licences",
        about: "every package may be used under the allowed licences",
        needs: &[],
        work: Work::Check {
            reads: || reads(Reach::Everything),
            check: licences_check,
        },
    },
    Step {
        name: "duplicates",
        about: "no package has two versions without a reason",
        needs: &[],
        work: Work::Check {
            reads: || reads(Reach::Everything),
            check: duplicates_check,
        },
    },
    Step {
        name: "trees",
        about: "a dependency on skyl or skyl-retry stays small",
        needs: &[],
        work: Work::Check {
            reads: || {
                trees::LIMITS
                    .iter()
                    .map(|l| Invocation::new(&l.arguments().join(" ")))
                    .collect()
            },
            check: trees::check,
        },
    },
    Step {
        name: "clippy",
        about: "no lint fires, on any target, with all features",
        needs: &[Need::Clippy],
        work: Work::Commands(clippy),
    },
    Step {
        name: "features",
        about: "each library stands with no feature, each one alone, and all",
        needs: &[Need::Clippy],
        work: Work::Commands(features),
    },
    Step {
        name: "build",
        about: "tests, examples and programs build",
        needs: &[],
        work: Work::Commands(build),
    },
    Step {
        name: "test",
        about: "unit and integration tests pass",
        needs: &[],
        work: Work::Commands(test),
    },
    Step {
        name: "sdk",
        about: "the vendors' own SDKs work and fail against the sandbox as they should",
        needs: &[Need::Sdks],
        work: Work::Commands(sdk),
    },
    Step {
        name: "doctest",
        about: "the code in the documentation runs",
        needs: &[],
        work: Work::Commands(doctest),
    },
    Step {
        name: "docs",
        about: "the documentation builds without a warning",
        needs: &[],
        work: Work::Commands(docs),
    },
    Step {
        name: "loom",
        about: "the lock-free parts hold in every interleaving",
        needs: &[],
        work: Work::Commands(loom),
    },
    Step {
        name: "fuzz",
        about: "no parser breaks on its corpus or on two seconds of mutations of it",
        needs: &[Need::Rustfmt, Need::Clippy],
        work: Work::Commands(|_| fuzz::quick()),
    },
    Step {
        name: "bench",
        about: "the measurements run, once and briefly",
        needs: &[],
        work: Work::Commands(bench),
    },
];

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::PathBuf};

    use super::*;

    fn package(name: &str, library: bool, features: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            folder: PathBuf::new(),
            licence: None,
            member: true,
            library,
            features: features.iter().map(|f| (*f).to_owned()).collect(),
            dependencies: Vec::new(),
        }
    }

    fn flags(package: &Package) -> Vec<String> {
        let strip = |i: Invocation| {
            let text = i.to_string();
            let text = text.strip_prefix("cargo clippy -p a ").unwrap();
            text.strip_suffix(" -- -D warnings").unwrap().to_owned()
        };
        combinations(package).into_iter().map(strip).collect()
    }

    #[test]
    fn a_library_is_checked_with_none_each_and_all_of_its_features() {
        assert_eq!(
            flags(&package("a", true, &["default", "tokio", "tower"])),
            [
                "--all-targets",
                "--lib --no-default-features",
                "--lib --no-default-features --features tokio",
                "--lib --no-default-features --features tower",
                "--lib --all-features",
            ]
        );
    }

    #[test]
    fn no_combination_is_checked_twice() {
        assert_eq!(flags(&package("a", true, &[])).len(), 2);
        assert_eq!(flags(&package("a", true, &["tokio"])).len(), 3);
        assert_eq!(flags(&package("a", false, &["tokio"])), ["--all-targets"]);
    }

    #[test]
    fn measurements_and_checks_have_no_combinations() {
        let packages = vec![package("bench", true, &[]), package("xtask", true, &[])];
        assert_eq!(
            features(&Metadata {
                packages,
                ..Metadata::default()
            }),
            []
        );
    }

    #[test]
    fn a_command_is_printed_as_it_would_be_typed() {
        let lines: Vec<String> = loom(&Metadata::default())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            lines[1],
            "RUSTFLAGS=\"--cfg loom\" cargo test -p skyl-retry --release --lib \
             --target-dir target/loom loom_"
        );
    }

    #[test]
    fn figures_are_counted_before_they_are_timed() {
        let [counted, timed] = figures().map(|command| command.to_string());
        assert!(counted.contains("allocations") && counted.contains("target/allocations.md"));
        assert!(timed.contains("--counts target/allocations.md --page docs/figures.md"));
    }

    #[test]
    fn the_soak_is_given_what_was_asked() {
        assert_eq!(
            soak(&["--calls", "5"]).to_string(),
            "cargo test -p skyl --release --test soak -- --calls 5"
        );
    }

    #[test]
    fn the_suites_are_given_the_program_that_was_built() {
        let metadata = Metadata {
            target: "/t".into(),
            ..Metadata::default()
        };
        let lines: Vec<String> = sdk(&metadata).iter().map(ToString::to_string).collect();
        assert_eq!(lines[0], build(&metadata)[0].to_string());
        assert_eq!(
            lines[1],
            "SKYL_BIN=\"/t/debug/skyl\" /t/sdk-venv/bin/python -m pytest -q sdk"
        );
    }

    #[test]
    fn building_tests_does_not_count_as_running_them() {
        assert!(Invocation::new("test --workspace").runs_tests());
        assert!(Invocation::new("run -p bench").runs_tests());
        let [.., suites] = &sdk(&Metadata::default())[..] else {
            panic!("a command")
        };
        assert!(suites.runs_tests());
        assert!(!Invocation::new("test --no-run").runs_tests());
        assert!(!Invocation::new("clippy --tests").runs_tests());
    }

    #[test]
    fn names_are_single_words_and_unique() {
        let names: BTreeSet<&str> = STEPS.iter().map(|s| s.name).collect();
        assert_eq!(names.len(), STEPS.len());
        assert!(
            names
                .iter()
                .all(|n| n.bytes().all(|b| b.is_ascii_lowercase())),
            "{names:?}"
        );
    }
}
