//! Public bug reports about other clients, as far as they are about framing.

use skyl_sse::{Decoder, Framing, Limits};

use crate::support::{
    Got, comment, data, decode, decode_with, event, feed, message, push, stray, unterminated,
};

/// rust-genai#187
#[test]
fn a_character_cut_between_chunks_is_whole_again() {
    let chunks = [&b"data: \"\xe6\x9c"[..], b"\x9d\"\n\n"];
    assert_eq!(feed(&mut Decoder::default(), chunks), [message("\"朝\"")]);
}

/// rust-genai, commit b08af87
#[test]
fn a_frame_end_cut_between_chunks_loses_nothing() {
    let chunks = [&b"data: {\"a\":1}\n"[..], b"\ndata: {\"a\":2}\n\n"];
    assert_eq!(
        feed(&mut Decoder::default(), chunks),
        [message(r#"{"a":1}"#), message(r#"{"a":2}"#)]
    );
}

/// llm#57
#[test]
fn accented_text_fed_byte_by_byte_is_unchanged() {
    let json = r#"{"choices":[{"index":0,"delta":{"content":"Ünïcødé"}}]}"#;
    assert_eq!(decode(format!("data: {json}\n\n")), [message(json)]);
}

/// librefang#3448, astrid#171, liter-llm#152, spiceai#12597
#[test]
fn an_emoji_cut_between_chunks_gives_no_replacement_character() {
    let chunks = [&b"data: \xf0\x9f"[..], b"\x8c\x8a\n\n"];
    assert_eq!(feed(&mut Decoder::default(), chunks), [message("🌊")]);
}

/// openai-node#757, codex-lb#1010, dify#39008
#[test]
fn unicode_line_separators_are_content() {
    for separator in ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"] {
        let json = format!("{{\"t\":\"a{separator}b\"}}");
        assert_eq!(decode(format!("data: {json}\n\n")), [message(&json)]);
    }
}

/// python-genai PR#2584
#[test]
fn data_without_a_space_after_the_colon_is_data() {
    let json = r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}"#;
    assert_eq!(decode(format!("data:{json}\n\n")), [message(json)]);
}

/// openai-python#663: the decoder hands out what it got; refusing it is the dialect's part.
#[test]
fn two_json_objects_in_one_data_block_come_as_one_event() {
    let both = r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}{"choices":[{"index":0,"delta":{"content":"b"}}]}"#;
    assert_eq!(decode(format!("data: {both}\n\n")), [message(both)]);
}

/// openai-python#2722
#[test]
fn a_retry_field_alone_makes_no_empty_event() {
    assert_eq!(decode("retry: 3000\n\ndata: 1\n\n"), [message("1")]);
}

/// vercel/ai#383
#[test]
fn a_ping_between_deltas_is_an_event_of_its_own_name() {
    let text = "event: content_block_delta\ndata: 1\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n\
                event: content_block_delta\ndata: 2\n\n";
    assert_eq!(
        decode(text),
        [
            event("content_block_delta", "1"),
            event("ping", r#"{"type":"ping"}"#),
            event("content_block_delta", "2"),
        ]
    );
}

/// async-openai#522, openai-client PR#170, jp PR#566
#[test]
fn an_event_of_an_unknown_name_is_handed_out_like_any_other() {
    let json = r#"{"type":"keepalive","sequence_number":3}"#;
    assert_eq!(
        decode(format!("event: keepalive\ndata: {json}\n\n")),
        [event("keepalive", json)]
    );
}

/// rig#825, rig#1758, rig PR#1759
#[test]
fn a_json_line_that_goes_on_in_the_next_chunk_is_one_line() {
    let chunks = [
        &br#"{"message":{"content":"lo"#[..],
        b"ng\"},\"done\":false}\n{\"message\":{\"content\":\"\"},\"done\":true}\n",
    ];
    let mut decoder = Decoder::new(Framing::Lines, Limits::default());
    assert_eq!(
        feed(&mut decoder, chunks),
        [
            message(r#"{"message":{"content":"long"},"done":false}"#),
            message(r#"{"message":{"content":""},"done":true}"#),
        ]
    );
}

/// cody PR#3481
#[test]
fn two_json_lines_in_one_chunk_are_two() {
    let mut decoder = Decoder::new(Framing::Lines, Limits::default());
    assert_eq!(
        feed(&mut decoder, [&b"{\"a\":1}\n{\"a\":2}\n"[..]]),
        [message(r#"{"a":1}"#), message(r#"{"a":2}"#)]
    );
}

/// openai-python#2796, openai-python PR#2906
#[test]
fn an_event_named_error_keeps_its_name_and_data() {
    let json = r#"{"error":{"message":"boom","type":"server_error"}}"#;
    assert_eq!(
        decode(format!("event: error\ndata: {json}\n\n")),
        [event("error", json)]
    );
}

/// openai-python#649, openai-python#650
#[test]
fn a_pretty_printed_error_is_one_frame_with_or_without_its_data_fields() {
    let error = "{\n  \"error\": {\"message\": \"overloaded\"}\n}";
    let lines = error.replace('\n', "\ndata: ");
    assert_eq!(decode(format!("data: {lines}\n\n")), [message(error)]);
    assert_eq!(decode(format!("{error}\n\n")), [stray(error)]);
    // `data:` before the first line only.
    assert_eq!(decode(format!("data: {error}\n\n")), [message(error)]);
}

/// vercel/ai#5217, python-genai#1162
#[test]
fn a_pretty_printed_error_body_in_mid_stream_is_one_stray() {
    for body in [
        include_str!("../fixtures/31-gemini-429-minute.json"),
        include_str!("../fixtures/32-gemini-429-day-array.json"),
    ] {
        let body = body.trim();
        let expected = [message("1"), stray(body)];
        for end in ["\n", "\r\n"] {
            let text = format!("data: 1\n\n{body}\n").replace('\n', end);
            assert_eq!(decode(&text), expected);
            assert_eq!(
                decode(text.trim_end()),
                expected,
                "without its last line end"
            );
        }
    }
}

/// async-openai#110, async-openai#74
#[test]
fn the_last_event_comes_at_once_while_the_connection_stays_open() {
    let mut decoder = Decoder::default();
    let mut got = Vec::new();
    push(&mut decoder, b"data: {}\n\ndata: [DONE]\n\n", &mut got).unwrap();
    assert_eq!(data(&got), ["{}", "[DONE]"]);
}

/// openai-go#368
#[test]
fn a_line_of_several_mebibytes_is_one_event() {
    let image = "A".repeat(5 << 20);
    let text = format!("data: {image}\n\n");
    let whole = feed(&mut Decoder::default(), [text.as_bytes()]);
    let chunked = feed(&mut Decoder::default(), text.as_bytes().chunks(16 << 10));
    assert!(whole == [message(&image)] && chunked == whole);
}

/// deepseek and openrouter send these while a request is queued
#[test]
fn keepalive_comments_and_blank_lines_ahead_of_the_answer_are_no_events() {
    let got = decode(include_bytes!(
        "../fixtures/34-openrouter-comments-error.sse"
    ));
    let processing = comment("OPENROUTER PROCESSING");
    assert_eq!(got.iter().filter(|&got| *got == processing).count(), 3);
    assert_eq!(data(&got).len(), 4);
    assert_eq!(got.len(), 7);
    assert_eq!(got[..2], [processing.clone(), processing]);

    let body = include_bytes!("../fixtures/35-openrouter-200-error.json");
    let got = decode_with(Framing::Sse, Limits::default(), body);
    assert!(matches!(&got[..], [Got::Stray(text)] if text.starts_with("{\"error\"")));
}

/// Many servers leave out the last blank line.
#[test]
fn a_done_mark_without_its_blank_line_is_not_lost() {
    assert_eq!(
        decode("data: 1\n\ndata: [DONE]"),
        [message("1"), unterminated("[DONE]")]
    );
}
