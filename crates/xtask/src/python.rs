//! The Python environment of the SDK suites, made once and kept under the target folder.
//!
//! It holds what `sdk/requirements.txt` says and nothing else: a changed line makes a new
//! environment, so that no package of an older one can hide a missing pin.
#![expect(clippy::print_stdout, reason = "says what it installs")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::metadata::Metadata;

/// Where the environment lies and what belongs into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    requirements: PathBuf,
    folder: PathBuf,
}

impl Environment {
    /// The one environment of a workspace.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            requirements: metadata.root.join(REQUIREMENTS),
            folder: metadata.target.join("sdk-venv"),
        }
    }

    /// Its interpreter; there once [`Environment::install`] has passed.
    #[must_use]
    pub fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Installs what is required, unless exactly that is there, and says what it did.
    ///
    /// A machine without Python is given Debian's, where that is possible.
    ///
    /// # Errors
    /// When the requirements are no exact pins, Python is missing, or a command fails.
    pub fn install(&self) -> Result<(), String> {
        let required = fs::read_to_string(&self.requirements)
            .map_err(|e| format!("cannot read {}: {e}", self.requirements.display()))?;
        let pins = pins(&required)?.join(", ");
        if self.holds(&required) {
            println!("   python: found with {pins}");
            return Ok(());
        }
        if !can_make_environments() {
            println!("   python: missing, or without `venv`; installing it");
            // Judged by the next look: another system has no apt-get, another user no right to.
            let _tried = DEBIAN.iter().all(|line| run(&words(line)).is_ok());
            if !can_make_environments() {
                return Err(NO_PYTHON.to_owned());
            }
        }
        println!("   python: installing {pins} and what they need");
        // `--clear`: packages that are required no longer would stay.
        let mut venv = words("python3 -m venv --clear");
        venv.push(self.folder.clone());
        run(&venv)?;
        let mut pip = vec![self.python()];
        pip.extend(words(
            "-m pip install --quiet --disable-pip-version-check --requirement",
        ));
        pip.push(self.requirements.clone());
        run(&pip)?;
        // Last, so that an installation that broke off is done again.
        let mark = self.mark();
        fs::write(&mark, required).map_err(|e| format!("cannot write {}: {e}", mark.display()))?;
        println!("   python: installed under {}", self.folder.display());
        Ok(())
    }

    /// Whether the environment works and was made for these requirements.
    fn holds(&self, required: &str) -> bool {
        let made_for = fs::read_to_string(self.mark());
        // It stops working when the interpreter it was made from is gone.
        made_for.is_ok_and(|made_for| made_for == required)
            && works(&self.python(), "import pytest")
    }

    /// A copy of the requirements it was made for.
    fn mark(&self) -> PathBuf {
        self.folder.join("requirements.txt")
    }
}

/// The lines of a requirements file, without comments.
///
/// # Errors
/// When a line pins no exact version: a suite must say the same on every machine.
pub fn pins(requirements: &str) -> Result<Vec<&str>, String> {
    let lines = requirements.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match without_marker(line).split_once("==") {
            Some((name, version)) if is_exact(name) && is_exact(version) => Ok(line),
            _ => Err(format!("{REQUIREMENTS}: {line:?} is not NAME==VERSION")),
        })
        .collect()
}

/// The pin of a line that is for older Pythons alone: `NAME==VERSION; python_version < "3.14"`.
///
/// Such a package brings what a newer Python has itself, and cannot be installed there.
fn without_marker(line: &str) -> &str {
    line.split_once("; python_version < \"")
        .filter(|(_, version)| version.strip_suffix('"').is_some_and(is_exact))
        .map_or(line, |(pin, _)| pin)
}

fn is_exact(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    !text.is_empty() && text.bytes().all(plain)
}

fn can_make_environments() -> bool {
    // Debian's own Python has `venv` and leaves out the part of it that installs pip.
    works(Path::new("python3"), "import ensurepip, venv")
}

fn works(python: &Path, code: &str) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", code]).stdin(Stdio::null());
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn words(line: &str) -> Vec<PathBuf> {
    line.split(' ').map(PathBuf::from).collect()
}

/// Prints a command and runs it to its end.
fn run(line: &[PathBuf]) -> Result<(), String> {
    let shown: Vec<String> = line.iter().map(|w| w.display().to_string()).collect();
    let shown = shown.join(" ");
    println!("   $ {shown}");
    let [program, arguments @ ..] = line else {
        return Err("an empty command".to_owned());
    };
    let status = Command::new(program)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .status()
        .map_err(|e| format!("cannot run {}: {e}", program.display()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{status}: {shown}"))
    }
}

/// What the suites are tried with, from the root of the workspace.
pub const REQUIREMENTS: &str = "sdk/requirements.txt";

/// Puts Python on a Debian or Ubuntu machine.
const DEBIAN: [&str; 2] = [
    "apt-get update --quiet",
    "apt-get install --quiet --yes --no-install-recommends python3 python3-venv",
];

const NO_PYTHON: &str = "the SDK suites need `python3`, 3.11 or later, with `venv` and `ensurepip`; \
                         install it (on Debian: apt-get install python3 python3-venv)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_versions_are_read_and_comments_are_not() {
        let file = "# why\nopenai==3.57.0\n\n  google-genai==3.6.1rc1\n";
        let pins = pins(file).unwrap();
        assert_eq!(pins, ["openai==3.57.0", "google-genai==3.6.1rc1"]);
    }

    #[test]
    fn anything_looser_is_refused_by_name() {
        for loose in [
            "openai",
            "openai>=3",
            "openai==3.*",
            "openai==3.57.0 # old",
            "openai==",
            "==1",
            "openai[azure]==3.57.0",
            "-r other.txt",
            "zstd==1.8.0; python_version > \"3.14\"",
            "zstd==1.8.0; python_version < \"3.14",
            "zstd; python_version < \"3.14\"",
        ] {
            let error = pins(&format!("pytest==9.2.0\n{loose}\n")).unwrap_err();
            assert!(error.contains(&format!("{loose:?}")), "{error}");
        }
    }

    #[test]
    fn a_pin_may_be_for_older_pythons_alone() {
        let line = "backports.zstd==1.8.0; python_version < \"3.14\"";
        assert_eq!(pins(line).unwrap(), [line]);
    }

    #[test]
    fn it_lies_in_the_target_folder() {
        let metadata = Metadata {
            root: "/w".into(),
            target: "/t".into(),
            ..Metadata::default()
        };
        let environment = Environment::of(&metadata);
        assert_eq!(environment.python(), Path::new("/t/sdk-venv/bin/python"));
        assert_eq!(
            environment.requirements,
            Path::new("/w/sdk/requirements.txt")
        );
    }

    #[test]
    fn an_environment_that_is_not_there_holds_nothing() {
        let environment = Environment {
            requirements: "/nowhere/requirements.txt".into(),
            folder: "/nowhere/venv".into(),
        };
        assert!(!environment.holds(""));
        assert!(environment.install().unwrap_err().contains("/nowhere/"));
    }
}
