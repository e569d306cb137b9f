use http::Method;
use serde_json::{Value, json};

use super::*;
use crate::kind::ErrorKind;
use crate::message::{
    Image, Message, OpaqueState, Part, Reasoning, Role, Text, ToolCall, ToolResult,
};
use crate::request::{ResponseFormat, Tool, ToolChoice};

fn ask() -> Request {
    Request::new("gemini-3-pro").user("hi")
}

fn encoded(request: &Request) -> Encoded {
    request.validate().expect("valid everywhere");
    gemini()
        .encode(request, Mode::Complete)
        .expect("must encode")
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&encoded(request).body).unwrap()
}

fn warnings(request: &Request) -> Vec<String> {
    encoded(request)
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[track_caller]
fn refused(request: &Request, kind: ErrorKind, message: &str) {
    let fault = gemini()
        .encode(request, Mode::Complete)
        .expect_err("must be refused");
    assert_eq!((fault.kind(), fault.message()), (kind, Some(message)));
}

fn state(family: &str, json: &Value) -> Option<OpaqueState> {
    let json = serde_json::value::to_raw_value(json).ok()?;
    Some(OpaqueState::new(family, json))
}

fn signed(signature: &str) -> Option<OpaqueState> {
    state(NAME, &json!({"thoughtSignature": signature}))
}

fn call(id: &str, name: &str, kept: Option<OpaqueState>) -> Part {
    let mut call = ToolCall::new(id, name, r#"{"port":"Brest"}"#);
    call.state = kept;
    Part::ToolCall(call)
}

fn tide() -> Tool {
    Tool::new(
        "tide",
        json!({"type": "object", "properties": {"port": {"type": "string"}}}),
    )
}

#[test]
fn a_recorded_request_can_be_written_word_for_word() {
    let expected: Value =
        serde_json::from_slice(&harness::fixture("26-gemini-request.json")).unwrap();
    let declaration = &expected["tools"][0]["functionDeclarations"][0];
    let picture = Image::Data {
        media_type: "image/png".into(),
        data: b"\x89PNG\r\n\x1a\n".to_vec(),
    };
    let mut made = ToolCall::new("call_fx_0", "kiln_status", r#"{"kiln":"B"}"#);
    made.state = signed("c2lnLTQ=");
    let request = Request::new("gemini-3-pro")
        .system("Answer in one line.")
        .max_tokens(400)
        .message(Message::new(
            Role::User,
            vec![Part::text("How hot is this kiln?"), Part::Image(picture)],
        ))
        .message(Message::new(Role::Assistant, vec![Part::ToolCall(made)]))
        .message(Message::tool_result("call_fx_0", r#"{"celsius":1187}"#))
        .tool(
            Tool::new("kiln_status", declaration["parametersJsonSchema"].clone())
                .description("Reads a kiln."),
        )
        .tool_choice(ToolChoice::Auto)
        .stop("END")
        .reasoning_effort("low")
        .response_format(ResponseFormat::json_schema(
            expected["generationConfig"]["responseJsonSchema"].clone(),
        ));
    assert_eq!(body(&request), expected);
    assert_eq!(encoded(&request).warnings, []);
}

#[test]
fn the_smallest_and_a_full_request_look_like_this() {
    insta::assert_json_snapshot!("smallest", body(&ask()));
    let request = ask()
        .system("Answer in one line.")
        .max_tokens(64)
        .temperature(0.5)
        .top_p(0.9)
        .stop("END")
        .message(Message::new(
            Role::Assistant,
            vec![
                Part::text("Let me look."),
                call("a", "tide", signed("c2ln")),
                call("b", "moon", None),
            ],
        ))
        .message(Message::new(
            Role::Tool,
            vec![Part::ToolResult(ToolResult::error("b", "no such port"))],
        ))
        .message(Message::tool_result("a", "high at 10:03"))
        .message(Message::new(
            Role::User,
            vec![
                Part::Image(Image::Url("https://x.test/a.png".into())),
                Part::text("And here?"),
            ],
        ))
        .tool(tide().description("Reads the tide table."))
        .tool(Tool::new("moon", json!({})))
        .tool_choice(ToolChoice::Tool("tide".into()));
    insta::assert_json_snapshot!("full", body(&request));
}

// 0xPlaygrounds/rig#2283: set by the caller, missing on the wire.
#[test]
fn temperature_and_limits_are_in_the_generation_config() {
    let request = ask()
        .max_tokens(9)
        .temperature(0.0)
        .top_p(1.0)
        .stop("a")
        .stop("b");
    assert_eq!(
        body(&request)["generationConfig"],
        json!({"maxOutputTokens": 9, "temperature": 0.0, "topP": 1.0, "stopSequences": ["a", "b"]})
    );
    assert!(body(&ask()).get("generationConfig").is_none());
}

#[test]
fn the_path_names_the_model_and_the_method() {
    let path = |model: &str, mode| {
        let request = Request::new(model).user("hi");
        gemini().encode(&request, mode).unwrap().path
    };
    assert_eq!(
        path("gemini-3-pro", Mode::Complete),
        "/v1beta/models/gemini-3-pro:generateContent"
    );
    assert_eq!(
        path("models/gemini-3-pro", Mode::Stream),
        "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"
    );
    assert_eq!(
        path("tunedModels/mine", Mode::Complete),
        "/v1beta/tunedModels/mine:generateContent"
    );
    assert_eq!(
        path("sandbox-do-429(ra=1)*2,ok@t1", Mode::Complete),
        "/v1beta/models/sandbox-do-429%28ra%3D1%29%2A2%2Cok%40t1:generateContent"
    );
    assert_eq!(
        path("../x?y#z", Mode::Complete),
        "/v1beta/models/..%2Fx%3Fy%23z:generateContent"
    );
    assert_eq!(encoded(&ask()).method, Method::POST);
}

#[test]
fn a_base_url_may_have_a_version_or_not() {
    for (url, base, path) in [
        (
            "https://x.test",
            "https://x.test",
            "/v1beta/models?pageSize=1000",
        ),
        (
            "https://x.test/a/",
            "https://x.test/a",
            "/v1beta/models?pageSize=1000",
        ),
        (
            "https://v1.test",
            "https://v1.test",
            "/v1beta/models?pageSize=1000",
        ),
        (
            "https://x.test/vertex",
            "https://x.test/vertex",
            "/v1beta/models?pageSize=1000",
        ),
        (
            "https://x.test/v1beta",
            "https://x.test/v1beta",
            "/models?pageSize=1000",
        ),
        (
            "https://x.test/v1/",
            "https://x.test/v1",
            "/models?pageSize=1000",
        ),
        (
            "https://x.test/v1alpha2",
            "https://x.test/v1alpha2",
            "/models?pageSize=1000",
        ),
        (
            "https://x.test/v1/projects/p/publishers/google",
            "https://x.test/v1/projects/p/publishers/google",
            "/models?pageSize=1000",
        ),
    ] {
        let dialect = gemini().base_url(url);
        assert_eq!(Dialect::base_url(&dialect), base);
        assert_eq!(dialect.encode_models(None).unwrap().path, path, "{url}");
    }
    let next = gemini().encode_models(Some("a=/&")).unwrap();
    assert_eq!(
        next.path,
        "/v1beta/models?pageSize=1000&pageToken=a%3D%2F%26"
    );
    assert_eq!(next.method, Method::GET);
}

#[test]
fn the_key_goes_into_its_own_header_or_as_a_bearer() {
    let mut headers = HeaderMap::new();
    gemini().authorize(&mut headers).unwrap();
    assert_eq!(headers["x-goog-api-key"], "AIza-test-0123456789");
    assert!(headers["x-goog-api-key"].is_sensitive() && headers.len() == 1);
    let mut headers = HeaderMap::new();
    gemini().bearer().authorize(&mut headers).unwrap();
    assert_eq!(headers["authorization"], "Bearer AIza-test-0123456789");
    assert!(headers["authorization"].is_sensitive() && headers.len() == 1);
    assert!(!format!("{:?}", gemini()).contains("0123456789"));
}

#[test]
fn the_whole_tool_schema_is_kept_and_an_empty_one_left_out() {
    let schema = json!({
        "$defs": {"port": {"enum": ["Brest", 7, null]}},
        "type": "object",
        "properties": {"port": {"$ref": "#/$defs/port"}},
        "additionalProperties": false,
    });
    let request = ask()
        .tool(Tool::new("t", schema.clone()))
        .tool(Tool::new("u", json!({})));
    assert_eq!(
        body(&request)["tools"],
        json!([{"functionDeclarations": [
            {"name": "t", "parametersJsonSchema": schema},
            {"name": "u"},
        ]}])
    );
    assert_eq!(warnings(&request), [""; 0]);
    let strict = ask().tool(tide().strict(true));
    assert_eq!(
        warnings(&strict),
        ["tools: strict cannot be asked for per tool"]
    );
    assert_eq!(warnings(&ask().tool(tide().strict(false))), [""; 0]);
}

#[test]
fn tool_choice_in_all_its_forms() {
    for (choice, expected) in [
        (ToolChoice::Auto, json!({"mode": "AUTO"})),
        (ToolChoice::None, json!({"mode": "NONE"})),
        (ToolChoice::Required, json!({"mode": "ANY"})),
        (
            ToolChoice::Tool("tide".into()),
            json!({"mode": "ANY", "allowedFunctionNames": ["tide"]}),
        ),
    ] {
        let request = ask().tool(tide()).tool_choice(choice);
        assert_eq!(
            body(&request)["toolConfig"],
            json!({"functionCallingConfig": expected})
        );
    }
    assert_eq!(body(&ask().tool(tide()))["toolConfig"], Value::Null);
    assert_eq!(
        body(&ask().tool_choice(ToolChoice::Auto))["toolConfig"],
        Value::Null
    );
}

#[test]
fn one_call_at_a_time_cannot_be_asked_for() {
    let request = ask().tool(tide()).parallel_tool_calls(false);
    assert_eq!(
        warnings(&request),
        ["parallel_tool_calls: this provider cannot be kept from calling several tools at once"]
    );
    assert_eq!(
        warnings(&ask().tool(tide()).parallel_tool_calls(true)),
        [""; 0]
    );
    assert_eq!(warnings(&ask().parallel_tool_calls(false)), [""; 0]);
}

#[test]
fn effort_is_a_level_or_a_budget_by_model() {
    let config = |model: &str, effort: &str| {
        let request = Request::new(model).user("hi").reasoning_effort(effort);
        body(&request)["generationConfig"]["thinkingConfig"].clone()
    };
    for (effort, level) in [
        ("minimal", "MINIMAL"),
        ("low", "LOW"),
        ("medium", "MEDIUM"),
        ("high", "HIGH"),
        ("xhigh", "HIGH"),
        ("max", "HIGH"),
        ("extreme", "EXTREME"),
    ] {
        let expected = json!({"includeThoughts": true, "thinkingLevel": level});
        assert_eq!(config("gemini-3-pro", effort), expected, "{effort}");
    }
    for (effort, tokens) in [
        ("minimal", 512),
        ("low", 1_024),
        ("medium", 8_192),
        ("high", 16_384),
        ("xhigh", 24_576),
        ("max", 24_576),
    ] {
        let expected = json!({"includeThoughts": true, "thinkingBudget": tokens});
        assert_eq!(config("gemini-2.5-flash", effort), expected, "{effort}");
    }
    for model in ["gemini-3-pro", "gemini-2.5-flash"] {
        assert_eq!(config(model, "none"), json!({"thinkingBudget": 0}));
    }
    assert_eq!(warnings(&ask().reasoning_effort("high")), [""; 0]);
    assert_eq!(
        warnings(&ask().reasoning_effort("max")),
        ["reasoning_effort: max is sent as the most this provider has"]
    );
    refused(
        &Request::new("gemini-2.5-flash")
            .user("hi")
            .reasoning_effort("extreme"),
        ErrorKind::Unsupported,
        "this model knows no effort of that name; set a thinkingBudget in provider options",
    );
}

#[test]
fn structured_output_with_and_without_a_schema() {
    let request = ask().response_format(ResponseFormat::JsonObject);
    assert_eq!(
        body(&request)["generationConfig"],
        json!({"responseMimeType": "application/json"})
    );
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let request = ask().response_format(ResponseFormat::json_schema(schema.clone()));
    assert_eq!(
        body(&request)["generationConfig"],
        json!({"responseMimeType": "application/json", "responseJsonSchema": schema})
    );
    assert_eq!(warnings(&request), [""; 0]);
    let loose = ResponseFormat::JsonSchema {
        name: String::new(),
        schema,
        strict: false,
    };
    assert_eq!(
        warnings(&ask().response_format(loose)),
        ["response_format: this provider always holds the answer to the schema"]
    );
}

#[test]
fn more_than_five_stop_texts_are_refused() {
    let five = ["a", "b", "c", "d", "e"]
        .into_iter()
        .fold(ask(), Request::stop);
    assert!(gemini().encode(&five, Mode::Complete).is_ok());
    refused(
        &five.stop("f"),
        ErrorKind::Unsupported,
        "at most 5 stop texts",
    );
}

#[test]
fn results_come_in_the_order_of_the_calls_under_their_names() {
    let request = ask()
        .message(Message::new(
            Role::Assistant,
            vec![call("x", "tide", signed("s")), call("y", "moon", None)],
        ))
        .message(Message::user("Hurry."))
        .message(Message::tool_result("y", "full"))
        .message(Message::tool_result("x", "high"));
    assert_eq!(
        body(&request)["contents"][2],
        json!({"role": "user", "parts": [
            {"functionResponse": {"name": "tide", "response": {"output": "high"}}},
            {"functionResponse": {"name": "moon", "response": {"output": "full"}}},
            {"text": "Hurry."},
        ]})
    );
}

#[test]
fn a_result_is_an_object_whatever_the_tool_said() {
    for (result, expected) in [
        (
            ToolResult::new("x", r#"{"celsius":1187}"#),
            json!({"celsius": 1187}),
        ),
        (ToolResult::new("x", "plain"), json!({"output": "plain"})),
        (ToolResult::new("x", ""), json!({"output": ""})),
        (ToolResult::new("x", "[1,2]"), json!({"output": "[1,2]"})),
        (
            ToolResult::new("x", "{broken"),
            json!({"output": "{broken"}),
        ),
        (
            ToolResult::new("x", r#"{"error":"none"}"#),
            json!({"output": {"error": "none"}}),
        ),
        (
            ToolResult::error("x", "no such port"),
            json!({"error": "no such port"}),
        ),
        (
            ToolResult::error("x", r#"{"code":5}"#),
            json!({"error": {"code": 5}}),
        ),
    ] {
        let request = ask()
            .message(Message::new(Role::Assistant, vec![call("x", "tide", None)]))
            .message(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        let response = &body(&request)["contents"][2]["parts"][0]["functionResponse"]["response"];
        assert_eq!(response, &expected);
    }
}

#[test]
fn ids_go_back_only_if_the_provider_gave_them() {
    let theirs = state(NAME, &json!({"thoughtSignature": "s", "id": "fc_1"}));
    let request = ask()
        .message(Message::new(
            Role::Assistant,
            vec![call("fc_1", "tide", theirs), call("call_1", "moon", None)],
        ))
        .message(Message::tool_result("fc_1", "a"))
        .message(Message::tool_result("call_1", "b"));
    let contents = &body(&request)["contents"];
    assert_eq!(contents[1]["parts"][0]["functionCall"]["id"], "fc_1");
    assert_eq!(contents[2]["parts"][0]["functionResponse"]["id"], "fc_1");
    assert!(contents[1]["parts"][1]["functionCall"].get("id").is_none());
    assert!(
        contents[2]["parts"][1]["functionResponse"]
            .get("id")
            .is_none()
    );
}

// prism-php/prism#830: a call without its signature is answered with a 400.
#[test]
fn signatures_go_back_on_the_very_part() {
    let request = ask().message(Message::new(
        Role::Assistant,
        vec![
            Part::Reasoning(Reasoning::new("hm", signed("t"))),
            Part::Text(Text::with_state("a", signed("u"))),
            Part::Text(Text::with_state("", signed("v"))),
            Part::text(""),
            call("x", "tide", signed("w")),
            call("y", "moon", None),
        ],
    ));
    let args = json!({"port": "Brest"});
    assert_eq!(
        body(&request)["contents"][1]["parts"],
        json!([
            {"text": "hm", "thought": true, "thoughtSignature": "t"},
            {"text": "a", "thoughtSignature": "u"},
            {"text": "", "thoughtSignature": "v"},
            {"functionCall": {"name": "tide", "args": args}, "thoughtSignature": "w"},
            {"functionCall": {"name": "moon", "args": args}},
        ])
    );
    assert_eq!(warnings(&request), [""; 0]);
}

#[test]
fn a_turn_of_foreign_calls_skips_the_check_on_its_first() {
    let request = ask().message(Message::new(
        Role::Assistant,
        vec![call("x", "tide", None), call("y", "moon", None)],
    ));
    let parts = &body(&request)["contents"][1]["parts"];
    assert_eq!(
        parts[0]["thoughtSignature"],
        "skip_thought_signature_validator"
    );
    assert!(parts[1].get("thoughtSignature").is_none());
}

#[test]
fn state_and_reasoning_of_others_are_dropped_with_a_warning() {
    let theirs = || {
        state(
            "anthropic",
            &json!({"type": "thinking", "signature": "sig"}),
        )
    };
    let request = ask().message(Message::new(
        Role::Assistant,
        vec![
            Part::Reasoning(Reasoning::new("hm", theirs())),
            Part::Reasoning(Reasoning::new("bare", None)),
            Part::Text(Text::with_state("a", theirs())),
            call("x", "tide", theirs()),
        ],
    ));
    let text = String::from_utf8(encoded(&request).body.to_vec()).unwrap();
    assert!(
        !text.contains("sig\"") && !text.contains("hm") && !text.contains("bare"),
        "{text}"
    );
    assert_eq!(
        warnings(&request),
        [
            "messages: reasoning without this provider's signature is left out (2)",
            "messages: opaque state of another provider is left out (2)",
        ]
    );
}

#[test]
fn a_turn_with_nothing_left_is_left_out() {
    let request = ask()
        .message(Message::new(
            Role::Assistant,
            vec![Part::Reasoning(Reasoning::new("hm", None))],
        ))
        .user("b");
    let contents = &body(&request)["contents"];
    assert_eq!(
        contents,
        &json!([{"role": "user", "parts": [{"text": "hi"}, {"text": "b"}]}])
    );
    assert_eq!(warnings(&request).len(), 2);
}

#[test]
fn arguments_that_are_no_object_are_refused() {
    for arguments in ["null", "[]", "{\"a\":"] {
        let part = Part::ToolCall(ToolCall::new("c", "t", arguments));
        refused(
            &ask().message(Message::new(Role::Assistant, vec![part])),
            ErrorKind::BadRequest,
            "the arguments of tool call `c` must be one JSON object",
        );
    }
    refused(
        &ask().message(Message::tool_result("nope", "x")),
        ErrorKind::BadRequest,
        "message 1 part 0: no earlier tool call has the id `nope`",
    );
}

#[test]
fn pictures_by_address_name_their_type_where_it_shows() {
    for (url, expected) in [
        (
            "https://x.test/a.JPG?size=1",
            json!({"mimeType": "image/jpeg", "fileUri": "https://x.test/a.JPG?size=1"}),
        ),
        ("gs://bucket/a", json!({"fileUri": "gs://bucket/a"})),
        (
            "https://x.test/a.bin",
            json!({"fileUri": "https://x.test/a.bin"}),
        ),
    ] {
        let picture = Part::Image(Image::Url(url.into()));
        let request = ask().message(Message::new(Role::User, vec![picture]));
        assert_eq!(
            body(&request)["contents"][0]["parts"][1]["fileData"],
            expected
        );
    }
    let data = Part::Image(Image::Url("data:image/png;base64,AAAA".into()));
    let request = ask().message(Message::new(Role::User, vec![data]));
    assert_eq!(
        body(&request)["contents"][0]["parts"][1]["inlineData"],
        json!({"mimeType": "image/png", "data": "AAAA"})
    );
}

#[test]
fn provider_options_are_merged_deep() {
    let request = ask()
        .max_tokens(5)
        .provider_option(
            "generationConfig",
            json!({"topK": 3, "maxOutputTokens": null}),
        )
        .provider_option("cachedContent", "c");
    assert_eq!(body(&request)["generationConfig"], json!({"topK": 3}));
    assert_eq!(body(&request)["cachedContent"], "c");
}

#[test]
fn several_candidates_are_refused() {
    let many = |n: u32| ask().provider_option("generationConfig", json!({"candidateCount": n}));
    refused(
        &many(2),
        ErrorKind::Unsupported,
        "provider option `candidateCount`: an answer is one candidate; make several calls",
    );
    assert!(gemini().encode(&many(1), Mode::Complete).is_ok());
}
