use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::dialect::harness::{Told, stream_text};
use crate::kind::ErrorKind;
use crate::message::Part;
use crate::response::{StopReason, StreamEvent};

fn sse(events: &[Value]) -> String {
    events.iter().fold(String::new(), |mut text, event| {
        let name = event["type"].as_str().unwrap_or("message");
        writeln!(text, "event: {name}\ndata: {event}\n").unwrap();
        text
    })
}

fn told(events: &[Value]) -> Told {
    stream_text(&anthropic(), &sse(events))
}

fn start(usage: &Value) -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "model": "claude-x", "content": [], "usage": usage,
    }})
}

fn open(index: usize, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn text(index: usize, words: &str) -> Value {
    json!({"type": "content_block_delta", "index": index,
           "delta": {"type": "text_delta", "text": words}})
}

fn partial(index: usize, part: &str) -> Value {
    json!({"type": "content_block_delta", "index": index,
           "delta": {"type": "input_json_delta", "partial_json": part}})
}

fn close(index: usize) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}})
}

fn stop() -> Value {
    json!({"type": "message_stop"})
}

fn a_text() -> Value {
    json!({"type": "text", "text": ""})
}

fn a_tool(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "tide", "input": {}})
}

#[track_caller]
fn whole(events: &[Value]) -> Told {
    let told = told(events);
    told.end.as_ref().expect("a whole answer");
    told
}

// anthropics/anthropic-sdk-go#350: deltas went to the block that began last.
#[test]
fn interleaved_blocks_are_told_apart_by_index() {
    let told = whole(&[
        start(&json!({})),
        open(0, &a_tool("a")),
        open(1, &a_tool("b")),
        partial(0, "{\"port\":"),
        partial(1, "{\"port\":"),
        partial(0, "\"Brest\"}"),
        close(0),
        partial(1, "\"Vigo\"}"),
        close(1),
        end("tool_use"),
        stop(),
    ]);
    assert_eq!(
        told.tools(),
        [
            ("a", "tide", "{\"port\":\"Brest\"}"),
            ("b", "tide", "{\"port\":\"Vigo\"}")
        ]
    );
    let began: Vec<_> = told
        .events
        .iter()
        .take(4)
        .map(|event| match event {
            StreamEvent::ToolCallStart { index, .. } => ("start", *index),
            StreamEvent::ToolCallArguments { index, .. } => ("arguments", *index),
            _ => ("?", 9),
        })
        .collect();
    assert_eq!(
        began,
        [
            ("start", 0),
            ("start", 1),
            ("arguments", 0),
            ("arguments", 1)
        ]
    );
}

#[test]
fn text_that_interleaves_comes_out_in_the_order_of_its_blocks() {
    let told = whole(&[
        start(&json!({})),
        open(0, &a_text()),
        open(
            1,
            &json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        open(2, &a_tool("c")),
        json!({"type": "content_block_delta", "index": 1,
               "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        text(0, "a"),
        partial(2, "{}"),
        text(0, "b"),
        close(2),
        json!({"type": "content_block_delta", "index": 1,
               "delta": {"type": "signature_delta", "signature": "s"}}),
        close(0),
        close(1),
        end("tool_use"),
        stop(),
    ]);
    assert_eq!(told.text(), "ab");
    let kinds: Vec<_> = told
        .decoded
        .parts
        .iter()
        .map(std::mem::discriminant)
        .collect();
    let Part::Reasoning(reasoning) = &told.decoded.parts[1] else {
        panic!("{kinds:?}")
    };
    assert_eq!(reasoning.text, "hm");
    assert!(reasoning.state.is_some());
    assert_eq!(told.tools(), [("c", "tide", "{}")]);
}

#[test]
fn blocks_that_never_close_are_closed_by_the_end() {
    let told = whole(&[
        open(0, &a_text()),
        text(0, "a"),
        open(1, &a_tool("c")),
        partial(1, "{}"),
        end("tool_use"),
        stop(),
    ]);
    assert_eq!(
        (told.text().as_str(), told.tools()),
        ("a", vec![("c", "tide", "{}")])
    );
}

#[test]
fn an_index_used_again_closes_the_block_before() {
    let told = whole(&[
        open(0, &a_tool("a")),
        open(0, &a_tool("b")),
        partial(0, "{}"),
        end("tool_use"),
        stop(),
    ]);
    assert_eq!(told.tools(), [("a", "tide", "{}"), ("b", "tide", "{}")]);
}

#[test]
fn deltas_without_an_index_or_a_start_are_not_lost() {
    let told = whole(&[
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}),
        json!({"type": "content_block_delta", "delta": {"text": "b"}}),
        json!({"type": "content_block_delta", "index": 3,
               "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        partial(7, "{}"),
        end("end_turn"),
        stop(),
    ]);
    assert_eq!(told.text(), "ab");
    assert_eq!(told.tools(), []);
    assert_eq!(told.decoded.warnings.len(), 1);
}

#[test]
fn a_tool_without_deltas_has_an_empty_object_and_input_at_the_start_counts() {
    let mut given = a_tool("b");
    given["input"] = json!({"port": "Brest"});
    let told = whole(&[
        open(0, &a_tool("a")),
        close(0),
        open(1, &given),
        close(1),
        open(2, &given),
        partial(2, ""),
        partial(2, "{\"port\":\"Vigo\"}"),
        close(2),
        end("tool_use"),
        stop(),
    ]);
    let arguments: Vec<_> = told
        .tools()
        .into_iter()
        .map(|(_, _, arguments)| arguments)
        .collect();
    assert_eq!(
        arguments,
        ["{}", "{\"port\":\"Brest\"}", "{\"port\":\"Vigo\"}"]
    );
}

// anthropics/anthropic-sdk-go#255, anthropic-sdk-typescript#996: broken JSON ended the message.
#[test]
fn broken_arguments_break_that_call_alone() {
    for pieces in [["{\"a\":1,", "s\"b\":2}"], ["{\"p\":\"C:\\", "x\"}"]] {
        let told = whole(&[
            open(0, &a_text()),
            text(0, "a"),
            close(0),
            open(1, &a_tool("a")),
            partial(1, pieces[0]),
            partial(1, pieces[1]),
            close(1),
            open(2, &a_tool("b")),
            close(2),
            end("tool_use"),
            stop(),
        ]);
        assert_eq!(told.text(), "a");
        assert_eq!(told.tools()[0].2, pieces.concat());
        let calls: Vec<_> = told
            .decoded
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::ToolCall(call) => Some(call.is_whole()),
                _ => None,
            })
            .collect();
        assert_eq!(calls, [false, true]);
    }
}

// anthropics/anthropic-sdk-typescript#781: a cut number was shown as another number.
#[test]
fn a_number_in_pieces_is_whole_at_the_end() {
    let told = whole(&[
        open(0, &a_tool("a")),
        partial(0, "{\"n\":1"),
        partial(0, "2.5}"),
        close(0),
        end("tool_use"),
        stop(),
    ]);
    assert_eq!(told.tools()[0].2, "{\"n\":12.5}");
}

// 0xPlaygrounds/rig#2359: arguments cut by the limit lost the whole answer.
#[test]
fn a_limit_in_mid_call_keeps_text_usage_and_reason() {
    let told = whole(&[
        open(0, &a_text()),
        text(0, "a"),
        close(0),
        open(1, &a_tool("a")),
        partial(1, "{\"port\":\"Br"),
        close(1),
        end("max_tokens"),
        stop(),
    ]);
    assert_eq!(told.text(), "a");
    assert_eq!(told.decoded.stop_reason, StopReason::MaxTokens);
    assert_eq!(told.decoded.usage.output_tokens, Some(9));
    assert_eq!(told.tools()[0].2, "{\"port\":\"Br");
}

// vercel/ai#383.
#[test]
fn pings_are_a_sign_of_life_and_nothing_else() {
    let headers = HeaderMap::new();
    let mut decoder = anthropic().stream_decoder(&Head::new(200, &headers, harness::now()));
    let mut sink = crate::Sink::new();
    for (name, data) in [
        ("ping", r#"{"type":"ping"}"#),
        ("ping", r#"{"type": "ping"}"#),
        ("ping", "{}"),
    ] {
        let frame = crate::Frame::Event {
            name,
            data,
            terminated: true,
        };
        assert_eq!(decoder.frame(frame, &mut sink).unwrap(), crate::Flow::Life);
    }
    let told = whole(&[
        open(0, &a_text()),
        text(0, "a"),
        json!({"type": "ping"}),
        text(0, "b"),
        end("end_turn"),
        stop(),
    ]);
    assert_eq!(told.text(), "ab");
}

#[test]
fn unknown_events_deltas_and_blocks_are_skipped() {
    let told = whole(&[
        json!({"type": "future_event", "delta": "x", "index": "y", "content_block": 5}),
        open(0, &a_text()),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta", "text": "no"}}),
        text(0, "a"),
        close(0),
        open(1, &json!({"type": "brand_new", "x": 1})),
        partial(1, "{\"q\":1}"),
        close(1),
        end("end_turn"),
        stop(),
    ]);
    assert_eq!(told.text(), "a");
    assert_eq!(
        told.decoded.parts.len(),
        2,
        "the unknown block is kept to go back"
    );
    assert_eq!(told.decoded.warnings.len(), 1);
}

#[test]
fn input_streamed_to_a_server_tool_is_in_what_goes_back() {
    let block = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let told = whole(&[
        open(0, &block),
        partial(0, "{\"query\":"),
        partial(0, "\"q\"}"),
        close(0),
        end("pause_turn"),
        stop(),
    ]);
    let Part::Reasoning(kept) = &told.decoded.parts[0] else {
        panic!()
    };
    let raw = kept
        .state
        .as_ref()
        .unwrap()
        .for_provider("anthropic")
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(raw.get()).unwrap()["input"],
        json!({"query": "q"})
    );
}

// jeremychone/rust-genai#258, 0xPlaygrounds/rig#2279, pydantic/pydantic-ai#2770.
#[test]
fn usage_is_a_running_total_and_null_takes_nothing_back() {
    let usage = |first: Value, later: Value| {
        let delta =
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": later});
        let usage = whole(&[start(&first), delta, stop()]).decoded.usage;
        (
            usage.input_tokens,
            usage.cache_read_tokens,
            usage.output_tokens,
        )
    };
    assert_eq!(
        usage(
            json!({"input_tokens": 5}),
            json!({"cache_read_input_tokens": 900, "output_tokens": 7})
        ),
        (Some(905), Some(900), Some(7))
    );
    assert_eq!(
        usage(
            json!({"input_tokens": 0}),
            json!({"input_tokens": 40, "output_tokens": 3})
        ),
        (Some(40), None, Some(3))
    );
    assert_eq!(
        usage(
            json!({"input_tokens": 5, "output_tokens": 1}),
            json!({"input_tokens": null, "output_tokens": 3})
        ),
        (Some(5), None, Some(3))
    );
    assert_eq!(
        usage(json!({"input_tokens": 5}), json!(null)),
        (Some(5), None, None)
    );
    assert_eq!(usage(json!(null), json!({})), (None, None, None));
}

#[test]
fn the_end_is_message_stop_and_nothing_after_it_is_read() {
    let mut events = vec![
        open(0, &a_text()),
        text(0, "a"),
        close(0),
        end("end_turn"),
        stop(),
    ];
    events.push(text(0, "no"));
    assert_eq!(whole(&events).text(), "a");
    let told = told(&events[..4]);
    assert_eq!(told.kind(), ErrorKind::Truncated);
    assert_eq!(told.text(), "a");
    let text = sse(&events[..4]) + "data: [DONE]\n\n";
    assert_eq!(
        stream_text(&anthropic(), &text).kind(),
        ErrorKind::Truncated
    );
}

#[test]
fn the_last_event_may_lack_its_blank_line_if_it_is_whole() {
    let text = sse(&[open(0, &a_text()), text(0, "a"), end("end_turn"), stop()]);
    let told = stream_text(&anthropic(), text.trim_end());
    assert!(told.end.is_ok());
    let cut = text.trim_end().len() - 1;
    assert_eq!(
        stream_text(&anthropic(), &text[..cut]).kind(),
        ErrorKind::Truncated
    );
}

#[test]
fn errors_in_the_stream_are_told_by_their_own_word() {
    for (kind, expected, overloaded) in [
        ("overloaded_error", ErrorKind::Server, true),
        ("api_error", ErrorKind::Server, false),
        ("rate_limit_error", ErrorKind::RateLimit, false),
        ("authentication_error", ErrorKind::Auth, false),
        ("invalid_request_error", ErrorKind::BadRequest, false),
        ("brand_new_error", ErrorKind::Server, false),
    ] {
        let error = json!({"type": "error", "error": {"type": kind, "message": "m", "details": null},
                           "request_id": "req_1"});
        let told = told(&[error]);
        assert_eq!(
            (told.kind(), told.fault().is_overloaded()),
            (expected, overloaded),
            "{kind}"
        );
        assert_eq!(told.fault().code(), Some(kind));
        assert_eq!(told.fault().request_id(), Some("req_1"));
        assert!(told.events.is_empty());
    }
}

#[test]
fn an_error_after_content_keeps_what_was_told_and_what_it_cost() {
    let told = told(&[
        start(&json!({"input_tokens": 12, "output_tokens": 2})),
        open(0, &a_text()),
        text(0, "The kiln "),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ]);
    assert_eq!(told.text(), "The kiln ");
    assert_eq!(
        told.fault().usage().and_then(|usage| usage.input_tokens),
        Some(12)
    );
}

// openai/openai-python#2796, #649; vercel/ai#5217: other ways to write an error into a stream.
#[test]
fn errors_in_other_shapes_are_errors_too() {
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    for text in [
        format!("data: {overloaded}\n\n"),
        format!("event: error\ndata: {overloaded}\n\n"),
        format!("{overloaded}\n"),
        format!("[{overloaded}]\n"),
        format!("data: [{overloaded}]\n\n"),
        format!("error: {overloaded}\n\n"),
        "data: {\ndata:  \"error\": {\"type\": \"overloaded_error\"}\ndata: }\n\n".to_owned(),
        "{\n  \"error\": {\n    \"type\": \"overloaded_error\"\n  }\n}\n".to_owned(),
        "event: error\ndata: {\"type\":\"overloaded_error\",\"message\":\"m\"}\n\n".to_owned(),
    ] {
        let told = stream_text(&anthropic(), &text);
        assert!(
            told.end.as_ref().is_err_and(Fault::is_overloaded),
            "{text}: {:?}",
            told.end
        );
    }
    let told = stream_text(&anthropic(), "event: error\ndata: Too many things\n\n");
    assert_eq!(
        (told.kind(), told.fault().message()),
        (ErrorKind::Server, Some("Too many things"))
    );
}

#[test]
fn calls_without_a_reason_to_stop_want_to_be_run() {
    let call = concat!(
        r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
        "\n\n",
        r#"data: {"type":"content_block_stop","index":0}"#,
        "\n\n",
    );
    let end = "data: {\"type\":\"message_stop\"}\n\n";
    let told = stream_text(&anthropic(), &[call, end].concat());
    assert_eq!(told.decoded.stop_reason, StopReason::ToolUse);
    let said = r#"data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#;
    let told = stream_text(&anthropic(), &[call, said, "\n\n", end].concat());
    assert_eq!(told.decoded.stop_reason, StopReason::MaxTokens);
    let text = r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
    let told = stream_text(&anthropic(), &[text, "\n\n", end].concat());
    assert_eq!(told.decoded.stop_reason, StopReason::Other(String::new()));
}

#[test]
fn what_was_written_to_a_cache_is_summed_where_only_its_parts_are_told() {
    let usage = |usage: &str| {
        let text = format!(
            "data: {{\"type\":\"message_start\",\"message\":{{\"id\":\"m\",\"usage\":{usage}}}}}\n\n"
        );
        stream_text(&anthropic(), &text).decoded.usage
    };
    let parts =
        r#""cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}"#;
    let summed = usage(&format!(r#"{{"input_tokens":1,{parts}}}"#));
    assert_eq!(summed.cache_write_tokens, Some(30));
    assert_eq!(summed.input_tokens, Some(31));
    let told = usage(&format!(
        r#"{{"input_tokens":1,"cache_creation_input_tokens":5,{parts}}}"#
    ));
    assert_eq!(told.cache_write_tokens, Some(5));
    let none = usage(r#"{"input_tokens":1,"cache_creation":{}}"#);
    assert_eq!(none.cache_write_tokens, None);
}

#[test]
fn half_an_error_is_not_the_end_of_a_whole_answer() {
    let events = sse(&[open(0, &a_text()), text(0, "a"), end("end_turn")]);
    let told = stream_text(&anthropic(), &(events + "{\n \"error\": {\"type\":"));
    assert_eq!(told.kind(), ErrorKind::Truncated);
}

#[test]
fn strays_are_read_skipped_or_refused_by_what_they_are() {
    let whole = sse(&[open(0, &a_text()), text(0, "a"), end("end_turn"), stop()]);
    let told = stream_text(&anthropic(), &format!("{}\n{whole}", text(0, "z")));
    assert_eq!(told.text(), "za", "an event that lost its field name");
    let told = stream_text(&anthropic(), &format!("Please hold the line!\n\n{whole}"));
    assert!(told.end.is_ok());
    assert_eq!(told.decoded.warnings.len(), 1);
    let told = stream_text(&anthropic(), &format!("<html>502</html>\n\n{whole}"));
    assert_eq!(told.kind(), ErrorKind::Decode);
}

// openai/openai-python#663: two objects in one data field.
#[test]
fn undecodable_events_are_an_error_and_no_gap() {
    for text in [
        "data: {\"type\":\"ping\"}{\"type\":\"ping\"}\n\n",
        "data: not json\n\n",
        "data: 5\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0}\n\n",
        "data: {\"type\":\"content_block_start\",\"content_block\":7}\n\n",
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":5}}\n\n",
    ] {
        assert_eq!(
            stream_text(&anthropic(), text).kind(),
            ErrorKind::Decode,
            "{text}"
        );
    }
}

#[test]
fn an_end_without_anything_is_a_failure_and_an_empty_turn_is_not() {
    assert_eq!(told(&[start(&json!({})), stop()]).kind(), ErrorKind::Server);
    assert!(
        told(&[start(&json!({})), end("end_turn"), stop()])
            .end
            .is_ok()
    );
}

#[test]
fn a_refusal_without_text_fails_the_stream_before_any_content() {
    let refusal = json!({"type": "message_delta", "usage": {"output_tokens": 9}, "delta": {
        "stop_reason": "refusal", "stop_details": {"explanation": "No.", "category": "bio"},
    }});
    let silent = told(&[start(&json!({"input_tokens": 1})), refusal.clone(), stop()]);
    assert_eq!(
        (silent.kind(), silent.fault().message()),
        (ErrorKind::Refusal, Some("No."))
    );
    assert_eq!(
        silent.fault().usage().and_then(|usage| usage.output_tokens),
        Some(9)
    );
    assert!(silent.events.is_empty());
    let told = whole(&[
        open(0, &a_text()),
        text(0, "Well, "),
        close(0),
        refusal,
        stop(),
    ]);
    assert_eq!(told.decoded.stop_reason, StopReason::Refusal);
    assert_eq!(told.decoded.refusal.as_deref(), Some("No."));
}

/// The stream a server would send for a whole answer, its texts cut into pieces of `size` bytes.
fn streamed(answer: &Value, size: usize) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": {
        "id": answer["id"], "model": answer["model"], "content": [], "usage": {"input_tokens": 5, "output_tokens": 1},
    }})];
    for (index, block) in answer["content"].as_array().unwrap().iter().enumerate() {
        let mut empty = block.clone();
        let delta = |kind: &str, field: &str, text: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, field: text}});
        let mut deltas = Vec::new();
        match block["type"].as_str().unwrap() {
            "text" => {
                empty["text"] = json!("");
                let words = pieces(block["text"].as_str().unwrap(), size);
                deltas.extend(words.iter().map(|piece| delta("text_delta", "text", piece)));
            }
            "thinking" => {
                empty = json!({"type": "thinking", "thinking": "", "signature": ""});
                let words = pieces(block["thinking"].as_str().unwrap(), size);
                deltas.extend(
                    words
                        .iter()
                        .map(|piece| delta("thinking_delta", "thinking", piece)),
                );
                deltas.push(delta(
                    "signature_delta",
                    "signature",
                    block["signature"].as_str().unwrap(),
                ));
            }
            "tool_use" => {
                empty["input"] = json!({});
                let input = block["input"].to_string();
                deltas.extend(
                    pieces(&input, size)
                        .iter()
                        .map(|piece| delta("input_json_delta", "partial_json", piece)),
                );
            }
            _ => {}
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.extend(deltas);
        events.push(close(index));
    }
    events.push(
        json!({"type": "message_delta", "usage": answer["usage"], "delta": {
            "stop_reason": answer["stop_reason"],
        }}),
    );
    events.push(stop());
    events
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(size)
        .map(|chunk| chunk.iter().collect())
        .collect()
}

fn block() -> impl Strategy<Value = Value> {
    let words = "[a-z é🌊\"\\\\\n]{0,12}";
    prop_oneof![
        words.prop_map(|text| json!({"type": "text", "text": text})),
        (words, "[a-z]{0,4}").prop_map(|(thinking, signature)| {
            json!({"type": "thinking", "thinking": thinking, "signature": signature})
        }),
        "[a-z]{1,4}".prop_map(|data| json!({"type": "redacted_thinking", "data": data})),
        ("[ab]{0,2}", words).prop_map(
            |(id, arg)| json!({"type": "tool_use", "id": id, "name": "t", "input": {"x": arg}})
        ),
        Just(json!({"type": "tool_use", "id": "c", "name": "u", "input": {}})),
        Just(json!({"type": "brand_new", "x": [1]})),
    ]
}

proptest! {
    #[test]
    fn a_stream_gives_what_the_whole_answer_gives(
        content in prop::collection::vec(block(), 0..6),
        size in 1_usize..5,
        reason in prop::sample::select(vec!["end_turn", "tool_use", "max_tokens", "refusal"]),
    ) {
        let answer = json!({
            "id": "msg_1", "type": "message", "model": "claude-x", "content": content,
            "stop_reason": reason,
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 8},
        });
        let complete = harness::answer(&anthropic(), answer.to_string().as_bytes());
        let told = told(&streamed(&answer, size));
        match (complete, told.end) {
            (Ok(complete), Ok(())) => {
                prop_assert_eq!(&told.decoded, &complete);
                let mut sink = crate::Sink::new();
                sink.whole(complete.clone());
                prop_assert_eq!(sink.partial(), complete);
            }
            (Err(complete), Err(streamed)) => {
                prop_assert_eq!(format!("{complete:?}"), format!("{streamed:?}"));
            }
            (complete, streamed) => prop_assert!(false, "{complete:?} and {streamed:?}"),
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), status in 0_u16..1000) {
        feed(&bytes, status);
    }

    #[test]
    fn no_damaged_answer_panics(at in 0_usize..2_000, byte: u8, cut in 0_usize..2_000) {
        for name in ["19-anthropic-stream.sse", "20-anthropic-midstream-overloaded.sse",
                     "23-anthropic-429-rate.http"] {
            let mut bytes = harness::fixture(name);
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(bytes.len() - cut % bytes.len());
            feed(&bytes, 500);
        }
    }
}

/// Puts bytes through everything that reads any.
fn feed(bytes: &[u8], status: u16) {
    let dialect = anthropic();
    let headers = HeaderMap::new();
    let head = Head::new(status, &headers, harness::now());
    drop(dialect.decode(&head, bytes));
    drop(dialect.classify(&head, bytes));
    drop(dialect.decode_models(&head, bytes));
    drop(harness::stream(&dialect, [bytes]));
    let mut event = b"data: ".to_vec();
    event.extend_from_slice(bytes);
    event.extend_from_slice(b"\n\n");
    drop(harness::stream(&dialect, event.chunks(3)));
}

#[test]
fn deep_nesting_is_refused_and_no_crash() {
    let deep = "[".repeat(100_000);
    feed(deep.as_bytes(), 500);
    let block = format!(
        "{{\"type\":\"x\",\"y\":{}{}}}",
        "[".repeat(120),
        "]".repeat(120)
    );
    let body = format!("{{\"content\":[{block}],\"stop_reason\":\"end_turn\"}}");
    feed(body.as_bytes(), 200);
}

#[test]
fn hundreds_of_argument_pieces_make_one_call() {
    let mut events = vec![open(0, &a_tool("a"))];
    let input = json!({"text": "x".repeat(5_000)}).to_string();
    events.extend(pieces(&input, 10).iter().map(|piece| partial(0, piece)));
    events.extend([close(0), end("tool_use"), stop()]);
    assert_eq!(whole(&events).tools()[0].2, input);
}

#[test]
fn a_server_cannot_open_blocks_without_end() {
    let open: Vec<_> = (0..1_025)
        .map(|index| open(index, &a_tool(&index.to_string())))
        .collect();
    assert_eq!(told(&open).kind(), ErrorKind::Decode);
    assert_eq!(told(&open[..1_024]).kind(), ErrorKind::Truncated);
}
