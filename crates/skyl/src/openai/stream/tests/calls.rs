use super::*;

// ollama/ollama#15457, BerriAI/litellm#21331
#[test]
fn whole_calls_that_all_have_index_zero_stay_apart() {
    let told = pieces(&[piece(0, "c1", "tide", BREST), piece(0, "c2", "moon", "{}")]);
    assert_eq!(told.tools(), [("c1", "tide", BREST), ("c2", "moon", "{}")]);
}

#[test]
fn whole_calls_of_one_tool_at_one_index_stay_apart_even_without_ids() {
    for id in ["", "null"] {
        let told = pieces(&[
            piece(0, id, "tide", BREST),
            piece(0, id, "tide", "{\"port\":1}"),
        ]);
        let arguments: Vec<_> = told.tools().iter().map(|tool| tool.2.to_owned()).collect();
        assert_eq!(arguments, [BREST, "{\"port\":1}"]);
        assert_ne!(
            told.tools()[0].0,
            told.tools()[1].0,
            "each has an id of its own"
        );
    }
}

// jeremychone/rust-genai#199
#[test]
fn calls_without_index_in_one_chunk_with_the_finish_stay_apart() {
    let chunk = json!({"choices": [{"delta": {"tool_calls": [
        {"id": "c1", "function": {"name": "tide", "arguments": BREST}},
        {"function": {"name": "moon", "arguments": null}},
        {"function": {"name": "moon", "arguments": null}},
    ]}, "finish_reason": "tool_calls"}]});
    let told = told(&frames(&[chunk]));
    let tools: Vec<_> = told.tools().iter().map(|tool| (tool.1, tool.2)).collect();
    assert_eq!(tools, [("tide", BREST), ("moon", "{}"), ("moon", "{}")]);
}

#[test]
fn fragments_without_index_go_to_the_last_call() {
    let told = pieces(&[
        json!({"id": "c1", "function": {"name": "tide", "arguments": "{\"port\":"}}),
        json!({"function": {"arguments": "\"Brest\"}"}}),
        json!({"id": "c2", "function": {"name": "moon"}}),
        json!({"function": {"arguments": "{}"}}),
    ]);
    assert_eq!(told.tools(), [("c1", "tide", BREST), ("c2", "moon", "{}")]);
}

// langchain4j/langchain4j#2385, anthropics/anthropic-sdk-go#350
#[test]
fn interleaved_fragments_go_by_their_index() {
    let told = pieces(&[
        piece(0, "c1", "tide", ""),
        piece(1, "c2", "moon", ""),
        fragment(0, "{\"port\":"),
        fragment(1, "{"),
        fragment(0, "\"Brest\"}"),
        fragment(1, "}"),
    ]);
    assert_eq!(told.tools(), [("c1", "tide", BREST), ("c2", "moon", "{}")]);
}

#[test]
fn interleaved_fragments_under_one_index_go_by_their_id() {
    let more = |id: &str, arguments: &str| json!({"index": 0, "id": id, "function": {"arguments": arguments}});
    let told = pieces(&[
        piece(0, "c1", "tide", ""),
        piece(0, "c2", "moon", ""),
        more("c1", "{\"port\":"),
        more("c2", "{"),
        more("c1", "\"Brest\"}"),
        more("c2", "}"),
    ]);
    assert_eq!(told.tools(), [("c1", "tide", BREST), ("c2", "moon", "{}")]);
}

#[test]
fn one_call_that_stands_where_a_list_belongs_is_a_call() {
    let call = json!({"id": "c1", "function": {"name": "tide", "arguments": BREST}});
    let told = told(&frames(&[
        delta(&json!({"tool_calls": call})),
        finish("tool_calls"),
    ]));
    assert_eq!(told.tools(), [("c1", "tide", BREST)]);
}

// langchain-ai/langchainjs#11373
#[test]
fn a_later_id_of_null_or_nothing_does_not_replace_the_real_one() {
    let told = pieces(&[
        piece(0, "c1", "tide", "{\"port\":"),
        json!({"index": 0, "id": "null", "function": {"arguments": "\"Br"}}),
        json!({"index": 0, "id": "", "function": {"arguments": "est\"}"}}),
    ]);
    assert_eq!(told.tools(), [("c1", "tide", BREST)]);
}

#[test]
fn an_id_that_changes_with_every_piece_makes_no_new_calls() {
    let told = pieces(&[
        piece(0, "r1", "tide", ""),
        json!({"index": 0, "id": "r2", "function": {"arguments": "{\"port\":"}}),
        json!({"index": 0, "id": "r3", "function": {"name": null, "arguments": "\"Brest\"}"}}),
    ]);
    assert_eq!(told.tools(), [("r1", "tide", BREST)]);
}

#[test]
fn a_name_repeated_with_every_piece_makes_no_new_calls() {
    let told = pieces(&[
        piece(0, "c1", "tide", "{\"port\":"),
        piece(0, "c1", "tide", "\"Brest\"}"),
        piece(0, "", "tide", ""),
    ]);
    assert_eq!(told.tools(), [("c1", "tide", BREST)]);
}

#[test]
fn an_id_that_changes_within_the_arguments_makes_no_new_call_though_the_name_is_repeated() {
    let told = pieces(&[
        piece(0, "r1", "tide", "{\"port\":"),
        piece(0, "r2", "tide", "\"Brest\"}"),
        piece(0, "r3", "tide", "{\"port\":1}"),
    ]);
    let tools = [("r1", "tide", BREST), ("r3", "tide", "{\"port\":1}")];
    assert_eq!(told.tools(), tools);
    let other = pieces(&[
        piece(0, "r1", "tide", "{\"port\":"),
        piece(0, "r2", "tide", "{"),
        piece(0, "r2", "tide", "}"),
    ]);
    assert_eq!(other.tools()[1], ("r2", "tide", "{}"), "a call of its own");
}

// open-webui/open-webui#22177, lidge-jun/opencodex#361
#[test]
fn a_call_that_is_told_twice_is_run_once() {
    for again in [
        piece(0, "c1", "tide", BREST),
        json!({"index": 0, "function": {"name": "tide", "arguments": BREST}}),
        fragment(0, BREST),
    ] {
        let told = pieces(&[
            piece(0, "c1", "tide", ""),
            fragment(0, "{\"port\":"),
            fragment(0, "\"Brest\"}"),
            again,
        ]);
        assert_eq!(told.tools(), [("c1", "tide", BREST)]);
        assert_eq!(told.decoded.warnings.len(), 1);
    }
    for another in [
        piece(0, "c2", "tide", BREST),
        piece(1, "c1", "tide", BREST),
        piece(0, "c1", "tide", "{\"port\":1}"),
    ] {
        let told = pieces(&[piece(0, "c1", "tide", BREST), another]);
        assert_eq!(told.tools().len(), 2);
    }
    let nameless = pieces(&[piece(0, "", "tide", BREST), piece(0, "", "tide", BREST)]);
    assert_eq!(nameless.tools().len(), 2, "nobody says that it is the same");
}

#[test]
fn an_empty_object_ahead_of_the_arguments_is_no_part_of_them() {
    for blank in [json!("{}"), json!({}), json!(" {} ")] {
        let first =
            json!({"index": 0, "id": "c1", "function": {"name": "tide", "arguments": blank}});
        let told = pieces(&[
            first.clone(),
            fragment(0, ""),
            fragment(0, "{\"port\":"),
            fragment(0, "\"Brest\"}"),
        ]);
        assert_eq!(told.tools(), [("c1", "tide", BREST)]);
        let alone = pieces(&[first.clone(), fragment(0, "")]);
        assert_eq!(alone.tools(), [("c1", "tide", "{}")]);
        assert!(alone.decoded.warnings.is_empty());
        let two = pieces(&[first, piece(0, "", "tide", BREST)]);
        assert_eq!(two.tools()[0], ("c1", "tide", "{}"));
        assert_eq!(two.tools()[1].2, BREST);
    }
    let told = pieces(&[piece(0, "c1", "tide", "{"), fragment(0, "}")]);
    assert_eq!(told.tools(), [("c1", "tide", "{}")]);
}

// vercel/ai#4936
#[test]
fn repeated_ids_are_made_unique_with_a_warning() {
    let told = pieces(&[piece(0, "x", "tide", BREST), piece(1, "x", "tide", "{}")]);
    let tools = told.tools();
    assert_eq!(tools.len(), 2);
    assert_eq!((tools[0].0, tools[0].2), ("x", BREST));
    assert_ne!(tools[1].0, "x");
    assert_eq!(told.decoded.warnings.len(), 1);
    assert_eq!(told.decoded.warnings[0].field, "tool_calls");
}

// 0xPlaygrounds/rig#1814, #1786
#[test]
fn a_function_of_null_and_arguments_of_null_are_taken() {
    let told = pieces(&[
        json!({"index": 0, "id": "c", "function": null}),
        json!({"index": 0, "function": {"name": "moon", "arguments": null}}),
    ]);
    assert_eq!(told.tools(), [("c", "moon", "{}")]);
}

#[test]
fn arguments_as_an_object_are_taken_as_its_text() {
    let told = pieces(&[
        json!({"index": 0, "id": "c", "function": {"name": "tide", "arguments": {"port": "Brest"}}}),
    ]);
    assert_eq!(told.tools(), [("c", "tide", BREST)]);
}

#[test]
fn an_id_that_is_a_number_is_taken_as_its_text() {
    let told =
        pieces(&[json!({"index": 0, "id": 17, "function": {"name": "moon", "arguments": "{}"}})]);
    assert_eq!(told.tools(), [("17", "moon", "{}")]);
}

#[test]
fn missing_ids_are_made_here() {
    let told = pieces(&[json!({"index": 0, "function": {"name": "moon", "arguments": "{}"}})]);
    let (id, name, _) = told.tools()[0];
    assert_eq!(name, "moon");
    assert!(id.starts_with("call_") && id.len() <= 40, "{id}");
    assert!(told.decoded.warnings.is_empty());
}

#[test]
fn an_id_that_comes_after_the_name_is_still_taken() {
    let told = pieces(&[
        json!({"index": 0, "function": {"name": "moon"}}),
        json!({"index": 0, "id": "c1", "function": {"arguments": "{}"}}),
    ]);
    assert_eq!(told.tools(), [("c1", "moon", "{}")]);
}

// jeremychone/rust-genai#264
#[test]
fn broken_arguments_stay_as_they_are_and_concern_their_call_alone() {
    let broken = "{\"port\": Brest}";
    let told = pieces(&[piece(0, "c1", "tide", broken), piece(1, "c2", "moon", "{}")]);
    assert_eq!(told.tools(), [("c1", "tide", broken), ("c2", "moon", "{}")]);
    assert_eq!(told.decoded.warnings.len(), 1);
    assert!(told.events.iter().any(
        |event| matches!(event, StreamEvent::ToolCall(call) if !call.is_whole() && call.id == "c1")
    ));
}

// 0xPlaygrounds/rig#2359
#[test]
fn arguments_cut_by_the_token_limit_lose_neither_text_nor_usage() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 9}});
    let told = told(&frames(&[
        said("Let me see."),
        delta(&json!({"tool_calls": [piece(0, "c", "tide", "{\"port\":\"Br")]})),
        finish("length"),
        usage,
    ]));
    assert!(told.end.is_ok());
    assert_eq!(told.text(), "Let me see.");
    assert_eq!(told.decoded.stop_reason, StopReason::MaxTokens);
    assert_eq!(told.decoded.usage.output_tokens, Some(9));
    assert_eq!(told.tools(), [("c", "tide", "{\"port\":\"Br")]);
    assert_eq!(told.decoded.warnings.len(), 1, "the call is marked");
}

#[test]
fn a_stream_cut_within_a_call_hands_out_no_half_call() {
    let text = frames(&[
        delta(&json!({"tool_calls": [piece(0, "c1", "tide", BREST)]})),
        delta(&json!({"tool_calls": [piece(1, "c2", "moon", "{")]})),
    ]);
    let told = told(&text);
    assert_eq!(told.kind(), ErrorKind::Truncated);
    assert!(told.tools().is_empty());
    assert!(
        !told
            .events
            .iter()
            .any(|event| matches!(event, StreamEvent::ToolCall(_)))
    );
}

#[test]
fn a_call_without_a_name_is_left_out_with_a_warning() {
    let told = pieces(&[fragment(0, "{}")]);
    assert!(told.tools().is_empty());
    assert_eq!(told.decoded.warnings.len(), 1);
}

#[test]
fn a_call_that_ends_with_stop_is_still_a_call() {
    let told = told(&frames(&[
        delta(&json!({"tool_calls": [piece(0, "c", "moon", "{}")]})),
        finish("stop"),
    ]));
    assert_eq!(told.decoded.stop_reason, StopReason::ToolUse);
}

#[test]
fn the_first_form_of_calls_is_taken_too() {
    let told = told(&frames(&[
        delta(&json!({"function_call": {"name": "tide", "arguments": "{\"port\":"}})),
        delta(&json!({"function_call": {"arguments": "\"Brest\"}"}})),
        finish("function_call"),
    ]));
    let tools = told.tools();
    assert_eq!((tools[0].1, tools[0].2), ("tide", BREST));
    assert_eq!(told.decoded.stop_reason, StopReason::ToolUse);
}

#[test]
fn five_hundred_and_twelve_fragments_make_one_event_each_and_one_call() {
    let body = "0123456789abcdef".repeat(2048);
    let whole = format!("{{\"a\":\"{body}\"}}");
    let mut all = vec![piece(0, "c", "tide", "")];
    let size = whole.len().div_ceil(512);
    all.extend(
        whole
            .as_bytes()
            .chunks(size)
            .map(|bytes| fragment(0, str::from_utf8(bytes).unwrap())),
    );
    let told = pieces(&all);
    assert_eq!(told.tools(), [("c", "tide", &*whole)]);
    let fragments = told
        .events
        .iter()
        .filter(|e| matches!(e, StreamEvent::ToolCallArguments { .. }));
    assert_eq!(fragments.count(), all.len() - 1);
}
