//! The flags of `skyl ask`: one document, questions in flags, or a file of documents.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use skyl_sandbox::Script;

use crate::args::{
    BATCH, ConnectionArgs, OUTPUT, PROVIDER, PolicyArgs, REQUEST, TimeArgs, WatchArgs,
};

mod question;

pub(crate) use self::question::{Asked, AskedKind};

/// Questions to System One.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[command(mut_arg("provider", |arg| arg.help(PROVIDER_HELP)))]
#[command(mut_arg("preset", |arg| arg.hide(true)))]
#[command(mut_arg("base_url", |arg| arg.help(BASE_URL_HELP)))]
#[command(mut_arg("policy", |arg| arg.help(POLICY_HELP)))]
#[command(mut_arg("max_retries", |arg| arg.help(MAX_RETRIES_HELP)))]
#[command(mut_arg("retry_max", |arg| arg.help(RETRY_MAX_HELP)))]
#[command(mut_arg("jitter", |arg| arg.help(JITTER_HELP)))]
#[command(mut_arg("budget", |arg| arg.help(BUDGET_HELP)))]
#[command(mut_arg("timeout", |arg| arg.help(TIMEOUT_HELP)))]
#[command(mut_arg("idle_timeout", |arg| arg.help(IDLE_TIMEOUT_HELP)))]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,

    #[command(flatten)]
    pub(crate) questions: QuestionArgs,

    #[command(flatten)]
    pub(crate) batch: BatchArgs,

    /// Make the embedded sandbox fail by this script, one step per attempt: `429(ra=1),reset,ok`
    #[arg(long, value_name = "SCRIPT", help_heading = PROVIDER)]
    pub(crate) fault: Option<Script>,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    #[command(flatten)]
    pub(crate) time: TimeArgs,

    /// Print the body of the answer, byte by byte as the server sent it
    #[arg(long, help_heading = OUTPUT, conflicts_with = "batch")]
    pub(crate) raw: bool,

    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}

/// What is asked: a document, or a state and questions.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = REQUEST)]
pub(crate) struct QuestionArgs {
    /// The request document, as the API takes it: a JSON object with `state` and `questions`;
    /// `-`, or nothing with a pipe on standard input, reads it from there
    #[arg(long, short, value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["state", "noul", "choice", "score"])]
    pub(crate) file: Option<PathBuf>,

    /// What the questions are about: the text itself, `@FILE`, or `-` for standard input
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    pub(crate) state: Option<String>,

    /// A yes-or-no question, answered by a number from 0 to 1; repeatable
    #[arg(long, value_name = "KEY=TEXT", value_parser = question::noul, requires = "state")]
    pub(crate) noul: Vec<Asked>,

    /// A question with options to choose from; repeatable
    #[arg(long, value_name = "KEY=TEXT:A,B", value_parser = question::choice, requires = "state")]
    pub(crate) choice: Vec<Asked>,

    /// A question with levels, from the lowest; repeatable
    #[arg(long, value_name = "KEY=TEXT:A|B|C", value_parser = question::score, requires = "state")]
    pub(crate) score: Vec<Asked>,

    /// The model; goes before the document's [default: jev-latest]
    /// [env: SKYL_MODEL, TYPESAFE_DEFAULT_MODEL]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Opt in to pictures: assets and questions of type `box`
    #[arg(long)]
    pub(crate) images: bool,

    /// Opt in to contexts past the usual ceilings
    #[arg(long)]
    pub(crate) long_context: bool,
}

/// A file of documents.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = BATCH)]
pub(crate) struct BatchArgs {
    /// Ask every line of this file, each a request document; `-` reads standard input
    #[arg(long, value_name = "FILE.jsonl|-", value_hint = ValueHint::FilePath, requires = "out")]
    #[arg(conflicts_with_all = ["file", "state", "noul", "choice", "score"])]
    pub(crate) batch: Option<PathBuf>,

    /// Where the answers go, one line per line, in order; answers that wait for an earlier one are
    /// kept beside it, with `.part` after its name
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "batch")]
    pub(crate) out: Option<PathBuf>,

    /// Go on where an earlier run ended: keep its answers, ask what failed or is missing
    #[arg(long, requires = "batch")]
    pub(crate) resume: bool,

    /// How many lines are asked at the same time, up to 1000 [default: 8]
    #[arg(long, value_name = "N", requires = "batch", value_parser = concurrency)]
    pub(crate) concurrency: Option<NonZeroUsize>,

    /// Send at most this many requests per minute, evenly [default: no limit]
    #[arg(long, value_name = "N", requires = "batch")]
    pub(crate) rpm: Option<NonZeroU32>,

    /// Spend at most this many tokens per second, evenly [default: no limit]
    #[arg(long, value_name = "N", requires = "batch")]
    pub(crate) tps: Option<NonZeroU32>,

    /// What a million input tokens cost, for the summary [default: unknown]
    #[arg(long, value_name = "AMOUNT", requires = "batch", value_parser = price)]
    pub(crate) price: Option<f64>,
}

fn concurrency(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &NonZeroUsize| number.get() <= MAX_CONCURRENCY)
        .ok_or_else(|| format!("expected a whole number from 1 to {MAX_CONCURRENCY}"))
}

/// Reads an amount of money; a NaN is none.
fn price(text: &str) -> Result<f64, String> {
    let price = text.parse().ok();
    price
        .filter(|price: &f64| price.is_finite() && *price >= 0.0)
        .ok_or_else(|| "expected an amount such as 0.042".to_owned())
}

/// Far beyond what the API's published limit of 20 requests a second keeps busy.
const MAX_CONCURRENCY: usize = 1000;

const PROVIDER_HELP: &str = "\
Who answers: sandbox, typesafe [default: sandbox, or typesafe with a base URL] [env: SKYL_PROVIDER]";

const BASE_URL_HELP: &str = "\
The address of the API, without /v1 [default: https://api.typesafe.ai] [env: SKYL_BASE_URL]";

const POLICY_HELP: &str = "\
The policy to start from: chat, system_one, fleet, or a file: JSON if it ends in .json, else TOML \
[default: system_one] [env: SKYL_POLICY]";

const MAX_RETRIES_HELP: &str =
    "Retries after the first attempt; 0 is off [default: 2] [env: SKYL_MAX_RETRIES]";

const RETRY_MAX_HELP: &str = "The highest backoff ceiling [default: 5s] [env: SKYL_RETRY_MAX]";

const JITTER_HELP: &str = "\
How a wait is drawn below its ceiling: full, equal, decorrelated, shave=0.25 \
[default: shave=0.25] [env: SKYL_JITTER]";

const BUDGET_HELP: &str = "\
Begin no wait that ends later than this after the start; 0 is unlimited \
[default: 30s] [env: SKYL_BUDGET]";

const TIMEOUT_HELP: &str = "One attempt, with its body [default: 10s] [env: SKYL_TIMEOUT]";

const IDLE_TIMEOUT_HELP: &str = "Of no use here: this API has no streams [env: SKYL_IDLE_TIMEOUT]";

const AFTER_HELP: &str = "\
A question in a flag is KEY=TEXT, split at the first `=`; before its options or levels stands the
last `:`. A backslash before a `:` `,` or `|` takes its meaning away: --choice 'when=At?:10\\:30,noon'.

Lengths of time have a unit: 500ms, 30s, 1m30s, 2h; only 0 needs none. An empty variable counts as
unset. The key comes from TYPESAFE_API_KEY, the address from TYPESAFE_BASE_URL. Keys on a command
line can be seen by others on the machine: prefer variables.

Of a batch, blank lines are passed over but counted, so that `line` is the line of the file. A
deadline is that of one line. The exit code is that of the first line that failed.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sensible_figures_are_taken() {
        for text in ["0", "1001", "-1", "many", ""] {
            assert!(concurrency(text).is_err(), "{text}");
        }
        assert_eq!(concurrency("1000").unwrap().get(), 1000);
        for text in ["NaN", "inf", "-0.1", "free", ""] {
            assert!(price(text).is_err(), "{text}");
        }
        assert!((price("0.042").unwrap() - 0.042).abs() < 1e-12);
        assert!(price("0").unwrap().abs() < 1e-12);
    }
}
