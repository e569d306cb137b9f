//! One target under libFuzzer: `cargo xtask fuzz TARGET` builds and starts it.
//!
//! The target comes in `SKYL_FUZZ_TARGET`: one program for all, since each would be linked anew.
#![no_main]

use std::env;
use std::process::exit;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skyl_fuzz::{TARGETS, Target, find};

fuzz_target!(|bytes: &[u8]| (target().run)(bytes));

fn target() -> &'static Target {
    static TARGET: OnceLock<&Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = env::var("SKYL_FUZZ_TARGET").unwrap_or_default();
        find(&name).unwrap_or_else(|| refuse(&name))
    })
}

#[expect(clippy::print_stderr, reason = "a program talks to its user")]
fn refuse(name: &str) -> ! {
    let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    eprintln!(
        "there is no target {name:?}; the targets are {}",
        known.join(", ")
    );
    exit(1)
}
