use super::*;
use crate::hint::parse_retry_after;

#[track_caller]
fn check(value: &str, now: SystemTime, expected: Hint) {
    assert_eq!(parse_retry_after(value, now), expected, "{value:?}");
}

#[test]
fn the_three_forms_name_the_same_instant() {
    // The example of RFC 9110: 1994-11-06 08:49:37 UTC.
    let now = at(784_111_777 - 60);
    check("Sun, 06 Nov 1994 08:49:37 GMT", now, secs(60));
    check("Sunday, 06-Nov-94 08:49:37 GMT", now, secs(60));
    check("Sun Nov  6 08:49:37 1994", now, secs(60));
}

#[test]
fn an_asctime_day_of_two_digits_needs_no_padding() {
    check("Wed Nov 16 08:49:37 1994", at(784_975_777 - 5), secs(5));
    check("Sun Nov 06 08:49:37 1994", at(784_111_777 - 5), secs(5));
    check(
        "Sun Nov 6 08:49:37 1994",
        at(784_111_777 - 5),
        Hint::Unusable,
    );
}

#[test]
fn a_date_in_the_past_is_a_wait_of_zero() {
    for past in [
        "Tue, 01 Dec 2026 00:00:00 GMT",
        "Mon, 30 Nov 2026 23:59:50 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
    ] {
        check(past, wall(), ZERO);
    }
    check("Fri, 01 Jan 1960 00:00:00 GMT", wall(), ZERO);
    check("Sat, 01 Jan 0000 00:00:00 GMT", wall(), ZERO);
}

#[test]
fn a_date_in_the_last_year_is_a_wait_like_any_other() {
    let Hint::Wait(wait) = parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", wall()) else {
        panic!("a date");
    };
    assert_eq!(wait.as_secs(), 253_402_300_799 - NOW);
}

#[test]
fn the_wait_keeps_the_fraction_of_the_wall_clock() {
    let now = wall() + Duration::from_millis(400);
    check("Tue, 01 Dec 2026 00:00:30 GMT", now, millis(29_600));
}

#[test]
fn dates_before_1970_on_the_wall_are_read_too() {
    check(
        "Thu, 01 Jan 1970 00:00:01 GMT",
        UNIX_EPOCH - Duration::from_secs(9),
        secs(10),
    );
}

#[test]
fn impossible_dates_are_unusable() {
    for bad in [
        "Sun, 31 Feb 2027 00:00:00 GMT",
        "Mon, 29 Feb 2027 00:00:00 GMT",
        "Mon, 29 Feb 2100 00:00:00 GMT",
        "Sat, 31 Apr 2027 00:00:00 GMT",
        "Sat, 00 Jan 2027 00:00:00 GMT",
        "Sat, 32 Jan 2027 00:00:00 GMT",
        "Tue, 01 Dec 2026 24:00:00 GMT",
        "Tue, 01 Dec 2026 00:60:00 GMT",
        "Tue, 01 Dec 2026 00:00:61 GMT",
        "Sunday, 31-Feb-27 00:00:00 GMT",
        "Sun Feb 31 00:00:00 2027",
    ] {
        check(bad, wall(), Hint::Unusable);
    }
}

#[test]
fn leap_days_and_leap_seconds_are_read() {
    check(
        "Tue, 29 Feb 2028 00:00:00 GMT",
        at(1_835_395_200 - 1),
        secs(1),
    );
    check(
        "Tue, 29 Feb 2000 00:00:00 GMT",
        at(951_782_400 - 1),
        secs(1),
    );
    check(
        "Sat, 31 Dec 2016 23:59:60 GMT",
        at(1_483_228_800 - 1),
        secs(1),
    );
}

#[test]
fn a_weekday_must_be_one_but_need_not_be_the_dates() {
    check("Fri, 01 Dec 2026 00:00:30 GMT", wall(), secs(30));
    for bad in [
        "Foo, 01 Dec 2026 00:00:30 GMT",
        "Foo Dec  1 00:00:30 2026",
        "Tue, 01-Dec-26 00:00:30 GMT",
    ] {
        check(bad, wall(), Hint::Unusable);
    }
}

#[test]
fn a_two_digit_year_is_the_latest_at_most_fifty_years_ahead() {
    let expected = |date: &str| parse_retry_after(date, wall());
    // 2076 is fifty years ahead to the second, and still future.
    let edge = parse_retry_after("Tuesday, 01-Dec-76 00:00:00 GMT", wall());
    assert_eq!(edge, expected("Tue, 01 Dec 2076 00:00:00 GMT"));
    // One second more and it is 1976.
    check("Tuesday, 01-Dec-76 00:00:01 GMT", wall(), ZERO);
    check("Sunday, 06-Nov-94 08:49:37 GMT", wall(), ZERO);
    check("Tuesday, 01-Dec-26 00:00:30 GMT", wall(), secs(30));
    // Close to a turn of the century, the year after it is near and not a century ago.
    let december_2099 = at(4_102_444_800 - 60);
    check("Friday, 01-Jan-00 00:00:00 GMT", december_2099, secs(60));
}

proptest! {
    /// Every second of four centuries survives the way to text and back.
    #[test]
    fn every_date_reads_back_as_its_instant(seconds in 0_u64..253_402_300_800) {
        let days = seconds / 86_400;
        let (year, month, day) = calendar(days);
        let clock = format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let text = format!("Mon, {day:02} {} {year:04} {clock} GMT", MONTHS[month]);
        let now = at(seconds.saturating_sub(77));
        prop_assert_eq!(parse_retry_after(&text, now), secs(seconds.min(77)));
        let rfc3339 = format!("{year:04}-{:02}-{day:02}T{clock}Z", month + 1);
        prop_assert_eq!(hint::rfc3339(&rfc3339, now), secs(seconds.min(77)));
    }
}

/// A calendar by counting, to hold the closed formula against.
fn calendar(mut days: u64) -> (u64, usize, u64) {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 0;
    let length = |month| match month {
        1 => 28 + u64::from(leap(year)),
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    };
    while days >= length(month) {
        days -= length(month);
        month += 1;
    }
    (year, month, days + 1)
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
