use super::*;
use crate::message::Part;

// 0xPlaygrounds/rig#2337
#[test]
fn chunks_of_other_choices_are_left_out_with_one_warning() {
    let other = json!({"choices": [{"index": 1, "delta": {"content": "X"}}]});
    let both = json!({"choices": [{"index": 1, "delta": {"content": "X"}},
                                  {"index": 0, "delta": {"content": "b"}}]});
    let told = told(&frames(&[
        said("a"),
        other.clone(),
        both,
        other,
        finish("stop"),
    ]));
    assert_eq!(told.text(), "ab");
    assert_eq!(told.decoded.warnings.len(), 1);
    assert_eq!(told.decoded.warnings[0].field, "choices");
}

// microsoft/autogen#6465, openai/openai-node#1015
#[test]
fn a_choice_without_a_delta_is_skipped() {
    let filter = json!({"choices": [{"index": 0, "finish_reason": null,
                         "content_filter_offsets": {"check_offset": 1}}]});
    let told = told(&frames(&[said("a"), filter, finish("stop")]));
    assert_eq!(told.text(), "a");
    assert!(told.decoded.warnings.is_empty());
}

// agentjido/req_llm#742, simonw/llm-mistral#38, vercel/ai#4820
#[test]
fn content_lists_give_text_and_thinking_apart() {
    let told = told(&frames(&[
        delta(&json!({"content": [{"type": "thinking",
                      "thinking": [{"type": "text", "text": "Add "}, {"type": "text", "text": "them."}]}]})),
        delta(&json!({"content": [{"type": "text", "text": "Seven."}, "!"]})),
        delta(&json!({"content": [{"type": "reference", "reference_ids": [1]}]})),
        delta(&json!({"content": [{"type": "reference", "reference_ids": [2]}]})),
        finish("stop"),
    ]));
    assert_eq!(told.text(), "Seven.!");
    assert!(matches!(&told.events[0], StreamEvent::Reasoning(text) if text == "Add them."));
    assert_eq!(told.decoded.warnings.len(), 1, "told once");
}

#[test]
fn a_part_without_its_list_and_text_beside_the_delta_are_words_all_the_same() {
    let part = |content: &Value| {
        told(&frames(&[
            delta(&json!({"content": content})),
            finish("stop"),
        ]))
    };
    assert_eq!(
        part(&json!({"type": "text", "text": "Seven."})).text(),
        "Seven."
    );
    let unknown = part(&json!(7));
    assert_eq!(
        (unknown.text(), unknown.decoded.warnings.len()),
        (String::new(), 1)
    );
    for nothing in [json!(null), json!({}), json!([]), json!("")] {
        assert_eq!(part(&nothing).decoded.warnings, [], "{nothing}");
    }
    let thought = delta(&json!({"reasoning": [{"type": "text", "text": "Hm."}], "content": "a"}));
    let told_thought = told(&frames(&[thought, finish("stop")]));
    assert!(matches!(&told_thought.events[0], StreamEvent::Reasoning(text) if text == "Hm."));
    let older = json!({"choices": [{"index": 0, "text": "Seven.", "finish_reason": "stop"}]});
    assert_eq!(told(&frames(&[older])).text(), "Seven.");
}

#[test]
fn reasoning_details_come_in_pieces_and_are_kept_whole_where_they_go_back() {
    let delta =
        |delta: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n");
    let text = [
        delta(r#"{"reasoning":"Two ","reasoning_details":[{"type":"reasoning.text","text":"Two ","index":0}]}"#),
        delta(r#"{"reasoning":"tides.","reasoning_details":[{"type":"reasoning.text","text":"tides.","index":0}]}"#),
        delta(r#"{"content":"Brest."}"#),
        delta(r#"{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}"#),
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let told = crate::dialect::harness::stream_text(&OpenAiCompatible::openrouter("k"), &text);
    assert!(told.end.is_ok());
    let Part::Reasoning(reasoning) = &told.decoded.parts[0] else {
        panic!("{:?}", told.decoded.parts);
    };
    assert_eq!(reasoning.text, "Two tides.");
    let kept = reasoning
        .state
        .as_ref()
        .unwrap()
        .for_provider("openrouter")
        .unwrap();
    assert_eq!(
        kept.get(),
        r#"[{"type":"reasoning.text","text":"Two tides.","index":0,"signature":"c2ln"}]"#
    );
    assert_eq!(told.decoded.parts.len(), 2);
}

#[test]
fn reasoning_under_two_names_is_told_once() {
    let both = delta(&json!({"reasoning": "Hm.", "reasoning_content": "Hm."}));
    let told = told(&frames(&[both, finish("stop")]));
    assert_eq!(told.events.len(), 1);
}

// 64bit/async-openai#457, #283, #352, pydantic/pydantic-ai#1094
#[test]
fn missing_null_and_unheard_of_fields_are_taken() {
    let told = told(&frames(&[
        json!({"choices": [{"delta": {"content": "a", "role": null}, "index": null}]}),
        json!({"id": 17, "created": null, "model": null, "object": null,
               "service_tier": "on_demand", "system_fingerprint": null, "brand_new": {"x": []},
               "choices": [{"delta": {"content": "b", "tool_calls": null},
                            "finish_reason": "stop"}]}),
    ]));
    assert_eq!(told.text(), "ab");
    assert_eq!(told.decoded.id.as_deref(), Some("17"));
}

#[test]
fn the_id_the_model_and_the_request_id_are_kept() {
    let chunk = json!({"id": "chatcmpl-1", "model": "m-2026", "x_groq": {"id": "req_1"},
                       "choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
    let told = told(&frames(&[
        json!({"id": "", "model": "", "choices": []}),
        chunk,
    ]));
    assert_eq!(told.decoded.id.as_deref(), Some("chatcmpl-1"));
    assert_eq!(told.decoded.model.as_deref(), Some("m-2026"));
    assert_eq!(told.decoded.request_id.as_deref(), Some("req_1"));
}
