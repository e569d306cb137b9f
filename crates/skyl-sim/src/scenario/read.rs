//! From a file to a scenario.

use std::ops::RangeInclusive;
use std::time::Duration;

use skyl_retry::RetryPolicy;

use crate::number::{float, nanos};
use crate::policies;
use crate::scenario::section::{Section, Value};
use crate::scenario::{
    Capacity, Fleet, InvalidScenario, Limiter, Model, Outage, OutageKind, Overrides, Scenario,
    Server, SharedBy,
};

pub(super) fn scenario(name: &str, text: &str) -> Result<Scenario, InvalidScenario> {
    let mut root = Section::root(text)?;
    let title = root
        .take("title")
        .map_or(Ok(name.to_owned()), |v| v.string())?;
    let about = root
        .take("about")
        .map_or(Ok(String::new()), |v| v.string())?;
    let model = root.take("model").map_or(Ok(Model::Server), |value| {
        value.word(&[("server", Model::Server), ("occ", Model::Occ)])
    })?;
    let seeds = root
        .take("seeds")
        .map_or(Ok(1), |v| v.count(1..=MOST_SEEDS))?;
    let horizon = root
        .take("horizon")
        .map_or(Ok(nanos(HOUR)), |v| v.length(MOMENT..=WEEK))?;
    let wanted = root.take("policies");
    let fleet = fleet(root.table("fleet")?)?;
    let server = server(root.table("server")?, model)?;
    let outage = outage(root.table("outage")?, &server, model)?;
    let hint = hint(root.table("hint")?)?;
    let overrides = overrides(root.table("overrides")?)?;
    let mut own: Vec<(String, RetryPolicy)> = Vec::new();
    for (name, value) in root.table("policy")?.rest() {
        own.push((name, value.policy()?));
    }
    let policies = match wanted {
        Some(wanted) => policies_of(wanted, &own)?,
        None => vec!["chat".to_owned(), "fleet".to_owned()],
    };
    root.finish()?;
    Ok(Scenario {
        name: name.to_owned(),
        title,
        about,
        model,
        fleet,
        server,
        outage,
        hint,
        policies,
        own,
        overrides,
        seeds,
        horizon,
    })
}

fn policies_of(
    wanted: Value<'_>,
    own: &[(String, RetryPolicy)],
) -> Result<Vec<String>, InvalidScenario> {
    let mut names: Vec<String> = Vec::new();
    for value in wanted.one_or_many()? {
        let name = value.string()?;
        let known = own.iter().any(|(own, _)| *own == name) || policies::named(&name).is_some();
        if !known {
            let all = policies::POLICY_NAMES.join(", ");
            return Err(value.refuse(&format!("must be a [policy.NAME] here, or one of {all}")));
        }
        if names.contains(&name) {
            return Err(value.refuse("must be there once"));
        }
        names.push(name);
    }
    Ok(names)
}

fn fleet(mut section: Section<'_>) -> Result<Fleet, InvalidScenario> {
    let mut clients = Vec::new();
    for value in section.need("clients")?.one_or_many()? {
        clients.push(value.count(1..=MOST_CLIENTS)?);
    }
    let start_within = section.take("start_within").map_or(Ok(0), any_length)?;
    let calls = section.take("calls");
    let count = calls.as_ref().map_or(Ok(1), |v| v.count(1..=MOST_CALLS))?;
    let every = section.take("every");
    let every = match (&every, &calls) {
        (Some(every), Some(_)) => every.length(MOMENT..=WEEK)?,
        (Some(every), None) => return Err(every.refuse("means nothing without `fleet.calls`")),
        (None, Some(calls)) if count > 1 => {
            return Err(calls.refuse("needs `fleet.every` beside it"));
        }
        (None, _) => 0,
    };
    if let (Some(calls), Some(most)) = (&calls, clients.iter().max())
        && u64::from(*most) * u64::from(count) > MOST_CALLS_IN_A_RUN
    {
        return Err(calls.refuse("must make at most 50000000 calls with all clients"));
    }
    let shared_by = section
        .take("budget_shared_by")
        .map_or(Ok(SharedBy::Client), |value| {
            value.word(&[("client", SharedBy::Client), ("fleet", SharedBy::Fleet)])
        })?;
    let shared_pause = section
        .take("shared_pause")
        .map_or(Ok(false), |v| v.switch())?;
    section.finish()?;
    Ok(Fleet {
        clients,
        start_within,
        calls: count,
        every,
        shared_by,
        shared_pause,
    })
}

fn server(mut section: Section<'_>, model: Model) -> Result<Server, InvalidScenario> {
    // Above zero, so that even a client that never waits moves the time.
    let latency = section
        .take("latency")
        .map_or(Ok(nanos(DEFAULT_LATENCY)), |v| {
            v.length(LEAST_LATENCY..=WEEK)
        })?;
    let mut server = Server {
        latency,
        latency_sd: 0,
        service: 0,
        capacity: Capacity::Unlimited,
        queue: 0,
        limiter: None,
        timeout: None,
        failure_rates: vec![0.0],
    };
    if model == Model::Occ {
        server.latency_sd = section.take("latency_sd").map_or(Ok(0), any_length)?;
        section.finish()?;
        return Ok(server);
    }
    server.service = section.take("service").map_or(Ok(0), any_length)?;
    let (load, capacity) = (section.take("load"), section.take("capacity"));
    server.capacity = match (load, capacity) {
        (Some(load), Some(_)) => return Err(load.refuse("goes with no `server.capacity`")),
        (Some(load), None) => Capacity::Load(load.number(0.001..=1000.0)?),
        (None, Some(capacity)) => Capacity::PerSecond(capacity.number(RATES)?),
        (None, None) => Capacity::Unlimited,
    };
    server.queue = section.take("queue").map_or(Ok(0), any_length)?;
    let rate = section.take("rate").map(|v| v.number(RATES)).transpose()?;
    let burst = section.take("burst");
    server.limiter = match (rate, burst) {
        (Some(per_second), burst) => Some(Limiter {
            per_second,
            burst: burst.map_or(Ok(per_second.max(1.0)), |v| v.number(1.0..=1e9))?,
        }),
        (None, Some(burst)) => return Err(burst.refuse("means nothing without `server.rate`")),
        (None, None) => None,
    };
    server.timeout = section
        .take("timeout")
        .map(|v| v.length(LEAST_LATENCY..=WEEK))
        .transpose()?;
    if let Some(rates) = section.take("failure_rate") {
        server.failure_rates.clear();
        for rate in rates.one_or_many()? {
            server.failure_rates.push(rate.number(0.0..=1.0)?);
        }
    }
    section.finish()?;
    Ok(server)
}

fn outage(
    mut section: Section<'_>,
    server: &Server,
    model: Model,
) -> Result<Option<Outage>, InvalidScenario> {
    if !section.is_there() {
        return Ok(None);
    }
    let from = section.need("from")?;
    if model == Model::Occ {
        return Err(from.refuse("the model occ knows no outage"));
    }
    let from = from.length(Duration::ZERO..=WEEK)?;
    let length = section.need("length")?.length(MOMENT..=WEEK)?;
    let kind = section.take("kind");
    let capacity = section.take("capacity");
    let share = capacity
        .as_ref()
        .map_or(Ok(0.5), |v| v.number(0.001..=1.0))?;
    let outage = kind.as_ref().map_or(Ok(OutageKind::Status), |value| {
        value.word(&[
            ("status", OutageKind::Status),
            ("refuse", OutageKind::Refuse),
            ("hang", OutageKind::Hang),
            ("slow", OutageKind::Slow(share)),
        ])
    })?;
    match (outage, &kind, &capacity) {
        (OutageKind::Hang, Some(kind), _) if server.timeout.is_none() => {
            return Err(kind.refuse("needs a `server.timeout`, or nobody ever notices"));
        }
        (OutageKind::Slow(_), Some(kind), _) if server.capacity == Capacity::Unlimited => {
            return Err(kind.refuse("needs a `server.capacity` or `server.load`"));
        }
        (OutageKind::Slow(_), ..) => {}
        (_, _, Some(capacity)) => return Err(capacity.refuse("goes with `kind = \"slow\"` alone")),
        _ => {}
    }
    section.finish()?;
    Ok(Some(Outage {
        from,
        until: from.saturating_add(length),
        kind: outage,
    }))
}

fn hint(mut section: Section<'_>) -> Result<Option<u64>, InvalidScenario> {
    if !section.is_there() {
        return Ok(None);
    }
    let wait = any_length(section.need("wait")?)?;
    section.finish()?;
    Ok(Some(wait))
}

fn overrides(mut section: Section<'_>) -> Result<Overrides, InvalidScenario> {
    let max_retries = section.take("max_retries").map(|value| {
        let unlimited = value.string().is_ok_and(|word| word == "unlimited");
        if unlimited {
            Ok(u32::MAX)
        } else {
            retries(&value)
        }
    });
    let off = |value: Value<'_>| value.word(&[("off", true)]);
    let no_retry_budget = section.take("retry_budget").map_or(Ok(false), off)?;
    section.finish()?;
    Ok(Overrides {
        max_retries: max_retries.transpose()?,
        no_retry_budget,
    })
}

fn retries(value: &Value<'_>) -> Result<u32, InvalidScenario> {
    value
        .count(0..=u32::MAX)
        .map_err(|_| value.refuse("must be \"unlimited\" or a whole number from 0"))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands where readers stand"
)]
fn any_length(value: Value<'_>) -> Result<u64, InvalidScenario> {
    value.length(Duration::ZERO..=WEEK)
}

impl Capacity {
    /// Calls per second, for a fleet of this traffic; `None` without a limit.
    pub(crate) fn per_second(self, traffic: f64) -> Option<f64> {
        match self {
            Self::Unlimited => None,
            Self::PerSecond(capacity) => Some(capacity),
            Self::Load(load) => Some((traffic / load).max(LEAST_CAPACITY)),
        }
    }
}

impl Fleet {
    /// The calls per second that a fleet of this size starts.
    pub(crate) fn traffic(&self, clients: u32) -> f64 {
        let time = if self.calls > 1 {
            self.every
        } else {
            self.start_within
        };
        // All at once is a second's worth: a rate needs some length of time.
        let time = if time == 0 { nanos(SECOND) } else { time };
        f64::from(clients) * 1e9 / float(time)
    }
}

const MOMENT: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);
/// The longest duration a client takes, too.
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A region away.
const DEFAULT_LATENCY: Duration = Duration::from_millis(25);
const LEAST_LATENCY: Duration = Duration::from_micros(10);

const RATES: RangeInclusive<f64> = 0.001..=1e9;
const LEAST_CAPACITY: f64 = 0.001;

const MOST_SEEDS: u32 = 100_000;
const MOST_CLIENTS: u32 = 50_000_000;
const MOST_CALLS: u32 = 1_000_000;
/// About 2 GB with everything around them.
const MOST_CALLS_IN_A_RUN: u64 = 50_000_000;
