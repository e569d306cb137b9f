//! What a person sees who types `cargo xtask`.

use std::process::{Command, Output};

fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn alone_it_lists_the_commands() {
    let output = xtask(&[]);
    assert!(output.status.success());
    for line in [
        "cargo xtask test ",
        "cargo xtask setup ",
        "cargo xtask fuzz TARGET ",
        "  clippy ",
        "  loom ",
    ] {
        assert!(
            stdout(&output).lines().any(|l| l.starts_with(line)),
            "{line}"
        );
    }
}

#[test]
fn an_unknown_command_or_step_is_refused() {
    for arguments in [
        &["tests"][..],
        &["test", "fmtt"],
        &["test", "--fast"],
        &["setup", "now"],
        &["fuzz"],
        &["fuzz", "no-such-target"],
        &["fuzz", "sse", "--seconds", "soon"],
    ] {
        let output = xtask(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(
            stderr(&output).starts_with("xtask: "),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn a_step_prints_its_name_its_command_and_its_time() {
    let output = xtask(&["test", "layout"]);
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
    assert!(text.contains("== layout: "), "{text}");
    assert!(
        text.contains("$ cargo metadata --format-version 1 --no-deps"),
        "{text}"
    );
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("The step passed in "), "{text}");
}
