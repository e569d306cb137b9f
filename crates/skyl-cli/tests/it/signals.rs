//! Interrupts.
#![cfg(unix)]

use std::time::{Duration, Instant};

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
