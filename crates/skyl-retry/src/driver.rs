//! The async driver: runs an operation, and waits between its attempts.
//!
//! All judgement is in [`decide`](crate::decide()); the driver only asks the clock, sleeps, and
//! keeps the facts of one call. It is generic over the [`Clock`] and knows no runtime. It refuses
//! to do anything in the background: whatever happens, happens inside the future it returns, and
//! dropping that ends everything at once. The blocking driver is this one, too, polled once; and a
//! `tower` service runs it once per call.

#[cfg(feature = "blocking")]
pub(crate) mod blocking;
mod race;
mod seam;

use std::error::Error;
use std::fmt;
use std::future::{Future, Pending};
use std::pin::pin;
use std::time::Duration;

use crate::budget::RetryBudget;
use crate::clock::Clock;
use crate::decide::{Choice, Decision, Facts, StopReason, Verdict, decide, minimum_window, veto};
use crate::driver::race::{Cancel, Ended, race, rest};
use crate::driver::seam::{Asked, Judge, Observe, Told};
use crate::failure::Failure;
use crate::policy::RetryPolicy;
use crate::rng::Rng;

/// Starts a call: set what it needs, then [`run`](Retry::run) it.
///
#[cfg_attr(feature = "test-util", doc = "```")]
#[cfg_attr(not(feature = "test-util"), doc = "```text")]
/// use skyl_retry::{Failure, FailureClass, ManualClock, RetryPolicy, Rng, retry};
/// # async fn example() -> Result<(), skyl_retry::Stopped<&'static str>> {
/// let policy = RetryPolicy::chat();
/// let clock = ManualClock::skipping();
///
/// let answer = retry(&policy, &clock)
///     .rng(Rng::from_seed(7))
///     .run(
///         async |attempt| if attempt.number < 2 { Err("overloaded") } else { Ok("Paris") },
///         |_| Failure::new(FailureClass::Server).with_status(503),
///     )
///     .await?;
///
/// assert_eq!(answer, "Paris");
/// assert_eq!(clock.sleeps().len(), 2);
/// # Ok(()) }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(example()).unwrap();
/// ```
pub fn retry<'a, C: Clock>(policy: &'a RetryPolicy, clock: &'a C) -> Retry<'a, &'a C> {
    Retry::new(policy, clock)
}

/// One call about to be made; see [`retry`].
///
/// The three last parameters are the types of the closures and the future that were set, and need
/// never be written down.
#[derive(Debug)]
#[must_use = "nothing is called until `run` is awaited"]
pub struct Retry<'a, C, Cancelled = Pending<()>, J = (), O = ()> {
    policy: &'a RetryPolicy,
    clock: C,
    rng: Option<Rng>,
    budget: Option<&'a RetryBudget>,
    deadline: Option<Duration>,
    attempt_timeout: Option<Duration>,
    cancel: Option<Cancelled>,
    judge: J,
    observer: O,
}

impl<'a, C, Cancelled> Retry<'a, C, Cancelled> {
    pub(crate) fn new(policy: &'a RetryPolicy, clock: C) -> Self {
        Self {
            policy,
            clock,
            rng: None,
            budget: None,
            deadline: None,
            attempt_timeout: None,
            cancel: None,
            judge: (),
            observer: (),
        }
    }
}

/// Settings.
impl<'a, C, Cancelled, J, O> Retry<'a, C, Cancelled, J, O> {
    /// Sets the generator the waits are drawn from. Default: one of its own, from entropy.
    pub fn rng(mut self, rng: Rng) -> Self {
        self.rng = Some(rng);
        self
    }

    /// Sets the retry budget this call shares with others. Default: none.
    ///
    /// A call that succeeds deposits once, whatever number of attempts it took; each retry takes a
    /// token.
    pub fn budget(mut self, budget: impl Into<Option<&'a RetryBudget>>) -> Self {
        self.budget = budget.into();
        self
    }

    /// Sets the instant, on this clock, at which the whole call ends. Default: none.
    ///
    /// A wait that would pass it is not begun, and an attempt in flight is cut at it.
    pub fn deadline(mut self, at: impl Into<Option<Duration>>) -> Self {
        self.deadline = at.into();
        self
    }

    /// Tells how long one attempt may take. Default: unbounded.
    ///
    /// A fact for [`minimum_window`] alone: the operation keeps its own timeout.
    pub fn attempt_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.attempt_timeout = timeout.into();
        self
    }

    /// Ends the call at once when this future completes, in mid-attempt and in mid-wait.
    ///
    /// Whatever its output: a channel whose sender is gone completes, too. For people who hold a
    /// token; whoever holds the call's own future can simply drop it.
    pub fn cancel_on<F: Future>(self, cancelled: F) -> Retry<'a, C, F, J, O> {
        Retry {
            policy: self.policy,
            clock: self.clock,
            rng: self.rng,
            budget: self.budget,
            deadline: self.deadline,
            attempt_timeout: self.attempt_timeout,
            cancel: Some(cancelled),
            judge: self.judge,
            observer: self.observer,
        }
    }

    /// Asks the caller instead of the server's word and the table.
    ///
    /// Asked once per failed attempt, the last one included. It replaces the choice and nothing
    /// else: attempts, budgets and deadline still hold, and delivered content, cancellation and
    /// rejected certificates are not put to it.
    pub fn should_retry<F>(self, choose: F) -> Retry<'a, C, Cancelled, Asked<F>, O>
    where
        F: FnMut(&Failure) -> Choice,
    {
        Retry {
            policy: self.policy,
            clock: self.clock,
            rng: self.rng,
            budget: self.budget,
            deadline: self.deadline,
            attempt_timeout: self.attempt_timeout,
            cancel: self.cancel,
            judge: Asked(choose),
            observer: self.observer,
        }
    }

    /// Tells of every failed attempt and what follows, before the wait begins.
    ///
    /// Attempts cut in flight come to no decision and are not told of. Name the error's type in
    /// the closure: `|attempt, error: &MyError, verdict| …`.
    pub fn on_decision<E, F>(self, tell: F) -> Retry<'a, C, Cancelled, J, Told<F>>
    where
        F: FnMut(&Attempt, &E, &Verdict),
    {
        Retry {
            policy: self.policy,
            clock: self.clock,
            rng: self.rng,
            budget: self.budget,
            deadline: self.deadline,
            attempt_timeout: self.attempt_timeout,
            cancel: self.cancel,
            judge: self.judge,
            observer: Told(tell),
        }
    }
}

impl<C, Cancelled, J, O> Retry<'_, C, Cancelled, J, O>
where
    C: Clock,
    Cancelled: Future,
    J: Judge,
{
    /// Runs the operation until it succeeds or the engine stops.
    ///
    /// `operation` is called anew for each attempt, after the wait, so that what it builds is never
    /// stale; `classify` reads the facts off each error. If the first attempt succeeds and neither
    /// time budget nor deadline is set, no clock is read and nothing is allocated.
    ///
    /// # Errors
    /// [`Stopped`] says why there is no further attempt and holds the last real error.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call, in mid-attempt and in mid-wait: nothing is sent after
    /// it, and no token or task is left behind. The errors of earlier attempts are lost with it;
    /// [`cancel_on`](Retry::cancel_on) keeps the last one.
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` moves all it was given once more on its first poll: 6 ns a call"
    )]
    pub fn run<T, E, Op, Fut, Classify>(
        self,
        mut operation: Op,
        classify: Classify,
    ) -> impl Future<Output = Result<T, Stopped<E>>>
    where
        Op: FnMut(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        Classify: FnMut(&E) -> Failure,
        O: Observe<E>,
    {
        async move {
            // Nothing can cut this attempt, so nothing need be set up beside it: what the loop
            // keeps comes into being when the attempt has failed.
            if self.deadline.is_none() && self.cancel.is_none() && self.policy.budget().is_none() {
                let first = Attempt {
                    number: 0,
                    remaining: None,
                };
                return match operation(first).await {
                    Ok(value) => Ok(self.succeeded(value)),
                    Err(error) => self.attempts(Some(error), operation, classify).await,
                };
            }
            self.attempts(None, operation, classify).await
        }
    }

    /// The loop; `failed` is the error of a first attempt that has already been made.
    async fn attempts<T, E, Op, Fut, Classify>(
        mut self,
        mut failed: Option<E>,
        mut operation: Op,
        mut classify: Classify,
    ) -> Result<T, Stopped<E>>
    where
        Op: FnMut(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        Classify: FnMut(&E) -> Failure,
        O: Observe<E>,
    {
        let mut cancel = pin!(self.cancel.take());
        let mut cancel = Cancel::new(cancel.as_mut().as_pin_mut());
        let (clock, deadline) = (&self.clock, self.deadline);
        // The clock is read only where its answer can change the outcome.
        let timed = deadline.is_some() || self.policy.budget().is_some();
        let began = timed.then(|| clock.now());
        let left = || deadline.map(|at| at.saturating_sub(clock.now()));

        let mut facts = Facts::new(0).with_attempt_timeout(self.attempt_timeout);
        let mut last = None;
        loop {
            let (attempt, error) = if let Some(error) = failed.take() {
                (
                    Attempt {
                        number: 0,
                        remaining: None,
                    },
                    error,
                )
            } else {
                // Asked again after every wait: it may have ended late, or together with the call.
                if cancel.is_done().await {
                    return Err(Stopped::between(StopReason::Cancelled, last, facts.retry));
                }
                let remaining = left();
                if remaining.is_some_and(|left| !worth_beginning(left, &facts)) {
                    return Err(Stopped::between(StopReason::Deadline, last, facts.retry));
                }
                let attempt = Attempt {
                    number: facts.retry,
                    remaining,
                };
                let guard = remaining.map(|left| clock.guard(left));
                match race(operation(attempt), guard, &mut cancel).await {
                    Ended::Done(Ok(value)) => return Ok(self.succeeded(value)),
                    Ended::Done(Err(error)) => (attempt, error),
                    Ended::Cancelled => {
                        return Err(Stopped::in_flight(StopReason::Cancelled, last, attempt));
                    }
                    Ended::Deadline => {
                        return Err(Stopped::in_flight(StopReason::Deadline, last, attempt));
                    }
                }
            };

            let failure = classify(&error);
            facts.cancelled = cancel.is_done().await;
            if let Some(began) = began {
                let now = clock.now();
                facts.elapsed = now.saturating_sub(began);
                facts.remaining = deadline.map(|at| at.saturating_sub(now));
            }
            let asked = match veto(&failure, &facts) {
                Some(_) => None,
                None => self.judge.choose(&failure),
            };
            let rng = self.rng.get_or_insert_with(Rng::from_entropy);
            let withdraw = || {
                self.budget
                    .is_none_or(|budget| budget.withdraw(clock.now()))
            };
            let verdict = decide(self.policy, &failure, &facts, asked, rng, withdraw);
            self.observer.decided(&attempt, &error, &verdict);

            let wait = match verdict.decision {
                Decision::RetryAfter(wait) => wait,
                Decision::Stop(reason) => {
                    return Err(Stopped::between(reason, Some(error), attempt.count()));
                }
            };
            last = Some(error);
            facts = facts.after(&verdict);
            if rest(clock.sleep(wait), &mut cancel).await.is_err() {
                return Err(Stopped::between(
                    StopReason::Cancelled,
                    last,
                    attempt.count(),
                ));
            }
        }
    }

    fn succeeded<T>(&self, value: T) -> T {
        if let Some(budget) = self.budget {
            budget.deposit();
        }
        value
    }
}

/// One attempt about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// Its number, counted from 0: above 0 means it is a retry.
    pub number: u32,
    /// Time left to the deadline as the attempt begins; `None` without one.
    pub remaining: Option<Duration>,
}

impl Attempt {
    /// Attempts made once this one is over: its number plus one.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.number.saturating_add(1)
    }
}

/// The end of a call that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped<E> {
    /// Why no further attempt is made.
    pub reason: StopReason,
    /// The error of the last attempt that came to an end; `None` if none did.
    pub last: Option<E>,
    /// Attempts begun; 0 if the call was cancelled, or its deadline passed, before the first.
    pub attempts: u32,
    /// Whether an attempt was cut in flight, by cancellation or the deadline.
    pub cut_in_flight: bool,
}

impl<E> Stopped<E> {
    fn between(reason: StopReason, last: Option<E>, attempts: u32) -> Self {
        Self {
            reason,
            last,
            attempts,
            cut_in_flight: false,
        }
    }

    fn in_flight(reason: StopReason, last: Option<E>, attempt: Attempt) -> Self {
        Self {
            reason,
            last,
            attempts: attempt.count(),
            cut_in_flight: true,
        }
    }
}

impl<E> fmt::Display for Stopped<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempts = self.attempts;
        let plural = if attempts == 1 { "" } else { "s" };
        write!(
            f,
            "gave up after {attempts} attempt{plural}: {}",
            self.reason.explain()
        )
    }
}

impl<E: Error + 'static> Error for Stopped<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.last.as_ref().map(|error| error as _)
    }
}

fn worth_beginning(left: Duration, facts: &Facts) -> bool {
    match facts.retry {
        // Whoever gives a first attempt a millisecond gets an attempt of a millisecond.
        0 => !left.is_zero(),
        _ => left >= minimum_window(facts.attempt_timeout) && !left.is_zero(),
    }
}
