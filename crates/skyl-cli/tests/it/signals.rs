//! Interrupts.
#![cfg(unix)]

use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use crate::support::Scratch;
use crate::support::{Ran, Skyl, skyl};

/// Interrupts a call once it says that it waits; gives how long it took to end.
#[expect(
    clippy::disallowed_methods,
    reason = "the time a real program takes to end is the point"
)]
fn interrupted(run: Skyl, signal: &str, word: &str) -> (Ran, Duration) {
    let mut running = run.start();
    running.wait_for(word);
    let start = Instant::now();
    let ran = running.signal(signal);
    (ran, start.elapsed())
}

#[test]
fn an_interrupt_ends_a_long_wait_at_once() {
    for signal in ["INT", "TERM"] {
        let run = skyl(["chat", "hi", "--json", "--fault", "429(ra=60)"]);
        let (ran, took) = interrupted(run, signal, "waiting 1m");
        assert_eq!(ran.code, 130, "{ran:?}");
        // Half a second on an idle machine; the bound leaves room for a busy one.
        assert!(took < Duration::from_secs(5), "{took:?}");
        let object = ran.object();
        assert_eq!(object["error"]["kind"], "cancelled", "{object}");
        assert_eq!(object["error"]["stop_reason"], "cancelled", "{object}");
        assert_eq!(object["error"]["attempts"][0]["status"], 429, "{object}");
    }
}

#[test]
fn an_interrupted_call_says_what_had_failed_before() {
    let (ran, _) = interrupted(
        skyl(["chat", "hi", "--fault", "429(ra=60)"]),
        "INT",
        "waiting 1m",
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (130, ""), "{ran:?}");
    assert!(
        ran.stderr.contains("cancelled") && ran.stderr.contains("rate limited"),
        "{ran:?}"
    );
}

#[test]
fn an_interrupt_ends_the_wait_for_a_prompt_too() {
    // More than a pipe holds: once all is written, the program is reading.
    let running = skyl(["chat", "--json", "-"]).start_with(&vec![b'a'; 200_000]);
    let ran = running.signal("INT");
    assert_eq!(ran.code, 130, "{ran:?}");
    assert_eq!(ran.object()["error"]["kind"], "cancelled");
}

#[test]
fn an_interrupted_stream_says_what_it_had_delivered() {
    let run = skyl(["chat", "hello there", "--stream"]).args(["--fault", "stream-stall(1;60000)"]);
    let mut running = run.start();
    running.read_to("You");
    let ran = running.signal("INT");
    assert_eq!(ran.code, 130, "{ran:?}");
    assert!(ran.stderr.contains("cancelled"), "{ran:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_wait_for_a_pipe_that_nobody_opens_at_its_other_end() {
    let pipe = Scratch::new("pipe", b"");
    std::fs::remove_file(pipe.path()).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(pipe.path())
        .status()
        .unwrap();
    assert!(made.success());
    let at = format!("@{}", pipe.path());
    for args in [
        &["ask", "-f", pipe.path(), "--timeout", "1s"][..],
        &["ask", "--state", &at, "--noul", "q=Well?"],
        &["ask", "--batch", pipe.path(), "--out", "never-made.jsonl"],
        &["chat", "hi", "--policy", pipe.path()],
        &["chat", "hi", "--image", pipe.path()],
        &["chat", "hi", "--tools", pipe.path()],
        &["chat", "hi", "--schema", pipe.path()],
        &["chat", "hi", "--events", pipe.path()],
        &["models", "--policy", pipe.path()],
        &["simulate", pipe.path()],
        &["simulate", "blip", "--policy", pipe.path()],
    ] {
        let mut run = skyl(["--json"]);
        for arg in args {
            run = run.args([*arg]);
        }
        let running = run.start();
        until_listening(running.id());
        let ran = running.signal("INT");
        assert_eq!(ran.code, 130, "{args:?}: {ran:?}");
        assert_eq!(ran.object()["error"]["kind"], "cancelled", "{ran:?}");
    }
}

/// Waits until the program takes SIGINT itself, which before that would simply end it.
#[cfg(target_os = "linux")]
fn until_listening(id: u32) {
    let caught = || {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
    };
    while caught() & 0b10 == 0 {
        std::thread::yield_now();
    }
}
