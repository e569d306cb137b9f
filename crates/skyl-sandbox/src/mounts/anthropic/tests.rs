use http::HeaderValue;

use super::*;
use crate::answer::{Frame, Role};

fn request(method: Method, path: &str, body: &Value) -> Request {
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", HeaderValue::from_static("k"));
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    Request {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
        body: body.to_string().into(),
    }
}

fn house() -> House {
    House {
        key: "k".to_owned(),
        models: vec!["mine".to_owned()],
    }
}

fn read(request: &Request) -> Call {
    Anthropic.read(request, &house())
}

fn whole(call: &Call) -> (u16, Value) {
    match &call.answer {
        Answer::Whole(whole) => (whole.status, serde_json::from_slice(&whole.body).unwrap()),
        Answer::Stream { .. } => panic!("a stream"),
    }
}

fn ask(body: &Value) -> (u16, Value) {
    whole(&read(&request(Method::POST, "/messages", body)))
}

fn get(path: &str) -> (u16, Value) {
    whole(&read(&request(Method::GET, path, &Value::Null)))
}

fn prompt(text: &str) -> Value {
    json!({
        "model": "claude-opus-5",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": text}],
    })
}

fn with(mut body: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// Asks with these messages.
fn history(messages: &Value) -> (u16, Value) {
    ask(&with(prompt("x"), &json!({"messages": messages})))
}

#[track_caller]
fn refused(answer: &(u16, Value), part: &str) {
    let (status, body) = answer;
    assert_eq!(*status, 400, "{body}");
    assert_eq!(body["error"]["type"], "invalid_request_error");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains(part), "{message}");
}

/// The events of a stream, each with its role; every event's name is its data's type.
fn events(body: &Value) -> Vec<(Role, Value)> {
    let body = with(body.clone(), &json!({"stream": true}));
    let call = read(&request(Method::POST, "/messages", &body));
    let Answer::Stream { frames, .. } = call.answer else {
        panic!("no stream")
    };
    let event = |frame: &Frame| {
        let text = std::str::from_utf8(&frame.bytes).unwrap();
        let (name, data) = text
            .strip_prefix("event: ")
            .and_then(|text| text.strip_suffix("\n\n"))
            .and_then(|text| text.split_once("\ndata: "))
            .unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["type"], name);
        (frame.role, data)
    };
    frames.iter().map(event).collect()
}

fn types(events: &[(Role, Value)]) -> Vec<&str> {
    let types = events.iter().map(|(_, event)| event["type"].as_str());
    types.map(Option::unwrap).collect()
}

/// The content a stream puts together, block by block, as a whole message has it.
fn assembled(events: &[(Role, Value)]) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    let mut arguments = String::new();
    for (_, event) in events {
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(event["index"], blocks.len());
                blocks.push(event["content_block"].clone());
                arguments.clear();
            }
            "content_block_delta" => {
                assert_eq!(event["index"], blocks.len() - 1);
                let block = blocks.last_mut().unwrap();
                let delta = event["delta"].as_object().unwrap();
                for (name, piece) in delta.iter().filter(|(name, _)| *name != "type") {
                    if name == "partial_json" {
                        arguments += piece.as_str().unwrap();
                        continue;
                    }
                    let text = block[name].as_str().unwrap().to_owned() + piece.as_str().unwrap();
                    block[name] = json!(text);
                }
            }
            "content_block_stop" if !arguments.is_empty() => {
                let block = blocks.last_mut().unwrap();
                block["input"] = serde_json::from_str(&arguments).unwrap();
            }
            _ => {}
        }
    }
    json!(blocks)
}

fn weather() -> Value {
    with(
        prompt("weather in Kampala?"),
        &json!({"tools": [{"name": "get_weather", "input_schema": {"type": "object"}}]}),
    )
}

#[test]
fn the_key_comes_in_its_own_header_or_as_a_bearer_token() {
    let status = |lines: &[(&'static str, &'static str)]| {
        let mut request = request(Method::GET, "/models", &Value::Null);
        request.headers.remove("x-api-key");
        for (name, value) in lines {
            request
                .headers
                .insert(*name, HeaderValue::from_static(value));
        }
        let call = read(&request);
        let (status, body) = whole(&call);
        assert_eq!(call.refused, status == 401, "no fault may reach it");
        if status == 401 {
            assert_eq!(body["error"]["type"], "authentication_error");
        }
        status
    };
    assert_eq!(status(&[("x-api-key", "k")]), 200);
    assert_eq!(status(&[("authorization", "bearer k")]), 200);
    assert_eq!(
        status(&[("x-api-key", "k"), ("authorization", "Bearer x")]),
        200
    );
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("x-api-key", "K")]), 401);
    assert_eq!(status(&[("authorization", "Bearer K")]), 401);
    assert_eq!(status(&[("authorization", "Basic k")]), 401);
    assert_eq!(
        status(&[("x-api-key", "x"), ("authorization", "Bearer k")]),
        401
    );
}

#[test]
fn the_version_must_be_one_that_exists() {
    let status = |version: Option<&'static str>, path: &str, method: Method| {
        let mut request = request(method, path, &prompt("x"));
        request.headers.remove("anthropic-version");
        if let Some(version) = version {
            let version = HeaderValue::from_static(version);
            request.headers.insert("anthropic-version", version);
        }
        whole(&read(&request)).0
    };
    for version in ["2023-06-01", "2026-10-21"] {
        assert_eq!(status(Some(version), "/messages", Method::POST), 200);
    }
    for version in [None, Some("2024-01-01"), Some("")] {
        assert_eq!(status(version, "/messages", Method::POST), 400);
        assert_eq!(status(version, "/messages/count_tokens", Method::POST), 400);
        assert_eq!(status(version, "/models", Method::GET), 400);
        assert_eq!(status(version, "/models/mine", Method::GET), 400);
    }
}

#[test]
fn sampling_is_refused_by_the_second_version_alone() {
    let answer = |version: &'static str, more: &Value| {
        let mut request = request(Method::POST, "/messages", &with(prompt("x"), more));
        let version = HeaderValue::from_static(version);
        request.headers.insert("anthropic-version", version);
        whole(&read(&request))
    };
    for more in [
        json!({"temperature": 1}),
        json!({"top_p": 0.5}),
        json!({"top_k": 5}),
    ] {
        assert_eq!(answer("2023-06-01", &more).0, 200, "{more}");
        refused(
            &answer("2026-10-21", &more),
            "Extra inputs are not permitted",
        );
    }
    refused(&answer("2023-06-01", &json!({"temperature": 1.1})), "0..1");
    let cited = json!({"messages": [{"role": "user", "content": [
        {"type": "text", "text": "x", "citations": [{"type": "char_location"}]}]}]});
    assert_eq!(answer("2023-06-01", &cited).0, 200);
    refused(&answer("2026-10-21", &cited), "citations");
}

#[test]
fn a_page_of_models_goes_on_where_its_cursor_says() {
    let page = |query: &str| {
        let (status, page) = get(&format!("/models{query}"));
        assert_eq!(status, 200, "{page}");
        let ids: Vec<_> = page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| model["id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(page["first_id"].as_str(), ids.first().map(String::as_str));
        assert_eq!(page["last_id"].as_str(), ids.last().map(String::as_str));
        (ids.join(" "), page["has_more"].as_bool().unwrap())
    };
    let all = "claude-opus-5 claude-sonnet-5 claude-haiku-4-5 mine";
    assert_eq!(page(""), (all.to_owned(), false));
    assert_eq!(page("?limit=1000"), (all.to_owned(), false));
    assert_eq!(
        page("?limit=2"),
        ("claude-opus-5 claude-sonnet-5".to_owned(), true)
    );
    assert_eq!(
        page("?limit=2&after_id=claude-sonnet-5"),
        ("claude-haiku-4-5 mine".to_owned(), false)
    );
    assert_eq!(page("?after_id=mine"), (String::new(), false));
    assert_eq!(
        page("?limit=1&before_id=mine"),
        ("claude-haiku-4-5".to_owned(), true)
    );
    assert_eq!(
        page("?before_id=claude-sonnet-5"),
        ("claude-opus-5".to_owned(), false)
    );
    for query in [
        "?limit=0",
        "?limit=1001",
        "?limit=x",
        "?after_id=nope",
        "?after_id=mine&before_id=mine",
    ] {
        refused(&get(&format!("/models{query}")), "");
    }
}

#[test]
fn one_model_is_found_by_its_id() {
    let (status, model) = get("/models/claude%2Dhaiku-4-5");
    assert_eq!((status, &model["id"]), (200, &json!("claude-haiku-4-5")));
    assert_eq!(model["max_input_tokens"], 200_000);
    assert_eq!(model["max_tokens"], 32_000);
    let (status, body) = get("/models/nope");
    assert_eq!(
        (status, &body["error"]["type"]),
        (404, &json!("not_found_error"))
    );
    assert_eq!(body["error"]["message"], "model: nope");
}

#[test]
fn unknown_paths_methods_and_models_have_their_own_errors() {
    let status = |method, path| whole(&read(&request(method, path, &prompt("x")))).0;
    assert_eq!(status(Method::POST, "/nope"), 404);
    assert_eq!(status(Method::GET, "/messages"), 405);
    assert_eq!(status(Method::POST, "/models"), 405);
    let (status, body) = ask(&with(prompt("x"), &json!({"model": "claude-9"})));
    assert_eq!(
        (status, &body["error"]["message"]),
        (404, &json!("model: claude-9"))
    );
}

#[test]
fn bad_requests_name_what_was_wrong() {
    let mut bare = prompt("x");
    bare.as_object_mut().unwrap().remove("max_tokens");
    refused(&ask(&bare), "max_tokens: Field required");
    refused(&ask(&json!([])), "dictionary");
    refused(&ask(&json!({"messages": []})), "model: Field required");
    for (more, part) in [
        (json!({"max_tokens": -1}), "max_tokens: "),
        (json!({"max_tokens": "5"}), "max_tokens: "),
        (json!({"max_tokens": 64_001}), "64001 > 64000"),
        (json!({"stream": "yes"}), "stream: "),
        (json!({"n": 2}), "n: Extra inputs are not permitted"),
        (json!({"stop_sequences": [" "]}), "stop_sequences: "),
        (json!({"tool_choice": {"type": "auto"}}), "tool_choice: "),
        (
            json!({"thinking": {"type": "enabled"}}),
            "budget_tokens: Field required",
        ),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
            "`max_tokens` must be",
        ),
        (json!({"thinking": {"type": "often"}}), "thinking: "),
        (json!({"output_config": {"effort": "some"}}), "effort: "),
        (
            json!({"output_config": {"format": {"type": "json_schema"}}}),
            "schema: Field required",
        ),
        (
            json!({"system": [{"type": "text", "text": ""}]}),
            "system: ",
        ),
        (
            json!({"tools": [{"name": "a b", "input_schema": {"type": "object"}}]}),
            "tools.0.custom.name: ",
        ),
        (
            json!({"tools": [{"name": "a"}]}),
            "tools.0.custom.input_schema: Field required",
        ),
        (
            json!({"tools": [{"name": "a", "input_schema": {}}]}),
            "input_schema.type: Field required",
        ),
    ] {
        refused(&ask(&with(prompt("x"), &more)), part);
    }
}

#[test]
fn a_prompt_above_the_model_s_limit_is_too_long() {
    let long = with(
        prompt(&"a ".repeat(200_001)),
        &json!({"model": "claude-haiku-4-5"}),
    );
    refused(
        &ask(&long),
        "prompt is too long: 200001 tokens > 200000 maximum",
    );
    assert_eq!(ask(&with(long, &json!({"model": "claude-opus-5"}))).0, 200);
}

#[test]
fn turns_must_begin_and_end_with_the_user() {
    let user = json!({"role": "user", "content": "x"});
    let assistant = json!({"role": "assistant", "content": "y"});
    assert_eq!(history(&json!([user, assistant, user])).0, 200);
    assert_eq!(history(&json!([user, user])).0, 200, "merged");
    refused(&history(&json!([])), "at least one message");
    refused(&history(&json!([assistant, user])), "first message");
    refused(&history(&json!([user, assistant])), "prefill");
    let robot = json!({"role": "robot", "content": "x"});
    refused(&history(&json!([user, robot])), "messages.1.role: ");
    let tool = json!({"role": "tool", "content": "x"});
    refused(&history(&json!([user, tool])), "messages.1.role: ");
}

#[test]
fn of_two_user_messages_in_a_row_the_later_one_is_answered() {
    let (_, answer) = history(&json!([
        {"role": "user", "content": "a"},
        {"role": "user", "content": [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]},
    ]));
    assert_eq!(answer["content"][0]["text"], "You said: b");
}

#[test]
fn blocks_are_refused_where_they_do_not_belong_or_lack_something() {
    let user = |block: Value| history(&json!([{"role": "user", "content": [block]}]));
    let assistant = |block: Value| {
        let x = json!({"role": "user", "content": "x"});
        history(&json!([x, {"role": "assistant", "content": [block]}, x]))
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    refused(&user(text("")), "must be non-empty");
    refused(&assistant(text("")), "must be non-empty");
    refused(&user(text(" \n")), "non-whitespace");
    refused(&user(json!({"type": "text"})), "Field required");
    refused(
        &user(json!({"type": "sound"})),
        "messages.0.content.0: Input tag",
    );
    refused(
        &history(&json!([{"role": "user", "content": ""}])),
        "non-empty content",
    );
    refused(
        &history(&json!([{"role": "user", "content": []}])),
        "non-empty content",
    );
    refused(
        &history(&json!([{"role": "user"}])),
        "content: Field required",
    );

    let image = |source: Value| json!({"type": "image", "source": source});
    let png = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
    assert_eq!(user(image(png.clone())).0, 200);
    refused(&assistant(image(png)), "`user` messages");
    refused(
        &user(image(json!({"type": "base64", "data": ""}))),
        "media_type: Field required",
    );
    refused(&user(image(json!({"type": "disk"}))), "Input tag");

    let thinking =
        |signature: &Value| json!({"type": "thinking", "thinking": "t", "signature": signature});
    assert_eq!(assistant(thinking(&json!("c2ln"))).0, 200);
    refused(&assistant(thinking(&json!(""))), "Invalid `signature`");
    refused(
        &assistant(json!({"type": "thinking", "thinking": "t"})),
        "thinking.signature: Field required",
    );
    refused(
        &assistant(thinking(&json!(write::SIGNATURE))),
        "cannot be modified",
    );
    refused(&user(thinking(&json!("c2ln"))), "`assistant` messages");
    assert_eq!(
        assistant(json!({"type": "redacted_thinking", "data": "x"})).0,
        200
    );
}

#[test]
fn tool_results_must_answer_the_calls_before_them() {
    let user = json!({"role": "user", "content": "x"});
    let calls = |ids: &[&str]| {
        let calls = ids
            .iter()
            .map(|id| json!({"type": "tool_use", "id": id, "name": "t", "input": {}}));
        json!({"role": "assistant", "content": calls.collect::<Value>()})
    };
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "sunny"});
    let results = |ids: &[&str]| json!({"role": "user", "content": ids.iter().map(|id| result(id)).collect::<Value>()});
    let text = json!({"type": "text", "text": "and?"});

    let (status, answer) = history(&json!([user, calls(&["c1", "c2"]), results(&["c2", "c1"])]));
    assert_eq!(
        (status, &answer["content"][0]["text"]),
        (200, &json!("The tool said: sunny"))
    );
    // In two messages that make one turn.
    assert_eq!(
        history(&json!([
            user,
            calls(&["c1", "c2"]),
            results(&["c1"]),
            results(&["c2"])
        ]))
        .0,
        200
    );
    let followed = json!({"role": "user", "content": [result("c1"), text]});
    let (_, answer) = history(&json!([user, calls(&["c1"]), followed]));
    assert_eq!(answer["content"][0]["text"], "You said: and?");

    let unexpected = "unexpected `tool_use_id`";
    refused(
        &history(&json!([user, calls(&["c1"]), results(&["c2"])])),
        unexpected,
    );
    refused(
        &history(&json!([user, calls(&["c1"]), results(&["c1", "c1"])])),
        unexpected,
    );
    refused(&history(&json!([results(&["c1"])])), unexpected);
    let late = json!([user, calls(&["c1"]), results(&["c1"]), {"role": "assistant", "content": "y"}, results(&["c1"])]);
    refused(&history(&late), unexpected);

    let unanswered = "without `tool_result` blocks immediately after";
    refused(
        &history(&json!([user, calls(&["c1", "c2"]), results(&["c1"])])),
        unanswered,
    );
    refused(&history(&json!([user, calls(&["c1"]), user])), unanswered);
    refused(&history(&json!([user, calls(&["c1"])])), unanswered);
    let preceded = json!({"role": "user", "content": [text, result("c1")]});
    refused(
        &history(&json!([user, calls(&["c1"]), preceded])),
        unanswered,
    );

    refused(
        &history(&json!([user, calls(&["c1", "c1"]), results(&["c1"])])),
        "unique",
    );
    refused(
        &history(&json!([user, calls(&["c.1"]), results(&["c.1"])])),
        "tool_use.id: ",
    );
    for input in [json!("{}"), Value::Null, json!([])] {
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "t", "input": input}]});
        refused(
            &history(&json!([user, call, results(&["c1"])])),
            "valid dictionary",
        );
    }
}

#[test]
fn a_token_limit_cuts_at_a_word_and_a_stop_before_its_text() {
    let (_, answer) = ask(&with(prompt("one two three"), &json!({"max_tokens": 3})));
    assert_eq!(answer["content"][0]["text"], "You said: one");
    assert_eq!(answer["stop_reason"], "max_tokens");
    assert_eq!(answer["usage"]["output_tokens"], 3);
    let (_, warmed) = ask(&with(prompt("one"), &json!({"max_tokens": 0})));
    assert_eq!(
        (&warmed["content"], &warmed["stop_reason"]),
        (&json!([]), &json!("max_tokens"))
    );
    let (_, stopped) = ask(&with(
        prompt("one two"),
        &json!({"stop_sequences": ["two"]}),
    ));
    assert_eq!(stopped["content"][0]["text"], "You said: one ");
    assert_eq!(
        (&stopped["stop_reason"], &stopped["stop_sequence"]),
        (&json!("stop_sequence"), &json!("two"))
    );
}

#[test]
fn a_stream_has_the_provider_s_order_and_the_answer_s_bytes() {
    let events = events(&prompt("a  b\n"));
    assert_eq!(
        types(&events),
        [
            "message_start",
            "content_block_start",
            "ping",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    let (_, answer) = ask(&prompt("a  b\n"));
    assert_eq!(assembled(&events), answer["content"]);
    assert_eq!(answer["content"][0]["text"], "You said: a  b\n");
    let start = &events[0].1["message"];
    assert_eq!(
        (&start["content"], &start["usage"]["output_tokens"]),
        (&json!([]), &json!(0))
    );
    let end = &events[8].1;
    assert_eq!(end["usage"], answer["usage"]);
    assert_eq!(end["delta"]["stop_reason"], "end_turn");
    let contents = events.iter().filter(|(role, _)| *role == Role::Content);
    assert_eq!(contents.count(), 4);
    assert!(events[..3].iter().all(|(role, _)| *role == Role::Lead));
    assert!(events[8..].iter().all(|(role, _)| *role == Role::Tail));
}

#[test]
fn tools_are_called_complete_and_streamed_alike() {
    let (_, answer) = ask(&weather());
    let call = &answer["content"][1];
    assert_eq!(answer["stop_reason"], "tool_use");
    assert_eq!(
        call,
        &json!({"type": "tool_use", "id": "call_sandbox_1", "name": "get_weather",
            "input": {"city": "Kampala", "units": "metric"}})
    );
    let streamed = events(&weather());
    assert_eq!(assembled(&streamed), answer["content"]);
    let fragments = streamed
        .iter()
        .filter(|(_, event)| event["delta"]["type"] == "input_json_delta");
    assert_eq!(fragments.count(), 3);

    let parallel = with(weather(), &json!({"model": "sandbox-parallel-tools"}));
    let (_, two) = ask(&parallel);
    assert_eq!(two["content"].as_array().unwrap().len(), 3);
    assert_eq!(assembled(&events(&parallel)), two["content"]);
    let one = json!({"tool_choice": {"type": "auto", "disable_parallel_tool_use": true}});
    assert_eq!(
        ask(&with(parallel, &one)).1["content"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn the_tool_choice_is_obeyed_and_checked() {
    let tools = json!([{"name": "a", "input_schema": {"type": "object"}},
        {"name": "b", "input_schema": {"type": "object"}},
        {"type": "web_search_20250305", "name": "web_search"}]);
    let choose = |choice: Value| {
        ask(&with(
            prompt("x"),
            &json!({"tools": tools, "tool_choice": choice}),
        ))
    };
    let called = |choice: Value| choose(choice).1["content"][1]["name"].clone();
    assert_eq!(called(json!({"type": "any"})), "a");
    assert_eq!(called(json!({"type": "tool", "name": "b"})), "b");
    assert_eq!(called(json!({"type": "auto"})), Value::Null);
    assert_eq!(called(json!({"type": "none"})), Value::Null);
    refused(
        &choose(json!({"type": "tool", "name": "c"})),
        "'c' not found",
    );
    refused(
        &choose(json!({"type": "tool", "name": "web_search"})),
        "not found",
    );
    refused(&choose(json!({"type": "tool"})), "Field required");
    refused(&choose(json!({"type": "required"})), "tool_choice: ");
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000,
        "tools": tools, "tool_choice": {"type": "any"}});
    refused(
        &ask(&with(prompt("x"), &thinking)),
        "Thinking may not be enabled",
    );
}

#[test]
fn a_schema_gets_a_document_in_several_pieces() {
    let body = with(
        prompt("x"),
        &json!({"output_config": {"effort": "low", "format": {"type": "json_schema", "schema":
            {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}}}}}),
    );
    let (_, answer) = ask(&body);
    assert_eq!(answer["content"][0]["text"], r#"{"city":"sandbox","n":1}"#);
    let streamed = events(&body);
    assert_eq!(assembled(&streamed), answer["content"]);
    assert!(
        streamed
            .iter()
            .filter(|(role, _)| *role == Role::Content)
            .count()
            >= 2
    );
}

#[test]
fn unusual_models_answer_as_their_names_say() {
    let body = |model: &str| with(prompt("x"), &json!({"model": model}));
    let (_, refusal) = ask(&body("sandbox-refusal"));
    assert_eq!(
        (&refusal["stop_reason"], &refusal["content"]),
        (&json!("refusal"), &json!([]))
    );
    assert!(refusal["stop_details"]["explanation"].is_string());
    let (_, filtered) = ask(&body("sandbox-content-filter"));
    assert_eq!(filtered["stop_reason"], "refusal");
    assert_eq!(filtered["stop_details"]["explanation"], Value::Null);

    let (_, thought) = ask(&body("sandbox-reasoning"));
    assert_eq!(thought["content"][0]["type"], "thinking");
    assert_eq!(thought["content"][0]["signature"], write::SIGNATURE);
    assert_eq!(
        thought["usage"]["output_tokens_details"]["thinking_tokens"],
        4
    );
    assert_eq!(
        assembled(&events(&body("sandbox-reasoning"))),
        thought["content"]
    );
    // What it thought may be sent back to it.
    let user = json!({"role": "user", "content": "x"});
    let back = json!([user, {"role": "assistant", "content": thought["content"]}, user]);
    assert_eq!(history(&back).0, 200);

    let (_, cached) = ask(&body("sandbox-cached"));
    let usage = &cached["usage"];
    assert_eq!(
        [
            &usage["input_tokens"],
            &usage["cache_read_input_tokens"],
            &usage["cache_creation_input_tokens"]
        ],
        [1, 1024, 256]
    );
    let (status, empty) = ask(&body("sandbox-empty"));
    assert_eq!((status, &empty["content"]), (200, &Value::Null));
}

#[test]
fn tokens_are_counted_without_a_limit_on_the_answer() {
    let count = |body: &Value| {
        whole(&read(&request(
            Method::POST,
            "/messages/count_tokens",
            body,
        )))
    };
    let body = json!({"model": "claude-opus-5", "system": "be brief",
        "messages": [{"role": "user", "content": "a b c"}]});
    assert_eq!(count(&body), (200, json!({"input_tokens": 5})));
    assert_eq!(
        count(&with(body.clone(), &json!({"model": "sandbox-cached"}))).1["input_tokens"],
        1285
    );
    assert_eq!(count(&with(body, &json!({"messages": []}))).0, 400);
}

#[test]
fn the_echo_shows_the_key_in_three_spellings() {
    let house = House {
        key: "k-1/2".to_owned(),
        models: Vec::new(),
    };
    let body = with(prompt("x"), &json!({"model": "sandbox-echo-key"}));
    let mut request = request(Method::POST, "/messages", &body);
    let key = HeaderValue::from_static("k-1/2");
    request.headers.insert("x-api-key", key);
    let Answer::Whole(echo) = Anthropic.read(&request, &house).answer else {
        panic!("a stream")
    };
    assert_eq!(echo.status, 401);
    let body = String::from_utf8(Anthropic.numbered(echo, 3).body.to_vec()).unwrap();
    for spelling in ["k-1/2", "k%2D1%2F2", "\\u006b\\u002d\\u0031\\u002f\\u0032"] {
        assert!(body.contains(spelling), "{spelling} in {body}");
    }
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (&body["shown"], &body["request_id"]),
        (&json!("k-1/2"), &json!("req_sandbox_3"))
    );
}

#[test]
fn errors_carry_the_type_of_their_status_and_their_request() {
    let error = |status, cause| {
        let whole = Anthropic.error(status, cause, "m");
        let whole = Anthropic.numbered(whole, 7);
        let body: Value = serde_json::from_slice(&whole.body).unwrap();
        assert_eq!(body["request_id"], "req_sandbox_7");
        body["error"].clone()
    };
    for (status, kind) in [
        (302, "api_error"),
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (409, "conflict_error"),
        (413, "request_too_large"),
        (418, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ] {
        assert_eq!(
            error(status, Cause::Usual),
            json!({"type": kind, "message": "m"}),
            "{status}"
        );
    }
    let quota = error(429, Cause::Quota);
    assert_eq!(quota["type"], "rate_limit_error");
    assert_eq!(
        quota["details"]["error_code"],
        "enforced_spend_limit_reached"
    );
    let context = error(400, Cause::Context);
    assert!(
        context["message"]
            .as_str()
            .unwrap()
            .starts_with("prompt is too long: ")
    );
    assert_eq!(error(503, Cause::Overloaded)["type"], "overloaded_error");
}

#[test]
fn only_whole_errors_are_numbered() {
    let answer = Whole::json(200, &json!({"type": "message"}));
    assert_eq!(Anthropic.numbered(answer.clone(), 1), answer);
    let error = Anthropic.error(500, Cause::Usual, "m");
    let cut = Whole {
        body: error.body.slice(..30),
        ..error
    };
    assert_eq!(Anthropic.numbered(cut.clone(), 1), cut);
}

#[test]
fn limits_are_told_with_instants() {
    let limit = Dimension {
        name: "requests",
        limit: 60,
        remaining: 58,
        reset: std::time::Duration::from_millis(1_500),
    };
    let lines = Anthropic.limits(&[limit], SystemTime::UNIX_EPOCH);
    let expected = [
        ("anthropic-ratelimit-requests-limit", "60"),
        ("anthropic-ratelimit-requests-remaining", "58"),
        ("anthropic-ratelimit-requests-reset", "1970-01-01T00:00:02Z"),
    ];
    assert_eq!(
        lines,
        expected.map(|(name, value)| (name, value.to_owned()))
    );
}
