//! The bytes of requests.

use serde_json::{Value, json};

use super::*;
use crate::system_one::{BoxQuestion, Choice, Noul, Score};

#[track_caller]
fn body(request: &Request) -> String {
    let encoded = request.encode("jev-latest").unwrap();
    assert_eq!(encoded.path, "/v1/systemone");
    String::from_utf8(encoded.body.to_vec()).unwrap()
}

fn fixture(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/system-one/");
    serde_json::from_slice(&std::fs::read(format!("{folder}{name}")).unwrap()).unwrap()
}

/// Equal with the order of members, which a tree compares without.
#[track_caller]
fn check(request: &Request, expected: &Value) {
    assert_eq!(body(request), expected.to_string());
}

#[test]
fn the_recorded_requests_are_made_by_hand() {
    let minimal = Request::new(
        "The kettle has been leaking since Tuesday.",
        [(
            "is_defect",
            Noul::new("Does the text report a product defect?"),
        )],
    );
    check(&minimal, &fixture("01-request-minimal-noul.json"));

    let mixed = fixture("02-request-mixed.json");
    let questions = Questions::new()
        .ask(
            "wants_refund",
            Noul::new("Is the buyer asking for money back in `messages`?")
                .when_true("Any request for a refund, even a polite one")
                .when_false("Only asks for news or a replacement"),
        )
        .ask(
            "queue",
            Choice::new(json!({
                "task": "Pick the team that should own the case",
                "hint": "read `messages` newest first"
            }))
            .described("carrier", "Parcel lost, late or damaged in transit")
            .described("warehouse", "Wrong or missing item")
            .option("other"),
        )
        .ask(
            "patience",
            Score::new("How patient does the buyer sound?")
                .levels(["Relaxed", "Mildly annoyed"])
                .level("Fed up"),
        );
    let request = Request::new(mixed["state"].clone(), questions).model("jev-1.13.0");
    check(&request, &mixed);

    let structured = fixture("04-request-structured-score.json");
    let levels = structured["questions"]["exposure"]["criteria"]
        .as_array()
        .unwrap();
    let score = Score::default().levels(levels.iter().cloned());
    let request = Request::new(structured["state"].clone(), [("exposure", score)]);
    check(&request, &structured);

    let boxed = fixture("14-request-response-box.json")["request"].clone();
    let question = BoxQuestion::new("the red valve in `photo`");
    let request = Request::new(json!({"photo": "img-a1"}), [("valve", question)])
        .model("jev-preview")
        .asset("img-a1", Asset::image(&b"\x89PNG\r\n\x1a\n"[..]));
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(read(&body(&request)), boxed);
}

#[test]
fn members_come_in_one_order_and_options_in_the_callers() {
    let questions = Questions::new()
        .ask("z", Choice::default().options(["z", "a", "m"]))
        .ask("a", Noul::default().when_false("no"));
    let request = Request::new("see p", questions)
        .extra_body("routing", json!({"b": 1, "a": 2}))
        .asset("p", Asset::raw(json!({"type": "sound"})));
    assert_eq!(
        body(&request),
        r#"{"state":"see p","model":"jev-latest","questions":{"z":{"type":"choice","criteria":{"z":null,"a":null,"m":null}},"a":{"type":"noul","criteria":{"false":"no"}}},"assets":{"p":{"type":"sound"}},"routing":{"b":1,"a":2}}"#
    );
    assert_eq!(
        body(&request),
        body(&request.clone()),
        "the same bytes each time"
    );
}

#[test]
fn a_raw_question_goes_out_untouched() {
    let question = Question::raw(json!({"order": ["b", "a"], "type": "ranking", "n": 1.0}));
    let request = Request::new("s", [("r", question)]);
    assert!(body(&request).contains(r#"{"r":{"order":["b","a"],"type":"ranking","n":1.0}}"#));
}

#[test]
fn a_model_must_be_named_somewhere() {
    let request = Request::new("s", [("q", Noul::new("i"))]);
    assert!(request.encode("m").is_ok());
    for blank in ["", " "] {
        let fault = request.encode(blank).unwrap_err();
        assert_eq!(fault.message(), Some("model: must not be empty"));
    }
    assert!(request.clone().model("own").encode("").is_ok());
    assert!(request.model(" ").encode("m").is_err());
}

#[test]
fn a_body_over_the_limit_is_refused_and_warnings_come_along() {
    let request = |bytes: usize| Request::new("x".repeat(bytes), [("q", Noul::new("i"))]);
    let around = request(0).encode("m").unwrap().body.len();
    let most = request(MAX_BODY_BYTES - around).encode("m").unwrap();
    assert_eq!(most.body.len(), MAX_BODY_BYTES);
    assert_eq!(most.warnings, []);
    let fault = request(MAX_BODY_BYTES - around + 1)
        .encode("m")
        .unwrap_err();
    let expected = "the body has 33554433 bytes, at most 33554432 are taken";
    assert_eq!(fault.message(), Some(expected));

    let single = Request::new("s", [("q", Score::new("i").level("only"))]);
    assert_eq!(single.encode("m").unwrap().warnings.len(), 1);
}
