//! A batch, told while it runs: a bar on a terminal, and the first failures anywhere.

use std::cell::Cell;
use std::fmt::Write as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::commands::ask::batch::store::Known;
use crate::stderr::{Stderr, Tone};

/// Tells of lines on standard error.
pub(super) struct Progress {
    stderr: Stderr,
    bar: ProgressBar,
    failed: Cell<u64>,
    retried: Cell<u64>,
}

impl Progress {
    /// A bar of so many lines, or without an end; hidden where lines cannot be overwritten.
    pub(super) fn new(stderr: Stderr, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let look = stderr.look();
        if look.live {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.set_style(style(total));
            bar.enable_steady_tick(BEAT);
        }
        Self {
            stderr,
            bar,
            failed: Cell::new(0),
            retried: Cell::new(0),
        }
    }

    /// A line has been begun with.
    pub(super) fn begun(&self, known: Known) {
        if known == Known::Answered {
            self.bar.inc(1);
            // Answers of an earlier run say nothing about the speed of this one.
            self.bar.reset_eta();
        }
    }

    pub(super) fn answered(&self, retried: bool) {
        self.counted(retried);
    }

    /// Says why a line failed, for the first few: a thousand of the same would hide what they say.
    pub(super) fn failed(&self, line: u64, retried: bool, why: &str) {
        let failed = self.failed.get().saturating_add(1);
        self.failed.set(failed);
        self.counted(retried);
        let told = match failed {
            ..TOLD => format!("line {line}: {why}"),
            TOLD => format!("line {line}: {why}; further failures are told in the output alone"),
            _ => return,
        };
        self.bar.suspend(|| self.stderr.line(Tone::Alarm, &told));
    }

    /// Takes the bar away.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn counted(&self, retried: bool) {
        let retried = self.retried.get().saturating_add(u64::from(retried));
        self.retried.set(retried);
        self.bar.inc(1);
        self.bar.set_message(counts(self.failed.get(), retried));
    }
}

fn counts(failed: u64, retried: u64) -> String {
    let mut counts = String::new();
    for (count, word) in [(failed, "failed"), (retried, "retried")] {
        if count > 0 {
            // Writing to a string cannot fail.
            let _infallible = write!(counts, ", {count} {word}");
        }
    }
    counts
}

fn style(total: Option<u64>) -> ProgressStyle {
    let template = match total {
        Some(_) => "{bar:32} {pos}/{len} lines{msg}  {rate}, {eta} left",
        None => "{spinner} {pos} lines{msg}  {rate}",
    };
    // A template that does not parse would be a bar of another look, no reason to stop.
    let style = ProgressStyle::with_template(template);
    style
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
        .with_key(
            "rate",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _infallible = write!(out, "{:.1}/s", state.per_sec());
            },
        )
}

/// As many failures as fit beside each other on a screen.
const TOLD: u64 = 10;

/// How often the bar is drawn while nothing happens.
const BEAT: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stderr::{Look, page};

    #[test]
    fn on_a_pipe_there_is_no_bar_and_the_first_failures_are_told() {
        let (stderr, written) = page(Look {
            live: false,
            colour: false,
        });
        let progress = Progress::new(stderr, Some(30));
        progress.begun(Known::Answered);
        progress.answered(true);
        for line in 1..=30 {
            progress.failed(line, false, "rate limited");
        }
        progress.end();
        let written = written();
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines.len(), 10, "{lines:?}");
        assert_eq!(lines[0], "line 1: rate limited");
        assert!(lines[9].contains("further failures"), "{lines:?}");
    }

    #[test]
    fn counts_of_nothing_are_left_out() {
        for (failed, retried, expected) in [
            (0, 0, ""),
            (2, 0, ", 2 failed"),
            (0, 3, ", 3 retried"),
            (2, 3, ", 2 failed, 3 retried"),
        ] {
            assert_eq!(counts(failed, retried), expected);
        }
    }

    #[test]
    fn both_looks_are_looks_there_are() {
        for template in [
            "{bar:32} {pos}/{len} lines{msg}",
            "{spinner} {pos} lines{msg}",
        ] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
