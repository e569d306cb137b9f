//! The same seed gives the same bytes; another one does not.

use skyl_sim::{NotRun, Plan, Scenario, Watch};

fn csv(scenario: &str, clients: &[u32], seeds: u32, seed: u64) -> String {
    let scenario = Scenario::builtin(scenario).unwrap();
    let plan = Plan::new(&scenario)
        .clients(clients.to_vec())
        .seeds(seeds)
        .seed(seed);
    let mut csv = String::new();
    plan.run(&Watch::new()).unwrap().write_csv(&mut csv);
    csv
}

#[test]
fn the_same_seed_gives_the_same_csv() {
    for (name, clients) in [
        ("blip", [50, 300]),
        ("aws-occ", [10, 40]),
        ("shared-retry-after", [20, 100]),
    ] {
        let first = csv(name, &clients, 3, 7);
        assert_eq!(first, csv(name, &clients, 3, 7), "{name}");
        assert_ne!(first, csv(name, &clients, 3, 8), "{name}");
    }
}

#[test]
fn each_run_of_a_row_has_a_seed_of_its_own() {
    let scenario = Scenario::builtin("aws-occ").unwrap();
    let plan = Plan::new(&scenario).clients(vec![50]).seeds(5);
    let report = plan.run(&Watch::new()).unwrap();
    assert!(report.rows.iter().all(|row| row.calls.sd > 0.0));
    assert!(report.rows.iter().all(|row| row.seeds == 5));
}

#[test]
fn a_plan_that_was_called_off_gives_no_report() {
    let scenario = Scenario::builtin("aws-occ").unwrap();
    let watch = Watch::new();
    watch.call_off();
    assert_eq!(
        Plan::new(&scenario).run(&watch).unwrap_err(),
        NotRun::CalledOff
    );
}

#[test]
fn fleets_of_nobody_and_of_too_many_are_refused() {
    let scenario = Scenario::builtin("metastable").unwrap();
    for clients in [0, 1_000_000] {
        let plan = Plan::new(&scenario).clients(vec![100, clients]);
        assert_eq!(
            plan.run(&Watch::new()).unwrap_err(),
            NotRun::FleetSize(clients)
        );
    }
}

#[test]
fn a_finished_plan_is_all_progress() {
    let scenario = Scenario::builtin("blip").unwrap();
    let watch = Watch::new();
    assert!(watch.progress().abs() < 1e-9);
    Plan::new(&scenario).run(&watch).unwrap();
    assert!((watch.progress() - 1.0).abs() < 1e-9);
}
