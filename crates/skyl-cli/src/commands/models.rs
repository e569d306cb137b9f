//! `skyl models`: what a provider offers.

use serde::Serialize;
use skyl::ModelInfo;

use crate::args::ModelsArgs;
use crate::call::{Caller, Watch};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::program::Context;
use crate::provider::Api;
use crate::raw;
use crate::settings::{Connection, Faults, Times, chat_policy};
use crate::stdout::Form;

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
    let connection = Connection::resolve(Api::Chat, &args.connection, env, Faults::None)?;
    let policy = chat_policy(&args.policy, env)?;
    let times = Times::resolve(&args.time, env)?;
    let watch = Watch {
        fault: None,
        events: args.watch.events.as_ref(),
    };
    let caller = Caller::open(&connection, policy, times, watch, context).await?;
    let options = caller.options(interrupt);
    let call = async { Ok(caller.client.models_with(options).await?) };
    let listed = caller.beside(call).await;
    let models = if args.raw {
        listed.map_err(raw::with_body)?
    } else {
        listed?
    };
    match form {
        Form::Json => {
            let models = models.iter().map(ModelObject::of).collect();
            stdout.object(&ModelsObject { models })
        }
        // A list may come in pages; an entry is what the server sent as one.
        Form::Text if args.raw => models.iter().try_for_each(|model| {
            stdout.bytes(&model.raw)?;
            stdout.end_line()
        }),
        Form::Text => models
            .iter()
            .try_for_each(|model| stdout.text(&format!("{}\n", model.id))),
    }
}

/// The one object of the command.
#[derive(Debug, Serialize)]
struct ModelsObject<'a> {
    models: Vec<ModelObject<'a>>,
}

#[derive(Debug, Serialize)]
struct ModelObject<'a> {
    id: &'a str,
    display_name: Option<&'a str>,
    context_window: Option<u64>,
    max_output_tokens: Option<u64>,
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
