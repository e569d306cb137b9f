use super::*;
use crate::hint::{Refusal, Rule, explain, parse_retry_after, parse_retry_after_or_zero};

#[track_caller]
fn check(value: &str, expected: Hint) {
    assert_eq!(parse_retry_after(value, wall()), expected, "{value:?}");
    let zero_for_none = expected.wait().unwrap_or(Duration::ZERO);
    assert_eq!(
        parse_retry_after_or_zero(value, wall()),
        zero_for_none,
        "{value:?}"
    );
}

#[test]
fn seconds_are_digits_with_an_optional_fraction() {
    check("120", secs(120));
    check("007", secs(7));
    check("1.5", millis(1500));
    check("0.25", millis(250));
    check(" \t2 ", secs(2));
}

#[test]
fn zero_absent_and_unusable_are_three_answers() {
    for zero in ["0", "0.0", "00", "0.000"] {
        check(zero, ZERO);
    }
    check("", Hint::Unusable);
    check("   ", Hint::Unusable);
    assert_ne!(Hint::Absent, Hint::Unusable);
    assert_eq!(Hint::default(), Hint::Absent);
}

// The official Python client reads `+3`, `1e3` and an empty value as waits; the contract refuses
// every value on which clients disagree.
#[test]
fn what_only_a_lenient_parser_reads_is_unusable() {
    for bad in [
        "-5",
        "-1",
        "-0",
        "+3",
        "1e3",
        "1e300",
        "1e400",
        "1E2",
        "0x10",
        "1_0",
        "10, 20",
        "1;2",
        "nan",
        "NaN",
        "inf",
        "Infinity",
        "-inf",
        "soon",
        "null",
        "true",
        "1.",
        ".5",
        "1.5.2",
        "1..5",
        "١٢",
        "5s",
        "1m0s",
        "500ms",
        "120 seconds",
        "12 0",
        "1,5",
        "\u{a0}5",
    ] {
        check(bad, Hint::Unusable);
    }
    assert_eq!(parse_retry_after(b"5\xff", wall()), Hint::Unusable);
}

#[test]
fn dates_of_forms_http_does_not_know_are_unusable() {
    for bad in [
        "Sep 2027",
        "Jan 1 2030",
        "30 Nov 2026 12:00:00 GMT",
        "2026-12-01T00:00:30Z",
        "2026-12-01",
        "Tue, 01 Dec 2026 00:00:30",
        "Tue, 01 Dec 2026 00:00:30 UTC",
        "Tue, 01 Dec 2026 00:00:30 +0000",
        "Tue, 1 Dec 2026 00:00:30 GMT",
        "01 Dec 2026 00:00:30 GMT",
        "Tue 01 Dec 2026 00:00:30 GMT",
        "Tue, 01 Dec 26 00:00:30 GMT",
        "Tue, 01 Dez 2026 00:00:30 GMT",
        "Tue,  01 Dec 2026 00:00:30 GMT",
    ] {
        check(bad, Hint::Unusable);
    }
}

#[test]
fn a_wait_is_never_rounded_below_what_was_asked() {
    check("0.0000000001", Hint::Wait(Duration::from_nanos(1)));
    check("1.0000000001", Hint::Wait(Duration::new(1, 1)));
    check(
        "0.1234567891",
        Hint::Wait(Duration::from_nanos(123_456_790)),
    );
    check(
        "1.000000000000000000000000001",
        Hint::Wait(Duration::new(1, 1)),
    );
    check("1.000000000000000000000000000", secs(1));
}

#[test]
fn digits_too_large_saturate() {
    check("18446744073709551615", secs(u64::MAX));
    check("18446744073709551616", Hint::Wait(Duration::MAX));
    check("99999999999999999999", Hint::Wait(Duration::MAX));
    check(&"9".repeat(400), Hint::Wait(Duration::MAX));
    assert!(matches!(
        explain("99999999999999999999", wall()).rule,
        Rule::Seconds {
            saturated: true,
            ..
        }
    ));
    assert!(matches!(
        explain("2147484", wall()).rule,
        Rule::Seconds {
            saturated: false,
            ..
        }
    ));
}

#[test]
fn waits_beyond_timer_limits_stay_what_they_are() {
    // Signed 32-bit milliseconds end at 2,147,483 s; nothing here counts in them.
    for seconds in [2_147_483, 2_147_484, 2_200_000] {
        check(&seconds.to_string(), secs(seconds));
    }
}

#[test]
fn an_epoch_second_near_now_is_that_instant() {
    check(&(NOW + 20).to_string(), secs(20));
    check(&(NOW + 366 * 86_400).to_string(), secs(366 * 86_400));
    check(&format!("{}.5", NOW + 20), millis(20_500));
    check(&(NOW - 20).to_string(), ZERO);
    check(&(NOW - 366 * 86_400).to_string(), ZERO);
    check(&NOW.to_string(), ZERO);
}

#[test]
fn an_epoch_second_far_from_now_is_a_length() {
    for seconds in [NOW + 366 * 86_400 + 1, NOW - 366 * 86_400 - 1] {
        check(&seconds.to_string(), secs(seconds));
    }
    // No server has sent an epoch second of the first ten years.
    let ten_years = 315_360_000;
    let digits = (ten_years + 100).to_string();
    assert_eq!(parse_retry_after(&digits, at(ten_years)), secs(100));
    let digits = (ten_years - 100).to_string();
    assert_eq!(
        parse_retry_after(&digits, at(ten_years - 200)),
        secs(ten_years - 100)
    );
    // A wall clock that was never set stands near 1970: short lengths are no instants there.
    assert_eq!(parse_retry_after("30", at(5)), secs(30));
    assert_eq!(
        parse_retry_after("30", UNIX_EPOCH - Duration::from_secs(86_400)),
        secs(30)
    );
}

#[test]
fn explain_tells_near_relatives_apart() {
    let said = |value: &str| explain(value, wall()).to_string();
    // The longest wait there is can still be counted; the nanosecond after it cannot.
    assert!(!said("18446744073709551615.999999999").contains("more than can be counted"));
    assert!(said("18446744073709551616").contains("more than can be counted"));
    assert_ne!(said(".5"), said(".x"));
    assert_ne!(said("0x10"), said("9x10"));
}

#[test]
fn explain_names_the_rule_and_the_reason() {
    #[track_caller]
    fn says(value: &str, text: &str) {
        assert_eq!(explain(value, wall()).to_string(), text);
    }
    says("90", "seconds: wait 1m30s");
    says(
        "99999999999999999999",
        "seconds: more than can be counted, the longest wait there is",
    );
    says("1796083220", "an instant in seconds since 1970: wait 20s");
    says(
        "1796083180",
        "an instant in seconds since 1970: already past, wait 0s",
    );
    says(
        "Tue, 01 Dec 2026 00:00:30 GMT",
        "an HTTP date (IMF-fixdate): wait 30s",
    );
    says(
        "Mon, 30 Nov 2026 00:00:30 GMT",
        "an HTTP date (IMF-fixdate): already past, wait 0s",
    );
    says(
        "Tuesday, 01-Dec-26 00:00:30 GMT",
        "an HTTP date (RFC 850): wait 30s",
    );
    says(
        "Tue Dec  1 00:00:30 2026",
        "an HTTP date (asctime): wait 30s",
    );
    for (value, refusal) in [
        ("", Refusal::Empty),
        ("ü", Refusal::NotAscii),
        ("-5", Refusal::Signed),
        ("+3", Refusal::Signed),
        ("1e3", Refusal::Exponent),
        ("0x10", Refusal::Hex),
        ("1.", Refusal::Point),
        (".5", Refusal::Point),
        ("10, 20", Refusal::List),
        ("1m0s", Refusal::Trailing),
        ("120 seconds", Refusal::Trailing),
        ("2026-12-01T00:00:30Z", Refusal::DateForm),
        ("Sep 2027", Refusal::DateForm),
        ("30 Nov 2026", Refusal::DateForm),
        ("Sun, 31 Feb 2027 00:00:00 GMT", Refusal::ImpossibleDate),
        ("soon", Refusal::Unknown),
    ] {
        assert_eq!(
            explain(value, wall()).rule,
            Rule::Refused(refusal),
            "{value:?}"
        );
        says(value, &format!("unusable: {refusal}"));
    }
}

#[test]
fn explain_shows_the_rules_in_the_order_they_were_tried() {
    assert_eq!(
        explain("1796083220", wall()).steps(),
        [
            "decimal seconds: yes",
            "an epoch second within 366 days of now: yes",
            "an instant in seconds since 1970: wait 20s",
        ]
    );
    assert_eq!(
        explain("-5", wall()).steps().last().map(String::as_str),
        Some("unusable: a sign is not allowed")
    );
}
