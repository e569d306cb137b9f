//! The two calls of System One, on the path all calls take.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use tracing::Instrument;

use crate::client::prepare::{self, JSON};
use crate::client::{
    Call, CallOptions as Common, Plan, Success, Taken, Timeouts, Whole, reply_error, whole,
};
use crate::dialect::{Encoded, Fault};
use crate::error::Error;
use crate::hook::Operation;
use crate::http::Wire;
use crate::kind::ErrorKind;
use crate::response::{Usage, Warning};
use crate::system_one::builder::{ContextCheck, RETRY_COUNT};
use crate::system_one::client::Shared;
use crate::system_one::decode::{self, Reply};
use crate::system_one::echo;
use crate::system_one::model::{self, Model};
use crate::system_one::options::CallOptions;
use crate::system_one::request::Request;
use crate::system_one::response::Response;
use crate::system_one::tokens::ContextLimits;

/// Asks the questions of a request.
pub(super) async fn ask(
    shared: &Shared,
    request: &Request,
    options: CallOptions,
) -> Result<Response, Error> {
    let core = &shared.core;
    let refuse = |fault: Fault| core.refuse(&fault);
    let CallOptions { model, common } = options;
    let request = match model {
        Some(model) => Cow::Owned(request.clone().model(model)),
        None => Cow::Borrowed(request),
    };
    let model = request.model.as_deref().unwrap_or(&shared.model);

    let mut encoded = request.encode(model).map_err(refuse)?;
    let mut warnings = std::mem::take(&mut encoded.warnings);
    warnings.extend(context(shared, &request).map_err(refuse)?);
    opt_in(shared, &request, &mut encoded.headers).map_err(refuse)?;

    let mut common = with_headers_of(shared, common);
    warnings.extend(left_out(&common));
    let mut cancel = std::mem::take(&mut common.cancel);
    let plan = Plan::new(core, &common, Timeouts::attempt)?;
    let wire = wire(shared, &plan, encoded)?;
    let call = Call::new(
        core,
        &plan,
        core.next_id(),
        Operation::SystemOne,
        Some(model),
    );
    let span = call.span();
    async {
        let (reply, whole) = call
            .run(&mut cancel, |number| {
                answered(&call, shared, &request, &wire, number)
            })
            .await?;
        let taken = succeeded(&call, &whole, reply.model.as_deref(), Some(reply.usage));
        warnings.extend(reply.warnings);
        Ok(Response {
            model: reply.model,
            answers: reply.answers,
            usage: reply.usage,
            cost: shared.price.and_then(|price| price.of(reply.usage)),
            request_id: whole.head.request_id().map(str::to_owned),
            warnings,
            elapsed: taken.last.1.saturating_sub(taken.began),
            attempts: taken.attempts,
            raw: whole.body,
        })
    }
    .instrument(span)
    .await
}

/// Lists the models.
pub(super) async fn list_models(
    shared: &Shared,
    options: CallOptions,
) -> Result<Vec<Model>, Error> {
    let core = &shared.core;
    let mut common = with_headers_of(shared, options.common);
    let mut cancel = std::mem::take(&mut common.cancel);
    let plan = Plan::new(core, &common, Timeouts::attempt)?;
    let wire = wire(shared, &plan, Encoded::get(MODELS_PATH))?;
    let call = Call::new(core, &plan, core.next_id(), Operation::ListModels, None);
    let span = call.span();
    async {
        let (models, whole) = call
            .run(&mut cancel, |number| listed(&call, &wire, number))
            .await?;
        succeeded(&call, &whole, None, None);
        Ok(models)
    }
    .instrument(span)
    .await
}

async fn answered(
    call: &Call<'_>,
    shared: &Shared,
    request: &Request,
    wire: &Wire,
    number: u32,
) -> Result<(Reply, Whole), Error> {
    // Only a server can quote what it was sent.
    let clean = |error: Error| match error.http_status() {
        Some(_) => echo::take_out(error, &wire.body),
        None => error,
    };
    let reply = whole(call, wire, number).await.map_err(clean)?;
    decode::decode(&request.questions, shared.strictness, &reply.body)
        .map_err(|fault| reply_error(call.core, &fault, &reply.head, Some(&reply.body)))
        .map_err(clean)
        .map(|decoded| (decoded, reply))
}

async fn listed(call: &Call<'_>, wire: &Wire, number: u32) -> Result<(Vec<Model>, Whole), Error> {
    let reply = whole(call, wire, number).await?;
    match model::decode_models(&reply.body) {
        Ok(models) => Ok((models, reply)),
        Err(fault) => Err(reply_error(
            call.core,
            &fault,
            &reply.head,
            Some(&reply.body),
        )),
    }
}

fn succeeded(call: &Call<'_>, whole: &Whole, model: Option<&str>, usage: Option<Usage>) -> Taken {
    call.succeeded(&Success {
        status: whole.head.status,
        request_id: whole.head.request_id(),
        served_model: model,
        usage,
        stop_reason: None,
        first_content: false,
    })
}

/// The request as it goes over the wire, with the client's name on it.
fn wire(shared: &Shared, plan: &Plan<'_>, mut encoded: Encoded) -> Result<Wire, Error> {
    encoded
        .headers
        .insert(SDK, HeaderValue::from_static(SDK_NAME));
    prepare::wire(&shared.core, plan, encoded, JSON)
}

/// The call's options, its headers put after the client's, so that they win.
fn with_headers_of(shared: &Shared, mut common: Common) -> Common {
    if !shared.headers.is_empty() {
        let own = std::mem::replace(&mut common.headers, shared.headers.clone());
        common.headers.extend(own);
    }
    common
}

/// Says so where a caller's header is not sent.
fn left_out(common: &Common) -> Option<Warning> {
    common
        .headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(RETRY_COUNT))
        .then(|| {
            let why = format!("`{RETRY_COUNT}` is the client's own to set and was left out");
            Warning::new("headers", why)
        })
}

/// Holds the request to the ceilings of the context, as far as the client was told to.
fn context(shared: &Shared, request: &Request) -> Result<Vec<Warning>, Fault> {
    let limits = if shared.long_context {
        ContextLimits::LONG
    } else {
        ContextLimits::HOSTED
    };
    let excess = || request.context_estimate().excess(limits);
    match shared.context_check {
        ContextCheck::Off => Ok(Vec::new()),
        ContextCheck::Warn => Ok(excess()),
        ContextCheck::Error => match excess().first() {
            None => Ok(Vec::new()),
            Some(first) => {
                Err(Fault::new(ErrorKind::ContextLength).with_message(first.to_string()))
            }
        },
    }
}

/// The opt-ins a request needs, if the client was told to send them.
fn opt_in(shared: &Shared, request: &Request, headers: &mut HeaderMap) -> Result<(), Fault> {
    if request.needs_images() && !shared.images {
        let why = "assets and box questions are an opt-in of the API: set `images(true)`";
        return Err(Fault::new(ErrorKind::BadRequest).with_message(why));
    }
    for (on, name) in [(shared.images, IMAGES), (shared.long_context, LONG_CONTEXT)] {
        if on {
            headers.insert(name, HeaderValue::from_static("true"));
        }
    }
    Ok(())
}

const MODELS_PATH: &str = "/v1/models";

/// Which client library asks, in the header the API's own clients use for it.
const SDK: HeaderName = HeaderName::from_static("x-typesafe-sdk");
const SDK_NAME: &str = concat!("skyl/", env!("CARGO_PKG_VERSION"));

/// The API's opt-ins.
const IMAGES: HeaderName = HeaderName::from_static("typesafe-danger-zone-images");
const LONG_CONTEXT: HeaderName = HeaderName::from_static("typesafe-danger-zone-long-context");
