//! The rows of the page: requests with one thing in them.

use serde_json::json;
use serde_json::value::RawValue;
use skyl::{
    Image, Message, Mode, OpaqueState, Part, Reasoning, Request, ResponseFormat, Role, Text, Tool,
    ToolCall, ToolChoice, ToolResult,
};

use crate::columns::Column;

/// One row.
pub(crate) struct Probe {
    /// How the page calls it.
    pub(crate) name: &'static str,
    pub(crate) mode: Mode,
    /// Whether some provider does so anyway: then it need not be said.
    pub(crate) is_default: bool,
    /// The request without the one thing, from one that says `hi`.
    pub(crate) without: fn(Request, &Column) -> Request,
    /// The request, from one that says `hi`.
    pub(crate) request: fn(Request, &Column) -> Request,
}

/// What a dialect makes of a row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Sent {
        /// Where it stands on the wire.
        wire: Vec<String>,
        warnings: Vec<String>,
    },
    /// Refused before any network.
    Refused(String),
}

const fn row(name: &'static str, request: fn(Request, &Column) -> Request) -> Probe {
    Probe {
        name,
        mode: Mode::Complete,
        is_default: false,
        without: |request, _| request,
        request,
    }
}

/// A row about a turn of the assistant that says `Brest.`
const fn turn(name: &'static str, request: fn(Request, &Column) -> Request) -> Probe {
    Probe {
        without: |request, _| request.message(Message::assistant("Brest.")).user("go on"),
        ..row(name, request)
    }
}

/// A row about a tool that is offered.
const fn tool(name: &'static str, request: fn(Request, &Column) -> Request) -> Probe {
    Probe {
        without: |request, _| request.tool(tide()),
        ..row(name, request)
    }
}

pub(crate) const PROBES: &[Probe] = &[
    row("`system`", |request, _| request.system("Be brief.")),
    row("image, by bytes", |_, column| {
        let image = Image::Data {
            media_type: "image/png".into(),
            data: vec![1, 2, 3],
        };
        picture(column, image)
    }),
    row("image, by address", |_, column| {
        picture(column, Image::Url("https://x.test/a.png".into()))
    }),
    row("assistant turn", |request, _| {
        request.message(Message::assistant("hello")).user("go on")
    }),
    row("tool call and its result", |request, _| {
        called(request, "call_1", "{\"port\":\"Brest\"}")
    }),
    Probe {
        // The API knows calls by their names and order.
        is_default: true,
        without: |request, _| called(request, "D681PevKs", "{}"),
        ..row("the id `functions.tide:0` of a call", |request, _| {
            called(request, "functions.tide:0", "{}")
        })
    },
    Probe {
        without: |request, _| called(request, "call_1", "{}"),
        ..row("result of a tool that failed", |request, _| {
            let result = Part::ToolResult(ToolResult::error("call_1", "high"));
            request
                .message(Message::new(Role::Assistant, vec![a_call("call_1", "{}")]))
                .message(Message::new(Role::Tool, vec![result]))
        })
    },
    turn("reasoning of the same provider", |request, column| {
        request.message(column.own_turn()).user("go on")
    }),
    Probe {
        without: |request, _| {
            let parts = vec![Part::text("Brest."), a_call("call_1", "{}")];
            request
                .message(Message::new(Role::Assistant, parts))
                .message(Message::tool_result("call_1", "high"))
        },
        ..row(
            "reasoning of the same provider, in a tool loop",
            |request, column| {
                let mut turn = column.own_turn();
                turn.parts.push(a_call("call_1", "{}"));
                request
                    .message(turn)
                    .message(Message::tool_result("call_1", "high"))
            },
        )
    },
    turn("reasoning of another provider", |request, _| {
        let thought = Part::Reasoning(Reasoning::new("Hm.", Some(foreign())));
        let turn = Message::new(Role::Assistant, vec![thought, Part::text("Brest.")]);
        request.message(turn).user("go on")
    }),
    turn("reasoning without a signature", |request, _| {
        let thought = Part::Reasoning(Reasoning::new("Hm.", None));
        let turn = Message::new(Role::Assistant, vec![thought, Part::text("Brest.")]);
        request.message(turn).user("go on")
    }),
    turn("the signature on another provider's text", |request, _| {
        let text = Part::Text(Text::with_state("Brest.", Some(foreign())));
        let turn = Message::new(Role::Assistant, vec![text]);
        request.message(turn).user("go on")
    }),
    row("`max_tokens`", |request, _| request.max_tokens(99)),
    row("`temperature`", |request, _| request.temperature(0.5)),
    row("`top_p`", |request, _| request.top_p(0.5)),
    row("`stop`, 1 text", |request, _| request.stop("END")),
    row("`stop`, 5 texts", |request, _| stops(request, 5)),
    row("`stop`, 17 texts", |request, _| stops(request, 17)),
    row("`tools`", |request, _| request.tool(tide())),
    tool("a tool that is `strict`", |request, _| {
        request.tool(tide().strict(true))
    }),
    tool("tool choice `Auto`", |request, _| {
        choice(request, ToolChoice::Auto)
    }),
    tool("tool choice `None`", |request, _| {
        choice(request, ToolChoice::None)
    }),
    tool("tool choice `Required`", |request, _| {
        choice(request, ToolChoice::Required)
    }),
    tool("tool choice, one tool", |request, _| {
        choice(request, ToolChoice::Tool("tide".into()))
    }),
    tool("one tool call at a time", |request, _| {
        request.tool(tide()).parallel_tool_calls(false)
    }),
    Probe {
        is_default: true,
        ..tool("several tool calls at once", |request, _| {
            request.tool(tide()).parallel_tool_calls(true)
        })
    },
    row("effort `none`", |request, _| {
        request.reasoning_effort("none")
    }),
    row("effort `minimal`", |request, _| {
        request.reasoning_effort("minimal")
    }),
    row("effort `low`", |request, _| request.reasoning_effort("low")),
    row("effort `medium`", |request, _| {
        request.reasoning_effort("medium")
    }),
    row("effort `high`", |request, _| {
        request.reasoning_effort("high")
    }),
    row("effort `xhigh`", |request, _| {
        request.reasoning_effort("xhigh")
    }),
    row("effort `max`", |request, _| request.reasoning_effort("max")),
    row("effort, a word of one's own", |request, _| {
        request.reasoning_effort("huge")
    }),
    row("JSON without a schema", |request, _| {
        request.response_format(ResponseFormat::JsonObject)
    }),
    row("JSON by a schema", |request, _| {
        request.response_format(format(true))
    }),
    row("JSON by a schema that is not `strict`", |request, _| {
        request.response_format(format(false))
    }),
    row("a provider option", |request, _| {
        request.provider_option("seed", 7)
    }),
    Probe {
        mode: Mode::Stream,
        ..row("a stream", |request, _| request)
    },
];

fn picture(column: &Column, image: Image) -> Request {
    let parts = vec![Part::text("hi"), Part::Image(image)];
    Request::new(column.model).message(Message::new(Role::User, parts))
}

fn a_call(id: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall::new(id, "tide", arguments))
}

/// A call of the id, and its result.
fn called(request: Request, id: &str, arguments: &str) -> Request {
    let call = Message::new(Role::Assistant, vec![a_call(id, arguments)]);
    request
        .message(call)
        .message(Message::tool_result(id, "high"))
}

fn foreign() -> OpaqueState {
    let json = RawValue::from_string("{\"signature\":\"c2ln\"}".to_owned()).unwrap();
    OpaqueState::new("elsewhere", json)
}

fn stops(request: Request, count: usize) -> Request {
    (0..count).fold(request, |request, n| request.stop(format!("END{n}")))
}

fn tide() -> Tool {
    Tool::new(
        "tide",
        json!({"type": "object", "properties": {"port": {"type": "string"}}}),
    )
}

fn choice(request: Request, choice: ToolChoice) -> Request {
    request.tool(tide()).tool_choice(choice)
}

fn format(strict: bool) -> ResponseFormat {
    ResponseFormat::JsonSchema {
        name: "port".into(),
        schema: json!({"type": "object", "properties": {"port": {"type": "string"}}}),
        strict,
    }
}
