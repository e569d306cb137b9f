//! `skyl models`: what a provider offers.

use serde::Serialize;
use skyl::ModelInfo;
use skyl::system_one::Model;

use crate::args::ModelsArgs;
use crate::asker::{self, Asker, Settings};
use crate::call::{Caller, Told, Watch};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::program::Context;
use crate::provider::Api;
use crate::raw;
use crate::settings::{Connection, Faults, Times, chat_policy};
use crate::stdout::{Form, Stdout};

/// Prints one name per line.
pub(crate) async fn run(
    args: &ModelsArgs,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let Context {
        env, form, stdout, ..
    } = context;
    if args.raw {
        raw::check(*form)?;
    }
    let watch = Watch {
        fault: None,
        events: args.watch.events.as_ref(),
    };
    match Connection::api(&args.connection, env)? {
        Api::Chat => {
            let models = of_chat(args, watch, context, interrupt).await;
            let models = with_body(args, models)?;
            let lines = models.iter().map(|model| (&*model.id, &*model.raw));
            print(
                lines,
                || models.iter().map(ModelObject::of).collect(),
                args,
                *form,
                stdout,
            )
        }
        Api::SystemOne => {
            let models = of_system_one(args, watch, context, interrupt).await;
            let models = with_body(args, models)?;
            let lines = models.iter().map(|model| (&*model.name, &*model.raw));
            let objects = || models.iter().map(SystemOneObject::of).collect();
            print(lines, objects, args, *form, stdout)
        }
    }
}

async fn of_chat(
    args: &ModelsArgs,
    watch: Watch<'_>,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<Vec<ModelInfo>, Failure> {
    let env = &context.env;
    let connection = Connection::resolve(Api::Chat, &args.connection, env, Faults::None)?;
    let policy = chat_policy(&args.policy, env)?;
    let times = Times::resolve(&args.time, env)?;
    let caller = Caller::open(&connection, policy, times, watch, context).await?;
    let options = caller.options(interrupt);
    let call = async { Ok(caller.client.models_with(options).await?) };
    caller.beside(call).await
}

async fn of_system_one(
    args: &ModelsArgs,
    watch: Watch<'_>,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<Vec<Model>, Failure> {
    let settings = Settings::resolve(
        &args.connection,
        &args.policy,
        &args.time,
        &context.env,
        Faults::None,
    )?;
    let asker = Asker::open(&settings, watch, Told::Live, context).await?;
    let options = asker::options(None, interrupt);
    let call = async { Ok(asker.client.list_models_with(options).await?) };
    asker.stage.beside(call).await
}

fn with_body<T>(args: &ModelsArgs, listed: Result<T, Failure>) -> Result<T, Failure> {
    if args.raw {
        listed.map_err(raw::with_body)
    } else {
        listed
    }
}

/// Prints the list: names, entries as they came, or objects.
fn print<'a, T: Serialize>(
    mut lines: impl Iterator<Item = (&'a str, &'a [u8])>,
    objects: impl FnOnce() -> Vec<T>,
    args: &ModelsArgs,
    form: Form,
    stdout: &Stdout,
) -> Result<(), Failure> {
    match form {
        Form::Json => stdout.object(&ModelsObject { models: objects() }),
        // A list may come in pages; an entry is what the server sent as one.
        Form::Text if args.raw => lines.try_for_each(|(_, raw)| {
            stdout.bytes(raw)?;
            stdout.end_line()
        }),
        Form::Text => lines.try_for_each(|(name, _)| stdout.text(&format!("{name}\n"))),
    }
}

/// The one object of the command.
#[derive(Debug, Serialize)]
struct ModelsObject<T> {
    models: Vec<T>,
}

#[derive(Debug, Serialize)]
struct ModelObject<'a> {
    id: &'a str,
    display_name: Option<&'a str>,
    context_window: Option<u64>,
    max_output_tokens: Option<u64>,
}

/// What System One says of a model; nothing of it is what a chat provider says.
#[derive(Debug, Serialize)]
struct SystemOneObject<'a> {
    id: &'a str,
    description: Option<&'a str>,
    release_date: Option<&'a str>,
}

impl<'a> SystemOneObject<'a> {
    fn of(model: &'a Model) -> Self {
        Self {
            id: &model.name,
            description: model.description.as_deref(),
            release_date: model.release_date.as_deref(),
        }
    }
}

impl<'a> ModelObject<'a> {
    fn of(model: &'a ModelInfo) -> Self {
        Self {
            id: &model.id,
            display_name: model.display_name.as_deref(),
            context_window: model.context_window,
            max_output_tokens: model.max_output_tokens,
        }
    }
}
