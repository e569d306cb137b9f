//! Bodies that may be shown, and those that may not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn a_body_without_an_echo_is_shown_byte_for_byte() {
    for body in [
        "",
        "<html><input name=\"q\"></html>",
        "upstream connect error",
        "{ \"detail\": \"Not Found\" }",
        "{\"detail\":",
        "{\"detail\":\"the \\\"input\\\" is wrong\"}",
        "[1, 2.50]",
        "retry at /login?state=abc&input=1",
        "the real_state='down' of us-east",
        "criteria: must not be empty",
    ] {
        assert_eq!(redacted_body(500, body.as_bytes()), body);
    }
    assert_eq!(redacted_body(500, b"\xff"), "\u{fffd}");
}

#[test]
fn every_echo_is_taken_out_and_the_rest_stays_in_order() {
    let body = r#"{"detail":[{"type":"missing","loc":["body","questions"],"msg":"Field required","input":{"a":"SECRET"},"ctx":{"b":"SECRET"}}],"z":1,"state":"SECRET","a":{"questions":[1]}}"#;
    assert_eq!(
        redacted_body(422, body.as_bytes()),
        r#"{"detail":[{"type":"missing","loc":["body","questions"],"msg":"Field required","input":"[redacted]","ctx":"[redacted]"}],"z":1,"state":"[redacted]","a":{"questions":"[redacted]"}}"#
    );
    let spelt = r#"{"\u0069nput":"SECRET"}"#;
    assert_eq!(
        redacted_body(400, spelt.as_bytes()),
        r#"{"input":"[redacted]"}"#
    );
    let refused = r#"{"answers":{"s":{"legend":{"0":"SECRET"},"score":9}},"question":{"type":"noul","instructions":"SECRET","criteria":{"true":"SECRET"}}}"#;
    assert_eq!(
        redacted_body(200, refused.as_bytes()),
        r#"{"answers":{"s":{"legend":"[redacted]","score":9}},"question":{"type":"noul","instructions":"[redacted]","criteria":"[redacted]"}}"#
    );
    // Of two members with one name a tree keeps the last.
    let twice = r#"{"a":{"input":"SECRET"},"a":1}"#;
    assert_eq!(redacted_body(400, twice.as_bytes()), r#"{"a":1}"#);
}

#[test]
fn an_echo_within_a_string_is_taken_out_too() {
    let mut body = json!({"detail": [{"msg": "m", "input": "SECRET"}]}).to_string();
    for wraps in 0..6 {
        let shown = redacted_body(502, body.as_bytes());
        assert!(!shown.contains("SECRET"), "{wraps}: {shown}");
        body = json!({"error": {"message": body}}).to_string();
    }
    let cut = json!({"message": "{\"detail\":[{\"input\":\"SECRET"}).to_string();
    assert_eq!(
        redacted_body(400, cut.as_bytes()),
        format!("{{\"message\":\"{WITHHELD}\"}}")
    );
}

#[test]
fn a_body_that_cannot_be_read_is_withheld_where_it_could_hold_the_request() {
    for (status, body) in [
        (422, "{\"detail\":[{\"msg\":\"no\",\"inp"),
        (422, "plain text"),
        (400, "{\"detail\":[{\"input\":{\"a\":\"SECRET"),
        (500, "{'input': 'SECRET'}"),
        (502, "{\"error\":\"{\\\"input\\\": \\\"SECRET"),
        (400, "{\"question\":{\"instructions\":\"SECRET"),
        (
            500,
            "Traceback\nstate\n [input_value='SECRET', input_type=str]",
        ),
        (500, "Request(state={'a': 'SECRET'}, model='m')"),
        (500, "failed: input=\\\"SECRET\\\""),
        (500, "<p>input_value=b'SECRET'</p>"),
    ] {
        assert_eq!(redacted_body(status, body.as_bytes()), WITHHELD, "{body}");
    }
    assert_eq!(redacted_body(422, b""), "");
    assert_eq!(redacted_body(422, b" \n"), " \n");
}

proptest! {
    #[test]
    fn no_bytes_cause_a_panic(status in 300_u16..=599, body in prop::collection::vec(any::<u8>(), 0..256)) {
        let shown = redacted_body(status, &body);
        prop_assert_eq!(redacted_body(status, shown.as_bytes()), shown);
    }

    #[test]
    fn no_cut_of_a_validation_error_shows_the_echo(cut in 0_usize..400) {
        let body = json!({"detail": [
            {"loc": ["body"], "msg": "Field required", "input": {"state": "SECRET", "n": [1, {"x": "SECRET"}]}},
        ]}).to_string();
        let cut = cut.min(body.len());
        prop_assert!(!redacted_body(422, &body.as_bytes()[..cut]).contains("SECRET"));
        prop_assert!(!redacted_body(400, &body.as_bytes()[..cut]).contains("SECRET"));
    }
}
