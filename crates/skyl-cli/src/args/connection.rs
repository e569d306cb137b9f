//! The flags that say who is asked, with which key, and who watches.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::args::{OUTPUT, PROVIDER};

/// Who is asked.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = PROVIDER)]
pub(crate) struct ConnectionArgs {
    /// Who answers: sandbox, openai, responses, anthropic, gemini, compat
    /// [default: sandbox, or compat with a base URL] [env: SKYL_PROVIDER]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) provider: Option<String>,

    /// A known server that speaks as OpenAI does; means compat: azure, cerebras, deepseek, fireworks,
    /// groq, llama_cpp, lm_studio, minimax, mistral, moonshot, ollama, openrouter, perplexity,
    /// together, vllm, xai [env: SKYL_PRESET]
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,

    /// The provider's address, as its official SDK takes it: for openai and compat up to and
    /// including /v1, for the others without a version [env: SKYL_BASE_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// The key [default: from the provider's variable]
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) api_key: Option<Secret>,

    /// A header to send along; repeatable
    #[arg(long = "header", short = 'H', value_name = "NAME=VALUE")]
    pub(crate) headers: Vec<Secret>,
}

/// Who watches.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = OUTPUT)]
pub(crate) struct WatchArgs {
    /// Write every attempt as a JSON line to a file, or to standard output with `-`
    #[arg(long, value_name = "FILE|-", value_parser = event_sink, value_hint = ValueHint::FilePath)]
    pub(crate) events: Option<EventSink>,
}

/// A text that may be a secret; never printed, not even when the text after it is wrong.
#[derive(Clone)]
pub(crate) struct Secret(pub(crate) String);

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Where events go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventSink {
    /// Between the lines of the answer.
    Stdout,
    /// A file, emptied first.
    File(PathBuf),
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape clap asks of a value parser"
)]
fn event_sink(text: &str) -> Result<EventSink, Infallible> {
    Ok(match text {
        "-" => EventSink::Stdout,
        path => EventSink::File(path.into()),
    })
}
