//! The client over real sockets: against the sandbox, and against raw servers for what no provider
//! would do on purpose. Waits run on a manual clock, so that no test waits.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests are tests too: a step that fails ends them"
)]

mod accents;
mod agreement;
mod bodies;
mod builder;
mod cancel;
mod clocks;
mod errors;
mod hints;
mod hooks;
mod logs;
mod models;
mod options;
mod raw;
mod reports;
mod retries;
mod sandbox;
mod secrets;
mod streams;
mod support;
mod system_one;
mod timeouts;
mod tls;
mod transport;
