//! What a command that calls needs: a client, and the people who watch it.

use std::future::Future;
use std::sync::Arc;

use skyl::openai::Preset;
use skyl::{ApiKey, CallOptions, Client, ClientBuilder, ErrorKind, HookEvent};
use skyl_retry::RetryPolicy;
use skyl_sandbox::{DEFAULT_KEY, Sandbox, Script};

use crate::args::EventSink;
use crate::events::Events;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::live::Live;
use crate::program::Context;
use crate::provider::Target;
use crate::settings::{Connection, Header, Source, Times};
use crate::stderr::{Stderr, Tone};
use crate::stdout::Form;

/// What is wanted beside the answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch<'a> {
    /// How the embedded sandbox is to fail.
    pub(crate) fault: Option<&'a Script>,
    /// Where event lines go.
    pub(crate) events: Option<&'a EventSink>,
}

/// What stands around every call: where it goes, and the people who watch it.
pub(crate) struct Stage {
    preset: Option<&'static Preset>,
    base_url: Option<String>,
    key: Option<ApiKey>,
    key_source: Option<Source>,
    pub(crate) headers: Vec<Header>,
    live: Arc<Live>,
    events: Option<Arc<Events>>,
    stderr: Stderr,
    /// Answers for as long as it is here.
    sandbox: Option<Sandbox>,
}

/// Whether attempts are told of on standard error while they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// There is one call, and somebody waits for it.
    Live,
    /// There are many calls beside each other.
    Not,
}

impl Stage {
    /// Opens the event lines, and starts the sandbox where that is who answers; `mount` is the path
    /// of the provider it plays.
    pub(crate) async fn set(
        connection: &Connection,
        mount: &str,
        watch: Watch<'_>,
        context: &Context,
    ) -> Result<Self, Failure> {
        let Watch { fault, events } = watch;
        if context.form == Form::Json && events == Some(&EventSink::Stdout) {
            return Err(Failure::usage(
                "--events -: with --json standard output holds one object; name a file",
            ));
        }
        let events = events
            .map(|sink| Events::open(sink, &context.stdout).map(Arc::new))
            .transpose()?;
        let sandbox = if connection.is_sandbox() {
            Some(embedded(connection, fault, context).await?)
        } else {
            None
        };
        let given = connection.key.as_ref();
        let key = given
            .map(|key| key.value.clone())
            .or_else(|| sandbox.as_ref().map(|_| DEFAULT_KEY.into()));
        if key
            .as_ref()
            .is_some_and(|key| key.expose().len() < SCRUBBED_BYTES)
        {
            let warning = "warning: a key under 8 bytes cannot be kept out of what a server echoes";
            context.stderr.line(Tone::Plain, warning);
        }
        let base_url = match &sandbox {
            Some(sandbox) => Some(sandbox.base_url(mount)),
            None => connection.base_url.clone(),
        };
        Ok(Self {
            preset: connection.preset,
            base_url,
            key,
            key_source: given.map(|key| key.source),
            headers: connection.headers.clone(),
            live: Arc::new(Live::new(context.stderr.clone())),
            events,
            stderr: context.stderr.clone(),
            sandbox,
        })
    }

    pub(crate) fn target(&self) -> Target<'_> {
        Target {
            preset: self.preset,
            base_url: self.base_url.as_deref(),
            key: self.key.as_ref(),
        }
    }

    /// Whether calls go to a port inside this program, of which a proxy of the environment knows
    /// nothing.
    pub(crate) fn is_inside(&self) -> bool {
        self.sandbox.is_some()
    }

    /// What a client tells of its attempts.
    pub(crate) fn hook(
        &self,
        told: Told,
    ) -> impl for<'e> Fn(&HookEvent<'e>) + Send + Sync + 'static {
        let (live, events) = (self.live.clone(), self.events.clone());
        move |event| {
            if told == Told::Live {
                live.attempt(event);
            }
            if let Some(events) = &events {
                events.write(event);
            }
        }
    }

    /// Runs a call with the countdown beside it.
    pub(crate) async fn beside<T>(
        &self,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let done = tokio::select! {
            biased;
            done = call => done,
            () = self.live.count_down() => std::future::pending().await,
        };
        self.stderr.erase();
        if let Some(why) = self.events.as_ref().and_then(|events| events.failure()) {
            // The call is what was asked for; it is not lost because somebody could not watch.
            self.stderr
                .line(Tone::Alarm, &format!("warning: --events: {why}"));
        }
        done.map_err(|failure| self.advise(failure))
    }

    /// Names what only this side knows: of several places a key can come from, which one it was.
    fn advise(&self, mut failure: Failure) -> Failure {
        if let Failure::Call(call) = &mut failure
            && call.error.kind() == ErrorKind::Auth
        {
            let source = self.key_source;
            call.advice
                .extend(source.map(|source| format!("the key came from {source}")));
        }
        failure
    }
}

/// A chat client on its stage.
pub(crate) struct Caller {
    pub(crate) client: Client,
    stage: Stage,
}

impl Caller {
    /// Makes the client, and starts the sandbox where that is who answers.
    pub(crate) async fn open(
        connection: &Connection,
        policy: RetryPolicy,
        times: Times,
        watch: Watch<'_>,
        context: &Context,
    ) -> Result<Self, Failure> {
        let stage = Stage::set(connection, "/openai/v1", watch, context).await?;
        let target = stage.target();
        let mut builder = connection.provider.connect(&target)?.policy(policy);
        if stage.is_inside() {
            builder = unproxied(builder);
        }
        if let Some(timeout) = times.timeout {
            // It is a stream's limit to the first content as well.
            builder = builder.attempt_timeout(timeout);
        }
        if let Some(timeout) = times.connect_timeout {
            builder = builder.connect_timeout(timeout);
        }
        if let Some(timeout) = times.idle_timeout {
            builder = builder.idle_timeout(timeout);
        }
        if let Some(timeout) = times.deadline {
            builder = builder.total_timeout(timeout);
        }
        let client = builder.hook(stage.hook(Told::Live)).build();
        let client = client.map_err(unbuilt)?;
        Ok(Self { client, stage })
    }

    /// Options of a call: the given headers, and an end when somebody interrupts.
    pub(crate) fn options(&self, interrupt: &Interrupt) -> CallOptions {
        let options = CallOptions::new().cancel_on(interrupt.wait());
        let headers = self.stage.headers.iter();
        headers.fold(options, |options, Header { name, value }| {
            options.header(name.as_str(), value.as_str())
        })
    }

    /// Runs a call with the countdown beside it.
    pub(crate) fn beside<T>(
        &self,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> impl Future<Output = Result<T, Failure>> {
        self.stage.beside(call)
    }
}

async fn embedded(
    connection: &Connection,
    fault: Option<&Script>,
    context: &Context,
) -> Result<Sandbox, Failure> {
    let mut builder = Sandbox::builder().key(DEFAULT_KEY);
    if let Some(script) = fault {
        builder = builder.script(script.clone());
    }
    let sandbox = builder
        .start()
        .await
        .map_err(|error| Failure::internal(format!("{error}")))?;
    let why = match connection.chosen_by {
        Some(_) => "",
        None => "; --provider names another",
    };
    context.stderr.line(
        Tone::Aside,
        &format!(
            "sandbox: answers come from inside this program, nothing leaves this machine{why}"
        ),
    );
    Ok(sandbox)
}

/// A proxy of the environment knows nothing of a port inside this program.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method's name is the HTTP library's, on which nothing here depends"
)]
fn unproxied(builder: ClientBuilder) -> ClientBuilder {
    builder.http(|http| http.no_proxy())
}

/// What a client refuses to be made of came from flags and variables.
pub(crate) fn unbuilt(error: skyl::Error) -> Failure {
    match error.message() {
        Some(message) if error.kind() == ErrorKind::BadRequest => Failure::usage(message),
        _ => error.into(),
    }
}

/// The shortest key the client takes out of texts; a shorter one would hide ordinary words.
const SCRUBBED_BYTES: usize = 8;
