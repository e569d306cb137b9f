//! `skyl chat`: one prompt, one answer.

mod attachment;
mod prompt;

use serde::Serialize;
use skyl::{
    Effort, Message, Part, Request, Response, ResponseFormat, ResponseStream, Role, StopReason,
    StreamEvent, ToolCall,
};

use crate::args::ChatArgs;
use crate::call::{Caller, Watch};
use crate::failure::{FailedCall, Failure};
use crate::interrupt::Interrupt;
use crate::json::{AttemptObject, ToolCallObject, UsageObject, WarningObject, attempts};
use crate::program::Context;
use crate::provider::Api;
use crate::raw;
use crate::settings::{Connection, Faults, Names, Times, chat_policy};
use crate::stderr::{Stderr, Tone};
use crate::stdout::{Form, Stdout};

/// Makes the call and prints its answer.
pub(crate) async fn run(
    args: &ChatArgs,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let Context {
        env,
        form,
        stdout,
        stderr,
    } = context;
    if args.raw {
        raw::check(*form)?;
        if args.stream {
            return Err(Failure::usage(
                "--raw: a streamed answer is not kept as bytes; leave out --stream",
            ));
        }
    }
    // Everything that can be wrong is found before the prompt is read and before anything starts.
    let faults = if args.fault.is_some() {
        Faults::Asked
    } else {
        Faults::None
    };
    let connection = Connection::resolve(Api::Chat, &args.connection, env, faults)?;
    let policy = chat_policy(&args.policy, env)?;
    let times = Times::resolve(&args.time, env)?;
    let model = model(args, &connection, context)?;
    let request = request(args, model)?;
    let prompt = interrupt.or(prompt::read(args.prompt.clone())).await??;
    let request = request.message(turn(prompt, &args.request.image)?);

    let watch = Watch {
        fault: args.fault.as_ref(),
        events: args.watch.events.as_ref(),
    };
    let caller = Caller::open(&connection, policy, times, watch, context).await?;
    let options = caller.options(interrupt);
    let response = if args.stream {
        let shown = if *form == Form::Text {
            Some(stdout)
        } else {
            None
        };
        caller
            .beside(streamed(&caller, &request, options, shown))
            .await?
    } else {
        let call = async { Ok(caller.client.complete_with(&request, options).await?) };
        let answered = caller.beside(call).await;
        if args.raw {
            answered.map_err(raw::with_body)?
        } else {
            answered?
        }
    };
    notes(&response, *form, stderr);
    match form {
        Form::Json => stdout.object(&ChatObject::of(&response)),
        Form::Text if args.stream => stdout.end_line(),
        // Exact: not even a line end is added.
        Form::Text if args.raw => stdout.bytes(&response.raw),
        Form::Text => {
            stdout.text(&response.text())?;
            stdout.end_line()
        }
    }
}

fn model(args: &ChatArgs, connection: &Connection, context: &Context) -> Result<String, Failure> {
    let model = MODEL.pick_text(args.request.model.as_deref(), &context.env)?;
    match (model, connection.provider.default_model) {
        (Some(model), _) => Ok(model.value),
        (None, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(Failure::usage(format!(
            "{} needs a model: --model or {}",
            connection.name(),
            MODEL.var
        ))),
    }
}

/// The request as far as it is known before the prompt.
fn request(args: &ChatArgs, model: String) -> Result<Request, Failure> {
    let mut request = Request::new(model);
    let asked = &args.request;
    request.system.clone_from(&asked.system);
    request.max_tokens = asked.max_tokens;
    request.temperature = asked.temperature;
    request.reasoning_effort = asked.effort.as_deref().map(Effort::from);
    if let Some(path) = &asked.tools {
        request.tools = attachment::tools(path)?;
    }
    if let Some(path) = &asked.schema {
        request.response_format = Some(ResponseFormat::json_schema(attachment::schema(path)?));
    }
    Ok(request)
}

/// The user's turn: pictures first, since models read what follows as being about them.
fn turn(prompt: String, images: &[String]) -> Result<Message, Failure> {
    let images = images
        .iter()
        .map(|image| attachment::image(image).map(Part::Image));
    let mut parts = images.collect::<Result<Vec<_>, _>>()?;
    parts.push(Part::text(prompt));
    Ok(Message::new(Role::User, parts))
}

/// Reads a stream to its end; `shown` is where its text goes as it comes.
async fn streamed(
    caller: &Caller,
    request: &Request,
    options: skyl::CallOptions,
    shown: Option<&Stdout>,
) -> Result<Response, Failure> {
    let mut stream = caller.client.stream_with(request, options).await?;
    while let Some(event) = stream.next().await {
        match event {
            Ok(StreamEvent::Text(piece)) => {
                if let Some(stdout) = shown {
                    stdout.text(&piece)?;
                }
            }
            Ok(_) => {}
            Err(error) => return Err(broken(&stream, error, shown)),
        }
    }
    stream.into_response().await.map_err(Failure::from)
}

/// A stream's failure, with what it had delivered.
fn broken(stream: &ResponseStream, error: skyl::Error, shown: Option<&Stdout>) -> Failure {
    if let Some(stdout) = shown
        && let Err(failure) = stdout.end_line()
    {
        return failure;
    }
    let partial = stream.partial();
    let tool_calls: Vec<ToolCall> = partial.message.tool_calls().cloned().collect();
    let text = partial.message.text();
    Failure::Call(Box::new(FailedCall::new(error, text, tool_calls)))
}

/// What is worth knowing about an answer beside its text.
fn notes(response: &Response, form: Form, stderr: &Stderr) {
    for warning in &response.warnings {
        stderr.line(Tone::Plain, &format!("warning: {warning}"));
    }
    match &response.stop_reason {
        StopReason::MaxTokens => {
            stderr.line(Tone::Plain, "note: the answer was cut at the token limit");
        }
        StopReason::Refusal => {
            let words = response
                .refusal
                .as_deref()
                .map(|words| format!(": {words}"));
            let words = words.unwrap_or_default();
            stderr.line(Tone::Plain, &format!("note: the model declined{words}"));
        }
        _ => {}
    }
    if form == Form::Text {
        for call in response.message.tool_calls() {
            stderr.line(
                Tone::Plain,
                &format!("tool call: {} {}", call.name, call.arguments),
            );
        }
    }
}

/// The one object of a success.
#[derive(Debug, Serialize)]
struct ChatObject<'a> {
    id: Option<&'a str>,
    provider: &'a str,
    model: Option<&'a str>,
    text: String,
    stop_reason: &'static str,
    usage: UsageObject,
    tool_calls: Vec<ToolCallObject<'a>>,
    warnings: Vec<WarningObject<'a>>,
    request_id: Option<&'a str>,
    attempts: Vec<AttemptObject>,
}

impl<'a> ChatObject<'a> {
    fn of(response: &'a Response) -> Self {
        Self {
            id: response.id.as_deref(),
            provider: &response.provider,
            model: response.model.as_deref(),
            text: response.text(),
            stop_reason: response.stop_reason.as_str(),
            usage: response.usage.into(),
            tool_calls: response
                .message
                .tool_calls()
                .map(ToolCallObject::of)
                .collect(),
            warnings: response.warnings.iter().map(WarningObject::of).collect(),
            request_id: response.request_id.as_deref(),
            attempts: attempts(response.attempts()),
        }
    }
}

const MODEL: Names = Names::new("--model", "SKYL_MODEL");
