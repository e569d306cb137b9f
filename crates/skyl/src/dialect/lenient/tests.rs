use proptest::prelude::{prop_assert_eq, proptest};

use super::*;

const ALL: [&str; 9] = [
    "null",
    "true",
    "1",
    "-1",
    "1.5",
    "\"x\"",
    "[1,{}]",
    "{\"a\":[1]}",
    "\"\\n\"",
];

#[derive(serde::Deserialize)]
struct Anything {}

#[test]
fn no_type_is_refused() {
    for json in ALL {
        assert!(serde_json::from_str::<Scalar<'_>>(json).is_ok(), "{json}");
        assert!(serde_json::from_str::<Count>(json).is_ok(), "{json}");
        let object = serde_json::from_str::<Object<Anything>>(json).unwrap();
        assert_eq!(object.0.is_some(), json.starts_with('{'), "{json}");
        let rare = serde_json::from_str::<Rare<Anything>>(json).unwrap();
        assert_eq!(rare.0.is_some(), json.starts_with('{'), "{json}");
        let list = serde_json::from_str::<List<Anything>>(json).unwrap();
        assert_eq!(
            list.iter().count(),
            usize::from(json.starts_with(['[', '{'])),
            "{json}"
        );
        let rare = serde_json::from_str::<RareList<Anything>>(json).unwrap();
        assert_eq!(rare.iter().count(), list.iter().count(), "{json}");
    }
}

#[test]
fn broken_json_is_refused() {
    for json in ["", "{", "[1,", "\"x", "nul", "{\"a\":}"] {
        assert!(serde_json::from_str::<Scalar<'_>>(json).is_err(), "{json}");
        assert!(
            serde_json::from_str::<Object<Anything>>(json).is_err(),
            "{json}"
        );
        assert!(
            serde_json::from_str::<List<Anything>>(json).is_err(),
            "{json}"
        );
    }
}

#[test]
fn scalars_are_text_and_numbers() {
    for (json, expected) in [
        ("\"x\"", Some("x")),
        ("17", Some("17")),
        ("-1", Some("-1")),
        ("\"\"", None),
        ("\"null\"", None),
        ("null", None),
        ("true", None),
        ("{}", None),
    ] {
        assert_eq!(
            serde_json::from_str::<Scalar<'_>>(json).unwrap().get(),
            expected,
            "{json}"
        );
    }
}

#[test]
fn counts_are_whole_and_not_negative() {
    for (json, expected) in [
        ("12", Some(12)),
        ("12.0", Some(12)),
        ("\"12\"", Some(12)),
        ("0", Some(0)),
        ("-1", None),
        ("1.5", None),
        ("1e99", None),
        ("null", None),
        ("\"many\"", None),
    ] {
        assert_eq!(
            serde_json::from_str::<Count>(json).unwrap().0,
            expected,
            "{json}"
        );
    }
}

#[test]
fn white_space_goes_from_between_the_tokens_alone() {
    for (json, expected) in [
        (
            r#"{ "a b" : [ 1.50 , "\" x" ] }"#,
            r#"{"a b":[1.50,"\" x"]}"#,
        ),
        (r#"["\\" , 1]"#, r#"["\\",1]"#),
        ("12345678901234567890123", "12345678901234567890123"),
        (r#""é \u0020""#, r#""é \u0020""#),
    ] {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        assert_eq!(compact(raw), expected, "{json}");
    }
}

#[test]
fn half_a_surrogate_pair_is_one_replacement_character() {
    for (json, expected) in [
        (r#""\ud83c\udf0a""#, "🌊"),
        (r#""a\ud83c""#, "a\u{fffd}"),
        (r#""\udf0ab""#, "\u{fffd}b"),
        (r#""\ud83c\n""#, "\u{fffd}\n"),
        (r#""\ud83c\u0041""#, "\u{fffd}A"),
        (r#""\ud83c\ud83c\udf0a""#, "\u{fffd}🌊"),
    ] {
        let raw = serde_json::from_str::<&RawValue>(json).unwrap();
        assert_eq!(string(raw).as_deref(), Some(expected), "{json}");
    }
}

#[test]
fn text_without_escapes_is_borrowed() {
    let raw = serde_json::from_str::<&RawValue>("\"plain 日本\"").unwrap();
    assert!(matches!(string(raw), Some(Cow::Borrowed("plain 日本"))));
    let raw = serde_json::from_str::<&RawValue>("17").unwrap();
    assert_eq!(string(raw), None);
}

#[test]
fn blank_values_are_no_error() {
    for (json, expected) in [
        ("null", true),
        ("false", true),
        ("{}", true),
        ("{ }", true),
        ("[]", true),
        ("\"\"", true),
        ("0", true),
        ("true", false),
        ("\"x\"", false),
        ("{\"a\":1}", false),
    ] {
        let raw = serde_json::from_str::<&RawValue>(json).unwrap();
        assert_eq!(is_blank(raw), expected, "{json}");
    }
}

proptest! {
    #[test]
    fn text_comes_out_as_a_json_reader_has_it(text in "\\PC*|[\"\\\\/\n\r\t\u{8}\u{c}\u{1}a😀]*") {
        let json = serde_json::to_string(&text).unwrap();
        let raw = serde_json::from_str::<&RawValue>(&json).unwrap();
        prop_assert_eq!(string(raw).unwrap(), text);
    }
}
