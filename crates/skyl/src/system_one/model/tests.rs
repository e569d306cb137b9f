//! Lists of models, sound and sloppy.

use super::*;

fn fixture() -> Bytes {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/system-one/");
    std::fs::read(format!("{folder}07-response-models.json"))
        .unwrap()
        .into()
}

fn names(body: &'static str) -> Option<Vec<String>> {
    let models = decode_models(&Bytes::from_static(body.as_bytes())).ok()?;
    Some(models.into_iter().map(|model| model.name).collect())
}

#[test]
fn the_recorded_list_is_read() {
    let models = decode_models(&fixture()).unwrap();
    assert_eq!(models.len(), 2);
    assert_eq!(models[0].name, "jev-latest");
    assert_eq!(
        models[0].description.as_deref(),
        Some("Stable alias used by the mock.")
    );
    assert_eq!(
        models[1].release_date.as_deref(),
        Some("2026-09-10T18:38:01.391457+00:00")
    );
    assert!(models[1].raw.starts_with(b"{") && models[1].raw.ends_with(b"}"));
}

#[test]
fn a_sloppy_list_is_read_as_far_as_it_goes() {
    let body = r#"{"models":[{"name":"a","description":5,"release_date":null},{},{"name":""},7,{"name":"b"}]}"#;
    assert_eq!(names(body).unwrap(), ["a", "b"]);
    assert_eq!(
        names(r#"{"object":"list","data":[{"id":"c"}]}"#).unwrap(),
        ["c"]
    );
    assert_eq!(names(r#"{"models":[]}"#).unwrap(), [""; 0]);
}

#[test]
fn what_is_no_list_is_an_error() {
    for body in [
        "",
        "[]",
        "{}",
        r#"{"models":{}}"#,
        r#"{"models":null}"#,
        "<html>",
        "{\"models\":[",
    ] {
        assert!(names(body).is_none(), "{body}");
    }
    let fault = decode_models(&Bytes::from_static(b"{\"detail\":\"Not Found\"}")).unwrap_err();
    assert_eq!(fault.message(), Some("no answers, but an error: Not Found"));
    assert!(decode_models(&Bytes::from_static(b"{\"models\":[\"\xff\"]}")).is_err());
}
