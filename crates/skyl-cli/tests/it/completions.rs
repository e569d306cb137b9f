//! Scripts for shells.

use std::process::Command;

use crate::support::{Scratch, skyl};

#[test]
fn every_shell_gets_a_script_that_knows_the_commands_and_the_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = skyl(["completions", shell]).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
        for word in [
            "chat",
            "ask",
            "models",
            "sandbox",
            "simulate",
            "schedule",
            "explain",
            "completions",
            "retry-after-cap",
        ] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
    }
}

/// What bash offers after these words.
fn offered(words: &[&str]) -> Vec<String> {
    let script = skyl(["completions", "bash"]).run().stdout;
    let file = Scratch::new("completions.bash", script.as_bytes());
    let last = words.last().unwrap();
    let ask = format!(
        "source '{}'\nCOMP_WORDS=({})\nCOMP_CWORD={}\n_skyl skyl '{last}' '{}'\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        file.path(),
        words.join(" "),
        words.len() - 1,
        words[words.len() - 2],
    );
    let output = Command::new("bash").args(["-c", &ask]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_flags_and_words_of_flags() {
    assert_eq!(offered(&["skyl", "sch"]), ["schedule"]);
    assert_eq!(
        offered(&["skyl", "chat", "--max-"]),
        ["--max-tokens", "--max-retries"]
    );
    assert_eq!(
        offered(&["skyl", "completions", "e"]),
        ["elvish"],
        "words of a value"
    );
    assert!(offered(&["skyl", "models", "--stream"]).is_empty());
}

#[test]
fn a_script_is_one_object_too() {
    let object = skyl(["completions", "fish", "--json"]).run().object();
    assert_eq!(object["shell"], "fish");
    assert_eq!(
        object["script"].as_str().unwrap(),
        skyl(["completions", "fish"]).run().stdout
    );
}

#[test]
fn a_shell_that_is_none_or_missing_is_wrong_usage() {
    let ran = skyl(["completions", "tcl"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("powershell"), "{ran:?}");
    assert_eq!(skyl(["completions"]).run().code, 1);
}
