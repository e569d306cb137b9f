use http::HeaderValue;

use super::*;

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

fn house() -> House {
    House {
        key: "k".to_owned(),
        models: vec!["mine".to_owned()],
    }
}

fn read(request: &Request) -> Call {
    OpenAi::official().read(request, &house())
}

fn whole(call: &Call) -> (u16, Value) {
    match &call.answer {
        Answer::Whole(whole) => (whole.status, serde_json::from_slice(&whole.body).unwrap()),
        Answer::Stream { .. } => panic!("a stream"),
    }
}

fn ask(body: &Value) -> (u16, Value) {
    whole(&read(&request(Method::POST, "/chat/completions", body)))
}

fn prompt(text: &str) -> Value {
    json!({"model": "gpt-5.6", "messages": [{"role": "user", "content": text}]})
}

fn with(mut body: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// The data of a stream's frames; `[DONE]` is not among them.
fn chunks(body: &Value) -> Vec<(Role, Value)> {
    let call = read(&request(
        Method::POST,
        "/chat/completions",
        &with(body.clone(), &json!({"stream": true})),
    ));
    let Answer::Stream { frames, .. } = call.answer else {
        panic!("no stream")
    };
    assert_eq!(frames.last().unwrap().bytes, "data: [DONE]\n\n");
    let data = |frame: &Frame| serde_json::from_slice(&frame.bytes["data: ".len()..]).unwrap();
    frames[..frames.len() - 1]
        .iter()
        .map(|frame| (frame.role, data(frame)))
        .collect()
}

use crate::answer::{Frame, Role};

#[test]
fn a_wrong_or_missing_key_is_refused_whatever_is_asked() {
    let mut no_key = request(Method::GET, "/models", &Value::Null);
    no_key.headers.clear();
    let mut basic = request(Method::GET, "/models", &Value::Null);
    basic
        .headers
        .insert("authorization", HeaderValue::from_static("Basic k"));
    let mut wrong = request(Method::GET, "/models", &Value::Null);
    wrong
        .headers
        .insert("authorization", HeaderValue::from_static("Bearer K"));
    for (request, code) in [
        (no_key, Value::Null),
        (basic, Value::Null),
        (wrong, json!("invalid_api_key")),
    ] {
        let call = read(&request);
        assert!(call.refused, "no fault may reach it");
        let (status, body) = whole(&call);
        assert_eq!((status, &body["error"]["code"]), (401, &code));
    }
    assert_eq!(
        whole(&read(&request(Method::GET, "/models", &Value::Null))).0,
        200
    );
}

#[test]
fn the_catalogue_lists_its_models_and_those_added() {
    let (_, list) = whole(&read(&request(Method::GET, "/models", &Value::Null)));
    let ids: Vec<_> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["gpt-5.6", "gpt-5.4-nano", "mine"]);
    assert_eq!(
        whole(&read(&request(
            Method::GET,
            "/models/gpt-5%2E6",
            &Value::Null
        )))
        .1["id"],
        "gpt-5.6"
    );
    assert_eq!(
        whole(&read(&request(Method::GET, "/models/nope", &Value::Null))).0,
        404
    );
}

#[test]
fn unknown_paths_methods_and_models_have_their_own_errors() {
    let status = |method, path| whole(&read(&request(method, path, &prompt("x")))).0;
    assert_eq!(status(Method::POST, "/nope"), 404);
    assert_eq!(status(Method::GET, "/chat/completions"), 405);
    assert_eq!(status(Method::POST, "/models"), 405);
    let (status, body) = ask(&with(prompt("x"), &json!({"model": "gpt-9"})));
    assert_eq!(
        (status, &body["error"]["code"]),
        (404, &json!("model_not_found"))
    );
}

#[test]
fn bad_requests_name_what_was_wrong() {
    let message = |body: &Value| {
        let (status, body) = ask(body);
        assert_eq!(status, 400, "{body}");
        body["error"]["message"].as_str().unwrap().to_owned()
    };
    assert!(message(&json!([])).contains("could not parse"));
    assert!(message(&json!({"messages": []})).contains("model parameter"));
    assert!(message(&json!({"model": "gpt-5.6"})).contains("'messages'"));
    assert!(message(&with(prompt("x"), &json!({"stream": "yes"}))).contains("'stream'"));
    assert!(message(&with(prompt("x"), &json!({"max_tokens": 0}))).contains("'max_tokens'"));
    assert!(message(&with(prompt("x"), &json!({"n": 9}))).contains("'n'"));
    assert!(
        message(&with(
            prompt("x"),
            &json!({"stop": ["1", "2", "3", "4", "5"]})
        ))
        .contains("'stop'")
    );
    assert!(message(&with(prompt("x"), &json!({"tool_choice": "auto"}))).contains("'tools'"));
    let odd = json!({"model": "gpt-5.6", "messages": [{"role": "robot", "content": "x"}]});
    assert!(message(&odd).contains("messages[0].role"));
}

#[test]
fn tool_results_must_answer_the_calls_before_them() {
    let call = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "sunny"});
    let user = json!({"role": "user", "content": "x"});
    let history = |messages: Value| ask(&json!({"model": "gpt-5.6", "messages": messages}));
    let (status, answer) = history(json!([user, call, result("c1")]));
    assert_eq!(
        (status, &answer["choices"][0]["message"]["content"]),
        (200, &json!("The tool said: sunny"))
    );
    assert_eq!(history(json!([user, call, result("c2")])).0, 400);
    assert_eq!(history(json!([user, result("c1")])).0, 400);
    assert_eq!(history(json!([user, call, user])).0, 400);
    assert_eq!(history(json!([user, call])).0, 400);
}

#[test]
fn a_token_limit_cuts_at_a_word() {
    let (_, answer) = ask(&with(
        prompt("one two three"),
        &json!({"max_completion_tokens": 3}),
    ));
    assert_eq!(answer["choices"][0]["message"]["content"], "You said: one");
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
    assert_eq!(answer["usage"]["completion_tokens"], 3);
}

#[test]
fn a_stream_has_the_provider_s_order_and_the_answer_s_bytes() {
    let body = with(
        prompt("a  b\n"),
        &json!({"stream_options": {"include_usage": true}}),
    );
    let chunks = chunks(&body);
    let text: String = chunks
        .iter()
        .filter_map(|(_, chunk)| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, "You said: a  b\n");
    let roles: Vec<_> = chunks.iter().map(|(role, _)| *role).collect();
    assert_eq!(roles.first(), Some(&Role::Lead));
    assert!(roles.contains(&Role::Content));
    let last = &chunks.last().unwrap().1;
    assert_eq!(
        (&last["choices"], &last["usage"]["completion_tokens"]),
        (&json!([]), &json!(4))
    );
    let before = &chunks[chunks.len() - 2].1;
    assert_eq!(
        (&before["choices"][0]["finish_reason"], &before["usage"]),
        (&json!("stop"), &Value::Null)
    );
}

#[test]
fn without_the_option_a_stream_has_no_usage() {
    assert!(
        chunks(&prompt("x"))
            .iter()
            .all(|(_, chunk)| chunk.get("usage").is_none())
    );
}

#[test]
fn tools_are_called_complete_and_streamed_alike() {
    let tools = json!({"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {}}}]});
    let body = with(prompt("weather in Kampala?"), &tools);
    let (_, answer) = ask(&body);
    let call = &answer["choices"][0]["message"]["tool_calls"][0];
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
    let streamed: String = chunks(&body)
        .iter()
        .filter_map(|(_, chunk)| {
            chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str()
        })
        .collect();
    assert_eq!(call["function"]["arguments"], streamed);
    assert_eq!(call["id"], "call_sandbox_1");
    let (_, two) = ask(&with(body, &json!({"model": "sandbox-parallel-tools"})));
    assert_eq!(
        two["choices"][0]["message"]["tool_calls"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_call_by_a_named_choice_finishes_like_prose() {
    let tools = json!([{"type": "function", "function": {"name": "a"}}, {"type": "function", "function": {"name": "b"}}]);
    let choose = |choice: Value| {
        let (status, answer) = ask(&with(
            prompt("x"),
            &json!({"tools": tools, "tool_choice": choice}),
        ));
        let choice = answer["choices"][0].clone();
        let called = choice["message"]["tool_calls"][0]["function"]["name"].clone();
        (status, choice["finish_reason"].clone(), called)
    };
    let named = json!({"type": "function", "function": {"name": "b"}});
    assert_eq!(choose(named.clone()), (200, json!("stop"), json!("b")));
    assert_eq!(
        choose(json!("required")),
        (200, json!("tool_calls"), json!("a"))
    );
    let allowed = |mode: &str, tools: Value| json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}});
    assert_eq!(
        choose(allowed("required", json!([named]))),
        (200, json!("tool_calls"), json!("b"))
    );
    assert_eq!(
        choose(allowed("auto", json!([named]))),
        (200, json!("stop"), Value::Null)
    );
    let other = json!({"type": "function", "function": {"name": "c"}});
    for wrong in [
        json!("sometimes"),
        json!({}),
        other.clone(),
        allowed("none", json!([named])),
        allowed("auto", json!([other])),
        allowed("auto", json!([])),
    ] {
        assert_eq!(choose(wrong.clone()).0, 400, "{wrong}");
    }
}

#[test]
fn a_schema_gets_a_document_in_several_pieces() {
    let format = json!({"response_format": {"type": "json_schema", "json_schema": {"name": "r",
        "schema": {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}}}}});
    let body = with(prompt("x"), &format);
    let (_, answer) = ask(&body);
    assert_eq!(
        answer["choices"][0]["message"]["content"],
        r#"{"city":"sandbox","n":1}"#
    );
    let pieces = chunks(&body)
        .iter()
        .filter(|(role, _)| *role == Role::Content)
        .count();
    assert!(pieces >= 2, "{pieces}");
}

#[test]
fn unusual_models_answer_as_their_names_say() {
    let answer = |model: &str| ask(&with(prompt("x"), &json!({"model": model})));
    let (_, refusal) = answer("sandbox-refusal");
    assert_eq!(refusal["choices"][0]["message"]["content"], Value::Null);
    assert!(refusal["choices"][0]["message"]["refusal"].is_string());
    assert_eq!(
        answer("sandbox-content-filter").1["choices"][0]["finish_reason"],
        "content_filter"
    );
    assert!(
        answer("sandbox-reasoning").1["choices"][0]["message"]["reasoning_content"].is_string()
    );
    let (status, empty) = answer("sandbox-empty");
    assert_eq!((status, &empty["choices"]), (200, &Value::Null));
}

#[test]
fn a_cached_prefix_is_part_of_the_prompt() {
    let (_, answer) = ask(&with(prompt("x"), &json!({"model": "sandbox-cached"})));
    let usage = &answer["usage"];
    assert_eq!(usage["prompt_tokens"], 1281);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 1024);
    assert_eq!(usage["prompt_tokens_details"]["cache_write_tokens"], 256);
    let (_, plain) = ask(&prompt("x"));
    assert_eq!(plain["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
}

#[test]
fn an_answer_ends_before_a_stop() {
    for stop in [json!("two"), json!(["three", "two"])] {
        let (_, answer) = ask(&with(prompt("one two three"), &json!({"stop": stop})));
        let choice = &answer["choices"][0];
        assert_eq!(choice["message"]["content"], "You said: one ");
        assert_eq!(choice["finish_reason"], "stop");
    }
}

#[test]
fn the_echo_shows_the_key_in_three_spellings() {
    let house = House {
        key: "k-1/2".to_owned(),
        models: Vec::new(),
    };
    let mut request = request(
        Method::POST,
        "/chat/completions",
        &with(prompt("x"), &json!({"model": "sandbox-echo-key"})),
    );
    request
        .headers
        .insert("authorization", HeaderValue::from_static("Bearer k-1/2"));
    let Answer::Whole(echo) = OpenAi::official().read(&request, &house).answer else {
        panic!("a stream")
    };
    let body = String::from_utf8(echo.body.to_vec()).unwrap();
    assert_eq!(echo.status, 401);
    for spelling in ["k-1/2", "k%2D1%2F2", "\\u006b\\u002d\\u0031\\u002f\\u0032"] {
        assert!(body.contains(spelling), "{spelling} in {body}");
    }
}

#[test]
fn a_general_error_type_leaves_the_status_to_speak() {
    let kind = |status| {
        let whole = OpenAi::official().error(status, Cause::Usual, "m");
        serde_json::from_slice::<Value>(&whole.body).unwrap()["error"]["type"].clone()
    };
    assert_eq!(kind(302), "api_error");
    assert_eq!(kind(418), "invalid_request_error");
    assert_eq!(kind(500), "server_error");
    assert_eq!(kind(529), "server_error");
}

#[test]
fn lengths_are_written_as_the_provider_writes_them() {
    for (millis, text) in [
        (0, "0ms"),
        (12, "12ms"),
        (1_000, "1s"),
        (7_660, "7.66s"),
        (360_000, "6m0s"),
        (66_500, "1m6.5s"),
        (3_723_500, "1h2m3.5s"),
    ] {
        assert_eq!(go_duration(Duration::from_millis(millis)), text);
    }
    assert_eq!(
        go_duration(Duration::from_nanos(1)),
        "1ms",
        "rounded up, never early"
    );
}
