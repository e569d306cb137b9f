//! All runs of a comparison: policies × fleet sizes × failure rates × seeds.
//!
//! A run is single-threaded and a function of its seed; runs are spread over threads, and come
//! together in the order of the plan. So the figures do not depend on the number of threads.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use skyl_retry::RetryPolicy;

use crate::measure::Measured;
use crate::model::{CalledOff, Patience, occ, server};
use crate::number::{float, index};
use crate::random::Luck;
use crate::report::{Report, Row};
use crate::scenario::{Model, Scenario};
use crate::tally::Timeline;

/// What is to be run.
///
/// ```
/// use skyl_sim::{Plan, Scenario, Watch};
///
/// let blip = Scenario::builtin("blip").ok_or("no such scenario")?;
/// let report = Plan::new(&blip).seed(7).run(&Watch::new())?;
/// let fleet = report.rows.iter().find(|row| row.policy == "fleet").ok_or("no such row")?;
/// assert!(fleet.goodput > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a plan does nothing until `run`"]
pub struct Plan<'a> {
    scenario: &'a Scenario,
    policies: Vec<(String, RetryPolicy)>,
    clients: Vec<u32>,
    seeds: u32,
    seed: u64,
}

impl<'a> Plan<'a> {
    /// The scenario's own policies, fleet sizes and number of seeds; the first seed is 1.
    pub fn new(scenario: &'a Scenario) -> Self {
        let policies = scenario.policies().iter();
        Self {
            scenario,
            policies: policies
                .filter_map(|name| Some((name.clone(), scenario.policy(name)?)))
                .collect(),
            clients: scenario.clients().to_vec(),
            seeds: scenario.seeds(),
            seed: 1,
        }
    }

    /// Sets the policies, each with the name its row bears.
    pub fn policies(mut self, policies: Vec<(String, RetryPolicy)>) -> Self {
        self.policies = policies;
        self
    }

    /// Sets the fleet sizes.
    pub fn clients(mut self, clients: Vec<u32>) -> Self {
        self.clients = clients;
        self
    }

    /// Sets the runs per policy and fleet size; 0 counts as 1. Default: the scenario's.
    pub fn seeds(mut self, seeds: u32) -> Self {
        self.seeds = seeds.max(1);
        self
    }

    /// Sets the first seed; each further run of a row takes the next one. Default: 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Runs everything, on as many threads as the machine has; blocks until it is done.
    ///
    /// # Errors
    /// [`NotRun`] if a fleet has no clients or makes too many calls, or if `watch` called it off.
    pub fn run(&self, watch: &Watch) -> Result<Report, NotRun> {
        self.check()?;
        let jobs = self.jobs();
        let total: u64 = jobs
            .iter()
            .map(|job| self.scenario.calls(job.clients))
            .sum();
        watch.total.store(total.max(1), Relaxed);
        watch.done.store(0, Relaxed);
        let results: Mutex<Vec<Option<Measured>>> = Mutex::new(vec![None; jobs.len()]);
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.threads() {
                scope.spawn(|| {
                    while let Some((at, job)) = claim(&next, &jobs) {
                        let Ok(measured) = self.job(job, watch) else {
                            return;
                        };
                        watch
                            .done
                            .fetch_add(self.scenario.calls(job.clients), Relaxed);
                        // Nothing panics under the lock.
                        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                        results[at] = Some(measured);
                    }
                });
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let results: Option<Vec<Measured>> = results.into_iter().collect();
        let results = results.ok_or(NotRun::CalledOff)?;
        let seeds = index(u64::from(self.seeds));
        let rows = jobs.chunks(seeds).zip(results.chunks(seeds));
        Ok(Report {
            scenario: self.scenario.clone(),
            rows: rows
                .map(|(jobs, runs)| {
                    Row::of(
                        self.scenario,
                        &self.policies[jobs[0].policy].0,
                        jobs[0],
                        runs,
                    )
                })
                .collect(),
        })
    }

    fn check(&self) -> Result<(), NotRun> {
        for clients in &self.clients {
            if *clients == 0 || self.scenario.calls(*clients) > MOST_CALLS {
                return Err(NotRun::FleetSize(*clients));
            }
        }
        Ok(())
    }

    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for rate in 0..self.scenario.server.failure_rates.len() {
            for clients in &self.clients {
                for policy in 0..self.policies.len() {
                    jobs.extend((0..self.seeds).map(|run| Job {
                        rate,
                        clients: *clients,
                        policy,
                        run,
                    }));
                }
            }
        }
        jobs
    }

    fn job(&self, job: &Job, watch: &Watch) -> Result<Measured, CalledOff> {
        let policy = self.scenario.overridden(&self.policies[job.policy].1);
        let luck = Luck::new(self.seed.wrapping_add(u64::from(job.run)));
        let called_off = || watch.called_off.load(Relaxed);
        if called_off() {
            return Err(CalledOff);
        }
        let mut patience = Patience::new(&called_off);
        let tally = match self.scenario.model {
            Model::Occ => occ::run(self.scenario, &policy, job.clients, luck, &mut patience),
            Model::Server => {
                let rate = self.scenario.server.failure_rates[job.rate];
                server::run(
                    self.scenario,
                    &policy,
                    job.clients,
                    rate,
                    luck,
                    &mut patience,
                )
            }
        }?;
        let mut measured = Measured::of(tally, self.scenario.outage.as_ref());
        if job.run > 0 {
            // Pictures show the first run; the others are figures alone.
            measured.timeline = Timeline::default();
        }
        Ok(measured)
    }

    /// As many as the machine has, and fewer where the runs would not fit into memory together.
    fn threads(&self) -> usize {
        let largest = self
            .clients
            .iter()
            .map(|clients| self.scenario.calls(*clients))
            .max();
        let fit = MOST_CALLS_AT_ONCE / largest.unwrap_or(1).max(1);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        cores.min(index(fit.max(1)))
    }
}

/// One run of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) rate: usize,
    pub(crate) clients: u32,
    policy: usize,
    run: u32,
}

fn claim<'j>(next: &AtomicUsize, jobs: &'j [Job]) -> Option<(usize, &'j Job)> {
    let at = next.fetch_add(1, Relaxed);
    Some((at, jobs.get(at)?))
}

/// A look at a plan that runs elsewhere, and the way to call it off.
#[derive(Debug, Default)]
pub struct Watch {
    called_off: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Watch {
    /// Nothing done, nothing called off.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the plan at once, without a report.
    pub fn call_off(&self) {
        self.called_off.store(true, Relaxed);
    }

    /// The share of the work that is done, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f64 {
        match self.total.load(Relaxed) {
            0 => 0.0,
            total => float(self.done.load(Relaxed)) / float(total),
        }
    }
}

/// Why a plan gave no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotRun {
    /// Somebody called it off.
    CalledOff,
    /// This number of clients is none, or makes more calls than a run can hold.
    FleetSize(u32),
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CalledOff => f.write_str("called off"),
            Self::FleetSize(clients) => write!(
                f,
                "a fleet of {clients} cannot be run: there must be at least one client, and all \
                 together make at most {MOST_CALLS} calls"
            ),
        }
    }
}

impl Error for NotRun {}

/// About 2 GB of calls.
const MOST_CALLS: u64 = 50_000_000;

/// About 800 MB on all threads together.
const MOST_CALLS_AT_ONCE: u64 = 10_000_000;
