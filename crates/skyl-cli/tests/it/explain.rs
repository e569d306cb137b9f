//! `skyl explain`.

use crate::support::skyl;

#[test]
fn a_wait_is_explained_step_by_step() {
    let ran = skyl(["explain", "120"]).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn a_date_is_read_against_the_time_given() {
    let ran = skyl([
        "explain",
        "Wed, 21 Oct 2026 07:28:00 GMT",
        "--now",
        "2026-10-21T07:27:30Z",
    ])
    .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    insta::assert_snapshot!(ran.stdout);
}

// urllib3/urllib3#1896: dates went through the local zone, and the wait was off by its offset.
#[test]
fn the_zone_of_the_machine_changes_no_date() {
    for date in [
        "Wed Oct 21 07:28:00 2026",
        "Wed, 21 Oct 2026 07:28:00 GMT",
        "Wednesday, 21-Oct-26 07:28:00 GMT",
    ] {
        for zone in ["America/New_York", "EST5EDT", "<+14>-14", "UTC"] {
            let object = skyl(["explain", "--json", date, "--now", "2026-10-21T07:27:00Z"])
                .env("TZ", zone)
                .run()
                .object();
            assert_eq!(
                object["retry_after_ms"].as_u64(),
                Some(60_000),
                "{date} {zone}"
            );
        }
    }
}

#[test]
fn what_cannot_be_read_is_explained_and_is_no_failure() {
    let ran = skyl(["explain", "-5"]).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn control_bytes_of_a_value_are_shown() {
    let ran = skyl(["explain", "\u{1b}[2J"]).run();
    assert!(ran.code == 0 && !ran.stdout.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn the_object_tells_the_raw_wait_from_the_one_obeyed() {
    let object = skyl(["explain", "--json", "3600", "--now", "0"])
        .run()
        .object();
    let keys: Vec<&str> = object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "header",
            "value",
            "now_ms",
            "usable",
            "retry_after_ms",
            "wait_ms",
            "steps",
            "conclusion"
        ]
    );
    assert_eq!(
        (
            object["retry_after_ms"].as_u64(),
            object["wait_ms"].as_u64()
        ),
        (Some(3_600_000), Some(300_000))
    );
    let object = skyl(["explain", "--json", "3600", "--cap", "2h"])
        .run()
        .object();
    assert_eq!(object["wait_ms"].as_u64(), Some(3_600_000));
    let object = skyl(["explain", "--json", "3600"])
        .env("SKYL_RETRY_AFTER_CAP", "1m")
        .run()
        .object();
    assert_eq!(object["wait_ms"].as_u64(), Some(60_000));
    let object = skyl(["explain", "--json", "0"]).run().object();
    assert_eq!(
        (
            object["retry_after_ms"].as_u64(),
            object["wait_ms"].is_null()
        ),
        (Some(0), true)
    );
    let object = skyl(["explain", "--json", "soon"]).run().object();
    assert!(
        object["usable"] == false && object["retry_after_ms"].is_null(),
        "{object}"
    );
}

#[test]
fn milliseconds_have_a_header_of_their_own() {
    let object = skyl(["explain", "--json", "1500", "--header", "Retry-After-Ms"])
        .run()
        .object();
    assert_eq!(object["wait_ms"].as_u64(), Some(1500));
}
