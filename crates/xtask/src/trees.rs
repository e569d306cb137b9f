//! How many packages a user of our libraries has to build.

use std::{collections::BTreeSet, path::Path, process::Stdio};

use crate::metadata::cargo;

/// A library, the features it is counted with, and the most packages it may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The library.
    pub name: &'static str,
    /// Features turned on beside the default ones, as `--features` takes them.
    pub features: &'static str,
    /// The most packages, the library itself included.
    pub packages: usize,
}

impl Limit {
    /// The arguments of cargo that list the tree.
    #[must_use]
    pub fn arguments(&self) -> Vec<&'static str> {
        let mut arguments = vec![
            "tree", "--locked", "-p", self.name, "-e", "normal", "--prefix", "none",
        ];
        if !self.features.is_empty() {
            arguments.extend(["--features", self.features]);
        }
        arguments
    }
}

/// The libraries that outgrew their limit on this platform.
///
/// # Errors
/// When cargo cannot be run or refuses.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for limit in &LIMITS {
        let output = cargo(root)
            .args(limit.arguments())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cannot run cargo: {e}"))?;
        if !output.status.success() {
            return Err(format!("cargo tree failed ({})", output.status));
        }
        problems.extend(problem(limit, &String::from_utf8_lossy(&output.stdout)));
    }
    Ok(problems)
}

/// What is wrong with a tree as `cargo tree --prefix none` prints it.
#[must_use]
pub fn problem(limit: &Limit, tree: &str) -> Option<String> {
    let count = count(tree);
    // An empty tree would pass for a small one.
    if count == 0 {
        return Some(format!("cargo tree says nothing about {}", limit.name));
    }
    (limit.packages < count).then(|| {
        format!(
            "{} needs {count} packages; its limit is {}",
            limit.name, limit.packages
        )
    })
}

/// The number of different packages; cargo prints one line per edge.
fn count(tree: &str) -> usize {
    let name_and_version = |line: &'_ str| -> Option<(String, String)> {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    tree.lines()
        .filter_map(name_and_version)
        .collect::<BTreeSet<_>>()
        .len()
}

/// What a dependency on us may cost.
pub const LIMITS: [Limit; 2] = [
    Limit {
        name: "skyl",
        features: "",
        packages: 110,
    },
    // The engine, Tokio's timer and the one macro package under it.
    Limit {
        name: "skyl-retry",
        features: "tokio",
        packages: 3,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str =
        "a v0.1.0 (/w/a)\nb v1.0.0\nc v1.0.0 (proc-macro)\nb v1.0.0 (*)\nb v2.0.0\n\n";

    fn limit(packages: usize) -> Limit {
        Limit {
            name: "a",
            features: "",
            packages,
        }
    }

    #[test]
    fn each_version_counts_once() {
        assert_eq!(problem(&limit(4), TREE), None);
    }

    #[test]
    fn one_package_too_many_is_reported() {
        let problem = problem(&limit(3), TREE).unwrap();
        assert_eq!(problem, "a needs 4 packages; its limit is 3");
    }

    #[test]
    fn an_empty_tree_is_not_a_small_tree() {
        assert!(problem(&limit(3), "\n").is_some());
    }

    #[test]
    fn features_are_passed_only_where_there_are_any() {
        assert!(!limit(3).arguments().contains(&"--features"));
        let with = Limit {
            features: "tokio",
            ..limit(3)
        };
        assert!(with.arguments().ends_with(&["--features", "tokio"]));
    }
}
