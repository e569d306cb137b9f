//! The model of the AWS backoff study lands on the study's own figures.
//!
//! The data are a re-run of the study's published simulator: means and deviations of 100 runs,
//! means cut to whole numbers.

use skyl_sim::{Mean, Row};

use crate::builtin;

#[test]
fn every_policy_of_the_study_is_within_three_deviations_at_every_size() {
    let report = builtin("aws-occ");
    let mut compared = 0;
    for line in include_str!("../data/aws-jitter-sim.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let row = find(&report.rows, fields[0].parse().unwrap(), ours(fields[1]));
        assert_eq!(row.seeds, 100);
        assert_eq!(row.ends.succeeded, u64::from(row.clients) * 100);
        close(line, "time", row.time_ms, number(2), number(3));
        close(line, "calls", row.calls, number(4), number(5));
        compared += 1;
    }
    assert_eq!((compared, report.rows.len()), (95, 95));
}

fn close(line: &str, what: &str, got: Mean, mean: f64, sd: f64) {
    let off = (got.mean - mean).abs();
    assert!(off <= 3.0 * sd, "{line}: {what} {got:?}");
    // Means of a hundred runs each are ten times closer than single runs; a wrong model is not.
    // The first 1 is for whole numbers, the other for deviations cut to zero.
    let error = (sd + 1.0).hypot(got.sd) / 10.0;
    assert!(off <= 5.0 * error + 1.0, "{line}: {what} {got:?}");
}

#[track_caller]
fn find<'r>(rows: &'r [Row], clients: u32, policy: &str) -> &'r Row {
    let is_it = |row: &&Row| row.clients == clients && row.policy == policy;
    rows.iter().find(is_it).unwrap()
}

/// The study's name for a policy, in ours.
fn ours(name: &str) -> &str {
    match name {
        "None" => "none",
        "Exponential" => "exponential",
        "EqualJitter" => "equal",
        "FullJitter" => "full",
        "Decorr" => "decorrelated",
        other => other,
    }
}
