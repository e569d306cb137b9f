//! An answer that fits a JSON schema, read into a type, and the three ways it can fail to be one.
//!
//! `cargo run -p skyl --example structured_output`

use std::error::Error;
use std::io::Write;

use serde::Deserialize;
use serde_json::json;
use skyl::openai::OpenAi;
use skyl::{Client, ErrorKind, Request, ResponseFormat, StopReason};
use skyl_sandbox::Sandbox;

/// What the model is to say about a ticket.
#[derive(Debug, Deserialize, PartialEq)]
pub(crate) struct Triage {
    pub(crate) summary: String,
    pub(crate) severity: u8,
    pub(crate) customer_waits: bool,
}

fn schema() -> ResponseFormat {
    ResponseFormat::json_schema(json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string" },
            "severity": { "type": "integer" },
            "customer_waits": { "type": "boolean" },
        },
        // Strict mode wants every property required, and no others allowed.
        "required": ["summary", "severity", "customer_waits"],
        "additionalProperties": false,
    }))
}

/// Asks for one ticket's triage; `None` if the model declines.
pub(crate) async fn triage(
    client: &Client,
    model: &str,
    ticket: &str,
) -> Result<Option<Triage>, Box<dyn Error>> {
    let request = Request::new(model)
        .system("Triage this ticket.")
        .user(ticket)
        .response_format(schema());
    let answer = match client.complete(&request).await {
        Ok(answer) => answer,
        // A refusal is not in the schema, so it does not come as an answer.
        Err(error) if error.kind() == ErrorKind::Refusal => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Half a document may parse, for instance as a number: look at why the model stopped first.
    if answer.stop_reason == StopReason::MaxTokens {
        return Err("the token limit cut the document".into());
    }
    Ok(Some(serde_json::from_str(&answer.text())?))
}

pub(crate) async fn run(sandbox: &Sandbox, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let openai = OpenAi::new(sandbox.key()).base_url(sandbox.base_url("/openai/v1"));
    let client = Client::builder(openai).build()?;
    for model in ["gpt-5.6", "sandbox-refusal"] {
        match triage(&client, model, "Nobody can log in since 3 a.m.").await? {
            Some(triage) => writeln!(out, "{model}: {triage:?}")?,
            None => writeln!(out, "{model}: the model declined")?,
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&Sandbox::start().await?, &mut std::io::stdout()).await
}
