//! Tool calls: made, answered, in parallel, streamed in pieces.

use skyl::{Message, Request, StopReason, StreamEvent, Tool, ToolChoice};

use crate::stage::{Case, Stage, drain};

pub(crate) const ARGUMENTS: &str = r#"{"city":"Kampala","units":"metric"}"#;

/// A request about the weather, with two tools on offer.
pub(crate) fn weather(model: &str) -> Request {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "units": {"type": "string"}},
        "required": ["city", "units"],
        "additionalProperties": false,
    });
    let clock = serde_json::json!({"type": "object", "properties": {}});
    Request::new(model)
        .user("What is the weather in Kampala?")
        .tool(Tool::new("clock", clock))
        .tool(Tool::new("get_weather", schema).description("The weather of a city."))
}

pub(crate) async fn a_tool_loop_ends_in_an_answer_with_the_result(case: &Case) {
    let stage = Stage::new(case).await;
    let mut asked = weather(case.model);
    let first = stage.ask(&asked).await;
    assert_eq!(first.stop_reason, StopReason::ToolUse, "{}", case.name);
    let lead = (case.lead)("What is the weather in Kampala?").unwrap_or_default();
    assert_eq!(first.text(), lead, "{}", case.name);
    let calls: Vec<_> = first.tool_calls().cloned().collect();
    let [call] = calls.as_slice() else {
        panic!("{}: {calls:?}", case.name)
    };
    assert_eq!(call.name, "get_weather", "{}", case.name);
    let arguments: serde_json::Value = serde_json::from_str(ARGUMENTS).unwrap();
    assert_eq!(call.parse_arguments().unwrap(), arguments, "{}", case.name);

    asked = asked
        .message(first.message.clone())
        .message(Message::tool_result(&call.id, "26 °C"));
    let second = stage.ask(&asked).await;
    assert_eq!(second.text(), "The tool said: 26 °C", "{}", case.name);
    assert_eq!(second.stop_reason, StopReason::EndTurn, "{}", case.name);
    assert_eq!(second.warnings, [], "{}", case.name);
}

pub(crate) async fn parallel_calls_stay_apart(case: &Case) {
    let stage = Stage::new(case).await;
    let mut asked = weather("sandbox-parallel-tools");
    let first = stage.ask(&asked).await;
    let calls: Vec<_> = first.tool_calls().cloned().collect();
    let [one, two] = calls.as_slice() else {
        panic!("{}: {calls:?}", case.name)
    };
    assert_ne!(one.id, two.id, "{}", case.name);
    assert_eq!(
        one.parse_arguments().unwrap(),
        two.parse_arguments().unwrap()
    );

    // Answered in the other order: a result belongs to its call by id.
    asked = asked
        .message(first.message.clone())
        .message(Message::tool_result(&two.id, "second"))
        .message(Message::tool_result(&one.id, "first"));
    let second = stage.ask(&asked).await;
    assert!(
        second.text().starts_with("The tool said: "),
        "{}: {}",
        case.name,
        second.text()
    );
}

pub(crate) async fn parallel_calls_can_be_forbidden(case: &Case) {
    let stage = Stage::new(case).await;
    let asked = weather("sandbox-parallel-tools").parallel_tool_calls(false);
    let answer = stage.ask(&asked).await;
    let (calls, warnings) = (answer.tool_calls().count(), answer.warnings.len());
    // Where it cannot be said, that is a warning.
    let expected = if case.limits_parallel { (1, 0) } else { (2, 1) };
    assert_eq!((calls, warnings), expected, "{}", case.name);
}

pub(crate) async fn the_tool_choice_is_obeyed(case: &Case) {
    let stage = Stage::new(case).await;
    for (choice, prompt, called) in [
        (ToolChoice::Auto, "the weather?", Some("get_weather")),
        (ToolChoice::Auto, "hello", None),
        (ToolChoice::None, "the weather?", None),
        (ToolChoice::Required, "hello", Some("get_weather")),
        (ToolChoice::Tool("clock".into()), "hello", Some("clock")),
    ] {
        let mut asked = weather(case.model).tool_choice(choice.clone());
        asked.messages = vec![Message::user(prompt)];
        let answer = stage.ask(&asked).await;
        let name = answer.tool_calls().next().map(|call| call.name.as_str());
        assert_eq!(name, called, "{} {choice:?}", case.name);
        let reason = if called.is_some() {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        };
        assert_eq!(answer.stop_reason, reason, "{} {choice:?}", case.name);
    }
}

pub(crate) async fn streamed_pieces_join_to_the_whole_call(case: &Case) {
    let stage = Stage::new(case).await;
    let mut stream = stage
        .client
        .stream(&weather("sandbox-parallel-tools"))
        .await
        .unwrap();
    let (events, error) = drain(&mut stream).await;
    assert!(error.is_none(), "{}: {error:?}", case.name);
    let mut started: Vec<(String, String, String)> = Vec::new();
    let mut whole = Vec::new();
    for event in &events {
        match event {
            StreamEvent::ToolCallStart { index, id, name } => {
                assert_eq!(*index, started.len(), "{}", case.name);
                started.push((id.clone(), name.clone(), String::new()));
            }
            StreamEvent::ToolCallArguments { index, fragment } => {
                started[*index].2.push_str(fragment);
            }
            StreamEvent::ToolCall(call) => {
                whole.push((call.id.clone(), call.name.clone(), call.arguments.clone()));
            }
            _ => {}
        }
    }
    assert_eq!((started.len(), &started), (2, &whole), "{}", case.name);
    let Some(StreamEvent::Done { stop_reason, .. }) = events.last() else {
        panic!("{}: {events:?}", case.name)
    };
    assert_eq!(*stop_reason, StopReason::ToolUse, "{}", case.name);
    assert_eq!(stage.events.ends(), [true], "{}", case.name);
}
