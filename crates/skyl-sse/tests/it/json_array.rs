//! The framing of one JSON array that arrives piece by piece.

use skyl_sse::{Decoder, ErrorKind, Framing, Limits};

use crate::support::{Got, decode_with, message, push, stray, unterminated};

#[track_caller]
fn decode(bytes: impl AsRef<[u8]>) -> Vec<Got> {
    decode_with(Framing::JsonArray, Limits::default(), bytes.as_ref())
}

#[test]
fn elements_come_as_they_close() {
    assert_eq!(
        decode("[{\"a\": 1}\n,\r\n{\n  \"b\": [2, {}]\n}\n,{}]\n"),
        [
            message("{\"a\": 1}"),
            message("{\n  \"b\": [2, {}]\n}"),
            message("{}")
        ]
    );
    let mut decoder = Decoder::new(Framing::JsonArray, Limits::default());
    let mut got = Vec::new();
    push(&mut decoder, b"[{\"a\":1}", &mut got).unwrap();
    assert_eq!(got, [message("{\"a\":1}")]);
}

#[test]
fn bare_objects_come_too() {
    assert_eq!(decode("{\"error\":1}"), [message("{\"error\":1}")]);
    assert_eq!(
        decode("{}{}\n{}"),
        [message("{}"), message("{}"), message("{}")]
    );
}

#[test]
fn arrays_within_the_array_are_elements() {
    assert_eq!(decode("[[1],[[2]]]"), [message("[1]"), message("[[2]]")]);
    assert_eq!(decode("[{}][{}]"), [message("{}"), message("{}")]);
}

#[test]
fn brackets_and_quotes_in_strings_are_content() {
    let element = r#"{"a":"]}\",{[","b":"\\"}"#;
    assert_eq!(
        decode(format!("[{element},{element}]")),
        [message(element), message(element)]
    );
}

#[test]
fn recorded_error_bodies_are_one_element_each() {
    let bare = include_str!("../fixtures/31-gemini-429-minute.json");
    assert_eq!(decode(bare), [message(bare.trim())]);
    let got = decode(include_str!("../fixtures/32-gemini-429-day-array.json"));
    assert!(matches!(&got[..], [Got::Event { data, .. }] if data.starts_with("{\n    \"error\"")));
    let spaced = decode(include_str!("../fixtures/35-openrouter-200-error.json"));
    assert_eq!(spaced.len(), 1);
}

#[test]
fn an_element_cut_by_the_end_says_so() {
    assert_eq!(
        decode("[{\"a\":1},{\"b\":"),
        [message("{\"a\":1}"), unterminated("{\"b\":")]
    );
    assert_eq!(decode(b"[{\"b\":\"\xe6\x9c"), [unterminated("{\"b\":\"")]);
    assert_eq!(decode("[{},"), [message("{}")]);
    assert_eq!(decode("["), []);
}

#[test]
fn what_begins_no_element_is_stray_up_to_the_end_of_its_line() {
    assert_eq!(
        decode("[{}\nupstream {error}\r\n,{}]\n<html>"),
        [
            message("{}"),
            stray("upstream {error}"),
            message("{}"),
            stray("<html>")
        ]
    );
    assert_eq!(decode("[\"text \t"), [stray("\"text")]);
    assert_eq!(decode("\u{feff}[{}]"), [message("{}")]);
    assert_eq!(decode("] ,\t\u{c}\n"), []);
}

#[test]
fn bad_utf8_in_an_element_is_an_error() {
    assert_eq!(
        decode(b"[{},{\"a\":\"\xff\"}]"),
        [message("{}"), Got::Error(ErrorKind::InvalidUtf8)]
    );
}

#[test]
fn depth_has_a_cap() {
    let deep = |levels: usize| format!("[{}{}]", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(decode(deep(128)).len(), 1);
    assert_eq!(decode(deep(129)), [Got::Error(ErrorKind::TooDeep)]);
    assert_eq!(decode("{".repeat(129)), [Got::Error(ErrorKind::TooDeep)]);
}

#[test]
fn elements_and_strays_have_a_cap() {
    let limits = Limits::default().max_event_bytes(4);
    let decode = |text: &str| decode_with(Framing::JsonArray, limits, text.as_bytes());
    let error = Got::Error(ErrorKind::EventTooLarge);
    assert_eq!(decode("[{  },   {12}"), [message("{  }"), message("{12}")]);
    assert_eq!(decode("[{},{123}]"), [message("{}"), error.clone()]);
    assert_eq!(decode("{1234"), std::slice::from_ref(&error));
    assert_eq!(decode("abcd\n"), [stray("abcd")]);
    assert_eq!(decode("abcde"), [error]);
}

#[test]
fn of_two_limits_the_one_met_first_is_the_error_however_the_bytes_are_cut() {
    let decode = |cap| {
        let limits = Limits::default().max_event_bytes(cap);
        decode_with(Framing::JsonArray, limits, "{".repeat(200).as_bytes())
    };
    assert_eq!(decode(128), [Got::Error(ErrorKind::EventTooLarge)]);
    assert_eq!(decode(129), [Got::Error(ErrorKind::TooDeep)]);
}
