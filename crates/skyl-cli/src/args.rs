//! The argument model: what can be written on the command line, and nothing about what it means.
//!
//! Values are parsed here once, into types that cannot be wrong. What a value falls back to when
//! it is not given (a variable, a policy, a default) is settled in [`crate::settings`], so that no
//! default stands in two places; that is why nearly everything here is an `Option`.
#![expect(
    clippy::doc_markdown,
    reason = "these comments are the help people read in terminals"
)]

mod ask;
mod connection;
mod retry;
mod simulate;

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use skyl_sandbox::{DEFAULT_KEY, Script};

use crate::moment::{self, Moment};

pub(crate) use self::ask::{AskArgs, Asked, AskedKind, QuestionArgs};
pub(crate) use self::connection::{ConnectionArgs, EventSink, Secret, WatchArgs};
pub(crate) use self::retry::{PolicyArgs, TimeArgs, count, length, over_cap, switch};
pub(crate) use self::simulate::SimulateArgs;

/// Calls to AI APIs that survive bad minutes.
#[derive(Debug, Parser)]
#[command(
    name = "skyl",
    version,
    max_term_width = 100,
    subcommand_required = true
)]
#[command(arg_required_else_help = true, args_override_self = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    /// Print exactly one JSON object on standard output, for success, failure and wrong usage alike
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send one prompt and print the answer
    Chat(Box<ChatArgs>),
    /// Ask System One about a state, once or for every line of a file
    Ask(Box<AskArgs>),
    /// List the models a provider offers
    Models(Box<ModelsArgs>),
    /// Run the fake providers that fail on demand
    Sandbox(SandboxArgs),
    /// Run a fleet of clients in virtual time: what a retry policy does to a provider
    Simulate(SimulateArgs),
    /// Draw the waits of a retry policy
    Schedule(ScheduleArgs),
    /// Explain how a server's wait is read, and why
    Explain(ExplainArgs),
    /// Print a script that completes commands and flags in a shell
    Completions(CompletionsArgs),
}

/// One call.
#[derive(Debug, Args)]
#[command(after_help = CHAT_AFTER_HELP)]
pub(crate) struct ChatArgs {
    /// The prompt; `-`, or nothing with a pipe on standard input, reads it from there
    pub(crate) prompt: Option<String>,

    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,

    #[command(flatten)]
    pub(crate) request: RequestArgs,

    /// Make the embedded sandbox fail by this script, one step per attempt: `429(ra=1)*2,reset,ok`
    #[arg(long, value_name = "SCRIPT", help_heading = PROVIDER)]
    pub(crate) fault: Option<Script>,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    #[command(flatten)]
    pub(crate) time: TimeArgs,

    /// Print the text as it comes
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stream: bool,

    /// Print the body of the answer, byte by byte as the server sent it
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) raw: bool,

    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}

/// What is asked, beside the prompt.
#[derive(Debug, Args)]
#[command(next_help_heading = REQUEST)]
pub(crate) struct RequestArgs {
    /// The model; real providers need one [env: SKYL_MODEL]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// The system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,

    /// The most tokens of the answer, reasoning included [default: the provider's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(crate) max_tokens: Option<u32>,

    /// Sampling temperature [default: the provider's]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = number)]
    pub(crate) temperature: Option<f64>,

    /// How hard the model should think: none, minimal, low, medium, high, xhigh, max
    /// [default: the provider's]
    #[arg(long, value_name = "WORD")]
    pub(crate) effort: Option<String>,

    /// A picture for the model: a file (PNG, JPEG, GIF, WebP) or an http(s) address; repeatable
    #[arg(long, value_name = "FILE|URL", value_hint = ValueHint::FilePath)]
    pub(crate) image: Vec<String>,

    /// A JSON file with the tools the model may call: an array of objects with `name`,
    /// `description`, `parameters`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tools: Option<PathBuf>,

    /// A JSON file with the schema the answer must fit
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) schema: Option<PathBuf>,
}

/// A list of models.
#[derive(Debug, Args)]
#[command(after_help = MODELS_AFTER_HELP)]
pub(crate) struct ModelsArgs {
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    #[command(flatten)]
    pub(crate) time: TimeArgs,

    /// Print each entry of the list, byte by byte as the server sent it
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) raw: bool,

    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}

/// A fake provider.
#[derive(Debug, Args)]
#[command(after_help = SANDBOX_AFTER_HELP)]
pub(crate) struct SandboxArgs {
    /// The address to listen on; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8099", value_parser = address)]
    pub(crate) addr: SocketAddr,

    /// The key clients must send
    #[arg(long, default_value = DEFAULT_KEY)]
    pub(crate) key: String,

    /// Fail every request by this script, one step per request: `429(ra=1)*2,reset,ok`
    #[arg(long)]
    pub(crate) script: Option<Script>,

    /// Give this share of the requests a fault, from 0 to 1
    #[arg(long, value_name = "RATE", value_parser = share)]
    pub(crate) chaos: Option<f64>,

    /// Which requests those are, and which faults: a function of this and of their bodies
    #[arg(long, value_name = "N", default_value_t = 0, requires = "chaos")]
    pub(crate) seed: u64,

    /// Take this many requests per minute, and say so in truthful headers
    #[arg(long, value_name = "N")]
    pub(crate) rpm: Option<NonZeroU32>,

    /// Take this many tokens per minute, input and output
    #[arg(long, value_name = "N")]
    pub(crate) tpm: Option<NonZeroU32>,

    /// How many journal entries and script positions are kept; the oldest go first
    #[arg(long, value_name = "N", default_value = "100000")]
    pub(crate) keep: NonZeroUsize,

    /// Speak TLS, with a certificate no client should accept
    #[arg(long, value_name = "KIND")]
    pub(crate) tls: Option<TlsKind>,
}

/// What is wrong with the sandbox's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TlsKind {
    /// Signed by nobody a client knows
    SelfSigned,
    /// Its time is over
    Expired,
    /// Made for another host
    WrongHost,
}

/// The delay table of a policy.
#[derive(Debug, Args)]
pub(crate) struct ScheduleArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

/// One header value, read aloud.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_AFTER_HELP)]
pub(crate) struct ExplainArgs {
    /// The header's value, such as `120` or `Wed, 21 Oct 2026 07:28:00 GMT`
    #[arg(value_name = "HEADER-VALUE", allow_hyphen_values = true)]
    pub(crate) value: String,

    /// The header it came in: retry-after, retry-after-ms, or a rate-limit reset such as
    /// x-ratelimit-reset-requests
    #[arg(long, value_name = "NAME", default_value = "retry-after")]
    pub(crate) header: String,

    /// The time it is read at: RFC 3339, an HTTP date, or seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) now: Option<Moment>,

    /// The longest wait that is obeyed [default: 5m] [env: SKYL_RETRY_AFTER_CAP]
    #[arg(long, alias = "retry-after-cap", value_name = "LENGTH", value_parser = length)]
    pub(crate) cap: Option<Duration>,
}

/// A script for a shell.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_AFTER_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads it
    pub(crate) shell: Shell,
}

/// Reads a number; what range it must be in is for the provider to say.
fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| "expected a number such as 0.7".to_owned())
}

/// Reads where to listen.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.trim_start_matches("localhost").trim_start_matches(':');
    text.parse().map_err(|_| match port.parse::<u16>() {
        Ok(port) => format!("expected an address and a port: 127.0.0.1:{port}"),
        Err(_) => "expected an address and a port, such as 127.0.0.1:8099".to_owned(),
    })
}

/// Reads a share; a NaN is in no range.
fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

pub(crate) const PROVIDER: &str = "Provider";
pub(crate) const REQUEST: &str = "Request";
pub(crate) const BATCH: &str = "Batch";
pub(crate) const RETRIES: &str = "Retries";
pub(crate) const TIMES: &str = "Times";
pub(crate) const OUTPUT: &str = "Output";

const AFTER_HELP: &str = "\
Without a provider, `skyl chat` and `skyl ask` answer from a sandbox inside the program: no key, no
network, no bill. `skyl COMMAND --help` says more.

Exit codes: 0 ok · 1 usage or internal · 2 refused before anything was sent · 3 authentication
4 the request · 5 rate limit or quota · 6 the provider · 7 network, time, certificate
130 interrupted";

const CHAT_AFTER_HELP: &str = "\
Lengths of time have a unit: 500ms, 30s, 1m30s, 2h; only 0 needs none. An empty variable counts as
unset. A flag goes before a SKYL_ variable, that before the provider's own variable, that before
the policy, that before the default.

Keys come from OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY, by provider; for
compat from SKYL_API_KEY, and it may go without; for a preset from its own variable, such as
GROQ_API_KEY, then SKYL_API_KEY. Addresses come from OPENAI_BASE_URL,
ANTHROPIC_BASE_URL and GOOGLE_GEMINI_BASE_URL. Keys on a command line can be seen by others on the
machine: prefer variables.";

const MODELS_AFTER_HELP: &str = "\
With `--provider typesafe` the models of System One are listed, by its retry policy.";

const SANDBOX_AFTER_HELP: &str = "\
Once it listens, its base URL is the only line on standard output. Mounts: /openai/v1, /compat/v1,
/anthropic/v1, /gemini/v1beta, /typesafe/v1. Models: those that each mount lists; and on every mount
those that fail on demand: sandbox-status-503, sandbox-stream-truncate, sandbox-stream-error,
sandbox-do-<script>. On /compat/v1 compat-groq and its like answer as that server does. What reached
it: GET /_sandbox/journal. It ends on SIGINT and SIGTERM.";

const EXPLAIN_AFTER_HELP: &str = "\
A value that cannot be read is explained too, and is no failure of this command.";

const COMPLETIONS_AFTER_HELP: &str = "\
bash:        skyl completions bash > ~/.local/share/bash-completion/completions/skyl
zsh:         skyl completions zsh > a folder of $fpath, as _skyl
fish:        skyl completions fish > ~/.config/fish/completions/skyl.fish
elvish:      skyl completions elvish > a file, and `eval (slurp < FILE)` in rc.elv
powershell:  skyl completions powershell | Out-String | Invoke-Expression, in $PROFILE";

#[cfg(test)]
mod tests;
