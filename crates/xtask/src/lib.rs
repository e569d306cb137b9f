//! The checks behind `cargo xtask`, as functions that tests can call.
//!
//! What is here: the table of steps ([`steps`]), the loop that runs them ([`run`]), and the checks
//! that need no outside tool: layout, sources, bug reports, licences, duplicate versions, tree sizes. Each
//! check is a pure function from what was read to a list of problems, so that a test can show it
//! firing and not firing; an empty list means nothing is wrong.
//!
//! Why this way: the one gate must run on a fresh machine, so it is built from this workspace and
//! three small dependencies, and everything it runs is printed as a command a person can paste.
//!
//! What it refuses to do: it installs nothing outside the Rust toolchain and `target/`, Python on a
//! Debian machine without one aside; it changes no source file, and knows nothing that a step could
//! not find out from the workspace itself.

pub mod duplicates;
pub mod fuzz;
pub mod layout;
pub mod licences;
pub mod metadata;
pub mod python;
pub mod reports;
pub mod run;
pub mod setup;
pub mod sources;
pub mod steps;
pub mod trees;
