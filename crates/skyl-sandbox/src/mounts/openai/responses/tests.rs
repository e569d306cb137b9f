use http::{HeaderMap, HeaderValue};
use serde_json::json;

use super::*;
use crate::answer::Role;

fn request(method: Method, path: &str, body: &Value) -> Request {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer k"));
    Request {
        method,
        path: path.to_owned(),
        query: String::new(),
        headers,
        body: body.to_string().into(),
    }
}

fn read(request: &Request) -> Call {
    let house = House {
        key: "k".to_owned(),
        models: vec!["mine".to_owned()],
    };
    Responses.read(request, &house)
}

#[track_caller]
fn whole(call: &Call) -> (u16, Value) {
    match &call.answer {
        Answer::Whole(whole) => (whole.status, serde_json::from_slice(&whole.body).unwrap()),
        Answer::Stream { .. } => panic!("a stream"),
    }
}

#[track_caller]
fn ask(body: &Value) -> Value {
    let (status, answer) = whole(&read(&request(Method::POST, "", body)));
    assert_eq!(status, 200, "{answer}");
    answer
}

/// Status, code and field of a refusal.
#[track_caller]
fn refused(body: &Value, status: u16, code: &str, param: &str) -> String {
    let (got, answer) = whole(&read(&request(Method::POST, "", body)));
    let error = &answer["error"];
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    assert_eq!(
        (got, word(&error["code"]), word(&error["param"])),
        (status, code.to_owned(), param.to_owned()),
        "{body}: {answer}"
    );
    assert_eq!(error["type"], "invalid_request_error");
    word(&error["message"])
}

/// The events of a stream with their roles.
fn events(body: &Value) -> Vec<(Role, Value)> {
    let call = read(&request(
        Method::POST,
        "",
        &with(body, json!({"stream": true})),
    ));
    let Answer::Stream { frames, .. } = call.answer else {
        panic!("no stream")
    };
    let event = |bytes: &[u8]| -> Value {
        let text = std::str::from_utf8(bytes).unwrap();
        let (name, data) = text.trim_end().split_once("\ndata: ").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(name, format!("event: {}", data["type"].as_str().unwrap()));
        data
    };
    frames
        .iter()
        .map(|frame| (frame.role, event(&frame.bytes)))
        .collect()
}

fn with(body: &Value, more: Value) -> Value {
    let mut body = body.clone();
    let Value::Object(more) = more else {
        panic!("no fields")
    };
    for (name, value) in more {
        body[name] = value;
    }
    body
}

fn prompt(text: &str) -> Value {
    json!({"model": "gpt-5.6", "input": text})
}

fn items(items: Value) -> Value {
    with(
        &json!({"model": "gpt-5.6"}),
        Map::from_iter([("input".to_owned(), items)]).into(),
    )
}

fn user(content: Value) -> Value {
    with(
        &json!({"role": "user"}),
        Map::from_iter([("content".to_owned(), content)]).into(),
    )
}

fn weather() -> Value {
    json!({"type": "function", "name": "get_weather", "strict": true, "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": false}})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "get_weather", "arguments": "{}"})
}

fn output(id: &str, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": text})
}

fn thought(encrypted: &Value) -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": encrypted})
}

#[test]
fn an_answer_has_the_envelope_of_the_reference() {
    let asked = with(
        &prompt("a  b"),
        json!({"instructions": "Be brief.", "temperature": 0.5, "store": false,
               "max_output_tokens": 100, "metadata": {"k": "v"}}),
    );
    let answer = ask(&asked);
    assert_eq!(answer["id"], "resp_sandbox_1");
    assert_eq!(answer["object"], "response");
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["model"], "gpt-5.6");
    assert_eq!(answer["output"][0]["content"][0]["text"], "You said: a  b");
    for name in [
        "instructions",
        "temperature",
        "store",
        "max_output_tokens",
        "metadata",
    ] {
        assert_eq!(answer[name], asked[name], "{name}");
    }
    assert_eq!(
        (&answer["top_p"], &answer["tool_choice"]),
        (&json!(1.0), &json!("auto"))
    );
    assert_eq!(answer["usage"]["input_tokens"], 4);
    assert_eq!(answer["usage"]["output_tokens"], 4);
    assert_eq!(answer["usage"]["total_tokens"], 8);
}

#[test]
fn the_prompt_is_the_last_user_message_with_text() {
    let image =
        json!({"type": "input_image", "image_url": "https://x.test/a.png", "detail": "auto"});
    let answer = ask(&items(json!([
        {"role": "developer", "content": "Be brief."},
        user(json!("one")),
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "two"}]},
        {"role": "assistant", "phase": "commentary", "content": "hm"},
        user(json!([image, {"type": "input_text", "text": "three"}])),
        user(json!([image])),
    ])));
    assert_eq!(answer["output"][0]["content"][0]["text"], "You said: three");
}

#[test]
fn a_stream_is_in_the_order_of_the_reference_and_numbered() {
    let events = events(&prompt("a b"));
    for (number, (_, event)) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let kinds: Vec<_> = events
        .iter()
        .map(|(_, event)| {
            event["type"]
                .as_str()
                .unwrap()
                .trim_start_matches("response.")
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "created",
            "in_progress",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.delta",
            "output_text.delta",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "completed"
        ]
    );
    let contents = events.iter().filter(|(role, _)| *role == Role::Content);
    let said: String = contents
        .map(|(_, event)| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(said, "You said: a b");
    assert_eq!(events[11].0, Role::Tail);
    assert_eq!(
        events[11].1["response"],
        ask(&with(&prompt("a b"), json!({})))
    );
    assert_eq!(events[0].1["response"]["status"], "in_progress");
    assert_eq!(events[2].1["item"]["content"], json!([]));
}

#[test]
fn pieces_are_padded_to_one_length_unless_told_otherwise() {
    let deltas = |more: Value| -> Vec<Value> {
        let events = events(&with(&prompt("a b"), more));
        let contents = events
            .into_iter()
            .filter(|(role, _)| *role == Role::Content);
        contents.map(|(_, event)| event).collect()
    };
    for event in deltas(json!({})) {
        let length = |name: &str| event[name].as_str().unwrap().len();
        assert_eq!(length("delta") + length("obfuscation"), 21);
    }
    let plain = deltas(json!({"stream_options": {"include_obfuscation": false}}));
    assert!(plain.iter().all(|event| event.get("obfuscation").is_none()));
}

#[test]
fn a_limit_and_a_filter_make_an_answer_incomplete() {
    let long = "w ".repeat(40);
    let cut = ask(&with(&prompt(&long), json!({"max_output_tokens": 16})));
    assert_eq!(cut["status"], "incomplete");
    assert_eq!(
        cut["incomplete_details"],
        json!({"reason": "max_output_tokens"})
    );
    assert_eq!(cut["output"][0]["status"], "incomplete");
    assert_eq!(cut["usage"]["output_tokens"], 16);
    let events = events(&with(&prompt(&long), json!({"max_output_tokens": 16})));
    assert_eq!(events.last().unwrap().1["type"], "response.incomplete");
    let filtered = ask(&json!({"model": "sandbox-content-filter", "input": "x"}));
    assert_eq!(
        filtered["incomplete_details"],
        json!({"reason": "content_filter"})
    );
    assert_eq!(filtered["output"], json!([]));
}

#[test]
fn refusals_and_reasoning_are_items_and_parts_of_their_own() {
    let refusal = ask(&json!({"model": "sandbox-refusal", "input": "x"}));
    assert_eq!(refusal["output"][0]["content"][0]["type"], "refusal");
    assert_eq!(refusal["status"], "completed");
    let reasoned = json!({"model": "sandbox-reasoning", "input": "x"});
    let answer = ask(&reasoned);
    assert_eq!(answer["output"][0]["type"], "reasoning");
    assert_eq!(answer["output"][1]["type"], "message");
    assert_eq!(
        answer["usage"]["output_tokens_details"]["reasoning_tokens"],
        4
    );
    let events = events(&reasoned);
    let state = |kind: &str| {
        let found = events.iter().find(|(_, event)| event["type"] == kind);
        found.unwrap().1["item"]["encrypted_content"].clone()
    };
    // What an unfinished item holds is not what has to go back.
    let finished = &answer["output"][0]["encrypted_content"];
    assert_ne!(state("response.output_item.added"), *finished);
    assert_eq!(state("response.output_item.done"), *finished);
}

#[test]
fn a_tool_is_called_and_its_output_answered() {
    let tools = json!({"tools": [weather()]});
    let asked = with(&prompt("the weather?"), tools.clone());
    let first = ask(&asked);
    let item = &first["output"][0];
    assert_eq!(item["type"], "function_call");
    assert_eq!(
        (&item["id"], &item["call_id"]),
        (&json!("fc_sandbox_1"), &json!("call_sandbox_1"))
    );
    let events = events(&asked);
    let kinds = events.iter().filter(|(role, _)| *role == Role::Content);
    assert_eq!(kinds.count(), 4, "the name and three fragments");
    let conversation = json!([
        user(json!("the weather?")),
        item,
        output("call_sandbox_1", "26 °C")
    ]);
    let second = ask(&with(&items(conversation), tools));
    assert_eq!(
        second["output"][0]["content"][0]["text"],
        "The tool said: 26 °C"
    );
}

#[test]
fn the_choice_of_tools_is_obeyed_and_checked() {
    let ask_with = |choice: Value| {
        let tools = json!([weather(), {"type": "function", "name": "clock", "parameters": null}]);
        with(
            &prompt("hello"),
            json!({"tools": tools, "tool_choice": choice}),
        )
    };
    let named = |choice: Value| ask(&ask_with(choice))["output"][0]["name"].clone();
    assert_eq!(named(json!("auto")), json!(null));
    assert_eq!(named(json!("required")), "get_weather");
    assert_eq!(named(json!({"type": "function", "name": "clock"})), "clock");
    let allowed = json!({"type": "allowed_tools", "mode": "required",
                         "tools": [{"type": "function", "name": "clock"}]});
    assert_eq!(named(allowed), "clock");
    for (choice, code, param) in [
        (json!("any"), "invalid_value", "tool_choice"),
        (
            json!({"type": "function", "name": "moon"}),
            "",
            "tool_choice",
        ),
        (
            json!({"type": "function", "function": {"name": "clock"}}),
            "missing_required_parameter",
            "tool_choice.name",
        ),
        (
            json!({"type": "brand_new"}),
            "invalid_value",
            "tool_choice.type",
        ),
        (json!(5), "invalid_type", "tool_choice"),
    ] {
        refused(&ask_with(choice), 400, code, param);
    }
    refused(
        &with(&prompt("x"), json!({"tool_choice": "auto"})),
        400,
        "",
        "tool_choice",
    );
}

#[test]
fn results_and_calls_have_to_meet() {
    let asked = |list: Value| items(list);
    let no_call = refused(
        &asked(json!([user(json!("x")), output("call_9", "y")])),
        400,
        "",
        "input",
    );
    assert_eq!(
        no_call,
        "No tool call found for function call output with call_id call_9."
    );
    let no_output = refused(
        &asked(json!([user(json!("x")), call("call_1"), user(json!("y"))])),
        400,
        "",
        "input",
    );
    assert_eq!(no_output, "No tool output found for function call call_1.");
    let early = json!([output("call_1", "y"), call("call_1")]);
    refused(&asked(early), 400, "", "input");
    let twice = json!([call("call_1"), output("call_1", "y"), output("call_1", "z")]);
    refused(&asked(twice), 400, "", "input");
    let same = json!([call("call_1"), call("call_1")]);
    refused(&asked(same), 400, "", "input");
    let again = json!([
        call("call_1"),
        output("call_1", "y"),
        call("call_1"),
        output("call_1", "z")
    ]);
    ask(&asked(again));
    let long = "c".repeat(65);
    refused(&asked(json!([call(&long)])), 400, "", "input[0].call_id");
}

#[test]
fn reasoning_goes_back_whole_and_with_what_follows_it() {
    let ours = thought(&json!(write::SIGNATURE));
    let said = json!({"role": "assistant", "content": "a"});
    ask(&items(json!([
        user(json!("x")),
        ours,
        said,
        user(json!("y"))
    ])));
    ask(&items(json!([ours, ours, call("c"), output("c", "y")])));
    let searched = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    ask(&items(json!([ours, searched, user(json!("y"))])));
    for list in [
        json!([user(json!("x")), ours]),
        json!([ours, user(json!("y"))]),
    ] {
        let message = refused(&items(list), 400, "", "input");
        assert!(
            message.ends_with("without its required following item."),
            "{message}"
        );
    }
    let foreign = json!([thought(&json!("c29tZXRoaW5n")), said]);
    refused(
        &items(foreign),
        400,
        "invalid_encrypted_content",
        "input[0].encrypted_content",
    );
    let bare = refused(&items(json!([thought(&json!(null)), said])), 404, "", "");
    assert!(bare.contains("`store` is set to false"), "{bare}");
    let reference = json!([{"type": "item_reference", "id": "msg_1"}]);
    refused(&items(reference), 404, "", "");
}

#[test]
fn nothing_is_kept_to_go_on_from() {
    let message = refused(
        &with(&prompt("x"), json!({"previous_response_id": "resp_1"})),
        400,
        "previous_response_not_found",
        "previous_response_id",
    );
    assert_eq!(message, "Previous response with id 'resp_1' not found.");
    refused(
        &with(&prompt("x"), json!({"conversation": "conv_1"})),
        404,
        "",
        "",
    );
    let both = json!({"previous_response_id": "r", "conversation": "c"});
    refused(&with(&prompt("x"), both), 400, "", "previous_response_id");
    refused(
        &with(&prompt("x"), json!({"background": true})),
        400,
        "",
        "background",
    );
    ask(&with(
        &prompt("x"),
        json!({"previous_response_id": null, "background": false}),
    ));
}

#[test]
fn fields_of_chat_completions_are_told_apart_from_unknown_ones() {
    for (name, value) in [
        ("messages", json!([])),
        ("max_tokens", json!(99)),
        ("max_completion_tokens", json!(99)),
        ("response_format", json!({})),
        ("reasoning_effort", json!("low")),
    ] {
        let mut body = prompt("x");
        body[name] = value;
        let message = refused(&body, 400, "unsupported_parameter", name);
        assert!(message.contains("has moved to"), "{message}");
    }
    for name in ["stop", "n", "seed", "frequency_penalty", "brand_new"] {
        let mut body = prompt("x");
        body[name] = json!(1);
        refused(&body, 400, "unknown_parameter", name);
    }
}

#[test]
fn each_wrong_field_is_named() {
    let bad =
        |more: Value, code: &str, param: &str| refused(&with(&prompt("x"), more), 400, code, param);
    bad(
        json!({"max_output_tokens": 15}),
        "integer_below_min_value",
        "max_output_tokens",
    );
    bad(
        json!({"max_output_tokens": -1}),
        "integer_below_min_value",
        "max_output_tokens",
    );
    bad(
        json!({"max_output_tokens": 99.5}),
        "invalid_type",
        "max_output_tokens",
    );
    bad(json!({"temperature": 3}), "", "temperature");
    bad(json!({"temperature": "hot"}), "invalid_type", "temperature");
    bad(json!({"top_p": 1.5}), "", "top_p");
    bad(
        json!({"reasoning": {"effort": "huge"}}),
        "invalid_value",
        "reasoning.effort",
    );
    bad(json!({"reasoning": "low"}), "invalid_type", "reasoning");
    bad(
        json!({"include": ["everything"]}),
        "invalid_value",
        "include[0]",
    );
    bad(json!({"include": "x"}), "invalid_type", "include");
    bad(json!({"store": "no"}), "invalid_type", "store");
    bad(json!({"stream": 1}), "invalid_type", "stream");
    bad(json!({"instructions": 5}), "invalid_type", "instructions");
    bad(json!({"tools": {}}), "invalid_type", "tools");
    bad(json!({"text": "json"}), "invalid_type", "text");
    bad(
        json!({"text": {"format": {"type": "xml"}}}),
        "invalid_value",
        "text.format.type",
    );
    let nested = json!({"type": "function", "function": {"name": "f"}});
    bad(
        json!({"tools": [nested]}),
        "missing_required_parameter",
        "tools[0].name",
    );
    bad(
        json!({"tools": [{"type": "new"}]}),
        "invalid_value",
        "tools[0].type",
    );
}

#[test]
fn each_wrong_item_is_named() {
    let bad =
        |item: Value, code: &str, param: &str| refused(&items(json!([item])), 400, code, param);
    bad(json!({"type": "new"}), "invalid_value", "input[0].type");
    bad(
        json!({"x": 1}),
        "missing_required_parameter",
        "input[0].type",
    );
    bad(json!("text"), "invalid_type", "input[0]");
    bad(
        json!({"role": "tool", "content": "x"}),
        "invalid_value",
        "input[0].role",
    );
    bad(
        json!({"role": "user"}),
        "missing_required_parameter",
        "input[0].content",
    );
    bad(
        json!({"role": "user", "content": "x", "new": 1}),
        "unknown_parameter",
        "input[0].new",
    );
    bad(
        json!({"role": "user", "content": [{"type": "text", "text": "x"}]}),
        "invalid_value",
        "input[0].content[0].type",
    );
    bad(
        json!({"role": "user", "content": [{"type": "output_text", "text": "x"}]}),
        "invalid_value",
        "input[0].content[0].type",
    );
    bad(
        json!({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}),
        "invalid_value",
        "input[0].content[0].type",
    );
    bad(
        user(json!([{"type": "input_image", "image_url": {"url": "https://x.test"}}])),
        "invalid_type",
        "input[0].content[0].image_url",
    );
    bad(
        user(json!([{"type": "input_image", "image_url": "x"}])),
        "",
        "input[0].content[0].image_url",
    );
    bad(
        user(json!([{"type": "input_image"}])),
        "missing_required_parameter",
        "input[0].content[0].image_url",
    );
    bad(
        json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}),
        "invalid_type",
        "input[0].arguments",
    );
    bad(
        json!({"type": "function_call", "name": "f", "arguments": "{}"}),
        "missing_required_parameter",
        "input[0].call_id",
    );
    refused(&items(json!([])), 400, "", "input");
    refused(&items(json!(5)), 400, "invalid_type", "input");
    refused(&json!({"model": "gpt-5.6"}), 400, "", "input");
}

#[test]
fn the_model_that_reasons_takes_no_sampling() {
    let asked = json!({"model": "sandbox-reasoning", "input": "x", "temperature": 0.5});
    refused(&asked, 400, "unsupported_parameter", "temperature");
    ask(&with(&asked, json!({"reasoning": {"effort": "none"}})));
    ask(&with(&prompt("x"), json!({"temperature": 0.5})));
}

#[test]
fn structured_output_fits_its_schema() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}},
                        "required": ["n"], "additionalProperties": false});
    let format = |format: Value| with(&prompt("some json"), json!({"text": {"format": format}}));
    let text = |answer: Value| answer["output"][0]["content"][0]["text"].clone();
    let strict = json!({"type": "json_schema", "name": "r", "schema": schema, "strict": true});
    assert_eq!(text(ask(&format(strict))), "{\"n\":1}");
    assert_eq!(
        text(ask(&format(json!({"type": "json_object"})))),
        "{\"answer\":\"sandbox\"}"
    );
    assert_eq!(
        text(ask(&format(json!({"type": "text"})))),
        "You said: some json"
    );
    let unnamed = json!({"type": "json_schema", "schema": schema});
    refused(
        &format(unnamed),
        400,
        "missing_required_parameter",
        "text.format.name",
    );
}

#[test]
fn models_faults_and_oddities_are_as_on_the_other_mounts() {
    refused(
        &json!({"model": "gpt-9", "input": "x"}),
        404,
        "model_not_found",
        "model",
    );
    refused(
        &json!({"input": "x"}),
        400,
        "missing_required_parameter",
        "model",
    );
    ask(&json!({"model": "mine", "input": "x"}));
    let cached = ask(&json!({"model": "sandbox-cached", "input": "x"}));
    assert_eq!(
        cached["usage"]["input_tokens_details"],
        json!({"cached_tokens": 1024, "cache_write_tokens": 256})
    );
    assert_eq!(cached["usage"]["input_tokens"], 1281);
    let empty = ask(&json!({"model": "sandbox-empty", "input": "x", "stream": true}));
    assert_eq!(
        (&empty["output"], &empty["usage"]),
        (&json!([]), &json!(null))
    );
    let two = json!({"model": "sandbox-parallel-tools", "input": "weather", "tools": [weather()]});
    assert_eq!(ask(&two)["output"].as_array().unwrap().len(), 2);
    let one = with(&two, json!({"parallel_tool_calls": false}));
    assert_eq!(ask(&one)["output"].as_array().unwrap().len(), 1);
    let (status, echo) = whole(&read(&request(
        Method::POST,
        "",
        &json!({"model": "sandbox-echo-key", "input": "x"}),
    )));
    assert_eq!(
        (status, &echo["error"]["code"]),
        (401, &json!("invalid_api_key"))
    );
    let fault = read(&request(
        Method::POST,
        "",
        &json!({"model": "sandbox-status-503"}),
    ));
    assert_eq!(
        (fault.model.as_deref(), fault.refused),
        (Some("sandbox-status-503"), false)
    );
}

#[test]
fn a_wrong_or_missing_key_and_a_broken_body_are_refused_before_any_fault() {
    let mut no_key = request(Method::POST, "", &prompt("x"));
    no_key.headers.clear();
    let mut wrong = request(Method::POST, "", &json!({"model": "sandbox-status-503"}));
    wrong
        .headers
        .insert("authorization", HeaderValue::from_static("Bearer no"));
    for asked in [no_key, wrong] {
        let call = read(&asked);
        assert_eq!((whole(&call).0, call.refused), (401, true));
    }
    let mut broken = request(Method::POST, "", &json!({}));
    for body in ["", "{", "[]", "5"] {
        broken.body = body.into();
        let call = read(&broken);
        assert_eq!((whole(&call).0, call.refused), (400, true), "{body}");
    }
}
