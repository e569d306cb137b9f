//! The two date forms servers write: IMF-fixdate (RFC 9110 §5.6.7) and RFC 3339.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The date `offset` seconds from `wall`, kept between 1970 and 9999.
pub(crate) fn from_now(wall: SystemTime, offset: i64) -> String {
    let since_epoch = wall
        .duration_since(UNIX_EPOCH)
        .map_or(0, |gap| gap.as_secs());
    let seconds = i64::try_from(since_epoch)
        .unwrap_or(i64::MAX)
        .saturating_add(offset);
    imf_fixdate(u64::try_from(seconds).unwrap_or(0).min(LAST_SECOND))
}

/// The instant that long after `wall` as RFC 3339 in whole seconds, rounded up: never early.
pub(crate) fn rfc3339_after(wall: SystemTime, length: Duration) -> String {
    let since_epoch = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
    let instant = since_epoch.saturating_add(length);
    let seconds = instant
        .as_secs()
        .saturating_add(u64::from(instant.subsec_nanos() > 0))
        .min(LAST_SECOND);
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!(
        "{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z",
        month + 1
    )
}

fn imf_fixdate(seconds: u64) -> String {
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    // 1 January 1970 was a Thursday.
    let weekday = WEEKDAYS
        .get(usize::try_from((days + 3) % 7).unwrap_or(0))
        .unwrap_or(&"");
    let month = MONTHS.get(month).unwrap_or(&"");
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Year, month from 0 and day from 1 of a day counted from 1 January 1970.
///
/// Counted in eras of 400 years that begin on 1 March, so that the leap day is the last of a year.
fn civil(days: u64) -> (u64, usize, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12;
    let year = era * 400 + year_of_era + u64::from(month < 2);
    (year, usize::try_from(month).unwrap_or(0), day)
}

/// 31 December 9999, 23:59:59: the last date the form can write.
const LAST_SECOND: u64 = 253_402_300_799;

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(now: u64, offset: i64, date: &str) {
        assert_eq!(
            from_now(UNIX_EPOCH + Duration::from_secs(now), offset),
            date
        );
    }

    #[test]
    fn dates_are_written_in_the_fixed_form() {
        check(784_111_777, 0, "Sun, 06 Nov 1994 08:49:37 GMT");
        check(1_445_412_450, 30, "Wed, 21 Oct 2015 07:28:00 GMT");
        check(1_445_412_450, -30, "Wed, 21 Oct 2015 07:27:00 GMT");
        check(951_782_400, 0, "Tue, 29 Feb 2000 00:00:00 GMT");
        check(4_107_542_400, 0, "Mon, 01 Mar 2100 00:00:00 GMT");
    }

    #[test]
    fn instants_are_rounded_up_to_seconds() {
        let after = |now, millis| {
            let wall = UNIX_EPOCH + Duration::from_secs(now);
            rfc3339_after(wall, Duration::from_millis(millis))
        };
        assert_eq!(after(951_782_399, 0), "2000-02-28T23:59:59Z");
        assert_eq!(after(951_782_399, 1), "2000-02-29T00:00:00Z");
        assert_eq!(after(1_445_412_450, 30_000), "2015-10-21T07:28:00Z");
        assert_eq!(
            rfc3339_after(UNIX_EPOCH, Duration::MAX),
            "9999-12-31T23:59:59Z"
        );
    }

    #[test]
    fn dates_out_of_range_are_the_nearest_in_range() {
        check(10, -11, "Thu, 01 Jan 1970 00:00:00 GMT");
        check(0, i64::MIN, "Thu, 01 Jan 1970 00:00:00 GMT");
        check(0, i64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT");
    }
}
