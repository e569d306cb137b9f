//! `skyl ask`: questions to System One, once or for every line of a file.

mod answer;
mod batch;
mod request;

use crate::args::AskArgs;
use crate::asker::{self, Asker, Opted, Settings};
use crate::call::{Told, Watch};
use crate::commands::ask::answer::AskObject;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::program::Context;
use crate::raw;
use crate::settings::Faults;
use crate::stderr::Tone;
use crate::stdout::Form;

/// Asks and prints the answers.
pub(crate) async fn run(
    args: &AskArgs,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    if let (Some(input), Some(out)) = (&args.batch.batch, &args.batch.out) {
        return batch::run(args, input, out, context, interrupt).await;
    }
    if args.raw {
        raw::check(context.form)?;
    }
    // Everything that can be wrong is found before standard input is read and before anything starts.
    let settings = settings(args, context)?;
    let request = interrupt.or(request::read(&args.questions)).await??;
    let asker = Asker::open(&settings, watch(args), Told::Live, context).await?;
    let options = asker::options(args.questions.model.as_deref(), interrupt);
    let call = async { Ok(asker.client.system_one_with(&request, options).await?) };
    let answered = asker.stage.beside(call).await;
    let response = if args.raw {
        answered.map_err(raw::with_body)?
    } else {
        answered?
    };
    for warning in response.warnings() {
        context
            .stderr
            .line(Tone::Plain, &format!("warning: {warning}"));
    }
    let stdout = &context.stdout;
    match context.form {
        Form::Json => stdout.object(&AskObject::of(&response)),
        // Exact: not even a line end is added.
        Form::Text if args.raw => stdout.bytes(response.raw()),
        Form::Text => response
            .answers()
            .iter()
            .try_for_each(|(id, answer)| stdout.line(&answer::line(id, answer))),
    }
}

fn settings(args: &AskArgs, context: &Context) -> Result<Settings, Failure> {
    let faults = if args.fault.is_some() {
        Faults::Asked
    } else {
        Faults::None
    };
    let mut settings = Settings::resolve(
        &args.connection,
        &args.policy,
        &args.time,
        &context.env,
        faults,
    )?;
    settings.opted = Opted {
        images: args.questions.images,
        long_context: args.questions.long_context,
    };
    Ok(settings)
}

fn watch(args: &AskArgs) -> Watch<'_> {
    Watch {
        fault: args.fault.as_ref(),
        events: args.watch.events.as_ref(),
    }
}
