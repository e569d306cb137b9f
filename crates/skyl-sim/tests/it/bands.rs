//! Each built-in scenario lands where arithmetic, or somebody else's figures, say it must.

use skyl_retry::StopReason;
use skyl_sim::{Recovery, Row};

use crate::{builtin, row};

#[track_caller]
fn near(got: f64, expected: f64, by: f64) {
    assert!(
        (got - expected).abs() <= by,
        "{got} is not {expected} ± {by}"
    );
}

#[test]
fn budgets_land_on_the_figures_of_independent_failures() {
    let report = builtin("budget");
    let at = |rate: f64, policy: &str| {
        let is_it = |row: &&Row| row.policy == policy && (row.failure_rate - rate).abs() < 1e-9;
        report.rows.iter().find(is_it).unwrap()
    };
    for (rate, policy, goodput, load) in [
        // Three retries: 1 − p⁴ succeed, at a load of 1 + p + p² + p³.
        (0.05, "full", 1.0, 1.053),
        (0.2, "full", 0.998, 1.248),
        (0.5, "full", 0.937, 1.875),
        (1.0, "full", 0.0, 4.0),
        // A tenth of a retry per success, once failures are more than that.
        (0.05, "token-bucket", 1.0, 1.053),
        (0.2, "token-bucket", 0.869, 1.087),
        (0.5, "token-bucket", 0.527, 1.053),
        (1.0, "token-bucket", 0.0, 1.0),
    ] {
        let row = at(rate, policy);
        near(row.goodput, goodput, 0.01);
        near(row.load, load, 0.01);
        // One call each, so that the load can be read from the CSV, too.
        near(row.calls.mean / f64::from(row.clients), load, 0.01);
    }
    assert_eq!(report.rows[0].scenario, "budget");
    assert_eq!(at(1.0, "full").scenario, "budget p=1");
    assert_eq!(at(1.0, "full").calls_per_success, None);
    let refused = at(1.0, "token-bucket").ends.refused_by_budget();
    assert_eq!(refused, 100_000, "every retry is refused");
}

#[test]
fn retries_without_a_budget_stay_down_when_the_trigger_is_gone_and_fleet_recovers() {
    let report = builtin("metastable");
    for policy in ["none", "exponential", "official-sdk", "chat"] {
        assert_eq!(row(&report, policy).recovery, Recovery::Never, "{policy}");
    }
    for policy in ["token-bucket", "fleet"] {
        match row(&report, policy).recovery {
            Recovery::AfterMs(ms) => assert!((1_000.0..60_000.0).contains(&ms), "{policy}: {ms}"),
            other => panic!("{policy}: {other:?}"),
        }
    }
    let fleet = row(&report, "fleet");
    assert!(fleet.load < 1.5 && row(&report, "exponential").load > 3.0);
    assert!(fleet.ends.refused_by_budget() > 0);
}

#[test]
fn the_herd_lands_on_the_figures_of_an_independent_simulation() {
    // Made with another program, before this one: calls per success, and seconds to the last.
    let report = builtin("shared-retry-after");
    for (policy, calls, seconds) in [("official-sdk", 14.8, 157.0), ("chat", 14.8, 157.0)] {
        let row = row(&report, policy);
        near(row.calls_per_success.unwrap(), calls, 0.05 * calls);
        near(row.time_ms.mean / 1e3, seconds, 0.05 * seconds);
    }
    for row in &report.rows {
        near(row.goodput, 1.0, 0.0);
        // A thousand calls at twenty a second, the first twenty at once: never under 49 s.
        assert!(row.time_ms.mean > 49_000.0, "{}", row.policy);
    }
    let (fleet, letter) = (row(&report, "fleet"), row(&report, "chat"));
    assert!(
        fleet.calls.mean * 3.0 < letter.calls.mean,
        "a third of the calls"
    );
    assert!(
        fleet.time_ms.mean * 2.5 < letter.time_ms.mean,
        "in less than half of the time"
    );
}

#[test]
fn a_blip_costs_the_impatient_most() {
    let report = builtin("blip");
    let (none, exponential) = (row(&report, "none"), row(&report, "exponential"));
    assert!(none.goodput < exponential.goodput);
    assert!(none.peak_over_mean > exponential.peak_over_mean);
    let exhausted = StopReason::AttemptsExhausted;
    assert!(
        none.ends
            .stopped
            .iter()
            .any(|(reason, _)| *reason == exhausted)
    );
    for row in &report.rows {
        assert!(
            matches!(row.recovery, Recovery::AfterMs(_)),
            "{}",
            row.policy
        );
    }
}

#[test]
fn in_a_brown_out_a_budget_keeps_the_load_near_one() {
    let report = builtin("brown-out");
    let (fleet, chat) = (row(&report, "fleet"), row(&report, "chat"));
    assert!(fleet.load < chat.load, "{} {}", fleet.load, chat.load);
    assert!(fleet.goodput > 0.85, "{}", fleet.goodput);
}

#[test]
fn a_scenario_without_an_outage_is_not_asked_about_recovery() {
    let report = builtin("shared-retry-after");
    assert!(
        report
            .rows
            .iter()
            .all(|row| row.recovery == Recovery::NotAsked)
    );
}
