//! What files may say, and how they are refused.

use super::*;

#[track_caller]
fn refused(text: &str) -> String {
    Scenario::from_toml("test", text).unwrap_err().to_string()
}

#[test]
fn every_built_in_scenario_is_read() {
    for name in BUILTIN_NAMES {
        let text = std::fs::read_to_string(format!("scenarios/{name}.toml")).unwrap();
        let scenario = Scenario::from_toml(name, &text).unwrap();
        assert_eq!(Some(scenario), Scenario::builtin(name));
    }
    assert_eq!(Scenario::builtin("blop"), None);
}

#[test]
fn bad_values_are_named_with_their_key_and_line() {
    let fleet = "[fleet]\nclients = 3\n";
    for (rest, expected) in [
        (
            "calls = 0\nevery = \"1s\"",
            "line 3: fleet.calls = 0: must be a whole number from 1",
        ),
        (
            "start_within = 5",
            "line 3: fleet.start_within = 5: must be a duration with its unit",
        ),
        (
            "calls = 2",
            "line 3: fleet.calls = 2: needs `fleet.every` beside it",
        ),
        (
            "budget_shared_by = \"all\"",
            "line 3: fleet.budget_shared_by = \"all\": must be one of",
        ),
        (
            "[server]\nlatency = 0",
            "line 4: server.latency = 0: must be from 10us to 7d",
        ),
        (
            "[server]\nload = \"1\"",
            "line 4: server.load = \"1\": must be a number from 0.001",
        ),
        (
            "[server]\nload = nan",
            "line 4: server.load = nan: must be a number",
        ),
        (
            "[server]\nload = 1\ncapacity = 2",
            "line 4: server.load = 1: goes with no",
        ),
        (
            "[server]\nburst = 2",
            "line 4: server.burst = 2: means nothing without",
        ),
        (
            "[server]\nfailure_rate = [0.5, 2]",
            "line 4: server.failure_rate = 2: must be",
        ),
        (
            "[server]\nfailure_rate = []",
            "line 4: server.failure_rate = []: must not be empty",
        ),
        (
            "[outage]\nlength = \"1s\"",
            "line 3: `outage.from` is missing",
        ),
        (
            "[outage]\nfrom = 0\nlength = \"1s\"\nkind = \"hang\"",
            "line 6: outage.kind = \"hang\": needs",
        ),
        (
            "[outage]\nfrom = 0\nlength = \"1s\"\ncapacity = 0.1",
            "line 6: outage.capacity = 0.1: goes with",
        ),
        (
            "[overrides]\nmax_retries = \"many\"",
            "line 4: overrides.max_retries = \"many\": must be",
        ),
        (
            "[policy.mine]\njitter = \"some\"",
            "line 4: policy.mine: jitter = \"some\": must be",
        ),
        (
            "[policy.mine]\nmax_delay = \"1ms\"",
            "line 3: policy.mine.max_delay = 1ms: must not be below",
        ),
        ("[hint]\nwait = \"soon\\u001b\"", "line 4: hint.wait = "),
    ] {
        let text = refused(&format!("{fleet}{rest}\n"));
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}

#[test]
fn unknown_and_missing_keys_are_named() {
    assert_eq!(refused(""), "`fleet.clients` is missing");
    assert_eq!(refused("[fleet]\n"), "line 1: `fleet.clients` is missing");
    let text = refused("[fleet]\nclients = 1\nclient = 2\n");
    assert!(
        text.starts_with("line 3: unknown key `fleet.client`; known are clients,"),
        "{text}"
    );
    let text = refused("sever = 1\n[fleet]\nclients = 1\n");
    assert!(text.starts_with("line 1: unknown key `sever`"), "{text}");
    let text = refused("[fleet]\nclients = 1\n[policy.mine]\nretries = 1\n");
    assert!(
        text.starts_with("line 4: policy.mine: unknown key `retries`"),
        "{text}"
    );
}

#[test]
fn what_is_no_toml_is_said_with_its_line() {
    let text = refused("[fleet]\nclients = \n");
    assert!(text.starts_with("line 2: "), "{text}");
}

#[test]
fn policies_must_be_known_and_named_once() {
    let file = |policies| format!("policies = {policies}\n[fleet]\nclients = 1\n");
    let text = refused(&file("[\"chat\", \"best\"]"));
    assert!(
        text.starts_with("line 1: policies = \"best\": must be a [policy.NAME] here"),
        "{text}"
    );
    let text = refused(&file("[\"chat\", \"chat\"]"));
    assert!(text.ends_with("must be there once"), "{text}");
}

#[test]
fn a_scenarios_own_policy_goes_before_a_name_and_overrides_go_over_both() {
    let scenario = Scenario::from_toml(
        "test",
        "policies = [\"full\", \"fleet\"]\n[fleet]\nclients = 1\n[policy.full]\nmax_retries = 9\n\
         [overrides]\nmax_retries = \"unlimited\"\nretry_budget = \"off\"\n",
    )
    .unwrap();
    let full = scenario.policy("full").unwrap();
    assert_eq!(full.max_retries(), 9);
    assert_eq!(scenario.overridden(&full).max_retries(), u32::MAX);
    let fleet = scenario.overridden(&scenario.policy("fleet").unwrap());
    assert_eq!(
        (fleet.retry_budget(), fleet.spread()),
        (None, RetryPolicy::fleet().spread())
    );
}

#[test]
fn what_the_other_model_does_not_know_is_refused() {
    let occ = "model = \"occ\"\n[fleet]\nclients = 1\n";
    assert!(refused(&format!("{occ}[server]\nqueue = 0\n")).contains("unknown key `server.queue`"));
    assert!(refused(&format!("{occ}[outage]\nfrom = 0\n")).contains("knows no outage"));
    let server = "[fleet]\nclients = 1\n[server]\nlatency_sd = 0\n";
    assert!(refused(server).contains("unknown key `server.latency_sd`"));
}
