//! Calls at the server over time: one panel per policy, all on the same scales.

use crate::measure::Recovery;
use crate::number::length;
use crate::plot::axis::{Axis, rounded_up, tick};
use crate::plot::lines::{draw_band, ticks_across};
use crate::plot::svg::{Anchor, Canvas, colour};
use crate::plot::{band, capacity, grouped};
use crate::report::{Row, decimal};
use crate::scenario::Scenario;

/// Draws the rows; there is at least one.
pub(super) fn draw(scenario: &Scenario, rows: &[&Row]) -> String {
    let panel_height = if rows.len() > FEW { PANEL } else { TALL_PANEL };
    let height = HEAD + length(rows.len()) * (panel_height + GAP) + FOOT;
    let mut canvas = Canvas::new(WIDTH, height);
    canvas.text((16.0, 28.0), Anchor::Start, "title", scenario.title());
    let limit = capacity(scenario, rows[0].clients);
    canvas.text(
        (16.0, 48.0),
        Anchor::Start,
        "quiet",
        &subtitle(rows[0], limit),
    );
    let longest = rows.iter().map(|row| row.timeline.arrived.len()).max();
    let bins = longest.unwrap_or_default().max(1);
    // A column of two pixels shows its busiest bin: a herd must not vanish in a mean.
    let per_column = bins.div_ceil(COLUMNS);
    let columns: Vec<Vec<u32>> = rows
        .iter()
        .map(|row| {
            let busiest = |bins: &[u32]| bins.iter().copied().max().unwrap_or_default();
            row.timeline
                .arrived
                .chunks(per_column)
                .map(busiest)
                .collect()
        })
        .collect();
    let highest = columns.iter().flatten().copied().max().unwrap_or_default();
    let across = Axis::new(length(bins) / 10.0, LEFT, WIDTH - RIGHT);
    for (at, row) in rows.iter().enumerate() {
        let y1 = HEAD + length(at) * (panel_height + GAP) + GAP;
        let y0 = y1 + panel_height;
        let up = Axis::new(rounded_up(f64::from(highest), TICKS_UP), y0, y1);
        panel(&mut canvas, row, at, &across, &up, (y0, y1));
        if let Some(band) = band(scenario) {
            draw_band(&mut canvas, band, &across, (y0, y1));
        }
        let seconds = |column: usize| length(column * per_column) / 10.0;
        let mut outline = vec![(across.at(0.0), y0)];
        for (column, count) in columns[at].iter().enumerate() {
            let y = up.at(f64::from(*count));
            outline.push((across.at(seconds(column)), y));
            outline.push((across.at(seconds(column + 1)), y));
        }
        outline.push((across.at(seconds(columns[at].len())), y0));
        canvas.path(&outline, &format!("area {}", colour(at)));
        if let Some(limit) = limit.filter(|limit| *limit <= f64::from(highest)) {
            canvas.line((LEFT, up.at(limit)), (WIDTH - RIGHT, up.at(limit)), "limit");
        }
        canvas.line((LEFT, y0), (WIDTH - RIGHT, y0), "axis");
    }
    let y0 = height - FOOT;
    for figure in across.ticks(ticks_across(WIDTH)) {
        canvas.line(
            (across.at(figure), y0),
            (across.at(figure), y0 + 5.0),
            "axis",
        );
        let at = (across.at(figure), y0 + 19.0);
        canvas.text(at, Anchor::Middle, "quiet", &tick(figure));
    }
    let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
    canvas.text((middle, y0 + 38.0), Anchor::Middle, "quiet", "seconds");
    canvas.finish(&format!("{}: calls per 100 ms over time", scenario.title()))
}

/// Everything of a panel but its figures.
fn panel(
    canvas: &mut Canvas,
    row: &Row,
    at: usize,
    across: &Axis,
    up: &Axis,
    (y0, y1): (f64, f64),
) {
    let class = format!("name {}", colour(at));
    canvas.text((LEFT, y1 - 20.0), Anchor::Start, &class, &row.policy);
    canvas.text(
        (WIDTH - RIGHT, y1 - 20.0),
        Anchor::End,
        "strong",
        &summary(row),
    );
    for figure in up.ticks(TICKS_UP) {
        canvas.line(
            (LEFT, up.at(figure)),
            (WIDTH - RIGHT, up.at(figure)),
            "grid",
        );
        let place = (LEFT - 8.0, up.at(figure) + 4.0);
        canvas.text(place, Anchor::End, "quiet", &tick(figure));
    }
    for figure in across.ticks(ticks_across(WIDTH)) {
        canvas.line((across.at(figure), y0), (across.at(figure), y1), "grid");
    }
}

fn subtitle(row: &Row, limit: Option<f64>) -> String {
    let clients = grouped(row.clients);
    let what = format!("calls that reach the server in each 100 ms · {clients} clients");
    match limit {
        Some(limit) => format!(
            "{what} · dashed: what the server can take ({})",
            decimal((limit * 10.0).round() / 10.0)
        ),
        None => what,
    }
}

/// The row in a line.
fn summary(row: &Row) -> String {
    let calls = match row.calls_per_success {
        Some(calls) => format!("{calls:.1} calls per answer"),
        None => "no answer".to_owned(),
    };
    let served = if row.goodput < 1.0 {
        format!(
            " · {} % served",
            decimal((row.goodput * 1e3).floor() / 10.0)
        )
    } else {
        String::new()
    };
    let end = match row.recovery {
        Recovery::NotAsked => format!("over after {:.0} s", row.time_ms.mean / 1e3),
        Recovery::AfterMs(0.0) => "back to normal at once".to_owned(),
        Recovery::AfterMs(ms) => format!("back to normal after {:.0} s", ms / 1e3),
        Recovery::Never => "never back to normal".to_owned(),
    };
    format!("{calls}{served} · {end}")
}

const WIDTH: f64 = 860.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 22.0;
const HEAD: f64 = 52.0;
const PANEL: f64 = 92.0;
const TALL_PANEL: f64 = 140.0;
const FEW: usize = 3;
const GAP: f64 = 42.0;
const FOOT: f64 = 50.0;
const COLUMNS: usize = 390;
const TICKS_UP: u32 = 3;
