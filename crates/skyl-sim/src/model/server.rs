//! A server with a capacity, a queue in front of it and a limiter; clients with timeouts.
//!
//! The capacity is a rate: one call is taken up every 1/capacity, in the order of arrival, and is
//! answered a service time later. Because that order is fixed, the whole fate of an attempt is known
//! when it arrives, and a run needs two events per attempt. What a client has given up is worked on
//! all the same: that waste is what keeps an overloaded service overloaded.
//!
//! Not here: different calls, several servers, a network that loses or reorders.

use std::time::Duration;

use skyl_retry::{Failure, FailureClass, Hint, RetryPolicy, Sent};

use crate::calls::Calls;
use crate::model::{CalledOff, Patience, next_start, starts};
use crate::number::{float, whole};
use crate::queue::Queue;
use crate::random::{Luck, Purpose, unit};
use crate::scenario::{Limiter, Outage, OutageKind, Scenario};
use crate::tally::Tally;

pub(crate) fn run(
    scenario: &Scenario,
    policy: &RetryPolicy,
    clients: u32,
    failure_rate: f64,
    luck: Luck,
    patience: &mut Patience<'_>,
) -> Result<Tally, CalledOff> {
    let mut calls = Calls::new(scenario, policy, clients, luck);
    let mut server = Server::new(scenario, clients, failure_rate, luck);
    let failures = Fate::FAILURES.map(|fate| fate.failure(scenario.hint));
    let mut queue = Queue::new();
    let starts = starts(scenario, clients, luck);
    if let Some(first) = starts.first() {
        queue.push(*first, pack(BEGIN, 0, 0));
    }
    while let Some(event) = queue.pop() {
        if event.time > scenario.horizon || !patience.event()? {
            break;
        }
        let now = event.time;
        let (kind, fate, call) = unpack(event.what);
        match kind {
            BEGIN => {
                if let Some((start, next)) = next_start(&starts, call) {
                    queue.push(start, pack(BEGIN, 0, next));
                }
                calls.begin(call, now);
                if let Some(next) = next_call(scenario, clients, call) {
                    let at = now.saturating_add(scenario.fleet.every);
                    queue.push(at, pack(BEGIN, 0, next));
                }
                attempt(&mut server, &mut calls, &mut queue, call, now);
            }
            DUE => attempt(&mut server, &mut calls, &mut queue, call, now),
            PAUSED => send(&mut server, &mut calls, &mut queue, call, now),
            _ => match usize::from(fate).checked_sub(1) {
                None => calls.succeeded(call, now),
                Some(failure) => {
                    if let Some(wait) = calls.failed(call, now, &failures[failure]) {
                        queue.push(now.saturating_add(wait), pack(DUE, 0, call));
                    }
                }
            },
        }
    }
    Ok(calls.finish())
}

fn next_call(scenario: &Scenario, clients: u32, call: u32) -> Option<u32> {
    let next = call.checked_add(clients)?;
    (u64::from(next) < scenario.calls(clients)).then_some(next)
}

/// Begins an attempt, unless a pause holds it back; whoever has waited out one is not asked again.
fn attempt(server: &mut Server<'_>, calls: &mut Calls<'_>, queue: &mut Queue, call: u32, now: u64) {
    match calls.pause(call, now) {
        0 => send(server, calls, queue, call, now),
        pause => queue.push(now.saturating_add(pause), pack(PAUSED, 0, call)),
    }
}

/// Sends an attempt and writes down when its client will hear of it, and what.
///
/// The way to the server takes every attempt the same time, so those that are sent in order arrive
/// in order, and the arrival needs no event of its own.
fn send(server: &mut Server<'_>, calls: &mut Calls<'_>, queue: &mut Queue, call: u32, now: u64) {
    let arrival = now.saturating_add(server.latency);
    calls.tally.arrived(arrival);
    let (fate, heard) = server.answer(call, calls.attempt(call), now, arrival);
    queue.push(heard, pack(HEARD, fate as u8, call));
}

struct Server<'a> {
    latency: u64,
    service: u64,
    timeout: Option<u64>,
    queue: f64,
    outage: Option<&'a Outage>,
    failure_rate: f64,
    luck: Luck,
    // Nanoseconds per call at full speed, and when the next one can be taken up.
    per_call: Option<f64>,
    free_at: f64,
    limiter: Option<Bucket>,
}

impl<'a> Server<'a> {
    fn new(scenario: &'a Scenario, clients: u32, failure_rate: f64, luck: Luck) -> Self {
        let server = &scenario.server;
        let capacity = server.capacity.per_second(scenario.fleet.traffic(clients));
        Self {
            latency: server.latency,
            service: server.service,
            timeout: server.timeout,
            queue: float(server.queue),
            outage: scenario.outage.as_ref(),
            failure_rate,
            luck,
            per_call: capacity.map(|capacity| 1e9 / capacity),
            free_at: 0.0,
            limiter: server.limiter.map(Bucket::full),
        }
    }

    /// The fate of an attempt, and when its client hears of it.
    fn answer(&mut self, call: u32, attempt: u32, sent: u64, arrival: u64) -> (Fate, u64) {
        let gives_up = self.timeout.map(|timeout| sent.saturating_add(timeout));
        let (fate, answered) = self.fate(call, attempt, arrival);
        let heard = answered.map(|answered| answered.saturating_add(self.latency));
        match (heard, gives_up) {
            (Some(heard), Some(gives_up)) if heard <= gives_up => (fate, heard),
            (Some(heard), None) => (fate, heard),
            (_, Some(gives_up)) => (Fate::TimedOut, gives_up),
            // An outage that never answers needs a timeout; the scenario was held to that.
            (None, None) => (Fate::TimedOut, arrival),
        }
    }

    /// What the server makes of an attempt, and when; `None` is never.
    fn fate(&mut self, call: u32, attempt: u32, arrival: u64) -> (Fate, Option<u64>) {
        if let Some(outage) = self.outage {
            let now = (outage.from..outage.until).contains(&arrival);
            match outage.kind {
                OutageKind::Status if now => return (Fate::Down, Some(arrival)),
                OutageKind::Refuse if now => return (Fate::Refused, Some(arrival)),
                OutageKind::Hang if now => return (Fate::TimedOut, None),
                OutageKind::Slow(_) => {}
                // What was queued is gone: after the outage the server begins anew.
                _ if arrival >= outage.until => {
                    self.free_at = self.free_at.min(float(arrival.max(outage.until)));
                }
                _ => {}
            }
        }
        if let Some(limiter) = &mut self.limiter
            && !limiter.take(arrival)
        {
            return (Fate::Limited, Some(arrival));
        }
        let Some(taken_up) = self.take_up(arrival) else {
            return (Fate::Full, Some(arrival));
        };
        let done = taken_up.saturating_add(self.service);
        if let Some(outage) = self.outage
            && arrival < outage.from
            && done > outage.from
        {
            match outage.kind {
                OutageKind::Status | OutageKind::Refuse => return (Fate::Lost, Some(outage.from)),
                OutageKind::Hang => return (Fate::TimedOut, None),
                OutageKind::Slow(_) => {}
            }
        }
        let fails = self.failure_rate > 0.0 && {
            let mut rng = self.luck.of(Purpose::Failure, call, attempt);
            unit(&mut rng) < self.failure_rate
        };
        let fate = if fails { Fate::Failed } else { Fate::Success };
        (fate, Some(done))
    }

    /// When work on an attempt begins; `None` if it would have to wait too long.
    fn take_up(&mut self, arrival: u64) -> Option<u64> {
        let Some(per_call) = self.per_call else {
            return Some(arrival);
        };
        let begin = self.free_at.max(float(arrival));
        if begin - float(arrival) > self.queue {
            return None;
        }
        self.free_at = begin + per_call / self.speed(begin);
        Some(whole(begin))
    }

    fn speed(&self, at: f64) -> f64 {
        match self.outage {
            Some(outage) if (float(outage.from)..float(outage.until)).contains(&at) => {
                match outage.kind {
                    OutageKind::Slow(share) => share,
                    _ => 1.0,
                }
            }
            _ => 1.0,
        }
    }
}

/// The limiter: a bucket of calls that fills at a rate.
struct Bucket {
    limiter: Limiter,
    level: f64,
    at: u64,
}

impl Bucket {
    fn full(limiter: Limiter) -> Self {
        Self {
            limiter,
            level: limiter.burst,
            at: 0,
        }
    }

    fn take(&mut self, now: u64) -> bool {
        let filled = float(now - self.at) * self.limiter.per_second / 1e9;
        self.level = (self.level + filled).min(self.limiter.burst);
        self.at = now;
        let taken = self.level >= 1.0;
        if taken {
            self.level -= 1.0;
        }
        taken
    }
}

/// What becomes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Fate {
    Success = 0,
    Limited = 1,
    Full = 2,
    Down = 3,
    Refused = 4,
    Lost = 5,
    TimedOut = 6,
    Failed = 7,
}

impl Fate {
    /// In the order of their numbers, from 1.
    const FAILURES: [Self; 7] = [
        Self::Limited,
        Self::Full,
        Self::Down,
        Self::Refused,
        Self::Lost,
        Self::TimedOut,
        Self::Failed,
    ];

    /// The failure as a client would classify it.
    fn failure(self, hint: Option<u64>) -> Failure {
        let hint = hint.map_or(Hint::Absent, |wait| Hint::Wait(Duration::from_nanos(wait)));
        let status = |class, status| Failure::new(class).with_status(status);
        match self {
            Self::Limited => status(FailureClass::Throttled, 429).with_hint(hint),
            Self::Full | Self::Down => status(FailureClass::Server, 503).with_hint(hint),
            Self::Refused => Failure::new(FailureClass::Connect).with_sent(Sent::No),
            Self::Lost => Failure::new(FailureClass::ConnectionLost),
            Self::TimedOut => Failure::new(FailureClass::Timeout),
            // A success is no failure; nobody asks.
            Self::Success | Self::Failed => status(FailureClass::Server, 500),
        }
    }
}

fn pack(kind: u64, fate: u8, call: u32) -> u64 {
    (kind << 40) | (u64::from(fate) << 32) | u64::from(call)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "each part is cut to the bits it was packed in"
)]
fn unpack(what: u64) -> (u64, u8, u32) {
    (what >> 40, (what >> 32) as u8, what as u32)
}

const BEGIN: u64 = 0;
const DUE: u64 = 1;
const PAUSED: u64 = 2;
const HEARD: u64 = 3;
