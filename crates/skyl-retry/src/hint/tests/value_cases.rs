use super::*;
use crate::hint::{
    epoch_millis, epoch_seconds, go_duration, milliseconds, protobuf_duration, reset, rfc3339,
};

#[test]
fn go_durations_are_read_whole_and_with_their_units() {
    for (text, hint) in [
        ("12ms", millis(12)),
        ("1s", secs(1)),
        ("6m0s", secs(360)),
        ("1m6.5s", millis(66_500)),
        ("2m59.56s", millis(179_560)),
        ("1h0m0s", secs(3600)),
        ("1h2m3.5s", millis(3_723_500)),
        ("7.66s", millis(7660)),
        ("500ms", millis(500)),
        ("76ms", millis(76)),
        ("10h17m5.7s", millis(37_025_700)),
        ("1.5\u{b5}s", Hint::Wait(Duration::from_nanos(1500))),
        ("3us", Hint::Wait(Duration::from_micros(3))),
        ("9ns", Hint::Wait(Duration::from_nanos(9))),
        ("0s", ZERO),
        (" 1s ", secs(1)),
        (
            "99999999999999999999999999999999999999999h",
            Hint::Wait(Duration::MAX),
        ),
    ] {
        assert_eq!(go_duration(text), hint, "{text}");
    }
    for bad in [
        "", "5", "s", "1", "-1s", "+1s", "1 s", "1m 6s", "6m0", "1sx", "1S", "1d", "1.s", ".5s",
        "1e3s", "1m,2s",
    ] {
        assert_eq!(go_duration(bad), Hint::Unusable, "{bad}");
    }
}

#[test]
fn protobuf_durations_are_seconds_with_up_to_nine_decimals() {
    assert_eq!(
        protobuf_duration("45.837906927s"),
        Hint::Wait(Duration::new(45, 837_906_927))
    );
    assert_eq!(protobuf_duration("34.4s"), millis(34_400));
    assert_eq!(protobuf_duration("0s"), ZERO);
    for bad in ["", "45", "-1s", "45ms", "1m0s", "1e3s", "s", ".5s"] {
        assert_eq!(protobuf_duration(bad), Hint::Unusable, "{bad}");
    }
}

#[test]
fn milliseconds_are_decimal() {
    assert_eq!(milliseconds("1500"), millis(1500));
    assert_eq!(
        milliseconds("1500.5"),
        Hint::Wait(Duration::from_micros(1_500_500))
    );
    assert_eq!(milliseconds("0"), ZERO);
    for bad in ["", "-1", "1e3", "5ms", "nan"] {
        assert_eq!(milliseconds(bad), Hint::Unusable, "{bad}");
    }
}

#[test]
fn rfc_3339_instants_carry_their_offset() {
    for (text, hint) in [
        ("2026-12-01T00:00:12Z", secs(12)),
        ("2026-12-01t00:00:12z", secs(12)),
        ("2026-12-01T00:00:12.25Z", millis(12_250)),
        ("2026-12-01T01:00:12+01:00", secs(12)),
        ("2026-11-30T19:00:12-05:00", secs(12)),
        ("2026-11-30T23:59:59Z", ZERO),
    ] {
        assert_eq!(rfc3339(text, wall()), hint, "{text}");
    }
    for bad in [
        "",
        "2026-12-01",
        "2026-12-01 00:00:12Z",
        "2026-12-01T00:00:12",
        "2026-02-31T00:00:00Z",
        "2026-12-01T00:00Z",
        "2026-12-01T24:00:00Z",
        "2026-12-01T00:00:12.Z",
        "2026-12-01T00:00:12,5Z",
        "2026-12-01T00:00:12+0100",
        "26-12-01T00:00:12Z",
        "2026-12-01T00:00:12*01:00",
        "ü026-12-01T00:00:12Z",
        "2026-12-01Tü0:00:12Z",
    ] {
        assert_eq!(rfc3339(bad, wall()), Hint::Unusable, "{bad}");
    }
}

#[test]
fn epoch_instants_are_read_in_the_unit_that_is_named() {
    assert_eq!(epoch_seconds("1796083230", wall()), secs(30));
    assert_eq!(epoch_millis("1796083230500", wall()), millis(30_500));
    assert_eq!(epoch_millis("1796083199999", wall()), ZERO);
    for bad in ["", "0", "-1", "1e12", "x"] {
        assert_eq!(epoch_seconds(bad, wall()), Hint::Unusable, "{bad}");
        assert_eq!(epoch_millis(bad, wall()), Hint::Unusable, "{bad}");
    }
    assert_eq!(
        epoch_millis(&"9".repeat(80), wall()),
        Hint::Wait(Duration::MAX)
    );
}

#[test]
fn a_reset_is_read_in_whichever_form_it_comes() {
    for (text, hint) in [
        ("6m0s", secs(360)),
        ("30", secs(30)),
        ("1.5", millis(1500)),
        ("2026-12-01T00:00:14Z", secs(14)),
        ("2026-11-30T00:00:14Z", ZERO),
        ("1796083230", secs(30)),
        ("1796083230500", millis(30_500)),
        ("1796083199", ZERO),
    ] {
        assert_eq!(reset(text, wall()), hint, "{text}");
    }
    for unknown in ["0", "-1", "0s", "0ms", "", "soon", "NaN"] {
        assert_eq!(reset(unknown, wall()), Hint::Unusable, "{unknown}");
    }
    // On an unset wall clock a short length stays a length.
    assert_eq!(reset("30", UNIX_EPOCH), secs(30));
}
