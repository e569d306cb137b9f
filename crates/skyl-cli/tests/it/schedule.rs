//! `skyl schedule`.

use serde_json::json;

use crate::support::skyl;

#[test]
fn the_table_of_the_default_policy() {
    let ran = skyl(["schedule"]).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn flags_and_variables_shape_the_table() {
    let object = skyl([
        "schedule",
        "--json",
        "--max-retries",
        "2",
        "--retry-base",
        "1s",
    ])
    .env("SKYL_JITTER", "equal")
    .run()
    .object();
    assert_eq!(object["max_retries"], 2);
    assert_eq!(object["jitter"], "equal");
    assert_eq!(
        object["retries"],
        json!([
            {"retry": 0, "ceiling_ms": 1000, "mean_ms": 750, "p50_ms": 750, "p95_ms": 975, "p99_ms": 995},
            {"retry": 1, "ceiling_ms": 2000, "mean_ms": 1500, "p50_ms": 1500, "p95_ms": 1950, "p99_ms": 1990},
        ])
    );
    assert_eq!(
        (&object["mean_total_ms"], &object["worst_total_ms"]),
        (&json!(2250), &json!(3000))
    );
}

#[test]
fn a_named_policy_and_a_fixed_schedule_can_be_looked_at() {
    let object = skyl(["schedule", "--json", "--policy", "system_one"])
        .run()
        .object();
    assert_eq!(
        (&object["max_retries"], &object["budget_ms"]),
        (&json!(2), &json!(30_000))
    );
    // No client takes it, and that is a good reason to look at it.
    assert_eq!(skyl(["schedule", "--jitter", "shave=0"]).run().code, 0);
}

#[test]
fn a_time_budget_of_nothing_is_none() {
    let budget = |args: [&str; 2]| {
        skyl(["schedule", "--json", "--policy", "system_one"])
            .args(args)
            .run()
            .object()["budget_ms"]
            .clone()
    };
    assert_eq!(budget(["--budget", "0"]), serde_json::Value::Null);
    assert_eq!(budget(["--budget", "9s"]), 9_000);
}

#[test]
fn two_looks_at_a_drawn_table_agree() {
    let look = || skyl(["schedule", "--jitter", "decorrelated"]).run().stdout;
    assert_eq!(look(), look());
}
