//! What a command that calls needs: a client, and the people who watch it.

use std::future::Future;
use std::sync::Arc;

use skyl::{CallOptions, Client, ClientBuilder, ErrorKind, HookEvent};
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

/// A client, told of on standard error and in event lines.
pub(crate) struct Caller {
    pub(crate) client: Client,
    headers: Vec<Header>,
    key_source: Option<Source>,
    live: Arc<Live>,
    events: Option<Arc<Events>>,
    stderr: Stderr,
    /// Answers for as long as it is here.
    _sandbox: Option<Sandbox>,
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
        let sandbox_url = sandbox
            .as_ref()
            .map(|sandbox| sandbox.base_url("/openai/v1"));
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
        let target = Target {
            preset: connection.preset,
            base_url: sandbox_url.as_deref().or(connection.base_url.as_deref()),
            key: key.as_ref(),
        };
        let mut builder = connection.provider.connect(&target)?.policy(policy);
        if sandbox.is_some() {
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
        let live = Arc::new(Live::new(context.stderr.clone()));
        let hook = {
            let (live, events) = (live.clone(), events.clone());
            move |event: &HookEvent<'_>| {
                live.attempt(event);
                if let Some(events) = &events {
                    events.write(event);
                }
            }
        };
        let client = builder.hook(hook).build().map_err(unbuilt)?;
        Ok(Self {
            client,
            headers: connection.headers.clone(),
            key_source: given.map(|key| key.source),
            live,
            events,
            stderr: context.stderr.clone(),
            _sandbox: sandbox,
        })
    }

    /// Options of a call: the given headers, and an end when somebody interrupts.
    pub(crate) fn options(&self, interrupt: &Interrupt) -> CallOptions {
        let options = CallOptions::new().cancel_on(interrupt.wait());
        self.headers
            .iter()
            .fold(options, |options, Header { name, value }| {
                options.header(name.as_str(), value.as_str())
            })
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
fn unbuilt(error: skyl::Error) -> Failure {
    match error.message() {
        Some(message) if error.kind() == ErrorKind::BadRequest => Failure::usage(message),
        _ => error.into(),
    }
}

/// The shortest key the client takes out of texts; a shorter one would hide ordinary words.
const SCRUBBED_BYTES: usize = 8;
