//! Any bytes, any cut: no panic, the same frames, bounded memory, and the standard's own reading.

use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use skyl_sse::{Decoder, Framing, Limits};

use crate::support::{Got, comment, feed, push};

/// The standard's algorithm, line by line over whole text; for input without strays and errors.
fn reference(text: &str) -> Vec<Got> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<_> = text.split('\n').collect();
    // What follows the last line end is a line cut by the end, or nothing.
    let cut = lines.pop().unwrap_or_default();
    let mut got = Vec::new();
    let (mut name, mut id) = (String::new(), String::new());
    let mut data: Option<String> = None;
    let block = |data: &mut Option<String>, name: &mut String, id: &str, terminated| {
        let name = std::mem::take(name);
        data.take().map(|data| Got::Event {
            name: if name.is_empty() {
                "message".to_owned()
            } else {
                name
            },
            data,
            id: (!id.is_empty()).then(|| id.to_owned()),
            terminated,
        })
    };
    let cut = (!matches!(cut, "" | "data") && !cut.starts_with(':')).then_some(cut);
    for line in lines.into_iter().chain(cut) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() => got.extend(block(&mut data, &mut name, &id, true)),
            "" => got.push(comment(value)),
            "data" => match &mut data {
                Some(data) => *data = format!("{data}\n{value}"),
                None => data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut name),
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            _ => {}
        }
    }
    let data_left = data.filter(|data| !data.is_empty());
    got.extend(block(&mut { data_left }, &mut name, &id, false));
    got
}

/// Text of fields, whole and cut, with every kind of line end; no strays.
fn fields() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "data: ?[a-z{}\" \u{e4}\u{1f30a}\u{2028}\u{85}]{0,40}",
        2 => Just(String::new()),
        1 => "event:[ a-z]{0,8}",
        1 => "id: ?[a-z\0]{0,3}",
        1 => ":[ a-z]{0,6}",
        1 => "(data|event|id|retry|unknown|d)",
        1 => "x-y_z: [a-z]{0,4}",
        1 => "retry: ?[0-9a]{0,4}",
    ];
    let end = prop_oneof![3 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r"), 3 => Just("\n\n")];
    let lines = proptest::collection::vec((line, end), 0..24);
    (
        proptest::bool::weighted(0.1),
        lines,
        "(|d|data|data: x|:|id: 7)",
    )
        .prop_map(|(mark, lines, cut)| {
            let mut text = String::from(if mark { "\u{feff}" } else { "" });
            for (line, end) in lines {
                text += &line;
                text += end;
            }
            text + &cut
        })
}

/// Pieces of all three framings, put together at random.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(PIECES), 0..40)
        .prop_map(|pieces| pieces.concat())
}

/// What [`soup`] is made of.
const PIECES: &[&[u8]] = &[
    b"data:",
    b"data: {\"a\":1}\n\n",
    b"data: {",
    b"data",
    b"event: e",
    b"event:",
    b"event: message\n",
    b"id: 1",
    b"retry: 10",
    b"error: x",
    b"unknown: x",
    b": c",
    b"{\"error\": {",
    b"  \"code\": \"\\\"\"",
    b"}",
    b"[",
    b"]",
    b",",
    b"\"",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b" ",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xe6\x9c\x9d",
    b"\xe6",
    b"\xff",
    b"<html> 502",
];

fn framing() -> impl Strategy<Value = Framing> {
    prop_oneof![
        3 => Just(Framing::Sse),
        1 => Just(Framing::Lines),
        1 => Just(Framing::JsonArray),
    ]
}

/// Small caps, so that they are met; and none to speak of.
fn limits() -> impl Strategy<Value = Limits> {
    prop_oneof![
        2 => Just(Limits::default()),
        1 => (0_usize..40, 0_usize..40).prop_map(|(line, event)| {
            Limits::default().max_line_bytes(line).max_event_bytes(event)
        }),
    ]
}

/// Cuts the bytes into chunks of the given sizes, over and over.
fn cut<'a>(mut bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for &size in sizes.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (chunk, rest) = bytes.split_at(size.min(bytes.len()));
        chunks.push(chunk);
        bytes = rest;
    }
    chunks
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(1_usize..24, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn fields_read_as_the_standard_says(text in fields(), sizes in sizes()) {
        let expected = reference(&text);
        prop_assert_eq!(feed(&mut Decoder::default(), [text.as_bytes()]), expected.clone());
        prop_assert_eq!(feed(&mut Decoder::default(), cut(text.as_bytes(), &sizes)), expected);
    }

    #[test]
    fn any_cut_gives_the_same_frames(
        bytes in soup(), sizes in sizes(), framing in framing(), limits in limits(),
    ) {
        let new = || Decoder::new(framing, limits);
        let whole = feed(&mut new(), [&bytes[..]]);
        prop_assert_eq!(feed(&mut new(), cut(&bytes, &sizes)), whole.clone());
        prop_assert_eq!(feed(&mut new(), bytes.chunks(1)), whole);
    }

    #[test]
    fn any_bytes_are_taken_without_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300), sizes in sizes(),
        framing in framing(),
    ) {
        let new = || Decoder::new(framing, Limits::default());
        let whole = feed(&mut new(), [&bytes[..]]);
        prop_assert_eq!(feed(&mut new(), cut(&bytes, &sizes)), whole);
    }

    #[test]
    fn buffers_stay_within_the_caps(
        bytes in soup(), times in 1_usize..200, sizes in sizes(), framing in framing(),
        (line, event) in (0_usize..2000, 0_usize..2000),
    ) {
        let limits = Limits::default().max_line_bytes(line).max_event_bytes(event);
        let mut decoder = Decoder::new(framing, limits);
        let bytes = bytes.repeat(times);
        for chunk in cut(&bytes, &sizes) {
            let result = push(&mut decoder, chunk, &mut Vec::new());
            // With caps this small each of the five buffers may stand at its own.
            let bound = line.max(event) + line + 3 * event + 16;
            prop_assert!(decoder.buffered() <= bound, "{} > {bound}", decoder.buffered());
            if result.is_err() {
                break;
            }
        }
    }
}
