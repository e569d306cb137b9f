use http::HeaderMap;

use super::*;
use crate::dialect::harness::now;
use crate::sink::Sink;
use crate::{Flow, Frame, Head};

/// An answer of every kind of item.
fn full() -> [Value; 5] {
    [
        reasoning("rs_1", &["Look at the table."], "c2VhbGVk"),
        message("msg_1", "Asking  both,\nnaïve 🌊."),
        call("fc_1", "call_1", r#"{"port":"Brest"}"#),
        call("fc_2", "call_2", "{}"),
        json!({"type": "brand_new_call", "id": "x", "status": "in_progress"}),
    ]
}

#[test]
fn a_stream_gives_what_the_whole_answer_gives() {
    for output in [
        full().to_vec(),
        vec![message("m", "a b c")],
        vec![refusal("m", "I can't help.")],
        vec![reasoning("rs", &["a", "b"], ""), reasoning("rt", &[], "s")],
        vec![],
    ] {
        let body = answer(&json!(output));
        let told = told(&events(&output));
        match harness::answer(&responses(), body.to_string().as_bytes()) {
            Ok(expected) => {
                told.end.as_ref().expect("a whole answer");
                assert_eq!(told.decoded, expected);
            }
            Err(fault) => assert_eq!(told.kind(), fault.kind()),
        }
    }
}

#[test]
fn pieces_are_handed_out_as_they_come() {
    let told = whole(&events(&full()[1..3]));
    let words = |event: &StreamEvent| match event {
        StreamEvent::Text(text) => format!("text {text}"),
        StreamEvent::ToolCallStart { index, id, name } => format!("start {index} {id} {name}"),
        StreamEvent::ToolCallArguments { index, fragment } => format!("more {index} {fragment}"),
        StreamEvent::ToolCall(call) => format!("call {}", call.arguments),
        other => format!("{other:?}"),
    };
    let events: Vec<_> = told.events.iter().map(words).collect();
    assert_eq!(
        events,
        [
            "text Asking ",
            "text  ",
            "text both,\nnaïve ",
            "text 🌊.",
            "start 0 call_1 tide",
            "more 0 {\"port\":",
            "more 0 \"Brest\"}",
            "call {\"port\":\"Brest\"}",
        ]
    );
}

#[test]
fn what_says_nothing_yet_is_no_content() {
    let headers = HeaderMap::new();
    let mut decoder = responses().stream_decoder(&Head::new(200, &headers, now()));
    let mut sink = Sink::new();
    let mut empty = message("m", "");
    empty["content"] = json!([]);
    for event in [
        created(),
        json!({"type": "response.in_progress", "response": {"id": "resp_1"}}),
        json!({"type": "response.queued"}),
        added(0, &reasoning("rs", &[], "half")),
        done(0, &reasoning("rs", &[], "sealed")),
        added(1, &empty),
        json!({"type": "response.content_part.added", "output_index": 1, "item_id": "m",
               "content_index": 0, "part": {"type": "output_text", "text": ""}}),
        text(1, "m", ""),
        json!({"type": "response.web_search_call.searching", "item_id": "x", "output_index": 2}),
    ] {
        let data = event.to_string();
        let frame = Frame::Event {
            name: event["type"].as_str().unwrap(),
            data: &data,
            terminated: true,
        };
        assert_eq!(
            decoder.frame(frame, &mut sink).unwrap(),
            Flow::More,
            "{data}"
        );
        assert!(!sink.has_content(), "{data}");
    }
}

// 64bit/async-openai#522, tjardoo/openai-client PR#170, dcdpr/jp PR#566.
#[test]
fn keepalives_are_a_sign_of_life_and_nothing_else() {
    let headers = HeaderMap::new();
    let mut decoder = responses().stream_decoder(&Head::new(200, &headers, now()));
    let mut sink = Sink::new();
    for (name, data) in [
        ("keepalive", r#"{"type":"keepalive","sequence_number":3}"#),
        ("ping", "{}"),
        ("message", r#"{"type":"ping"}"#),
        ("message", ""),
    ] {
        let frame = Frame::Event {
            name,
            data,
            terminated: true,
        };
        assert_eq!(decoder.frame(frame, &mut sink).unwrap(), Flow::Life);
    }
    let mut events = events(&[message("m", "a b")]);
    events.insert(3, json!({"type": "keepalive", "sequence_number": 3}));
    assert_eq!(whole(&events).text(), "a b");
}

// 64bit/async-openai#548, 0xPlaygrounds/rig PR#1549, cloudwego/eino-ext PR#875.
#[test]
fn unknown_items_and_events_cost_neither_text_nor_usage() {
    let unknown = json!({"type": "brand_new_call", "id": "x", "status": "in_progress"});
    let searching = json!({"type": "web_search_call", "id": "ws", "status": "in_progress"});
    let mut events = events(&[message("m", "a"), unknown.clone(), searching.clone()]);
    events.insert(
        2,
        json!({"type": "response.brand_new.delta", "delta": {"x": 1}, "item": 5}),
    );
    events.insert(2, json!({"type": "response.audio.delta", "delta": "AAAA"}));
    let told = whole(&events);
    assert_eq!(told.text(), "a");
    assert_eq!(told.decoded.usage.input_tokens, Some(12));
    assert_eq!(state(&told.decoded.parts[1]), unknown);
    assert_eq!(state(&told.decoded.parts[2]), searching);
    assert_eq!(told.decoded.warnings.len(), 2);
}

// jeremychone/rust-genai#236: proxies leave the output of the last event out.
#[test]
fn the_last_event_may_repeat_everything_or_nothing() {
    let output = full();
    let expected = whole(&events(&output)).decoded;
    for last in [
        json!([]),
        json!(null),
        json!([output[4]]),
        json!(output[1..]),
    ] {
        let mut events = events(&output);
        events.last_mut().unwrap()["response"]["output"] = last.clone();
        assert_eq!(whole(&events).decoded, expected, "{last}");
    }
    let alone = whole(&[completed(&json!(output))]);
    assert_eq!(alone.decoded, expected);
}

#[test]
fn what_the_pieces_lack_comes_with_the_whole() {
    let output = full();
    let expected = whole(&events(&output)).decoded;
    let is = |event: &Value, word: &str| event["type"].as_str().unwrap().contains(word);
    for lost in [
        "delta",
        "added",
        "done",
        "output_item",
        "output_text",
        "arguments",
        "summary",
    ] {
        let mut events = events(&output);
        events.retain(|event| !is(event, lost));
        let told = whole(&events);
        assert_eq!(told.decoded, expected, "without {lost}");
    }
    // Half of the pieces.
    let mut events = events(&output);
    let mut n = 0;
    events.retain(|event| {
        n += 1;
        !is(event, "output_text.delta") || n % 2 == 0
    });
    let text = whole(&events).text();
    assert_eq!(
        text.len(),
        expected.parts[1].as_text().unwrap().len(),
        "{text}"
    );
}

#[test]
fn an_item_that_only_began_is_taken_as_it_began() {
    let mut last = completed(&json!(null));
    last["response"]["output"] = json!(null);
    let told = whole(&[
        added(0, &reasoning("rs", &["hm"], "half")),
        added(1, &message("m", "a")),
        added(2, &call("f", "c", r#"{"port":1}"#)),
        last,
    ]);
    assert_eq!(told.text(), "a");
    assert_eq!(told.tools(), [("c", "tide", r#"{"port":1}"#)]);
    // The state of an item that never ended may be half of one.
    assert_eq!(state(&told.decoded.parts[0]), json!({"type": "reasoning"}));
}

#[test]
fn the_state_that_counts_is_the_finished_items() {
    let item = reasoning("rs", &["hm"], "sealed");
    let told = whole(&events(std::slice::from_ref(&item)));
    assert_eq!(state(&told.decoded.parts[0]), item);
}

// anthropics/anthropic-sdk-go#350 in another dialect: pieces go by index, not to the last item.
#[test]
fn interleaved_items_are_told_apart() {
    let (first, second) = (
        call("f", "a", r#"{"port":"Brest"}"#),
        call("g", "b", r#"{"port":"Vigo"}"#),
    );
    let said = message("m", "one two");
    let pieces = |place: [usize; 3], ids: [&str; 3]| {
        let [x, y, z] = place;
        let event = |mut event: Value, keep: usize| {
            if keep == usize::MAX {
                event.as_object_mut().unwrap().remove("output_index");
            }
            event
        };
        vec![
            event(added(x, &call(ids[0], "a", "")), x),
            event(added(y, &call(ids[1], "b", "")), y),
            event(
                added(z, &json!({"type": "message", "id": ids[2], "content": []})),
                z,
            ),
            event(arguments(x, ids[0], "{\"port\":"), x),
            event(arguments(y, ids[1], "{\"port\":"), y),
            event(text(z, ids[2], "one "), z),
            event(arguments(x, ids[0], "\"Brest\"}"), x),
            event(text(z, ids[2], "two"), z),
            event(arguments(y, ids[1], "\"Vigo\"}"), y),
            event(done(y, &second), y),
            event(done(x, &first), x),
            event(done(z, &said), z),
            completed(&json!([first, second, said])),
        ]
    };
    let gone = usize::MAX;
    for events in [
        pieces([0, 1, 2], ["f", "g", "m"]),
        // All places zero, or none at all: the ids tell.
        pieces([0, 0, 0], ["f", "g", "m"]),
        pieces([gone, gone, gone], ["f", "g", "m"]),
        // No ids, or one for all: the places tell.
        pieces([0, 1, 2], ["", "", ""]),
    ] {
        let told = whole(&events);
        assert_eq!(told.text(), "one two");
        assert_eq!(
            told.tools(),
            [
                ("a", "tide", r#"{"port":"Brest"}"#),
                ("b", "tide", r#"{"port":"Vigo"}"#)
            ]
        );
        assert_eq!(told.decoded.parts.len(), 3);
    }
}

#[test]
fn ids_that_change_with_every_event_confuse_nobody() {
    let output = full();
    let mut events = events(&output);
    for (n, event) in events.iter_mut().enumerate() {
        for pointer in ["/item/id", "/item_id"] {
            if let Some(id) = event.pointer_mut(pointer) {
                *id = json!(format!("changed_{n}"));
            }
        }
    }
    let told = whole(&events);
    assert_eq!(
        told.text(),
        output[1]["content"][0]["text"].as_str().unwrap()
    );
    assert_eq!(told.tools().len(), 2);
    assert_eq!(told.decoded.parts.len(), output.len());
}

#[test]
fn texts_that_interleave_come_in_the_order_of_their_items() {
    let (m, n) = (message("m", "one two"), message("n", "three four"));
    let thought = reasoning("rs", &["hm"], "s");
    let begun = |id: &str| json!({"type": "message", "id": id, "content": []});
    let told = whole(&[
        added(0, &begun("m")),
        added(1, &json!({"type": "reasoning", "id": "rs"})),
        added(2, &begun("n")),
        text(2, "n", "three "),
        text(0, "m", "one "),
        delta("reasoning_summary_text", 1, "rs", "hm"),
        text(0, "m", "two"),
        done(2, &n),
        done(1, &thought),
        done(0, &m),
        completed(&json!([m, thought, n])),
    ]);
    assert_eq!(told.text(), "one twothree four");
    assert_eq!(told.decoded, decoded(&answer(&json!([m, thought, n]))));
}

#[test]
fn parts_of_a_message_go_by_their_number() {
    let piece = |part: usize, words: &str| {
        let mut event = text(0, "m", words);
        event["content_index"] = json!(part);
        event
    };
    let item = json!({"type": "message", "id": "m", "content": [
        {"type": "output_text", "text": "one two"}, {"type": "output_text", "text": "three"}]});
    let told = whole(&[
        added(0, &json!({"type": "message", "id": "m", "content": []})),
        piece(0, "one "),
        piece(1, "three"),
        piece(0, "two"),
        done(0, &item),
        completed(&json!([item])),
    ]);
    assert_eq!(told.text(), "one twothree");
    // Without numbers they come in order, and are not repeated by the whole.
    let mut unnumbered = vec![text(0, "m", "one two"), text(0, "m", "three")];
    for event in &mut unnumbered {
        event.as_object_mut().unwrap().remove("content_index");
    }
    unnumbered.extend([done(0, &item), completed(&json!([item]))]);
    assert_eq!(whole(&unnumbered).text(), "one twothree");
}

#[test]
fn a_finished_part_does_not_hold_up_the_next() {
    let mut second = text(0, "m", "two");
    second["content_index"] = json!(1);
    let told = told(&[
        text(0, "m", "one "),
        json!({"type": "response.output_text.done", "output_index": 0, "item_id": "m",
               "content_index": 0, "text": "one "}),
        second,
    ]);
    assert_eq!(
        (told.text().as_str(), told.kind()),
        ("one two", ErrorKind::Truncated)
    );
}

#[test]
fn pieces_of_an_item_that_is_done_say_nothing_new() {
    let item = message("m", "a");
    let told = whole(&[
        text(0, "m", "a"),
        done(0, &item),
        done(0, &item),
        text(0, "m", "a"),
        completed(&json!([item])),
    ]);
    assert_eq!(told.text(), "a");
}

#[test]
fn a_call_waits_for_its_name() {
    let told = whole(&[
        arguments(0, "f", "{\"port\":"),
        arguments(0, "f", "1}"),
        text(1, "m", "a"),
        done(0, &call("f", "c", "{\"port\":1}")),
        done(1, &message("m", "a")),
        completed(&json!([])),
    ]);
    assert_eq!(told.tools(), [("c", "tide", "{\"port\":1}")]);
    assert_eq!(told.text(), "a");
    let nameless = whole(&[
        arguments(0, "f", "{}"),
        text(1, "m", "a"),
        completed(&json!([])),
    ]);
    assert_eq!(nameless.tools(), []);
    assert_eq!(
        warnings(&nameless.decoded),
        ["tool_calls: call 0 has no name and was left out"]
    );
}

// jeremychone/rust-genai#264, anthropics/anthropic-sdk-typescript#996.
#[test]
fn arguments_that_are_no_json_are_handed_out_with_a_warning() {
    for text in ["{\"port\": Brest}", "{\"p\":\"C:\\x\"}", "[]", "{}{}"] {
        let output = [
            call("f", "a", text),
            call("g", "b", "{}"),
            message("m", "x"),
        ];
        let told = whole(&events(&output));
        assert_eq!(told.tools()[0].2, text);
        assert_eq!(told.tools()[1].2, "{}");
        assert_eq!(told.text(), "x");
        assert_eq!(
            warnings(&told.decoded),
            ["tool_calls: the arguments of call 0 are not a JSON object"]
        );
        assert_eq!(told.decoded, decoded(&answer(&json!(output))));
    }
}

#[test]
fn fragments_that_differ_from_the_whole_are_kept_with_a_warning() {
    let told = whole(&[
        added(0, &call("f", "c", "")),
        arguments(0, "f", "{\"a\":1}"),
        done(0, &call("f", "c", "{\"b\":2}")),
        completed(&json!([])),
    ]);
    assert_eq!(told.tools(), [("c", "tide", "{\"a\":1}")]);
    assert_eq!(
        warnings(&told.decoded),
        ["content: `function_call` has arguments that differ from their fragments, which are kept"]
    );
}

// 0xPlaygrounds/rig#2359: arguments cut by the limit lost the whole answer.
#[test]
fn a_limit_in_mid_call_keeps_text_usage_and_reason() {
    let mut cut = call("f", "c", "{\"port\":\"Br");
    cut["status"] = json!("incomplete");
    let mut events = events(&[message("m", "a"), cut]);
    let last = events.last_mut().unwrap();
    last["type"] = json!("response.incomplete");
    last["response"]["status"] = json!("incomplete");
    last["response"]["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let told = whole(&events);
    assert_eq!(told.text(), "a");
    assert_eq!(told.decoded.stop_reason, StopReason::MaxTokens);
    assert_eq!(told.decoded.usage.output_tokens, Some(9));
    assert_eq!(told.tools()[0].2, "{\"port\":\"Br");
}

#[test]
fn a_custom_tools_input_streams_as_arguments() {
    let item = json!({"type": "custom_tool_call", "id": "ctc", "call_id": "c", "name": "shell",
                      "input": "ls -l"});
    let mut begun = item.clone();
    begun["input"] = json!("");
    let told = whole(&[
        added(0, &begun),
        delta("custom_tool_call_input", 0, "ctc", "ls "),
        delta("custom_tool_call_input", 0, "ctc", "-l"),
        json!({"type": "response.custom_tool_call_input.done", "item_id": "ctc",
               "output_index": 0, "input": "ls -l"}),
        done(0, &item),
        completed(&json!([item])),
    ]);
    assert_eq!(told.tools(), [("c", "shell", "ls -l")]);
}

// vercel/ai#19165: a stream that was cut ended like a whole one.
#[test]
fn a_stream_without_a_terminal_event_is_truncated() {
    let all = events(&full());
    for n in 0..all.len() {
        let told = told(&all[..n]);
        assert_eq!(told.kind(), ErrorKind::Truncated, "{n}");
    }
    // Another protocol's mark proves nothing, and harms nothing.
    let text = sse(&all[..all.len() - 1]) + "data: [DONE]\n\n";
    assert_eq!(
        stream_text(&responses(), &text).kind(),
        ErrorKind::Truncated
    );
    let text = sse(&all) + "data: [DONE]\n\n";
    assert!(stream_text(&responses(), &text).end.is_ok());
}

// 64bit/async-openai#110: the stream went on waiting after its last event.
#[test]
fn nothing_is_read_after_the_last_event() {
    let mut all = events(&[message("m", "a")]);
    all.push(text(0, "m", "no"));
    all.push(json!({"type": "error", "message": "late"}));
    assert_eq!(whole(&all).text(), "a");
}

#[test]
fn the_terminal_events_name_counts_where_the_answer_has_no_status() {
    for (name, expected) in [
        ("completed", StopReason::EndTurn),
        ("done", StopReason::Other(String::new())),
        ("incomplete", StopReason::Other("incomplete".into())),
    ] {
        let last = json!({"type": format!("response.{name}")});
        let told = whole(&[text(0, "m", "a"), last]);
        assert_eq!(told.decoded.stop_reason, expected, "{name}");
    }
    let stale = json!({"type": "response.completed", "response": {"status": "in_progress"}});
    assert_eq!(
        whole(&[text(0, "m", "a"), stale]).decoded.stop_reason,
        StopReason::EndTurn
    );
}

#[test]
fn an_empty_stream_is_no_answer() {
    let told = told(&[created(), completed(&json!([]))]);
    assert_eq!(told.kind(), ErrorKind::Server);
    assert!(
        told.fault()
            .message()
            .unwrap()
            .starts_with("empty response")
    );
}

#[test]
fn names_may_be_missing_from_the_frames_or_from_the_events() {
    let all = events(&full());
    let expected = whole(&all).decoded;
    let bare: String = all.iter().fold(String::new(), |mut text, event| {
        writeln!(text, "data:{event}\n").unwrap();
        text
    });
    assert_eq!(stream_text(&responses(), &bare).decoded, expected);
    let named = all.iter().fold(String::new(), |mut text, event| {
        let mut event = event.clone();
        let name = event.as_object_mut().unwrap().remove("type").unwrap();
        writeln!(text, "event: {}\ndata: {event}\n", name.as_str().unwrap()).unwrap();
        text
    });
    assert_eq!(stream_text(&responses(), &named).decoded, expected);
    let stray: String = all.iter().fold(String::new(), |mut text, event| {
        writeln!(text, "{event}\n").unwrap();
        text
    });
    assert_eq!(stream_text(&responses(), &stray).decoded, expected);
}

#[test]
fn events_that_cannot_be_read_are_no_gap() {
    for broken in [
        "data: {\"type\":\"response.output_text.delta\",\"delta\":5}\n\n",
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}{}\n\n",
        "data: {\"type\":\n\n",
        "data: nonsense\n\n",
        "data: 5\n\n",
        "data: {\"type\":\"response.output_item.added\"}\n\n",
        "data: {\"type\":\"response.output_item.added\",\"item\":5}\n\n",
        "<html>\n",
    ] {
        let text = format!("{}{broken}{}", sse(&[created()]), sse(&events(&full())));
        let told = stream_text(&responses(), &text);
        assert_eq!(told.kind(), ErrorKind::Decode, "{broken}");
    }
}

#[test]
fn half_an_error_between_the_events_is_no_end() {
    let text = format!("{{\"error\":\n{}", sse(&events(&full())));
    assert_eq!(
        stream_text(&responses(), &text).kind(),
        ErrorKind::Truncated
    );
}

#[test]
fn words_between_the_events_are_left_out_with_a_warning() {
    let headers = HeaderMap::new();
    let mut decoder = responses().stream_decoder(&Head::new(200, &headers, now()));
    let mut sink = Sink::new();
    for _ in 0..2 {
        let flow = decoder.frame(Frame::Stray(b"hello"), &mut sink).unwrap();
        assert_eq!(flow, Flow::More);
    }
    let last = completed(&json!([message("m", "a")])).to_string();
    let frame = Frame::Stray(last.as_bytes());
    assert_eq!(decoder.frame(frame, &mut sink).unwrap(), Flow::Done);
    assert!(decoder.is_whole());
    assert_eq!(
        warnings(&sink.partial()),
        ["content: `stream` held bytes that belong to no event"]
    );
}

#[test]
fn items_without_end_are_refused() {
    let all: Vec<_> = (0..5_000)
        .map(|n| added(n, &call(&format!("f{n}"), &format!("c{n}"), "")))
        .collect();
    assert_eq!(told(&all).kind(), ErrorKind::Decode);
    assert_eq!(told(&all[..4_096]).kind(), ErrorKind::Truncated);
}

#[test]
fn a_failed_stream_tells_what_it_cost() {
    let mut failed = completed(&json!([message("m", "a")]));
    failed["type"] = json!("response.failed");
    failed["response"]["error"] = json!({"code": "server_error", "message": "m"});
    let told = told(&[created(), text(0, "m", "a"), failed]);
    assert_eq!(told.fault().usage().unwrap().output_tokens, Some(9));
    assert_eq!(told.text(), "a");
}
