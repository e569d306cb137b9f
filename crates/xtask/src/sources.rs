//! Files that grew too long, and marks of work left undone.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Every breach in the source files under `crates/`, `fuzz/`, `sdk/` and `.ci/` of `root`.
///
/// # Errors
/// When a folder or file cannot be read.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    let mut pending: Vec<PathBuf> = FOLDERS
        .iter()
        .map(|f| root.join(f))
        .filter(|f| f.is_dir())
        .collect();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).map_err(|e| unreadable(&folder, &e))? {
            let path = entry.map_err(|e| unreadable(&folder, &e))?.path();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                if !path.ends_with("target") {
                    pending.push(path);
                }
            } else if is_source(&path) {
                let text = fs::read(&path).map_err(|e| unreadable(&path, &e))?;
                let name = path
                    .strip_prefix(root)
                    .unwrap_or(&path)
                    .display()
                    .to_string();
                problems.extend(problems_in(&name, &String::from_utf8_lossy(&text)));
            }
        }
    }
    problems.sort();
    Ok(problems)
}

/// What is wrong with one file, each line named as an editor opens it.
#[must_use]
pub fn problems_in(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lines = text.lines().count();
    if MAX_LINES < lines {
        problems.push(format!(
            "{name} has {lines} lines; split it before {MAX_LINES}"
        ));
    }
    for (index, line) in text.lines().enumerate() {
        for mark in MARKS {
            if holds_word(line, mark) {
                let number = index.saturating_add(1);
                problems.push(format!(
                    "{name}:{number} says {mark}; do it, or write it down elsewhere"
                ));
            }
        }
    }
    problems
}

fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| EXTENSIONS.contains(&e)) || path.ends_with(".ci/run")
}

fn holds_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {error}", path.display())
}

/// Far above the 300 lines a file should have: where this is passed, nobody reads it whole.
const MAX_LINES: usize = 1_000;

const FOLDERS: [&str; 4] = ["crates", "fuzz", "sdk", ".ci"];

const EXTENSIONS: [&str; 4] = ["rs", "toml", "py", "sh"];

// Put together here so that this file does not say them itself.
const MARKS: [&str; 3] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_too_long_only_past_the_limit() {
        assert_eq!(problems_in("a.rs", &"x\n".repeat(MAX_LINES)), [""; 0]);
        let problems = problems_in("a.rs", &"x\n".repeat(MAX_LINES + 1));
        assert_eq!(problems.len(), 1);
        assert!(
            problems[0].starts_with("a.rs has 1001 lines"),
            "{problems:?}"
        );
    }

    #[test]
    fn a_mark_is_reported_with_its_line() {
        for mark in MARKS {
            for line in [
                format!("// {mark}: later"),
                format!("//{mark}(me)"),
                mark.to_owned(),
            ] {
                let problems = problems_in("a.rs", &format!("fn a() {{}}\n{line}\n"));
                assert_eq!(problems.len(), 1, "{line}");
                assert!(problems[0].starts_with("a.rs:2 "), "{problems:?}");
            }
        }
    }

    #[test]
    fn a_word_that_only_contains_a_mark_is_none() {
        for mark in MARKS {
            for line in [
                format!("{mark}S"),
                format!("MY_{mark}"),
                mark.to_lowercase(),
            ] {
                assert_eq!(problems_in("a.rs", &line), [""; 0]);
            }
        }
    }
}
