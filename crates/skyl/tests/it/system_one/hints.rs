//! How the server's wait is read: the values other clients of this API disagree on, one by one.

use std::time::{Duration, UNIX_EPOCH};

use skyl::OverCap;
use skyl_retry::ManualClock;

use crate::raw::{Raw, reply};
use crate::support::{ms, secs};
use crate::system_one::support::{Bench, answered, ask, bench, bench_on, bench_with, told};

/// What a value of the two headers comes to.
#[derive(Debug, PartialEq)]
enum Read {
    Wait(Duration),
    /// It is as if the header were not there.
    Ignored,
}

async fn read(name: &str, value: &str) -> Read {
    let server = Raw::serve(vec![told(429, name, value), answered()]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.budget(secs(0)));
    ask(&client).await.unwrap();
    let wait = clock.sleeps()[0];
    // Backoffs begin at 375 ms and end at 500 ms; no value below asks for one of these.
    if wait >= ms(374) && wait <= ms(500) {
        Read::Ignored
    } else {
        Read::Wait(wait)
    }
}

// The first column of the table of the official clients, value by value.
#[tokio::test]
async fn each_value_the_official_clients_disagree_on_has_one_meaning() {
    for (value, expected) in [
        // Zero is an answer: no wait. The official clients read nothing at all as zero, too.
        ("0", Read::Wait(ms(0))),
        ("0.0", Read::Wait(ms(0))),
        ("", Read::Ignored),
        ("   ", Read::Ignored),
        ("1.5", Read::Wait(ms(1500))),
        (" 2 ", Read::Wait(secs(2))),
        // Signs, exponents and other notations are no delay in seconds.
        ("-0", Read::Ignored),
        ("+3", Read::Ignored),
        ("-5", Read::Ignored),
        ("1e3", Read::Ignored),
        ("1e300", Read::Ignored),
        ("1e309", Read::Ignored),
        ("inf", Read::Ignored),
        ("nan", Read::Ignored),
        ("0x10", Read::Ignored),
        ("1_0", Read::Ignored),
        ("10, 20", Read::Ignored),
        ("soon", Read::Ignored),
        ("1m0s", Read::Ignored),
        ("2026-12-01T00:00:30Z", Read::Ignored),
        // Too much is the cap, never less.
        ("61", Read::Wait(secs(61))),
        ("301", Read::Wait(secs(300))),
        ("2147484", Read::Wait(secs(300))),
        ("99999999999999999999", Read::Wait(secs(300))),
        // The clock of these tests starts at 2026-12-01 00:00:00 UTC.
        ("Tue, 01 Dec 2026 00:00:30 GMT", Read::Wait(secs(30))),
        ("Tuesday, 01-Dec-26 00:00:30 GMT", Read::Wait(secs(30))),
        ("Tue Dec  1 00:00:30 2026", Read::Wait(secs(30))),
        ("Mon, 30 Nov 2026 23:59:50 GMT", Read::Wait(ms(0))),
        ("Sep 2027", Read::Ignored),
    ] {
        assert_eq!(read("Retry-After", value).await, expected, "{value:?}");
    }
}

#[tokio::test]
async fn milliseconds_follow_the_same_rules_and_know_no_dates() {
    for (value, expected) in [
        ("1500", Read::Wait(ms(1500))),
        ("0", Read::Wait(ms(0))),
        ("", Read::Ignored),
        ("-5", Read::Ignored),
        ("1e3", Read::Ignored),
        ("nan", Read::Ignored),
        ("Tue, 01 Dec 2026 00:00:30 GMT", Read::Ignored),
        ("99999999999999999999", Read::Wait(secs(300))),
    ] {
        assert_eq!(read("retry-after-ms", value).await, expected, "{value:?}");
    }
}

#[tokio::test]
async fn milliseconds_win_and_an_unusable_one_falls_through_to_seconds() {
    for (millis, expected) in [
        ("1500", ms(1500)),
        ("junk", secs(2)),
        ("-1", secs(2)),
        ("", secs(2)),
    ] {
        let both = reply(
            429,
            &[("Retry-After", "2"), ("retry-after-ms", millis)],
            "{}",
        );
        let server = Raw::serve(vec![both, answered()]).await;
        let Bench { client, clock, .. } = bench(&server);
        ask(&client).await.unwrap();
        assert_eq!(clock.sleeps(), [expected], "{millis}");
    }
}

#[tokio::test]
async fn a_zero_or_a_past_date_is_obeyed_but_the_retries_still_end() {
    for value in ["0", "Mon, 30 Nov 2026 23:59:50 GMT"] {
        let server = Raw::serve(vec![told(429, "Retry-After", value)]).await;
        let Bench { client, clock, .. } = bench(&server);
        let error = ask(&client).await.unwrap_err();
        assert_eq!(clock.sleeps(), [ms(0), ms(0)], "{value}");
        assert_eq!(server.requests().len(), 3);
        assert_eq!(error.retry_after(), Some(ms(0)));
    }
}

#[tokio::test]
async fn a_zero_does_not_reset_the_ladder() {
    let server = Raw::serve(vec![
        told(429, "Retry-After", "0"),
        told(429, "x", "y"),
        answered(),
    ])
    .await;
    let Bench { client, clock, .. } = bench(&server);
    ask(&client).await.unwrap();
    let waits = clock.sleeps();
    assert_eq!(waits[0], ms(0));
    assert!(
        waits[1] >= ms(749) && waits[1] <= ms(1000),
        "the second step: {waits:?}"
    );
}

#[tokio::test]
async fn no_other_source_of_a_wait_is_read() {
    let body = r#"{"detail":"Try again in 20s","error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"20s"}]}}"#;
    let headers = [
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "20s"),
        ("x-should-retry", "false"),
    ];
    let server = Raw::serve(vec![reply(429, &headers, body), answered()]).await;
    let Bench { client, clock, .. } = bench(&server);
    let response = ask(&client).await.unwrap();
    assert_eq!(
        response.attempts().len(),
        2,
        "the server's word is not read"
    );
    assert!(clock.sleeps()[0] <= ms(500));
}

#[tokio::test]
async fn the_wait_is_read_on_every_status_that_is_retried() {
    for status in [408, 429, 500, 503, 529] {
        let server = Raw::serve(vec![told(status, "Retry-After", "7"), answered()]).await;
        let Bench { client, clock, .. } = bench(&server);
        ask(&client).await.unwrap();
        assert_eq!(clock.sleeps(), [secs(7)], "{status}");
    }
}

#[tokio::test]
async fn a_wait_too_long_is_clamped_or_ends_the_call_as_the_caller_chose() {
    let server = Raw::serve(vec![told(429, "Retry-After", "3600"), answered()]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| {
        builder.budget(secs(0)).over_cap(OverCap::GiveUp)
    });
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.retry_stop(), Some(skyl::RetryStop::HintOverCap));
    assert_eq!(error.retry_after(), Some(secs(3600)), "raw");
    assert!(clock.sleeps().is_empty());

    let server = Raw::serve(vec![told(429, "Retry-After", "300"), answered()]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| {
        builder.budget(secs(0)).over_cap(OverCap::GiveUp)
    });
    ask(&client).await.unwrap();
    assert_eq!(clock.sleeps(), [secs(300)]);
}

#[tokio::test]
async fn a_step_of_the_wall_clock_moves_no_budget() {
    let server = Raw::serve(vec![told(503, "Retry-After", "1")]).await;
    let clock = ManualClock::skipping();
    let moved = clock.clone();
    let Bench { client, .. } = bench_on(clock.clone(), &server.base_url(), |builder| {
        builder.max_retries(100).hook(move |event| {
            // An hour back, an hour on, and so forth.
            let hours = if event.attempt() % 2 == 0 {
                500_000
            } else {
                499_998
            };
            moved.set_wall(UNIX_EPOCH + secs(hours * 3600));
        })
    });
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.retry_stop(), Some(skyl::RetryStop::TimeBudget));
    assert_eq!(
        clock.sleeps().len(),
        30,
        "thirty waits of a second fit in thirty seconds"
    );
}
