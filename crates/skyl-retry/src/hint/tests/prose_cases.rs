use super::*;
use crate::hint::prose;

#[test]
fn waits_are_found_after_their_phrase() {
    for (text, hint) in [
        (
            "Rate limit reached. Please try again in 6.57s. Visit https://example.com.",
            millis(6570),
        ),
        ("Please try again in 634ms.", millis(634)),
        ("try again in 7000us", millis(7)),
        ("try again in 1m30s", secs(90)),
        ("Please retry in 10h17m5.7s.", millis(37_025_700)),
        ("Please retry in 52.45s", millis(52_450)),
        ("PLEASE TRY AGAIN IN 20S", secs(20)),
        ("Please retry after 20 seconds.", secs(20)),
        ("Try again after 1 minute and 30 seconds", secs(90)),
        ("try again in 1 hour, 5 minutes", secs(3900)),
        ("try again in 2 days", secs(172_800)),
        ("Try again in 6m0s.", secs(360)),
        ("retry in 0s", ZERO),
        (
            "limit 3, used 3, try again in 20s, 5 requests left",
            secs(20),
        ),
        ("retry in a moment, or try again in 3s", secs(3)),
    ] {
        assert_eq!(prose(text), hint, "{text}");
    }
}

#[test]
fn nothing_is_guessed_without_a_unit() {
    for text in [
        "try again in 20",
        "retry after 5.",
        "try again in soon",
        "retry in -5s",
        "retry after 2026-12-01",
        "try again in 5 lightyears",
    ] {
        assert_eq!(prose(text), Hint::Unusable, "{text}");
    }
}

#[test]
fn numbers_elsewhere_are_no_waits() {
    for text in [
        "",
        "slow down",
        "used 20s of 30s",
        "Please try again later.",
        "in 20s",
    ] {
        assert_eq!(prose(text), Hint::Absent, "{text}");
    }
}

#[test]
fn only_the_head_of_a_long_message_is_read() {
    let far = format!("{}try again in 5s", "ü".repeat(3000));
    assert_eq!(prose(&far), Hint::Absent);
    let near = format!("{}try again in 5s", "ü".repeat(1000));
    assert_eq!(prose(&near), secs(5));
    let cut_inside_a_character = format!("x{}", "ü".repeat(3000));
    assert_eq!(prose(&cut_inside_a_character), Hint::Absent);
}

#[test]
fn a_wait_too_long_to_count_saturates() {
    assert_eq!(
        prose(&format!("try again in {}h", "9".repeat(60))),
        Hint::Wait(Duration::MAX)
    );
}
