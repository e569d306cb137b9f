//! The program from outside: the built binary, real sockets, and waits of a millisecond.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop like the tests do"
)]

mod answers;
mod ask;
mod batch;
mod chat;
mod completions;
mod events;
mod exit;
mod explain;
mod help;
mod hostile;
mod json;
mod models;
mod pipes;
mod policy;
mod proxies;
mod raw;
mod retries;
mod sandbox;
mod schedule;
mod settings;
mod signals;
mod simulate;
mod support;
