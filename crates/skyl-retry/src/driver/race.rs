//! Waiting on several futures at once, by hand: no allocation, a fixed order, no runtime.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// How an attempt ended.
pub(super) enum Ended<T> {
    Done(T),
    Cancelled,
    Deadline,
}

/// Runs the work until it is done, cancelled, or out of time.
///
/// The work is polled first: a result that has arrived is never thrown away for a timer that fired
/// in the same moment.
pub(super) async fn race<W: Future>(
    work: W,
    guard: Option<impl Future>,
    cancel: &mut Cancel<'_, impl Future>,
) -> Ended<W::Output> {
    let mut work = pin!(work);
    let mut guard = pin!(guard);
    poll_fn(|cx| {
        if let Poll::Ready(output) = work.as_mut().poll(cx) {
            return Poll::Ready(Ended::Done(output));
        }
        if cancel.check(cx) {
            return Poll::Ready(Ended::Cancelled);
        }
        match guard.as_mut().as_pin_mut().map(|guard| guard.poll(cx)) {
            Some(Poll::Ready(_)) => Poll::Ready(Ended::Deadline),
            Some(Poll::Pending) | None => Poll::Pending,
        }
    })
    .await
}

/// Sleeps to the end, or until cancelled.
///
/// Cancellation is polled first: a call that is already cancelled begins no sleep.
pub(super) async fn rest(
    sleep: impl Future,
    cancel: &mut Cancel<'_, impl Future>,
) -> Result<(), Cut> {
    let mut sleep = pin!(sleep);
    poll_fn(|cx| {
        if cancel.check(cx) {
            return Poll::Ready(Err(Cut));
        }
        sleep.as_mut().poll(cx).map(|_| Ok(()))
    })
    .await
}

/// A sleep was cut short by cancellation.
pub(super) struct Cut;

/// The caller's cancellation, remembered once it has come.
///
/// A future may be polled no further than its end; this one can be asked for ever.
pub(super) struct Cancel<'a, F> {
    future: Option<Pin<&'a mut F>>,
    cancelled: bool,
}

impl<'a, F: Future> Cancel<'a, F> {
    /// Watches this future; `None` never cancels.
    pub(super) fn new(future: Option<Pin<&'a mut F>>) -> Self {
        Self {
            future,
            cancelled: false,
        }
    }

    /// Asks once, without waiting.
    pub(super) async fn is_done(&mut self) -> bool {
        poll_fn(|cx| Poll::Ready(self.check(cx))).await
    }

    fn check(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(future) = &mut self.future
            && future.as_mut().poll(cx).is_ready()
        {
            self.future = None;
            self.cancelled = true;
        }
        self.cancelled
    }
}
