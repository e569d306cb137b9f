//! What a command that asks System One needs: its client, on the stage of every call.

use skyl::ApiKey;
use skyl::system_one::{CallOptions, Client, ClientBuilder, RetryPolicy};

use crate::args::{ConnectionArgs, PolicyArgs, TimeArgs};
use crate::call::{Stage, Told, Watch, unbuilt};
use crate::env::Env;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::program::Context;
use crate::provider::Api;
use crate::settings::{Connection, Faults, Header, Names, Times, system_one_policy};

/// What flags and variables come to.
#[derive(Debug)]
pub(crate) struct Settings {
    connection: Connection,
    policy: RetryPolicy,
    times: Times,
    /// The model of requests that name none.
    model: Option<String>,
    pub(crate) opted: Opted,
}

/// What the API wants to be asked for by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opted {
    pub(crate) images: bool,
    pub(crate) long_context: bool,
}

impl Settings {
    /// Settles everything, and starts nothing.
    pub(crate) fn resolve(
        connection: &ConnectionArgs,
        policy: &PolicyArgs,
        time: &TimeArgs,
        env: &Env,
        faults: Faults,
    ) -> Result<Self, Failure> {
        let connection = Connection::resolve(Api::SystemOne, connection, env, faults)?;
        let mut model = MODEL.pick_text(None, env)?.map(|model| model.value);
        if model.is_none() {
            model = env.text(DEFAULT_MODEL)?.map(str::to_owned);
        }
        Ok(Self {
            connection,
            policy: system_one_policy(policy, env)?,
            times: Times::resolve(time, env)?,
            model,
            opted: Opted::default(),
        })
    }
}

/// A client on its stage.
pub(crate) struct Asker {
    pub(crate) client: Client,
    pub(crate) stage: Stage,
}

impl Asker {
    /// Makes the client, and starts the sandbox where that is who answers.
    pub(crate) async fn open(
        settings: &Settings,
        watch: Watch<'_>,
        told: Told,
        context: &Context,
    ) -> Result<Self, Failure> {
        let Settings {
            connection,
            policy,
            times,
            model,
            opted,
        } = settings;
        let stage = Stage::set(connection, "/typesafe", watch, context).await?;
        let target = stage.target();
        // The variables have been read already, each at its place in the order of precedence.
        let mut builder = Client::builder_from(|_| None)
            .api_key(target.key.cloned().unwrap_or_else(|| ApiKey::new("")))
            .base_url(target.base_url.unwrap_or_default())
            .model(model.as_deref().unwrap_or_default())
            .policy(policy.clone())
            .images(opted.images)
            .long_context(opted.long_context)
            .hook(stage.hook(told));
        if told == Told::Not {
            // Calls beside each other would each run into the wait that the server asked of all.
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
        let client = builder.build().map_err(unbuilt)?;
        Ok(Self { client, stage })
    }
}

/// Options of a call: a model that goes before all others, and an end when somebody interrupts.
pub(crate) fn options(model: Option<&str>, interrupt: &Interrupt) -> CallOptions {
    let options = CallOptions::new().cancel_on(interrupt.wait());
    options.model(model.unwrap_or_default())
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
