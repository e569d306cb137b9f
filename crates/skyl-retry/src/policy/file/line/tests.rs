use proptest::prelude::*;

use super::*;

#[track_caller]
fn found(key: &'static str, text: &str, line: Option<usize>) {
    let invalid = InvalidPolicy::new(key, "value", "rule");
    assert_eq!(invalid.line_in(text), line, "{key} in {text}");
}

#[test]
fn a_key_is_found_on_its_line_in_toml() {
    let text = "# max_delay = \"1s\"\nover_cap = \"max_delay = 3\"\n'max_delay' = '2s' # jitter =\n\
                \n[jitter]\nshave = 0.2\n[retry_budget]\nratio = 1\n  initial = 2\n";
    found("over_cap", text, Some(2));
    found("max_delay", text, Some(3));
    found("jitter", text, Some(5));
    found("retry_budget.initial", text, Some(9));
    found("initial", text, None);
    found("initial_delay", text, None);
    found(
        "spread.max",
        "a = 1\nspread = { of_hint = 1,\n growth = 1, max = \"1s\" }\nmax = 2",
        Some(3),
    );
    found(
        "max",
        "a = 1\nspread = { of_hint = 1,\n growth = 1, max = \"1s\" }\nmax = 2",
        Some(4),
    );
    found(
        "spread.max",
        "spread.of_hint = 1\nspread.max = \"9d\"",
        Some(2),
    );
    found(
        "max_retries",
        "retry_statuses = [\n  408,\n  \"500-599\",\n]\nmax_retries = 1",
        Some(5),
    );
}

#[test]
fn a_table_may_stand_in_from_the_edge() {
    found("jitter", "a = 1\n \t[jitter]\nshave = 1", Some(2));
    found("jitter.shave", "\n  [jitter]\n  shave = 1", Some(3));
    // Behind something else a bracket opens a list.
    found("jitter", "a = [jitter]\n[jitter]", Some(2));
}

#[test]
fn a_string_ends_where_its_quotes_say() {
    // An escaped backslash escapes nothing; in single quotes no backslash does.
    found("b", "a = \"\\\\\"\nb = 1", Some(2));
    found("b", "a = \"\\\\\\\"\nb = 1\"\nb = 2", Some(3));
    found("b", "a = 'c:\\'\nb = 1", Some(2));
    found("b", "a = \"\\\"\nb = 1\"\nb = 2", Some(3));
}

#[test]
fn a_key_is_found_on_its_line_in_json() {
    let text = "{\n  \"over_cap\": \"\\\"max_delay\\\": 1\",\n  \"spread\": {\"of_hint\": 1,\n \"max\": \
                \"9d\"},\n  \"max_delay\"\n: \"1s\"\n}";
    found("over_cap", text, Some(2));
    found("spread.max", text, Some(4));
    found("max_delay", text, Some(5));
    found("max", text, None);
}

proptest! {
    #[test]
    fn no_text_breaks_the_search_for_a_line(text in any::<String>(), toml in "[a-z\\[\\]{}=:\"'#\\\\\n é.]{0,60}") {
        for text in [text, toml] {
            let lines = text.matches('\n').count() + 1;
            let line = InvalidPolicy::new("a", "", "").line_in(&text);
            prop_assert!(line.is_none_or(|line| (1..=lines).contains(&line)));
        }
    }
}
