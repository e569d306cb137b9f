//! One attempt on the wire: send, read, decode, within its time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderName, HeaderValue};
use pin_project_lite::pin_project;
use skyl_retry::duration::Human;
use skyl_retry::{Clock, Sent};

use crate::answer::{Response, refusal};
use crate::client::Core;
use crate::client::call::{Call, Success, reply_error};
use crate::client::options::Cancel;
use crate::clock::AnySleep;
use crate::dialect::{Decoded, Dialect, Fault, Head};
use crate::error::Error;
use crate::http::{ReadFailure, Reply, ReplyHead, TransportFailure, Wire};
use crate::kind::ErrorKind;
use crate::rate_limit::RateLimit;
use crate::response::Warning;
use crate::stream::{Pump, ResponseStream, Started};

/// Runs a call for one whole answer.
pub(super) async fn complete(
    call: &Call<'_>,
    dialect: &dyn Dialect,
    wire: &Wire,
    warnings: Vec<Warning>,
    mut cancel: Cancel,
) -> Result<Response, Error> {
    let core = call.core;
    let answer = pin!(call.run(&mut cancel, |number| answer(call, dialect, wire, number))).await?;
    let Answer { mut decoded, reply } = *answer;
    let request_id = reply
        .head
        .request_id()
        .map(str::to_owned)
        .or(decoded.request_id.take());
    let taken = call.succeeded(&Success {
        status: reply.head.status,
        request_id: request_id.as_deref(),
        served_model: decoded.model.as_deref(),
        usage: Some(decoded.usage),
        stop_reason: Some(&decoded.stop_reason),
        first_content: false,
    });
    let mut response = Response::from_decoded(decoded, &core.provider);
    response.request_id = request_id;
    response.rate_limit = RateLimit::read(&reply.head.headers, &|| core.wall());
    response.elapsed = taken.last.1.saturating_sub(taken.began);
    response.raw = reply.body;
    response.warnings.splice(0..0, warnings);
    response.attempts = taken.attempts;
    Ok(response)
}

/// A whole answer, decoded.
struct Answer {
    decoded: Decoded,
    reply: Whole,
}

/// One attempt. Its answer is boxed: it goes up through a dozen levels, and each would move it.
async fn answer(
    call: &Call<'_>,
    dialect: &dyn Dialect,
    wire: &Wire,
    number: u32,
) -> Result<Box<Answer>, Error> {
    let core = call.core;
    let reply = pin!(whole(call, wire, number)).await?;
    let wall = || core.wall();
    let head = Head::asking(reply.head.status, &reply.head.headers, &wall);
    let mut decoded = dialect
        .decode(&head, &reply.body)
        .map_err(|fault| reply_error(core, &fault, &reply.head, Some(&reply.body)))?;
    match refusal(&mut decoded) {
        None => Ok(Box::new(Answer { decoded, reply })),
        Some(words) => {
            let mut fault = Fault::new(ErrorKind::Refusal)
                .with_message(words)
                .with_usage(decoded.usage);
            if let Some(id) = decoded.request_id {
                fault = fault.with_request_id(id);
            }
            Err(reply_error(core, &fault, &reply.head, None))
        }
    }
}

/// Runs a call for the start of a stream.
pub(super) async fn stream(
    core: &Arc<Core>,
    dialect: &Arc<dyn Dialect>,
    call: &Call<'_>,
    wire: &Wire,
    warnings: &[Warning],
    mut cancel: Cancel,
) -> Result<ResponseStream, Error> {
    let pump = pin!(call.run(&mut cancel, |number| {
        started(core, dialect, call, wire, warnings, number)
    }))
    .await?;
    let request_id = pump.request_id().map(str::to_owned);
    let taken = call.succeeded(&Success {
        status: pump.head.status,
        request_id: request_id.as_deref(),
        served_model: pump.sink.served_model(),
        usage: None,
        stop_reason: None,
        first_content: pump.sink.has_content(),
    });
    Ok(ResponseStream::new(Started {
        core: Arc::clone(core),
        pump,
        taken,
        call: call.id,
        model: call.model.unwrap_or_default().to_owned(),
        idle: call.plan.timeouts.idle(),
        deadline: call.plan.deadline,
        cancel,
        request_id,
    }))
}

async fn started(
    core: &Arc<Core>,
    dialect: &Arc<dyn Dialect>,
    call: &Call<'_>,
    wire: &Wire,
    warnings: &[Warning],
    number: u32,
) -> Result<Box<Pump>, Error> {
    let limit = call.plan.attempt_timeout;
    let mut guard = pin!(core.clock.guard(limit));
    let reply = pin!(send(call, wire, number, guard.as_mut())).await?;
    // Boxed, as an answer is.
    let pump = Pump::new(Arc::clone(core), Arc::clone(dialect), reply, warnings);
    let mut pump = Box::new(pump);
    match within(poll_fn(|cx| pump.poll_start(cx)), guard).await {
        Some(Ok(())) => Ok(pump),
        Some(Err(error)) => Err(error),
        None if pump.is_whole() => pump.settle().map(|()| pump),
        None => Err(timed_out(core, "no content", limit, Some(&pump.head))),
    }
}

/// A whole answer with a status below 300.
pub(crate) struct Whole {
    pub(crate) head: ReplyHead,
    pub(crate) body: Bytes,
}

/// Sends the request and reads the whole answer, within the attempt's time.
pub(crate) async fn whole(call: &Call<'_>, wire: &Wire, number: u32) -> Result<Whole, Error> {
    let core = call.core;
    let limit = call.plan.attempt_timeout;
    let mut guard = pin!(core.clock.guard(limit));
    let Reply { head, body } = pin!(send(call, wire, number, guard.as_mut())).await?;
    match pin!(within(body.read(core.max_body_bytes), guard)).await {
        Some(Ok(body)) => Ok(Whole { head, body }),
        Some(Err(ReadFailure::Transport(failure))) => {
            Err(transport_error(core, failure, Some(&head)))
        }
        Some(Err(ReadFailure::TooLarge(limit))) => {
            let fault = Fault::decode(format!("the answer is longer than {limit} bytes"));
            Err(reply_error(core, &fault, &head, None))
        }
        None => Err(timed_out(core, "no whole answer", limit, Some(&head))),
    }
}

/// Sends the request; an answer with a status from 300 up is an error, with its body read.
async fn send(
    call: &Call<'_>,
    wire: &Wire,
    number: u32,
    mut guard: Pin<&mut AnySleep>,
) -> Result<Reply, Error> {
    let core = call.core;
    let limit = call.plan.attempt_timeout;
    let reply = match within(
        core.http.send(wire, attempt_header(core, number)),
        guard.as_mut(),
    )
    .await
    {
        Some(Ok(reply)) => reply,
        Some(Err(failure)) => return Err(transport_error(core, failure, None)),
        None => return Err(timed_out(core, "no answer", limit, None)),
    };
    if reply.head.status < FIRST_FAILED_STATUS {
        return Ok(reply);
    }
    // Boxed: an answer that is none is the largest state of an attempt, and seldom.
    Err(Box::pin(refused(core, reply, guard)).await)
}

/// The error of an answer with a failed status.
async fn refused(core: &Core, reply: Reply, guard: Pin<&mut AnySleep>) -> Error {
    // The status is the answer; its body is colour, and is waited for only so long.
    let Reply { head, body } = reply;
    let mut start = BytesMut::new();
    let patience = pin!(core.clock.guard(ERROR_BODY_PATIENCE));
    let _in_time = within(
        within(body.read_start(ERROR_BODY_BYTES, &mut start), patience),
        guard,
    )
    .await;
    let wall = || core.wall();
    let fault = core
        .service
        .classify(&Head::asking(head.status, &head.headers, &wall), &start);
    reply_error(core, &fault, &head, Some(&start))
}

/// The work's result, or `None` if the guard fires first.
fn within<W: Future>(work: W, guard: Pin<&mut AnySleep>) -> Within<'_, W> {
    Within { work, guard }
}

pin_project! {
    /// The future of [`within`]; an `async fn` would keep the work twice.
    struct Within<'g, W> {
        #[pin]
        work: W,
        guard: Pin<&'g mut AnySleep>,
    }
}

impl<W: Future> Future for Within<'_, W> {
    type Output = Option<W::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // The work first: what has arrived is never thrown away for a timer.
        if let Poll::Ready(output) = this.work.poll(cx) {
            return Poll::Ready(Some(output));
        }
        this.guard.as_mut().poll(cx).map(|()| None)
    }
}

fn attempt_header(core: &Core, number: u32) -> Option<(HeaderName, HeaderValue)> {
    let name = core.attempt_header.clone().filter(|_| number > 0)?;
    Some((name, HeaderValue::from(number)))
}

pub(crate) fn transport_error(
    core: &Core,
    failure: TransportFailure,
    head: Option<&ReplyHead>,
) -> Error {
    let TransportFailure {
        kind,
        class,
        sent,
        message,
        source,
    } = failure;
    let mut error = local_failure(core, kind, head)
        .with_message(message)
        .with_source(core.scrubber.scrub_source(source));
    let inner = error.inner_mut();
    inner.class = class;
    inner.sent = sent;
    error
}

/// The error of a stream that has fallen silent.
pub(crate) fn idle_error(core: &Core, pump: &Pump, limit: Duration) -> Error {
    timed_out(core, "no byte of the stream", limit, Some(&pump.head))
}

fn timed_out(core: &Core, what: &str, limit: Duration, head: Option<&ReplyHead>) -> Error {
    local_failure(core, ErrorKind::Timeout, head)
        .with_message(format!("{what} within {}", Human(limit)))
}

/// A failure that skyl saw, with what the head of an answer, if one came, says.
fn local_failure(core: &Core, kind: ErrorKind, head: Option<&ReplyHead>) -> Error {
    if let Some(head) = head {
        return reply_error(core, &Fault::new(kind), head, None);
    }
    let mut error = Error::new(kind).provided_by(&core.provider);
    error.inner_mut().sent = Sent::Maybe;
    error
}

/// Answers from here up are failures: redirects are not followed.
const FIRST_FAILED_STATUS: u16 = 300;

/// How much of an error body is read.
pub(super) const ERROR_BODY_BYTES: usize = 64 << 10;

/// How long an error body may take: a server that stalls it must not hold up the retry.
const ERROR_BODY_PATIENCE: Duration = Duration::from_secs(10);
