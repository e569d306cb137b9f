//! The loop of a batch: takes lines, asks them side by side, keeps what comes back.
//!
//! It knows no API and no terminal; what asks a line is given to it. Three things bound it: so many
//! lines are asked at the same time; at most four times as many have been begun with and wait for
//! their turn in the output, so that one slow line holds back the rest instead of filling memory;
//! and the limiter says when the next may start.

use std::future::Future;
use std::io;

use skyl_retry::Clock;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::commands::ask::batch::input::Line;
use crate::commands::ask::batch::pace::{Cost, Pace};
use crate::commands::ask::batch::progress::Progress;
use crate::commands::ask::batch::record::Record;
use crate::commands::ask::batch::store::{Known, Store};
use crate::exit::Exit;
use crate::failure::Failure;

/// What became of a line.
#[derive(Debug)]
pub(super) enum Outcome {
    Answered(Record),
    /// With the code of the failure, and a line about it for people.
    Failed(Record, Exit, String),
    /// Nobody knows: it was stopped.
    Stopped,
}

/// A line that has been asked.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    /// What it did cost; `None` where nobody said, and the estimate stands.
    pub(super) tokens: Option<u64>,
    pub(super) requests: u64,
}

/// How a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Every line has been asked.
    Whole,
    Stopped,
}

/// A batch that is under way.
pub(super) struct Engine<'a, C> {
    pub(super) concurrency: usize,
    pub(super) pace: Pace,
    pub(super) clock: &'a C,
    pub(super) store: &'a mut Store,
    pub(super) progress: &'a Progress,
}

impl<C: Clock> Engine<'_, C> {
    /// Asks all lines. After `stop`, none is begun with; those in flight are waited for, since it is
    /// theirs to end early.
    ///
    /// # Errors
    ///
    /// The first failure to read a line, once everything in flight is kept, or to keep an answer, at
    /// once: nothing that follows could be kept either.
    pub(super) async fn run<F>(
        mut self,
        mut lines: mpsc::Receiver<io::Result<Line>>,
        stop: impl Future<Output = ()>,
        ask: impl Fn(Line) -> F,
    ) -> Result<End, Failure>
    where
        F: Future<Output = Result<Done, Failure>> + Send + 'static,
    {
        let mut flight = JoinSet::new();
        let mut next: Option<Next> = None;
        let mut state = Reading::On;
        let mut stop = std::pin::pin!(stop);
        loop {
            if flight.is_empty() && next.is_none() {
                match state {
                    Reading::On => {}
                    Reading::Whole => return Ok(End::Whole),
                    Reading::Stopped => return Ok(End::Stopped),
                    Reading::Broken(failure) => return Err(failure),
                }
            }
            let reading = matches!(state, Reading::On) && next.is_none() && self.has_room(&flight);
            let due = self.due(next.as_ref());
            tokio::select! {
                biased;
                () = &mut stop, if !matches!(state, Reading::Stopped) => {
                    state = Reading::Stopped;
                    next = None;
                }
                Some(done) = flight.join_next(), if !flight.is_empty() => {
                    let (line, estimate, done): (u64, Cost, Result<Done, Failure>) =
                        done.map_err(|error| Failure::internal(format!("a line: {error}")))?;
                    self.keep(line, estimate, done?)?;
                }
                () = due => {
                    if let Some(Next { line, estimate, .. }) = next.take() {
                        let number = line.number;
                        let asked = ask(line);
                        flight.spawn(async move { (number, estimate, asked.await) });
                    }
                }
                line = lines.recv(), if reading => match line {
                    Some(Ok(line)) => next = self.begin(line)?,
                    Some(Err(error)) => {
                        state = Reading::Broken(Failure::internal(format!(
                            "cannot read the next line of the batch: {error}"
                        )));
                    }
                    None => state = Reading::Whole,
                },
            }
        }
    }

    fn has_room<T>(&self, flight: &JoinSet<T>) -> bool {
        flight.len() < self.concurrency
            && self.store.ahead() < self.concurrency.saturating_mul(AHEAD)
    }

    /// Resolves when the next line may start; never without one.
    fn due(&self, next: Option<&Next>) -> impl Future<Output = ()> + use<C> {
        let wait = next.map(|next| next.start.checked_sub(self.clock.now()));
        let sleep = wait.map(|wait| wait.filter(|wait| !wait.is_zero()));
        let sleep = sleep.map(|wait| wait.map(|wait| self.clock.sleep(wait)));
        async {
            match sleep {
                None => std::future::pending().await,
                Some(None) => {}
                Some(Some(sleep)) => sleep.await,
            }
        }
    }

    /// Begins with a line; `None` if it has been answered before.
    fn begin(&mut self, line: Line) -> Result<Option<Next>, Failure> {
        let known = self.store.begin(line.number)?;
        self.progress.begun(known);
        if known == Known::Answered {
            return Ok(None);
        }
        // What cannot be sent costs nothing.
        let estimate = line
            .document
            .as_ref()
            .map_or(Cost::NOTHING, |document| Cost::estimate(document.len()));
        let start = self.pace.reserve(self.clock.now(), estimate);
        Ok(Some(Next {
            line,
            estimate,
            start,
        }))
    }

    fn keep(&mut self, line: u64, estimate: Cost, done: Done) -> Result<(), Failure> {
        let Done {
            outcome,
            tokens,
            requests,
        } = done;
        let estimated = if requests == 0 { 0 } else { estimate.tokens };
        let actual = Cost {
            requests,
            tokens: tokens.unwrap_or(estimated),
        };
        self.pace.settle(estimate, actual);
        match outcome {
            Outcome::Answered(record) => {
                self.store.answered(line, &record)?;
                self.progress.answered(record.tally.retried);
            }
            Outcome::Failed(record, exit, told) => {
                let retried = record.tally.retried;
                self.store.failed(line, record, exit)?;
                self.progress.failed(line, retried, &told);
            }
            Outcome::Stopped => {}
        }
        Ok(())
    }
}

/// A line that waits for the limiter.
struct Next {
    line: Line,
    estimate: Cost,
    start: std::time::Duration,
}

/// Whether more lines are taken, and if not, why.
enum Reading {
    On,
    Whole,
    Stopped,
    Broken(Failure),
}

/// How many times the lines in flight may be begun with and not be written yet.
const AHEAD: usize = 4;

#[cfg(test)]
mod tests;
