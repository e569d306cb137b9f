//! The framing of one JSON value per line.

use skyl_sse::{ErrorKind, Framing, Limits};

use crate::support::{Got, decode_with, message, unterminated};

#[track_caller]
fn decode(bytes: impl AsRef<[u8]>) -> Vec<Got> {
    decode_with(Framing::Lines, Limits::default(), bytes.as_ref())
}

#[test]
fn the_recorded_stream_has_four_lines() {
    let bytes = include_str!("../fixtures/38-ollama-native.ndjson");
    let expected: Vec<_> = bytes.lines().map(message).collect();
    assert_eq!(expected.len(), 4);
    assert_eq!(decode(bytes), expected);
    let got = decode(bytes.trim_end());
    assert_eq!(got[..3], expected[..3]);
    assert_eq!(got[3], unterminated(bytes.lines().last().unwrap()));
}

#[test]
fn lf_and_crlf_end_lines_and_nothing_else_does() {
    assert_eq!(decode("1\n2\r\n"), [message("1"), message("2")]);
    assert_eq!(decode("{\"a\":\r1}\n"), [message("{\"a\":\r1}")]);
    assert_eq!(
        decode("a\u{2028}b\u{85}c\u{b}\n"),
        [message("a\u{2028}b\u{85}c\u{b}")]
    );
}

#[test]
fn blank_lines_are_skipped() {
    assert_eq!(
        decode("\n\r\n  \n1\n \t\n\n2\n  "),
        [message("1"), message("2")]
    );
    assert_eq!(decode(""), []);
}

#[test]
fn an_error_line_is_a_line() {
    assert_eq!(
        decode("1\n{\"error\":\"x\"}\n"),
        [message("1"), message("{\"error\":\"x\"}")]
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(decode("\u{feff}1\n"), [message("1")]);
}

#[test]
fn bad_utf8_is_an_error_and_a_cut_character_is_not() {
    let error = Got::Error(ErrorKind::InvalidUtf8);
    assert_eq!(decode(b"1\n\xff\n2\n"), [message("1"), error.clone()]);
    assert_eq!(decode(b"\xe6\x9c\n"), std::slice::from_ref(&error));
    assert_eq!(decode(b"\"a\xe6\x9c"), [unterminated("\"a")]);
    assert_eq!(decode(b"\xff"), [error]);
}

#[test]
fn the_cap_counts_the_line_without_its_end() {
    let limits = Limits::default().max_line_bytes(4);
    let decode = |text: &str| decode_with(Framing::Lines, limits, text.as_bytes());
    let error = Got::Error(ErrorKind::LineTooLong);
    assert_eq!(
        decode("1234\n1234\r\n1234"),
        [message("1234"), message("1234"), unterminated("1234"),]
    );
    assert_eq!(decode("1\n12345\n"), [message("1"), error.clone()]);
    assert_eq!(decode("12345"), std::slice::from_ref(&error));
    assert_eq!(decode("1234\r\r\n"), [error]);
}
