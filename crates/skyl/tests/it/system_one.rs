//! System One over real sockets.

mod hints;
mod retries_and_budgets;
mod support;
mod twice;
