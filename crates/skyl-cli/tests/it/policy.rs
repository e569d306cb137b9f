//! Policies in files.

use serde_json::Value;

use crate::support::{Ran, Scratch, Skyl, skyl};

/// A policy file of this name, used by a command.
#[track_caller]
fn with<const N: usize>(name: &str, text: &str, args: [&str; N]) -> Ran {
    let file = Scratch::new(name, text.as_bytes());
    skyl(args).args(["--policy", file.path()]).run()
}

const FILE: &str = "\
# A small one.
max_retries = 2
initial_delay = \"10ms\"
max_delay = \"20ms\"
jitter = \"equal\"
budget = 0
";

#[test]
fn a_file_shapes_calls_and_the_drawn_table_in_both_formats() {
    let json = r#"{"max_retries": 2, "initial_delay": "10ms", "max_delay": "20ms",
        "jitter": "equal", "budget": 0}"#;
    for (name, text) in [
        ("p.toml", FILE),
        ("p", FILE),
        ("p.json", json),
        ("p.JSON", json),
    ] {
        let object = with(name, text, ["schedule", "--json"]).object();
        assert_eq!(
            (
                &object["max_retries"],
                &object["jitter"],
                &object["budget_ms"]
            ),
            (&2.into(), &"equal".into(), &Value::Null),
            "{name}"
        );
        assert_eq!(object["worst_total_ms"], 30, "{name}");
    }
    let object = with("c.toml", FILE, ["chat", "hi", "--json", "--fault", "503"]).object();
    let attempts = object["error"]["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 3);
    let wait = attempts[0]["wait_ms"].as_f64().unwrap();
    assert!((5.0..=10.0).contains(&wait), "{wait}");
}

#[test]
fn every_table_of_a_policy_can_be_written() {
    let text = "\
over_cap = \"give_up\"
zero_hint = \"obey\"
retry_by = \"status\"
retry_statuses = [429, \"500-599\"]
jitter = { shave = 0.25 }
[spread]
of_hint = 0.1
growth = 1.5
max = \"10s\"
[retry_budget]
ratio = 0.1
reserve_per_second = 0.1
capacity = 10
";
    let ran = with(
        "tables.toml",
        text,
        ["chat", "hi", "--json", "--fault", "408"],
    );
    let object = ran.object();
    // By status, and 408 is not on the list.
    assert_eq!(object["error"]["stop_reason"], "not_retryable", "{object}");
    assert_eq!(object["error"]["attempts"].as_array().unwrap().len(), 1);
    let ran = with(
        "cap.toml",
        text,
        ["chat", "hi", "--json", "--fault", "429(ra=301)"],
    );
    assert_eq!(ran.object()["error"]["stop_reason"], "hint_over_cap");
}

#[test]
fn what_is_wrong_in_a_file_is_said_with_its_name_its_key_and_its_line() {
    let toml = |line: &str| ("p.toml", format!("# first\n{line}\nretry_unsent = true\n"));
    let json = |line: &str| {
        (
            "p.json",
            format!("{{\n{line},\n\"retry_unsent\": true\n}}\n"),
        )
    };
    for ((name, text), key) in [
        (toml("retries = 3"), "retries"),
        (toml("max_retries = -1"), "max_retries"),
        (toml("max_retries = 1.5"), "max_retries"),
        (toml("initial_delay = 5"), "initial_delay"),
        (toml("initial_delay = \"5\""), "initial_delay"),
        (toml("initial_delay = \"-5s\""), "initial_delay"),
        (toml("jitter = { shave = nan }"), "jitter"),
        (toml("jitter = { shave = -0.1 }"), "jitter"),
        (toml("jitter = \"none\""), "jitter"),
        (toml("max_retry_after = 0"), "max_retry_after"),
        (toml("max_delay = \"100ms\""), "max_delay"),
        (toml("initial_delay = \"60s\""), "max_delay"),
        (toml("retry_statuses = [\"599-500\"]"), "retry_statuses"),
        (toml("over_cap = \"ignore\""), "over_cap"),
        (
            toml("retry_budget = { ratio = inf, reserve_per_second = 1, capacity = 10 }"),
            "retry_budget.ratio",
        ),
        (toml("max_retries = 1001"), "max_retries"),
        (toml("jitter = { shave = 0.0 }"), "jitter"),
        (toml("honor_retry_after = "), ""),
        (json("\"retries\": 3"), "retries"),
        (json("\"initial_delay\": 5"), "initial_delay"),
        (json("\"max_delay\": \"100ms\""), "max_delay"),
        (json("\"initial_delay\": \"60s\""), "max_delay"),
        (json("\"jitter\": {\"shave\": -1}"), "jitter"),
        (json("\"max_retries\": NaN"), ""),
    ] {
        let ran = with(name, &text, ["chat", "hi", "--json"]);
        let object = ran.object();
        let message = object["error"]["message"].as_str().unwrap();
        assert_eq!(
            (ran.code, &object["error"]["kind"]),
            (1, &"usage".into()),
            "{text}"
        );
        assert!(
            message.starts_with("--policy ") && message.contains(name),
            "{message}"
        );
        assert!(message.contains(": line 2: "), "{text}: {message}");
        assert!(message.contains(key), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn a_file_that_is_no_policy_is_refused_by_name() {
    for (name, text, word) in [
        ("p.json", "", "line"),
        ("p.json", "[]", "table"),
        ("p.json", "{} {}", "line"),
        ("p.toml", "\u{1b}[2J", "line"),
        ("p.toml", "[max_retries]\n", "max_retries"),
        ("p.toml", "max_retries = 1\nmax_retries = 2\n", "line 2"),
    ] {
        let ran = with(name, text, ["schedule", "--json"]);
        let object = ran.object();
        let message = object["error"]["message"].as_str().unwrap();
        assert!(
            message.contains(name) && message.contains(word),
            "{text:?}: {message}"
        );
        assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
    }
    let file = Scratch::new("p.toml", b"max_retries = 1 # \xff");
    let ran = skyl(["schedule", "--policy", file.path()]).run();
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("UTF-8"), "{ran:?}");
    // An empty file is the default policy.
    assert_eq!(with("p.toml", "", ["schedule"]).code, 0);
}

#[test]
fn a_name_that_is_neither_policy_nor_file_is_refused_with_both_in_mind() {
    let ran = skyl(["schedule", "--policy", "no-such.toml"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(
        ran.stderr.contains("no-such.toml: no file") && ran.stderr.contains("system_one"),
        "{ran:?}"
    );
}

/// Retries that a table holds, and its first ceiling.
fn shape(run: Skyl) -> (u64, u64) {
    let object = run.run().object();
    (
        object["max_retries"].as_u64().unwrap(),
        object["retries"][0]["ceiling_ms"].as_u64().unwrap(),
    )
}

#[test]
fn a_flag_goes_before_a_variable_and_that_before_the_file_and_that_before_the_default() {
    let file = Scratch::new("order.toml", b"max_retries = 7\n");
    let named = || skyl(["schedule", "--json", "--policy", file.path()]);
    assert_eq!(shape(skyl(["schedule", "--json"])), (3, 500));
    // What the file does not say is the default.
    assert_eq!(shape(named()), (7, 500));
    let variable = || named().env("SKYL_MAX_RETRIES", "8");
    assert_eq!(shape(variable()), (8, 500));
    assert_eq!(shape(variable().args(["--max-retries", "9"])), (9, 500));
    // The file itself is named by a flag before it is by a variable.
    let by_variable = || skyl(["schedule", "--json"]).env("SKYL_POLICY", file.path());
    assert_eq!(shape(by_variable()), (7, 500));
    assert_eq!(
        shape(by_variable().args(["--policy", "system_one"])),
        (2, 500)
    );
}

#[test]
fn figures_of_a_file_and_of_flags_are_held_together_only_at_the_end() {
    let slow = "initial_delay = \"60s\"\n";
    // Alone it does not go with the default of the highest ceiling; with a flag it does.
    assert_eq!(with("slow.toml", slow, ["schedule"]).code, 1);
    let ran = with("slow.toml", slow, ["schedule", "--retry-max", "2m"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // The one that does not fit is named by whoever said it.
    let ran = with("slow.toml", slow, ["schedule", "--retry-max", "10s"]);
    assert!(
        ran.stderr.starts_with("error: --retry-max: max_delay"),
        "{ran:?}"
    );
    let ran = with(
        "low.toml",
        "\nmax_delay = \"1s\"\n",
        ["schedule", "--retry-base", "2s"],
    );
    assert!(
        ran.stderr.contains("low.toml: line 2: max_delay"),
        "{ran:?}"
    );
}

#[test]
fn a_variable_that_names_the_file_is_named_with_it() {
    let file = Scratch::new("wrong.toml", b"retries = 1\n");
    let ran = skyl(["chat", "hi"]).env("SKYL_POLICY", file.path()).run();
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.starts_with("error: SKYL_POLICY ") && ran.stderr.contains("wrong.toml: line 1"),
        "{ran:?}"
    );
}
