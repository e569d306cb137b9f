//! The provider's models, page by page.

use std::mem;
use std::pin::pin;

use skyl_retry::{Sent, StopReason as RetryStop};
use tracing::Instrument;

use crate::client::Core;
use crate::client::call::{Call, Success, reply_error};
use crate::client::exchange::{Whole, whole};
use crate::client::options::{CallOptions, Timeouts};
use crate::client::plan::Plan;
use crate::client::prepare::{self, JSON};
use crate::dialect::{Dialect, Fault, Head, ModelsPage};
use crate::error::Error;
use crate::hook::Operation;
use crate::http::Wire;
use crate::response::ModelInfo;

/// Reads all pages; each is a call of its own through the engine.
pub(super) async fn list(
    core: &Core,
    dialect: &dyn Dialect,
    mut options: CallOptions,
) -> Result<Vec<ModelInfo>, Error> {
    let mut cancel = mem::take(&mut options.cancel);
    let plan = Plan::new(core, &options, Timeouts::attempt)?;
    let id = core.next_id();
    let mut models = Vec::new();
    let mut cursor = None::<String>;
    let mut taken = None;
    for _ in 0..MOST_PAGES {
        let encoded = dialect
            .encode_models(cursor.as_deref())
            .map_err(|fault| core.refuse(&fault))?;
        let wire = prepare::wire(core, &plan, encoded, JSON)?;
        let call = Call::new(core, &plan, id, Operation::Models, None);
        let cursor_then = cursor.as_deref();
        let (page, reply) = pin!(call.run(&mut cancel, |number| {
            page(&call, dialect, &wire, number, cursor_then)
        }))
        .instrument(call.span())
        .await?;
        taken = Some(call.succeeded(&Success {
            status: reply.head.status,
            request_id: reply.head.request_id(),
            served_model: None,
            usage: None,
            stop_reason: None,
            first_content: false,
        }));
        models.extend(page.models);
        match page.next {
            None => return Ok(models),
            next => cursor = next,
        }
    }
    let endless = Fault::decode(format!("the list of models has over {MOST_PAGES} pages"));
    let mut error = core.refuse(&endless);
    let inner = error.inner_mut();
    inner.sent = Sent::Maybe;
    inner.retry_stop = Some(RetryStop::NotRetryable);
    inner.attempts = taken.map(|taken| taken.attempts).unwrap_or_default();
    Err(error)
}

async fn page(
    call: &Call<'_>,
    dialect: &dyn Dialect,
    wire: &Wire,
    number: u32,
    cursor: Option<&str>,
) -> Result<(ModelsPage, Whole), Error> {
    let core = call.core;
    let reply = whole(call, wire, number).await?;
    let wall = || core.wall();
    let head = Head::asking(reply.head.status, &reply.head.headers, &wall);
    let fault = match dialect.decode_models(&head, &reply.body) {
        // The same page again, for ever, is no list.
        Ok(page) if page.next.is_some() && page.next.as_deref() == cursor => {
            Fault::decode("the list of models does not move on")
        }
        Ok(page) => return Ok((page, reply)),
        Err(fault) => fault,
    };
    Err(reply_error(core, &fault, &reply.head, Some(&reply.body)))
}

/// At a page of twenty, the smallest default of any provider, some twenty thousand models.
const MOST_PAGES: usize = 1_000;
