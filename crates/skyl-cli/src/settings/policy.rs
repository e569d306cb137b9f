//! The retry policy that flags, variables and a policy file come to.

mod file;

use std::fmt;
use std::str::FromStr;

use skyl_retry::{InvalidPolicy, Jitter, RetryPolicy, RetryPolicyBuilder};

use crate::args::{PolicyArgs, count, length, over_cap, switch};
use crate::env::Env;
use crate::failure::Failure;
use crate::settings::{Names, Source, Sourced};

use self::file::PolicyFile;

/// The policy as asked for, with every figure checked but no caller's own limits.
pub(crate) fn policy(args: &PolicyArgs, env: &Env) -> Result<RetryPolicy, Failure> {
    Layers::read(args, env, RetryPolicy::chat)?.build(|_| Ok(()))
}

/// The policy as asked for, held to what the client of System One takes; that API's own by default.
pub(crate) fn system_one_policy(args: &PolicyArgs, env: &Env) -> Result<RetryPolicy, Failure> {
    Layers::read(args, env, RetryPolicy::system_one)?.build(RetryPolicy::check_client_limits)
}

/// The policy as asked for, held to what the chat client takes: the wait must vary.
pub(crate) fn chat_policy(args: &PolicyArgs, env: &Env) -> Result<RetryPolicy, Failure> {
    Layers::read(args, env, RetryPolicy::chat)?.build(|policy| {
        policy
            .wait_can_vary()
            .and_then(|()| policy.check_client_limits())
    })
}

/// The policy of a file, with every figure checked; `names` are those the caller would have known.
pub(crate) fn policy_in_file(
    flag: &'static str,
    path: &str,
    names: &str,
) -> Result<RetryPolicy, Failure> {
    let name = Sourced {
        value: path.to_owned(),
        source: Source::Flag(flag),
    };
    let (file, builder) = PolicyFile::read(&name, names)?;
    builder.build().map_err(|invalid| {
        file.refuse(&invalid)
            .unwrap_or_else(|| Failure::usage(format!("{flag} {path}: {invalid}")))
    })
}

/// A policy, and what was said on top of it by whom.
struct Layers {
    builder: RetryPolicyBuilder,
    file: Option<PolicyFile>,
    said: Vec<(Knob, Source)>,
}

impl Layers {
    fn read(args: &PolicyArgs, env: &Env, default: Preset) -> Result<Self, Failure> {
        type Builder = RetryPolicyBuilder;
        let (builder, file) = start(args, env, default)?;
        Self {
            builder,
            file,
            said: Vec::new(),
        }
        .set(
            MAX_RETRIES,
            args.max_retries,
            env,
            count,
            Builder::max_retries,
        )?
        .set(
            RETRY_BASE,
            args.retry_base,
            env,
            length,
            Builder::initial_delay,
        )?
        .set(RETRY_MAX, args.retry_max, env, length, Builder::max_delay)?
        .set(JITTER, args.jitter, env, Jitter::from_str, Builder::jitter)?
        .set(
            RETRY_AFTER_CAP,
            args.retry_after_cap,
            env,
            length,
            Builder::max_retry_after,
        )?
        .set(OVER_CAP, args.over_cap, env, over_cap, Builder::over_cap)?
        .set(
            IGNORE_RETRY_AFTER,
            args.ignore_retry_after,
            env,
            switch,
            |builder, ignore| builder.honor_retry_after(!ignore),
        )?
        .set(BUDGET, args.budget, env, length, Builder::budget)?
        .set(
            NO_RETRY_ON_TIMEOUT,
            args.no_retry_on_timeout,
            env,
            switch,
            |builder, no| builder.retry_on_timeout(!no),
        )?
        .set(
            NO_RETRY_ON_CONN_ERR,
            args.no_retry_on_conn_err,
            env,
            switch,
            |builder, no| builder.retry_on_conn_err(!no),
        )?
        .set(
            RETRY_UNSENT,
            args.retry_unsent,
            env,
            switch,
            Builder::retry_unsent,
        )
    }

    fn set<T, E: fmt::Display>(
        mut self,
        knob: Knob,
        flag: Option<T>,
        env: &Env,
        parse: impl FnOnce(&str) -> Result<T, E>,
        apply: impl FnOnce(RetryPolicyBuilder, T) -> RetryPolicyBuilder,
    ) -> Result<Self, Failure> {
        if let Some(said) = knob.names.pick(flag, env, parse)? {
            self.builder = apply(self.builder, said.value);
            self.said.push((knob, said.source));
        }
        Ok(self)
    }

    fn build(
        self,
        check: impl FnOnce(&RetryPolicy) -> Result<(), InvalidPolicy>,
    ) -> Result<RetryPolicy, Failure> {
        let Self {
            builder,
            file,
            said,
        } = self;
        builder
            .build()
            .and_then(|policy| check(&policy).map(|()| policy))
            .map_err(|invalid| refuse(&said, file.as_ref(), &invalid))
    }
}

/// Says in the words of flags what the engine says in the words of its builder.
fn refuse(said: &[(Knob, Source)], file: Option<&PolicyFile>, invalid: &InvalidPolicy) -> Failure {
    if let Some((_, source)) = said.iter().find(|(knob, _)| knob.key == invalid.key()) {
        return Failure::usage(format!("{source}: {invalid}"));
    }
    if let Some(failure) = file.and_then(|file| file.refuse(invalid)) {
        return failure;
    }
    // The figure itself is a default, and what was said of the others does not go with it.
    let mut sources: Vec<String> = said.iter().map(|(_, source)| source.to_string()).collect();
    if !said.iter().any(|(knob, _)| knob.key == RETRY_BASE.key) {
        sources.extend(file.and_then(PolicyFile::place_of_initial_delay));
    }
    let knob = KNOBS.iter().find(|knob| knob.key == invalid.key());
    let advice = knob
        .map(|knob| format!("; {} sets it", knob.names.flag))
        .unwrap_or_default();
    Failure::usage(format!("{}: {invalid}{advice}", sources.join(", ")))
}

/// The policy the flags are laid on, and the file it is from.
fn start(
    args: &PolicyArgs,
    env: &Env,
    default: Preset,
) -> Result<(RetryPolicyBuilder, Option<PolicyFile>), Failure> {
    let Some(name) = POLICY.pick_text(args.policy.as_deref(), env)? else {
        return Ok((default().to_builder(), None));
    };
    // A name goes before a file that happens to be called like it; `./chat` is the file.
    let named = match name.value.as_str() {
        "chat" => RetryPolicy::chat(),
        "system_one" => RetryPolicy::system_one(),
        "fleet" => RetryPolicy::fleet(),
        _ => {
            let (file, builder) = PolicyFile::read(&name, "chat, system_one and fleet")?;
            return Ok((builder, Some(file)));
        }
    };
    Ok((named.to_builder(), None))
}

/// The policy where none is named.
type Preset = fn() -> RetryPolicy;

/// A figure of the policy that flags can set: the engine's name of it, and ours.
#[derive(Clone, Copy, Debug)]
struct Knob {
    key: &'static str,
    names: Names,
}

impl Knob {
    const fn new(key: &'static str, flag: &'static str, var: &'static str) -> Self {
        Self {
            key,
            names: Names::new(flag, var),
        }
    }
}

const POLICY: Names = Names::new("--policy", "SKYL_POLICY");

const MAX_RETRIES: Knob = Knob::new("max_retries", "--max-retries", "SKYL_MAX_RETRIES");
const RETRY_BASE: Knob = Knob::new("initial_delay", "--retry-base", "SKYL_RETRY_BASE");
const RETRY_MAX: Knob = Knob::new("max_delay", "--retry-max", "SKYL_RETRY_MAX");
const JITTER: Knob = Knob::new("jitter", "--jitter", "SKYL_JITTER");
const RETRY_AFTER_CAP: Knob = Knob::new(
    "max_retry_after",
    "--retry-after-cap",
    "SKYL_RETRY_AFTER_CAP",
);
const OVER_CAP: Knob = Knob::new("over_cap", "--over-cap", "SKYL_OVER_CAP");
const IGNORE_RETRY_AFTER: Knob = Knob::new(
    "honor_retry_after",
    "--ignore-retry-after",
    "SKYL_IGNORE_RETRY_AFTER",
);
const BUDGET: Knob = Knob::new("budget", "--budget", "SKYL_BUDGET");
const NO_RETRY_ON_TIMEOUT: Knob = Knob::new(
    "retry_on_timeout",
    "--no-retry-on-timeout",
    "SKYL_NO_RETRY_ON_TIMEOUT",
);
const NO_RETRY_ON_CONN_ERR: Knob = Knob::new(
    "retry_on_conn_err",
    "--no-retry-on-conn-err",
    "SKYL_NO_RETRY_ON_CONN_ERR",
);
const RETRY_UNSENT: Knob = Knob::new("retry_unsent", "--retry-unsent", "SKYL_RETRY_UNSENT");

/// The figures that can be refused although nobody set them.
const KNOBS: [Knob; 4] = [RETRY_BASE, RETRY_MAX, JITTER, RETRY_AFTER_CAP];
