//! Packages that stand in the lock file more than once, held against a list with reasons.
//!
//! Two versions of one package cost build time and size, and their types do not fit each other.
//! The lock file counts, so a version that only another platform or an unused feature would
//! build is counted too: it is downloaded and audited all the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::metadata::Metadata;

/// Packages in several versions without a reason, and reasons for packages that have only one.
#[must_use]
pub fn problems(metadata: &Metadata) -> Vec<String> {
    against(metadata, &ALLOWED)
}

fn against(metadata: &Metadata, allowed: &[(&str, &str)]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &metadata.packages {
        versions
            .entry(&package.name)
            .or_default()
            .insert(&package.version);
    }
    versions.retain(|_, versions| 1 < versions.len());

    let is_allowed = |name: &str| allowed.iter().any(|(allowed, _)| *allowed == name);
    let unexplained =
        versions
            .iter()
            .filter(|(name, _)| !is_allowed(name))
            .map(|(name, versions)| {
                let versions: Vec<&str> = versions.iter().copied().collect();
                format!(
                    "{name} is here as {}; `cargo tree -i {name}@VERSION` says why",
                    versions.join(" and ")
                )
            });
    let idle = allowed
        .iter()
        .filter(|(name, _)| !versions.contains_key(name))
        .map(|(name, _)| format!("{name} has one version now; take it off `duplicates::ALLOWED`"));
    unexplained.chain(idle).collect()
}

/// Each package that may have several versions, and what holds the older one back.
pub const ALLOWED: [(&str, &str); 6] = [
    (
        "core-foundation",
        "Apple only: system-configuration is on 0.9",
    ),
    (
        "getrandom",
        "ring asks for 0.2, and no feature of ours turns ring on",
    ),
    ("syn", "at build time only: asn1-rs and jni macros are on 2"),
    (
        "synstructure",
        "at build time only: asn1-rs macros are on 0.13",
    ),
    (
        "untrusted",
        "aws-lc-rs asks for 0.7 in a feature that is off",
    ),
    (
        "windows-sys",
        "ring asks for 0.52, and no feature of ours turns ring on",
    ),
];

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::metadata::Package;

    fn found(packages: &[(&str, &str)], allowed: &[(&str, &str)]) -> Vec<String> {
        let packages = packages.iter().map(|(name, version)| Package {
            name: (*name).to_owned(),
            version: (*version).to_owned(),
            folder: PathBuf::new(),
            licence: None,
            member: false,
            library: true,
            features: Vec::new(),
            dependencies: Vec::new(),
        });
        against(
            &Metadata {
                packages: packages.collect(),
                ..Metadata::default()
            },
            allowed,
        )
    }

    #[test]
    fn a_second_version_is_reported_with_both() {
        let problems = found(&[("a", "1.0.0"), ("b", "1.0.0"), ("a", "2.0.0")], &[]);
        assert_eq!(problems.len(), 1);
        assert!(
            problems[0].starts_with("a is here as 1.0.0 and 2.0.0;"),
            "{problems:?}"
        );
    }

    #[test]
    fn one_version_each_is_fine() {
        assert_eq!(found(&[("a", "1.0.0"), ("b", "2.0.0")], &[]), [""; 0]);
    }

    #[test]
    fn a_reason_allows_it() {
        assert_eq!(
            found(&[("a", "1.0.0"), ("a", "2.0.0")], &[("a", "why")]),
            [""; 0]
        );
    }

    #[test]
    fn a_reason_that_is_no_longer_needed_is_reported() {
        let problems = found(&[("a", "1.0.0")], &[("a", "why")]);
        assert!(
            problems[0].starts_with("a has one version now"),
            "{problems:?}"
        );
    }
}
