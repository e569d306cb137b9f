//! The client of System One, made of flags and variables.

use skyl::ApiKey;
use skyl::system_one::{CallOptions, Client, ClientBuilder, RetryPolicy};

use crate::args::AskArgs;
use crate::call::{Stage, Told, Watch, unbuilt};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::program::Context;
use crate::provider::Api;
use crate::settings::{Connection, Faults, Header, Names, Times, system_one_policy};

/// What flags and variables come to.
#[derive(Debug)]
pub(super) struct Settings {
    connection: Connection,
    policy: RetryPolicy,
    times: Times,
    /// The model of requests that name none.
    model: Option<String>,
}

/// Settles everything, and starts nothing.
pub(super) fn settings(args: &AskArgs, context: &Context) -> Result<Settings, Failure> {
    let env = &context.env;
    let faults = if args.fault.is_some() {
        Faults::Asked
    } else {
        Faults::None
    };
    let connection = Connection::resolve(Api::SystemOne, &args.connection, env, faults)?;
    let mut model = MODEL.pick_text(None, env)?.map(|model| model.value);
    if model.is_none() {
        model = env.text(DEFAULT_MODEL)?.map(str::to_owned);
    }
    Ok(Settings {
        connection,
        policy: system_one_policy(&args.policy, env)?,
        times: Times::resolve(&args.time, env)?,
        model,
    })
}

/// A client on its stage.
pub(super) struct Asker {
    pub(super) client: Client,
    pub(super) stage: Stage,
    /// The model of the flag, which goes before the document's.
    model: Option<String>,
}

impl Asker {
    /// Makes the client, and starts the sandbox where that is who answers.
    pub(super) async fn open(
        settings: &Settings,
        args: &AskArgs,
        told: Told,
        context: &Context,
    ) -> Result<Self, Failure> {
        let Settings {
            connection,
            policy,
            times,
            model,
        } = settings;
        let watch = Watch {
            fault: args.fault.as_ref(),
            events: args.watch.events.as_ref(),
        };
        let stage = Stage::set(connection, "/typesafe", watch, context).await?;
        let target = stage.target();
        // The variables have been read already, each at its place in the order of precedence.
        let mut builder = Client::builder_from(|_| None)
            .api_key(target.key.cloned().unwrap_or_else(|| ApiKey::new("")))
            .base_url(target.base_url.unwrap_or_default())
            .model(model.as_deref().unwrap_or_default())
            .policy(policy.clone())
            .images(args.questions.images)
            .long_context(args.questions.long_context)
            .hook(stage.hook(told));
        if told == Told::Not {
            // Lines beside each other would each run into the wait that the server asked of all.
            builder = builder.shared_pause(true);
        }
        if stage.is_inside() {
            builder = unproxied(builder);
        }
        if let Some(timeout) = times.timeout {
            builder = builder.attempt_timeout(timeout);
        }
        if let Some(timeout) = times.connect_timeout {
            builder = builder.connect_timeout(timeout);
        }
        if let Some(timeout) = times.deadline {
            builder = builder.total_timeout(timeout);
        }
        for Header { name, value } in &stage.headers {
            builder = builder.header(name.as_str(), value.as_str());
        }
        Ok(Self {
            client: builder.build().map_err(unbuilt)?,
            stage,
            model: args.questions.model.clone(),
        })
    }

    /// Options of a call: the flag's model, and an end when somebody interrupts.
    pub(super) fn options(&self, interrupt: &Interrupt) -> CallOptions {
        let options = CallOptions::new().cancel_on(interrupt.wait());
        options.model(self.model.as_deref().unwrap_or_default())
    }
}

/// A proxy of the environment knows nothing of a port inside this program.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method's name is the HTTP library's, on which nothing here depends"
)]
fn unproxied(builder: ClientBuilder) -> ClientBuilder {
    builder.http(|http| http.no_proxy())
}

/// The flag is not asked here: it goes before the document, the variable does not.
const MODEL: Names = Names::new("--model", "SKYL_MODEL");
const DEFAULT_MODEL: &str = "TYPESAFE_DEFAULT_MODEL";
