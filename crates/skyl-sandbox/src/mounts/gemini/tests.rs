use http::{HeaderMap, HeaderValue};

use super::*;
use crate::answer::Role;

fn request(method: Method, path: &str, body: &Value) -> Request {
    let mut headers = HeaderMap::new();
    headers.insert("x-goog-api-key", HeaderValue::from_static("k"));
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
    Gemini::beta().read(request, &house())
}

fn whole(call: &Call) -> (u16, Value) {
    match &call.answer {
        Answer::Whole(whole) => (whole.status, serde_json::from_slice(&whole.body).unwrap()),
        Answer::Stream { .. } => panic!("a stream"),
    }
}

fn post(path: &str, body: &Value) -> (u16, Value) {
    whole(&read(&request(Method::POST, path, body)))
}

fn get(path: &str) -> (u16, Value) {
    whole(&read(&request(Method::GET, path, &Value::Null)))
}

fn ask_model(model: &str, body: &Value) -> (u16, Value) {
    post(&format!("/models/{model}:generateContent"), body)
}

fn ask(body: &Value) -> (u16, Value) {
    ask_model("gemini-3.6-flash", body)
}

fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

fn prompt(text: &str) -> Value {
    json!({"contents": [user(text)]})
}

fn with(mut body: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn history(contents: &Value) -> (u16, Value) {
    ask(&json!({"contents": contents}))
}

#[track_caller]
fn refused(answer: &(u16, Value), part: &str) {
    let (status, body) = answer;
    assert_eq!(*status, 400, "{body}");
    assert_eq!(body["error"]["code"], 400);
    assert_eq!(body["error"]["status"], "INVALID_ARGUMENT");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains(part), "{message}");
}

fn parts(answer: &Value) -> &Value {
    &answer["candidates"][0]["content"]["parts"]
}

/// The bytes of a stream's frames, with their roles.
fn frames(model: &str, alt: &str, body: &Value) -> Vec<(Role, String)> {
    let path = format!("/models/{model}:streamGenerateContent{alt}");
    let call = read(&request(Method::POST, &path, body));
    let Answer::Stream {
        frames,
        content_type,
    } = call.answer
    else {
        panic!("no stream")
    };
    let expected = if alt.is_empty() {
        "application/json; charset=UTF-8"
    } else {
        "text/event-stream"
    };
    assert_eq!(content_type, expected);
    frames
        .iter()
        .map(|frame| {
            let text = String::from_utf8(frame.bytes.to_vec()).unwrap();
            (frame.role, text)
        })
        .collect()
}

/// The documents of a stream, which are the same in both forms.
fn chunks(model: &str, body: &Value) -> Vec<(Role, Value)> {
    let events = frames(model, "?alt=sse", body);
    let chunks: Vec<_> = events
        .iter()
        .map(|(role, text)| {
            let data = text.strip_prefix("data: ").unwrap();
            let data = data.strip_suffix("\r\n\r\n").unwrap();
            (*role, serde_json::from_str(data).unwrap())
        })
        .collect();
    let array: String = frames(model, "", body)
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let array: Vec<Value> = serde_json::from_str(&array).unwrap();
    let documents: Vec<&Value> = chunks.iter().map(|(_, chunk)| chunk).collect();
    assert_eq!(array.iter().collect::<Vec<_>>(), documents);
    chunks
}

/// All the texts of a stream, or its thoughts.
fn text(chunks: &[(Role, Value)], thought: bool) -> String {
    let parts = chunks
        .iter()
        .flat_map(|(_, chunk)| parts(chunk).as_array().cloned().unwrap_or_default());
    parts
        .filter(|part| (part["thought"] == true) == thought)
        .filter_map(|part| part["text"].as_str().map(str::to_owned))
        .collect()
}

fn tools(names: &[&str]) -> Value {
    let functions = names.iter().map(|name| json!({"name": name}));
    json!([{"functionDeclarations": functions.collect::<Value>()}])
}

fn weather() -> Value {
    with(
        prompt("weather in Kampala?"),
        &json!({"tools": tools(&["get_weather"])}),
    )
}

fn call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {}}})
}

fn signed(name: &str) -> Value {
    with(call(name), &json!({"thoughtSignature": "c2ln"}))
}

fn model(parts: &Value) -> Value {
    json!({"role": "model", "parts": parts})
}

fn responses(names: &[&str]) -> Value {
    let parts = names
        .iter()
        .map(|name| json!({"functionResponse": {"name": name, "response": {"content": "sunny"}}}));
    json!({"role": "user", "parts": parts.collect::<Value>()})
}

#[test]
fn the_key_comes_in_its_own_header_or_in_the_query() {
    let answer = |header: Option<&'static str>, query: &str| {
        let mut request = request(Method::GET, &format!("/models{query}"), &Value::Null);
        request.headers.remove("x-goog-api-key");
        if let Some(key) = header {
            let key = HeaderValue::from_static(key);
            request.headers.insert("x-goog-api-key", key);
        }
        let call = read(&request);
        let (status, body) = whole(&call);
        assert_eq!(call.refused, status == 400, "no fault may reach it");
        (status, body)
    };
    assert_eq!(answer(Some("k"), "").0, 200);
    assert_eq!(answer(None, "?alt=sse&key=%6B").0, 200);
    assert_eq!(answer(Some("k"), "?key=x").0, 200);
    for (header, query) in [
        (None, ""),
        (Some("K"), ""),
        (None, "?key=x"),
        (None, "?key="),
        (Some("x"), "?key=k"),
    ] {
        let answer = answer(header, query);
        refused(&answer, "API key not valid");
        assert_eq!(answer.1["error"]["details"][0]["reason"], "API_KEY_INVALID");
    }
}

#[test]
fn a_page_of_models_goes_on_where_its_token_says() {
    let page = |query: &str| {
        let (status, page) = get(&format!("/models{query}"));
        assert_eq!(status, 200, "{page}");
        let names = page["models"].as_array().unwrap().iter();
        let names: Vec<_> = names.map(|m| m["name"].as_str().unwrap()).collect();
        let next = page["nextPageToken"].as_str().map(str::to_owned);
        (names.join(" "), next)
    };
    let all = "models/gemini-3.6-flash models/gemini-3.6-pro models/mine";
    for query in [
        "",
        "?pageSize=3",
        "?pageSize=0",
        "?pageSize=9999",
        "?pageToken=",
    ] {
        assert_eq!(page(query), (all.to_owned(), None), "{query}");
    }
    let (first, next) = page("?pageSize=2");
    assert_eq!(first, "models/gemini-3.6-flash models/gemini-3.6-pro");
    let (second, end) = page(&format!("?pageSize=2&pageToken={}", next.unwrap()));
    assert_eq!((second.as_str(), end), ("models/mine", None));
    for query in [
        "?pageSize=-1",
        "?pageSize=x",
        "?pageToken=x",
        "?pageToken=sandbox-page-3",
        "?pageToken=sandbox-page-0",
    ] {
        refused(&get(&format!("/models{query}")), "");
    }
}

#[test]
fn one_model_is_found_by_its_name() {
    let (status, model) = get("/models/gemini-3%2E6-pro");
    assert_eq!(
        (status, &model["name"]),
        (200, &json!("models/gemini-3.6-pro"))
    );
    assert_eq!(model["inputTokenLimit"], 2_000_000);
    assert_eq!(get("/models/nope").1["error"]["status"], "NOT_FOUND");
}

#[test]
fn a_name_is_decoded_once_and_ends_at_the_last_colon() {
    let named = |path: &str| read(&request(Method::POST, path, &json!({}))).model;
    for (segment, name) in [
        ("a%2Fb:generateContent", "a/b"),
        ("a:b:generateContent", "a:b"),
        ("a%3AgenerateContent", "a"),
        ("a%2528:countTokens", "a%28"),
        (
            "sandbox-do-429%28ra%3D1%29%2Cok@t:streamGenerateContent",
            "sandbox-do-429(ra=1),ok@t",
        ),
        (
            "sandbox-do-429(ra-raw=12:30):generateContent",
            "sandbox-do-429(ra-raw=12:30)",
        ),
    ] {
        assert_eq!(named(&format!("/models/{segment}")).as_deref(), Some(name));
    }
    refused(
        &post("/models/gemini-3.6-pro", &prompt("x")),
        "names no method",
    );
}

#[test]
fn unknown_paths_methods_and_models_are_not_found() {
    for (method, path) in [
        (Method::POST, "/nope"),
        (Method::POST, "/models"),
        (Method::GET, "/modelsx"),
        (Method::DELETE, "/models/gemini-3.6-pro"),
        (Method::POST, "/models/gemini-3.6-pro:embedContent"),
        (Method::POST, "/models/gemini-9:generateContent"),
    ] {
        let (status, body) = whole(&read(&request(method, path, &prompt("x"))));
        assert_eq!(
            (status, &body["error"]["status"]),
            (404, &json!("NOT_FOUND")),
            "{path}"
        );
    }
    let (_, body) = ask_model("gemini-9", &prompt("x"));
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("models/gemini-9 is not found for API version v1beta"));
}

#[test]
fn both_versions_are_the_same_but_for_their_name() {
    let ask = |mount: Gemini, model: &str| {
        let path = format!("/models/{model}:generateContent");
        whole(&mount.read(&request(Method::POST, &path, &prompt("x")), &house()))
    };
    let good = "gemini-3.6-pro";
    assert_eq!(ask(Gemini::stable(), good), ask(Gemini::beta(), good));
    let (_, body) = ask(Gemini::stable(), "gemini-9");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains("for API version v1,"), "{message}");
}

#[test]
fn fields_that_do_not_exist_are_refused_by_name() {
    refused(&ask(&json!([])), "Invalid JSON payload");
    refused(&ask(&json!({})), "contents is not specified");
    refused(
        &ask(&with(prompt("x"), &json!({"max_tokens": 5}))),
        "Unknown name \"max_tokens\": Cannot find field.",
    );
    refused(
        &ask(&with(
            prompt("x"),
            &json!({"generationConfig": {"maxTokens": 5}}),
        )),
        "Unknown name \"maxTokens\" at 'generation_config'",
    );
    refused(
        &history(&json!([{"role": "user", "content": "x"}])),
        "Unknown name \"content\" at 'contents[0]'",
    );
    // Both spellings of a field are one.
    let snake = json!({"system_instruction": {"parts": [{"text": "brief"}]},
        "generation_config": {"max_output_tokens": "1"}, "tools": null});
    let (_, answer) = ask(&with(prompt("x"), &snake));
    assert_eq!(parts(&answer)[0]["text"], "You");
    assert_eq!(answer["usageMetadata"]["promptTokenCount"], 2);
    let cached = with(prompt("x"), &json!({"cachedContent": "cachedContents/1"}));
    assert_eq!(ask(&cached).1["error"]["status"], "PERMISSION_DENIED");
}

#[test]
fn bad_settings_name_what_was_wrong() {
    for (config, part) in [
        (json!({"maxOutputTokens": 0}), "max_output_tokens"),
        (json!({"maxOutputTokens": "x"}), "max_output_tokens"),
        (json!({"candidateCount": 2}), "Only one candidate"),
        (
            json!({"stopSequences": ["1", "2", "3", "4", "5", "6"]}),
            "at most 5",
        ),
        (json!({"temperature": 2.5}), "[0, 2]"),
        (json!({"topP": "x"}), "top_p"),
        (json!({"responseMimeType": "text/html"}), "mimetypes"),
        (
            json!({"responseSchema": {"type": "OBJECT"}}),
            "needs response_mime_type",
        ),
        (
            json!({"responseJsonSchema": {"type": "object"}}),
            "needs response_mime_type",
        ),
        (
            json!({"responseMimeType": "application/json", "responseSchema": {"oneOf": []}}),
            "Unknown name \"oneOf\" at 'generation_config.response_schema'",
        ),
        (
            json!({"responseMimeType": "application/json", "responseSchema": {"type": "TEXT"}}),
            "response_schema.type",
        ),
        (
            json!({"thinkingConfig": {"thinkingLevel": "SOME"}}),
            "thinking_level",
        ),
        (
            json!({"thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 5}}),
            "only set one of",
        ),
    ] {
        refused(
            &ask(&with(prompt("x"), &json!({"generationConfig": config}))),
            part,
        );
    }
    let good = json!({"generationConfig": {"temperature": 2, "topP": 1, "candidateCount": 1,
        "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "low"}}});
    assert_eq!(ask(&with(prompt("x"), &good)).0, 200);
}

#[test]
fn roles_and_parts_must_be_the_provider_s() {
    assert_eq!(history(&json!([{"parts": [{"text": "x"}]}])).0, 200);
    refused(
        &history(&json!([user("x"), {"parts": [{"text": "x"}]}])),
        "valid role: user, model",
    );
    for role in ["assistant", "system", "function", ""] {
        let turn = json!({"role": role, "parts": [{"text": "x"}]});
        refused(&history(&json!([turn])), "valid role: user, model");
    }
    let answered = json!([user("x"), model(&json!([{"text": "y"}])), user("z")]);
    assert_eq!(parts(&history(&answered).1)[0]["text"], "You said: z");
    refused(
        &history(&json!([user("x"), model(&json!([{"text": "y"}]))])),
        "end with a user role",
    );

    let part = |part: Value| history(&json!([{"role": "user", "parts": [part]}]));
    refused(
        &history(&json!([{"role": "user", "parts": []}])),
        "must not be empty",
    );
    refused(&part(json!({})), "required oneof field 'data'");
    refused(
        &part(json!({"thought": true})),
        "required oneof field 'data'",
    );
    refused(
        &part(json!({"text": "a", "fileData": {"fileUri": "b"}})),
        "required oneof",
    );
    refused(
        &part(json!({"type": "text", "text": "a"})),
        "Unknown name \"type\"",
    );
    assert_eq!(
        part(json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}})).0,
        200
    );
    refused(
        &part(json!({"inlineData": {"data": "iVBORw0KGgo="}})),
        "mimeType must be set",
    );
    refused(
        &part(json!({"inlineData": {"mimeType": "image/png", "data": "%"}})),
        "Base64",
    );
}

#[test]
fn responses_must_answer_the_calls_of_the_turn_before() {
    let ask = |calls: &[&str], answers: &[&str]| {
        let mut parts: Vec<_> = calls.iter().map(|name| call(name)).collect();
        parts[0] = signed(calls[0]);
        history(&json!([
            user("x"),
            model(&json!(parts)),
            responses(answers)
        ]))
    };
    let (status, answer) = ask(&["a", "b"], &["a", "b"]);
    assert_eq!(
        (status, &parts(&answer)[0]["text"]),
        (200, &json!("The tool said: sunny"))
    );
    assert_eq!(ask(&["a", "a"], &["a", "a"]).0, 200);
    refused(
        &ask(&["a", "b"], &["a"]),
        "number of function response parts",
    );
    refused(
        &ask(&["a"], &["a", "a"]),
        "number of function response parts",
    );
    refused(&ask(&["a"], &["b"]), "does not match");
    refused(
        &history(&json!([responses(&["a"])])),
        "immediately after a function call turn",
    );
    refused(
        &history(&json!([user("x"), model(&json!([signed("a")])), user("y")])),
        "number of function response parts",
    );
    refused(
        &history(&json!([model(&json!([signed("a")])), responses(&["a"])])),
        "immediately after a user turn",
    );
    refused(
        &history(&json!([{"role": "user", "parts": [signed("a")]}, responses(&["a"])])),
        "immediately after a user turn",
    );
    let by_id = |id: &str| {
        let call = json!({"functionCall": {"id": "1", "name": "a"}, "thoughtSignature": "c2ln"});
        let response = json!({"functionResponse": {"id": id, "name": "a", "response": {"x": 1}}});
        history(&json!([user("x"), model(&json!([call])), {"role": "user", "parts": [response]}]))
    };
    assert_eq!(parts(&by_id("1").1)[0]["text"], "The tool said: {\"x\":1}");
    refused(&by_id("2"), "does not match");
}

#[test]
fn calls_of_the_current_turn_must_carry_their_signature() {
    let ask = |parts: Value| history(&json!([user("x"), model(&parts), responses(&["a"])]));
    assert_eq!(ask(json!([signed("a")])).0, 200);
    assert_eq!(
        ask(json!([with(
            call("a"),
            &json!({"thoughtSignature": write::SIGNATURE})
        )]))
        .0,
        200
    );
    let skipped = json!({"thoughtSignature": "skip_thought_signature_validator"});
    assert_eq!(ask(json!([with(call("a"), &skipped)])).0, 200);
    refused(&ask(json!([call("a")])), "missing a thought_signature");
    refused(
        &ask(json!([{"text": "", "thoughtSignature": "c2ln"}, call("a")])),
        "missing a thought_signature",
    );
    refused(
        &ask(json!([with(call("a"), &json!({"thoughtSignature": ""}))])),
        "missing a thought_signature",
    );
    refused(
        &ask(json!([with(
            call("a"),
            &json!({"thoughtSignature": "a b"})
        )])),
        "Base64",
    );
    // The second step of the same turn needs its own; calls from before the user spoke need none.
    let second = json!([
        user("x"),
        model(&json!([signed("a")])),
        responses(&["a"]),
        model(&json!([call("a")])),
        responses(&["a"])
    ]);
    refused(&history(&second), "contents[3].parts[0]");
    let before = json!([
        user("x"),
        model(&json!([call("a")])),
        responses(&["a"]),
        model(&json!([{"text": "y"}])),
        user("z")
    ]);
    assert_eq!(history(&before).0, 200);
}

#[test]
fn tools_are_called_complete_and_streamed_alike() {
    let (_, answer) = ask(&weather());
    let args = json!({"city": "Kampala", "units": "metric"});
    let first = json!({"functionCall": {"name": "get_weather", "args": args}, "thoughtSignature": write::SIGNATURE});
    assert_eq!(parts(&answer), &json!([{"text": "Checking. "}, first]));
    assert_eq!(answer["candidates"][0]["finishReason"], "STOP");
    let streamed = chunks("gemini-3.6-flash", &weather());
    assert_eq!(parts(&streamed[0].1), parts(&answer));
    assert_eq!(streamed.len(), 2);

    let (_, two) = ask_model("sandbox-parallel-tools", &weather());
    let second = json!({"functionCall": {"name": "get_weather", "args": args}});
    assert_eq!(parts(&two)[2], second);
    let streamed = chunks("sandbox-parallel-tools", &weather());
    assert_eq!(parts(&streamed[1].1), &json!([second]));
    // What was called may be sent back, and is answered.
    let back = json!([
        user("x"),
        model(parts(&two)),
        responses(&["get_weather", "get_weather"])
    ]);
    assert_eq!(history(&back).0, 200);
}

#[test]
fn the_tool_choice_is_obeyed_and_checked() {
    let choose = |config: Value| {
        let config =
            json!({"tools": tools(&["a", "b"]), "toolConfig": {"functionCallingConfig": config}});
        ask(&with(prompt("x"), &config))
    };
    let called = |config: Value| parts(&choose(config).1)[1]["functionCall"]["name"].clone();
    assert_eq!(called(json!({"mode": "ANY"})), "a");
    assert_eq!(
        called(json!({"mode": "ANY", "allowedFunctionNames": ["b"]})),
        "b"
    );
    assert_eq!(
        called(json!({"mode": "ANY", "allowedFunctionNames": ["b", "a"]})),
        "a"
    );
    assert_eq!(called(json!({"mode": "AUTO"})), Value::Null);
    assert_eq!(called(json!({"mode": "NONE"})), Value::Null);
    refused(&choose(json!({"mode": "REQUIRED"})), "mode");
    refused(
        &choose(json!({"mode": "ANY", "allowedFunctionNames": ["c"]})),
        "not declared",
    );
    refused(
        &choose(json!({"mode": "AUTO", "allowedFunctionNames": ["a"]})),
        "only be set when",
    );
    let none = json!({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}});
    refused(
        &ask(&with(prompt("x"), &none)),
        "without function_declarations",
    );
    for (function, part) in [
        (json!({"name": "1a"}), "Invalid function name"),
        (
            json!({"name": "a", "strict": true}),
            "Unknown name \"strict\"",
        ),
        (
            json!({"name": "a", "parameters": {"type": "OBJECT", "properties": {"p": {"$ref": "x"}}}}),
            "Unknown name \"$ref\" at 'tools[0].function_declarations[0].parameters.properties[p]'",
        ),
        (
            json!({"name": "a", "parameters": {}, "parametersJsonSchema": {}}),
            "cannot both be set",
        ),
    ] {
        let tools = json!({"tools": [{"functionDeclarations": [function]}]});
        refused(&ask(&with(prompt("x"), &tools)), part);
    }
    let twice = json!({"tools": tools(&["a", "a"])});
    refused(&ask(&with(prompt("x"), &twice)), "Duplicate function");
}

#[test]
fn a_stream_has_the_answer_s_bytes_and_ends_with_its_reason() {
    let (_, answer) = ask(&prompt("a  b\n"));
    let streamed = chunks("gemini-3.6-flash", &prompt("a  b\n"));
    assert_eq!(text(&streamed, false), "You said: a  b\n");
    assert_eq!(parts(&answer)[0]["text"], "You said: a  b\n");
    let (last, contents) = streamed.split_last().unwrap();
    assert_eq!(contents.len(), 4);
    for (role, chunk) in contents {
        assert_eq!(*role, Role::Content);
        assert!(chunk["candidates"][0].get("finishReason").is_none());
        assert_eq!(chunk["usageMetadata"]["promptTokenCount"], 2);
    }
    assert_eq!(
        (last.0, &last.1["candidates"][0]["finishReason"]),
        (Role::Tail, &json!("STOP"))
    );
    assert_eq!(last.1["usageMetadata"], answer["usageMetadata"]);
    assert_eq!(answer["usageMetadata"]["totalTokenCount"], 6);
}

#[test]
fn a_token_limit_cuts_at_a_word_and_a_stop_before_its_text() {
    let config = |config: Value| {
        ask(&with(
            prompt("one two"),
            &json!({"generationConfig": config}),
        ))
        .1
    };
    let cut = config(json!({"maxOutputTokens": 3}));
    assert_eq!(parts(&cut)[0]["text"], "You said: one");
    assert_eq!(cut["candidates"][0]["finishReason"], "MAX_TOKENS");
    let stopped = config(json!({"stopSequences": ["two"]}));
    assert_eq!(parts(&stopped)[0]["text"], "You said: one ");
    assert_eq!(stopped["candidates"][0]["finishReason"], "STOP");
}

#[test]
fn a_schema_in_either_form_gets_a_document() {
    let config = |schema: Value| {
        let config = with(json!({"responseMimeType": "application/json"}), &schema);
        with(prompt("x"), &json!({"generationConfig": config}))
    };
    for schema in [
        json!({"responseSchema": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}, "n": {"type": "INTEGER"}}}}),
        json!({"responseJsonSchema": {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}}}),
    ] {
        let body = config(schema);
        assert_eq!(
            parts(&ask(&body).1)[0]["text"],
            r#"{"city":"sandbox","n":1}"#
        );
        let streamed = chunks("gemini-3.6-pro", &body);
        assert_eq!(text(&streamed, false), r#"{"city":"sandbox","n":1}"#);
        assert!(streamed.len() > 2);
    }
    assert_eq!(
        parts(&ask(&config(json!({}))).1)[0]["text"],
        r#"{"answer":"sandbox"}"#
    );
}

#[test]
fn unusual_models_answer_as_their_names_say() {
    let answer = |model: &str| ask_model(model, &prompt("x")).1;
    let refusal = answer("sandbox-refusal");
    let candidate = &refusal["candidates"][0];
    assert_eq!(candidate["finishReason"], "SAFETY");
    assert!(candidate["finishMessage"].is_string() && candidate.get("content").is_none());
    let filtered = answer("sandbox-content-filter");
    assert!(filtered["promptFeedback"]["blockReason"].is_string());
    assert!(filtered.get("candidates").is_none());
    assert_eq!(chunks("sandbox-content-filter", &prompt("x")).len(), 1);

    let thought = answer("sandbox-reasoning");
    assert_eq!(parts(&thought)[0]["thought"], true);
    assert_eq!(parts(&thought)[1]["thoughtSignature"], write::SIGNATURE);
    let usage = &thought["usageMetadata"];
    assert_eq!(
        (&usage["candidatesTokenCount"], &usage["thoughtsTokenCount"]),
        (&json!(3), &json!(4))
    );
    assert_eq!(usage["totalTokenCount"], 8);
    let streamed = chunks("sandbox-reasoning", &prompt("x"));
    assert_eq!(
        text(&streamed, true),
        parts(&thought)[0]["text"].as_str().unwrap()
    );
    assert_eq!(text(&streamed, false), "You said: x");
    let last = &streamed.last().unwrap().1;
    assert_eq!(parts(last)[0]["thoughtSignature"], write::SIGNATURE);

    let cached = answer("sandbox-cached");
    let usage = &cached["usageMetadata"];
    assert_eq!(
        (
            &usage["promptTokenCount"],
            &usage["cachedContentTokenCount"]
        ),
        (&json!(1281), &json!(1024))
    );
    let empty = answer("sandbox-empty");
    assert!(empty.get("candidates").is_none() && empty.get("promptFeedback").is_none());
}

#[test]
fn tokens_are_counted_for_contents_or_a_whole_request() {
    let count = |body: &Value| post("/models/gemini-3.6-pro:countTokens", body);
    assert_eq!(count(&prompt("a b c")).1["totalTokens"], 3);
    let whole = with(
        prompt("a b c"),
        &json!({"systemInstruction": {"parts": [{"text": "d"}]}, "model": "models/gemini-3.6-pro"}),
    );
    assert_eq!(
        count(&json!({"generateContentRequest": whole})).1["totalTokens"],
        4
    );
    refused(&count(&whole), "Unknown name \"systemInstruction\"");
    assert_eq!(count(&json!({})).0, 400);
}

#[test]
fn a_prompt_above_the_model_s_limit_is_too_long() {
    let long = prompt(&"a ".repeat(1_000_001));
    let answer = ask(&long);
    refused(
        &answer,
        "token count (1000001) exceeds the maximum number of tokens allowed (1000000)",
    );
    assert_eq!(ask_model("gemini-3.6-pro", &long).0, 200);
}

#[test]
fn the_echo_shows_the_key_in_three_spellings() {
    let house = House {
        key: "k-1/2".to_owned(),
        models: Vec::new(),
    };
    let path = "/models/sandbox-echo-key:generateContent?key=k-1%2F2";
    let mut request = request(Method::POST, path, &prompt("x"));
    request.headers.clear();
    let Answer::Whole(echo) = Gemini::beta().read(&request, &house).answer else {
        panic!("a stream")
    };
    assert_eq!(echo.status, 400);
    let body = String::from_utf8(echo.body.to_vec()).unwrap();
    for spelling in ["k-1/2", "k%2D1%2F2", "\\u006b\\u002d\\u0031\\u002f\\u0032"] {
        assert!(body.contains(spelling), "{spelling} in {body}");
    }
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["error"]["details"][0]["reason"], "API_KEY_INVALID");
}

#[test]
fn errors_carry_the_word_of_their_code() {
    let error = |status, cause| {
        let whole = Gemini::beta().error(status, cause, "m");
        serde_json::from_slice::<Value>(&whole.body).unwrap()["error"].clone()
    };
    for (status, word) in [
        (302, "UNKNOWN"),
        (400, "INVALID_ARGUMENT"),
        (401, "UNAUTHENTICATED"),
        (402, "UNKNOWN"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (418, "UNKNOWN"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (503, "UNAVAILABLE"),
        (504, "DEADLINE_EXCEEDED"),
    ] {
        let expected = json!({"code": status, "message": "m", "status": word});
        assert_eq!(error(status, Cause::Usual), expected, "{status}");
    }
    let quota = error(429, Cause::Quota);
    let id = quota["details"][0]["violations"][0]["quotaId"]
        .as_str()
        .unwrap();
    assert!(id.contains("PerDay"));
    let context = error(400, Cause::Context)["message"].clone();
    assert!(
        context
            .as_str()
            .unwrap()
            .contains("exceeds the maximum number of tokens")
    );
    let overloaded = error(503, Cause::Overloaded);
    assert_eq!(overloaded["status"], "UNAVAILABLE");
    assert!(
        overloaded["message"]
            .as_str()
            .unwrap()
            .contains("model is overloaded")
    );
}

#[test]
fn an_error_in_mid_stream_fits_the_stream_s_form() {
    let frame = |content_type, first: bool| {
        let spot = Spot {
            content_type,
            before: usize::from(!first),
        };
        String::from_utf8(Gemini::beta().overload_frame("m", spot).to_vec()).unwrap()
    };
    let event = frame("text/event-stream", false);
    assert!(event.starts_with("data: {\"error\":{\"code\":503,") && event.ends_with("}\r\n\r\n"));
    let alone: Value = serde_json::from_str(&frame(errors::JSON, true)).unwrap();
    assert_eq!(alone[0]["error"]["status"], "UNAVAILABLE");
    let after = format!("[{{}}{}", frame(errors::JSON, false));
    let after: Value = serde_json::from_str(&after).unwrap();
    assert_eq!(after[1]["error"]["code"], 503);
}
