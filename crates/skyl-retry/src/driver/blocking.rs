//! The blocking driver: the async one, on a clock whose waits block.
//!
//! An operation that blocks is a future that is ready when it is first polled, and so is a sleep
//! that blocks. The async driver over such futures comes to its end within one poll, on the calling
//! thread: same loop, same order, same texts, and no executor.

use std::future::{Future, ready};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use crate::budget::RetryBudget;
use crate::clock::Clock;
use crate::clock::blocking::{BlockingClock, Stopper};
use crate::decide::{Choice, Verdict};
use crate::driver::seam::{Asked, Judge, Observe, Told};
use crate::driver::{Attempt, Retry, Stopped};
use crate::failure::Failure;
use crate::policy::RetryPolicy;
use crate::rng::Rng;

/// Starts a blocking call: set what it needs, then [`run`](RetryBlocking::run) it.
///
#[cfg_attr(feature = "test-util", doc = "```")]
#[cfg_attr(not(feature = "test-util"), doc = "```text")]
/// use skyl_retry::{Failure, FailureClass, ManualClock, RetryPolicy, retry_blocking};
///
/// let policy = RetryPolicy::chat();
/// // In a program: `ThreadClock::new()`. This one never really waits.
/// let clock = ManualClock::skipping();
///
/// let answer = retry_blocking(&policy, &clock).run(
///     |attempt| if attempt.number < 2 { Err("overloaded") } else { Ok("Paris") },
///     |_| Failure::new(FailureClass::Server).with_status(503),
/// )?;
///
/// assert_eq!(answer, "Paris");
/// assert_eq!(clock.sleeps().len(), 2);
/// # Ok::<(), skyl_retry::Stopped<&str>>(())
/// ```
pub fn retry_blocking<'a, C>(policy: &'a RetryPolicy, clock: &'a C) -> RetryBlocking<'a, C>
where
    C: BlockingClock + ?Sized,
{
    let clock = OnThread {
        clock,
        stopper: None,
    };
    RetryBlocking {
        inner: Retry::new(policy, clock),
    }
}

/// One blocking call about to be made; see [`retry_blocking`].
///
/// The two last parameters are the types of the closures that were set, and need never be written
/// down.
#[derive(Debug)]
#[must_use = "nothing is called until `run`"]
pub struct RetryBlocking<'a, C: ?Sized, J = (), O = ()> {
    inner: Retry<'a, OnThread<'a, C>, Pulled<'a>, J, O>,
}

/// Settings.
impl<'a, C: ?Sized, J, O> RetryBlocking<'a, C, J, O> {
    /// Sets the generator the waits are drawn from. Default: one of its own, from entropy.
    pub fn rng(mut self, rng: Rng) -> Self {
        self.inner = self.inner.rng(rng);
        self
    }

    /// Sets the retry budget this call shares with others. Default: none.
    ///
    /// As [`Retry::budget`].
    pub fn budget(mut self, budget: impl Into<Option<&'a RetryBudget>>) -> Self {
        self.inner = self.inner.budget(budget);
        self
    }

    /// Sets the instant, on this clock, at which the whole call ends. Default: none.
    ///
    /// A wait that would pass it is not begun, nor is an attempt after it. An attempt in flight
    /// cannot be cut: nothing can end what another function does on this thread. Give the
    /// operation a timeout of its own, at most [`Attempt::remaining`], and the call ends in time.
    pub fn deadline(mut self, at: impl Into<Option<Duration>>) -> Self {
        self.inner = self.inner.deadline(at);
        self
    }

    /// Tells how long one attempt may take. Default: unbounded.
    ///
    /// As [`Retry::attempt_timeout`].
    pub fn attempt_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.inner = self.inner.attempt_timeout(timeout);
        self
    }

    /// Ends the call when this stopper is pulled: a wait at once, an attempt when it returns.
    ///
    /// A success that the attempt returns is still handed back.
    pub fn stop_on(mut self, stopper: &'a Stopper) -> Self {
        self.inner.clock.stopper = Some(stopper);
        self.inner.cancel = Some(Pulled(stopper));
        self
    }

    /// Asks the caller instead of the server's word and the table.
    ///
    /// As [`Retry::should_retry`].
    pub fn should_retry<F>(self, choose: F) -> RetryBlocking<'a, C, Asked<F>, O>
    where
        F: FnMut(&Failure) -> Choice,
    {
        RetryBlocking {
            inner: self.inner.should_retry(choose),
        }
    }

    /// Tells of every failed attempt and what follows, before the wait begins.
    ///
    /// As [`Retry::on_decision`].
    pub fn on_decision<E, F>(self, tell: F) -> RetryBlocking<'a, C, J, Told<F>>
    where
        F: FnMut(&Attempt, &E, &Verdict),
    {
        RetryBlocking {
            inner: self.inner.on_decision(tell),
        }
    }
}

impl<C: BlockingClock + ?Sized, J: Judge, O> RetryBlocking<'_, C, J, O> {
    /// Runs the operation until it succeeds or the engine stops, blocking between attempts.
    ///
    /// `operation` is called anew for each attempt, after the wait; `classify` reads the facts off
    /// each error. Both run on the calling thread.
    ///
    /// # Errors
    /// [`Stopped`] says why there is no further attempt and holds the last real error. No attempt
    /// is ever cut in flight.
    pub fn run<T, E, Op, Classify>(
        self,
        mut operation: Op,
        classify: Classify,
    ) -> Result<T, Stopped<E>>
    where
        Op: FnMut(Attempt) -> Result<T, E>,
        Classify: FnMut(&E) -> Failure,
        O: Observe<E>,
    {
        let call = pin!(
            self.inner
                .run(|attempt| ready(operation(attempt)), classify)
        );
        match call.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(ended) => ended,
            Poll::Pending => unreachable!("what a blocking call awaits is ready at the first poll"),
        }
    }
}

/// A blocking clock as the driver's clock: its sleeps block when they are polled.
#[derive(Debug)]
struct OnThread<'a, C: ?Sized> {
    clock: &'a C,
    stopper: Option<&'a Stopper>,
}

impl<'a, C: BlockingClock + ?Sized> Clock for OnThread<'a, C> {
    type Sleep = Blocking<'a, C>;

    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn wall(&self) -> SystemTime {
        self.clock.wall()
    }

    // A guard is one of these too, but is polled after the work it would end, which is then done.
    fn sleep(&self, duration: Duration) -> Blocking<'a, C> {
        Blocking {
            clock: self.clock,
            stopper: self.stopper,
            duration,
        }
    }
}

/// A sleep that is over when it has been polled.
struct Blocking<'a, C: ?Sized> {
    clock: &'a C,
    stopper: Option<&'a Stopper>,
    duration: Duration,
}

impl<C: BlockingClock + ?Sized> Future for Blocking<'_, C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.clock.sleep(self.duration, self.stopper);
        Poll::Ready(())
    }
}

/// Ready once its stopper has been pulled; it wakes nobody, since nobody waits for it.
#[derive(Debug)]
struct Pulled<'a>(&'a Stopper);

impl Future for Pulled<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0.is_stopped() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
