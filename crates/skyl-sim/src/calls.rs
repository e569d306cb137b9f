//! The calls of a fleet: what is known of each, and what the engine decides for it.
//!
//! One array per fact, 25 bytes per call: a fleet of a million is 25 MB. Nothing of a policy and no
//! generator is kept per call; the policy is one value, and draws come from the place of the call
//! (see [`crate::random`]). Every decision is [`skyl_retry::decide`], every token is taken from a
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
    // One per call.
    began: Vec<u64>,
    backoff: Vec<u64>,
    retries: Vec<u32>,
    hints: Vec<u32>,
    state: Vec<State>,
    pub(crate) tally: Tally,
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
            began: vec![0; count],
            backoff: vec![0; count],
            retries: vec![0; count],
            hints: vec![0; count],
            state: vec![State::NotBegun; count],
            tally: Tally::default(),
        }
    }

    /// Retries made so far, which is the number of the attempt under way.
    #[inline]
    pub(crate) fn attempt(&self, call: u32) -> u32 {
        self.retries[place(call)]
    }

    pub(crate) fn begin(&mut self, call: u32, now: u64) {
        let at = place(call);
        debug_assert_eq!(self.state[at], State::NotBegun);
        self.began[at] = now;
        self.state[at] = State::UnderWay;
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
        let at = place(call);
        let time = Duration::from_nanos(now);
        let facts = Facts::new(self.retries[at])
            .with_elapsed(Duration::from_nanos(now - self.began[at]))
            // None yet and none at all are the same to every jitter: both start at the first delay.
            .with_previous_backoff(Duration::from_nanos(self.backoff[at]))
            .with_consecutive_hints(self.hints[at])
            .with_attempt_timeout(self.timeout);
        let mut rng = self.luck.of(Purpose::Wait, call, self.retries[at]);
        let budget = self.budgets.get(self.group(call));
        let verdict = decide(self.policy, failure, &facts, None, &mut rng, || {
            budget.is_none_or(|budget| budget.withdraw(time))
        });
        let Some(wait) = verdict.retry_after() else {
            self.state[at] = State::Stopped;
            self.tally.stopped(now, verdict.stop(), self.retries[at]);
            return None;
        };
        if let Some(skyl_retry::WaitSource::Hint { obeyed, .. }) = verdict.wait
            && let Some(pause) = self.pauses.get(self.group(call))
        {
            pause.note(HOST, MODEL, time, obeyed);
        }
        let next = facts.after(&verdict);
        self.retries[at] = next.retry;
        self.backoff[at] = next.previous_backoff.map_or(0, nanos);
        self.hints[at] = next.consecutive_hints;
        Some(nanos(wait))
    }

    pub(crate) fn succeeded(&mut self, call: u32, now: u64) {
        let at = place(call);
        debug_assert_eq!(self.state[at], State::UnderWay);
        self.state[at] = State::Succeeded;
        if let Some(budget) = self.budgets.get(self.group(call)) {
            budget.deposit();
        }
        self.tally.succeeded(self.began[at], now, self.retries[at]);
    }

    /// The tally, with what had not ended by the end of the run.
    pub(crate) fn finish(mut self) -> Tally {
        for (state, retries) in self.state.iter().zip(&self.retries) {
            match state {
                State::NotBegun => self.tally.not_begun(),
                State::UnderWay => self.tally.unfinished(*retries),
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
