//! The licences of everything in the lock file, held against a list with reasons.
//!
//! Which licences are acceptable is a decision of people; this only finds packages outside it.
//! Security advisories are not looked at: they change without a change here, and belong to a
//! check on demand.

use crate::metadata::Metadata;

/// The packages whose terms cannot be met, are not stated or cannot be read.
#[must_use]
pub fn problems(metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for package in &metadata.packages {
        let name = format!("{} {}", package.name, package.version);
        match &package.licence {
            None => problems.push(format!("{name} states no licence")),
            Some(terms) => match can_be_met(terms) {
                Ok(true) => {}
                Ok(false) => problems.push(format!("{name} is licensed under {terms}")),
                Err(why) => problems.push(format!("{name}: cannot read {terms:?}: {why}")),
            },
        }
    }
    problems
}

/// Whether the allowed licences satisfy an SPDX expression.
///
/// `AND` binds tighter than `OR`; the old form `MIT/Apache-2.0` reads as `OR`.
///
/// # Errors
/// When the text is no expression, or has more than 256 words.
pub fn can_be_met(terms: &str) -> Result<bool, String> {
    let spaced = terms
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    // Bounds the recursion below; real expressions have a dozen words.
    if 256 < words.len() {
        return Err("too long".to_owned());
    }
    let mut rest = words.as_slice();
    let met = either(&mut rest)?;
    match rest {
        [] => Ok(met),
        [word, ..] => Err(format!("{word:?} is in the way")),
    }
}

fn either(rest: &mut &[&str]) -> Result<bool, String> {
    let mut met = both(rest)?;
    while let ["OR", after @ ..] = *rest {
        *rest = after;
        // Not `||`: the right side must be read in any case.
        met |= both(rest)?;
    }
    Ok(met)
}

fn both(rest: &mut &[&str]) -> Result<bool, String> {
    let mut met = one(rest)?;
    while let ["AND", after @ ..] = *rest {
        *rest = after;
        met &= one(rest)?;
    }
    Ok(met)
}

fn one(rest: &mut &[&str]) -> Result<bool, String> {
    match *rest {
        ["(", after @ ..] => {
            *rest = after;
            let met = either(rest)?;
            let [")", after @ ..] = *rest else {
                return Err("a bracket is not closed".to_owned());
            };
            *rest = after;
            Ok(met)
        }
        [word @ ("OR" | "AND" | "WITH" | ")"), ..] => Err(format!("{word:?} is in the way")),
        [licence, "WITH", exception, after @ ..] => {
            *rest = after;
            Ok(is_allowed(&format!("{licence} WITH {exception}")) || is_allowed(licence))
        }
        [licence, after @ ..] => {
            *rest = after;
            Ok(is_allowed(licence))
        }
        [] => Err("it ends too early".to_owned()),
    }
}

fn is_allowed(licence: &str) -> bool {
    ALLOWED.iter().any(|(name, _)| *name == licence)
}

/// What may be linked into a program under any terms, and why each is here.
pub const ALLOWED: [(&str, &str); 7] = [
    ("MIT", "ours"),
    (
        "Apache-2.0",
        "ours; an exception added to it only grants more",
    ),
    (
        "BSD-3-Clause",
        "asks for the notice alone, as MIT does (subtle)",
    ),
    (
        "ISC",
        "MIT in fewer words (aws-lc-rs, rustls-webpki, untrusted)",
    ),
    (
        "Unicode-3.0",
        "asks for the notice alone (the tables under idna)",
    ),
    ("Zlib", "asks that changes be marked (foldhash)"),
    (
        "CDLA-Permissive-2.0",
        "data, not code: Mozilla's root certificates",
    ),
];

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::metadata::Package;

    #[track_caller]
    fn check(terms: &str, expected: bool) {
        assert_eq!(can_be_met(terms), Ok(expected), "{terms}");
    }

    #[test]
    fn one_allowed_choice_is_enough() {
        check("MIT", true);
        check("MIT OR GPL-3.0", true);
        check("GPL-3.0 OR MIT", true);
        check("Unlicense/MIT", true);
        check("GPL-3.0 OR (LGPL-2.1-or-later OR Zlib)", true);
    }

    #[test]
    fn every_joined_licence_must_be_allowed() {
        check("MIT AND ISC", true);
        check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
        check("MIT AND GPL-3.0", false);
        check("ISC AND (GPL-3.0 OR AGPL-3.0)", false);
    }

    #[test]
    fn and_binds_tighter_than_or() {
        check("MIT OR GPL-3.0 AND AGPL-3.0", true);
        check("GPL-3.0 AND AGPL-3.0 OR MIT", true);
        check("GPL-3.0 AND MIT OR AGPL-3.0", false);
    }

    #[test]
    fn exceptions_only_add_to_a_licence() {
        check("Apache-2.0 WITH LLVM-exception", true);
        check("GPL-2.0 WITH Classpath-exception-2.0", false);
        check("Apache-2.0 WITH LLVM-exception AND GPL-3.0", false);
    }

    #[test]
    fn unknown_names_are_not_allowed() {
        check("mit", false);
        check("Proprietary", false);
        check("MIT-0", false);
    }

    #[test]
    fn text_that_is_no_expression_is_an_error() {
        let deep = format!("{}MIT", "( ".repeat(100_000));
        for bad in [
            "", "AND", "MIT OR", "(MIT", "MIT)", "MIT ISC", "MIT WITH", "WITH a", "()", &deep,
        ] {
            assert!(can_be_met(bad).is_err(), "{bad:.20}");
        }
    }

    #[test]
    fn each_package_outside_the_list_is_named() {
        let package = |name: &str, licence: Option<&str>| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            folder: PathBuf::new(),
            licence: licence.map(str::to_owned),
            member: false,
            library: true,
            features: Vec::new(),
            dependencies: Vec::new(),
        };
        let packages = vec![
            package("good", Some("MIT")),
            package("copyleft", Some("GPL-3.0")),
            package("silent", None),
            package("garbled", Some("MIT OR")),
        ];
        let problems = problems(&Metadata {
            packages,
            ..Metadata::default()
        });
        assert_eq!(problems.len(), 3, "{problems:?}");
        for (problem, name) in problems.iter().zip(["copyleft", "silent", "garbled"]) {
            assert!(problem.starts_with(name), "{problem}");
        }
    }
}
