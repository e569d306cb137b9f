//! How wide should a fleet spread a wait that its server told all of it?
//!
//! Runs `shared-retry-after` for every fleet size, hint and candidate for the three figures of
//! [`Spread`], and holds each candidate against `hint + U(0, hint)`: the widest spread that keeps the
//! first wait within twice the hint. Prints the candidates that no other beats in both calls and
//! completion at 1,000 clients and 5 s, and what speaks against each.
//!
//! ```console
//! cargo run --release -p skyl-sim --example spread             # the front, as Markdown
//! cargo run --release -p skyl-sim --example spread -- --csv    # every candidate and cell
//! cargo run --release -p skyl-sim --example spread -- --svg    # the front, as a picture
//! ```

#![expect(
    clippy::print_stdout,
    reason = "an example that prints is what it is for"
)]

use std::error::Error;
use std::time::Duration;

use skyl_retry::{RetryPolicy, Spread};
use skyl_sim::{Plan, Scenario, Watch};

type Anything = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Anything> {
    let candidates = measure()?;
    match std::env::args().nth(1).as_deref() {
        Some("--csv") => csv(&candidates),
        Some("--svg") => svg(&front(&candidates)),
        _ => markdown(&candidates[0], &front(&candidates)),
    }
    Ok(())
}

/// One candidate and how it fares everywhere.
struct Candidate {
    spread: Spread,
    cells: Vec<Cell>,
}

/// One fleet size and hint; the ratios are to `hint + U(0, hint)`.
struct Cell {
    clients: u32,
    hint: u32,
    calls: f64,
    seconds: f64,
    calls_ratio: f64,
    seconds_ratio: f64,
}

impl Candidate {
    fn aim(&self) -> &Cell {
        let is_it = |cell: &&Cell| cell.clients == 1000 && cell.hint == 5;
        self.cells.iter().find(is_it).unwrap_or(&self.cells[0])
    }

    fn worst(&self) -> &Cell {
        let by = |a: &&Cell, b: &&Cell| a.worse().total_cmp(&b.worse());
        self.cells.iter().max_by(by).unwrap_or(&self.cells[0])
    }

    /// What keeps it from being a clear gain.
    fn verdict(&self) -> &'static str {
        let aim = self.aim();
        if self.worst().worse() > LEEWAY {
            "a cell loses over 5 %"
        } else if aim.worse() > 1.0 {
            "loses at the aim"
        } else if aim.calls_ratio.min(aim.seconds_ratio) > 0.9 {
            "gains under 10 %"
        } else {
            "nothing"
        }
    }
}

impl Cell {
    fn worse(&self) -> f64 {
        self.calls_ratio.max(self.seconds_ratio)
    }
}

fn measure() -> Result<Vec<Candidate>, Anything> {
    let mut candidates = Vec::new();
    let mut policies = Vec::new();
    for spread in spreads() {
        let policy = RetryPolicy::fleet().to_builder().spread(spread).build()?;
        policies.push((policies.len().to_string(), policy));
        candidates.push(Candidate {
            spread,
            cells: Vec::new(),
        });
    }
    for hint in HINTS {
        let scenario = Scenario::from_toml("herd", &herd(hint))?;
        let plan = Plan::new(&scenario).policies(policies.clone()).seeds(SEEDS);
        let report = plan.run(&Watch::new())?;
        for rows in report.rows.chunks(candidates.len()) {
            for (row, candidate) in rows.iter().zip(&mut candidates) {
                // The first candidate is what all are held against.
                candidate.cells.push(Cell {
                    clients: row.clients,
                    hint,
                    calls: row.calls.mean,
                    seconds: row.time_ms.mean / 1e3,
                    calls_ratio: row.calls.mean / rows[0].calls.mean,
                    seconds_ratio: row.time_ms.mean / rows[0].time_ms.mean,
                });
            }
        }
    }
    Ok(candidates)
}

/// The candidates that no other beats at the aim, those with the most calls first.
///
/// Several may fare the same there and differ elsewhere; the one with the best worst cell stands for
/// them.
fn front(all: &[Candidate]) -> Vec<&Candidate> {
    let key = |candidate: &Candidate| (candidate.aim().calls_ratio, candidate.aim().seconds_ratio);
    let beaten = |one: &&Candidate| {
        let (calls, seconds) = key(one);
        all.iter().map(key).any(|other| {
            other.0 <= calls && other.1 <= seconds && (other.0 < calls || other.1 < seconds)
        })
    };
    let mut front: Vec<&Candidate> = all.iter().filter(|one| !beaten(one)).collect();
    front.sort_by(|a, b| {
        let worst = a.worst().worse().total_cmp(&b.worst().worse());
        key(b).0.total_cmp(&key(a).0).then(worst)
    });
    front.dedup_by(|later, first| key(later) == key(first));
    front
}

fn markdown(reference: &Candidate, front: &[&Candidate]) {
    let aim = reference.aim();
    println!(
        "At 1,000 clients and 5 s, `hint + U(0, hint)` takes {:.0} calls and {:.1} s.\n",
        aim.calls, aim.seconds
    );
    println!(
        "| of_hint | growth | max | calls | completion | worst cell | what speaks against it |"
    );
    println!("|---|---|---|---|---|---|---|");
    for candidate in front {
        let Spread {
            of_hint,
            growth,
            max,
        } = candidate.spread;
        let (aim, worst) = (candidate.aim(), candidate.worst());
        println!(
            "| {of_hint} | {growth} | {max:?} | {} | {} | {} ({} clients, {} s) | {} |",
            change(aim.calls_ratio),
            change(aim.seconds_ratio),
            change(worst.worse()),
            worst.clients,
            worst.hint,
            candidate.verdict(),
        );
    }
}

fn csv(candidates: &[Candidate]) {
    println!("of_hint,growth,max_s,clients,hint_s,calls,seconds,calls_ratio,seconds_ratio");
    for Candidate { spread, cells } in candidates {
        for cell in cells {
            println!(
                "{},{},{},{},{},{:.0},{:.3},{:.4},{:.4}",
                spread.of_hint,
                spread.growth,
                spread.max.as_secs(),
                cell.clients,
                cell.hint,
                cell.calls,
                cell.seconds,
                cell.calls_ratio,
                cell.seconds_ratio
            );
        }
    }
}

/// Calls across, completion upwards, both as changes; the goal is shaded.
fn svg(front: &[&Candidate]) {
    let x = |ratio: f64| 80.0 + (ratio - 0.6) / 0.5 * 640.0;
    let y = |ratio: f64| 60.0 + (1.4 - ratio) / 0.5 * 300.0;
    let mut parts = Vec::new();
    for percent in [-40, -30, -20, -10, 0, 10] {
        let ratio = 1.0 + f64::from(percent) / 100.0;
        parts.push(format!(
            "<line x1=\"{0:.1}\" y1=\"60\" x2=\"{0:.1}\" y2=\"360\" class=\"grid\"/>\
             <text x=\"{0:.1}\" y=\"380\" text-anchor=\"middle\">{percent:+} %</text>\n",
            x(ratio)
        ));
    }
    for percent in [-10, 0, 10, 20, 30, 40] {
        let ratio = 1.0 + f64::from(percent) / 100.0;
        parts.push(format!(
            "<line x1=\"80\" y1=\"{0:.1}\" x2=\"720\" y2=\"{0:.1}\" class=\"grid\"/>\
             <text x=\"72\" y=\"{1:.1}\" text-anchor=\"end\">{percent:+} %</text>\n",
            y(ratio),
            y(ratio) + 4.0
        ));
    }
    // A tenth fewer calls and no more time; a tenth less time is below the picture.
    parts.push(format!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" class=\"goal\"/>\n",
        x(0.6),
        y(1.0),
        x(0.9) - x(0.6),
        y(0.9) - y(1.0)
    ));
    parts.push(format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" class=\"strong\">the goal</text>\n",
        x(0.75),
        y(0.95) + 4.0
    ));
    let mut labelled = f64::INFINITY;
    for candidate in front.iter().rev() {
        let aim = candidate.aim();
        if !(0.6..=1.1).contains(&aim.calls_ratio) || !(0.9..=1.4).contains(&aim.seconds_ratio) {
            continue;
        }
        let (at_x, at_y) = (x(aim.calls_ratio), y(aim.seconds_ratio));
        parts.push(format!(
            "<circle cx=\"{at_x:.1}\" cy=\"{at_y:.1}\" r=\"5\"/>\n"
        ));
        // Points as near as this would be named on top of each other.
        if (labelled - at_x).abs() < 20.0 {
            continue;
        }
        labelled = at_x;
        let Spread {
            of_hint,
            growth,
            max,
        } = candidate.spread;
        let (left, up) = (at_x + 6.0, at_y - 8.0);
        parts.push(format!(
            "<text x=\"{left:.1}\" y=\"{up:.1}\" transform=\"rotate(-40 {left:.1} {up:.1})\">\
             {of_hint} · {growth} · {max:?}</text>\n"
        ));
    }
    println!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 420\" width=\"820\" height=\"420\" \
         role=\"img\">\n<title>Fewer calls cost time: the spreads that no other beats</title>\n\
         <style>{STYLE}</style>\n<rect width=\"820\" height=\"420\" class=\"paper\"/>\n\
         <text x=\"16\" y=\"26\" class=\"title\">Fewer calls cost time: the spreads that no other \
         beats</text>\n<text x=\"16\" y=\"48\">time to the last answer, against hint + U(0, hint); \
         1,000 clients, 5 s; labels: of_hint · growth · max</text>\n{}\
         <text x=\"400\" y=\"404\" text-anchor=\"middle\">calls, against hint + U(0, hint)</text>\n</svg>",
        parts.concat()
    );
}

fn change(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

fn spreads() -> Vec<Spread> {
    // The reference: no hint here is longer than its `max`, so its spread is as wide as the hint.
    let mut all = vec![Spread {
        of_hint: 1.0,
        growth: 1.0,
        max: Duration::from_secs(30),
    }];
    for max in [10, 20, 30, 60, 300] {
        // Above 1 the first wait could be more than twice the hint.
        for of_hint in [0.5, 0.75, 0.9, 1.0] {
            for growth in [1.0, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0] {
                all.push(Spread {
                    of_hint,
                    growth,
                    max: Duration::from_secs(max),
                });
            }
        }
    }
    all
}

/// The built-in scenario with another hint and these fleets.
fn herd(hint: u32) -> String {
    format!(
        "[fleet]\nclients = [20, 100, 1000, 4000]\nstart_within = \"1s\"\n\
         [server]\nrate = 20\nburst = 20\n[hint]\nwait = \"{hint}s\"\n\
         [overrides]\nmax_retries = \"unlimited\"\nretry_budget = \"off\"\n"
    )
}

const HINTS: [u32; 3] = [1, 5, 30];
const SEEDS: u32 = 10;

/// No cell may be worse by more than this.
const LEEWAY: f64 = 1.05;

const STYLE: &str = "
text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#24292f}
.title{font-size:17px;font-weight:600}.strong{font-weight:600}
.grid{stroke:#d8dee4}.paper{fill:#fff}.goal{fill:#1a7f37;opacity:.18}circle{fill:#0072b2}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#30363d}.paper{fill:#0d1117}
.goal{fill:#3fb950;opacity:.25}circle{fill:#58a6ff}}
";
