//! `docs/dialects.md`, made from what the dialects do.
//!
//! Each row of the page is a [`Probe`](probes::Probe): a request with one thing in it. Every dialect
//! encodes it, and the page shows what came of it: where it stands on the wire, the warning, the
//! refusal. `SKYL_WRITE_DOCS=1 cargo test -p skyl --test dialects` writes the page anew.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the helpers of tests are tests too: a step that fails ends them"
)]

mod columns;
mod difference;
mod page;
mod probes;

use std::path::Path;

use crate::columns::{columns, compat, servers};
use crate::probes::{Outcome, PROBES};

#[test]
fn the_page_says_what_the_dialects_do() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects.md");
    let made = page::page();
    if std::env::var_os("SKYL_WRITE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "docs/dialects.md is out of date; write it with \
         SKYL_WRITE_DOCS=1 cargo test -p skyl --test dialects\n{}",
        first_difference(&kept, &made)
    );
}

#[test]
fn nothing_a_request_holds_is_dropped_in_silence() {
    for column in columns().into_iter().chain(servers()) {
        for probe in PROBES {
            let told = format!("{}: {}", column.title, probe.name);
            match column.ask(probe) {
                Outcome::Refused(why) => assert!(!why.is_empty(), "{told}"),
                Outcome::Sent { wire, warnings } => {
                    let silent = wire.is_empty() && warnings.is_empty();
                    assert!(!silent || probe.is_default, "{told}: neither sent nor told");
                }
            }
        }
    }
}

#[test]
fn every_provider_has_a_heading_to_link_to() {
    let page = page::page();
    for column in columns() {
        assert!(
            page.contains(&format!("\n## {}\n", column.anchor)),
            "{}",
            column.anchor
        );
    }
    for preset in skyl::openai::presets() {
        assert!(
            page.contains(&format!("\n### {}\n", preset.name())),
            "{}",
            preset.name()
        );
    }
}

#[test]
fn a_server_differs_from_the_others_where_its_preset_says_so() {
    let differs = |name: &str| {
        let server = servers().into_iter().find(|server| server.anchor == name);
        page::differences(&server.unwrap(), &compat())
    };
    assert!(
        differs("deepseek")
            .iter()
            .any(|line| line.contains("refused"))
    );
    assert!(differs("mistral").iter().any(|line| line.contains("any")));
    assert!(
        differs("openrouter")
            .iter()
            .any(|line| line.contains("reasoning_details"))
    );
    assert_eq!(differs("together"), Vec::<String>::new());
}

fn first_difference(kept: &str, made: &str) -> String {
    let mut lines = kept.lines().zip(made.lines());
    lines.find(|(kept, made)| kept != made).map_or_else(
        || "one page goes on where the other ends".to_owned(),
        |(kept, made)| format!("kept: {kept}\nmade: {made}"),
    )
}
