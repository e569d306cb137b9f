//! Fuzzing: the short run in the gate, and libFuzzer on demand.
//!
//! `fuzz/` is a workspace of its own, so the gate's other steps do not see it: its formatting and
//! its lints are looked at here. libFuzzer runs on the stable toolchain: what `cargo fuzz` asks of a
//! nightly one is a handful of LLVM flags, passed here through `RUSTFLAGS` with the host named as the
//! target, so that build scripts and macros, which run during the build, are left as they are.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::steps::{Invocation, Program, Tests};

/// The short run: every target over its corpus and seeded mutations of it.
#[must_use]
pub fn quick() -> Vec<Invocation> {
    let in_fuzz = |subcommand: &str, rest: &str| {
        Invocation::new(&format!("{subcommand} {MANIFEST} {QUICK} {rest}"))
    };
    vec![
        Invocation::new("fmt --manifest-path fuzz/Cargo.toml --check"),
        in_fuzz("clippy", "--lib --bins --tests -- -D warnings"),
        Invocation {
            tests: Tests::Required,
            ..in_fuzz("test", "--lib")
        },
        in_fuzz("build", "--bin quick"),
        in_fuzz("run", "--bin quick"),
    ]
}

/// One target under libFuzzer for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    target: String,
    seconds: u32,
}

impl Session {
    /// Reads `TARGET [--seconds N]`; a minute if no time is given.
    ///
    /// # Errors
    /// When the words are anything else.
    pub fn read(words: &[&str]) -> Result<Self, String> {
        let (target, seconds) = match words {
            [target] => (*target, 60),
            [target, "--seconds", number] => {
                let seconds = number.parse().ok().filter(|n| 0 < *n);
                let why = format!("--seconds needs a whole number above 0, not {number:?}");
                (*target, seconds.ok_or(why)?)
            }
            _ => return Err("fuzz takes TARGET [--seconds N]".to_owned()),
        };
        Ok(Self {
            target: target.to_owned(),
            seconds,
        })
    }

    /// The commands that build and run it; makes the folders libFuzzer writes to.
    ///
    /// # Errors
    /// When there is no such target, or the host cannot be found out.
    pub fn commands(&self, root: &Path) -> Result<Vec<Invocation>, String> {
        let known = targets(root)?;
        if !known.contains(&self.target) {
            return Err(format!(
                "there is no target {:?}; the targets are {}",
                self.target,
                known.join(", ")
            ));
        }
        for folder in [FOUND, BROKEN] {
            let folder = root.join(folder).join(&self.target);
            fs::create_dir_all(&folder)
                .map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
        }
        Ok(self.commands_on(&host()?))
    }

    fn commands_on(&self, host: &str) -> Vec<Invocation> {
        let Self { target, seconds } = self;
        let build = format!(
            "build {MANIFEST} --release --locked --target-dir target/libfuzzer --target {host} \
             --features libfuzzer --bin libfuzzer"
        );
        // New inputs go to the first folder. The limits keep a bad input from taking the machine
        // with it: 1 GiB of memory, ten seconds.
        let run = format!(
            "{FOUND}/{target} fuzz/corpus/{target} -max_total_time={seconds} \
             -rss_limit_mb=1024 -timeout=10 -max_len=16384 -print_final_stats=1 \
             -artifact_prefix={BROKEN}/{target}/"
        );
        let program = format!("target/libfuzzer/{host}/release/libfuzzer");
        vec![
            Invocation::new(&build).with_variable("RUSTFLAGS", COVERAGE),
            Invocation {
                program: Program::At(program.into()),
                ..Invocation::new(&run).with_variable("SKYL_FUZZ_TARGET", target)
            },
        ]
    }
}

/// The targets that have a corpus.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("fuzz/corpus");
    let unreadable = |e| format!("cannot read {}: {e}", folder.display());
    let mut names = fs::read_dir(&folder)
        .map_err(unreadable)?
        .map(|entry| entry.map(|e| e.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(unreadable)?;
    names.sort();
    Ok(names)
}

/// The triple of this machine, as rustc has it.
fn host() -> Result<String, String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot run rustc: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

const MANIFEST: &str = "--manifest-path fuzz/Cargo.toml";

// Release, since a debug build tries a tenth of the inputs; its profile keeps the overflow checks.
const QUICK: &str = "--release --target-dir target/fuzz";

/// Inputs that reached something new.
const FOUND: &str = "target/fuzz/found";

/// Inputs that broke something.
const BROKEN: &str = "target/fuzz/broken";

/// Counters on every edge, their place in the code, and the operands of comparisons.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

#[cfg(test)]
mod tests {
    use super::*;

    fn session(target: &str, seconds: u32) -> Session {
        Session {
            target: target.to_owned(),
            seconds,
        }
    }

    #[test]
    fn a_session_lasts_a_minute_unless_told_otherwise() {
        assert_eq!(Session::read(&["sse"]), Ok(session("sse", 60)));
        assert_eq!(
            Session::read(&["sse", "--seconds", "5"]),
            Ok(session("sse", 5))
        );
    }

    #[test]
    fn a_session_without_target_or_time_is_refused() {
        for words in [
            &[][..],
            &["sse", "--seconds"],
            &["sse", "--seconds", "0"],
            &["sse", "--seconds", "-1"],
            &["sse", "lines"],
        ] {
            assert!(Session::read(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn libfuzzer_is_held_to_limits_and_writes_under_target() {
        let commands = session("sse", 5).commands_on("x86_64-unknown-linux-gnu");
        let lines: Vec<String> = commands.iter().map(ToString::to_string).collect();
        assert!(lines[0].starts_with("RUSTFLAGS=\"-Cpasses=sancov-module "));
        assert!(lines[0].contains(" --target x86_64-unknown-linux-gnu "));
        assert!(lines[1].starts_with("SKYL_FUZZ_TARGET=\"sse\" target/libfuzzer/"));
        for limit in [
            " -rss_limit_mb=1024 ",
            " -timeout=10 ",
            " -max_total_time=5 ",
            " -artifact_prefix=target/fuzz/broken/sse/",
        ] {
            assert!(lines[1].contains(limit), "{limit}: {}", lines[1]);
        }
    }

    #[test]
    fn the_short_run_is_built_before_it_is_timed() {
        let lines: Vec<String> = quick().iter().map(ToString::to_string).collect();
        let [.., build, run] = lines.as_slice() else {
            panic!("two commands")
        };
        assert!(build.starts_with("cargo build --manifest-path fuzz/Cargo.toml "));
        assert_eq!(run.replace("cargo run", "cargo build"), *build);
    }
}
