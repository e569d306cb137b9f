use clap::{CommandFactory, Parser};

use super::*;

fn parse(line: &[&str]) -> Result<Cli, String> {
    Cli::try_parse_from(["skyl"].iter().chain(line)).map_err(|error| error.to_string())
}

#[track_caller]
fn chat(line: &[&str]) -> ChatArgs {
    let words: Vec<&str> = ["chat"].iter().chain(line).copied().collect();
    match parse(&words).unwrap().command {
        Command::Chat(args) => *args,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(line: &[&str], word: &str) {
    let words: Vec<&str> = ["chat", "hi"].iter().chain(line).copied().collect();
    let error = parse(&words).unwrap_err();
    assert!(error.contains(word), "{line:?}: {error}");
}

#[test]
fn every_preset_is_named_in_the_help() {
    let mut command = Cli::command();
    let chat = command.find_subcommand_mut("chat").unwrap();
    let help = chat.render_long_help().to_string();
    let words: Vec<&str> = help
        .split(|c: char| c.is_whitespace() || c == ',')
        .collect();
    for preset in skyl::openai::presets() {
        assert!(words.contains(&preset.name()), "{}", preset.name());
    }
}

#[test]
fn the_model_of_arguments_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn lengths_of_time_need_a_unit_and_zero_does_not() {
    let length = |text| chat(&["--retry-base", text]).policy.retry_base;
    for (text, millis) in [
        ("0", 0),
        ("500ms", 500),
        ("30s", 30_000),
        ("5m", 300_000),
        ("1h", 3_600_000),
        ("1.5s", 1_500),
    ] {
        assert_eq!(length(text), Some(Duration::from_millis(millis)), "{text}");
    }
    for text in [
        "10", "1.5", "00", "", "s", "5 s", "5x", "NaN", "1e3s", "ten",
    ] {
        refused(&["--retry-base", text], "retry-base");
    }
    refused(&["--timeout", "10"], "unit");
    refused(&["--timeout", "-1s"], "-1");
}

#[test]
fn a_switch_can_be_turned_on_and_off() {
    let unsent = |line: &[&str]| chat(line).policy.retry_unsent;
    assert_eq!(unsent(&[]), None);
    assert_eq!(unsent(&["--retry-unsent"]), Some(true));
    assert_eq!(unsent(&["--retry-unsent=false"]), Some(false));
    // The word after a switch is the prompt, not its value.
    assert_eq!(
        chat(&["--retry-unsent", "no"]).prompt.as_deref(),
        Some("no")
    );
    refused(&["--retry-unsent=maybe"], "true or false");
}

#[test]
fn of_a_flag_given_twice_the_last_counts() {
    // So that an alias with flags of its own can be overruled.
    assert_eq!(
        chat(&["--max-retries", "1", "--max-retries", "5"])
            .policy
            .max_retries,
        Some(5)
    );
    let headers = chat(&["-H", "a=1", "-H", "b=2"]).connection.headers;
    assert_eq!(headers.len(), 2, "what may be repeated adds up");
}

#[test]
fn jitter_and_the_rule_above_the_cap_are_words() {
    assert_eq!(
        chat(&["--jitter", "shave=0.5"]).policy.jitter,
        Some(skyl_retry::Jitter::Shave(0.5))
    );
    assert_eq!(
        chat(&["--over-cap", "give-up"]).policy.over_cap,
        Some(skyl_retry::OverCap::GiveUp)
    );
    refused(&["--jitter", "none"], "decorrelated");
    refused(&["--over-cap", "ignore"], "clamp or give-up");
    // As a policy file has it is understood, too.
    assert!(chat(&["--over-cap", "give_up"]).policy.over_cap.is_some());
}

#[test]
fn a_script_that_does_not_parse_is_refused_with_its_position() {
    assert!(chat(&["--fault", "429(ra=1)*2,reset,ok"]).fault.is_some());
    refused(&["--fault", "429(after=1)"], "4");
}

#[test]
fn numbers_below_zero_are_values_and_not_flags() {
    assert_eq!(
        chat(&["--temperature", "-1"]).request.temperature,
        Some(-1.0)
    );
    let Command::Explain(args) = parse(&["explain", "-5"]).unwrap().command else {
        panic!()
    };
    assert_eq!(args.value, "-5");
}

#[test]
fn a_header_value_to_explain_may_look_like_a_flag_and_flags_still_work() {
    let cli = parse(&["explain", "--x", "--json", "--cap", "1m"]).unwrap();
    assert!(cli.json);
    let Command::Explain(args) = cli.command else {
        panic!()
    };
    assert_eq!(
        (args.value.as_str(), args.cap),
        ("--x", Some(Duration::from_secs(60)))
    );
}

#[test]
fn json_stands_before_and_after_the_command() {
    for line in [
        ["--json", "chat", "hi"],
        ["chat", "--json", "hi"],
        ["chat", "hi", "--json"],
    ] {
        assert!(parse(&line).unwrap().json, "{line:?}");
    }
    assert!(!parse(&["chat", "hi"]).unwrap().json);
}

#[test]
fn a_key_is_in_no_debug_print_and_in_no_finding_of_the_parser() {
    let line = [
        "chat",
        "--api-key",
        "sk-very-secret",
        "--header",
        "api-key=sk-very-secret",
    ];
    assert!(!format!("{:?}", parse(&line)).contains("very-secret"));
    let wrong: Vec<&str> = line.iter().chain(&["--bogus"]).copied().collect();
    assert!(!parse(&wrong).unwrap_err().contains("very-secret"));
}

#[test]
fn events_go_to_a_file_or_between_the_lines() {
    let events = |to| chat(&["--events", to]).watch.events;
    assert_eq!(events("-"), Some(EventSink::Stdout));
    assert_eq!(events("a.jsonl"), Some(EventSink::File("a.jsonl".into())));
}
