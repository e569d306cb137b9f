//! What a retry policy does to a provider: a fleet of clients in virtual time.
//!
//! A retry that helps one caller can drown the server all callers need. This crate shows it before
//! it happens: a fleet of clients meets a blip, a shared `Retry-After`, a brown-out, and every
//! decision on the way is the engine's own [`skyl_retry::decide`], never a copy of it.
//!
//! ```
//! use skyl_sim::{Plan, Recovery, Scenario, Watch};
//!
//! let scenario = Scenario::builtin("metastable").ok_or("no such scenario")?;
//! let report = Plan::new(&scenario).run(&Watch::new())?;
//! let row = |name: &str| report.rows.iter().find(|row| row.policy == name);
//! // The trigger is long gone, and retries alone keep the service down.
//! assert_eq!(row("exponential").ok_or("no row")?.recovery, Recovery::Never);
//! assert!(matches!(row("fleet").ok_or("no row")?.recovery, Recovery::AfterMs(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why this way
//!
//! Events in virtual time: a run of an hour takes milliseconds and waits for nothing. A run is a
//! function of its scenario, its policy and its seed; the same seed gives the same figures, byte for
//! byte, on any number of threads. Two policies under one seed meet the same luck.
//!
//! A call costs 32 bytes and each event about the same whatever the size of the fleet, so a million
//! clients are a thousand times the work of a thousand and no more.
//!
//! # What it refuses to do
//!
//! No wall clock, no sleeping, no sockets. It does not predict a particular provider: it compares
//! policies under one model, and the model is on one page (`scenario`).

mod calls;
mod html;
mod measure;
mod model;
mod number;
mod plan;
mod plot;
mod policies;
mod queue;
mod random;
mod report;
pub mod scenario;
mod tally;

pub use crate::html::html;
pub use crate::measure::Recovery;
pub use crate::plan::{NotRun, Plan, Watch};
pub use crate::plot::Picture;
pub use crate::policies::{POLICY_NAMES, named};
pub use crate::report::{CSV_HEADER, Ends, Mean, Report, Row};
pub use crate::scenario::{BUILTIN_NAMES, InvalidScenario, Scenario};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
