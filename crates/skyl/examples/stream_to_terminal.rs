//! An answer on a terminal as it comes in, and what to say when it breaks off.
//!
//! `cargo run -p skyl --example stream_to_terminal`

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use skyl::openai::OpenAi;
use skyl::{Client, Request, StreamEvent};
use skyl_sandbox::Sandbox;

/// Shows one answer; `Err` only if the terminal is gone or nothing came.
pub(crate) async fn show(
    client: &Client,
    request: &Request,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    // Up to here everything is retried: nobody has seen anything yet.
    let mut stream = client.stream(request).await?;
    while let Some(event) = stream.next().await {
        match event {
            Ok(StreamEvent::Text(piece)) => {
                out.write_all(printable(&piece).as_bytes())?;
                // A terminal shows a line at its end unless it is told to.
                out.flush()?;
            }
            Ok(StreamEvent::Done { stop_reason, usage }) => {
                let tokens = usage.output_tokens.unwrap_or_default();
                writeln!(out, "\n[{}, {tokens} tokens]", stop_reason.as_str())?;
            }
            // Reasoning, refusals and tool calls have places of their own in a real program.
            Ok(_) => {}
            // Never retried: the words are on the screen already. They stay readable here, too.
            Err(error) => {
                let bytes = stream.partial().text().len();
                writeln!(out, "\n[broke off after {bytes} bytes: {error}]")?;
            }
        }
    }
    Ok(())
}

/// Text without the control bytes a terminal would obey.
fn printable(text: &str) -> String {
    let harmless = |char: &char| !char.is_control() || matches!(char, '\n' | '\t');
    text.chars().filter(harmless).collect()
}

pub(crate) async fn run(sandbox: &Sandbox, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let openai = OpenAi::new(sandbox.key()).base_url(sandbox.base_url("/openai/v1"));
    let client = Client::builder(openai)
        // The sandbox is at hand; for a provider far away leave the defaults.
        .retry_delay(Duration::from_millis(1), Duration::from_millis(10))
        .build()?;
    for model in [
        // An overloaded provider, an error in the first frame, then the answer, in small pieces.
        "sandbox-do-529(ra-ms=1),first-error,ok+split(7)",
        // After some content the connection ends without the provider's mark of the end.
        "sandbox-stream-truncate",
    ] {
        writeln!(out, "> {model}")?;
        let request = Request::new(model).user("Tell me something \u{1b}[31mred.");
        show(&client, &request, out).await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&Sandbox::start().await?, &mut io::stdout()).await
}
