use super::*;
use crate::hint::{Found, HintScope, HintSource, from_headers, from_response, server_word};

fn find(headers: &[(&str, &str)]) -> Found {
    let headers = headers
        .iter()
        .map(|(name, value)| (*name, value.as_bytes()));
    from_headers(headers, wall(), HintScope::All)
}

#[track_caller]
fn check(headers: &[(&str, &str)], hint: Hint, source: Option<HintSource>) {
    let found = find(headers);
    assert_eq!((found.hint, found.source), (hint, source), "{headers:?}");
}

#[test]
fn milliseconds_come_before_seconds() {
    check(
        &[("retry-after", "2"), ("retry-after-ms", "1500")],
        millis(1500),
        Some(HintSource::RetryAfterMs),
    );
    check(
        &[("x-ms-retry-after-ms", "0.5")],
        Hint::Wait(Duration::from_micros(500)),
        Some(HintSource::RetryAfterMs),
    );
    check(
        &[("retry-after-ms", "0"), ("retry-after", "2")],
        ZERO,
        Some(HintSource::RetryAfterMs),
    );
}

#[test]
fn names_are_compared_without_regard_to_case() {
    check(
        &[("Retry-After", "2")],
        secs(2),
        Some(HintSource::RetryAfter),
    );
    check(
        &[("RETRY-AFTER-MS", "2")],
        millis(2),
        Some(HintSource::RetryAfterMs),
    );
    check(&[("retry-after-seconds", "2")], Hint::Absent, None);
}

#[test]
fn an_unusable_source_falls_through_to_the_next() {
    for bad in [
        "",
        "-1",
        "soon",
        "1e3",
        "nan",
        "Tue, 01 Dec 2026 00:00:30 GMT",
    ] {
        check(
            &[("retry-after-ms", bad), ("retry-after", "2")],
            secs(2),
            Some(HintSource::RetryAfter),
        );
    }
    check(
        &[
            ("retry-after", "1m0s"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "6m0s"),
        ],
        secs(360),
        Some(HintSource::RateLimitReset),
    );
}

#[test]
fn nothing_said_and_nothing_readable_are_told_apart() {
    check(&[], Hint::Absent, None);
    check(&[("content-type", "text/html")], Hint::Absent, None);
    check(&[("retry-after", "soon")], Hint::Unusable, None);
    check(&[("retry-after-ms", "")], Hint::Unusable, None);
}

#[test]
fn of_repeated_lines_the_largest_usable_one_counts() {
    check(
        &[
            ("retry-after", "2"),
            ("retry-after", "7"),
            ("retry-after", "soon"),
        ],
        secs(7),
        Some(HintSource::RetryAfter),
    );
    check(
        &[("retry-after", "bad"), ("retry-after", "0")],
        ZERO,
        Some(HintSource::RetryAfter),
    );
    check(
        &[("retry-after-ms", "10"), ("x-ms-retry-after-ms", "30")],
        millis(30),
        Some(HintSource::RetryAfterMs),
    );
}

#[test]
fn retry_after_comes_before_a_later_reset() {
    check(
        &[
            ("retry-after", "1"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6s"),
        ],
        secs(1),
        Some(HintSource::RetryAfter),
    );
}

#[test]
fn only_limits_with_nothing_remaining_count() {
    check(
        &[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-remaining-tokens", "900"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ],
        secs(1),
        Some(HintSource::RateLimitReset),
    );
    check(
        &[
            ("x-ratelimit-remaining-tokens", "900"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ],
        Hint::Absent,
        None,
    );
    check(&[("x-ratelimit-reset-tokens", "6m0s")], Hint::Absent, None);
    check(
        &[
            ("x-ratelimit-remaining-tokens", "-1"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ],
        Hint::Absent,
        None,
    );
}

#[test]
fn of_several_exhausted_limits_the_latest_reset_counts() {
    check(
        &[
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-reset-tokens", "7.66s"),
            ("X-RateLimit-Remaining-Requests", "0"),
            ("X-RateLimit-Remaining-Tokens", "0"),
        ],
        millis(7660),
        Some(HintSource::RateLimitReset),
    );
}

#[test]
fn the_exhausted_dimension_of_anthropic_is_read_as_an_instant() {
    check(
        &[
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-12-01T00:00:12Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "5"),
            (
                "anthropic-ratelimit-input-tokens-reset",
                "2026-12-01T00:01:00Z",
            ),
        ],
        secs(12),
        Some(HintSource::RateLimitReset),
    );
    // Dimensions do not mix: `tokens` is not `input-tokens`.
    check(
        &[
            ("anthropic-ratelimit-tokens-remaining", "0"),
            (
                "anthropic-ratelimit-input-tokens-reset",
                "2026-12-01T00:01:00Z",
            ),
        ],
        Hint::Absent,
        None,
    );
}

#[test]
fn families_of_limits_do_not_mix() {
    check(
        &[
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("x-ratelimit-reset-tokens", "6s"),
        ],
        Hint::Absent,
        None,
    );
}

#[test]
fn an_unknown_reset_is_unusable() {
    for unknown in ["0", "-1", "0s", "later"] {
        check(
            &[
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", unknown),
            ],
            Hint::Unusable,
            None,
        );
    }
}

#[test]
fn body_and_prose_are_asked_in_their_place() {
    let ask = |headers: &[(&str, &str)], scope, body, prose| {
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()));
        let found = from_response(headers, wall(), scope, || body, || prose);
        (found.hint, found.source)
    };
    let exhausted = [
        ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-reset-tokens", "3s"),
    ];
    let all = HintScope::All;
    assert_eq!(
        ask(&[("retry-after", "1")], all, secs(2), secs(4)),
        (secs(1), Some(HintSource::RetryAfter))
    );
    assert_eq!(
        ask(&exhausted, all, secs(2), secs(4)),
        (secs(2), Some(HintSource::Body))
    );
    assert_eq!(
        ask(&exhausted, all, Hint::Unusable, secs(4)),
        (secs(3), Some(HintSource::RateLimitReset))
    );
    assert_eq!(
        ask(&[], all, Hint::Absent, secs(4)),
        (secs(4), Some(HintSource::Prose))
    );
    assert_eq!(
        ask(&[], all, Hint::Unusable, Hint::Absent),
        (Hint::Unusable, None)
    );
    // A scope that ends at Retry-After reads nothing beyond.
    assert_eq!(
        ask(&exhausted, HintScope::RetryAfterOnly, secs(2), secs(4)),
        (Hint::Absent, None)
    );
    assert_eq!(
        ask(
            &[("retry-after", "1")],
            HintScope::RetryAfterOnly,
            secs(2),
            secs(4)
        ),
        (secs(1), Some(HintSource::RetryAfter))
    );
}

#[test]
fn body_and_prose_are_not_built_when_a_header_answers() {
    let headers = [("retry-after", &b"1"[..])];
    let found = from_response(
        headers,
        wall(),
        HintScope::All,
        || panic!("asked"),
        || panic!("asked"),
    );
    assert_eq!(found.hint, secs(1));
}

#[test]
fn bytes_that_are_no_text_are_unusable() {
    let headers = [
        ("retry-after-ms", &b"\xff\xfe"[..]),
        ("retry-after", &b"2"[..]),
    ];
    assert_eq!(from_headers(headers, wall(), HintScope::All).hint, secs(2));
}

#[test]
fn the_servers_word_is_true_false_or_nothing() {
    let word =
        |values: &[&str]| server_word(values.iter().map(|v| ("X-Should-Retry", v.as_bytes())));
    assert_eq!(word(&["true"]), Some(true));
    assert_eq!(word(&[" FALSE "]), Some(false));
    assert_eq!(word(&["true", "false"]), Some(false));
    for nothing in ["", "1", "0", "yes", "truer"] {
        assert_eq!(word(&[nothing]), None);
    }
    assert_eq!(server_word([("retry-after", &b"true"[..])]), None);
}
