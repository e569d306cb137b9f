//! The delay table as a person reads it: figures, and a picture of each wait's range.

use std::fmt::{self, Write as _};
use std::time::Duration;

use skyl_retry::RetryPolicy;
use skyl_retry::duration::{Human, Rough};

use super::table::{Row, Table};

/// The whole text, with a line end.
pub(super) fn draw(policy: &RetryPolicy, table: &Table) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _infallible = write(&mut text, policy, table);
    text
}

fn write(out: &mut String, policy: &RetryPolicy, table: &Table) -> fmt::Result {
    if table.rows.is_empty() {
        return writeln!(out, "retries are off: the first attempt is the last");
    }
    let longest = table
        .rows
        .iter()
        .map(|row| row.ceiling)
        .max()
        .unwrap_or_default();
    writeln!(
        out,
        "{}",
        cells(["retry", "ceiling", "mean", "p50", "p95", "p99", ""])
    )?;
    let shown = shown(table);
    for (row, number) in table.rows[..shown].iter().zip(1_u32..) {
        let [ceiling, mean, p50, p95, p99] = [row.ceiling, row.mean, row.p50, row.p95, row.p99]
            .map(|length| Rough(length).to_string());
        let number = number.to_string();
        let picture = picture(row, longest);
        writeln!(
            out,
            "{}",
            cells([&number, &ceiling, &mean, &p50, &p95, &p99, &picture])
        )?;
    }
    if let more @ 1.. = table.rows.len() - shown {
        writeln!(out, "    …  {more} more like the last")?;
    }
    let scale = format!("0{:>1$}", Human(longest).to_string(), WIDTH - 1);
    writeln!(out, "{}", cells(["", "", "", "", "", "", &scale]))?;
    write_totals(out, policy, table)
}

fn write_totals(out: &mut String, policy: &RetryPolicy, table: &Table) -> fmt::Result {
    writeln!(
        out,
        "\nAll waits together: {} on average, {} at worst.",
        Rough(table.mean_total),
        Rough(table.worst_total),
    )?;
    if let Some(budget) = policy.budget() {
        writeln!(
            out,
            "No wait is begun that would end {} after the start.",
            After(budget)
        )?;
    }
    if !policy.honor_retry_after() {
        return writeln!(out, "A server's own wait is not heeded.");
    }
    let cap = Human(policy.max_retry_after());
    writeln!(out, "A server's own wait replaces these, up to {cap} each.")?;
    match policy.spread() {
        Some(spread) => writeln!(
            out,
            "A random wait of up to {}% of it is added, at most {}.",
            spread.of_hint * 100.0,
            Human(spread.max),
        ),
        None => Ok(()),
    }
}

/// "more than 30s": a wait may end with its budget, not after it.
struct After(Duration);

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {}", Human(self.0))
    }
}

/// How many rows are worth a line: all of a short table, and of a long one those that still grow.
fn shown(table: &Table) -> usize {
    let rows = &table.rows;
    if rows.len() <= LONG {
        return rows.len();
    }
    let last = rows.last().map(|row| row.ceiling);
    let settled = rows
        .iter()
        .position(|row| Some(row.ceiling) == last)
        .unwrap_or(rows.len());
    (settled + 2).min(rows.len())
}

/// A bar from the shortest to the longest wait, with a dot at the mean.
fn picture(row: &Row, longest: Duration) -> String {
    let first = column(row.floor, longest);
    let last = column(row.ceiling, longest).max(first);
    let mean = column(row.mean, longest).clamp(first, last);
    let mark = |column| match column {
        _ if column < first => ' ',
        _ if column == mean => '●',
        _ => '━',
    };
    (0..=last).map(mark).collect()
}

/// Where a length stands in a picture as wide as the longest.
fn column(length: Duration, longest: Duration) -> usize {
    if longest.is_zero() {
        return 0;
    }
    let share = length.as_nanos().saturating_mul(WIDTH as u128) / longest.as_nanos();
    usize::try_from(share).unwrap_or(WIDTH).min(WIDTH - 1)
}

fn cells([retry, ceiling, mean, p50, p95, p99, picture]: [&str; 7]) -> String {
    let line =
        format!("{retry:>5}  {ceiling:>8}  {mean:>8}  {p50:>8}  {p95:>8}  {p99:>8}   {picture}");
    line.trim_end().to_owned()
}

/// Columns of a picture.
const WIDTH: usize = 40;

/// A table longer than this is cut where it stops growing.
const LONG: usize = 12;

#[cfg(test)]
mod tests {
    use skyl_retry::Jitter;

    use super::*;

    fn text(policy: &RetryPolicy) -> String {
        draw(policy, &Table::of(policy))
    }

    #[test]
    fn the_chat_policy_in_a_picture() {
        insta::assert_snapshot!(text(&RetryPolicy::chat()));
    }

    #[test]
    fn a_budget_a_spread_and_narrow_ranges_are_told() {
        insta::assert_snapshot!("system_one", text(&RetryPolicy::system_one()));
        insta::assert_snapshot!("fleet", text(&RetryPolicy::fleet()));
    }

    #[test]
    fn a_long_table_is_cut_where_it_stops_growing() {
        let policy = RetryPolicy::builder().max_retries(1000).build().unwrap();
        let text = text(&policy);
        assert!(text.lines().count() < 20, "{text}");
        assert!(text.contains("more like the last"), "{text}");
    }

    #[test]
    fn a_schedule_without_room_is_a_dot() {
        let policy = RetryPolicy::builder()
            .jitter(Jitter::Shave(0.0))
            .build()
            .unwrap();
        assert!(
            text(&policy)
                .lines()
                .nth(1)
                .unwrap()
                .trim_end()
                .ends_with('●')
        );
    }

    #[test]
    fn lengths_of_nothing_and_of_ages_fit_the_picture() {
        let none = RetryPolicy::builder()
            .initial_delay(Duration::ZERO)
            .max_delay(Duration::ZERO);
        let ages = RetryPolicy::builder()
            .initial_delay(Duration::MAX)
            .max_delay(Duration::MAX);
        for policy in [none.build().unwrap(), ages.build().unwrap()] {
            assert!(text(&policy).lines().count() > 4);
        }
    }

    #[test]
    fn retries_that_are_off_are_said_to_be() {
        let policy = RetryPolicy::builder().max_retries(0).build().unwrap();
        assert_eq!(
            text(&policy),
            "retries are off: the first attempt is the last\n"
        );
    }
}
