//! `skyl sandbox`: the fake providers, for every language.

use serde::Serialize;
use skyl_sandbox::{Chaos, DEFAULT_KEY, Sandbox, Tls};

use crate::args::{SandboxArgs, TlsKind};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::stderr::{Stderr, Tone};
use crate::stdout::{Form, Stdout};

/// Serves until interrupted; being asked to stop is how a server ends, and no failure.
pub(crate) async fn run(
    args: &SandboxArgs,
    form: Form,
    stdout: &Stdout,
    stderr: &Stderr,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let mut builder = Sandbox::builder()
        .addr(args.addr)
        .key(args.key.as_str())
        .keep(args.keep);
    if let Some(script) = &args.script {
        builder = builder.script(script.clone());
    }
    // The parser lets no other share through.
    if let Some(chaos) = args.chaos.and_then(|rate| Chaos::new(rate, args.seed)) {
        builder = builder.chaos(chaos);
    }
    if let Some(limit) = args.rpm {
        builder = builder.requests_per_minute(limit);
    }
    if let Some(limit) = args.tpm {
        builder = builder.tokens_per_minute(limit);
    }
    if let Some(kind) = args.tls {
        builder = builder.tls(match kind {
            TlsKind::SelfSigned => Tls::SelfSigned,
            TlsKind::Expired => Tls::Expired,
            TlsKind::WrongHost => Tls::WrongHost,
        });
    }
    let sandbox = builder
        .start()
        .await
        .map_err(|error| started(args, &error))?;
    let base_url = sandbox.url();
    // Somebody may have given it a key that opens other doors too.
    let key = if args.key == DEFAULT_KEY {
        DEFAULT_KEY
    } else {
        "as given"
    };
    for line in [
        format!("sandbox: key {key}, mounts {MOUNTS}"),
        format!("sandbox: journal at {base_url}/_sandbox/journal; an interrupt ends it"),
    ] {
        stderr.line(Tone::Aside, &line);
    }
    match form {
        Form::Text => stdout.line(&base_url)?,
        Form::Json => stdout.object(&SandboxObject {
            base_url: &base_url,
        })?,
    }
    interrupt.wait().await;
    sandbox.shutdown().await;
    Ok(())
}

const MOUNTS: &str = "/openai/v1, /compat/v1, /anthropic/v1, /gemini/v1beta, /typesafe/v1";

fn started(args: &SandboxArgs, error: &skyl_sandbox::Error) -> Failure {
    let cause = std::error::Error::source(error)
        .map(|cause| format!(": {cause}"))
        .unwrap_or_default();
    Failure::internal(format!("{error} on {}{cause}", args.addr))
}

/// The one object of the command.
#[derive(Debug, Serialize)]
struct SandboxObject<'a> {
    base_url: &'a str,
}
