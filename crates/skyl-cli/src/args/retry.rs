//! The flags of a retry policy and of the times around it; the same on every command that calls.

use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueHint};
use skyl_retry::duration::{self, InvalidDuration};
use skyl_retry::{Jitter, OverCap};

use crate::args::{RETRIES, TIMES};

/// What may be retried, how often, and after which wait.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = RETRIES)]
pub(crate) struct PolicyArgs {
    /// The policy to start from: chat, system_one, fleet, or a file: JSON if it ends in .json, else
    /// TOML [default: chat] [env: SKYL_POLICY]
    #[arg(long, value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Option<String>,

    /// Retries after the first attempt; 0 is off [default: 3] [env: SKYL_MAX_RETRIES]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) max_retries: Option<u32>,

    /// The first backoff ceiling, doubled by every retry [default: 500ms] [env: SKYL_RETRY_BASE]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) retry_base: Option<Duration>,

    /// The highest backoff ceiling [default: 30s] [env: SKYL_RETRY_MAX]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) retry_max: Option<Duration>,

    /// How a wait is drawn below its ceiling: full, equal, decorrelated, shave=0.25
    /// [default: full] [env: SKYL_JITTER]
    #[arg(long, value_name = "KIND", value_parser = Jitter::from_str)]
    pub(crate) jitter: Option<Jitter>,

    /// The longest wait taken from a server [default: 5m] [env: SKYL_RETRY_AFTER_CAP]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) retry_after_cap: Option<Duration>,

    /// What a longer wait means: clamp, give-up [default: clamp] [env: SKYL_OVER_CAP]
    #[arg(long, value_name = "RULE", value_parser = over_cap)]
    pub(crate) over_cap: Option<OverCap>,

    /// Use the own backoff whatever the server asks for [env: SKYL_IGNORE_RETRY_AFTER]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = switch)]
    pub(crate) ignore_retry_after: Option<bool>,

    /// Begin no wait that ends later than this after the start; 0 is unlimited
    /// [default: 0] [env: SKYL_BUDGET]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) budget: Option<Duration>,

    /// Let an attempt that timed out be the last [env: SKYL_NO_RETRY_ON_TIMEOUT]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = switch)]
    pub(crate) no_retry_on_timeout: Option<bool>,

    /// Let a connection that failed be the last [env: SKYL_NO_RETRY_ON_CONN_ERR]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = switch)]
    pub(crate) no_retry_on_conn_err: Option<bool>,

    /// Retry what provably was not sent, even so [env: SKYL_RETRY_UNSENT]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = switch)]
    pub(crate) retry_unsent: Option<bool>,
}

/// How long things may take.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = TIMES)]
pub(crate) struct TimeArgs {
    /// One attempt; of a stream, until its first content [default: 10m] [env: SKYL_TIMEOUT]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) timeout: Option<Duration>,

    /// The connection alone [default: 10s] [env: SKYL_CONNECT_TIMEOUT]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) connect_timeout: Option<Duration>,

    /// The silence between two bytes of a running stream [default: 5m] [env: SKYL_IDLE_TIMEOUT]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) idle_timeout: Option<Duration>,

    /// The whole call, retries and waits included [default: none] [env: SKYL_DEADLINE]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) deadline: Option<Duration>,
}

/// Reads a length of time; a number without a unit is refused, except 0.
pub(crate) fn length(text: &str) -> Result<Duration, InvalidDuration> {
    duration::parse(text)
}

/// Reads the rule above the cap; the word is written as flags are.
pub(crate) fn over_cap(text: &str) -> Result<OverCap, String> {
    text.parse()
        .map_err(|_| "expected clamp or give-up".to_owned())
}

/// Reads a number of something.
pub(crate) fn count(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("expected a whole number from 0, not {text:?}"))
}

/// Reads yes or no, in the words people write into variables.
pub(crate) fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}
