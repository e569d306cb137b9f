//! System One over real sockets.

mod answers;
mod failures;
mod hints;
mod page;
mod retries_and_budgets;
mod setup;
mod support;
mod twice;
