//! The figures as a person reads them.

use std::time::Duration;

use skyl_retry::duration::Rough;
use skyl_sim::{Recovery, Report, Row};

/// One table per scenario, with a line end.
pub(super) fn tables(reports: &[Report]) -> String {
    let tables: Vec<String> = reports.iter().map(table).collect();
    let legend = if reports.iter().any(|report| !report.rows.is_empty()) {
        LEGEND
    } else {
        ""
    };
    format!("{}\n{legend}", tables.join("\n"))
}

fn table(report: &Report) -> String {
    let mut lines = vec![format!("{}: {}", report.name(), report.title())];
    lines.push(String::new());
    let several = report.rows.iter().any(|row| row.scenario != report.name());
    // Columns that are the same in every row only cost width.
    let recovers = report
        .rows
        .iter()
        .any(|row| row.recovery != Recovery::NotAsked);
    let refused = report
        .rows
        .iter()
        .any(|row| row.ends.refused_by_budget() > 0);
    let mut cells = vec![header(several, recovers, refused)];
    cells.extend(
        report
            .rows
            .iter()
            .map(|row| fields(row, several, recovers, refused)),
    );
    let widths: Vec<usize> = (0..cells[0].len())
        .map(|column| {
            let widths = cells.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or_default()
        })
        .collect();
    for row in &cells {
        let padded = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                if column == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
        let line: Vec<String> = padded.collect();
        lines.push(line.join("  ").trim_end().to_owned());
    }
    lines.push(String::new());
    lines.join("\n")
}

fn header(several: bool, recovers: bool, refused: bool) -> Vec<String> {
    let mut header = vec!["policy"];
    if several {
        header.push("fails");
    }
    header.extend([
        "clients", "calls", "load", "served", "p50", "p95", "p99", "last", "peak",
    ]);
    if recovers {
        header.push("recovers");
    }
    if refused {
        header.push("refused");
    }
    header.into_iter().map(str::to_owned).collect()
}

fn fields(row: &Row, several: bool, recovers: bool, refused: bool) -> Vec<String> {
    let length = |ms: Option<f64>| ms.map_or_else(|| "–".to_owned(), short);
    let mut fields = vec![row.policy.clone()];
    if several {
        fields.push(percent(row.failure_rate));
    }
    fields.extend([
        row.clients.to_string(),
        format!("{:.0}", row.calls.mean),
        format!("{:.2}", row.load),
        percent(row.goodput),
        length(row.p50_ms),
        length(row.p95_ms),
        length(row.p99_ms),
        short(row.time_ms.mean),
        format!("{:.1}", row.peak_over_mean),
    ]);
    if recovers {
        fields.push(match row.recovery {
            Recovery::NotAsked => "–".to_owned(),
            Recovery::AfterMs(0.0) => "at once".to_owned(),
            Recovery::AfterMs(ms) => short(ms),
            Recovery::Never => "never".to_owned(),
        });
    }
    if refused {
        fields.push(row.ends.refused_by_budget().to_string());
    }
    fields
}

/// Three figures of a length are enough to compare by.
fn short(ms: f64) -> String {
    let step = match ms {
        ..1e3 => 1.0,
        1e3..1e4 => 10.0,
        1e4..1e5 => 100.0,
        _ => 1e3,
    };
    let rounded = Duration::try_from_secs_f64((ms / step).round() * step / 1e3);
    Rough(rounded.unwrap_or(Duration::MAX)).to_string()
}

/// 100 % is all of them, and 0 % none.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if share < 1.0 && percent > 99.9 {
        return "99.9 %".to_owned();
    }
    if share > 0.0 && percent < 0.1 {
        return "<0.1 %".to_owned();
    }
    if (percent - percent.round()).abs() < 0.05 {
        return format!("{percent:.0} %");
    }
    format!("{percent:.1} %")
}

const LEGEND: &str = "\
calls: at the server · load: calls per call begun · served: calls that got an answer
p50, p95, p99: from a call's start to its answer · last: the end of the last call
peak: the busiest 100 ms over the mean · recovers: served as before, after the outage
refused: retries the retry budget did not pay for
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short_and_shares_are_never_rounded_to_all_or_none() {
        for (ms, text) in [
            (0.0, "0s"),
            (534.87, "535ms"),
            (1663.751, "1.66s"),
            (36_540.0, "36.5s"),
            (157_596.7, "2m38s"),
        ] {
            assert_eq!(short(ms), text);
        }
        for (share, text) in [
            (1.0, "100 %"),
            (0.99996, "99.9 %"),
            (0.9374, "93.7 %"),
            (0.5, "50 %"),
            (0.0001, "<0.1 %"),
            (0.0, "0 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }
}
