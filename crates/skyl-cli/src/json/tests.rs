use serde_json::{Value, json};

use super::*;

fn object(failure: &Failure) -> Value {
    serde_json::to_value(FailureObject::of(failure)).unwrap()
}

#[test]
fn a_usage_error_has_every_field_of_a_failure() {
    let expected = json!({
        "error": {
            "kind": "usage",
            "message": "no",
            "status": null,
            "provider": null,
            "code": null,
            "request_id": null,
            "retryable": false,
            "retry_after_ms": null,
            "delivered": false,
            "stop_reason": null,
            "attempts": [],
        },
        "text": "",
        "tool_calls": [],
    });
    // As text: the order of the fields counts too.
    assert_eq!(
        object(&Failure::usage("no")).to_string(),
        expected.to_string()
    );
}

#[test]
fn what_is_ours_is_not_called_usage() {
    assert_eq!(object(&Failure::internal("x"))["error"]["kind"], "internal");
}

#[test]
fn milliseconds_are_whole_where_they_are_and_have_a_fraction_where_not() {
    for (length, expected) in [
        (Duration::ZERO, "0"),
        (Duration::from_secs(1), "1000"),
        (Duration::from_millis(312), "312"),
        (Duration::from_micros(1500), "1.5"),
        (Duration::from_nanos(312_000_001), "312.000001"),
        (Duration::MAX, "1.8446744073709552e+22"),
    ] {
        assert_eq!(serde_json::to_string(&Millis(length)).unwrap(), expected);
    }
}

#[test]
fn json_of_others_that_is_spread_over_lines_comes_on_one() {
    let raw = "{\n\t\"a\": [\r\n1,\n2], \"b\": \"x\\n\"}";
    let raw: &serde_json::value::RawValue = serde_json::from_str(raw).unwrap();
    let line = line(&raw).unwrap();
    assert!(!line.contains(['\n', '\r', '\t']), "{line}");
    assert!(!line.contains("\\u000a"), "{line}");
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value, serde_json::json!({"a": [1, 2], "b": "x\n"}));
}
