//! Which crate may use which, and how a crate of this workspace must look.
//!
//! Arrows run from the program down to the engine. If one ran up or sideways, a mistake could
//! hide on both sides of a test: the sandbox must not learn the wire from the client it tests.

use std::fs;

use crate::metadata::{Dependency, Kind, Metadata, Package};

/// Every breach of the layout in the real workspace, the manifests on disk included.
///
/// # Errors
/// When a manifest cannot be read.
pub fn check(metadata: &Metadata) -> Result<Vec<String>, String> {
    let mut problems = problems(metadata);
    for member in metadata.members() {
        let manifest = member.folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)
            .map_err(|e| format!("cannot read {}: {e}", manifest.display()))?;
        if !inherits_lints(&text) {
            problems.push(format!(
                "`{}` does not inherit the lints; add `[lints]` with `workspace = true`",
                member.name
            ));
        }
    }
    Ok(problems)
}

/// Every breach that the metadata alone shows.
#[must_use]
pub fn problems(metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for member in metadata.members() {
        if member.folder != metadata.root.join("crates").join(&member.name) {
            problems.push(format!(
                "`{}` lies in {}; a crate's folder is crates/ and its own name",
                member.name,
                member.folder.display()
            ));
        }
        if !FREE.contains(&member.name.as_str()) && layer(&member.name).is_none() {
            problems.push(format!(
                "`{}` has no layer; say in `layout::LAYERS` what it may use",
                member.name
            ));
        }
        for dependency in &member.dependencies {
            problems.extend(wrong_path(metadata, member, dependency));
            problems.extend(wrong_arrow(metadata, member, dependency));
        }
    }
    problems
}

/// Whether a manifest takes the lints of the workspace.
#[must_use]
pub fn inherits_lints(manifest: &str) -> bool {
    let mut table = "";
    manifest.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            table = line;
        }
        let setting: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        match table {
            "[lints]" => setting == "workspace=true",
            "" => setting == "lints.workspace=true",
            _ => false,
        }
    })
}

fn wrong_path(metadata: &Metadata, from: &Package, to: &Dependency) -> Option<String> {
    let path = to.path.as_ref()?;
    let inside = path.parent() == Some(metadata.root.join("crates").as_path());
    (!inside).then(|| {
        format!(
            "`{}` takes `{}` from {}, which is outside crates/",
            from.name,
            to.name,
            path.display()
        )
    })
}

fn wrong_arrow(metadata: &Metadata, from: &Package, to: &Dependency) -> Option<String> {
    // By name as well as by membership: a copy from a registry is the same arrow.
    let ours = metadata.members().any(|m| m.name == to.name)
        || layer(&to.name).is_some()
        || FREE.contains(&to.name.as_str());
    if !ours || FREE.contains(&from.name.as_str()) {
        return None;
    }
    let below = layer(&from.name)?;
    let dev_only = to.kind == Kind::Dev && DEV_ONLY.contains(&(&from.name, &to.name));
    if below.contains(&to.name.as_str()) || dev_only {
        return None;
    }
    let table = match to.kind {
        Kind::Normal => "a dependency",
        Kind::Build => "a build dependency",
        Kind::Dev => "a dev-dependency",
    };
    let allowed = if below.is_empty() {
        "none of ours".to_owned()
    } else {
        below.join(", ")
    };
    Some(format!(
        "`{}` has `{}` as {table}; it may use {allowed}",
        from.name, to.name
    ))
}

fn layer(name: &str) -> Option<&'static [&'static str]> {
    LAYERS
        .iter()
        .find(|(krate, _)| *krate == name)
        .map(|(_, below)| *below)
}

/// Each crate, lowest first, and what it may use of ours.
pub const LAYERS: [(&str, &[&str]); 6] = [
    ("skyl-retry", &[]),
    ("skyl-sse", &[]),
    ("skyl", &["skyl-retry", "skyl-sse"]),
    ("skyl-sandbox", &[]),
    ("skyl-sim", &["skyl-retry"]),
    (
        "skyl-cli",
        &["skyl-retry", "skyl-sse", "skyl", "skyl-sandbox", "skyl-sim"],
    ),
];

/// Measurements and checks: they may use anything, and nothing may use them.
pub const FREE: [&str; 2] = ["bench", "xtask"];

/// Arrows that tests alone may draw: the client is tried against the sandbox.
const DEV_ONLY: [(&str, &str); 1] = [("skyl", "skyl-sandbox")];

#[cfg(test)]
mod tests;
