//! Times contenders against each other, in one run; or, in a build of its own, counts what they
//! allocate.
//!
//! Rounds are interleaved: each contender runs once a round, in turn, so that a machine whose speed
//! drifts slows them all. The median round is quoted.

use std::time::Instant;

use stats_alloc::Region;

use crate::ALLOCATIONS;

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

impl Effort {
    fn rounds(self) -> usize {
        match self {
            Self::Full => 9,
            Self::Smoke => 1,
        }
    }

    fn scale(self, iterations: u64) -> u64 {
        match self {
            Self::Full => iterations,
            Self::Smoke => (iterations / 1000).max(1),
        }
    }
}

/// What one contender took, per operation.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    name: &'static str,
    taken: Taken,
}

/// One build takes the times, the other counts.
#[derive(Clone, Copy, Debug)]
enum Taken {
    Nanos(f64),
    Allocations { number: f64, bytes: f64 },
}

/// Runs all contenders, interleaved, `iterations` operations a round.
pub(crate) fn compare(
    effort: Effort,
    iterations: u64,
    mut contenders: Vec<Contender<'_>>,
) -> Vec<Figures> {
    let iterations = effort.scale(iterations);
    for contender in &mut contenders {
        (contender.run)(iterations / 10 + 1);
    }
    let taken = if cfg!(feature = "allocations") {
        count(iterations, &mut contenders)
    } else {
        time(effort.rounds(), iterations, &mut contenders)
    };
    contenders
        .iter()
        .zip(taken)
        .map(|(contender, taken)| Figures {
            name: contender.name,
            taken,
        })
        .collect()
}

/// A table of one comparison; ratios are against the first row. With the bytes an operation
/// reads, it shows the throughput too.
pub(crate) fn table(title: &str, unit: &str, bytes: Option<f64>, figures: &[Figures]) -> String {
    let mut out = format!("### {title}\n\n");
    let mut line = |cells: &[String]| {
        out.extend(cells.iter().map(|cell| format!("| {cell} ")));
        out.push_str("|\n");
    };
    let first = figures.first().map_or(1.0, Figures::nanos);
    let (mut head, mut rule) = (vec![String::new()], vec!["---".to_owned()]);
    let mut column = |name: String| {
        head.push(name);
        rule.push("---:".to_owned());
    };
    match figures.first().map(|figures| figures.taken) {
        Some(Taken::Nanos(_)) => {
            column(format!("ns/{unit}"));
            column("ratio".to_owned());
            if bytes.is_some() {
                column("MB/s".to_owned());
            }
        }
        Some(Taken::Allocations { .. }) => {
            column(format!("allocations/{unit}"));
            column(format!("bytes/{unit}"));
        }
        None => {}
    }
    line(&head);
    line(&rule);
    for Figures { name, taken } in figures {
        let mut row = vec![(*name).to_owned()];
        match taken {
            Taken::Nanos(nanos) => {
                row.extend([format!("{nanos:.1}"), format!("{:.2}", nanos / first)]);
                row.extend(bytes.map(|bytes| format!("{:.0}", bytes / nanos * 1e3)));
            }
            Taken::Allocations { number, bytes } => {
                row.extend([format!("{number:.2}"), format!("{bytes:.0}")]);
            }
        }
        line(&row);
    }
    out
}

/// A table of microseconds of processor time; ratios are against the first row.
pub(crate) fn processor_table(title: &str, unit: &str, rows: &[(&str, f64)]) -> String {
    let first = rows.first().map_or(1.0, |(_, micros)| *micros);
    let rows: Vec<_> = rows
        .iter()
        .map(|(name, micros)| {
            let ratio = micros / first;
            vec![
                (*name).to_owned(),
                format!("{micros:.1}"),
                format!("{ratio:.2}"),
            ]
        })
        .collect();
    let head = [String::new(), format!("µs/{unit}"), "ratio".to_owned()];
    markdown(title, &head, &rows)
}

/// A table with a title; the first column is text, the others are figures.
pub(crate) fn markdown(title: &str, head: &[String], rows: &[Vec<String>]) -> String {
    let rule = head
        .iter()
        .enumerate()
        .map(|(at, _)| if at == 0 { "---" } else { "---:" }.to_owned())
        .collect();
    let mut out = format!("### {title}\n\n");
    for row in [&head.to_vec(), &rule].into_iter().chain(rows) {
        out.extend(row.iter().map(|cell| format!("| {cell} ")));
        out.push_str("|\n");
    }
    out
}

impl Figures {
    fn nanos(&self) -> f64 {
        match self.taken {
            Taken::Nanos(nanos) => nanos,
            Taken::Allocations { .. } => 1.0,
        }
    }
}

fn time(rounds: usize, iterations: u64, contenders: &mut [Contender<'_>]) -> Vec<Taken> {
    let mut times = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let began = now();
            (contender.run)(iterations);
            times.push(began.elapsed().as_secs_f64() * 1e9 / as_f64(iterations));
        }
    }
    times
        .into_iter()
        .map(|times| Taken::Nanos(median(times)))
        .collect()
}

/// The middle one; zero where there is none.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

fn count(iterations: u64, contenders: &mut [Contender<'_>]) -> Vec<Taken> {
    let whole = |count: usize| as_f64(u64::try_from(count).unwrap_or(u64::MAX));
    contenders
        .iter_mut()
        .map(|contender| {
            let region = Region::new(ALLOCATIONS);
            (contender.run)(iterations);
            let change = region.change();
            Taken::Allocations {
                number: whole(change.allocations + change.reallocations) / as_f64(iterations),
                bytes: whole(change.bytes_allocated) / as_f64(iterations),
            }
        })
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "measuring is what this program is for"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
pub(crate) fn as_f64(count: u64) -> f64 {
    count as f64
}
