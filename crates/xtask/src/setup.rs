//! What the steps need on a machine, and how it gets there.
//!
//! Only parts of the Rust toolchain so far. Anything a later step brings along, such as a Python
//! environment, belongs under `target/`, so that `cargo clean` removes it.
#![expect(clippy::print_stdout, reason = "says what it installs")]

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::{metadata::cargo, steps::Step};

/// A part of the toolchain that a step runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// `cargo fmt`.
    Rustfmt,
    /// `cargo clippy`.
    Clippy,
}

/// What the given steps need, each once.
pub fn all<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Vec<Need> {
    let mut needs = Vec::new();
    for need in steps.into_iter().flat_map(|s| s.needs) {
        if !needs.contains(need) {
            needs.push(*need);
        }
    }
    needs
}

/// Installs what is missing, and says for each need what it found or did.
///
/// # Errors
/// When something is missing and cannot be installed.
pub fn install(needs: &[Need]) -> Result<(), String> {
    for need in needs {
        let component = need.component();
        if need.is_here() {
            println!("   {component}: found");
            continue;
        }
        println!("   {component}: missing, installing it");
        println!("   $ rustup component add {component}");
        let added = Command::new("rustup")
            .args(["component", "add", component])
            .status();
        if !added.is_ok_and(|status| status.success()) || !need.is_here() {
            return Err(format!(
                "{component} is missing and rustup could not add it; \
                 install it with whatever installed Rust here"
            ));
        }
        println!("   {component}: installed");
    }
    Ok(())
}

impl Need {
    fn component(self) -> &'static str {
        match self {
            Self::Rustfmt => "rustfmt",
            Self::Clippy => "clippy",
        }
    }

    fn is_here(self) -> bool {
        let subcommand = match self {
            Self::Rustfmt => "fmt",
            Self::Clippy => "clippy",
        };
        // A toolchain without the part still has rustup's stand-in, which fails when it is run.
        cargo(Path::new("."))
            .args([subcommand, "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::STEPS;

    #[test]
    fn needs_are_gathered_once() {
        assert_eq!(all(STEPS), [Need::Rustfmt, Need::Clippy]);
    }

    #[test]
    fn a_step_without_needs_asks_for_nothing() {
        let layout = STEPS.iter().filter(|s| s.name == "layout");
        assert_eq!(all(layout), []);
    }
}
