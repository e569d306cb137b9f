//! The table of public bug reports, made from its rows and held to the tests it names.
//!
//! `docs/bug-reports.toml` has one entry for each report of what went wrong for others;
//! `docs/bug-reports.md` is the page people read. The page is made from the rows, and every test a
//! row names must exist, so neither can go stale: a test that is renamed or removed, and a page that
//! was edited by hand, are problems.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// All rows, in the order of the page.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reports {
    /// The rows.
    pub report: Vec<Report>,
}

/// One report, and what skyl makes of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Its name on the page: `R` for the engine's, `C` for the client's, and a number.
    pub id: String,
    /// Where it was made, as `repo#number`, or how it was found.
    pub place: String,
    /// What went wrong there.
    pub saw: String,
    /// What skyl does; empty where it cannot occur.
    #[serde(default)]
    pub does: String,
    /// The tests that hold it, as `path::name`.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Why it cannot occur here.
    pub not_here: Option<String>,
}

/// What is wrong with the rows, and with the page made from them.
///
/// # Errors
/// When a file cannot be read, or the rows are none.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let reports = read(root)?;
    let mut problems = problems(&reports, |path| fs::read_to_string(root.join(path)).ok());
    if fs::read_to_string(root.join(PAGE)).ok().as_deref() != Some(&page(&reports)) {
        problems.push(format!(
            "{PAGE} is not what {ROWS} makes; run `cargo xtask reports`"
        ));
    }
    Ok(problems)
}

/// Makes the page anew.
///
/// # Errors
/// When the rows cannot be read or the page cannot be written.
pub fn write(root: &Path) -> Result<(), String> {
    let page = page(&read(root)?);
    fs::write(root.join(PAGE), page).map_err(|e| format!("cannot write {PAGE}: {e}"))
}

/// What is wrong with the rows; `source` gives a file's text.
pub fn problems(reports: &Reports, source: impl Fn(&Path) -> Option<String>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for report in &reports.report {
        let id = &report.id;
        if !seen.insert(id) {
            problems.push(format!("{id}: there are two rows of this name"));
        }
        match (report.tests.is_empty(), &report.not_here) {
            (true, None) => {
                problems.push(format!("{id}: neither a test nor a reason"));
            }
            (false, Some(_)) => {
                problems.push(format!("{id}: a test and a reason why there is none"));
            }
            _ => {}
        }
        for test in &report.tests {
            let missing = match test.rsplit_once("::") {
                None => Some("is not `path::name`"),
                Some((path, name)) => match source(&PathBuf::from(path)) {
                    None => Some("is in a file that does not exist"),
                    Some(text) if !has_test(&text, name) => Some("is no test"),
                    Some(_) => None,
                },
            };
            problems.extend(missing.map(|why| format!("{id}: {test} {why}")));
        }
    }
    problems
}

/// The page of these rows.
#[must_use]
pub fn page(reports: &Reports) -> String {
    let held = reports.report.iter().filter(|r| r.not_here.is_none());
    let rows: Vec<String> = reports.report.iter().map(row).collect();
    format!(
        "{HEAD}\n{} reports, {} of them held by tests.\n\n{COLUMNS}{}\n",
        reports.report.len(),
        held.count(),
        rows.join("\n")
    )
}

fn row(report: &Report) -> String {
    let links: Vec<String> = report.tests.iter().map(|t| link(t)).collect();
    let reason = report.not_here.as_deref().map(cell);
    let held = reason.map_or_else(|| links.join("<br>"), |why| format!("none: {why}"));
    let cells = [&report.id, &report.place, &report.saw, &report.does].map(|text| cell(text));
    format!("| {} | {held} |", cells.join(" | "))
}

fn read(root: &Path) -> Result<Reports, String> {
    let text =
        fs::read_to_string(root.join(ROWS)).map_err(|e| format!("cannot read {ROWS}: {e}"))?;
    toml::from_str(&text).map_err(|e| format!("{ROWS}: {e}"))
}

/// Whether a function of this name stands in the text with the mark of a test over it.
fn has_test(text: &str, name: &str) -> bool {
    let rust = format!("fn {name}(");
    let python = format!("def {name}(");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.iter().enumerate().any(|(at, line)| {
        if line.contains(&python) {
            return name.starts_with("test_");
        }
        // Attributes and comments stand between the mark and the function.
        line.contains(&rust)
            && lines[..at]
                .iter()
                .rev()
                .take_while(|above| {
                    above.starts_with("#[") || above.starts_with("//") || above.ends_with(")]")
                })
                .any(|above| above.starts_with("#[") && above.contains("test"))
    })
}

fn link(test: &str) -> String {
    match test.rsplit_once("::") {
        Some((path, name)) => format!("[`{name}`](../{path})"),
        None => test.to_owned(),
    }
}

/// Text as it may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

const ROWS: &str = "docs/bug-reports.toml";

const PAGE: &str = "docs/bug-reports.md";

const HEAD: &str = "\
# What went wrong for others

Public bug reports about retries and about clients of AI APIs, and sharp edges found by running or
reading released code. Each is a test here, or has the reason why it cannot occur. Made from
`bug-reports.toml` by `cargo xtask reports`; `cargo xtask test reports` refuses a test that does
not exist.
";

const COLUMNS: &str = "\
| | where | what went wrong | what skyl does | held by |
|---|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;

    fn report(id: &str, tests: &[&str], not_here: Option<&str>) -> Report {
        Report {
            id: id.to_owned(),
            place: "a/b#1".to_owned(),
            saw: "a | b".to_owned(),
            does: "c".to_owned(),
            tests: tests.iter().map(|t| (*t).to_owned()).collect(),
            not_here: not_here.map(str::to_owned),
        }
    }

    fn found(rows: Vec<Report>) -> Vec<String> {
        problems(&Reports { report: rows }, |path| {
            path.ends_with("a.rs").then(|| SOURCE.to_owned())
        })
    }

    #[test]
    fn a_test_that_exists_holds_its_row() {
        for name in ["plain", "marked", "drawn", "test_python"] {
            let test = format!("x/a.rs::{name}");
            assert_eq!(found(vec![report("R1", &[&test], None)]), [""; 0], "{name}");
        }
        assert_eq!(
            found(vec![report("R1", &[], Some("no such thing"))]),
            [""; 0]
        );
    }

    #[test]
    fn a_test_that_does_not_exist_is_a_problem() {
        for test in ["x/a.rs::helper", "x/a.rs::gone", "x/b.rs::plain", "plain"] {
            let problems = found(vec![report("R1", &[test], None)]);
            assert_eq!(problems.len(), 1, "{test}");
            assert!(problems[0].starts_with("R1: "), "{problems:?}");
        }
    }

    #[test]
    fn a_row_has_either_tests_or_a_reason_and_a_name_of_its_own() {
        assert_eq!(found(vec![report("R1", &[], None)]).len(), 1);
        assert_eq!(
            found(vec![report("R1", &["x/a.rs::plain"], Some("why"))]).len(),
            1
        );
        let twice = report("R1", &["x/a.rs::plain"], None);
        assert_eq!(found(vec![twice.clone(), twice]).len(), 1);
    }

    #[test]
    fn the_page_has_a_line_for_each_row() {
        let page = page(&Reports {
            report: vec![
                report("R1", &["x/a.rs::plain"], None),
                report("C2", &[], Some("cannot be")),
            ],
        });
        assert!(
            page.contains("2 reports, 1 of them held by tests."),
            "{page}"
        );
        assert!(
            page.contains("| R1 | a/b#1 | a \\| b | c | [`plain`](../x/a.rs) |"),
            "{page}"
        );
        assert!(
            page.contains("| C2 | a/b#1 | a \\| b | c | none: cannot be |"),
            "{page}"
        );
    }

    const SOURCE: &str = "
#[test]
fn plain() {}

#[tokio::test(start_paused = true)]
// Why it is.
async fn marked() {}

proptest! {
    #[test]
    fn drawn(n in 0..3) {}
}

fn helper() {}

def test_python(client):
";
}
