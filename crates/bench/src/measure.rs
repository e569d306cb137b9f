//! Times contenders against each other, in one run; or, in a build of its own, counts what they
//! allocate.
//!
//! Rounds are interleaved: each contender runs once a round, in turn, so that a machine whose speed
//! drifts slows them all. What is quoted is the median round, and the ratios within a round: the
//! middle one of them, and the lowest and the highest.

use std::time::Instant;

use cpu_time::ProcessTime;
use stats_alloc::Region;

use crate::ALLOCATIONS;
use crate::counts::{Count, Counts};
use crate::markdown::{Cells, markdown};

/// One way of doing the work, run `n` times per call.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    run: Box<dyn FnMut(u64) + 'a>,
}

impl<'a> Contender<'a> {
    pub(crate) fn new(name: &'static str, run: impl FnMut(u64) + 'a) -> Self {
        Self {
            name,
            run: Box::new(run),
        }
    }

    /// Does the work `n` times.
    pub(crate) fn run(&mut self, n: u64) {
        (self.run)(n);
    }
}

/// How much is measured: enough to quote, or just enough to see that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Full,
    Smoke,
}

/// How the measurements of this run are taken.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) effort: Effort,
    /// What a counting build has counted before.
    pub(crate) counts: Counts,
}

/// What is compared in one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) title: &'a str,
    /// What one operation is called.
    pub(crate) unit: &'a str,
    /// Operations in a round.
    pub(crate) iterations: u64,
    /// The bytes an operation reads, where that is what it is about.
    pub(crate) bytes: Option<f64>,
    pub(crate) clock: Stopwatch,
    /// What is to be known of the figures, in Markdown; empty where the title says it.
    pub(crate) note: &'a str,
}

/// Which time is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopwatch {
    /// Time that passes; for work that never waits.
    Wall,
    /// Processor time of this process, as `getrusage` has it; for work that waits for a server.
    Processor,
}

impl Bench {
    /// Runs all contenders, interleaved, and prints their table; ratios are against the first.
    pub(crate) fn compare(
        &self,
        subject: Subject<'_>,
        mut contenders: Vec<Contender<'_>>,
    ) -> String {
        let (rounds, iterations) = match self.effort {
            Effort::Full => (ROUNDS, subject.iterations),
            Effort::Smoke => (1, (subject.iterations / 1000).max(1)),
        };
        // Opens connections and fills caches.
        for contender in &mut contenders {
            contender.run(iterations / 10 + 1);
        }
        if cfg!(feature = "allocations") {
            let counts = contenders.iter_mut().map(|contender| {
                let count = count(contender, iterations);
                (contender.name, count)
            });
            return counted_table(subject, &counts.collect::<Vec<_>>());
        }
        let mut times = vec![Vec::new(); contenders.len()];
        for _ in 0..rounds {
            for (contender, times) in contenders.iter_mut().zip(&mut times) {
                let seconds = subject.clock.time(|| contender.run(iterations));
                times.push(seconds / as_f64(iterations));
            }
        }
        let names = contenders.iter().map(|contender| contender.name);
        self.timed_table(subject, &names.zip(times).collect::<Vec<_>>())
    }

    fn timed_table(&self, subject: Subject<'_>, rows: &[(&str, Vec<f64>)]) -> String {
        let (scale, prefix) = subject.clock.scale();
        let unit = subject.unit;
        let counted = self.counts.has(subject.title);
        let mut head = vec![
            String::new(),
            format!("{prefix}s/{unit}"),
            "ratio".to_owned(),
            "lowest–highest".to_owned(),
        ];
        head.extend(subject.bytes.map(|_| "MB/s".to_owned()));
        if counted {
            head.extend([format!("allocations/{unit}"), format!("bytes/{unit}")]);
        }
        let first = rows.first().map(|(_, times)| times.as_slice());
        let first = first.unwrap_or_default();
        let cells = rows.iter().map(|(name, times)| {
            let seconds = median(times.clone());
            let mut ratios: Vec<f64> = times.iter().zip(first).map(|(t, f)| t / f).collect();
            ratios.sort_by(f64::total_cmp);
            let [low, high] = [ratios.first(), ratios.last()].map(|r| r.copied().unwrap_or(1.0));
            let mut row = vec![
                (*name).to_owned(),
                format!("{:.1}", seconds * scale),
                format!("{:.2}", median(ratios)),
                format!("{low:.2}–{high:.2}"),
            ];
            row.extend(
                subject
                    .bytes
                    .map(|bytes| format!("{:.0}", bytes / seconds / 1e6)),
            );
            if counted {
                row.extend(Count::cells(self.counts.of(subject.title, name)));
            }
            row
        });
        titled(subject, &head, &cells.collect::<Cells>())
    }
}

impl Stopwatch {
    fn time(self, work: impl FnOnce()) -> f64 {
        match self {
            Self::Wall => {
                let began = now();
                work();
                began.elapsed().as_secs_f64()
            }
            Self::Processor => {
                let began = ProcessTime::now();
                work();
                began.elapsed().as_secs_f64()
            }
        }
    }

    /// What seconds are shown in.
    const fn scale(self) -> (f64, &'static str) {
        match self {
            Self::Wall => (1e9, "n"),
            Self::Processor => (1e6, "µ"),
        }
    }
}

fn counted_table(subject: Subject<'_>, rows: &[(&str, Count)]) -> String {
    let unit = subject.unit;
    let head = [
        String::new(),
        format!("allocations/{unit}"),
        format!("bytes/{unit}"),
    ];
    let cells = rows.iter().map(|(name, count)| {
        let mut row = vec![(*name).to_owned()];
        row.extend(Count::cells(Some(*count)));
        row
    });
    titled(subject, &head, &cells.collect::<Cells>())
}

fn titled(subject: Subject<'_>, head: &[String], cells: &Cells) -> String {
    let mut out = markdown(subject.title, head, cells);
    if !subject.note.is_empty() {
        out.push('\n');
        out.push_str(subject.note);
        out.push('\n');
    }
    out
}

fn count(contender: &mut Contender<'_>, iterations: u64) -> Count {
    let whole = |count: usize| as_f64(u64::try_from(count).unwrap_or(u64::MAX));
    let region = Region::new(ALLOCATIONS);
    contender.run(iterations);
    let change = region.change();
    Count {
        allocations: whole(change.allocations + change.reallocations) / as_f64(iterations),
        bytes: whole(change.bytes_allocated) / as_f64(iterations),
    }
}

/// The middle one; zero where there is none.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

#[expect(
    clippy::disallowed_methods,
    reason = "measuring is what this program is for"
)]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
pub(crate) fn as_f64(count: u64) -> f64 {
    count as f64
}

/// An odd number, so that there is a middle one.
const ROUNDS: usize = 9;
