use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Script {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn prints_as(text: &str, canonical: &str) {
    assert_eq!(parsed(text).to_string(), canonical);
    assert_eq!(
        parsed(canonical),
        parsed(text),
        "the canonical form means the same"
    );
}

#[track_caller]
fn refused(text: &str, position: usize, expected: &str) {
    let error = text.parse::<Script>().expect_err(text);
    assert_eq!(error.position(), position, "{error}");
    assert!(error.expected().contains(expected), "{error}");
}

#[test]
fn every_verb_of_the_grammar_parses() {
    for text in [
        "ok",
        "200",
        "599",
        "429(ra=1)",
        "429(ra=1.50)",
        "429(ra-ms=1500)",
        "503(ra-date=+30)",
        "503(ra-date=-30)",
        "503(ra-raw=soon, +*@ or later)",
        "503(should-retry=false;body=html)",
        "503(body=quota)",
        "503(body=context)",
        "503(body=overloaded)",
        "503(body=empty)",
        "503(body=cut)",
        "reset",
        "close",
        "reset-mid",
        "close-mid",
        "first-error",
        "stream-truncate(0)",
        "stream-error(2)",
        "stream-reset(3)",
        "stream-stall(1;250)",
        "ok+stall(10)+stall-mid(20)+slow(5)+split(3)+comments(40)",
        "503(ra=1)+stall(200),ok+slow(20)+split(3)",
        "429(ra=1)*2,reset,ok",
        "ok*10000",
    ] {
        prints_as(text, text);
    }
}

#[test]
fn a_step_without_an_outcome_is_ok_and_order_is_free() {
    prints_as("stall(5)", "ok+stall(5)");
    prints_as("split(3)+slow(20)", "ok+slow(20)+split(3)");
    prints_as("slow(20)+503(ra=1)", "503(ra=1)+slow(20)");
    prints_as("503(body=html;ra=1)", "503(ra=1;body=html)");
    prints_as("503(ra-date=30)", "503(ra-date=+30)");
    prints_as("stream-error", "stream-error(1)");
    prints_as("ok*1", "ok");
}

#[test]
fn numbers_reach_the_wire_as_written() {
    let script = parsed("429(ra=007.50)");
    assert_eq!(script.to_string(), "429(ra=007.50)");
}

#[test]
fn wrong_text_is_refused_at_its_place() {
    refused("", 0, "a verb");
    refused("ok,", 3, "a verb");
    refused("nope", 0, "a verb");
    refused("OK", 0, "a verb");
    refused("199", 0, "a status from 200 to 599");
    refused("600", 0, "a status from 200 to 599");
    refused("0429", 0, "a verb");
    refused("429abc", 0, "a verb");
    refused("ok ok", 2, "the end of the script");
    refused("ok*0", 3, "from 1 to 10000");
    refused("ok*10001", 3, "from 1 to 10000");
    refused("ok*", 3, "from 1 to 10000");
    refused("ok*2*2", 4, "the end of the script");
    refused("ok+reset", 3, "a delivery verb");
    refused("503+429", 4, "a delivery verb");
    refused("slow(1)+slow(2)", 8, "`slow` once");
    refused("ok(", 3, "`)`");
    refused("ok()", 3, "no further argument");
    refused("reset(5)", 6, "no further argument");
    refused("stall", 5, "milliseconds");
    refused("stall()", 6, "milliseconds");
    refused("stall(-1)", 6, "milliseconds");
    refused("stall(1e3)", 6, "milliseconds");
    refused("stall(1.)", 6, "milliseconds");
    refused("stall(.5)", 6, "milliseconds");
    refused("stall(1;2)", 8, "no further argument");
    refused("split(0)", 6, "at least 1");
    refused("split(1.5)", 6, "bytes");
    refused("stream-stall(1)", 14, "milliseconds");
    refused("stream-truncate(x)", 16, "content frames");
    refused("429(after=1)", 4, "ra=");
    refused("429(1)", 4, "ra=");
    refused("429(ra=x)", 7, "decimal seconds");
    refused("429(ra=1;ra=2)", 9, "`ra` once");
    refused("429(ra-date=soon)", 12, "seconds from now");
    refused("429(should-retry=yes)", 17, "`true` or `false`");
    refused("429(body=pdf)", 9, "quota");
    refused("429(ra-raw=a\u{1}b)", 12, "`)`");
    refused("ok@tag", 2, "the end of the script");
}

#[test]
fn at_most_two_hundred_and_fifty_six_steps() {
    parsed(&vec!["ok"; 256].join(","));
    refused(&vec!["ok"; 257].join(","), 3 * 256, "at most 256 steps");
}

#[test]
fn a_tag_follows_the_last_at_sign_outside_brackets() {
    let tagged = |text: &str| Script::parse_tagged(text);
    assert_eq!(tagged("ok@t1").unwrap(), parsed("ok"));
    assert_eq!(tagged("ok@A-b_c.9").unwrap(), parsed("ok"));
    assert_eq!(
        tagged("429(ra-raw=a@b)").unwrap(),
        parsed("429(ra-raw=a@b)")
    );
    assert_eq!(
        tagged("429(ra-raw=a@b)@t").unwrap(),
        parsed("429(ra-raw=a@b)")
    );
    assert_eq!(
        tagged(&format!("ok@{}", "x".repeat(64))).unwrap(),
        parsed("ok")
    );
    for (text, position) in [
        ("ok@".to_owned(), 3),
        ("ok@a b".to_owned(), 4),
        ("ok@ä".to_owned(), 3),
        (format!("ok@{}", "x".repeat(65)), 3 + 64),
    ] {
        let error = tagged(&text).expect_err(&text);
        assert_eq!(error.position(), position, "{error}");
        assert!(error.expected().contains("a tag of 1 to 64"), "{error}");
    }
}

#[test]
fn a_run_goes_through_its_steps_and_stays_on_the_last() {
    let script = parsed("429*2,reset,ok");
    let indexes: Vec<_> = (0..6).map(|position| script.at(position).0).collect();
    assert_eq!(indexes, [0, 0, 1, 2, 2, 2]);
    assert_eq!(script.at(u64::MAX).0, 2);
}

#[test]
fn no_wait_is_longer_than_seven_days() {
    let wait = |text: &str| Number(text.into()).millis();
    assert_eq!(wait("1500"), Duration::from_millis(1500));
    assert_eq!(wait("0.5"), Duration::from_micros(500));
    assert_eq!(wait(&"9".repeat(400)), Duration::from_secs(7 * 24 * 3600));
}

proptest! {
    #[test]
    fn any_text_parses_or_is_refused_inside_itself(text in "\\PC{0,80}|[a-z0-9(),;=+*@.-]{0,80}") {
        match text.parse::<Script>() {
            Ok(script) => prop_assert_eq!(script.to_string().parse::<Script>().unwrap(), script),
            Err(error) => prop_assert!(error.position() <= text.len()),
        }
        let _either_way = Script::parse_tagged(&text).is_ok();
    }
}
