//! The estimate and both ceilings.

use serde_json::json;

use super::*;
use crate::system_one::{Asset, Noul, Question, Questions};

#[test]
fn the_estimate_is_239_and_a_third_of_the_bytes() {
    assert_eq!(estimate_tokens(0), 239);
    assert_eq!(estimate_tokens(1_000), 570);
    assert!(estimate_tokens(usize::MAX) > ContextLimits::LONG.all);
}

#[test]
fn all_questions_count_for_one_ceiling_and_the_longest_for_the_other() {
    let questions = Questions::new()
        .ask("short", Noul::new("i"))
        .ask("long", Noul::new("i".repeat(1_000)))
        .ask("other", Question::raw(json!({"type": "x"})));
    let estimate = Request::new("s".repeat(998), questions).context_estimate();
    let bytes = |text: &str| text.len();
    let short = bytes(r#"{"type":"noul","instructions":"i"}"#);
    let (long, other) = (short + 999, bytes(r#"{"type":"x"}"#));
    assert_eq!(estimate.all, estimate_tokens(1_000 + short + long + other));
    assert_eq!(estimate.longest, estimate_tokens(1_000 + long));
    assert_eq!(estimate.longest_id, "long");
}

#[test]
fn each_ceiling_warns_where_it_is_passed_and_not_where_it_is_met() {
    let estimate = |all, longest| ContextEstimate {
        all,
        longest,
        longest_id: "q".to_owned(),
    };
    let fields = |estimate: ContextEstimate, limits| -> Vec<String> {
        let excess = estimate.excess(limits);
        excess.into_iter().map(|warning| warning.field).collect()
    };
    let hosted = ContextLimits::HOSTED;
    assert_eq!(fields(estimate(64_000, 32_000), hosted), [""; 0]);
    assert_eq!(fields(estimate(64_001, 32_000), hosted), ["state"]);
    assert_eq!(fields(estimate(64_000, 32_001), hosted), ["questions.q"]);
    assert_eq!(
        fields(estimate(64_001, 32_001), hosted),
        ["state", "questions.q"]
    );
    assert_eq!(
        fields(estimate(262_144, 262_144), ContextLimits::LONG),
        [""; 0]
    );
}

#[test]
fn pictures_count_by_their_measures_and_not_by_their_bytes() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x18\0\0\x01\x18";
    let request = Request::new("img", [("q", Noul::new("i"))]);
    let without = request.context_estimate();
    let with = request
        .asset("img", Asset::image(&png[..]))
        .context_estimate();
    assert_eq!(with.all, without.all + 200);
    assert_eq!(with.longest, without.longest + 200);
}

#[test]
fn a_request_without_questions_has_a_size_too() {
    let estimate = Request::new("s", Questions::new()).context_estimate();
    assert_eq!(estimate.all, estimate.longest);
    assert_eq!(estimate.longest_id, "");
}
