//! What happens in a run: the fleet, the server, the outage, the hint, the policies.
//!
//! A scenario is a TOML file. Six are built in, and they are files like any other:
//!
//! ```
//! use skyl_sim::Scenario;
//!
//! let scenario = Scenario::from_toml("monday", r#"
//!     title = "Four hundred clients and ten seconds of refused connections"
//!     policies = ["chat", "fleet"]
//!
//!     [fleet]
//!     clients = 400
//!     start_within = "30s"      # the first calls are spread over this
//!
//!     [server]
//!     load = 0.5                # the fleet's own traffic, as a share of the capacity
//!     service = "300ms"
//!     timeout = "10s"
//!
//!     [outage]
//!     from = "10s"
//!     length = "10s"
//!     kind = "refuse"
//! "#)?;
//! assert_eq!(scenario.clients(), [400]);
//!
//! // A bad value is named, with its line.
//! let refused = Scenario::from_toml("typo", "[fleet]\nclients = 0\n").unwrap_err();
//! assert!(refused.to_string().starts_with("line 2: fleet.clients = 0: must be"));
//! # Ok::<(), skyl_sim::InvalidScenario>(())
//! ```
//!
//! # The keys
//!
//! | key | default | meaning |
//! |---|---|---|
//! | `title`, `about` | empty | what the reader of a picture is told |
//! | `model` | `"server"` | `"server"`, or `"occ"`: one row under optimistic concurrency |
//! | `policies` | `chat` and `fleet` | names of [`POLICY_NAMES`](crate::POLICY_NAMES), or of `[policy.NAME]` below |
//! | `seeds` | 1 | runs per policy and fleet size |
//! | `horizon` | `"1h"` | where the run ends, whatever is still going on; at most 7 days |
//! | `fleet.clients` | needed | clients, or a list of fleet sizes |
//! | `fleet.start_within` | 0 | first calls are uniform over this; 0 is all at once |
//! | `fleet.calls`, `fleet.every` | 1, none | calls per client, and the time from one to the next, whatever becomes of them |
//! | `fleet.budget_shared_by` | `"client"` | who shares a retry budget and a pause: `"client"` or `"fleet"` |
//! | `fleet.shared_pause` | `false` | whether a server's wait holds back the client's other attempts |
//! | `server.latency` | `"25ms"` | the network, one way; above 0 |
//! | `server.latency_sd` | 0 | its deviation; `occ` alone |
//! | `server.service` | 0 | the time of an answer, beside waiting for capacity |
//! | `server.load`, `server.capacity` | unlimited | capacity in calls per second, or the fleet's traffic as a share of it; not both |
//! | `server.queue` | 0 | the longest wait for capacity, at full speed; beyond it a call gets a 503 at once |
//! | `server.rate`, `server.burst` | none, `rate` | a limiter: calls per second; beyond it a call gets a 429 |
//! | `server.timeout` | none | when a client gives an attempt up; the server goes on working on it |
//! | `server.failure_rate` | 0 | the share of calls that fail with a 500; of a list, each rate is a run of its own |
//! | `outage.from`, `outage.length` | needed | when it begins, and how long it lasts |
//! | `outage.kind` | `"status"` | `"status"` (503), `"refuse"` (no connection), `"hang"` (no answer), `"slow"` |
//! | `outage.capacity` | 0.5 | what is left of the capacity; `slow` alone |
//! | `hint.wait` | none | the wait every refusal with a status asks for |
//! | `overrides.max_retries` | as the policy | a number, or `"unlimited"` |
//! | `overrides.retry_budget` | as the policy | `"off"` |
//! | `policy.NAME` | none | a policy of the scenario's own, with the keys of a policy file |

mod builtin;
mod invalid;
mod read;
mod section;

#[cfg(test)]
mod tests;

use skyl_retry::RetryPolicy;

use crate::policies;

pub use self::builtin::BUILTIN_NAMES;
pub use self::invalid::InvalidScenario;

/// One scenario, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) model: Model,
    pub(crate) fleet: Fleet,
    pub(crate) server: Server,
    pub(crate) outage: Option<Outage>,
    /// Nanoseconds.
    pub(crate) hint: Option<u64>,
    pub(crate) policies: Vec<String>,
    pub(crate) own: Vec<(String, RetryPolicy)>,
    pub(crate) overrides: Overrides,
    pub(crate) seeds: u32,
    /// Nanoseconds.
    pub(crate) horizon: u64,
}

impl Scenario {
    /// Reads a scenario; `name` is what tables call it.
    ///
    /// # Errors
    /// [`InvalidScenario`] names the key that is unknown, missing or has a bad value, and its line.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, InvalidScenario> {
        read::scenario(name, text)
    }

    /// Gives the built-in scenario of this name; `None` for a name not in [`BUILTIN_NAMES`].
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        builtin::scenario(name)
    }

    /// What tables call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is about, in a line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What to look for in its figures; may be empty.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The fleet sizes; at least one.
    #[must_use]
    pub fn clients(&self) -> &[u32] {
        &self.fleet.clients
    }

    /// Runs per policy and fleet size, unless told otherwise.
    #[must_use]
    pub fn seeds(&self) -> u32 {
        self.seeds
    }

    /// The names of its policies, in the order of its rows.
    #[must_use]
    pub fn policies(&self) -> &[String] {
        &self.policies
    }

    /// Gives a policy by name: the scenario's own first, then [`named`](crate::named).
    #[must_use]
    pub fn policy(&self, name: &str) -> Option<RetryPolicy> {
        let own = self.own.iter().find(|(own, _)| own == name);
        own.map(|(_, policy)| policy.clone())
            .or_else(|| policies::named(name))
    }

    /// The policy as this scenario runs it: with the overrides on top.
    #[must_use]
    pub fn overridden(&self, policy: &RetryPolicy) -> RetryPolicy {
        let mut builder = policy.to_builder();
        if let Some(retries) = self.overrides.max_retries {
            builder = builder.max_retries(retries);
        }
        if self.overrides.no_retry_budget {
            builder = builder.retry_budget(None);
        }
        // Neither figure hangs on another, so a policy that was built is built again.
        builder.build().unwrap_or_else(|_| policy.clone())
    }

    /// Calls of one run with this many clients.
    pub(crate) fn calls(&self, clients: u32) -> u64 {
        u64::from(clients) * u64::from(self.fleet.calls)
    }
}

/// How the server is thought of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// One row that clients read and write if nobody else has since.
    Occ,
    Server,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fleet {
    pub(crate) clients: Vec<u32>,
    pub(crate) start_within: u64,
    pub(crate) calls: u32,
    pub(crate) every: u64,
    pub(crate) shared_by: SharedBy,
    pub(crate) shared_pause: bool,
}

/// Who shares a retry budget and a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedBy {
    Client,
    Fleet,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Server {
    /// One way, above zero.
    pub(crate) latency: u64,
    pub(crate) latency_sd: u64,
    pub(crate) service: u64,
    pub(crate) capacity: Capacity,
    pub(crate) queue: u64,
    pub(crate) limiter: Option<Limiter>,
    pub(crate) timeout: Option<u64>,
    /// At least one; the first is the scenario's own, each further one a run of its own.
    pub(crate) failure_rates: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Capacity {
    Unlimited,
    /// Calls per second.
    PerSecond(f64),
    /// The fleet's own traffic, as a share of the capacity.
    Load(f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limiter {
    pub(crate) per_second: f64,
    pub(crate) burst: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outage {
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) kind: OutageKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OutageKind {
    /// Every call gets a 503.
    Status,
    /// No connection comes about.
    Refuse,
    /// No answer comes.
    Hang,
    /// This share of the capacity is left.
    Slow(f64),
}

/// What is set on every policy, so that only the rest is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overrides {
    pub(crate) max_retries: Option<u32>,
    pub(crate) no_retry_budget: bool,
}
