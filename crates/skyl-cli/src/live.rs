//! The attempts of a call, told while it runs.
//!
//! Each retry is one line with its reason and its wait. On a terminal the wait counts down below
//! it; on a pipe the lines alone remain. A call whose first attempt succeeds says nothing.

use std::error::Error as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use skyl::{Error, HookEvent, Operation};
use skyl_retry::duration::Rough;
use skyl_retry::{Clock, TokioClock};

use crate::stderr::{Stderr, Tone};

/// Tells attempts on standard error.
pub(crate) struct Live {
    stderr: Stderr,
    clock: TokioClock,
    /// When the wait that is going on ends, on the clock.
    until: Mutex<Option<Duration>>,
}

impl Live {
    pub(crate) fn new(stderr: Stderr) -> Self {
        Self {
            stderr,
            clock: TokioClock::new(),
            until: Mutex::new(None),
        }
    }

    /// Takes a hook event.
    pub(crate) fn attempt(&self, event: &HookEvent<'_>) {
        self.wait_for(event.planned_wait());
        if let Some(line) = line(event) {
            self.stderr.line(Tone::Aside, &line);
        }
    }

    fn wait_for(&self, wait: Option<Duration>) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) =
            wait.map(|wait| self.clock.now().saturating_add(wait));
    }

    /// Counts down for as long as it is polled. It never ends: it runs beside the call.
    pub(crate) async fn count_down(&self) {
        if !self.stderr.look().live {
            return std::future::pending().await;
        }
        let mut beat = tokio::time::interval(BEAT);
        loop {
            beat.tick().await;
            self.draw();
        }
    }

    fn draw(&self) {
        let Some(until) = *self.until.lock().unwrap_or_else(PoisonError::into_inner) else {
            return;
        };
        match until
            .checked_sub(self.clock.now())
            .filter(|left| !left.is_zero())
        {
            Some(left) => self
                .stderr
                .draw(&format!("  next attempt in {}", tenths(left))),
            None => self.stderr.draw("  trying again"),
        }
    }
}

/// What is worth a line: every failure that is retried, and the attempt that ends a row of them.
fn line(event: &HookEvent<'_>) -> Option<String> {
    if event.operation() == Operation::StreamEnd {
        return None;
    }
    let number = event.attempt().saturating_add(1);
    let Some(error) = event.error() else {
        let took = Rough(event.duration());
        return (event.attempt() > 0).then(|| format!("attempt {number}: answered after {took}"));
    };
    let what = what(error);
    let verdict = event
        .verdict()
        .map(|verdict| format!("; {verdict}"))
        .unwrap_or_default();
    match event.planned_wait() {
        Some(wait) => Some(format!(
            "attempt {number}: {what}{verdict}; waiting {}",
            Rough(wait)
        )),
        // The error that follows says the rest; alone it would be said twice.
        None => (event.attempt() > 0).then(|| format!("attempt {number}: {what}{verdict}")),
    }
}

/// The failure in a few words: `http 429 rate limited`, `request failed: connection reset`.
fn what(error: &Error) -> String {
    let kind = error.kind().text();
    if let Some(status) = error.status() {
        return format!("http {status} {kind}");
    }
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    match cause {
        Some(cause) => format!("{kind}: {cause}"),
        None => kind.to_owned(),
    }
}

/// A length to a tenth of a second, for a figure that changes under the eye.
fn tenths(left: Duration) -> String {
    let tenths = left.as_millis().div_ceil(100);
    match (tenths / 10, tenths % 10) {
        (seconds @ 60.., _) => format!("{}m{:02}s", seconds / 60, seconds % 60),
        (seconds, tenth) => format!("{seconds}.{tenth}s"),
    }
}

/// How often the countdown is drawn.
const BEAT: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stderr::{Look, page};

    #[tokio::test(start_paused = true)]
    async fn the_wait_counts_down_on_a_terminal() {
        let (stderr, written) = page(Look {
            live: true,
            colour: false,
        });
        let live = Live::new(stderr);
        live.wait_for(Some(Duration::from_millis(250)));
        tokio::select! {
            () = live.count_down() => {}
            () = live.clock.sleep(Duration::from_millis(350)) => {}
        }
        let shown: Vec<String> = written()
            .split("\r\x1b[K")
            .map(|line| line.trim().to_owned())
            .collect();
        let expected = [
            "",
            "next attempt in 0.3s",
            "next attempt in 0.2s",
            "next attempt in 0.1s",
            "trying again",
        ];
        assert_eq!(shown, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_counts_down_on_a_pipe_or_without_a_wait() {
        for (live, wait) in [(false, Some(Duration::from_millis(250))), (true, None)] {
            let (stderr, written) = page(Look {
                live,
                colour: false,
            });
            let live = Live::new(stderr);
            live.wait_for(wait);
            tokio::select! {
                () = live.count_down() => {}
                () = live.clock.sleep(Duration::from_millis(350)) => {}
            }
            assert_eq!(written(), "");
        }
    }

    #[test]
    fn a_countdown_never_shows_nothing_while_time_is_left() {
        for (millis, expected) in [
            (1, "0.1s"),
            (100, "0.1s"),
            (950, "1.0s"),
            (59_900, "59.9s"),
            (61_000, "1m01s"),
        ] {
            assert_eq!(tenths(Duration::from_millis(millis)), expected);
        }
    }
}
