//! A tool loop: the model asks for tools, they are run, their answers go back, until it has done.
//!
//! Every round is one call with retries of its own. The loop has a bound, because a model may ask
//! for tools for ever.
//!
//! `cargo run -p skyl --example tool_loop`

use std::error::Error;
use std::io::Write;

use serde_json::{Value, json};
use skyl::openai::OpenAi;
use skyl::{
    Client, Message, Part, Request, Response, Role, StopReason, Tool, ToolCall, ToolResult,
};
use skyl_sandbox::Sandbox;

/// Asks until the model calls no more tools.
pub(crate) async fn ask(
    client: &Client,
    mut request: Request,
    out: &mut impl Write,
) -> Result<Response, Box<dyn Error>> {
    for _ in 0..MAX_ROUNDS {
        let answer = client.complete(&request).await?;
        // Done, or cut by a limit: the stop reason tells the caller which.
        if answer.stop_reason != StopReason::ToolUse {
            return Ok(answer);
        }
        let mut results = Vec::new();
        for call in answer.tool_calls() {
            writeln!(out, "model calls {} with {}", call.name, call.arguments)?;
            let result = run_tool(call)?;
            writeln!(out, "tool says {}", result.content)?;
            results.push(Part::ToolResult(result));
        }
        // The model's turn goes back as it came: it may hold reasoning the provider wants to see.
        request = request
            .message(answer.message)
            .message(Message::new(Role::Tool, results));
    }
    Err(format!("no answer after {MAX_ROUNDS} rounds of tools").into())
}

/// Runs one call. What the tool cannot do is an answer too: the model reads it and may try again.
fn run_tool(call: &ToolCall) -> Result<ToolResult, serde_json::Error> {
    // Broken arguments end the loop: no provider takes them back in a history.
    let arguments = call.parse_arguments()?;
    Ok(match (call.name.as_str(), &arguments["city"]) {
        ("get_weather", Value::String(city)) => {
            ToolResult::new(&call.id, format!("18 degrees and clear in {city}"))
        }
        ("get_weather", _) => ToolResult::error(&call.id, "which city?"),
        (name, _) => ToolResult::error(&call.id, format!("there is no tool {name}")),
    })
}

pub(crate) async fn run(sandbox: &Sandbox, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let openai = OpenAi::new(sandbox.key()).base_url(sandbox.base_url("/openai/v1"));
    let client = Client::builder(openai).build()?;
    let weather = Tool::new(
        "get_weather",
        json!({
            "type": "object",
            "properties": { "city": { "type": "string" } },
            "required": ["city"],
        }),
    )
    .description("The weather of a city, now.");

    let question = "What is the weather in Kampala?";
    writeln!(out, "user asks {question}")?;
    let request = Request::new("gpt-5.6").user(question).tool(weather);
    let answer = ask(&client, request, out).await?;
    writeln!(out, "model answers {}", answer.text())?;
    Ok(())
}

/// More rounds than a useful answer takes; fewer than a model in a circle costs.
const MAX_ROUNDS: usize = 8;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&Sandbox::start().await?, &mut std::io::stdout()).await
}
