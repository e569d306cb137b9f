//! The simulator from outside.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop like the tests do"
)]

mod aws;
mod bands;
mod repeat;
mod whole;

use skyl_sim::{Plan, Report, Row, Scenario, Watch};

/// Runs a built-in scenario as it is.
fn builtin(name: &str) -> Report {
    let scenario = Scenario::builtin(name).unwrap();
    Plan::new(&scenario).run(&Watch::new()).unwrap()
}

/// The row of a policy, of the first failure rate and fleet size that has one.
#[track_caller]
fn row<'r>(report: &'r Report, policy: &str) -> &'r Row {
    report.rows.iter().find(|row| row.policy == policy).unwrap()
}
