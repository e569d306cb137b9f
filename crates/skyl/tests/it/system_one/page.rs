//! The page for people who switch: every row of its tables of differences names tests that exist.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the tables whose last column is `test`.
fn rows() -> Vec<Vec<String>> {
    let page = fs::read_to_string(root().join("docs/system-one.md")).unwrap();
    let mut rows = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if !line.starts_with('|') {
            inside = false;
        } else if line.ends_with("| test |") {
            inside = true;
        } else if inside && !line.starts_with("|---") {
            let row = line.trim_matches('|').split(" | ");
            rows.push(row.map(|cell| cell.trim().to_owned()).collect());
        }
    }
    rows
}

/// The tests a cell names, as module and function.
fn named(cell: &str) -> Vec<(&str, &str)> {
    cell.split('`')
        .filter_map(|name| name.split_once("::"))
        .collect()
}

#[test]
fn every_difference_is_held_by_tests_that_exist() {
    let rows = rows();
    assert!(rows.len() > 30, "only {} rows were found", rows.len());
    let folder = root().join("crates/skyl/tests/it/system_one");
    for row in &rows {
        assert_eq!(row.len(), 4, "{row:?}");
        let tests = named(&row[3]);
        assert!(!tests.is_empty(), "no test backs: {}", row[0]);
        for (module, name) in tests {
            let source = fs::read_to_string(folder.join(format!("{module}.rs"))).unwrap();
            let is_test = ["#[tokio::test", "#[test]"]
                .iter()
                .any(|mark| source.contains(mark));
            assert!(
                is_test && source.contains(&format!("fn {name}(")),
                "{module}::{name}"
            );
        }
    }
}

#[test]
fn each_policy_figure_of_the_builder_is_on_the_page() {
    let page = fs::read_to_string(root().join("docs/system-one.md")).unwrap();
    for name in [
        "max_retries",
        "initial_delay",
        "max_delay",
        "jitter",
        "honor_retry_after",
        "max_retry_after",
        "over_cap",
        "budget",
        "retry_statuses",
        "retry_on_conn_err",
        "retry_on_timeout",
        "retry_unsent",
        "should_retry",
    ] {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
