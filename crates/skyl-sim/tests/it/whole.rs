//! Nothing is lost and nothing is made up, whatever the scenario.

use std::fmt::Write as _;

use proptest::prelude::*;
use skyl_sim::{POLICY_NAMES, Plan, Scenario, Watch};

/// Scenarios with every part on and off, small enough to run by the hundred.
fn scenarios() -> impl Strategy<Value = (String, usize, u64)> {
    let fleet = (
        1_u32..40,
        0_u32..3000,
        1_u32..5,
        any::<bool>(),
        any::<bool>(),
    );
    let server = (
        0_u32..400,
        prop::option::of(1_u32..60),
        0_u32..2000,
        prop::option::of(1_u32..30),
    );
    let rest = (
        prop::option::of((0_usize..4, 0_u32..3000, 1_u32..4000)),
        prop::option::of(0_u32..3000),
        0.0_f64..1.0,
        1_u32..20,
    );
    (fleet, server, rest, 0..POLICY_NAMES.len(), any::<u64>()).prop_map(
        |((clients, within, calls, shared, pause), (service, capacity, queue, rate), (outage, hint, fails, horizon), policy, seed)| {
            let mut text = format!(
                "horizon = \"{horizon}s\"\n[fleet]\nclients = {clients}\nstart_within = \"{within}ms\"\n\
                 calls = {calls}\nevery = \"700ms\"\nshared_pause = {pause}\n\
                 budget_shared_by = \"{}\"\n\
                 [server]\nservice = \"{service}ms\"\nqueue = \"{queue}ms\"\ntimeout = \"900ms\"\n\
                 failure_rate = {fails:.3}\ncapacity = {}\n",
                if shared { "fleet" } else { "client" },
                capacity.unwrap_or(100_000),
            );
            if let Some(rate) = rate {
                writeln!(text, "rate = {rate}").unwrap();
            }
            if let Some((kind, from, length)) = outage {
                let kind = ["status", "refuse", "hang", "slow"][kind];
                writeln!(text, "[outage]\nfrom = \"{from}ms\"\nlength = \"{length}ms\"\nkind = \"{kind}\"").unwrap();
            }
            if let Some(hint) = hint {
                writeln!(text, "[hint]\nwait = \"{hint}ms\"").unwrap();
            }
            (text, policy, seed)
        },
    )
}

proptest! {
    #[test]
    fn every_call_ends_in_one_way_and_both_sides_count_the_same_attempts(
        (text, policy, seed) in scenarios(),
    ) {
        let scenario = Scenario::from_toml("any", &text).unwrap();
        let name = POLICY_NAMES[policy];
        let policies = vec![(name.to_owned(), skyl_sim::named(name).unwrap())];
        let plan = Plan::new(&scenario).policies(policies).seeds(2).seed(seed);
        let report = plan.run(&Watch::new()).unwrap();
        let row = &report.rows[0];
        let calls: u64 = text
            .lines()
            .filter_map(|line| line.strip_prefix("clients = ").or(line.strip_prefix("calls = ")))
            .map(|number| number.parse::<u64>().unwrap())
            .product();
        prop_assert_eq!(row.ends.calls(), 2 * calls);
        // The server's journal against the clients' own counts. A call that the end of the run met
        // in a wait has planned one more attempt than it has sent.
        let journal = row.calls.mean * 2.0;
        let attempts = row.ends.attempts;
        let waiting = row.ends.unfinished;
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let (most, least) = (attempts as f64, attempts.saturating_sub(waiting) as f64);
        prop_assert!(journal <= most + 1e-6 && journal >= least - 1e-6, "{row:?}");
        prop_assert!((0.0..=1.0).contains(&row.goodput));
        prop_assert!(row.ends.succeeded == 0 || row.p50_ms <= row.p95_ms && row.p95_ms <= row.p99_ms);
        prop_assert!(row.unfairness >= 1.0 || row.ends.attempts == 0);
        prop_assert_eq!(row.calls_per_success.is_none(), row.ends.succeeded == 0);
    }
}

#[test]
fn clients_that_share_a_pause_hold_each_other_back() {
    // One process with fifty calls, all told five seconds by the first refusals.
    let calls = |pause: bool| {
        let text = format!(
            "[fleet]\nclients = 50\nstart_within = \"4s\"\nbudget_shared_by = \"fleet\"\n\
             shared_pause = {pause}\n[server]\nrate = 1\nburst = 1\n[hint]\nwait = \"5s\"\n\
             [overrides]\nmax_retries = \"unlimited\"\nretry_budget = \"off\"\n"
        );
        let scenario = Scenario::from_toml("pause", &text).unwrap();
        let report = Plan::new(&scenario).run(&Watch::new()).unwrap();
        report.rows[1].calls.mean
    };
    assert!(
        calls(true) < calls(false),
        "{} {}",
        calls(true),
        calls(false)
    );
}
