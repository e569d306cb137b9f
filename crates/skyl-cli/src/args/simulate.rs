//! The arguments of `skyl simulate`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::args::OUTPUT;

/// A fleet in virtual time.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SimulateArgs {
    /// What happens: blip, shared-retry-after, brown-out, metastable, aws-occ, budget, or a TOML file;
    /// repeatable
    #[arg(required = true, value_name = "SCENARIO|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) scenarios: Vec<String>,

    /// A policy to run instead of the scenario's own: a name, or a file: JSON if it ends in .json, else
    /// TOML; repeatable
    #[arg(long, value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Vec<String>,

    /// Fleet sizes to run instead of the scenario's own, with commas between
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub(crate) clients: Vec<NonZeroU32>,

    /// Runs per policy and fleet size [default: the scenario's; 1, and 100 for aws-occ]
    #[arg(long, value_name = "K")]
    pub(crate) seeds: Option<NonZeroU32>,

    /// The first seed: the same one gives the same figures, byte for byte
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Write the figures to this file as CSV; `-` is standard output, in place of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) csv: Option<PathBuf>,

    /// Write pictures to this folder, made if it is not there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = OUTPUT)]
    pub(crate) svg: Option<PathBuf>,

    /// Write a page with the table and all pictures to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) html: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Policies:
  chat, system_one, fleet                               skyl's own
  none, fixed, exponential, equal, full, decorrelated   three retries each, drawn in other ways
  official-sdk                                          what the openai and anthropic SDKs do
  token-bucket                                          full, and a tenth of a retry per success

Scenarios:
  blip                a server is down for five seconds (100 clients)
  shared-retry-after  a whole fleet is told to come back in five seconds (1,000 clients)
  brown-out           a server loses half of its capacity for thirty seconds
  metastable          ten slow seconds: does the service come back when they are over?
  aws-occ             clients that update one row: the AWS backoff study, run by this engine
  budget              every call fails with the same chance, whatever the load

Nothing is sent anywhere, and no time passes: the clock is virtual, the decisions are the engine's.";
