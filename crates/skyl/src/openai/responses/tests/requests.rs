use super::*;
use crate::message::Image;
use crate::request::{Effort, ResponseFormat, Tool, ToolChoice};

fn ask() -> Request {
    Request::new("m").user("hi")
}

#[track_caller]
fn encoded(request: &Request, mode: Mode) -> (Value, Vec<String>) {
    request.validate().expect("valid everywhere");
    let encoded = responses().encode(request, mode).expect("must encode");
    assert_eq!(encoded.path, "/responses");
    let warnings = encoded.warnings.iter().map(ToString::to_string);
    (
        serde_json::from_slice(&encoded.body).unwrap(),
        warnings.collect(),
    )
}

#[track_caller]
fn body(request: &Request) -> Value {
    let (body, warnings) = encoded(request, Mode::Complete);
    assert_eq!(warnings, <[String; 0]>::default());
    body
}

#[track_caller]
fn refused(request: &Request, mode: Mode, kind: ErrorKind, message: &str) {
    let fault = responses()
        .encode(request, mode)
        .expect_err("must be refused");
    assert_eq!((fault.kind(), fault.message()), (kind, Some(message)));
}

fn own(json: &Value) -> Option<OpaqueState> {
    kept("responses", json)
}

fn kept(family: &str, json: &Value) -> Option<OpaqueState> {
    let json = serde_json::value::to_raw_value(json).ok()?;
    Some(OpaqueState::new(family, json))
}

fn assistant(parts: Vec<Part>) -> Message {
    Message::new(Role::Assistant, parts)
}

fn called(id: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall::new(id, "tide", arguments))
}

/// Everything a request can hold.
fn kiln() -> Request {
    let schema = json!({"type": "object", "properties": {"kiln": {"type": "string"}},
                        "required": ["kiln"], "additionalProperties": false});
    let reading = json!({"type": "object", "properties": {"celsius": {"type": "integer"}},
                         "required": ["celsius"], "additionalProperties": false});
    Request::new("gpt-5.4")
        .system("Answer in one line.")
        .message(Message::new(
            Role::User,
            vec![
                Part::text("How hot is kiln B?"),
                Part::Image(Image::Url("https://img.example/k.png".to_owned())),
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
        .tool_choice(ToolChoice::Tool("kiln_status".into()))
        .response_format(ResponseFormat::JsonSchema {
            name: "reading".to_owned(),
            schema: reading,
            strict: true,
        })
        .reasoning_effort("low")
        .max_tokens(400)
        .provider_option("reasoning", json!({"summary": "auto"}))
        .provider_option("text", json!({"verbosity": "low"}))
}

#[test]
fn a_full_request_is_what_the_reference_has() {
    let expected: Value =
        serde_json::from_slice(&harness::fixture("11-responses-request.json")).unwrap();
    assert_eq!(encoded(&kiln(), Mode::Stream), (expected, vec![]));
}

#[test]
fn requests_keep_their_shape() {
    insta::assert_json_snapshot!("plain", body(&ask()));
    let picture = Image::Data {
        media_type: "image/png".to_owned(),
        data: b"\x89PNG\r\n\x1a\n".to_vec(),
    };
    let thought = Reasoning::new("hm", own(&reasoning("rs_1", &["hm"], "c2VhbGVk")));
    let said = Text::with_state("Looking.", own(&json!({"phase": "commentary"})));
    let request = kiln()
        .message(assistant(vec![
            Part::Reasoning(thought),
            Part::Text(said),
            Part::text("More."),
            called("call_2", ""),
        ]))
        .message(Message::new(
            Role::Tool,
            vec![Part::ToolResult(ToolResult::error("call_2", "no port"))],
        ))
        .message(Message::new(
            Role::User,
            vec![Part::Image(picture), Part::text("And this?")],
        ))
        .user("Well?")
        .temperature(0.5)
        .top_p(0.9)
        .parallel_tool_calls(false);
    insta::assert_json_snapshot!("full", body(&request));
}

#[test]
fn what_is_not_set_is_not_sent() {
    assert_eq!(
        body(&ask()),
        json!({"model": "m", "store": false,
               "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}]})
    );
    assert_eq!(body(&ask().system("")).get("instructions"), None);
    assert_eq!(encoded(&ask(), Mode::Stream).0["stream"], json!(true));
}

#[test]
fn reasoning_comes_in_a_form_to_send_back_where_it_is_asked_for() {
    let include = |request: &Request| encoded(request, Mode::Complete).0.get("include").cloned();
    let asked = Some(json!(["reasoning.encrypted_content"]));
    assert_eq!(include(&ask()), None);
    assert_eq!(include(&ask().reasoning_effort(Effort::None)), None);
    assert_eq!(include(&ask().reasoning_effort(Effort::Low)), asked);
    let with = |reasoning: Value| ask().provider_option("reasoning", reasoning);
    assert_eq!(include(&with(json!({"effort": "high"}))), asked);
    assert_eq!(include(&with(json!({"summary": "auto"}))), asked);
    assert_eq!(include(&with(json!({"effort": "none"}))), None);
    assert_eq!(
        include(&with(json!({"summary": "auto"})).reasoning_effort(Effort::None)),
        None
    );
    // A history with such reasoning has a model that reasons.
    let thought = Reasoning::new("", own(&reasoning("rs", &[], "s")));
    let again = ask()
        .message(assistant(vec![Part::Reasoning(thought), Part::text("a")]))
        .user("?");
    assert_eq!(include(&again), asked);
}

#[test]
fn reasoning_goes_home_and_nowhere_else() {
    let sealed = reasoning("rs_1", &["hm"], "c2VhbGVk");
    let open = json!({"type": "reasoning", "id": "rs_2", "summary": [],
                      "content": [{"type": "reasoning_text", "text": "hm"}]});
    let bare = json!({"type": "reasoning", "id": "rs_3", "summary": []});
    let unknown = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let with = |state: Option<OpaqueState>| {
        let parts = vec![
            Part::Reasoning(Reasoning::new("hm", state)),
            Part::text("a"),
        ];
        ask().message(assistant(parts)).user("?")
    };
    for item in [&sealed, &open, &unknown] {
        let body = body(&with(own(item)));
        assert_eq!(&body["input"][1], item);
        assert_eq!(body["input"][2]["role"], "assistant");
    }
    let left_out =
        ["messages: reasoning without this provider's encrypted content is left out (1)"];
    for state in [own(&bare), kept("anthropic", &sealed), None] {
        let (body, warnings) = encoded(&with(state), Mode::Complete);
        assert_eq!(body["input"].as_array().unwrap().len(), 3, "{body}");
        assert_eq!(warnings, left_out);
    }
    // Where the provider keeps the items, the id is enough.
    let stored = with(own(&bare)).provider_option("store", true);
    assert_eq!(body(&stored)["input"][1], bare);
    assert_eq!(body(&stored)["store"], json!(true));
    // Another server's name is another family.
    let other = responses().name("elsewhere");
    let encoded = other.encode(&with(own(&sealed)), Mode::Complete).unwrap();
    assert_eq!(encoded.warnings.len(), 1);
}

#[test]
fn reasoning_that_no_answer_follows_is_left_out_with_a_warning() {
    let thought = |id: &str| {
        let item = reasoning(id, &[], "s");
        Part::Reasoning(Reasoning::new("", own(&item)))
    };
    let alone = ask().message(assistant(vec![thought("a"), thought("b")]));
    for request in [alone.clone(), alone.user("go on")] {
        let (body, warnings) = encoded(&request, Mode::Complete);
        let items = body["input"].as_array().unwrap();
        assert!(items.iter().all(|item| item["role"] == "user"), "{body}");
        assert_eq!(
            warnings,
            ["messages: reasoning that no answer follows is left out (2)"]
        );
    }
    for follows in [called("c", "{}"), Part::text("a")] {
        let parts = vec![thought("a"), thought("b"), follows];
        let body = body(&ask().message(assistant(parts)));
        assert_eq!(body["input"].as_array().unwrap().len(), 4, "{body}");
    }
}

#[test]
fn state_of_others_beside_text_and_calls_is_left_out_with_a_warning() {
    let text = Text::with_state("a", kept("gemini", &json!({"phase": "commentary"})));
    let mut call = ToolCall::new("c", "tide", "{}");
    call.state = kept("gemini", &json!({}));
    let request = ask()
        .message(assistant(vec![Part::Text(text), Part::ToolCall(call)]))
        .message(Message::tool_result("c", "x"));
    let (body, warnings) = encoded(&request, Mode::Complete);
    assert_eq!(body["input"][1].get("phase"), None);
    assert_eq!(
        warnings,
        ["messages: opaque state of another provider is left out (2)"]
    );
}

#[test]
fn what_the_api_has_no_field_for_is_refused_before_any_network() {
    let unsupported = |request: Request, message: &str| {
        for mode in [Mode::Complete, Mode::Stream] {
            refused(&request, mode, ErrorKind::Unsupported, message);
        }
    };
    unsupported(
        ask().stop("END"),
        "stop: this API has no stop texts; Chat Completions has",
    );
    unsupported(
        ask().max_tokens(15),
        "max_tokens: 15, and this API takes none below 16",
    );
    unsupported(
        ask().provider_option("background", true),
        "provider option `background`: the answer would come later, and nobody would ask for it",
    );
    assert_eq!(body(&ask().max_tokens(16))["max_output_tokens"], 16);
    let own = ask().max_tokens(5).provider_option("max_output_tokens", 5);
    assert_eq!(body(&own)["max_output_tokens"], 5);
    assert_eq!(
        body(&ask().provider_option("background", false))["background"],
        false
    );
}

#[test]
fn a_provider_option_cannot_turn_a_call_into_a_stream() {
    let with = |stream: Value| ask().provider_option("stream", stream);
    let message = "provider option `stream`: the call decides whether it streams";
    refused(
        &with(json!(true)),
        Mode::Complete,
        ErrorKind::BadRequest,
        message,
    );
    refused(
        &with(json!(false)),
        Mode::Stream,
        ErrorKind::BadRequest,
        message,
    );
    assert!(responses().encode(&with(json!(true)), Mode::Stream).is_ok());
    assert!(
        responses()
            .encode(&with(json!(null)), Mode::Complete)
            .is_ok()
    );
}

#[test]
fn provider_options_are_merged_deep_and_last() {
    let request = ask()
        .reasoning_effort("low")
        .temperature(0.5)
        .provider_option("temperature", Value::Null)
        .provider_option("reasoning", json!({"effort": "high", "summary": "auto"}))
        .provider_option("include", json!([]))
        .provider_option("service_tier", "flex");
    let body = body(&request);
    assert_eq!(body.get("temperature"), None);
    assert_eq!(
        body["reasoning"],
        json!({"effort": "high", "summary": "auto"})
    );
    assert_eq!(body["include"], json!([]));
    assert_eq!(body["service_tier"], "flex");
}

#[test]
fn tools_are_flat_and_strict_only_where_told() {
    let tools = |tool: Tool| body(&ask().tool(tool))["tools"][0].clone();
    assert_eq!(
        tools(Tool::new("clock", json!({}))),
        json!({"type": "function", "name": "clock", "strict": false,
               "parameters": {"type": "object", "properties": {}}})
    );
    let schema = json!({"type": "object"});
    assert_eq!(
        tools(Tool::new("t", schema.clone()).strict(true))["strict"],
        true
    );
    for (choice, expected) in [
        (ToolChoice::Auto, json!("auto")),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
        (
            ToolChoice::Tool("t".into()),
            json!({"type": "function", "name": "t"}),
        ),
    ] {
        let request = ask()
            .tool(Tool::new("t", schema.clone()))
            .tool_choice(choice);
        assert_eq!(body(&request)["tool_choice"], expected);
    }
    // Without tools there is nothing to choose from.
    let request = ask()
        .tool_choice(ToolChoice::Auto)
        .parallel_tool_calls(true);
    let body = body(&request);
    assert_eq!(
        ["tool_choice", "parallel_tool_calls"].map(|name| body.get(name)),
        [None, None]
    );
}

#[test]
fn formats_are_under_text() {
    let format = |format| body(&ask().response_format(format))["text"].clone();
    assert_eq!(
        format(ResponseFormat::JsonObject),
        json!({"format": {"type": "json_object"}})
    );
    let schema = json!({"type": "object"});
    let unnamed = ResponseFormat::JsonSchema {
        name: String::new(),
        schema: schema.clone(),
        strict: false,
    };
    assert_eq!(
        format(unnamed),
        json!({"format": {"type": "json_schema", "name": "response", "strict": false, "schema": schema}})
    );
}

// vercel/ai#4936: one id for several calls.
#[test]
fn calls_and_results_meet_under_ids_of_their_own() {
    let long = "x".repeat(64);
    let request = ask()
        .message(assistant(vec![
            called("a", "{}"),
            called("a", ""),
            called(&long, "{}"),
        ]))
        .message(Message::tool_result(&long, "3"))
        .message(Message::tool_result("a", "1"))
        .message(Message::tool_result("a", "2"))
        .message(assistant(vec![called("a", "{}")]))
        .message(Message::tool_result("a", "4"));
    let body = body(&request);
    let items = body["input"].as_array().unwrap();
    let of = |kind: &str, field: &str| -> Vec<(String, String)> {
        let items = items.iter().filter(|item| item["type"] == kind);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        items
            .map(|item| (text(&item["call_id"]), text(&item[field])))
            .collect()
    };
    let calls = of("function_call", "arguments");
    let results = of("function_call_output", "output");
    let ids: Vec<_> = calls.iter().map(|call| &call.0).collect();
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), 4);
    assert!(ids.iter().all(|id| id.len() <= 40));
    assert_eq!(
        ids,
        results.iter().map(|result| &result.0).collect::<Vec<_>>()
    );
    let told: Vec<_> = results.iter().map(|result| &*result.1).collect();
    assert_eq!(told, ["1", "2", "3", "4"]);
    assert!(calls.iter().all(|call| call.1 == "{}"));
}

#[test]
fn a_failed_tool_says_so_in_words() {
    let request = |content: &str| {
        let result = Part::ToolResult(ToolResult::error("c", content));
        ask()
            .message(assistant(vec![called("c", "{}")]))
            .message(Message::new(Role::Tool, vec![result]))
    };
    assert_eq!(
        body(&request("no port"))["input"][2]["output"],
        "error: no port"
    );
    assert_eq!(body(&request(""))["input"][2]["output"], "error");
}

#[test]
fn a_result_without_a_call_is_refused_unless_the_provider_has_the_call() {
    let request = Request::new("m").message(Message::tool_result("call_1", "x"));
    refused(
        &request,
        Mode::Complete,
        ErrorKind::BadRequest,
        "message 0 part 0: no earlier tool call has the id `call_1`",
    );
    for option in ["previous_response_id", "conversation"] {
        let request = request.clone().provider_option(option, "x_1");
        assert_eq!(
            body(&request)["input"],
            json!([{"type": "function_call_output", "call_id": "call_1", "output": "x"}])
        );
    }
}

#[test]
fn addresses_and_accounts_are_as_in_chat_completions() {
    let dialect = responses()
        .base_url("https://x.test/v1/?api-version=1")
        .organization("org")
        .project("proj");
    let encoded = dialect.encode(&ask(), Mode::Complete).unwrap();
    assert_eq!(Dialect::base_url(&dialect), "https://x.test/v1");
    assert_eq!(encoded.path, "/responses?api-version=1");
    assert_eq!(encoded.headers["openai-organization"], "org");
    assert_eq!(encoded.headers["openai-project"], "proj");
    assert_eq!(
        dialect.encode_models(None).unwrap().path,
        "/models?api-version=1"
    );
    assert_eq!(
        (Dialect::name(&responses()), responses().family()),
        ("responses", "responses")
    );
    let mut headers = HeaderMap::new();
    responses().authorize(&mut headers).unwrap();
    assert_eq!(headers["authorization"], "Bearer sk-test-0123456789");
    assert!(headers["authorization"].is_sensitive());
}

#[test]
fn models_are_listed_as_in_chat_completions() {
    let headers = HeaderMap::new();
    let head = Head::new(200, &headers, harness::now());
    let page = responses()
        .decode_models(&head, br#"{"object":"list","data":[{"id":"gpt-x"}]}"#)
        .unwrap();
    assert_eq!((page.models[0].id.as_str(), page.next), ("gpt-x", None));
}
