//! What the steps need on a machine, and how it gets there.
//!
//! Parts of the Rust toolchain come from rustup. What else a step brings along lies under `target/`,
//! so that `cargo clean` removes it.
#![expect(clippy::print_stdout, reason = "says what it installs")]

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    metadata::{Metadata, cargo},
    python::Environment,
    steps::Step,
};

/// Something a step runs that is not built here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// `cargo fmt`.
    Rustfmt,
    /// `cargo clippy`.
    Clippy,
    /// The vendors' SDKs and what runs their suites.
    Sdks,
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
pub fn install(needs: &[Need], metadata: &Metadata) -> Result<(), String> {
    for need in needs {
        match need {
            Need::Rustfmt => component("rustfmt", "fmt")?,
            Need::Clippy => component("clippy", "clippy")?,
            Need::Sdks => Environment::of(metadata).install()?,
        }
    }
    Ok(())
}

/// Has rustup add a part of the toolchain, unless its subcommand of cargo runs.
fn component(component: &str, subcommand: &str) -> Result<(), String> {
    if runs(subcommand) {
        println!("   {component}: found");
        return Ok(());
    }
    println!("   {component}: missing, installing it");
    println!("   $ rustup component add {component}");
    let added = Command::new("rustup")
        .args(["component", "add", component])
        .status();
    if !added.is_ok_and(|status| status.success()) || !runs(subcommand) {
        return Err(format!(
            "{component} is missing and rustup could not add it; \
             install it with whatever installed Rust here"
        ));
    }
    println!("   {component}: installed");
    Ok(())
}

fn runs(subcommand: &str) -> bool {
    // A toolchain without the part still has rustup's stand-in, which fails when it is run.
    cargo(Path::new("."))
        .args([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::STEPS;

    #[test]
    fn needs_are_gathered_once() {
        assert_eq!(all(STEPS), [Need::Rustfmt, Need::Clippy, Need::Sdks]);
    }

    #[test]
    fn a_step_without_needs_asks_for_nothing() {
        let layout = STEPS.iter().filter(|s| s.name == "layout");
        assert_eq!(all(layout), []);
    }
}
