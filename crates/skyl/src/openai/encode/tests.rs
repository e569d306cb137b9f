use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::dialect::Dialect;
use crate::dialect::harness::fixture;
use crate::message::{OpaqueState, Reasoning, Text, ToolCall};
use crate::openai::{OpenAi, OpenAiCompatible};
use crate::request::Effort;

fn openai() -> OpenAi {
    OpenAi::new("sk-test-0123456789")
}

fn compatible() -> OpenAiCompatible {
    OpenAiCompatible::new("http://localhost:8000/v1")
}

#[track_caller]
fn encoded(dialect: &dyn Dialect, request: &Request, mode: Mode) -> (Value, Vec<Warning>) {
    request.validate().unwrap();
    let encoded = dialect.encode(request, mode).unwrap();
    assert_eq!(encoded.path, "/chat/completions");
    (
        serde_json::from_slice(&encoded.body).unwrap(),
        encoded.warnings,
    )
}

#[track_caller]
fn body(request: &Request) -> Value {
    let (body, warnings) = encoded(&openai(), request, Mode::Complete);
    assert_eq!(warnings, []);
    body
}

#[track_caller]
fn messages(request: &Request) -> Value {
    body(request)["messages"].clone()
}

fn ask() -> Request {
    Request::new("m").user("hi")
}

fn assistant(parts: Vec<Part>) -> Message {
    Message::new(Role::Assistant, parts)
}

fn call(id: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall::new(id, "tide", arguments))
}

fn state() -> OpaqueState {
    let json = RawValue::from_string("\"sig\"".to_owned()).unwrap();
    OpaqueState::new("elsewhere", json)
}

/// Everything a request can hold.
fn kiln() -> Request {
    let properties = json!({"kiln": {"type": "string"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["kiln"],
                        "additionalProperties": false});
    let reading = json!({"type": "object",
        "properties": {"kiln": {"type": "string"}, "celsius": {"type": "integer"}},
        "required": ["kiln", "celsius"], "additionalProperties": false});
    let image = Image::Data {
        media_type: "image/png".to_owned(),
        data: b"\x89PNG\r\n\x1a\n".to_vec(),
    };
    Request::new("gpt-5.4-mini")
        .system("Answer in one line.")
        .message(Message::new(
            Role::User,
            vec![
                Part::text("Which kiln is this, and how hot?"),
                Part::Image(image),
            ],
        ))
        .message(assistant(vec![Part::ToolCall(ToolCall::new(
            "call_k1",
            "kiln_status",
            "{\"kiln\":\"B\"}",
        ))]))
        .message(Message::tool_result("call_k1", "{\"celsius\":1187}"))
        .tool(
            Tool::new("kiln_status", schema)
                .description("Reads a kiln.")
                .strict(true),
        )
        .tool_choice(ToolChoice::Auto)
        .parallel_tool_calls(false)
        .response_format(ResponseFormat::JsonSchema {
            name: "reading".to_owned(),
            schema: reading,
            strict: true,
        })
        .reasoning_effort("low")
        .max_tokens(400)
        .stop("\n\n")
        .provider_option("seed", 7)
}

#[test]
fn a_full_request_is_what_the_reference_has() {
    let mut expected: Value =
        serde_json::from_slice(&fixture("01-openai-chat-request.json")).unwrap();
    // Two choices of ours: the role every server takes, and no `detail`, for which a part has no
    // place.
    expected["messages"][0]["role"] = json!("system");
    let image = &mut expected["messages"][1]["content"][1]["image_url"];
    image.as_object_mut().unwrap().remove("detail");
    assert_eq!(
        encoded(&openai(), &kiln(), Mode::Stream),
        (expected, vec![])
    );
}

#[test]
fn requests_keep_their_shape() {
    insta::assert_json_snapshot!("openai_stream", encoded(&openai(), &kiln(), Mode::Stream).0);
    insta::assert_json_snapshot!(
        "compatible",
        encoded(&compatible(), &kiln(), Mode::Complete).0
    );
    insta::assert_json_snapshot!("plain", encoded(&openai(), &ask(), Mode::Complete).0);
}

#[test]
fn what_is_not_set_is_not_sent() {
    assert_eq!(
        body(&ask()),
        json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
    );
}

#[test]
fn the_token_limit_has_the_name_each_server_knows() {
    let limit = |dialect: &dyn Dialect| {
        let (body, _) = encoded(dialect, &ask().max_tokens(5), Mode::Complete);
        ["max_completion_tokens", "max_tokens"].map(|name| body.get(name).cloned())
    };
    assert_eq!(limit(&openai()), [Some(json!(5)), None]);
    assert_eq!(limit(&compatible()), [None, Some(json!(5))]);
    assert_eq!(
        limit(&compatible().max_completion_tokens()),
        [Some(json!(5)), None]
    );
}

#[test]
fn streams_ask_for_usage_and_plain_calls_do_not_stream() {
    let stream = |dialect: &dyn Dialect, mode| {
        let (body, _) = encoded(dialect, &ask(), mode);
        ["stream", "stream_options"].map(|name| body.get(name).cloned())
    };
    let usage = Some(json!({"include_usage": true}));
    assert_eq!(
        stream(&openai(), Mode::Stream),
        [Some(json!(true)), usage.clone()]
    );
    assert_eq!(
        stream(&compatible(), Mode::Stream),
        [Some(json!(true)), usage]
    );
    assert_eq!(
        stream(&compatible().without_stream_usage(), Mode::Stream),
        [Some(json!(true)), None]
    );
    assert_eq!(stream(&openai(), Mode::Complete), [None, None]);
}

#[test]
fn sampling_is_sent_as_it_was_set() {
    let body = body(&ask().temperature(0.7).top_p(1.0).stop("a").stop("b"));
    assert_eq!(body["temperature"], json!(0.7));
    assert_eq!(body["top_p"], json!(1.0));
    assert_eq!(body["stop"], json!(["a", "b"]));
}

#[test]
fn more_stop_texts_than_openai_takes_are_refused_and_left_to_other_servers() {
    let request = |n: usize| (0..n).fold(ask(), |request, n| request.stop(n.to_string()));
    assert!(openai().encode(&request(4), Mode::Complete).is_ok());
    let fault = openai().encode(&request(5), Mode::Complete).unwrap_err();
    assert_eq!(fault.kind(), ErrorKind::Unsupported);
    assert_eq!(
        fault.message(),
        Some("stop: 5 texts, and at most 4 are taken")
    );
    assert!(compatible().encode(&request(16), Mode::Complete).is_ok());
}

// 0xPlaygrounds/rig#2337
#[test]
fn several_choices_are_refused() {
    for n in [json!(2), json!(0), json!("2")] {
        let request = ask().provider_option("n", n.clone());
        let fault = openai().encode(&request, Mode::Complete).unwrap_err();
        assert_eq!(fault.kind(), ErrorKind::Unsupported, "{n}");
    }
    for n in [json!(1), json!(null)] {
        assert!(
            openai()
                .encode(&ask().provider_option("n", n), Mode::Complete)
                .is_ok()
        );
    }
}

#[test]
fn a_provider_option_cannot_turn_a_call_into_a_stream() {
    let with = |stream: Value, mode| {
        openai()
            .encode(&ask().provider_option("stream", stream), mode)
            .map_err(|fault| fault.kind())
    };
    assert_eq!(
        with(json!(true), Mode::Complete).unwrap_err(),
        ErrorKind::BadRequest
    );
    assert_eq!(
        with(json!(false), Mode::Stream).unwrap_err(),
        ErrorKind::BadRequest
    );
    assert!(with(json!(false), Mode::Complete).is_ok());
    assert!(with(json!(true), Mode::Stream).is_ok());
}

#[test]
fn provider_options_are_merged_deep_and_last() {
    let request = ask()
        .temperature(0.5)
        .provider_option("temperature", Value::Null)
        .provider_option("stream_options", json!({"include_obfuscation": false}))
        .provider_option("service_tier", "flex");
    let (body, _) = encoded(&openai(), &request, Mode::Stream);
    assert_eq!(body.get("temperature"), None);
    assert_eq!(
        body["stream_options"],
        json!({"include_usage": true, "include_obfuscation": false})
    );
    assert_eq!(body["service_tier"], "flex");
}

#[test]
fn one_text_is_a_string_and_more_are_parts() {
    let user = |parts| Request::new("m").message(Message::new(Role::User, parts));
    assert_eq!(
        messages(&user(vec![Part::text("a")]))[0]["content"],
        json!("a")
    );
    assert_eq!(
        messages(&user(vec![Part::text("a"), Part::text("b")]))[0]["content"],
        json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    );
    let image = Part::Image(Image::Url("https://example.com/a.png".to_owned()));
    assert_eq!(
        messages(&user(vec![image]))[0]["content"],
        json!([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}])
    );
}

#[test]
fn a_turn_of_calls_alone_has_null_for_content() {
    let request = ask().message(assistant(vec![call("c", "{}")]));
    assert_eq!(
        messages(&request)[1],
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "tide", "arguments": "{}"}}]})
    );
}

// 0xPlaygrounds/rig#1964, #1958
#[test]
fn a_stored_call_without_arguments_goes_back_as_an_empty_object() {
    for arguments in ["", "  "] {
        let request = ask().message(assistant(vec![call("c", arguments)]));
        let call = messages(&request)[1]["tool_calls"][0].clone();
        assert_eq!(call["function"]["arguments"], json!("{}"));
    }
}

#[test]
fn each_result_is_a_message_and_failure_is_in_its_words() {
    let results = vec![
        Part::ToolResult(ToolResult::new("a", "1")),
        Part::ToolResult(ToolResult::error("b", "no such port")),
        Part::ToolResult(ToolResult::error("c", "")),
        Part::ToolResult(ToolResult::new("d", "")),
    ];
    let request = ask().message(Message::new(Role::Tool, results));
    assert_eq!(
        messages(&request).as_array().unwrap()[1..],
        [
            json!({"role": "tool", "tool_call_id": "a", "content": "1"}),
            json!({"role": "tool", "tool_call_id": "b", "content": "error: no such port"}),
            json!({"role": "tool", "tool_call_id": "c", "content": "error"}),
            json!({"role": "tool", "tool_call_id": "d", "content": ""}),
        ]
    );
}

#[test]
fn ids_longer_than_servers_take_are_shortened_alike_in_calls_and_results() {
    let long = "toolu_".repeat(10);
    let request = ask()
        .message(assistant(vec![call(&long, "{}"), call("short", "{}")]))
        .message(Message::tool_result(&long, "1"));
    let messages = messages(&request);
    let id = messages[1]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.len() <= 40);
    assert_eq!(messages[2]["tool_call_id"], id);
    assert_eq!(messages[1]["tool_calls"][1]["id"], "short");
}

#[test]
fn reasoning_is_left_out_with_a_warning_or_sent_back_where_it_is_wanted() {
    let thought = |state| Part::Reasoning(Reasoning::new("Hm.", state));
    let request = ask()
        .message(assistant(vec![thought(None), Part::text("a")]))
        .user("b");
    let (body, warnings) = encoded(&openai(), &request, Mode::Complete);
    assert_eq!(
        body["messages"][1],
        json!({"role": "assistant", "content": "a"})
    );
    assert_eq!(warnings.len(), 1);
    let (body, warnings) = encoded(&compatible().replay_reasoning(), &request, Mode::Complete);
    assert_eq!(
        body["messages"][1],
        json!({"role": "assistant", "content": "a", "reasoning_content": "Hm."})
    );
    assert_eq!(warnings, []);
    let foreign = ask()
        .message(assistant(vec![thought(Some(state())), Part::text("a")]))
        .user("b");
    let (_, warnings) = encoded(&compatible().replay_reasoning(), &foreign, Mode::Complete);
    assert_eq!(warnings.len(), 1, "the state beside it is not sent");
}

#[test]
fn a_turn_of_nothing_but_reasoning_is_no_turn() {
    let thought = Part::Reasoning(Reasoning::new("Hm.", None));
    let request = ask().message(assistant(vec![thought])).user("b");
    let (body, warnings) = encoded(&openai(), &request, Mode::Complete);
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    assert_eq!(warnings.len(), 1);
    let (body, _) = encoded(&compatible().replay_reasoning(), &request, Mode::Complete);
    assert_eq!(
        body["messages"][1]["content"], "",
        "where it is sent, it is one"
    );
}

#[test]
fn reasoning_goes_back_while_a_tool_loop_runs_and_not_from_earlier_turns() {
    let thought = |text: &str| Part::Reasoning(Reasoning::new(text, None));
    let request = ask()
        .message(assistant(vec![thought("Old."), call("c0", "{}")]))
        .message(Message::tool_result("c0", "high"))
        .message(assistant(vec![thought("Done."), Part::text("High.")]))
        .user("and now?")
        .message(assistant(vec![thought("New."), call("c1", "{}")]))
        .message(Message::tool_result("c1", "low"));
    for dialect in [
        OpenAiCompatible::deepseek("k"),
        OpenAiCompatible::moonshot("k"),
    ] {
        let (body, warnings) = encoded(&dialect, &request, Mode::Complete);
        let sent: Vec<_> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|message| message.get("reasoning_content"))
            .collect();
        assert_eq!(sent, ["New."]);
        assert_eq!(warnings.len(), 1, "the earlier ones are told");
    }
}

#[test]
fn reasoning_details_go_back_as_they_came_and_to_their_own_server_alone() {
    let details = r#"[{"type":"reasoning.text","text":"Hm.","signature":"c2ln","index":0}]"#;
    let kept = |provider: &str| {
        let json = RawValue::from_string(details.to_owned()).unwrap();
        let state = OpaqueState::new(provider, json);
        ask()
            .message(assistant(vec![
                Part::Reasoning(Reasoning::new("Hm.", Some(state))),
                call("c", "{}"),
            ]))
            .message(Message::tool_result("c", "high"))
    };
    let openrouter = OpenAiCompatible::openrouter("k");
    let (body, warnings) = encoded(&openrouter, &kept("openrouter"), Mode::Complete);
    let expected: Value = serde_json::from_str(details).unwrap();
    assert_eq!(body["messages"][1]["reasoning_details"], expected);
    assert_eq!(body["messages"][1].get("reasoning_content"), None);
    assert_eq!(warnings, []);
    for (dialect, request) in [
        (openrouter, kept("elsewhere")),
        (OpenAiCompatible::groq("k"), kept("openrouter")),
    ] {
        let (body, warnings) = encoded(&dialect, &request, Mode::Complete);
        assert!(!body.to_string().contains("c2ln"));
        assert_eq!(warnings.len(), 1);
    }
}

#[test]
fn mistral_gets_ids_of_nine_letters_and_digits_that_tie_results_to_calls() {
    let request = ask()
        .message(assistant(vec![
            call("functions.tide:0", "{}"),
            call("D681PevKs", "{}"),
        ]))
        .message(Message::tool_result("functions.tide:0", "high"))
        .message(Message::tool_result("D681PevKs", "low"));
    let (body, _) = encoded(&OpenAiCompatible::mistral("k"), &request, Mode::Complete);
    let calls = &body["messages"][1]["tool_calls"];
    let made = calls[0]["id"].as_str().unwrap();
    assert!(
        made.len() == 9 && made.bytes().all(|b| b.is_ascii_alphanumeric()),
        "{made}"
    );
    assert_eq!(body["messages"][2]["tool_call_id"], made);
    assert_eq!(calls[1]["id"], "D681PevKs");
    assert_eq!(body["messages"][3]["tool_call_id"], "D681PevKs");
}

#[test]
fn a_tool_choice_is_in_the_servers_words_and_warned_of_where_it_is_ignored() {
    let with = |choice| {
        ask()
            .tool(Tool::new("tide", no_arguments()))
            .tool_choice(choice)
    };
    let choice = |dialect: &OpenAiCompatible, choice| {
        let (body, warnings) = encoded(dialect, &with(choice), Mode::Complete);
        (body["tool_choice"].clone(), warnings.len())
    };
    let (mistral, ollama) = (OpenAiCompatible::mistral("k"), OpenAiCompatible::ollama());
    assert_eq!(choice(&mistral, ToolChoice::Required), (json!("any"), 0));
    assert_eq!(choice(&mistral, ToolChoice::Auto), (json!("auto"), 0));
    assert_eq!(
        choice(&compatible(), ToolChoice::Required),
        (json!("required"), 0)
    );
    assert_eq!(
        choice(&ollama, ToolChoice::Required),
        (json!("required"), 1)
    );
    assert_eq!(choice(&ollama, ToolChoice::None), (json!("none"), 1));
    assert_eq!(choice(&ollama, ToolChoice::Auto), (json!("auto"), 0));
}

#[test]
fn what_a_known_server_cannot_do_is_refused_before_any_network() {
    let refused = |dialect: &OpenAiCompatible, request: &Request| {
        let result = dialect.encode(request, Mode::Complete);
        result.err().map(|fault| fault.kind())
    };
    let schema = ask().response_format(ResponseFormat::json_schema(json!({"type": "object"})));
    let object = ask().response_format(ResponseFormat::JsonObject);
    let picture = |url: &str| {
        let parts = vec![Part::Image(Image::Url(url.to_owned()))];
        ask().message(Message::new(Role::User, parts))
    };
    let unsupported = Some(ErrorKind::Unsupported);
    let (deepseek, ollama) = (OpenAiCompatible::deepseek("k"), OpenAiCompatible::ollama());
    assert_eq!(refused(&deepseek, &schema), unsupported);
    assert_eq!(refused(&deepseek, &object), None);
    for by_schema in [
        OpenAiCompatible::lm_studio(),
        OpenAiCompatible::perplexity("k"),
    ] {
        assert_eq!(refused(&by_schema, &object), unsupported);
        assert_eq!(refused(&by_schema, &schema), None);
    }
    assert_eq!(
        refused(&ollama, &picture("https://x.test/a.png")),
        unsupported
    );
    assert_eq!(
        refused(&ollama, &picture("data:image/png;base64,AAAA")),
        None
    );
    assert_eq!(
        refused(&compatible(), &picture("https://x.test/a.png")),
        None
    );
    let stops = (0..17).fold(ask(), |request, n| request.stop(n.to_string()));
    assert_eq!(refused(&deepseek, &stops), unsupported);
    assert_eq!(refused(&OpenAiCompatible::mistral("k"), &stops), None);
}

#[test]
fn effort_stands_where_the_server_looks_for_it() {
    let request = ask().reasoning_effort("high");
    let (body, _) = encoded(&OpenAiCompatible::openrouter("k"), &request, Mode::Complete);
    assert_eq!(body["reasoning"], json!({"effort": "high"}));
    assert_eq!(body.get("reasoning_effort"), None);
    let (body, _) = encoded(&OpenAiCompatible::groq("k"), &request, Mode::Complete);
    assert_eq!(body["reasoning_effort"], "high");
    assert_eq!(body.get("reasoning"), None);
}

#[test]
fn what_another_provider_left_is_told_once_and_text_behind_calls_too() {
    let text = || Part::Text(Text::with_state("a", Some(state())));
    let request = ask().message(assistant(vec![text(), text()])).user("b");
    assert_eq!(encoded(&openai(), &request, Mode::Complete).1.len(), 1);
    let late = ask().message(assistant(vec![call("c", "{}"), Part::text("later")]));
    let (body, warnings) = encoded(&openai(), &late, Mode::Complete);
    assert_eq!(body["messages"][1]["content"], "later");
    assert_eq!(warnings.len(), 1);
}

#[test]
fn tool_choices_are_words_or_a_function() {
    let choice = |choice| {
        let tool = Tool::new("tide", json!({"type": "object"}));
        body(&ask().tool(tool).tool_choice(choice))["tool_choice"].clone()
    };
    assert_eq!(choice(ToolChoice::Auto), "auto");
    assert_eq!(choice(ToolChoice::None), "none");
    assert_eq!(choice(ToolChoice::Required), "required");
    assert_eq!(
        choice(ToolChoice::Tool("tide".to_owned())),
        json!({"type": "function", "function": {"name": "tide"}})
    );
}

#[test]
fn without_tools_nothing_is_said_about_them() {
    let request = ask()
        .tool_choice(ToolChoice::Auto)
        .parallel_tool_calls(true);
    assert_eq!(body(&request).as_object().unwrap().len(), 2);
    let option = request.provider_option("tools", json!([{"type": "web_search"}]));
    assert_eq!(body(&option)["tool_choice"], "auto");
}

#[test]
fn a_tool_without_arguments_has_a_schema_all_the_same() {
    let body = body(&ask().tool(Tool::new("stop", json!({}))));
    assert_eq!(
        body["tools"],
        json!([{"type": "function", "function": {
            "name": "stop", "parameters": {"type": "object", "properties": {}}}}])
    );
}

#[test]
fn formats_and_efforts_are_in_the_protocols_words() {
    let format = |format| body(&ask().response_format(format))["response_format"].clone();
    assert_eq!(
        format(ResponseFormat::JsonObject),
        json!({"type": "json_object"})
    );
    let schema = json!({"type": "object"});
    let unnamed = ResponseFormat::JsonSchema {
        name: String::new(),
        schema: schema.clone(),
        strict: false,
    };
    assert_eq!(
        format(unnamed),
        json!({"type": "json_schema",
               "json_schema": {"name": "response", "strict": false, "schema": schema}})
    );
    for word in [
        "none",
        "minimal",
        "low",
        "medium",
        "high",
        "xhigh",
        "max",
        "brand-new",
    ] {
        assert_eq!(
            body(&ask().reasoning_effort(Effort::from(word)))["reasoning_effort"],
            word
        );
    }
}

mod addresses {
    use http::HeaderMap;

    use super::*;

    fn base(dialect: &dyn Dialect) -> &str {
        dialect.base_url()
    }

    #[test]
    fn base_urls_lose_their_last_slash_and_keep_their_query_for_the_path() {
        assert_eq!(base(&openai()), "https://api.openai.com/v1");
        assert_eq!(base(&openai().base_url("http://h/v1/ ")), "http://h/v1");
        let azure =
            OpenAiCompatible::new("https://r.openai.azure.com/openai/deployments/d/?api-version=1");
        assert_eq!(
            base(&azure),
            "https://r.openai.azure.com/openai/deployments/d"
        );
        let path = azure.encode(&ask(), Mode::Complete).unwrap().path;
        assert_eq!(path, "/chat/completions?api-version=1");
        assert_eq!(
            azure.encode_models(None).unwrap().path,
            "/models?api-version=1"
        );
        assert_eq!(
            openai().encode_models(None).unwrap().method,
            http::Method::GET
        );
    }

    #[test]
    fn keys_go_into_their_header_and_stay_out_of_debug_prints() {
        let headers = |dialect: &dyn Dialect| {
            let mut headers = HeaderMap::new();
            dialect.authorize(&mut headers).unwrap();
            headers
        };
        let bearer = headers(&openai());
        assert_eq!(bearer["authorization"], "Bearer sk-test-0123456789");
        assert!(bearer["authorization"].is_sensitive());
        assert!(headers(&compatible()).is_empty());
        let azure = headers(&compatible().key("azure-key").key_header("api-key"));
        assert_eq!(azure["api-key"], "azure-key");
        assert!(azure["api-key"].is_sensitive() && !azure.contains_key("authorization"));
        let dialect = compatible()
            .key("secret-key")
            .header("x-proxy", "secret-value");
        assert!(!format!("{dialect:?} {:?}", openai()).contains("secret"));
        assert!(!format!("{:?}", openai()).contains("0123"));
    }

    #[test]
    fn accounts_and_own_headers_go_with_every_request() {
        let dialect = openai().organization("org-1").project("proj-1");
        for encoded in [
            dialect.encode(&ask(), Mode::Stream),
            dialect.encode_models(None),
        ] {
            let headers = encoded.unwrap().headers;
            assert_eq!(headers["OpenAI-Organization"], "org-1");
            assert_eq!(headers["OpenAI-Project"], "proj-1");
        }
        let dialect = compatible()
            .header("HTTP-Referer", "a")
            .header("http-referer", "b");
        let headers = dialect.encode(&ask(), Mode::Complete).unwrap().headers;
        assert_eq!(headers.get_all("http-referer").iter().count(), 1);
        assert_eq!(headers["http-referer"], "b");
    }

    #[test]
    fn what_cannot_be_a_header_is_refused_before_any_network() {
        let mut headers = HeaderMap::new();
        for dialect in [
            compatible().header("bad name", "x"),
            compatible().header("x-good", "secret\nvalue"),
        ] {
            let fault = dialect.encode(&ask(), Mode::Complete).unwrap_err();
            assert_eq!(fault.kind(), ErrorKind::BadRequest);
            assert!(!fault.message().unwrap().contains("secret"));
        }
        assert!(
            openai()
                .organization("org\n")
                .encode(&ask(), Mode::Complete)
                .is_err()
        );
        let fault = compatible()
            .key("k")
            .key_header("a b")
            .authorize(&mut headers)
            .unwrap_err();
        assert_eq!(fault.kind(), ErrorKind::BadRequest);
    }

    #[test]
    fn names_are_the_callers() {
        assert_eq!(Dialect::name(&openai()), "openai");
        assert_eq!(Dialect::name(&compatible()), "openai-compatible");
        assert_eq!(Dialect::name(&compatible().name("groq")), "groq");
    }
}
