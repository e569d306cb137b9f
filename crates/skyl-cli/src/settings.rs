//! What the flags and variables come to: one value per setting, and who said so.
//!
//! Precedence, highest first: flag, `SKYL_…` variable, the provider's own variable, policy,
//! default. Every value keeps its source, so that an error can say which of five places to mend.

mod connection;
mod policy;

use std::fmt;
use std::time::Duration;

use crate::args::{TimeArgs, length};
use crate::env::Env;
use crate::failure::Failure;

pub(crate) use self::connection::{Connection, Faults, Header};
pub(crate) use self::policy::{chat_policy, policy, policy_in_file, system_one_policy};

/// A setting's two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) flag: &'static str,
    pub(crate) var: &'static str,
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Flag(&'static str),
    Variable(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) | Self::Variable(name) => f.write_str(name),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) source: Source,
}

impl Names {
    pub(crate) const fn new(flag: &'static str, var: &'static str) -> Self {
        Self { flag, var }
    }

    /// The flag's value, else the variable's, read by the same parser as the flag.
    pub(crate) fn pick<T, E: fmt::Display>(
        self,
        flag: Option<T>,
        env: &Env,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<Sourced<T>>, Failure> {
        if let Some(value) = flag {
            return Ok(Some(Sourced {
                value,
                source: Source::Flag(self.flag),
            }));
        }
        let Some(text) = env.text(self.var)? else {
            return Ok(None);
        };
        match parse(text) {
            Ok(value) => Ok(Some(Sourced {
                value,
                source: Source::Variable(self.var),
            })),
            Err(why) => Err(Failure::usage(format!("{}: {why}", self.var))),
        }
    }

    /// As [`Names::pick`], for settings that are plain text.
    pub(crate) fn pick_text(
        self,
        flag: Option<&str>,
        env: &Env,
    ) -> Result<Option<Sourced<String>>, Failure> {
        // Blank flags count as unset too: `--model "$MODEL"` in a script means "if there is one".
        let flag = flag
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned);
        self.pick(flag, env, |text| Ok::<_, fmt::Error>(text.to_owned()))
    }
}

/// How long things may take; `None` leaves it to the client's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) timeout: Option<Duration>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) deadline: Option<Duration>,
}

impl Times {
    pub(crate) fn resolve(args: &TimeArgs, env: &Env) -> Result<Self, Failure> {
        let time = |names: Names, flag| -> Result<Option<Duration>, Failure> {
            let Some(Sourced { value, source }) = names.pick(flag, env, length)? else {
                return Ok(None);
            };
            // Zero is refused rather than read as "none": half of the field's tools mean one by it
            // and half the other.
            if value.is_zero() {
                return Err(Failure::usage(format!("{source}: must be longer than 0")));
            }
            if value > LONGEST {
                return Err(Failure::usage(format!("{source}: must be at most 7d")));
            }
            Ok(Some(value))
        };
        Ok(Self {
            timeout: time(TIMEOUT, args.timeout)?,
            connect_timeout: time(CONNECT_TIMEOUT, args.connect_timeout)?,
            idle_timeout: time(IDLE_TIMEOUT, args.idle_timeout)?,
            deadline: time(DEADLINE, args.deadline)?,
        })
    }
}

const TIMEOUT: Names = Names::new("--timeout", "SKYL_TIMEOUT");
const CONNECT_TIMEOUT: Names = Names::new("--connect-timeout", "SKYL_CONNECT_TIMEOUT");
const IDLE_TIMEOUT: Names = Names::new("--idle-timeout", "SKYL_IDLE_TIMEOUT");
const DEADLINE: Names = Names::new("--deadline", "SKYL_DEADLINE");

/// The longest time the client takes: a longer one outlives deployments and credentials.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

#[cfg(test)]
mod tests;
