//! The HTML standard's rules, and where the decoder departs from them on purpose.

use std::fmt::Write as _;
use std::time::Duration;

use skyl_sse::{Decoder, ErrorKind, Event, Frame, Framing, Limits};

use crate::support::{
    Got, comment, data, decode, event, feed, message, push, unterminated, with_id,
};

#[test]
fn the_framing_fixture_decodes_right_however_it_is_cut() {
    let bytes = include_bytes!("../fixtures/50-sse-framing.sse");
    let ninth = |event| with_id(event, "9");
    assert_eq!(
        decode(bytes),
        [
            comment("hello"),
            message(r#"{"n":1}"#),
            message("{\"n\":\n2}"),
            event("tick", r#"{"n":3}"#),
            comment("between"),
            ninth(message(r#" {"n":4}"#)),
            ninth(message("")),
            ninth(message("{\"n\":5,\"s\":\"a\u{2028}b\u{85}c\"}")),
            ninth(message(r#"{"n":6}"#)),
            ninth(unterminated(r#"{"n":7}"#)),
        ]
    );
    let mut decoder = Decoder::default();
    feed(&mut decoder, [&bytes[..]]);
    assert_eq!(decoder.retry(), Some(Duration::from_secs(3)));
}

#[test]
fn every_recorded_stream_decodes_the_same_however_it_is_cut() {
    let streams: [(&[u8], usize); 16] = [
        (
            include_bytes!("../fixtures/04-openai-chat-stream-parallel-tools.sse"),
            9,
        ),
        (
            include_bytes!("../fixtures/10-vllm-midstream-error-then-done.sse"),
            4,
        ),
        (
            include_bytes!("../fixtures/13-responses-stream-error-nested.sse"),
            3,
        ),
        (
            include_bytes!("../fixtures/14-responses-stream-error-flat.sse"),
            2,
        ),
        (include_bytes!("../fixtures/19-anthropic-stream.sse"), 21),
        (
            include_bytes!("../fixtures/20-anthropic-midstream-overloaded.sse"),
            4,
        ),
        (include_bytes!("../fixtures/22-anthropic-truncated.sse"), 3),
        (include_bytes!("../fixtures/28-gemini-stream.sse"), 4),
        (
            include_bytes!("../fixtures/29-gemini-stream-parallel-calls.sse"),
            3,
        ),
        (
            include_bytes!("../fixtures/37-compat-tools-no-index.sse"),
            2,
        ),
        (include_bytes!("../fixtures/40-groq-stream.sse"), 5),
        (include_bytes!("../fixtures/41-azure-stream.sse"), 7),
        (include_bytes!("../fixtures/49-compat-sloppy.sse"), 4),
        (
            include_bytes!("../fixtures/52-usage-before-and-after.sse"),
            4,
        ),
        (
            include_bytes!("../fixtures/53-openai-truncated-no-done.sse"),
            3,
        ),
        (
            include_bytes!("../fixtures/55-compat-usage-chunk-without-choices.sse"),
            4,
        ),
    ];
    for (n, (stream, events)) in streams.into_iter().enumerate() {
        let got = decode(stream);
        assert_eq!(data(&got).len(), events, "stream {n}");
        // The last of the truncated stream is cut within its JSON.
        for got in &got {
            let Got::Event {
                data, terminated, ..
            } = got
            else {
                panic!("stream {n} holds events alone: {got:?}")
            };
            assert_eq!(
                data == "[DONE]" || is_json(data),
                *terminated,
                "stream {n}: {data}"
            );
        }
    }
}

#[test]
fn lf_crlf_and_cr_end_lines_alone_and_mixed() {
    let expected = [event("a", "1\n2"), message("3")];
    for end in ["\n", "\r\n", "\r"] {
        let text = "event: a\ndata: 1\ndata: 2\n\ndata: 3\n\n".replace('\n', end);
        assert_eq!(decode(text), expected, "{end:?}");
    }
    assert_eq!(
        decode("event: a\rdata: 1\r\ndata: 2\n\r\ndata: 3\n\r"),
        expected
    );
}

#[test]
fn two_line_feeds_after_a_carriage_return_are_two_line_ends() {
    assert_eq!(
        decode("data: 1\r\n\ndata: 2\r\n\n"),
        [message("1"), message("2")]
    );
    // Taken as CR, CRLF: the blank line lies between the two.
    assert_eq!(decode("data: 1\r\r\n"), [message("1")]);
}

#[test]
fn a_carriage_return_at_the_end_of_a_chunk_ends_its_line_at_once() {
    let mut decoder = Decoder::default();
    let mut got = Vec::new();
    push(&mut decoder, b"data: 1\r", &mut got).unwrap();
    push(&mut decoder, b"\r", &mut got).unwrap();
    assert_eq!(got, [message("1")]);
    push(&mut decoder, b"\ndata: 2\r", &mut got).unwrap();
    push(&mut decoder, b"\n\r", &mut got).unwrap();
    assert_eq!(got, [message("1"), message("2")]);
}

#[test]
fn no_other_character_ends_a_line() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\u{0}g\u{1c}h\u{1d}i\u{1e}j";
    assert_eq!(decode(format!("data: {text}\n\n")), [message(text)]);
}

#[test]
fn one_space_after_the_colon_is_stripped_and_no_more() {
    assert_eq!(
        decode("data:1\n\ndata: 2\n\ndata:  3\n\ndata:\t4\n\ndata: \n\n"),
        [
            message("1"),
            message("2"),
            message(" 3"),
            message("\t4"),
            message("")
        ]
    );
}

#[test]
fn data_lines_join_with_line_feeds_and_keep_empty_ones() {
    assert_eq!(
        decode("data: 1\ndata\ndata:\ndata: 2\n\n"),
        [message("1\n\n\n2")]
    );
}

#[test]
fn a_bare_data_line_is_an_event_with_empty_data() {
    assert_eq!(decode("data\n\n"), [message("")]);
    assert_eq!(decode("data:\n\n"), [message("")]);
}

#[test]
fn a_block_without_a_data_line_is_no_event() {
    assert_eq!(
        decode("event: a\n\nretry: 3000\n\nid: 1\n\nx: y\n\n\n\n"),
        []
    );
}

#[test]
fn a_name_does_not_outlive_its_block() {
    assert_eq!(
        decode("event: a\n\ndata: 1\n\nevent: b\ndata: 2\n\ndata: 3\n\n"),
        [message("1"), event("b", "2"), message("3")]
    );
}

#[test]
fn the_last_name_of_a_block_counts_and_an_empty_one_is_the_default() {
    assert_eq!(
        decode("event: a\nevent: b\ndata: 1\n\ndata: 2\nevent: c\n\nevent: a\nevent:\ndata: 3\n\n"),
        [event("b", "1"), event("c", "2"), message("3")]
    );
    assert_eq!(decode("event: message\ndata: 1\n\n"), [message("1")]);
}

#[test]
fn an_id_outlives_its_event_until_the_next_or_an_empty_one() {
    assert_eq!(
        decode("data: 0\n\nid: a\ndata: 1\n\ndata: 2\n\nid: b\n\ndata: 3\n\nid\ndata: 4\n\n"),
        [
            message("0"),
            with_id(message("1"), "a"),
            with_id(message("2"), "a"),
            with_id(message("3"), "b"),
            message("4"),
        ]
    );
}

#[test]
fn an_id_with_a_nul_is_ignored() {
    assert_eq!(
        decode("id: a\nid: b\0c\ndata: 1\n\n"),
        [with_id(message("1"), "a")]
    );
}

#[test]
fn retry_counts_if_it_is_digits_alone() {
    #[track_caller]
    fn check(value: &str, expected: Option<u64>) {
        let mut decoder = Decoder::default();
        feed(&mut decoder, [format!("retry:{value}\n").as_bytes()]);
        assert_eq!(
            decoder.retry(),
            expected.map(Duration::from_millis),
            "{value:?}"
        );
    }
    check(" 3000", Some(3000));
    check("0", Some(0));
    check("99999999999999999999999", Some(u64::MAX));
    for value in [
        "", " ", "-1", "+1", "1.5", "1 ", "  1", "0x1", "1e3", "\u{661}",
    ] {
        check(value, None);
    }
}

#[test]
fn a_bad_retry_leaves_the_good_one_standing() {
    let mut decoder = Decoder::default();
    feed(&mut decoder, [&b"retry: 5\nretry: x\n"[..]]);
    assert_eq!(decoder.retry(), Some(Duration::from_millis(5)));
}

#[test]
fn comments_come_at_once_and_belong_to_no_event() {
    assert_eq!(
        decode(":\n: a\n\n:b\ndata: 1\n: c\ndata: 2\n\n"),
        [
            comment(""),
            comment("a"),
            comment("b"),
            comment("c"),
            message("1\n2")
        ]
    );
    let mut decoder = Decoder::default();
    let mut got = Vec::new();
    push(&mut decoder, b"data: 1\n: alive\n", &mut got).unwrap();
    assert_eq!(got, [comment("alive")]);
}

#[test]
fn unknown_fields_are_ignored() {
    assert_eq!(
        decode("unknown: x\nDATA: 1\ndatas: 2\nx\ndata: 3\nda: 4\ndat\n\n"),
        [message("3")]
    );
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_very_start_alone() {
    assert_eq!(
        decode("\u{feff}data: 1\n\n\u{feff}data: 2\n\ndata: \u{feff}3\n\n"),
        [
            message("1"),
            Got::Stray("\u{feff}data: 2".to_owned()),
            message("\u{feff}3"),
        ]
    );
    assert_eq!(decode("\u{feff}\u{feff}data: 1\n\n").len(), 1);
    assert_eq!(decode("\u{feff}"), []);
}

#[test]
fn the_start_of_a_mark_that_is_none_is_content() {
    assert_eq!(
        decode(b"\xef\xbbx: y\n\n"),
        [Got::Stray("\u{fffd}x: y".to_owned())]
    );
    assert_eq!(decode(b"\xef\xbb"), [Got::Stray("\u{fffd}".to_owned())]);
    assert_eq!(decode(b"\xef"), [Got::Stray("\u{fffd}".to_owned())]);
}

#[test]
fn an_event_without_its_blank_line_comes_at_the_end_and_says_so() {
    assert_eq!(decode("data: [DONE]"), [unterminated("[DONE]")]);
    assert_eq!(decode("data: [DONE]\n"), [unterminated("[DONE]")]);
    assert_eq!(decode("data: 1\ndata: 2"), [unterminated("1\n2")]);
    assert_eq!(decode("data: [DONE]\n\n"), [message("[DONE]")]);
}

#[test]
fn an_end_that_leaves_no_data_leaves_no_event() {
    for text in [
        "d",
        "data",
        "data:",
        "data: ",
        "event: a\n",
        "id: 1",
        ": c",
        "retry: 1",
        "",
    ] {
        assert_eq!(decode(text), [], "{text:?}");
    }
    // What is cut off a further field name adds no line to the data.
    for text in [
        "data: 1\nd",
        "data: 1\ndata",
        "data: 1\nevent",
        "data: 1\n:",
    ] {
        assert_eq!(decode(text), [unterminated("1")], "{text:?}");
    }
}

#[test]
fn a_character_cut_by_the_end_is_left_off_and_no_error() {
    assert_eq!(
        decode(b"data: {\"a\":\"\xe6\x9c"),
        [unterminated("{\"a\":\"")]
    );
}

#[test]
fn bad_utf8_in_data_name_or_id_is_an_error() {
    let error = Got::Error(ErrorKind::InvalidUtf8);
    for bytes in [
        &b"data: \xff\n\n"[..],
        b"data: \xe6\x9c\n\n",
        b"data: \xed\xa0\x80\n\n",
        b"data: \xe6\ndata: \x9c\x9d\n\n",
        b"event: \xff\ndata: 1\n\n",
        b"id: \xff\n\n",
        b"data: \xff",
    ] {
        let mut text = b"data: 0\n\n".to_vec();
        text.extend_from_slice(bytes);
        assert_eq!(decode(text), [message("0"), error.clone()], "{bytes:?}");
    }
}

#[test]
fn bad_utf8_elsewhere_is_not_looked_at() {
    assert_eq!(
        decode(b": \xff\nx: \xff\nevent: \xff\n\ndata: 1\n\n"),
        [comment("\u{fffd}"), message("1")]
    );
}

#[test]
fn an_event_that_lies_whole_in_its_chunk_is_borrowed_from_it() {
    let chunk = b"event: a\ndata: {\"n\":1}\n\ndata: 2\r\n\r\n: c\n\n";
    let mut decoder = Decoder::default();
    let mut input = &chunk[..];
    let mut events = 0;
    while let Some(frame) = decoder.next(&mut input).unwrap() {
        let bytes = match frame {
            Frame::Event(event) => event.data.as_bytes(),
            Frame::Comment(text) => text,
            other => panic!("{other:?}"),
        };
        assert!(chunk.as_ptr_range().contains(&bytes.as_ptr()));
        events += 1;
    }
    assert_eq!(events, 3);
    assert_eq!(decoder.buffered(), 0);
}

#[test]
fn input_is_left_where_the_frame_ended() {
    let mut decoder = Decoder::default();
    let mut input = &b"data: 1\n\ndata: 2\n\n"[..];
    assert!(decoder.next(&mut input).unwrap().is_some());
    assert_eq!(input, b"data: 2\n\n");
}

#[test]
fn after_the_end_input_is_thrown_away() {
    for framing in [Framing::Sse, Framing::Lines, Framing::JsonArray] {
        let mut decoder = Decoder::new(framing, Limits::default());
        assert_eq!(decoder.finish(), Ok(None));
        let mut input = &b"data: 1\n\n{}\n"[..];
        assert_eq!(decoder.next(&mut input), Ok(None));
        assert!(input.is_empty());
        assert_eq!(decoder.finish(), Ok(None));
    }
}

#[test]
fn debug_shows_no_content() {
    let mut decoder = Decoder::default();
    let mut input = &b"data: secret\n\n: secret\nsecret {\n\ndata: secr"[..];
    let mut shown = String::new();
    while let Some(frame) = decoder.next(&mut input).unwrap() {
        writeln!(shown, "{frame:?}").unwrap();
    }
    writeln!(shown, "{decoder:?}").unwrap();
    assert!(!shown.contains("secr"), "{shown}");
    assert!(shown.contains("data_bytes: 6"), "{shown}");
    assert!(shown.contains("Decoder { framing: Sse"), "{shown}");
}

#[test]
fn a_decoder_may_move_to_another_thread() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Decoder>();
    check::<skyl_sse::Error>();
    check::<Event<'static>>();
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}
