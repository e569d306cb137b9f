//! What happened, counted; and what did not fit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use skyl::{ErrorKind, RetryStop};

use crate::Settings;
use crate::draw::{self, Leaving};
use crate::run::{Outcome, Told};

/// The counts of a run, and its mismatches.
#[derive(Default)]
pub(crate) struct Report {
    of: BTreeMap<&'static str, Counts>,
    kinds: BTreeMap<&'static str, u64>,
    mismatches: Vec<String>,
    missed: u64,
    seed: u64,
}

/// The counts of one client.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    /// Attempts on record.
    pub(crate) attempts: u64,
    /// Requests that arrived.
    requests: u64,
    /// Streams that were handed out.
    pub(crate) streams: u64,
    answered: u64,
    /// Answered, but not by the first attempt.
    survived: u64,
    exhausted: u64,
    broken: u64,
    failed: u64,
    /// Futures that were dropped before their end.
    pub(crate) left: u64,
}

impl Report {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    pub(crate) fn count(&mut self, told: &Told, requests: usize) {
        let counts = self.of.entry(told.target).or_default();
        counts.calls += 1;
        counts.attempts += u64::try_from(told.attempts.len()).unwrap();
        counts.requests += u64::try_from(requests).unwrap();
        counts.streams += u64::from(told.started);
        match &told.outcome {
            Outcome::Left => counts.left += 1,
            Outcome::Answered => {
                counts.answered += 1;
                counts.survived += u64::from(told.attempts.len() > 1);
            }
            Outcome::Failed(error) => {
                let kind: ErrorKind = error.kind();
                *self.kinds.entry(kind.as_str()).or_default() += 1;
                match error.retry_stop() {
                    _ if error.delivered() => counts.broken += 1,
                    Some(RetryStop::AttemptsExhausted) => counts.exhausted += 1,
                    _ => counts.failed += 1,
                }
            }
        }
    }

    pub(crate) fn counts(&self, target: &str) -> Counts {
        self.of.get(target).copied().unwrap_or_default()
    }

    /// Whether the caller of this call let go of it.
    pub(crate) fn was_cut(&self, number: u64) -> bool {
        draw::call(self.seed, number).leaving != Leaving::Stays
    }

    pub(crate) fn mismatch(&mut self, told: Option<&Told>, what: String) {
        if self.mismatches.len() >= MOST_SHOWN {
            self.missed += 1;
            return;
        }
        let Some(told) = told else {
            self.mismatches.push(what);
            return;
        };
        let result = match &told.outcome {
            Outcome::Left => "left".to_owned(),
            Outcome::Answered => "answered".to_owned(),
            Outcome::Failed(error) => error.to_string(),
        };
        self.mismatches.push(format!(
            "call {} ({}, {:?}): {what}\n    {result}\n    {:?}",
            told.drawn.number, told.target, told.drawn, told.attempts
        ));
    }

    pub(crate) fn agrees(&self) -> bool {
        self.mismatches.is_empty()
    }

    pub(crate) fn text(&self, settings: &Settings, took: Duration) -> String {
        let mut text = format!(
            "soak: {} calls with seed {}, chaos {}, {} at once, in {:.1} s\n\n{HEAD}",
            settings.calls,
            settings.seed,
            settings.chaos,
            settings.concurrency,
            took.as_secs_f64()
        );
        for (name, c) in &self.of {
            writeln!(
                text,
                "{name:<12}{:>9}{:>10}{:>10}{:>10}{:>11}{:>9}{:>9}{:>7}",
                c.calls,
                c.requests,
                c.answered,
                c.survived,
                c.exhausted,
                c.failed,
                c.broken,
                c.left
            )
            .unwrap();
        }
        let kinds: Vec<String> = self
            .kinds
            .iter()
            .map(|(kind, n)| format!("{kind} {n}"))
            .collect();
        writeln!(text, "\nfailures by kind: {}", kinds.join(", ")).unwrap();
        for mismatch in &self.mismatches {
            writeln!(text, "\nMISMATCH {mismatch}").unwrap();
        }
        if self.missed > 0 {
            writeln!(text, "\nand {} mismatches more", self.missed).unwrap();
        }
        if self.agrees() {
            text.push_str("journal and records agree on every call\n");
        }
        text
    }
}

const HEAD: &str =
    "dialect         calls  requests  answered  survived  exhausted   failed   broken   left\n";

const MOST_SHOWN: usize = 10;
