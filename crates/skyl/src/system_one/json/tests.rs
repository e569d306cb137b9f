//! Members, depth, compacting and places.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn raw(json: &str) -> &RawValue {
    serde_json::from_str(json).unwrap()
}

#[test]
fn members_keep_their_order_and_those_of_one_name() {
    let members = Members::read(r#"{"b":1,"a":{"x":2},"b":3,"\u0061":4}"#).unwrap();
    let names: Vec<_> = members.0.iter().map(|(name, _)| name.as_ref()).collect();
    assert_eq!(names, ["b", "a", "b", "a"]);
    assert_eq!(members.get("b").unwrap().get(), "1");
    let all: Vec<_> = members.all("a").map(RawValue::get).collect();
    assert_eq!(all, [r#"{"x":2}"#, "4"]);
    for other in ["[]", "1", "\"x\"", "null", "{", ""] {
        assert!(Members::read(other).is_none(), "{other}");
    }
}

#[test]
fn depth_counts_brackets_outside_strings_alone() {
    for (json, expected) in [
        ("1", 0),
        ("\"[[[{\"", 0),
        ("[]", 1),
        (r#"{"a":[{"b":"\"]"}]}"#, 3),
        ("[[],[[]]]", 3),
        ("]]][", 1),
        ("\"unfinished \\", 0),
        ("", 0),
    ] {
        assert_eq!(depth(json.as_bytes()), expected, "{json}");
    }
}

#[test]
fn compacting_moves_white_space_and_nothing_else() {
    for (json, expected) in [
        (
            "{ \"a b\" : [ 1.50 , 12345678901234567890123 ] }",
            r#"{"a b":[1.50,12345678901234567890123]}"#,
        ),
        ("\"a \\\" b\"", "\"a \\\" b\""),
        ("[\n\t\"\\\\\" ,\r\n null ]", "[\"\\\\\",null]"),
        ("{\"é ü\": \"日 本\"}", "{\"é ü\":\"日 本\"}"),
    ] {
        assert_eq!(compact(raw(json)).get(), expected);
    }
}

#[test]
fn a_member_that_stands_twice_is_found_at_any_depth() {
    for (json, place) in [
        (r#"{"a":1,"a":2}"#, "a"),
        (r#"{"state":{"user":{"x":1,"x":1}}}"#, "state.user.x"),
        (r#"[{"a":1},{"b":[{"c":1,"\u0063":2}]}]"#, "1.b.0.c"),
        (r#"{"a b":1,"a b":2}"#, "\"a b\""),
    ] {
        assert_eq!(no_duplicates(json), Err(Some(place.to_owned())), "{json}");
    }
    for json in [
        "1",
        "-1.5",
        "true",
        "\"x\"",
        "null",
        r#"{"a":{"b":1},"c":{"b":2}}"#,
        r#"[{"a":1},{"a":1}]"#,
    ] {
        assert_eq!(no_duplicates(json), Ok(()), "{json}");
    }
    for json in ["{", "[1e999]", r#"["\ud800"]"#] {
        assert_eq!(no_duplicates(json), Err(None), "{json}");
        assert!(repeated(None).contains("no reader takes"));
    }
}

#[test]
fn a_name_in_a_path_can_end_nothing_and_flood_nothing() {
    for (name, shown) in [
        ("tone_1-x", "tone_1-x"),
        ("", "\"\""),
        ("a.b", "\"a.b\""),
        ("a\"\u{1b}[0m", "\"a\\\"\\u{1b}[0m\""),
        ("é", "\"é\""),
    ] {
        assert_eq!(segment(name), shown);
    }
    let long = "é".repeat(1_000);
    assert_eq!(segment(&long).chars().count(), 64 + "\"…\"".chars().count());
}

#[test]
fn a_shape_is_told_by_the_first_byte() {
    for (json, shape, name) in [
        (" \"x\"", Shape::Text, "a string"),
        ("{}", Shape::Object, "an object"),
        ("\n[]", Shape::Array, "an array"),
        ("-1", Shape::Number, "a number"),
        ("false", Shape::Bool, "a boolean"),
        ("null", Shape::Null, "null"),
    ] {
        assert_eq!(Shape::of(json), shape);
        assert_eq!(shape.name(), name);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,8}|[ \"\\\\\n]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("\\PC{0,4}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn compact_json_is_what_a_writer_writes(value in any_json()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let compacted = compact(raw(&pretty));
        prop_assert_eq!(compacted.get(), serde_json::to_string(&value).unwrap());
        prop_assert_eq!(no_duplicates(&pretty), Ok(()));
    }

    #[test]
    fn any_text_is_looked_into_without_a_panic(text in "\\PC*|[\\[\\]{}\",:\\\\ a1\n]*") {
        prop_assert!(depth(text.as_bytes()) <= text.len());
        if Members::read(&text).is_some() {
            prop_assert_eq!(Shape::of(&text), Shape::Object);
        }
        if no_duplicates(&text).is_ok() {
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
        }
        prop_assert!(!segment(&text).contains(char::is_control));
    }
}
