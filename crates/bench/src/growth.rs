//! How memory grows with calls in flight and with open streams.
//!
//! Each contender runs in a process of its own, so that none reuses what another has freed. Calls
//! wait for an answer that never comes; streams have handed out their first text and wait for
//! more. What is counted is the resident memory of the process, connections included.

use std::process::Command;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::client::{self, Held};
use crate::engine::runtime;
use crate::markdown::markdown;
use crate::measure::{Bench, Effort, as_f64};
use crate::server::Server;

/// Measures and prints a table for calls and one for streams.
pub(crate) fn run(bench: &Bench) -> String {
    let server = Server::start();
    let steps: &[usize] = match bench.effort {
        Effort::Full => &[1, 100, 10_000],
        Effort::Smoke => &[1, 3],
    };
    [
        ("Memory of calls in flight", "calls"),
        ("Memory of open streams", "streams"),
    ]
    .into_iter()
    .map(|(title, what)| table(title, what, steps, &server.url) + "\n")
    .collect()
}

fn table(title: &str, what: &str, steps: &[usize], url: &str) -> String {
    let mut head = vec![String::new()];
    head.extend(steps.iter().map(usize::to_string));
    head.push("each of the last".to_owned());
    let mut rows = Vec::new();
    for name in client::held(what, url).iter().map(|held| held.name) {
        let kib = measured(what, name, steps, url);
        let each = match (kib.as_slice(), steps) {
            ([.., before, last], [.., fewer, more]) => {
                (last - before) / as_f64((more - fewer) as u64)
            }
            _ => 0.0,
        };
        let mut row = vec![name.to_owned()];
        row.extend(kib.iter().map(|kib| format!("{kib:.0}")));
        row.push(format!("{each:.1}"));
        rows.push(row);
    }
    markdown(&format!("{title}, KiB resident"), &head, &rows)
}

/// Asks a process of its own; one figure per step.
#[expect(
    clippy::expect_used,
    reason = "a measurement without a process is no measurement"
)]
fn measured(what: &str, name: &str, steps: &[usize], url: &str) -> Vec<f64> {
    let program = std::env::current_exe().expect("the own program");
    let output = Command::new(program)
        .args(["hold", what, name, url])
        .args(steps.iter().map(usize::to_string))
        .output()
        .expect("the contender runs");
    assert!(output.status.success(), "{name}: {output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// The process of one contender: prints its growth in KiB at each step.
#[expect(clippy::print_stdout, reason = "how the parent learns the figures")]
pub(crate) fn hold(what: &str, name: &str, url: &str, steps: &[String]) -> Result<(), String> {
    let runtime = runtime();
    let before = resident_kib();
    let held = client::held(what, url)
        .into_iter()
        .find(|held| held.name == name)
        .ok_or("no such contender")?;
    let mut open = JoinSet::new();
    for step in steps {
        let step: usize = step.parse().map_err(|_| "no number")?;
        grow(&runtime, &held, &mut open, step);
        println!("{:.0}", resident_kib() - before);
    }
    Ok(())
}

/// Opens calls until there are so many, and waits until all of them wait.
#[expect(clippy::disallowed_methods, reason = "sockets take real time")]
fn grow(runtime: &Runtime, held: &Held, open: &mut JoinSet<()>, step: usize) {
    runtime.block_on(async {
        while open.len() < step {
            // In small groups, so that the server's backlog holds them.
            for _ in open.len()..step.min(open.len() + 64) {
                open.spawn((held.begin)());
            }
            while sockets() < open.len() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    });
}

/// Descriptors of this process, which are sockets but for a handful.
fn sockets() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(usize::MAX, |entries| {
        entries.count().saturating_sub(OWN_DESCRIPTORS)
    })
}

/// Zero where there is no `/proc`.
fn resident_kib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}

/// Standard streams, the runtime's own, and the one that lists them: at least so many.
const OWN_DESCRIPTORS: usize = 4;
