//! Times contenders against each other, in one run, and counts what they allocate.
//!
//! Rounds are interleaved: each contender runs once a round, in turn, so that a machine whose speed
//! drifts slows them all. The median round is quoted. Allocations are counted in a round of their
//! own, so that counting costs no time.

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
    pub(crate) name: &'static str,
    pub(crate) nanos: f64,
    pub(crate) allocations: f64,
    pub(crate) bytes: f64,
}

/// Runs all contenders, interleaved, `iterations` operations a round.
pub(crate) fn compare(
    effort: Effort,
    iterations: u64,
    mut contenders: Vec<Contender<'_>>,
) -> Vec<Figures> {
    let iterations = effort.scale(iterations);
    let mut times = vec![Vec::new(); contenders.len()];
    for contender in &mut contenders {
        (contender.run)(iterations / 10 + 1);
    }
    for _ in 0..effort.rounds() {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let began = now();
            (contender.run)(iterations);
            times.push(began.elapsed().as_secs_f64() * 1e9 / as_f64(iterations));
        }
    }
    contenders
        .iter_mut()
        .zip(times)
        .map(|(contender, mut times)| {
            times.sort_by(f64::total_cmp);
            let region = Region::new(ALLOCATIONS);
            (contender.run)(iterations);
            let change = region.change();
            Figures {
                name: contender.name,
                nanos: times[times.len() / 2],
                allocations: whole(change.allocations + change.reallocations) / as_f64(iterations),
                bytes: whole(change.bytes_allocated) / as_f64(iterations),
            }
        })
        .collect()
}

/// A table of one comparison; ratios are against the first row.
pub(crate) fn table(title: &str, unit: &str, figures: &[Figures]) -> String {
    let first = figures.first().map_or(1.0, |figures| figures.nanos);
    let head = format!(
        "### {title}\n\n| | ns/{unit} | ratio | allocations/{unit} | bytes/{unit} |\n\
         |---|---:|---:|---:|---:|\n"
    );
    let rows = figures.iter().map(|f| {
        let Figures {
            name,
            nanos,
            allocations,
            bytes,
        } = f;
        let ratio = nanos / first;
        format!("| {name} | {nanos:.1} | {ratio:.2} | {allocations:.2} | {bytes:.0} |\n")
    });
    std::iter::once(head).chain(rows).collect()
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

fn whole(count: usize) -> f64 {
    as_f64(u64::try_from(count).unwrap_or(u64::MAX))
}
