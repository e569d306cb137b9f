//! The calls of a fleet: what is known of each, and what the engine decides for it.
//!
//! 32 bytes per call, side by side: a call is touched in no order, and half a cache line at once is
//! all it costs. Nothing of a policy and no generator is kept per call; the policy is one value, and
//! draws come from the place of the call (see [`crate::random`]). Every decision is [`skyl_retry::decide`], every token is taken from a
//! [`RetryBudget`] and every pause from a [`SharedPause`]: the ones that clients use.

use std::time::Duration;

use skyl_retry::{Facts, Failure, RetryBudget, RetryPolicy, SharedPause, StopReason, decide};

use crate::number::{index, nanos};
use crate::random::{Luck, Purpose};
use crate::scenario::{Scenario, SharedBy};
use crate::tally::Tally;

pub(crate) struct Calls<'a> {
    policy: &'a RetryPolicy,
    luck: Luck,
    clients: u32,
    shared_by: SharedBy,
    timeout: Option<Duration>,
    // One per client or one for all; none without a budget in the policy.
    budgets: Vec<RetryBudget>,
    // The same; none where the fleet does not pause.
    pauses: Vec<SharedPause>,
    known: Vec<Call>,
    pub(crate) tally: Tally,
}

/// What is known of one call.
#[derive(Clone, Copy, Debug)]
struct Call {
    began: u64,
    /// The last backoff drawn; zero before the first.
    backoff: u64,
    retries: u32,
    /// Hinted retries in a row.
    hints: u32,
    state: State,
}

/// Where a call stands. It moves forward alone, and ends in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    NotBegun,
    UnderWay,
    Succeeded,
    Stopped,
}

impl<'a> Calls<'a> {
    pub(crate) fn new(
        scenario: &Scenario,
        policy: &'a RetryPolicy,
        clients: u32,
        luck: Luck,
    ) -> Self {
        let count = index(scenario.calls(clients));
        let groups = match scenario.fleet.shared_by {
            SharedBy::Client => clients,
            SharedBy::Fleet => 1,
        };
        let budgets = policy.retry_budget().map(|figures| {
            let bucket = |_| RetryBudget::new(&figures).ok();
            (0..groups).filter_map(bucket).collect()
        });
        let pausing = if scenario.fleet.shared_pause {
            groups
        } else {
            0
        };
        let pauses = (0..pausing).map(|_| SharedPause::new()).collect();
        Self {
            policy,
            luck,
            clients,
            shared_by: scenario.fleet.shared_by,
            timeout: scenario.server.timeout.map(Duration::from_nanos),
            budgets: budgets.unwrap_or_default(),
            pauses,
            known: vec![Call::NEW; count],
            tally: Tally::default(),
        }
    }

    /// Retries made so far, which is the number of the attempt under way.
    #[inline]
    pub(crate) fn attempt(&self, call: u32) -> u32 {
        self.known[place(call)].retries
    }

    pub(crate) fn begin(&mut self, call: u32, now: u64) {
        let call = &mut self.known[place(call)];
        debug_assert_eq!(call.state, State::NotBegun);
        call.began = now;
        call.state = State::UnderWay;
        self.tally.began(now);
    }

    /// The wait that a shared pause asks of the attempt that would begin now; zero without one.
    pub(crate) fn pause(&self, call: u32, now: u64) -> u64 {
        let Some(pause) = self.pauses.get(self.group(call)) else {
            return 0;
        };
        let mut rng = self.luck.of(Purpose::Pause, call, self.attempt(call));
        let now = Duration::from_nanos(now);
        let wait = pause.wait(HOST, MODEL, now, self.policy.spread(), &mut rng);
        wait.map_or(0, nanos)
    }

    /// What follows a failed attempt: the wait before the next one, or the end of the call.
    pub(crate) fn failed(&mut self, call: u32, now: u64, failure: &Failure) -> Option<u64> {
        let group = self.group(call);
        let known = &mut self.known[place(call)];
        let time = Duration::from_nanos(now);
        let facts = Facts::new(known.retries)
            .with_elapsed(Duration::from_nanos(now - known.began))
            // None yet and none at all are the same to every jitter: both start at the first delay.
            .with_previous_backoff(Duration::from_nanos(known.backoff))
            .with_consecutive_hints(known.hints)
            .with_attempt_timeout(self.timeout);
        let mut rng = self.luck.of(Purpose::Wait, call, known.retries);
        let budget = self.budgets.get(group);
        let verdict = decide(self.policy, failure, &facts, None, &mut rng, || {
            budget.is_none_or(|budget| budget.withdraw(time))
        });
        let Some(wait) = verdict.retry_after() else {
            known.state = State::Stopped;
            self.tally.stopped(now, verdict.stop(), known.retries);
            return None;
        };
        if let Some(skyl_retry::WaitSource::Hint { obeyed, .. }) = verdict.wait
            && let Some(pause) = self.pauses.get(group)
        {
            pause.note(HOST, MODEL, time, obeyed);
        }
        let next = facts.after(&verdict);
        known.retries = next.retry;
        known.backoff = next.previous_backoff.map_or(0, nanos);
        known.hints = next.consecutive_hints;
        Some(nanos(wait))
    }

    pub(crate) fn succeeded(&mut self, call: u32, now: u64) {
        if let Some(budget) = self.budgets.get(self.group(call)) {
            budget.deposit();
        }
        let call = &mut self.known[place(call)];
        debug_assert_eq!(call.state, State::UnderWay);
        call.state = State::Succeeded;
        self.tally.succeeded(call.began, now, call.retries);
    }

    /// The tally, with what had not ended by the end of the run.
    pub(crate) fn finish(mut self) -> Tally {
        for call in &self.known {
            match call.state {
                State::NotBegun => self.tally.not_begun(),
                State::UnderWay => self.tally.unfinished(call.retries),
                State::Succeeded | State::Stopped => {}
            }
        }
        self.tally
    }

    fn group(&self, call: u32) -> usize {
        match self.shared_by {
            SharedBy::Client => place(call % self.clients),
            SharedBy::Fleet => 0,
        }
    }
}

impl Call {
    const NEW: Self = Self {
        began: 0,
        backoff: 0,
        retries: 0,
        hints: 0,
        state: State::NotBegun,
    };
}

/// The reasons for which a simulated call can stop, in the engine's words.
pub(crate) const STOPS: [StopReason; 6] = [
    StopReason::NotRetryable,
    StopReason::RetriesDisabled,
    StopReason::AttemptsExhausted,
    StopReason::TimeBudget,
    StopReason::RetryBudget,
    StopReason::HintOverCap,
];

fn place(call: u32) -> usize {
    index(u64::from(call))
}

// There is one server; the pause wants to know which.
const HOST: &str = "server";
const MODEL: &str = "model";
