//! Other ends that are gone or full.

use crate::support::skyl;

#[test]
fn a_failure_keeps_its_code_when_nobody_reads_the_object() {
    for (fault, code) in [("400", 4), ("401", 3)] {
        let ran = skyl(["chat", "hi", "--json", "--fault", fault]).nobody_reads();
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.stderr.contains("http 40"), "{ran:?}");
    }
    let ran = skyl(["chat", "--json", "--bogus"]).nobody_reads();
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn an_answer_is_not_lost_when_nobody_reads_the_diagnostics() {
    let ran =
        skyl(["chat", "hi", "--fault", "503,ok", "--retry-base", "1ms"]).nobody_reads_diagnostics();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "You said: hi\n"),
        "{ran:?}"
    );
    let ran = skyl(["chat", "hi", "--fault", "401"]).nobody_reads_diagnostics();
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{ran:?}");
}

#[test]
fn every_command_ends_quietly_when_nobody_reads() {
    for args in [
        ["schedule", "--max-retries=9"],
        ["explain", "5"],
        ["completions", "zsh"],
        ["models", "--json"],
        ["chat", "hi"],
        ["chat", "--help"],
    ] {
        let ran = skyl(args).nobody_reads();
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        assert!(!ran.stderr.contains("rror"), "{args:?}: {ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_of_every_command() {
    for args in [
        ["schedule", "--json"],
        ["explain", "5"],
        ["completions", "zsh"],
        ["models", "--raw"],
        ["chat", "--help"],
    ] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let ran = skyl(args).stdout_to(full);
        assert_eq!(ran.code, 1, "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("standard output"), "{args:?}: {ran:?}");
    }
}
