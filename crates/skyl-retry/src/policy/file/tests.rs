use std::time::Duration;

use proptest::prelude::*;

use crate::policy::*;

const SECOND: Duration = Duration::from_secs(1);

fn toml(text: &str) -> Result<RetryPolicy, toml::de::Error> {
    toml::from_str(text)
}

/// The line, counted from 1, on which a TOML reader puts the error.
fn line(text: &str, error: &toml::de::Error) -> Option<usize> {
    let start = error.span()?.start;
    Some(text[..start].matches('\n').count() + 1)
}

/// One bad value on the second of three lines.
#[track_caller]
fn refused(bad: &str, message: &str) {
    let text = format!("max_retries = 2\n{bad}\nretry_unsent = true\n");
    let error = toml::from_str::<RetryPolicyBuilder>(&text).unwrap_err();
    assert_eq!(error.message(), message);
    assert_eq!(line(&text, &error), Some(2), "{error}");
    assert_eq!(toml(&text).unwrap_err().message(), message);
}

#[test]
fn an_empty_file_is_the_chat_policy() {
    assert_eq!(toml("").unwrap(), RetryPolicy::chat());
    let json: RetryPolicy = serde_json::from_str("{}").unwrap();
    assert_eq!(json, RetryPolicy::chat());
}

#[test]
fn every_figure_is_read_by_its_name() {
    let policy = toml(
        r#"
            max_retries = 7
            initial_delay = "250ms"
            max_delay = "1m30s"
            jitter = "equal"
            honor_retry_after = false
            max_retry_after = "2m"
            over_cap = "give_up"
            zero_hint = "obey"
            honor_should_retry = false
            spread = { of_hint = 0.5, growth = 2, max = "10s" }
            budget = "45s"
            retry_by = "status"
            retry_statuses = [408, 429, "500-503", "529"]
            retry_on_conn_err = false
            retry_on_timeout = false
            retry_unsent = true

            [retry_budget]
            ratio = 0.2
            reserve_per_second = 1
            capacity = 20
            initial = 5
        "#,
    )
    .unwrap();
    let expected = RetryPolicy::builder()
        .max_retries(7)
        .initial_delay(SECOND / 4)
        .max_delay(90 * SECOND)
        .jitter(Jitter::Equal)
        .honor_retry_after(false)
        .max_retry_after(120 * SECOND)
        .over_cap(OverCap::GiveUp)
        .zero_hint(ZeroHint::Obey)
        .honor_should_retry(false)
        .spread(Spread {
            of_hint: 0.5,
            growth: 2.0,
            max: 10 * SECOND,
        })
        .budget(45 * SECOND)
        .retry_by(RetryBy::Status)
        .retry_statuses("408, 429, 500-503, 529".parse().unwrap())
        .retry_on_conn_err(false)
        .retry_on_timeout(false)
        .retry_unsent(true)
        .retry_budget(RetryBudgetPolicy {
            ratio: 0.2,
            reserve_per_second: 1.0,
            capacity: 20.0,
            initial: Some(5.0),
        });
    assert_eq!(policy, expected.build().unwrap());
}

#[test]
fn json_has_the_same_names() {
    let policy: RetryPolicy = serde_json::from_str(
        r#"{"max_retries": 1, "budget": 0, "jitter": {"shave": 0.25}, "retry_statuses": [503],
            "spread": {"of_hint": 1, "growth": 1.0, "max": "30s"}}"#,
    )
    .unwrap();
    assert_eq!(policy.max_retries(), 1);
    assert_eq!(policy.budget(), None);
    assert_eq!(policy.jitter(), Jitter::Shave(0.25));
    assert!(policy.retry_statuses().iter().eq([503]));
    assert_eq!(policy.spread(), RetryPolicy::fleet().spread());
}

#[test]
fn every_jitter_has_its_spelling() {
    for (text, jitter) in [
        ("\"full\"", Jitter::Full),
        ("\"equal\"", Jitter::Equal),
        ("\"decorrelated\"", Jitter::Decorrelated),
        ("{ shave = 0.25 }", Jitter::Shave(0.25)),
        ("{ shave = 0 }", Jitter::Shave(0.0)),
        ("{ shave = 1 }", Jitter::Shave(1.0)),
    ] {
        let policy = toml(&format!("jitter = {text}")).unwrap();
        assert_eq!(policy.jitter(), jitter);
    }
    let rule = "must be full, equal, decorrelated or a table { shave = FRACTION }";
    refused("jitter = \"none\"", &format!("jitter = \"none\": {rule}"));
    refused(
        "jitter = \"shave=0.25\"",
        &format!("jitter = \"shave=0.25\": {rule}"),
    );
    refused(
        "jitter = 0.25",
        &format!("invalid type: floating point `0.25`, expected `jitter`, which {rule}"),
    );
    refused("jitter = {}", "`jitter.shave` is missing");
    refused(
        "jitter = { shaves = 0.2 }",
        "unknown key `jitter.shaves`; known are jitter.shave",
    );
}

#[test]
fn an_unknown_key_is_refused_by_name() {
    let text = "max_retries = 2\nmax_retrys = 3\n";
    let error = toml(text).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("unknown key `max_retrys`; known are max_retries, initial_delay, "),
        "{error}"
    );
    assert_eq!(line(text, &error), Some(2));
    refused(
        "spread = { of_hint = 1, growht = 1, max = \"1s\" }",
        "unknown key `spread.growht`; known are spread.of_hint, spread.growth, spread.max",
    );
    refused(
        "retry_budget.burst = 3",
        "unknown key `retry_budget.burst`; known are retry_budget.ratio, \
         retry_budget.reserve_per_second, retry_budget.capacity, retry_budget.initial",
    );
}

#[test]
fn a_key_is_read_once() {
    let error = serde_json::from_str::<RetryPolicy>(
        "{\"max_retries\": 1,\n \"retry_unsent\": true,\n \"max_retries\": 2}",
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("`max_retries` is there twice at line 3"),
        "{error}"
    );
    assert!(toml("max_retries = 1\nmax_retries = 2").is_err());
}

#[test]
fn a_length_needs_its_unit_and_zero_needs_none() {
    let rule = "must be a duration with its unit, such as 500ms, 30s or 5m";
    for key in ["initial_delay", "max_delay", "max_retry_after", "budget"] {
        for bad in [
            "5", "\"5\"", "0.5", "0.0", "-1", "\"-5s\"", "nan", "inf", "\"soon\"", "true",
        ] {
            let shown = match bad {
                "nan" => "NaN",
                bad => bad,
            };
            refused(
                &format!("{key} = {bad}"),
                &format!("{key} = {shown}: {rule}"),
            );
        }
    }
    for zero in ["0", "\"0\"", "\"0s\""] {
        assert_eq!(toml(&format!("budget = {zero}")).unwrap().budget(), None);
        let at_once = toml(&format!("initial_delay = {zero}")).unwrap();
        assert_eq!(at_once.initial_delay(), Duration::ZERO);
    }
}

#[test]
fn a_list_for_a_length_is_refused_by_name() {
    refused(
        "max_delay = [1]",
        "invalid type: sequence, expected `max_delay`, which must be a duration with its unit, \
         such as 500ms, 30s or 5m",
    );
}

#[test]
fn a_cap_of_zero_is_refused_where_it_stands() {
    refused(
        "max_retry_after = 0",
        "max_retry_after = 0s: must not be zero",
    );
    assert!(toml("max_retry_after = \"1ns\"").is_ok());
}

#[test]
fn counts_are_whole_and_not_negative() {
    let rule = "must be a whole number from 0 to 4294967295";
    for bad in ["-1", "1.0", "4294967296", "\"3\"", "nan"] {
        let text = format!("retry_unsent = true\nmax_retries = {bad}\n");
        let error = toml(&text).unwrap_err();
        let shown = bad.replace("nan", "NaN");
        assert_eq!(error.message(), format!("max_retries = {shown}: {rule}"));
        assert_eq!(line(&text, &error), Some(2));
    }
    assert_eq!(
        toml("max_retries = 4294967295").unwrap().max_retries(),
        u32::MAX
    );
}

#[test]
fn switches_and_words_are_named() {
    refused(
        "honor_retry_after = \"yes\"",
        "honor_retry_after = \"yes\": must be true or false",
    );
    refused(
        "retry_on_timeout = 1",
        "retry_on_timeout = 1: must be true or false",
    );
    refused(
        "over_cap = \"cut\"",
        "over_cap = \"cut\": must be clamp or give_up",
    );
    refused("zero_hint = 0", "zero_hint = 0: must be backoff or obey");
    refused(
        "retry_by = \"\\u001b[2J\"",
        "retry_by = \"\\u{1b}[2J\": must be kind or status",
    );
}

#[test]
fn fractions_are_held_to_their_ranges_where_they_stand() {
    refused(
        "jitter = { shave = nan }",
        "jitter = NaN: must be a number from 0 to 1",
    );
    refused(
        "jitter = { shave = -0.1 }",
        "jitter = -0.1: must be a number from 0 to 1",
    );
    refused(
        "jitter = { shave = \"0.2\" }",
        "jitter = \"0.2\": must be a number",
    );
    refused(
        "spread = { of_hint = nan, growth = 1, max = \"1s\" }",
        "spread.of_hint = NaN: must be a finite number from 0",
    );
    refused(
        "spread = { of_hint = 1, growth = 0.5, max = \"1s\" }",
        "spread.growth = 0.5: must be a finite number from 1",
    );
    refused(
        "spread = { of_hint = 1, growth = 1, max = 1 }",
        "spread.max = 1: must be a duration with its unit, such as 500ms, 30s or 5m",
    );
    let budget = |figures: &str| format!("retry_budget = {{ {figures} }}");
    refused(
        &budget("ratio = -0.1"),
        "retry_budget.ratio = -0.1: must be a number from 0 to 1000",
    );
    refused(
        &budget("reserve_per_second = inf"),
        "retry_budget.reserve_per_second = inf: must be a number from 0 to 1000",
    );
    refused(
        &budget("capacity = 0"),
        "retry_budget.capacity = 0: must be a number from 1 to 1000000000",
    );
    refused(
        &budget("ratio = 0.1, reserve_per_second = 0, capacity = 10, initial = 11"),
        "retry_budget.initial = 11: must be a number from 0 to 10",
    );
    // Out of any range, whatever fits in.
    refused(
        &budget("initial = 2e9"),
        "retry_budget.initial = 2000000000: must be a number from 0 to 1000000000",
    );
}

#[test]
fn what_is_no_table_is_refused_by_name() {
    refused(
        "spread = 1",
        "invalid type: integer `1`, expected `spread`, which must be a table with of_hint, growth \
         and max",
    );
    refused(
        "retry_budget = 1",
        "invalid type: integer `1`, expected `retry_budget`, which must be a table with ratio, \
         reserve_per_second, capacity and, if it does not start full, initial",
    );
    let list = serde_json::from_str::<RetryPolicy>("[1]").unwrap_err();
    assert_eq!(
        list.to_string(),
        "invalid type: sequence, expected a table with the figures of a retry policy at line 1 \
         column 0"
    );
}

#[test]
fn a_figure_that_is_there_twice_is_refused() {
    // TOML refuses that by itself.
    let twice = |json: &str| {
        let error = serde_json::from_str::<RetryPolicy>(json).unwrap_err();
        error.to_string()
    };
    for (json, key) in [
        (r#"{"max_retries": 1, "max_retries": 1}"#, "max_retries"),
        (
            r#"{"max_retries": 1, "jitter": "full", "max_retries": 1}"#,
            "max_retries",
        ),
        (
            r#"{"over_cap": "clamp", "retry_unsent": true, "retry_unsent": true}"#,
            "retry_unsent",
        ),
        (
            r#"{"spread": {"growth": 1, "of_hint": 1, "growth": 1}}"#,
            "spread.growth",
        ),
    ] {
        let error = twice(json);
        assert!(
            error.starts_with(&format!("`{key}` is there twice")),
            "{error}"
        );
    }
}

#[test]
fn a_value_in_a_table_is_shown_on_its_own_line() {
    let text = "max_retries = 1\n\n[retry_budget]\nratio = 0.1\nreserve_per_second = -1\n";
    let error = toml(text).unwrap_err();
    assert_eq!(
        error.message(),
        "retry_budget.reserve_per_second = -1: must be a number from 0 to 1000"
    );
    assert_eq!(line(text, &error), Some(5));
}

#[test]
fn tables_have_no_silent_defaults() {
    refused(
        "spread = { of_hint = 1, growth = 1 }",
        "`spread.max` is missing",
    );
    refused("spread = {}", "`spread.of_hint` is missing");
    refused(
        "retry_budget = { ratio = 0.1, reserve_per_second = 0.1 }",
        "`retry_budget.capacity` is missing",
    );
    let full = toml("retry_budget = { ratio = 0.1, reserve_per_second = 0.1, capacity = 10 }");
    assert_eq!(
        full.unwrap().retry_budget(),
        RetryPolicy::fleet().retry_budget()
    );
}

#[test]
fn statuses_are_numbers_and_ranges() {
    let rule = "must hold statuses from 100 to 599, or ranges";
    refused(
        "retry_statuses = [408, 600]",
        &format!("retry_statuses = 600: {rule} of them"),
    );
    refused(
        "retry_statuses = [\"5xx\"]",
        &format!("retry_statuses = 5xx: {rule} of them"),
    );
    refused(
        "retry_statuses = [-429]",
        &format!("retry_statuses = -429: {rule} of them"),
    );
    refused(
        "retry_statuses = [429.0]",
        &format!("retry_statuses = 429.0: {rule} such as \"500-599\""),
    );
    refused(
        "retry_statuses = [\"599-500\"]",
        "retry_statuses = 599-500: must name the lower status first",
    );
    refused(
        "retry_statuses = 429",
        "invalid type: integer `429`, expected `retry_statuses`, which must be a list such as \
         [408, 429, \"500-599\"]",
    );
    assert!(
        toml("retry_statuses = []")
            .unwrap()
            .retry_statuses()
            .is_empty()
    );
}

#[test]
fn a_max_below_its_initial_is_shown_where_it_stands() {
    let message = "max_delay = 1s: must not be below initial_delay (2s)";
    // This reader hands out keys in alphabetical order, whatever the order of the lines.
    for (text, on) in [
        (
            "max_retries = 2\ninitial_delay = \"2s\"\nmax_delay = \"1s\"\n",
            3,
        ),
        (
            "max_retries = 2\nmax_delay = \"1s\"\ninitial_delay = \"2s\"\n",
            2,
        ),
    ] {
        let error = toml(text).unwrap_err();
        assert_eq!(error.message(), message);
        assert_eq!(line(text, &error), Some(on));
    }
    // This one follows the text, so that the second of the two is where it shows.
    for text in [
        "{\"initial_delay\": \"2s\",\n\"max_delay\": \"1s\"}",
        "{\"max_delay\": \"1s\",\n\"initial_delay\": \"2s\"}",
    ] {
        let error = serde_json::from_str::<RetryPolicy>(text).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert_eq!(error.line(), 2);
    }
    assert!(toml("max_delay = \"1s\"\ninitial_delay = \"1s\"").is_ok());
    // In whatever order, a default is not held against what is yet to come.
    assert!(toml("max_delay = \"100ms\"\ninitial_delay = \"1ms\"").is_ok());
    assert!(toml("initial_delay = \"1m\"\nmax_delay = \"2m\"").is_ok());
}

#[test]
fn a_max_below_the_default_initial_is_found_by_its_key() {
    let message = "max_delay = 100ms: must not be below initial_delay (500ms)";
    let text = "max_retries = 2\nmax_delay = \"100ms\"\nretry_unsent = true\n";
    assert_eq!(toml(text).unwrap_err().message(), message);

    let builder: RetryPolicyBuilder = toml::from_str(text).unwrap();
    let invalid = builder.clone().build().unwrap_err();
    assert_eq!(invalid.to_string(), message);
    assert_eq!(invalid.line_in(text), Some(2));
    // A flag may still make it right.
    assert!(builder.initial_delay(SECOND / 10).build().is_ok());
}

#[test]
fn a_policy_in_a_larger_file_is_shown_by_its_table() {
    #[derive(Debug)]
    struct Config(#[expect(dead_code, reason = "only refusals are looked at")] RetryPolicy);

    impl<'de> serde_core::Deserialize<'de> for Config {
        fn deserialize<D: serde_core::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            let mut all = std::collections::HashMap::<String, RetryPolicy>::deserialize(from)?;
            Ok(Self(all.remove("retry").unwrap_or_default()))
        }
    }

    let text = "\n[retry]\nmax_delay = \"100ms\"\n";
    let error = toml::from_str::<Config>(text).unwrap_err();
    assert!(
        error.message().starts_with("max_delay = 100ms: "),
        "{error}"
    );
    assert_eq!(line(text, &error), Some(2));
}

fn lengths() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (0_u64..100_000).prop_map(Duration::from_millis),
        (any::<u64>(), 0_u32..1_000_000_000).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
    ]
}

/// Numbers that every reader of JSON reads exactly.
fn thousandths(from: u32, to: u32) -> impl Strategy<Value = f64> {
    (from * 1000..=to * 1000).prop_map(|number| f64::from(number) / 1000.0)
}

fn policies() -> impl Strategy<Value = RetryPolicy> {
    let jitter = prop_oneof![
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::Decorrelated),
        thousandths(0, 1).prop_map(Jitter::Shave),
    ];
    let spread =
        (thousandths(0, 9), thousandths(1, 9), lengths()).prop_map(|(of_hint, growth, max)| {
            Spread {
                of_hint,
                growth,
                max,
            }
        });
    let initial = proptest::option::of(thousandths(0, 10));
    let budget = (
        thousandths(0, 1000),
        thousandths(0, 1000),
        thousandths(10, 100),
        initial,
    );
    let budget =
        budget.prop_map(
            |(ratio, reserve_per_second, capacity, initial)| RetryBudgetPolicy {
                ratio,
                reserve_per_second,
                capacity,
                initial,
            },
        );
    let statuses = proptest::collection::vec(90_u16..610, 0..20);
    (
        (
            any::<u32>(),
            [lengths(), lengths(), lengths(), lengths()],
            jitter,
        ),
        proptest::option::of(spread),
        proptest::option::of(budget),
        statuses,
        any::<[bool; 8]>(),
    )
        .prop_map(
            |((retries, lengths, jitter), spread, budget, statuses, switches)| {
                let [a, b, cap, time] = lengths;
                let [hint, word, conn, timeout, unsent, over, zero, by] = switches;
                RetryPolicy::builder()
                    .max_retries(retries)
                    .initial_delay(a.min(b))
                    .max_delay(a.max(b))
                    .jitter(jitter)
                    .honor_retry_after(hint)
                    .max_retry_after(cap.max(Duration::from_nanos(1)))
                    .over_cap(if over {
                        OverCap::GiveUp
                    } else {
                        OverCap::Clamp
                    })
                    .zero_hint(if zero {
                        ZeroHint::Obey
                    } else {
                        ZeroHint::Backoff
                    })
                    .honor_should_retry(word)
                    .spread(spread)
                    .budget(time)
                    .retry_by(if by { RetryBy::Status } else { RetryBy::Kind })
                    .retry_statuses(statuses.into_iter().collect())
                    .retry_on_conn_err(conn)
                    .retry_on_timeout(timeout)
                    .retry_unsent(unsent)
                    .retry_budget(budget)
                    .build()
                    .unwrap()
            },
        )
}

proptest! {
    #[test]
    fn every_policy_reads_back_as_it_is_written(policy in policies()) {
        let text = toml::to_string(&policy).unwrap();
        prop_assert_eq!(&toml(&text).unwrap(), &policy, "{}", text);
        let pretty = toml::to_string_pretty(&policy).unwrap();
        prop_assert_eq!(&toml(&pretty).unwrap(), &policy, "{}", pretty);
        let json = serde_json::to_string(&policy).unwrap();
        prop_assert_eq!(&serde_json::from_str::<RetryPolicy>(&json).unwrap(), &policy, "{}", json);
    }

    #[test]
    fn every_written_key_is_found_on_its_line(policy in policies()) {
        for text in [toml::to_string(&policy).unwrap(), serde_json::to_string_pretty(&policy).unwrap()] {
            for key in ["max_retries", "initial_delay", "retry_statuses", "jitter"] {
                let line = InvalidPolicy::new(key, "", "").line_in(&text);
                let shown = line.and_then(|line| text.lines().nth(line - 1)).unwrap_or_default();
                prop_assert!(shown.contains(key), "{} at {:?} of {}", key, line, text);
            }
        }
    }
}

#[test]
fn presets_are_written_in_full() {
    assert_eq!(
        toml::to_string(&RetryPolicy::system_one()).unwrap(),
        "max_retries = 2\ninitial_delay = \"500ms\"\nmax_delay = \"5s\"\nhonor_retry_after = true\n\
         max_retry_after = \"5m\"\nover_cap = \"clamp\"\nzero_hint = \"obey\"\n\
         honor_should_retry = false\nbudget = \"30s\"\nretry_by = \"status\"\n\
         retry_statuses = [408, 429, \"500-599\"]\nretry_on_conn_err = true\n\
         retry_on_timeout = true\nretry_unsent = false\n\n[jitter]\nshave = 0.25\n"
    );
    for policy in [
        RetryPolicy::chat(),
        RetryPolicy::system_one(),
        RetryPolicy::fleet(),
    ] {
        assert_eq!(toml(&toml::to_string(&policy).unwrap()).unwrap(), policy);
    }
}
