//! A stream that has begun: events out, and never a second request.

mod pump;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_core::stream::FusedStream;
use skyl_retry::{Clock, StopReason as RetryStop};

use crate::answer::Response;
use crate::attempts::{Attempt, Attempts};
use crate::client::{Cancel, Core, Taken, idle_error};
use crate::clock::AnySleep;
use crate::dialect::Fault;
use crate::error::Error;
use crate::hook::{CallId, HookEvent, Operation};
use crate::kind::ErrorKind;
use crate::rate_limit::RateLimit;
use crate::response::{StreamEvent, Usage};

pub(crate) use self::pump::Pump;

/// An answer as it comes in.
///
/// Yields events until [`StreamEvent::Done`], then `None`; after an error, `None`. A failure here
/// is never retried: part of the answer has been handed out, and asking again would repeat it and
/// be billed again. What has come in so far stays readable, also after an error: see
/// [`partial`](Self::partial).
///
/// Dropping the stream closes its connection.
///
/// ```no_run
/// # async fn example(client: skyl::Client, request: skyl::Request) -> Result<(), skyl::Error> {
/// use skyl::StreamEvent;
///
/// let mut stream = client.stream(&request).await?;
/// while let Some(event) = stream.next().await {
///     if let StreamEvent::Text(piece) = event? {
///         print!("{piece}");
///     }
/// }
/// # Ok(()) }
/// ```
#[must_use = "a stream that is not read is closed at once"]
pub struct ResponseStream {
    core: Arc<Core>,
    pump: Box<Pump>,
    call: CallId,
    // The model that was asked for.
    model: String,
    attempts: Attempts,
    request_id: Option<String>,
    // When the first attempt began, and when this one did, on the client's clock.
    began: Duration,
    attempt_began: Duration,
    first_content: Option<Duration>,
    idle_timeout: Duration,
    // Armed when the stream first falls silent.
    idle: Option<Pin<Box<AnySleep>>>,
    silent_since: Duration,
    // The end of the whole call on the client's clock, and its guard once it is needed.
    deadline: Option<Duration>,
    deadline_guard: Option<Pin<Box<AnySleep>>>,
    cancel: Cancel,
    // Bytes handed out: what the answer holds in memory.
    handed_out: usize,
    state: State,
    // When the end was told to the hooks.
    ended: Option<Duration>,
    span: tracing::Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Closed by the caller; the next read says so.
    Closed,
    /// Read to its end, failed, or told that it is closed.
    Over,
}

/// What a stream is made of.
pub(crate) struct Started {
    pub(crate) core: Arc<Core>,
    pub(crate) pump: Box<Pump>,
    pub(crate) taken: Taken,
    pub(crate) call: CallId,
    pub(crate) model: String,
    pub(crate) idle: Duration,
    pub(crate) deadline: Option<Duration>,
    pub(crate) cancel: Cancel,
    pub(crate) request_id: Option<String>,
}

impl ResponseStream {
    pub(crate) fn new(started: Started) -> Self {
        let Started {
            core,
            pump,
            taken,
            call,
            model,
            idle,
            deadline,
            cancel,
            request_id,
        } = started;
        let (attempt_began, ended) = taken.last;
        let first_content = pump
            .sink
            .has_content()
            .then(|| ended.saturating_sub(attempt_began));
        Self {
            core,
            pump,
            call,
            model,
            attempts: taken.attempts,
            request_id,
            began: taken.began,
            attempt_began,
            first_content,
            idle_timeout: idle,
            idle: None,
            silent_since: Duration::ZERO,
            deadline,
            deadline_guard: None,
            cancel,
            handed_out: 0,
            state: State::Open,
            ended: None,
            span: tracing::Span::current(),
        }
    }

    /// The next event; `None` after the last one and after an error.
    ///
    /// # Errors
    /// What ended the stream, with [`delivered`](Error::delivered) set if content was handed out;
    /// `StreamClosed`, once, after [`close`](Self::close).
    ///
    /// # Cancel safety
    /// Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, Error>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Reads to the end and gives the whole answer.
    ///
    /// It is what `complete` would have given, but for `raw`. Events that have been read already are
    /// part of it.
    ///
    /// # Errors
    /// What ended the stream. To keep the part that came in, read the events and ask for
    /// [`partial`](Self::partial) instead.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub async fn into_response(mut self) -> Result<Response, Error> {
        while let Some(event) = self.next().await {
            event?;
        }
        if !self.pump.is_settled() {
            return Err(self.closed_error());
        }
        Ok(self.partial())
    }

    /// What has come in so far, also after an error. Tool calls that are not whole are left out.
    ///
    /// Its stop reason is [`StopReason::Other`](crate::StopReason::Other) with an empty word until the model has stopped.
    #[must_use]
    pub fn partial(&self) -> Response {
        let mut response = Response::from_decoded(self.pump.sink.partial(), &self.core.provider);
        response.request_id = self.request_id().map(str::to_owned);
        response.rate_limit = RateLimit::read(&self.pump.head.headers, &|| self.core.wall());
        let until = self.ended.unwrap_or_else(|| self.core.clock.now());
        response.elapsed = until.saturating_sub(self.began);
        response.attempts = self.attempts.clone();
        response
    }

    /// The id under which the provider knows the request.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id
            .as_deref()
            .or_else(|| self.pump.request_id())
    }

    /// The model that serves, once the provider has named it.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.pump.sink.served_model()
    }

    /// The provider's name.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.core.provider
    }

    /// The attempts it took to start the stream, in order.
    ///
    /// If the stream fails later, the last one takes the kind of that failure.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        self.attempts.as_slice()
    }

    /// Closes the connection; what has come in stays readable. Does nothing to a stream at its end.
    ///
    /// The next read gives an error of kind [`StreamClosed`](ErrorKind::StreamClosed), then `None`.
    pub fn close(&mut self) {
        if self.state == State::Open {
            self.state = State::Closed;
            self.pump.close();
            self.tell(None, false);
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<StreamEvent, Error>>> {
        match self.state {
            State::Open => {}
            State::Closed => {
                self.state = State::Over;
                return Poll::Ready(Some(Err(self.closed_error())));
            }
            State::Over => return Poll::Ready(None),
        }
        // What has arrived is handed out first, whatever else has come to pass.
        if let Some(event) = self.pump.sink.pop() {
            self.handed_out = self.handed_out.saturating_add(weight(&event));
            return Poll::Ready(Some(if self.handed_out > self.core.max_body_bytes {
                let limit = self.core.max_body_bytes;
                let fault = Fault::decode(format!("the answer is longer than {limit} bytes"));
                Err(self.fail(self.pump.fault(&fault), RetryStop::ContentDelivered))
            } else {
                Ok(event)
            }));
        }
        if self.pump.is_settled() {
            return Poll::Ready(Some(Ok(self.done())));
        }
        if Pin::new(&mut self.cancel).poll(cx).is_ready() {
            let error = self.pump.fault(&Fault::new(ErrorKind::Cancelled));
            return Poll::Ready(Some(Err(self.fail(error, RetryStop::Cancelled))));
        }
        if self.poll_deadline(cx).is_ready() {
            let error = self.pump.fault(&Fault::new(ErrorKind::Deadline));
            return Poll::Ready(Some(Err(self.fail(error, RetryStop::Deadline))));
        }
        match self.pump.poll_more(cx) {
            Poll::Ready(Ok(())) => self.poll_event(cx),
            Poll::Ready(Err(error)) => {
                Poll::Ready(Some(Err(self.fail(error, RetryStop::ContentDelivered))))
            }
            Poll::Pending => self.poll_silence(cx),
        }
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.deadline else {
            return Poll::Pending;
        };
        let clock = &self.core.clock;
        let guard = self
            .deadline_guard
            .get_or_insert_with(|| Box::pin(clock.guard(at.saturating_sub(clock.now()))));
        guard.as_mut().poll(cx)
    }

    /// Nothing has come in: notes when that began, and looks at the idle timer.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<StreamEvent, Error>>> {
        let clock = &self.core.clock;
        if self.pump.take_alive() || self.idle.is_none() {
            self.silent_since = clock.now();
        }
        let guard = self
            .idle
            .get_or_insert_with(|| Box::pin(clock.guard(self.idle_timeout)));
        if guard.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        // Bytes have come in since it was armed: it is armed anew for what is left. That costs less
        // than arming it at every one of them.
        let silent = clock.now().saturating_sub(self.silent_since);
        if silent < self.idle_timeout {
            guard.set(clock.guard(self.idle_timeout.saturating_sub(silent)));
            if guard.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        let outcome = if self.pump.is_whole() {
            self.pump.settle()
        } else {
            Err(idle_error(&self.core, &self.pump, self.idle_timeout))
        };
        match outcome {
            Ok(()) => self.poll_event(cx),
            Err(error) => Poll::Ready(Some(Err(self.fail(error, RetryStop::ContentDelivered)))),
        }
    }

    /// The last event of a whole stream.
    fn done(&mut self) -> StreamEvent {
        self.state = State::Over;
        self.pump.close();
        self.tell(None, true);
        StreamEvent::Done {
            stop_reason: self.pump.sink.stop_or_unknown(),
            usage: self.pump.sink.usage_so_far(),
        }
    }

    /// The error that ends the stream, with what belongs to the whole call.
    fn fail(&mut self, mut error: Error, stop: RetryStop) -> Error {
        self.state = State::Over;
        self.pump.close();
        self.pump.dress(&mut error);
        error.inner_mut().delivered = self.pump.sink.has_content();
        let now = self.tell(Some((&error, stop)), false);
        if let Some(last) = self.attempts.last_mut() {
            last.kind = Some(error.kind());
            last.duration = now.saturating_sub(self.attempt_began);
        }
        let inner = error.inner_mut();
        inner.retry_stop = Some(stop);
        inner.attempts = self.attempts.clone();
        inner.elapsed = now.saturating_sub(self.began);
        error
    }

    fn closed_error(&self) -> Error {
        let mut error = self.pump.fault(&Fault::new(ErrorKind::StreamClosed));
        let inner = error.inner_mut();
        inner.delivered = self.pump.sink.has_content();
        inner.attempts = self.attempts.clone();
        error
    }

    /// Tells the hooks of the end, once, and gives the time of it.
    fn tell(&mut self, failure: Option<(&Error, RetryStop)>, completed: bool) -> Duration {
        if let Some(ended) = self.ended {
            return ended;
        }
        let now = self.core.clock.now();
        self.ended = Some(now);
        let sink = &self.pump.sink;
        let usage = sink.usage_so_far();
        let event = HookEvent {
            call: self.call,
            operation: Operation::StreamEnd,
            provider: &self.core.provider,
            model: Some(&self.model),
            served_model: sink.served_model(),
            attempt: self.attempts().last().map_or(0, |attempt| attempt.number),
            duration: now.saturating_sub(self.attempt_began),
            pause: Duration::ZERO,
            error: failure.map(|(error, _)| error),
            status: Some(self.pump.head.status),
            request_id: self.request_id(),
            usage: (usage != Usage::default()).then_some(usage),
            stop_reason: sink.stop(),
            verdict: None,
            retry_stop: failure.map(|(_, stop)| stop),
            first_content: self.first_content,
            completed,
        };
        let _entered = self.span.enter();
        self.core.hooks.fire(&event);
        tracing::debug!(
            "error.type" = event.kind().map(ErrorKind::as_str),
            "gen_ai.response.model" = event.served_model,
            "skyl.completed" = completed,
            "stream ended"
        );
        now
    }
}

impl Stream for ResponseStream {
    type Item = Result<StreamEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(cx)
    }
}

impl FusedStream for ResponseStream {
    fn is_terminated(&self) -> bool {
        self.state == State::Over
    }
}

impl Drop for ResponseStream {
    fn drop(&mut self) {
        self.tell(None, false);
    }
}

// What was streamed stays out of debug prints.
impl fmt::Debug for ResponseStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseStream")
            .field("call", &self.call)
            .field("state", &self.state)
            .field("model", &self.model)
            .field("request_id", &self.request_id())
            .field("attempts", &self.attempts())
            .finish_non_exhaustive()
    }
}

/// The bytes an event adds to the answer.
fn weight(event: &StreamEvent) -> usize {
    match event {
        StreamEvent::Text(piece) | StreamEvent::Reasoning(piece) | StreamEvent::Refusal(piece) => {
            piece.len()
        }
        StreamEvent::ToolCallStart { id, name, .. } => id.len() + name.len(),
        StreamEvent::ToolCallArguments { fragment, .. } => fragment.len(),
        // Told before, piece by piece.
        StreamEvent::ToolCall(_) | StreamEvent::Done { .. } => 0,
    }
}
