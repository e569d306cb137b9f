//! Bytes in the stream that are no field.

use skyl_sse::Decoder;

use crate::support::{Got, comment, decode, event, message, push, stray, unterminated};

#[test]
fn a_bare_json_line_is_handed_out_at_its_end() {
    let mut decoder = Decoder::default();
    let mut got = Vec::new();
    push(&mut decoder, b"{\"error\":{\"code\":500}}\n", &mut got).unwrap();
    assert_eq!(got, [stray(r#"{"error":{"code":500}}"#)]);
}

#[test]
fn json_over_several_lines_is_handed_out_when_its_brackets_close() {
    let mut decoder = Decoder::default();
    let mut got = Vec::new();
    push(
        &mut decoder,
        b"[{\n  \"error\": {\n    \"code\": 1\n  }\n}\n",
        &mut got,
    )
    .unwrap();
    assert_eq!(got, []);
    push(&mut decoder, b"]\n", &mut got).unwrap();
    assert_eq!(
        got,
        [stray("[{\n  \"error\": {\n    \"code\": 1\n  }\n}\n]")]
    );
}

#[test]
fn json_that_begins_indented_is_json() {
    let mut decoder = Decoder::default();
    let mut got = Vec::new();
    push(&mut decoder, b" \t{\n  }\n", &mut got).unwrap();
    assert_eq!(got, [stray(" \t{\n  }")]);
}

#[test]
fn json_that_never_closed_does_not_keep_the_next_open() {
    let mut decoder = Decoder::default();
    let mut got = Vec::new();
    push(&mut decoder, b"{\ndata: 1\n\n{}\n", &mut got).unwrap();
    assert_eq!(got, [stray("{"), message("1"), stray("{}")]);
}

#[test]
fn a_quoted_key_is_not_taken_for_a_field() {
    let text = "{\n\"error\": {\n\"data\": \"x\",\n\"event\": null,\nfalse\n}}";
    assert_eq!(decode(format!("{text}\n\n")), [stray(text)]);
}

#[test]
fn bare_values_within_open_json_belong_to_it() {
    let text = "[\ntrue,\n12\n,\nnull\n]";
    assert_eq!(decode(format!("{text}\n\n")), [stray(text)]);
    // On its own a bare word is an unknown field.
    assert_eq!(decode("true\n\n"), []);
}

#[test]
fn brackets_in_strings_do_not_close_it() {
    let text = "{\"error\": \"}\\\"}\",\n\"code\": 1}";
    assert_eq!(decode(format!("{text}\n")), [stray(text)]);
}

#[test]
fn prose_is_handed_out_at_the_next_blank_line_field_or_end() {
    let page = "<html>\n<body>502 Bad Gateway</body>\n</html>";
    assert_eq!(
        decode(format!("{page}\n\ndata: 1\n\n")),
        [stray(page), message("1")]
    );
    assert_eq!(
        decode(format!("{page}\ndata: 1\n\n")),
        [stray(page), message("1")]
    );
    assert_eq!(decode(format!("{page}\nid:\n")), [stray(page)]);
    assert_eq!(decode(page), [stray(page)]);
}

#[test]
fn the_event_of_the_block_comes_before_its_stray() {
    assert_eq!(
        decode("data: 1\nupstream error\n{}\n\ndata: 2\n\n"),
        [message("1"), stray("upstream error\n{}"), message("2")]
    );
    assert_eq!(
        decode("data: 1\n{\"error\":1}\n"),
        [unterminated("1"), stray("{\"error\":1}")]
    );
}

#[test]
fn the_stray_of_a_block_does_not_wait_for_the_next_one() {
    let mut decoder = Decoder::default();
    let mut got = Vec::new();
    push(&mut decoder, b"data: 1\n{}\n\n", &mut got).unwrap();
    assert_eq!(got, [message("1"), stray("{}")]);
}

#[test]
fn json_outlives_the_block_it_began_in() {
    assert_eq!(
        decode("data: 1\n{\n\n\"a\": 1\n}\n\n"),
        [message("1"), stray("{\n\"a\": 1\n}")]
    );
}

#[test]
fn json_that_never_closes_ends_at_the_next_field_or_the_end() {
    assert_eq!(
        decode("{\n\n\"a\":\ndata: 1\n\n"),
        [stray("{\n\"a\":"), message("1")]
    );
    assert_eq!(decode("{\n\"a\":\n\n"), [stray("{\n\"a\":")]);
}

#[test]
fn blank_and_white_lines_within_json_are_left_out() {
    assert_eq!(
        decode("{\r\r\n \"a\": 1\r\r\n \t\r\n}\r\r\n"),
        [stray("{\n \"a\": 1\n}")]
    );
}

#[test]
fn comments_do_not_end_a_stray() {
    assert_eq!(decode("{\n: ping\n}\n"), [comment("ping"), stray("{\n}")]);
}

#[test]
fn a_stray_of_white_space_is_none() {
    assert_eq!(decode("   \n \t \n\n   "), []);
}

#[test]
fn stray_lines_continue_data_that_is_open_json() {
    assert_eq!(
        decode("event: error\ndata: {\n  \"error\": {\ndata: \"a\": 1\n  }\n}\n\ndata: 2\n\n"),
        [
            event("error", "{\n  \"error\": {\n\"a\": 1\n  }\n}"),
            message("2")
        ]
    );
    assert_eq!(
        decode("data: {\n \"a\": 1\n}"),
        [unterminated("{\n \"a\": 1\n}")]
    );
}

#[test]
fn stray_lines_do_not_continue_data_that_is_whole() {
    assert_eq!(decode("data: {}\n{}\n\n"), [message("{}"), stray("{}")]);
    assert_eq!(
        decode("data: text\n more text\n\n"),
        [message("text"), stray(" more text")]
    );
}

#[test]
fn whether_data_is_open_is_judged_line_by_line_and_per_event() {
    assert_eq!(
        decode("data: {\n \"a\": 1\n}\n more text\n\n"),
        [message("{\n \"a\": 1\n}"), stray(" more text")]
    );
    assert_eq!(
        decode("data: {\n x y\n\ndata: 1\n a b\n\n"),
        [message("{\n x y"), message("1"), stray(" a b")]
    );
}

#[test]
fn unknown_fields_do_not_continue_open_data() {
    assert_eq!(decode("data: {\nx: y\ndata: }\n\n"), [message("{\n}")]);
}

/// llama.cpp, before it put its errors into `data:`
#[test]
fn the_value_of_an_error_field_is_a_stray() {
    assert_eq!(
        decode("data: 1\n\nerror: {\"code\":500,\"message\":\"x\"}\n\n"),
        [message("1"), stray(r#"{"code":500,"message":"x"}"#)]
    );
    assert_eq!(decode("error: out of memory\n\n"), [stray("out of memory")]);
    assert_eq!(decode("error:\n\nerror\n\n"), []);
    assert_eq!(decode("errors: 1\n\n"), []);
}

#[test]
fn a_name_without_data_does_not_hold_a_stray_back() {
    assert_eq!(
        decode("event: error\n{\"error\":1}\n\ndata: 2\n\n"),
        [stray("{\"error\":1}"), message("2")]
    );
}

#[test]
fn several_strays_in_a_row_stay_apart_where_json_closes() {
    assert_eq!(
        decode("{}\n[]\n{}{}\n"),
        [stray("{}"), stray("[]"), stray("{}{}")]
    );
}

#[test]
fn a_stray_is_handed_out_as_bytes_whatever_they_are() {
    assert_eq!(
        decode(b"\xff\xfe\n\n"),
        [Got::Stray("\u{fffd}\u{fffd}".to_owned())]
    );
}
