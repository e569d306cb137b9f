//! One row under optimistic concurrency: the model of the AWS backoff study.
//!
//! A client reads the row's version, then writes with it; the write succeeds if nobody else has
//! written since. Every message takes a normal time on the network. A client that lost waits as its
//! policy says and begins with the read again; it stops once it has written. The server never gets
//! slower: calls cost work, and nothing else.

use skyl_retry::{Failure, FailureClass, RetryPolicy};

use crate::calls::Calls;
use crate::model::{CalledOff, Patience, next_start, starts};
use crate::number::{float, whole};
use crate::queue::Queue;
use crate::random::{Draws, Luck, Purpose};
use crate::scenario::Scenario;
use crate::tally::Tally;

pub(crate) fn run(
    scenario: &Scenario,
    policy: &RetryPolicy,
    clients: u32,
    luck: Luck,
    patience: &mut Patience<'_>,
) -> Result<Tally, CalledOff> {
    let mut calls = Calls::new(scenario, policy, clients, luck);
    let mut network = Network {
        mean: float(scenario.server.latency),
        deviation: float(scenario.server.latency_sd),
        draws: luck.stream(Purpose::Network),
    };
    let mut queue = Queue::new();
    let mut version: u32 = 0;
    // A conflict is the server's answer, and another try may go through.
    let conflict = Failure::new(FailureClass::Server);
    let starts = starts(scenario, clients, luck);
    if let Some(first) = starts.first() {
        queue.push(*first, pack(BEGIN, 0, 0));
    }
    while let Some(event) = queue.pop() {
        if event.time > scenario.horizon || !patience.event()? {
            break;
        }
        let now = event.time;
        let (kind, seen, client) = unpack(event.what);
        match kind {
            BEGIN => {
                if let Some((start, next)) = next_start(&starts, client) {
                    queue.push(start, pack(BEGIN, 0, next));
                }
                calls.begin(client, now);
                queue.push(now + network.leg(), pack(READ, 0, client));
            }
            // At the server; the answer goes out, and the write comes in with what it said.
            READ => {
                let back_and_forth = network.leg() + network.leg();
                queue.push(now + back_and_forth, pack(WRITE, version, client));
            }
            WRITE => {
                calls.tally.arrived(now);
                let answer = if seen == version {
                    version += 1;
                    WRITTEN
                } else {
                    CONFLICT
                };
                queue.push(now + network.leg(), pack(answer, 0, client));
            }
            WRITTEN => calls.succeeded(client, now),
            _ => {
                if let Some(wait) = calls.failed(client, now, &conflict) {
                    let at = now.saturating_add(network.leg()).saturating_add(wait);
                    queue.push(at, pack(READ, 0, client));
                }
            }
        }
    }
    Ok(calls.finish())
}

struct Network {
    mean: f64,
    deviation: f64,
    draws: Draws,
}

impl Network {
    /// One message's time: normal, and its size where that is below zero, as in the study.
    fn leg(&mut self) -> u64 {
        if self.deviation > 0.0 {
            whole((self.mean + self.deviation * self.draws.normal()).abs())
        } else {
            whole(self.mean)
        }
    }
}

// There are fewer clients than 2²⁸, and each writes once, so a version fits its bits.
fn pack(kind: u64, version: u32, client: u32) -> u64 {
    (kind << 60) | (u64::from(version) << 32) | u64::from(client)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "each part is cut to the bits it was packed in"
)]
fn unpack(what: u64) -> (u64, u32, u32) {
    (what >> 60, (what >> 32) as u32 & 0x0fff_ffff, what as u32)
}

const BEGIN: u64 = 0;
const READ: u64 = 1;
const WRITE: u64 = 2;
const WRITTEN: u64 = 3;
const CONFLICT: u64 = 4;
