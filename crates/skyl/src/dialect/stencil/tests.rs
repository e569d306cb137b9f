use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde::Deserialize;

use super::*;
use crate::anthropic::Anthropic;
use crate::dialect::{Dialect, harness};
use crate::openai::{OpenAiCompatible, Responses};

/// A delta as a protocol might have it: words, and two fields nobody reads.
#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    index: &'a RawValue,
    #[serde(borrow)]
    words: &'a RawValue,
    #[serde(borrow)]
    number: Option<&'a RawValue>,
    #[serde(borrow)]
    noise: Option<&'a RawValue>,
}

/// A stencil of this delta.
fn learned(json: &str) -> Stencil<u8> {
    let mut stencil = Stencil::default();
    let delta: Delta<'_> = serde_json::from_str(json).unwrap();
    stencil.learn(json, delta.words, [delta.number, delta.noise], 7);
    stencil
}

#[track_caller]
fn reads(stencil: &Stencil<u8>, json: &str, expected: Option<&str>) {
    let read = stencil.read(json);
    let expected = expected.map(|words| (7, Cow::Borrowed(words)));
    assert_eq!(read, expected, "{json}");
}

#[test]
fn other_words_in_the_same_shape_are_taken_out() {
    let stencil = learned(r#"{"index":1,"words":"tide"}"#);
    for (json, expected) in [
        (r#"{"index":1,"words":"tide"}"#, "tide"),
        (r#"{"index":1,"words":""}"#, ""),
        (r#"{"index":1,"words":"日本 🌊"}"#, "日本 🌊"),
        (r#"{"index":1,"words":"a\n\"b\"\\"}"#, "a\n\"b\"\\"),
        (r#"{"index":1,"words":"\ud83c\udf0a\u0041"}"#, "🌊A"),
        (r#"{"index":1,"words":"half \ud83c"}"#, "half \u{fffd}"),
    ] {
        reads(&stencil, json, Some(expected));
    }
}

#[test]
fn whatever_differs_elsewhere_is_left_to_the_json_reader() {
    let stencil = learned(r#"{"index":1,"words":"tide"}"#);
    for json in [
        "",
        "{",
        r#"{"index":2,"words":"tide"}"#,
        r#"{"index":1, "words":"tide"}"#,
        r#"{"index":1,"words":"tide"} "#,
        r#"{"index":1,"words":"tide","index":2}"#,
        r#"{"index":1,"words":"tide","more":""}"#,
        r#"{"index":1,"words":null}"#,
        r#"{"index":1,"words":["tide"]}"#,
        r#"{"index":1,"words":"tide"#,
        r#"{"index":1,"words":"tide\"}"#,
        r#"{"index":1,"words":"not an \escape"}"#,
        r#"{"index":1,"words":"cut \u00"}"#,
        "{\"index\":1,\"words\":\"a\nb\"}",
        "{\"index\":1,\"words\":\"\u{0}\"}",
    ] {
        reads(&stencil, json, None);
    }
}

#[test]
fn fields_nobody_reads_may_change_within_their_type() {
    let stencil = learned(r#"{"number":9,"index":1,"words":"a","noise":"Xy"}"#);
    for (json, expected) in [
        (
            r#"{"number":10,"index":1,"words":"b","noise":""}"#,
            Some("b"),
        ),
        (
            r#"{"number":0,"index":1,"words":"b","noise":"zzzz"}"#,
            Some("b"),
        ),
        (r#"{"number":01,"index":1,"words":"b","noise":""}"#, None),
        (r#"{"number":-1,"index":1,"words":"b","noise":""}"#, None),
        (r#"{"number":1.5,"index":1,"words":"b","noise":""}"#, None),
        (r#"{"number":,"index":1,"words":"b","noise":""}"#, None),
        (r#"{"number":1,"index":2,"words":"b","noise":""}"#, None),
        (r#"{"number":1,"index":1,"words":"b","noise":"\n"}"#, None),
        (r#"{"number":1,"index":1,"words":"b","noise":1}"#, None),
    ] {
        reads(&stencil, json, expected);
    }
}

#[test]
fn what_cannot_be_kept_is_forgotten() {
    let mut stencil = learned(r#"{"index":1,"words":"a"}"#);
    for json in [
        r#"{"index":1,"words":["a"]}"#,
        r#"{"index":1,"words":null}"#,
        r#"{"index":1,"words":"a","number":-1}"#,
        r#"{"index":1,"words":"a","noise":{"a":1}}"#,
    ] {
        let delta: Delta<'_> = serde_json::from_str(json).unwrap();
        stencil.learn(json, delta.words, [delta.number, delta.noise], 7);
        reads(&stencil, json, None);
    }
    // Words that lie somewhere else have no place in the shape.
    let elsewhere = r#"{"index":1,"words":"a"}"#.to_owned();
    let delta: Delta<'_> = serde_json::from_str(&elsewhere).unwrap();
    stencil.learn(r#"{"index":1,"words":"a"}"#, delta.words, [], 7);
    reads(&stencil, r#"{"index":1,"words":"a"}"#, None);
    reads(&Stencil::default(), "", None);
}

#[test]
fn a_piece_of_the_shape_is_found_again() {
    let json = r#"{"index":1,"words":"a"}"#;
    let stencil = learned(json);
    let index = place(json, &json[9..10]).unwrap();
    assert_eq!(stencil.piece(index), "1");
    assert_eq!(stencil.piece(50..60), "");
    assert_eq!(place(json, "1"), None);
}

/// A delta of one shape; the words and the noise are JSON strings, quotes included.
fn delta(words: &str, number: u64, noise: &str) -> String {
    format!(r#"{{"number":{number},"index":1,"words":{words},"noise":{noise}}}"#)
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,8}", "[a\"\\\\/\n\t\u{1}é🌊]{0,6}"]
        .prop_map(|words| serde_json::to_string(&words).unwrap())
}

proptest! {
    #[test]
    fn a_stencil_never_contradicts_the_json_reader(
        first in words(), then in words(), number in any::<u64>(),
        at in any::<proptest::sample::Index>(), with in "\\PC|[\"\\\\,:{}\\[\\]0-9\n]|",
    ) {
        let stencil = learned(&delta(&first, 3, r#""x""#));
        let mut json = delta(&then, number, r#""yy""#);
        prop_assert!(stencil.read(&json).is_some(), "{}", json);
        // One character changed, put in or taken out.
        let places: Vec<_> = json.char_indices().map(|(at, _)| at).collect();
        let at = places[at.index(places.len())];
        let end = at + json[at..].chars().next().map_or(0, char::len_utf8);
        json.replace_range(at..end, &with);
        if let Some((_, words)) = stencil.read(&json) {
            let delta: Delta<'_> = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(string(delta.words).unwrap(), words);
            prop_assert_eq!(delta.index.get(), "1");
        }
    }
}

/// Events of a protocol, with `{}` where words go.
struct Events {
    dialect: Box<dyn Dialect>,
    start: &'static [&'static str],
    middle: &'static [&'static str],
    end: &'static [&'static str],
}

fn protocols() -> [Events; 3] {
    [
        Events {
            dialect: Box::new(OpenAiCompatible::new("http://localhost/v1")),
            start: &[],
            middle: &[
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":{}}}],"obfuscation":{}}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":{},"reasoning":null}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":"","reasoning":{}}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"reasoning_content":{},"reasoning":"b"}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":{},"refusal":"no"}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":[{"type":"text","text":{}}]}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":{}}]}]}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":{},"tool_calls":[{"index":0,"function":{"name":"f","arguments":"[1"}}]}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":{},"function_call":{"name":"g","arguments":"1"}}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":{},"reasoning_details":[{"type":"reasoning.text","text":"d"}]}}]}"#,
                r#"{"id":"c","choices":[{"index":1,"delta":{"content":{}}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":{}}},{"index":1,"delta":{"content":"b"}}]}"#,
                r#"{"id":"c","choices":[{"index":0,"delta":{"content":{}}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
                r#"{"id":"c","choices":[{"index":0,"text":{}}]}"#,
            ],
            end: &[r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#],
        },
        Events {
            dialect: Box::new(Anthropic::new("sk-ant-0123456789")),
            start: &[
                r#"{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}"#,
                r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
            ],
            middle: &[
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":{}}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":{}}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":{}}}"#,
                r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":{}}}"#,
                r#"{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":{}}}"#,
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":{}}}"#,
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"content_block_stop","index":1}"#,
                r#"{"type":"ping"}"#,
            ],
            end: &[
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        },
        Events {
            dialect: Box::new(Responses::new("sk-0123456789")),
            start: &[
                r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"a","type":"message"}}"#,
                r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"b","type":"reasoning"}}"#,
                r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"c","type":"function_call","call_id":"t","name":"f"}}"#,
            ],
            middle: &[
                r#"{"type":"response.output_text.delta","sequence_number":7,"item_id":"a","output_index":0,"content_index":0,"delta":{},"obfuscation":{}}"#,
                r#"{"type":"response.output_text.delta","output_index":0,"content_index":1,"delta":{}}"#,
                r#"{"type":"response.output_text.delta","item_id":"d","delta":{}}"#,
                r#"{"type":"response.refusal.delta","item_id":"a","output_index":0,"delta":{}}"#,
                r#"{"type":"response.reasoning_summary_text.delta","item_id":"b","output_index":1,"summary_index":0,"delta":{}}"#,
                r#"{"type":"response.reasoning_summary_text.delta","item_id":"b","output_index":1,"summary_index":1,"delta":{}}"#,
                r#"{"type":"response.function_call_arguments.delta","item_id":"c","output_index":2,"delta":{}}"#,
                r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"a","type":"message","content":[]}}"#,
            ],
            end: &[r#"{"type":"response.completed","response":{"id":"r","status":"completed"}}"#],
        },
    ]
}

/// The stream of these events. Spaced, no event has the shape of the one before.
fn script(events: &[String], spaced: bool) -> String {
    let event = |(at, event): (usize, &String)| {
        let gap = if spaced { 1 + at % 2 } else { 0 };
        format!("data: {{{}{}\n\n", " ".repeat(gap), &event[1..])
    };
    events.iter().enumerate().map(event).collect()
}

proptest! {
    #[test]
    fn streams_read_through_a_stencil_come_out_as_streams_read_as_json(
        picks in proptest::collection::vec((any::<proptest::sample::Index>(), 1..4_usize), 1..8),
        words in proptest::collection::vec(words(), 32),
    ) {
        for protocol in protocols() {
            let mut words = words.iter().cycle();
            let mut middle = Vec::new();
            for (pick, times) in &picks {
                let event = protocol.middle[pick.index(protocol.middle.len())];
                for _ in 0..*times {
                    let filled = event.split("{}").map(str::to_owned).reduce(|line, rest| {
                        line + words.next().map_or("", String::as_str) + &rest
                    });
                    middle.extend(filled);
                }
            }
            let owned = |events: &[&str]| events.iter().map(|&event| event.to_owned()).collect();
            let events = [owned(protocol.start), middle, owned(protocol.end)].concat();
            let [plain, spaced] = [false, true].map(|spaced| {
                harness::stream_text(&*protocol.dialect, &script(&events, spaced))
            });
            prop_assert_eq!(&plain.events, &spaced.events, "{:#?}", events);
            prop_assert_eq!(plain.decoded, spaced.decoded, "{:#?}", events);
            let [plain, spaced] = [plain.end, spaced.end].map(|end| end.map_err(|f| f.kind()));
            prop_assert_eq!(plain, spaced, "{:#?}", events);
        }
    }
}
