//! The tables, read and held to the code.

use std::time::Duration;

use skyl_retry::{RetryPolicy, StopReason as RetryStop};

use crate::dialect::Fault;
use crate::error::Error;
use crate::kind::ErrorKind;
use crate::response::StopReason;
use crate::scrub::Scrubber;

/// The rows of the table under a heading: their cells, without backticks.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let page = include_str!("../guide.rs");
    let (_, section) = page.split_once(&format!("//! # {heading}\n")).unwrap();
    section
        .lines()
        .take_while(|line| !line.starts_with("//! # "))
        .filter_map(|line| line.strip_prefix("//! | `"))
        .map(|row| {
            row.trim_end_matches(" |")
                .split(" | ")
                .map(|cell| cell.replace('`', ""))
                .collect()
        })
        .collect()
}

fn first_column(heading: &str) -> Vec<String> {
    rows(heading)
        .into_iter()
        .map(|row| row[0].clone())
        .collect()
}

#[test]
fn every_kind_stands_with_its_group_and_whether_it_is_retried() {
    let rows = rows("Kinds of error");
    assert_eq!(rows.len(), KINDS.len());
    for (row, kind) in rows.iter().zip(KINDS) {
        let fault = Fault::new(kind);
        let error = Error::from_fault(&fault, &"p".into(), &Scrubber::new(None));
        let group = kind.group().map(|group| format!("{group:?}"));
        let retried = if error.retryable() { "yes" } else { "no" };
        assert_eq!(row[0], kind.as_str());
        assert_eq!(row[1], group.as_deref().unwrap_or("none"), "{kind:?}");
        assert_eq!(row[2], retried, "{kind:?}");
    }
}

#[test]
fn every_reason_to_end_a_call_is_listed() {
    let mut listed = first_column("Why a call ended");
    let mut known: Vec<_> = RetryStop::ALL.map(|stop| stop.as_str().to_owned()).into();
    listed.sort();
    known.sort();
    assert_eq!(listed, known);
}

#[test]
fn every_reason_of_a_model_is_listed() {
    let known = [
        StopReason::EndTurn,
        StopReason::MaxTokens,
        StopReason::ToolUse,
        StopReason::StopSequence,
        StopReason::Refusal,
        StopReason::Pause,
        StopReason::Other(String::new()),
    ];
    let listed = first_column("Why a model stopped");
    assert_eq!(listed, known.map(|reason| reason.as_str().to_owned()));
}

#[test]
fn every_figure_has_the_value_of_its_preset() {
    let presets = [
        RetryPolicy::chat(),
        RetryPolicy::system_one(),
        RetryPolicy::fleet(),
    ];
    let rows = rows("Figures of a policy");
    assert_eq!(rows.len(), 17);
    for row in rows {
        for (policy, told) in presets.iter().zip(&row[1..4]) {
            assert_eq!(told, &figure(policy, &row[0]), "{}", row[0]);
        }
    }
}

#[test]
fn every_example_is_listed() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut files: Vec<_> = std::fs::read_dir(examples)
        .unwrap()
        .filter_map(|file| {
            file.unwrap()
                .path()
                .file_stem()?
                .to_str()
                .map(str::to_owned)
        })
        .collect();
    let mut listed = first_column("Runnable examples");
    files.sort();
    listed.sort();
    assert_eq!(listed, files);
}

fn figure(policy: &RetryPolicy, name: &str) -> String {
    match name {
        "max_retries" => policy.max_retries().to_string(),
        "initial_delay" => length(policy.initial_delay()),
        "max_delay" => length(policy.max_delay()),
        "jitter" => policy.jitter().to_string(),
        "honor_retry_after" => policy.honor_retry_after().to_string(),
        "max_retry_after" => length(policy.max_retry_after()),
        "over_cap" => policy.over_cap().to_string(),
        "zero_hint" => policy.zero_hint().to_string(),
        "honor_should_retry" => policy.honor_should_retry().to_string(),
        "spread" => policy.spread().map_or("none".to_owned(), |spread| {
            format!(
                "{} · {} · {}",
                spread.of_hint,
                spread.growth,
                length(spread.max)
            )
        }),
        "budget" => length(policy.budget().unwrap_or_default()),
        "retry_by" => policy.retry_by().to_string(),
        "retry_statuses" => policy.retry_statuses().to_string(),
        "retry_on_conn_err" => policy.retry_on_conn_err().to_string(),
        "retry_on_timeout" => policy.retry_on_timeout().to_string(),
        "retry_unsent" => policy.retry_unsent().to_string(),
        "retry_budget" => policy.retry_budget().map_or("none".to_owned(), |budget| {
            assert_eq!(budget.initial, None, "starts full");
            format!(
                "{} · {} · {}",
                budget.ratio, budget.reserve_per_second, budget.capacity
            )
        }),
        other => unreachable!("a figure nobody knows: {other}"),
    }
}

fn length(duration: Duration) -> String {
    if duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}

/// In the order of the enum.
const KINDS: [ErrorKind; 18] = [
    ErrorKind::Auth,
    ErrorKind::RateLimit,
    ErrorKind::NotFound,
    ErrorKind::BadRequest,
    ErrorKind::Server,
    ErrorKind::Unsupported,
    ErrorKind::Refusal,
    ErrorKind::StreamClosed,
    ErrorKind::Transport,
    ErrorKind::Timeout,
    ErrorKind::Certificate,
    ErrorKind::Cancelled,
    ErrorKind::Deadline,
    ErrorKind::QuotaExhausted,
    ErrorKind::ContextLength,
    ErrorKind::Truncated,
    ErrorKind::Decode,
    ErrorKind::Unclassified,
];
