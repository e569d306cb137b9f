//! The help, word for word.

use crate::support::skyl;

#[track_caller]
fn help<const N: usize>(args: [&str; N]) -> String {
    let ran = skyl(args).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    ran.stdout
}

#[test]
fn the_program() {
    insta::assert_snapshot!(help(["--help"]));
}

#[test]
fn chat() {
    insta::assert_snapshot!(help(["chat", "--help"]));
}

#[test]
fn ask() {
    insta::assert_snapshot!(help(["ask", "--help"]));
}

#[test]
fn models() {
    insta::assert_snapshot!(help(["models", "--help"]));
}

#[test]
fn sandbox() {
    insta::assert_snapshot!(help(["sandbox", "--help"]));
}

#[test]
fn simulate() {
    insta::assert_snapshot!(help(["simulate", "--help"]));
}

#[test]
fn schedule() {
    insta::assert_snapshot!(help(["schedule", "--help"]));
}

#[test]
fn explain() {
    insta::assert_snapshot!(help(["explain", "--help"]));
}

#[test]
fn completions() {
    insta::assert_snapshot!(help(["completions", "--help"]));
}

#[test]
fn a_variables_value_is_never_in_the_help() {
    let ran = skyl(["chat", "--help"])
        .env("OPENAI_API_KEY", "sk-very-secret")
        .env("SKYL_BASE_URL", "http://very-secret")
        .run();
    assert!(!ran.stdout.contains("very-secret"), "{ran:?}");
}

#[test]
fn the_version_is_one_line() {
    let version = help(["--version"]);
    assert_eq!(version, format!("skyl {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_flag_on_the_page_of_ask_is_one() {
    let page = include_str!("../../../../docs/ask.md");
    let help = help(["ask", "--help"]);
    let is_flag = |c: char| c == '-' || c.is_ascii_lowercase();
    let words = page.split(|c: char| !is_flag(c));
    let flags: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
    assert!(flags.len() > 20, "{flags:?}");
    for flag in flags.into_iter().filter(|flag| flag.len() > 3) {
        assert!(help.contains(&format!("{flag} ")), "{flag}");
    }
}
