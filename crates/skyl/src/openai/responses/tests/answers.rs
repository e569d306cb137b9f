use super::*;

#[test]
fn an_answer_comes_with_all_its_parts() {
    let got = decoded(&answer(&json!([
        reasoning("rs_1", &["Look at the table."], "c2VhbGVk"),
        message("msg_1", "Asking both."),
        call("fc_1", "call_1", r#"{"port":"Brest"}"#),
        call("fc_2", "call_2", "{}"),
    ])));
    assert_eq!(got.id.as_deref(), Some("resp_1"));
    assert_eq!(got.model.as_deref(), Some("gpt-x-2026"));
    assert_eq!(got.stop_reason, StopReason::ToolUse);
    let Part::Reasoning(thought) = &got.parts[0] else {
        panic!("{:?}", got.parts)
    };
    assert_eq!(thought.text, "Look at the table.");
    assert_eq!(got.parts[1], Part::text("Asking both."));
    // A result has to name the call's id, not the item's.
    assert_eq!(
        harness::tools(&got),
        [
            ("call_1", "tide", r#"{"port":"Brest"}"#),
            ("call_2", "tide", "{}")
        ]
    );
    let usage = Usage {
        input_tokens: Some(12),
        output_tokens: Some(9),
        cache_read_tokens: Some(4),
        cache_write_tokens: Some(3),
        reasoning_tokens: Some(5),
    };
    assert_eq!(got.usage, usage);
    assert_eq!((got.refusal, got.warnings), (None, vec![]));
}

#[test]
fn the_reason_is_told_by_the_status_and_the_items() {
    let text = json!([message("m", "a")]);
    let tools = json!([message("m", "a"), call("f", "c", "{}")]);
    let declined = json!([message("m", "a"), refusal("n", "no")]);
    let other = |word: &str| StopReason::Other(word.to_owned());
    for (status, why, output, expected) in [
        (json!("completed"), json!(null), &text, StopReason::EndTurn),
        (json!("completed"), json!(null), &tools, StopReason::ToolUse),
        (
            json!("completed"),
            json!(null),
            &declined,
            StopReason::Refusal,
        ),
        (
            json!("incomplete"),
            json!("max_output_tokens"),
            &text,
            StopReason::MaxTokens,
        ),
        (
            json!("incomplete"),
            json!("max_output_tokens"),
            &tools,
            StopReason::MaxTokens,
        ),
        (
            json!("incomplete"),
            json!("content_filter"),
            &text,
            StopReason::Refusal,
        ),
        (
            json!("incomplete"),
            json!("max_messages"),
            &text,
            other("max_messages"),
        ),
        (
            json!("incomplete"),
            json!("steered"),
            &tools,
            other("steered"),
        ),
        (json!("incomplete"), json!(null), &text, other("incomplete")),
        (json!("brand_new"), json!(null), &text, other("brand_new")),
        (json!(null), json!(null), &text, other("")),
        (json!(null), json!(null), &tools, StopReason::ToolUse),
    ] {
        let mut body = answer(output);
        body["status"] = status;
        body["incomplete_details"] = json!({"reason": why});
        assert_eq!(decoded(&body).stop_reason, expected, "{body}");
    }
}

// 0xPlaygrounds/rig#2332: a reply of nothing but reasoning, cut by the limit, became an error.
#[test]
fn a_limit_within_the_reasoning_is_an_answer_without_text() {
    let mut body = answer(&json!([reasoning("rs_1", &[], "")]));
    body["status"] = json!("incomplete");
    body["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let got = decoded(&body);
    assert_eq!(got.stop_reason, StopReason::MaxTokens);
    assert!(got.parts.iter().all(|part| part.as_text().is_none()));
    body["output"] = json!([]);
    assert_eq!(decoded(&body).stop_reason, StopReason::MaxTokens);
}

#[test]
fn a_refusal_keeps_its_words_apart() {
    let got = decoded(&answer(&json!([refusal("m", "I can't help with that.")])));
    assert_eq!(got.refusal.as_deref(), Some("I can't help with that."));
    assert_eq!(got.stop_reason, StopReason::Refusal);
    assert_eq!(got.parts, []);
}

#[test]
fn an_answer_goes_back_as_it_came() {
    let output = json!([
        reasoning("rs_1", &["One.", "Two."], "c2VhbGVk"),
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "deep": [1, {"x": null}]},
        {"type": "brand_new_call", "id": "x"},
        {"type": "function_call", "call_id": "call_1", "name": "tide", "arguments": "{\"port\": 1}"},
    ]);
    let got = decoded(&answer(&output));
    assert_eq!(
        warnings(&got),
        [
            "content: `web_search_call` is kept, but has no part of its own",
            "content: `brand_new_call` is kept, but has no part of its own"
        ]
    );
    let request = Request::new("m")
        .user("q")
        .message(Message::new(Role::Assistant, got.parts))
        .message(Message::tool_result("call_1", "x"));
    request.validate().unwrap();
    let encoded = responses().encode(&request, Mode::Complete).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    let items = body["input"].as_array().unwrap();
    assert_eq!(json!(items[1..5]), output);
    assert_eq!(encoded.warnings, []);
}

#[test]
fn paragraphs_of_a_summary_stay_paragraphs() {
    let output = [
        reasoning("rs_1", &["**One** a", "**Two** b"], "s"),
        reasoning("rs_2", &["c"], "t"),
        message("m", "d"),
    ];
    let expect = |parts: &[Part]| {
        let thoughts: Vec<_> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Reasoning(part) => Some(part.text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(thoughts, ["**One** a\n\n**Two** b", "c"]);
    };
    expect(&decoded(&answer(&json!(output))).parts);
    expect(&whole(&events(&output)).decoded.parts);
}

#[test]
fn open_reasoning_is_reasoning() {
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": [],
                      "content": [{"type": "reasoning_text", "text": "hm hm"}]});
    let output = [item, message("m", "a")];
    let got = decoded(&answer(&json!(output)));
    assert!(matches!(&got.parts[0], Part::Reasoning(part) if part.text == "hm hm"));
    assert_eq!(whole(&events(&output)).decoded, got);
}

#[test]
fn the_phase_of_a_text_is_kept_beside_it() {
    let mut commentary = message("m", "Looking.");
    commentary["phase"] = json!("commentary");
    let mut last = message("n", "Done.");
    last["phase"] = json!("final_answer");
    let output = [commentary, last];
    let got = decoded(&answer(&json!(output)));
    assert_eq!(got.parts.len(), 2);
    assert_eq!(state(&got.parts[0]), json!({"phase": "commentary"}));
    assert_eq!(state(&got.parts[1]), json!({"phase": "final_answer"}));
    assert_eq!(whole(&events(&output)).decoded, got);
}

#[test]
fn custom_calls_are_calls_with_a_warning_about_their_text() {
    let item = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1",
                      "name": "shell", "input": "ls -l"});
    let got = decoded(&answer(&json!([item])));
    assert_eq!(harness::tools(&got), [("call_1", "shell", "ls -l")]);
    assert_eq!(
        warnings(&got),
        ["tool_calls: the arguments of call 0 are not a JSON object"]
    );
}

#[test]
fn calls_are_told_apart_however_their_ids_are() {
    let nameless = json!({"type": "function_call", "call_id": "c", "arguments": "{}"});
    let no_id = json!({"type": "function_call", "name": "tide", "arguments": {"port": 1}});
    let got = decoded(&answer(&json!([
        call("f", "c", "{}"),
        call("g", "c", "{}"),
        no_id,
        nameless
    ])));
    let tools = harness::tools(&got);
    assert_eq!(tools.len(), 3);
    assert_eq!((tools[0].0, tools[2].2), ("c", "{\"port\":1}"));
    let mut ids: Vec<_> = tools.iter().map(|tool| tool.0).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!(
        warnings(&got),
        [
            "content: `function_call` has ids that repeat; they are made unique",
            "tool_calls: call 3 has no name and was left out"
        ]
    );
}

#[test]
fn sloppy_items_are_taken() {
    let got = decoded(&json!({"output": [
        {"content": "a"},
        {"type": "message", "content": ["b", {"text": "c"}, {"type": "new", "x": 1}]},
        {"type": "message", "content": null},
        {"type": "reasoning", "summary": null},
    ]}));
    let words: String = got.parts.iter().filter_map(Part::as_text).collect();
    assert_eq!(words, "abc");
    assert_eq!(
        warnings(&got),
        ["content: `new` is not known and is left out"]
    );
    assert_eq!((got.id, got.usage), (None, Usage::default()));
}

#[test]
fn annotations_are_left_out_with_a_warning() {
    let mut item = message("m", "a");
    item["content"][0]["annotations"] = json!([{"type": "url_citation", "url": "https://x.test"}]);
    let got = decoded(&answer(&json!([item])));
    assert_eq!(
        warnings(&got),
        ["content: `annotations` are not carried over; the raw answer has them"]
    );
    assert_eq!(decoded(&answer(&json!([message("m", "a")]))).warnings, []);
}

#[test]
fn what_is_no_answer_is_never_an_empty_success() {
    let mut nothing = answer(&json!([]));
    for body in [
        String::new(),
        "null".to_owned(),
        "{}".to_owned(),
        r#"{"id":"x","choices":null}"#.to_owned(),
        nothing.to_string(),
    ] {
        let fault = fault(&body);
        assert_eq!(fault.kind(), ErrorKind::Server, "{body}");
        assert!(fault.message().unwrap().starts_with("empty response"));
    }
    assert_eq!(
        fault(&nothing.to_string()).usage().unwrap().input_tokens,
        Some(12)
    );
    // A message without words is an answer, if a short one.
    nothing["output"] = json!([{"type": "message", "content": []}]);
    assert_eq!(decoded(&nothing).stop_reason, StopReason::EndTurn);
    for body in ["<html></html>", "[1]", "\"x\"", "{", "{}{}", "\u{fffd}"] {
        assert_eq!(fault(body).kind(), ErrorKind::Decode, "{body}");
    }
    for output in [json!([5]), json!([{"type": "message", "content": [7]}])] {
        let body = answer(&output).to_string();
        assert_eq!(fault(&body).kind(), ErrorKind::Decode, "{body}");
    }
}
