//! One call: its attempts, their record, and what hooks and logs are told.
//!
//! The call's state is behind a mutex because the driver's closures all look at it; it is never
//! held across an await, and nobody else ever waits for it.

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use skyl_retry::hint;
use skyl_retry::{
    self as engine, Clock, FailureClass, Hint, Retry, Rng, Sent, StopReason as RetryStop, Stopped,
    Verdict, retry,
};

use crate::attempts::{Attempt, Attempts};
use crate::client::Core;
use crate::client::exchange::ERROR_BODY_BYTES;
use crate::client::options::Cancel;
use crate::client::plan::Plan;
use crate::clock::AnyClock;
use crate::dialect::Fault;
use crate::error::{Error, cut};
use crate::hook::{CallId, HookEvent, Operation};
use crate::http::ReplyHead;
use crate::kind::ErrorKind;
use crate::rate_limit::RateLimit;
use crate::response::{StopReason, Usage};

/// One call in the making.
pub(crate) struct Call<'c> {
    pub(crate) core: &'c Core,
    pub(crate) plan: &'c Plan<'c>,
    pub(crate) id: CallId,
    operation: Operation,
    pub(crate) model: Option<&'c str>,
    state: Mutex<State>,
    /// Set where a shared pause would pass a limit: why the call ends without waiting for it.
    no_room: OnceLock<RetryStop>,
}

#[derive(Default)]
struct State {
    /// When the call began, its first shared pause included; known where there are pauses.
    called: Option<Duration>,
    /// When the first attempt began.
    began: Option<Duration>,
    current: Option<Current>,
    attempts: Attempts,
}

/// The attempt that has begun and is not yet in the record.
#[derive(Clone, Copy)]
struct Current {
    number: u32,
    began: Duration,
    pause: Duration,
    ended: Option<Duration>,
}

/// What a successful attempt is remembered by.
pub(crate) struct Success<'s> {
    pub(crate) status: u16,
    pub(crate) request_id: Option<&'s str>,
    pub(crate) served_model: Option<&'s str>,
    pub(crate) usage: Option<Usage>,
    pub(crate) stop_reason: Option<&'s StopReason>,
    /// Whether the time to it was the time to a stream's first content.
    pub(crate) first_content: bool,
}

/// What a finished call took.
pub(crate) struct Taken {
    pub(crate) attempts: Attempts,
    /// When the first attempt began.
    pub(crate) began: Duration,
    /// When the attempt that succeeded began, and ended.
    pub(crate) last: (Duration, Duration),
}

impl<'c> Call<'c> {
    pub(crate) fn new(
        core: &'c Core,
        plan: &'c Plan<'c>,
        id: CallId,
        operation: Operation,
        model: Option<&'c str>,
    ) -> Self {
        Self {
            core,
            plan,
            id,
            operation,
            model,
            state: Mutex::default(),
            no_room: OnceLock::new(),
        }
    }

    /// The span all events of the call lie in; names follow OpenTelemetry where it has one.
    pub(crate) fn span(&self) -> tracing::Span {
        tracing::info_span!(
            "skyl.call",
            "gen_ai.provider.name" = &*self.core.provider,
            "gen_ai.request.model" = self.model,
            "skyl.operation" = self.operation.as_str(),
            "skyl.call_id" = %self.id,
        )
    }

    /// Runs attempts until one succeeds or the engine stops.
    pub(crate) async fn run<T, Fut>(
        &self,
        cancel: &mut Cancel,
        once: impl Fn(u32) -> Fut,
    ) -> Result<T, Error>
    where
        Fut: Future<Output = Result<T, Error>>,
    {
        let mut rng = self.core.seeds.next_rng();
        let pause_rng = Mutex::new(rng.fork());
        let driver = retry(self.plan.policy, &self.core.clock)
            .rng(rng)
            .budget(self.plan.budget)
            .deadline(self.plan.deadline)
            .attempt_timeout(self.plan.attempt_timeout);
        // A driver that nothing can interrupt sets up nothing beside the first attempt.
        let outcome = if cancel.is_possible() || self.core.pauses.is_some() {
            let interrupt = Interrupt {
                cancel,
                cut: &self.no_room,
            };
            let driver = driver.cancel_on(interrupt);
            pin!(self.drive(driver, &once, &pause_rng)).await
        } else {
            pin!(self.drive(driver, &once, &pause_rng)).await
        };
        outcome.map_err(|stopped| self.stopped(stopped))
    }

    async fn drive<T, Fut>(
        &self,
        driver: Retry<'_, &AnyClock, impl Future>,
        once: &impl Fn(u32) -> Fut,
        pause_rng: &Mutex<Rng>,
    ) -> Result<T, Stopped<Error>>
    where
        Fut: Future<Output = Result<T, Error>>,
    {
        let driver = driver.on_decision(|_: &engine::Attempt, error: &Error, verdict: &Verdict| {
            self.decided(error, verdict);
        });
        // Boxed, or callers would carry the sockets' state machines in their own futures, twice.
        let operation = |attempt: engine::Attempt| Box::pin(self.attempt(attempt, once, pause_rng));
        match self.plan.should_retry {
            None => pin!(driver.run(operation, Error::failure)).await,
            Some(choose) => {
                let driver = driver.should_retry(choose);
                pin!(driver.run(operation, Error::failure)).await
            }
        }
    }

    /// One attempt: waits out a shared pause, then keeps the time of the work.
    ///
    /// It makes the work itself: a future that is handed in is kept twice, as what was given and as
    /// what is awaited.
    async fn attempt<T, Fut>(
        &self,
        attempt: engine::Attempt,
        once: &impl Fn(u32) -> Fut,
        pause_rng: &Mutex<Rng>,
    ) -> Result<T, Error>
    where
        Fut: Future<Output = Result<T, Error>>,
    {
        let pause = self.pause(attempt, pause_rng).await;
        let began = self.core.clock.now();
        {
            let mut state = self.state();
            state.began.get_or_insert(began);
            state.current = Some(Current {
                number: attempt.number,
                began,
                pause,
                ended: None,
            });
        }
        let result = pin!(once(attempt.number)).await;
        let ended = self.core.clock.now();
        if let Some(current) = &mut self.state().current {
            current.ended = Some(ended);
        }
        result
    }

    async fn pause(&self, attempt: engine::Attempt, rng: &Mutex<Rng>) -> Duration {
        let (Some(pauses), Some((host, model))) = (&self.core.pauses, self.place()) else {
            return Duration::ZERO;
        };
        let now = self.core.clock.now();
        let called = *self.state().called.get_or_insert(now);
        let wait = {
            let mut rng = rng.lock().unwrap_or_else(PoisonError::into_inner);
            pauses.wait(host, model, now, self.plan.policy.spread(), &mut rng)
        };
        let Some(wait) = wait else {
            return Duration::ZERO;
        };
        if let Some(reason) = self.passed(attempt, now.saturating_sub(called), wait) {
            // A wait that would pass a limit is not begun. The driver looks at the reason in the
            // same poll and ends the call with the last real error in its hands.
            self.no_room.get_or_init(|| reason);
            return pending().await;
        }
        tracing::debug!(wait_ms = millis(wait), "waiting out a shared pause");
        self.core.clock.sleep(wait).await;
        wait
    }

    /// The limit that a shared pause of this length would pass.
    fn passed(
        &self,
        attempt: engine::Attempt,
        elapsed: Duration,
        wait: Duration,
    ) -> Option<RetryStop> {
        if attempt.remaining.is_some_and(|remaining| wait >= remaining) {
            return Some(RetryStop::Deadline);
        }
        // It bounds when retries start, so a first attempt may wait as long as it must.
        let budget = self.plan.policy.budget().filter(|_| attempt.number > 0)?;
        (elapsed.saturating_add(wait) > budget).then_some(RetryStop::TimeBudget)
    }

    /// Where a shared pause holds.
    fn place(&self) -> Option<(&str, &str)> {
        Some((self.core.service.base_url(), self.model?))
    }

    /// Records a failed attempt and tells of it, before the wait.
    fn decided(&self, error: &Error, verdict: &Verdict) {
        if let (Some(pauses), Some((host, model)), Some(wait)) =
            (&self.core.pauses, self.place(), self.shared_wait(error))
        {
            pauses.note(host, model, self.core.clock.now(), wait);
        }
        self.failed(error, Some(*verdict), verdict.stop());
    }

    /// The wait that others should keep too: what the server asked of everybody.
    fn shared_wait(&self, error: &Error) -> Option<Duration> {
        let inner = error.inner();
        let concerns_all = matches!(inner.class, FailureClass::Throttled | FailureClass::Server);
        let wait = inner
            .hint
            .wait()
            .filter(|wait| concerns_all && !wait.is_zero())?;
        let policy = self.plan.policy;
        policy
            .honor_retry_after()
            .then(|| wait.min(policy.max_retry_after()))
    }

    /// Puts the current attempt into the record as failed, and fires its event.
    fn failed(&self, error: &Error, verdict: Option<Verdict>, stop: Option<RetryStop>) {
        let wait = verdict.and_then(|verdict| verdict.retry_after());
        let Some(attempt) = self.close(error.http_status(), Some(error.kind()), wait) else {
            return;
        };
        let inner = error.inner();
        self.core.hooks.fire(&HookEvent {
            error: Some(error),
            request_id: error.request_id(),
            usage: inner.usage,
            verdict,
            retry_stop: stop,
            ..self.event(&attempt)
        });
        tracing::warn!(
            "http.request.resend_count" = attempt.number,
            "http.response.status_code" = attempt.status,
            "error.type" = error.kind().as_str(),
            "skyl.request_id" = error.request_id(),
            "skyl.duration_ms" = millis(attempt.duration),
            "skyl.wait_ms" = wait.map(millis),
            "skyl.retry_stop" = stop.map(RetryStop::as_str),
            "attempt failed"
        );
    }

    /// Puts the current attempt into the record as the one that succeeded, and fires its event.
    pub(crate) fn succeeded(&self, success: &Success<'_>) -> Taken {
        let current = self.state().current;
        let attempt = self.close(Some(success.status), None, None);
        if let Some(attempt) = attempt {
            self.core.hooks.fire(&HookEvent {
                request_id: success.request_id,
                served_model: success.served_model,
                usage: success.usage,
                stop_reason: success.stop_reason,
                first_content: success.first_content.then_some(attempt.duration),
                ..self.event(&attempt)
            });
            tracing::debug!(
                "http.request.resend_count" = attempt.number,
                "http.response.status_code" = success.status,
                "gen_ai.response.model" = success.served_model,
                "skyl.request_id" = success.request_id,
                "skyl.duration_ms" = millis(attempt.duration),
                "attempt succeeded"
            );
        }
        let mut state = self.state();
        let last = current.map_or((Duration::ZERO, Duration::ZERO), |current| {
            (current.began, current.ended.unwrap_or(current.began))
        });
        Taken {
            attempts: std::mem::take(&mut state.attempts),
            began: state.began.unwrap_or(last.0),
            last,
        }
    }

    /// Moves the current attempt into the record.
    fn close(
        &self,
        status: Option<u16>,
        kind: Option<ErrorKind>,
        wait: Option<Duration>,
    ) -> Option<Attempt> {
        let mut state = self.state();
        let current = state.current.take()?;
        let ended = current.ended.unwrap_or_else(|| self.core.clock.now());
        let attempt = Attempt {
            number: current.number,
            status,
            kind,
            duration: ended.saturating_sub(current.began),
            wait,
            pause: current.pause,
        };
        state.attempts.push(attempt);
        Some(attempt)
    }

    fn event<'e>(&'e self, attempt: &Attempt) -> HookEvent<'e> {
        HookEvent {
            call: self.id,
            operation: self.operation,
            provider: &self.core.provider,
            model: self.model,
            served_model: None,
            attempt: attempt.number,
            duration: attempt.duration,
            pause: attempt.pause,
            error: None,
            status: attempt.status,
            request_id: None,
            usage: None,
            stop_reason: None,
            verdict: None,
            retry_stop: None,
            first_content: None,
            completed: false,
        }
    }

    /// The error a stopped call returns.
    fn stopped(&self, stopped: Stopped<Error>) -> Error {
        let reason = self.no_room.get().copied().unwrap_or(stopped.reason);
        let mut error = match (reason, stopped.last) {
            (RetryStop::Cancelled, last) => self.cut(ErrorKind::Cancelled, last),
            (RetryStop::Deadline, last) if stopped.cut_in_flight => {
                self.cut(ErrorKind::Deadline, last)
            }
            (RetryStop::Deadline, None) => self.cut(ErrorKind::Deadline, None),
            (_, Some(last)) => last,
            // The engine stops for no other reason before an attempt has failed.
            (_, None) => self.cut(ErrorKind::Cancelled, None),
        };
        self.failed(&error, None, Some(reason));
        let mut state = self.state();
        let inner = error.inner_mut();
        inner.retry_stop = Some(reason);
        inner.attempts = std::mem::take(&mut state.attempts);
        inner.elapsed = state.began.map_or(Duration::ZERO, |began| {
            self.core.clock.now().saturating_sub(began)
        });
        error
    }

    /// The error of a call that was cut, in flight or in a wait.
    fn cut(&self, kind: ErrorKind, last: Option<Error>) -> Error {
        let mut error = Error::new(kind).provided_by(&self.core.provider);
        let in_flight = self.state().current.is_some();
        let inner = error.inner_mut();
        if in_flight || last.as_ref().is_some_and(|last| last.sent() == Sent::Maybe) {
            inner.sent = Sent::Maybe;
        }
        inner.last = last;
        error
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing of ours panics while it holds the lock, and a record cut short is still one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that is dropped in mid-attempt was cancelled: that attempt gets its event too.
impl Drop for Call<'_> {
    fn drop(&mut self) {
        if self.state().current.is_some() {
            let error = self.cut(ErrorKind::Cancelled, None);
            self.failed(&error, None, Some(RetryStop::Cancelled));
        }
    }
}

/// Ends a call for the caller, or for a pause that would pass a limit.
struct Interrupt<'a> {
    cancel: &'a mut Cancel,
    cut: &'a OnceLock<RetryStop>,
}

impl Future for Interrupt<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.cut.get().is_some() {
            return Poll::Ready(());
        }
        Pin::new(&mut *self.cancel).poll(cx)
    }
}

/// The error of an answer: what the dialect found, with what stands in its head.
pub(crate) fn reply_error(
    core: &Core,
    fault: &Fault,
    head: &ReplyHead,
    body: Option<&[u8]>,
) -> Error {
    let mut error = Error::from_fault(fault, &core.provider, &core.scrubber);
    let inner = error.inner_mut();
    inner.sent = Sent::Maybe;
    inner.http_status = Some(head.status);
    let headers = head.pairs();
    let headers = headers.iter().copied();
    inner.server_word = hint::server_word(headers.clone());
    let prose = || fault.message().map_or(Hint::Absent, hint::prose);
    let scope = core.service.hint_scope();
    inner.hint = hint::from_response(headers, core.wall(), scope, || fault.hint(), prose).hint;
    inner.rate_limit = RateLimit::read(&head.headers, &|| core.wall());
    if let Some(id) = head.request_id() {
        inner.request_id = Some(cut(core.scrubber.scrub(id).into_owned()));
    }
    inner.body = body
        // Of a whole answer nobody could read there may be much more than is kept.
        .map(|body| &body[..body.len().min(ERROR_BODY_BYTES)])
        .and_then(|body| core.service.kept_body(head.status, body))
        .map(|body| cut(core.scrubber.scrub_owned(body)));
    error
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
