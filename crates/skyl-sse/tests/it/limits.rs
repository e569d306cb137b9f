//! Caps, the errors they give, and what the decoder holds.

use std::error::Error as _;

use skyl_sse::{Decoder, ErrorKind, Framing, Limits};

use crate::support::{Got, comment, decode_with, event, feed, message, push, stray};

const LINE: Got = Got::Error(ErrorKind::LineTooLong);
const EVENT: Got = Got::Error(ErrorKind::EventTooLarge);

#[test]
fn a_line_at_the_cap_passes_and_one_byte_more_does_not() {
    let limits = Limits::default().max_line_bytes(9);
    let decode = |text: &str| decode_with(Framing::Sse, limits, text.as_bytes());
    for end in ["\n", "\r\n", "\r"] {
        let text = "data: 123\n\nid: 12345\n\n: 1234567\n".replace('\n', end);
        assert_eq!(decode(&text), [message("123"), comment("1234567")]);
    }
    assert_eq!(decode("data: 1\n\ndata: 1234\n\n"), [message("1"), LINE]);
    assert_eq!(decode("event: 123\ndata: 1\n\n"), [LINE]);
    assert_eq!(decode(": 12345678\n"), [LINE]);
    assert_eq!(decode("data: 1234"), [LINE]);
    assert_eq!(decode("1234567890"), [LINE]);
    let limits = Limits::default().max_line_bytes(5);
    let decode = |text: &str| decode_with(Framing::Sse, limits, text.as_bytes());
    assert_eq!(decode("data:\n\n"), [message("")]);
    assert_eq!(decode("data:1\n\n"), [LINE]);
}

#[test]
fn an_event_at_the_cap_passes_and_one_byte_more_does_not() {
    let limits = Limits::default().max_event_bytes(4);
    let decode = |text: &str| decode_with(Framing::Sse, limits, text.as_bytes());
    assert_eq!(
        decode("data: 1234\n\ndata: 1234\n\n"),
        [message("1234"), message("1234")]
    );
    assert_eq!(decode("data: 12345\n\n"), [EVENT]);
    assert_eq!(decode("event: ab\ndata: 12\n\n"), [event("ab", "12")]);
    assert_eq!(decode("event: ab\ndata: 123\n\n"), [EVENT]);
    assert_eq!(decode("data: 123\nevent: ab\n\n"), [EVENT]);
    assert_eq!(decode("event: message\ndata: \n\n"), [EVENT]);
    // The joining line feed counts.
    assert_eq!(decode("data: 12\ndata: 3\n\n"), [message("12\n3")]);
    assert_eq!(decode("data: 12\ndata: 34\n\n"), [EVENT]);
    assert_eq!(
        decode("id: 1234\n\n: x\n\nid: 12345\n\n"),
        [comment("x"), EVENT]
    );
}

#[test]
fn what_is_held_is_counted_in_every_framing() {
    let held = |framing, pieces: &[&str]| {
        let mut decoder = Decoder::new(framing, Limits::default());
        for piece in pieces {
            let mut input = piece.as_bytes();
            assert!(decoder.next(&mut input).unwrap().is_none(), "{piece}");
        }
        decoder.buffered()
    };
    let long = "x".repeat(2_000);
    assert!(held(Framing::Lines, &[&long]) >= 2_000);
    assert!(held(Framing::JsonArray, &[&format!("[{{\"a\": \"{long}")]) >= 2_000);
    // Each part of an event on its own, handed in by whole lines so that no line is held.
    for part in ["id: ", "event: ", "data: "] {
        assert!(
            held(Framing::Sse, &[&format!("{part}{long}\n")]) >= 2_000,
            "{part}"
        );
    }
    assert!(held(Framing::Sse, &[&format!("{{\"a\": \"{long}\n")]) >= 2_000);
    let all = format!("id: {long}\nevent: {long}\ndata: {long}\n");
    assert!(held(Framing::Sse, &[&all]) >= 6_000);
}

#[test]
fn strays_share_the_cap_of_the_event() {
    let limits = Limits::default().max_event_bytes(4);
    let decode = |text: &str| decode_with(Framing::Sse, limits, text.as_bytes());
    assert_eq!(decode("{  }\n{\n }\n"), [stray("{  }"), stray("{\n }")]);
    assert_eq!(decode("{   }\n"), [EVENT]);
    assert_eq!(decode("{\n12}\n"), [EVENT]);
    assert_eq!(decode("{\n\"a\"\n}\n"), [EVENT]);
    assert_eq!(decode("data: 1\n { }\n\n"), [EVENT]);
    assert_eq!(decode("data: {\n \"a\":1}\n\n"), [EVENT]);
}

#[test]
fn a_cap_of_zero_admits_what_is_empty() {
    let limits = Limits::default().max_event_bytes(0);
    let decode = |text: &str| decode_with(Framing::Sse, limits, text.as_bytes());
    assert_eq!(
        decode(": c\ndata\n\ndata: 1\n\n"),
        [comment("c"), message(""), EVENT]
    );
    let limits = Limits::default().max_line_bytes(0);
    let decode = |text: &str| decode_with(Framing::Sse, limits, text.as_bytes());
    assert_eq!(decode("\n\r\n\r:"), [LINE]);
}

#[test]
fn an_error_is_final() {
    for framing in [Framing::Sse, Framing::Lines] {
        let mut decoder = Decoder::new(framing, Limits::default().max_line_bytes(8));
        let mut input = &b"123456789"[..];
        let error = decoder.next(&mut input).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LineTooLong);
        for _ in 0..2 {
            let mut input = &b"\n\ndata: 1\n\n"[..];
            assert_eq!(decoder.next(&mut input), Err(error));
            assert_eq!(decoder.finish().unwrap_err(), error);
        }
    }
}

#[test]
fn an_error_at_the_end_is_final_too() {
    let mut decoder = Decoder::default();
    let mut input = &b"data: \xff"[..];
    assert_eq!(decoder.next(&mut input), Ok(None));
    let error = decoder.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidUtf8);
    assert_eq!(decoder.finish(), Err(error));
}

#[test]
fn an_error_tells_the_cap_and_nothing_of_the_stream() {
    let text = |framing, limits, bytes: &[u8]| {
        let mut decoder = Decoder::new(framing, limits);
        let mut input = bytes;
        let error = decoder.next(&mut input).unwrap_err();
        assert!(error.source().is_none());
        error.to_string()
    };
    let default = Limits::default();
    assert_eq!(
        text(Framing::Sse, default.max_line_bytes(5), b"secret"),
        "stream line is longer than 5 bytes"
    );
    assert_eq!(
        text(
            Framing::Sse,
            default.max_event_bytes(5),
            b"data: secret\n\n"
        ),
        "stream event is larger than 5 bytes"
    );
    assert_eq!(
        text(Framing::Sse, default, b"data: secret\xff\n\n"),
        "stream event is not UTF-8"
    );
    assert_eq!(
        text(Framing::JsonArray, default, "{".repeat(200).as_bytes()),
        "stream JSON is nested deeper than 128 levels"
    );
}

#[test]
fn a_mebibyte_fed_byte_by_byte_takes_linear_time() {
    let text = format!("data: {}\n\n", "x".repeat(1 << 20));
    let got = feed(&mut Decoder::default(), text.as_bytes().chunks(1));
    assert!(got == [message(&text[6..text.len() - 2])]);
    let text = format!("{{{}}}\n", "\n\"k\": {},".repeat(1 << 14));
    let got = feed(&mut Decoder::default(), text.as_bytes().chunks(1));
    assert!(got == [stray(text.trim_end())]);
    let text = format!("[{{{}}}]", "\"k\":[],".repeat(1 << 17));
    let mut decoder = Decoder::new(Framing::JsonArray, Limits::default());
    let got = feed(&mut decoder, text.as_bytes().chunks(1));
    assert!(got == [message(&text[1..text.len() - 1])]);
}

#[test]
fn many_short_lines_of_one_event_take_linear_time() {
    let lines = 1 << 15;
    for line in ["data: {\n", " {\n", "data\n", "x: y\n"] {
        let text = format!("data: [\n{}\n", line.repeat(lines));
        let got = feed(&mut Decoder::default(), [text.as_bytes()]);
        assert_eq!(got.len(), 1, "{line:?}");
    }
}

#[test]
fn a_giant_event_does_not_leave_its_memory_behind() {
    let mut decoder = Decoder::default();
    let mut got = Vec::new();
    let giant = format!("data: {}\n", "x".repeat(1 << 20));
    push(&mut decoder, giant.as_bytes(), &mut got).unwrap();
    assert!(decoder.buffered() >= 1 << 20);
    push(&mut decoder, b"\ndata: 1\n\n", &mut got).unwrap();
    assert_eq!(got.len(), 2);
    assert!(decoder.buffered() <= 256 << 10, "{}", decoder.buffered());
}

#[test]
fn a_giant_event_is_held_once_and_not_twice() {
    let mut decoder = Decoder::default();
    let giant = format!("data: {}\n", "x".repeat(4 << 20));
    let mut peak = 0;
    for chunk in giant.as_bytes().chunks(16 << 10) {
        push(&mut decoder, chunk, &mut Vec::new()).unwrap();
        peak = peak.max(decoder.buffered());
    }
    assert!(peak <= 2 * giant.len(), "{peak}");
}
