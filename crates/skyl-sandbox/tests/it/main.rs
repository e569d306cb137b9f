//! The sandbox over real sockets, spoken to byte by byte: no HTTP library stands between a test
//! and what was sent.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests stop like the tests do"
)]

mod control;
mod exchange;
mod faults;
mod hangup;
mod journal;
mod limits;
mod mounts;
mod stream;
mod support;
mod tls;
mod typesafe;
mod typesafe_shapes;
