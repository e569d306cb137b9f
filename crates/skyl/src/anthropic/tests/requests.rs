use http::Method;
use serde_json::{Value, json};

use super::*;
use crate::kind::ErrorKind;
use crate::message::{
    Image, Message, OpaqueState, Part, Reasoning, Role, Text, ToolCall, ToolResult,
};
use crate::request::{ResponseFormat, Tool, ToolChoice};

fn ask() -> Request {
    Request::new("claude-opus-4-7").max_tokens(64).user("hi")
}

fn encoded(request: &Request) -> Encoded {
    request.validate().expect("valid everywhere");
    anthropic()
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
fn refused(dialect: &Anthropic, request: &Request, kind: ErrorKind, message: &str) {
    let fault = dialect
        .encode(request, Mode::Complete)
        .expect_err("must be refused");
    assert_eq!((fault.kind(), fault.message()), (kind, Some(message)));
}

fn state(family: &str, json: &Value) -> Option<OpaqueState> {
    let json = serde_json::value::to_raw_value(json).ok()?;
    Some(OpaqueState::new(family, json))
}

fn weather() -> Tool {
    Tool::new(
        "tide",
        json!({"type": "object", "properties": {"port": {"type": "string"}}}),
    )
}

fn call(id: &str) -> Part {
    Part::ToolCall(ToolCall::new(id, "tide", r#"{"port":"Brest"}"#))
}

#[test]
fn a_recorded_request_can_be_written_word_for_word() {
    let mut expected: Value =
        serde_json::from_slice(&harness::fixture("17-anthropic-request.json")).unwrap();
    // False is the default of the field, and left out.
    let result = &mut expected["messages"][2]["content"][0];
    result.as_object_mut().unwrap().remove("is_error");
    let schema = |key: &str| expected["tools"][0][key].clone();
    let signed = json!({"type": "thinking", "signature": "c2lnLTE="});
    let picture = Image::Data {
        media_type: "image/png".into(),
        data: b"\x89PNG\r\n\x1a\n".to_vec(),
    };
    let request = Request::new("claude-opus-4-7")
        .max_tokens(2_048)
        .message(Message::new(
            Role::User,
            vec![Part::text("How hot is this kiln?"), Part::Image(picture)],
        ))
        .message(Message::new(
            Role::Assistant,
            vec![
                Part::Reasoning(Reasoning::new(
                    "Read the gauge first.",
                    state(NAME, &signed),
                )),
                Part::ToolCall(ToolCall::new("toolu_1", "kiln_status", r#"{"kiln":"B"}"#)),
            ],
        ))
        .message(Message::tool_result("toolu_1", r#"{"celsius":1187}"#))
        .tool(Tool::new("kiln_status", schema("input_schema")).description("Reads a kiln."))
        .tool_choice(ToolChoice::Auto)
        .parallel_tool_calls(false)
        .reasoning_effort("low")
        .response_format(ResponseFormat::json_schema(
            expected["output_config"]["format"]["schema"].clone(),
        ))
        .stop("END")
        .provider_option("system", expected["system"].clone());
    let encoded = anthropic().encode(&request, Mode::Stream).unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&encoded.body).unwrap(),
        expected
    );
    assert_eq!(encoded.warnings, []);
    assert_eq!(
        (encoded.method, encoded.path.as_str()),
        (Method::POST, "/v1/messages")
    );
}

#[test]
fn the_smallest_and_a_full_request_look_like_this() {
    insta::assert_json_snapshot!("smallest", body(&ask()));
    let request = ask()
        .system("Answer in one line.")
        .temperature(0.5)
        .top_p(0.9)
        .stop("END")
        .message(Message::new(
            Role::Assistant,
            vec![Part::text("Let me look."), call("toolu_1"), call("toolu_2")],
        ))
        .message(Message::new(
            Role::Tool,
            vec![Part::ToolResult(ToolResult::error(
                "toolu_2",
                "no such port",
            ))],
        ))
        .message(Message::tool_result("toolu_1", "high at 10:03"))
        .message(Message::new(
            Role::User,
            vec![
                Part::Image(Image::Url("https://x.test/a.png".into())),
                Part::text("And here?"),
            ],
        ))
        .tool(weather().description("Reads the tide table.").strict(true))
        .tool(Tool::new("moon", json!({})))
        .tool_choice(ToolChoice::Tool("tide".into()));
    insta::assert_json_snapshot!("full", body(&request));
}

#[test]
fn the_headers_carry_the_version_and_the_betas() {
    let request = ask();
    let encoded = anthropic().encode(&request, Mode::Complete).unwrap();
    assert_eq!(encoded.headers["anthropic-version"], "2023-06-01");
    assert!(!encoded.headers.contains_key("anthropic-beta"));
    let dialect = anthropic().version("2026-10-21").beta("a").beta("b");
    let encoded = dialect.encode(&request, Mode::Complete).unwrap();
    assert_eq!(encoded.headers["anthropic-version"], "2026-10-21");
    assert_eq!(encoded.headers["anthropic-beta"], "a,b");
    let odd = anthropic().version("2023\n");
    refused(
        &odd,
        &request,
        ErrorKind::BadRequest,
        "version holds a character no header can carry",
    );
    let odd = anthropic().beta("\u{7f}");
    refused(
        &odd,
        &request,
        ErrorKind::BadRequest,
        "beta holds a character no header can carry",
    );
}

#[test]
fn the_key_goes_into_its_own_header_or_as_a_bearer() {
    let mut headers = HeaderMap::new();
    anthropic().authorize(&mut headers).unwrap();
    assert_eq!(headers["x-api-key"], "sk-ant-test-0123456789");
    assert!(headers["x-api-key"].is_sensitive() && headers.len() == 1);
    let mut headers = HeaderMap::new();
    anthropic().bearer().authorize(&mut headers).unwrap();
    assert_eq!(headers["authorization"], "Bearer sk-ant-test-0123456789");
    assert!(headers["authorization"].is_sensitive() && headers.len() == 1);
    assert!(!format!("{:?}", anthropic()).contains("0123456789"));
}

#[test]
fn a_base_url_may_end_in_v1_or_not() {
    assert_eq!(anthropic().base_url, "https://api.anthropic.com");
    for url in [
        "https://x.test/a",
        "https://x.test/a/",
        "https://x.test/a/v1",
        "https://x.test/a/v1/",
    ] {
        assert_eq!(
            anthropic().base_url(url).base_url,
            "https://x.test/a",
            "{url}"
        );
    }
    assert_eq!(
        anthropic().base_url("https://x.test/v11").base_url,
        "https://x.test/v11"
    );
}

#[test]
fn max_tokens_has_a_default_by_model() {
    for (model, expected) in [
        ("claude-3-opus-20240229", 4_096),
        ("claude-3-haiku-20240307", 4_096),
        ("claude-3-5-sonnet-20241022", 8_192),
        ("claude-3-7-sonnet-20250219", 21_333),
        ("claude-opus-4-7", 21_333),
        ("claude-sonnet-9", 21_333),
        ("glm-4.7", 4_096),
        ("sandbox-large", 4_096),
    ] {
        assert_eq!(
            body(&Request::new(model).user("hi"))["max_tokens"],
            expected,
            "{model}"
        );
    }
    assert_eq!(body(&ask())["max_tokens"], 64);
}

#[test]
fn sampling_is_refused_by_the_version_that_knows_none() {
    let new = anthropic().version("2026-10-21");
    refused(
        &new,
        &ask().temperature(0.0),
        ErrorKind::Unsupported,
        "temperature is refused by this version of the API",
    );
    refused(
        &new,
        &ask().top_p(1.0),
        ErrorKind::Unsupported,
        "top_p is refused by this version of the API",
    );
    assert!(new.encode(&ask(), Mode::Complete).is_ok());
    let old = body(&ask().temperature(0.0).top_p(1.0));
    assert_eq!(
        (&old["temperature"], &old["top_p"]),
        (&json!(0.0), &json!(1.0))
    );
    refused(
        &anthropic(),
        &ask().temperature(1.1),
        ErrorKind::Unsupported,
        "temperature must be at most 1",
    );
}

#[test]
fn the_whole_tool_schema_is_kept() {
    let schema = json!({
        "$defs": {"port": {"enum": ["Brest", 7, null]}},
        "type": "object",
        "properties": {"port": {"$ref": "#/$defs/port"}},
        "required": ["port", 5],
        "additionalProperties": false,
        "x-note": {"deep": [1, 2]},
    });
    let tools = &body(&ask().tool(Tool::new("t", schema.clone())))["tools"];
    assert_eq!(tools, &json!([{"name": "t", "input_schema": schema}]));
}

#[test]
fn a_tool_without_parameters_gets_an_object_schema() {
    let tools = &body(&ask().tool(Tool::new("t", json!({}))))["tools"];
    assert_eq!(
        tools,
        &json!([{"name": "t", "input_schema": {"type": "object"}}])
    );
}

#[test]
fn tool_choice_in_all_its_forms() {
    for (choice, parallel, expected) in [
        (None, None, Value::Null),
        (None, Some(true), Value::Null),
        (
            None,
            Some(false),
            json!({"type": "auto", "disable_parallel_tool_use": true}),
        ),
        (Some(ToolChoice::Auto), None, json!({"type": "auto"})),
        (Some(ToolChoice::None), Some(false), json!({"type": "none"})),
        (Some(ToolChoice::Required), None, json!({"type": "any"})),
        (
            Some(ToolChoice::Tool("tide".into())),
            Some(false),
            json!({"type": "tool", "name": "tide", "disable_parallel_tool_use": true}),
        ),
    ] {
        let mut request = ask().tool(weather());
        request.tool_choice = choice;
        request.parallel_tool_calls = parallel;
        assert_eq!(body(&request)["tool_choice"], expected);
    }
}

#[test]
fn a_choice_without_tools_is_not_sent_unless_the_options_bring_tools() {
    let request = ask()
        .tool_choice(ToolChoice::Auto)
        .parallel_tool_calls(false);
    assert_eq!(body(&request)["tool_choice"], Value::Null);
    let tools = json!([{"type": "web_search_20250305", "name": "web_search"}]);
    let request = request.provider_option("tools", tools.clone());
    assert_eq!(body(&request)["tool_choice"]["type"], "auto");
    assert_eq!(body(&request)["tools"], tools);
}

#[test]
fn effort_says_how_hard_and_whether_to_think() {
    for (effort, thinking, word) in [
        ("none", "disabled", Value::Null),
        ("low", "adaptive", json!("low")),
        ("max", "adaptive", json!("max")),
        ("extreme", "adaptive", json!("extreme")),
    ] {
        let request = ask().reasoning_effort(effort);
        assert_eq!(body(&request)["thinking"]["type"], thinking, "{effort}");
        assert_eq!(body(&request)["output_config"]["effort"], word, "{effort}");
        assert_eq!(warnings(&request), [""; 0], "{effort}");
    }
    assert_eq!(body(&ask())["thinking"], Value::Null);
    let request = ask().reasoning_effort("minimal");
    assert_eq!(body(&request)["output_config"]["effort"], "low");
    assert_eq!(
        warnings(&request),
        ["reasoning_effort: minimal is sent as low"]
    );
}

#[test]
fn a_forced_call_leaves_thinking_out_and_says_so() {
    let request = ask().tool(weather()).reasoning_effort("high");
    assert_eq!(
        body(&request.clone().tool_choice(ToolChoice::Auto))["thinking"]["type"],
        "adaptive"
    );
    let request = request.tool_choice(ToolChoice::Required);
    assert_eq!(body(&request)["thinking"], Value::Null);
    assert_eq!(body(&request)["output_config"]["effort"], "high");
    assert_eq!(
        warnings(&request),
        ["reasoning_effort: thinking is left out, since the tool choice forces a call"]
    );
}

#[test]
fn structured_output_needs_a_schema() {
    let schema = json!({"type": "object"});
    let request = ask().response_format(ResponseFormat::json_schema(schema.clone()));
    let format = json!({"type": "json_schema", "schema": schema});
    assert_eq!(body(&request)["output_config"], json!({"format": format}));
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
    refused(
        &anthropic(),
        &ask().response_format(ResponseFormat::JsonObject),
        ErrorKind::Unsupported,
        "response format: JSON needs a schema with this provider",
    );
}

#[test]
fn results_of_several_turns_come_first_in_one_user_turn() {
    let request = ask()
        .message(Message::new(Role::Assistant, vec![call("a"), call("b")]))
        .message(Message::user("Hurry."))
        .message(Message::tool_result("b", "2"))
        .message(Message::tool_result("a", ""));
    assert_eq!(
        body(&request)["messages"][2],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a"},
            {"type": "tool_result", "tool_use_id": "b", "content": "2"},
            {"type": "text", "text": "Hurry."},
        ]})
    );
}

#[test]
fn neighbours_of_one_role_are_merged() {
    let request = ask()
        .user("there")
        .message(Message::assistant("a"))
        .message(Message::assistant("b"));
    let messages = &body(&request)["messages"];
    assert_eq!(messages.as_array().unwrap().len(), 2);
    assert_eq!(
        messages[0]["content"][1],
        json!({"type": "text", "text": "there"})
    );
    assert_eq!(
        messages[1]["content"][1],
        json!({"type": "text", "text": "b"})
    );
}

#[test]
fn the_first_turn_must_be_the_users() {
    let request = Request::new("m").message(Message::assistant("a")).user("b");
    refused(
        &anthropic(),
        &request,
        ErrorKind::Unsupported,
        "the first message must be the user's",
    );
}

#[test]
fn empty_text_is_left_out_and_a_turn_of_nothing_else_is_refused() {
    let parts = vec![Part::text(""), Part::text("x")];
    let request = Request::new("m").message(Message::new(Role::User, parts));
    assert_eq!(
        body(&request)["messages"][0]["content"],
        json!([{"type": "text", "text": "x"}])
    );
    refused(
        &anthropic(),
        &ask().message(Message::assistant("a")).user(""),
        ErrorKind::Unsupported,
        "message 2: this provider takes no turn of empty text",
    );
    let request = ask().message(Message::assistant("")).user("b");
    assert_eq!(body(&request)["messages"].as_array().unwrap().len(), 1);
    assert_eq!(
        warnings(&request),
        ["messages[1]: an assistant turn with nothing to send is left out"]
    );
}

#[test]
fn an_empty_system_prompt_is_none() {
    assert_eq!(body(&ask().system(""))["system"], Value::Null);
    assert_eq!(body(&ask().system("s"))["system"], "s");
}

// 0xPlaygrounds/rig#1964, #1958: `input` sent as text or null is answered with a 400.
#[test]
fn input_of_a_replayed_call_is_always_an_object() {
    for (arguments, expected) in [
        ("", json!({})),
        ("  ", json!({})),
        (" {\"a\": 1.50}", json!({"a": 1.5})),
    ] {
        let part = Part::ToolCall(ToolCall::new("c", "t", arguments));
        let request = ask().message(Message::new(Role::Assistant, vec![part]));
        assert_eq!(
            body(&request)["messages"][1]["content"][0]["input"],
            expected,
            "{arguments}"
        );
    }
    for arguments in ["null", "[]", "\"x\"", "{\"a\":", "{} {}"] {
        let part = Part::ToolCall(ToolCall::new("c", "t", arguments));
        let request = ask().message(Message::new(Role::Assistant, vec![part]));
        refused(
            &anthropic(),
            &request,
            ErrorKind::BadRequest,
            "the arguments of tool call `c` must be one JSON object",
        );
    }
}

#[test]
fn numbers_in_arguments_go_back_as_the_model_wrote_them() {
    let arguments = r#"{"n":12345678901234567890123,"f":1.10}"#;
    let part = Part::ToolCall(ToolCall::new("c", "t", arguments));
    let request = ask().message(Message::new(Role::Assistant, vec![part]));
    let body = String::from_utf8(encoded(&request).body.to_vec()).unwrap();
    assert!(body.contains(arguments), "{body}");
}

#[test]
fn reasoning_goes_back_with_its_signature_and_only_then() {
    let signed = json!({"type": "thinking", "signature": "s"});
    let redacted = json!({"type": "redacted_thinking", "data": "xyz"});
    let unsigned = json!({"type": "thinking"});
    let turn = Message::new(
        Role::Assistant,
        vec![
            Part::Reasoning(Reasoning::new("hm", state(NAME, &signed))),
            Part::Reasoning(Reasoning::new("", state(NAME, &redacted))),
            Part::Reasoning(Reasoning::new("unsigned", state(NAME, &unsigned))),
            Part::Reasoning(Reasoning::new("bare", None)),
            Part::Reasoning(Reasoning::new("foreign", state("gemini", &signed))),
            Part::text("a"),
        ],
    );
    let request = ask().message(turn).user("b");
    assert_eq!(
        body(&request)["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "text", "text": "a"},
        ])
    );
    assert_eq!(
        warnings(&request),
        ["messages: reasoning without this provider's signature is left out (3)"]
    );
}

#[test]
fn state_of_another_provider_is_dropped_with_a_warning() {
    let theirs = || state("gemini", &json!({"thoughtSignature": "x"}));
    let mut made = ToolCall::new("c", "t", "{}");
    made.state = theirs();
    let parts = vec![
        Part::Text(Text::with_state("a", theirs())),
        Part::ToolCall(made),
    ];
    let request = ask().message(Message::new(Role::Assistant, parts));
    assert!(!String::from_utf8_lossy(&encoded(&request).body).contains("thoughtSignature"));
    assert_eq!(
        warnings(&request),
        ["messages: opaque state of another provider is left out (2)"]
    );
}

#[test]
fn ids_the_api_refuses_are_replaced_in_calls_and_results_alike() {
    let request = ask()
        .message(Message::new(
            Role::Assistant,
            vec![
                call("functions.tide:0"),
                call("call_0"),
                call("ok-1"),
                call("ok-1"),
            ],
        ))
        .message(Message::new(
            Role::Tool,
            vec![
                Part::ToolResult(ToolResult::new("functions.tide:0", "w")),
                Part::ToolResult(ToolResult::new("call_0", "x")),
                Part::ToolResult(ToolResult::new("ok-1", "y")),
                Part::ToolResult(ToolResult::new("ok-1", "z")),
            ],
        ))
        .message(Message::new(Role::Assistant, vec![call("ok-1")]))
        .message(Message::tool_result("ok-1", "later"));
    let body = body(&request);
    let ids = |message: usize, field: &str| -> Vec<String> {
        let content = body["messages"][message]["content"].as_array().unwrap();
        content
            .iter()
            .map(|block| block[field].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(1, "id"), ["call_1", "call_0", "ok-1", "call_2"]);
    assert_eq!(ids(2, "tool_use_id"), ids(1, "id"));
    assert_eq!(ids(2, "content"), ["w", "x", "y", "z"]);
    assert_eq!(ids(3, "id"), ["call_3"]);
    assert_eq!(ids(4, "tool_use_id"), ["call_3"]);
}

#[test]
fn a_result_without_a_call_is_refused() {
    refused(
        &anthropic(),
        &ask().message(Message::tool_result("nope", "x")),
        ErrorKind::BadRequest,
        "message 1 part 0: no earlier tool call has the id `nope`",
    );
}

#[test]
fn provider_options_are_merged_last() {
    let request = ask()
        .reasoning_effort("low")
        .provider_option("top_k", 5)
        .provider_option("output_config", json!({"effort": "max", "new": true}))
        .provider_option("thinking", Value::Null);
    let body = body(&request);
    assert_eq!(body["top_k"], 5);
    assert_eq!(body["output_config"], json!({"effort": "max", "new": true}));
    assert!(body.get("thinking").is_none());
}

#[test]
fn options_cannot_turn_a_call_into_a_stream() {
    let request = ask().provider_option("stream", true);
    refused(
        &anthropic(),
        &request,
        ErrorKind::BadRequest,
        "provider option `stream`: the call decides whether it streams",
    );
    assert!(anthropic().encode(&request, Mode::Stream).is_ok());
}

#[test]
fn pages_of_models_are_asked_for_by_the_last_id() {
    let first = anthropic().encode_models(None).unwrap();
    assert_eq!(
        (first.method, first.path.as_str()),
        (Method::GET, "/v1/models?limit=1000")
    );
    assert_eq!(first.headers["anthropic-version"], "2023-06-01");
    let next = anthropic().encode_models(Some("a/b&c")).unwrap();
    assert_eq!(next.path, "/v1/models?limit=1000&after_id=a%2Fb%26c");
}
