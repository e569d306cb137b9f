//! `skyl schedule`: what a policy does to the time of a call, before it does it.

mod draw;
mod table;

use serde::Serialize;

use crate::args::ScheduleArgs;
use crate::env::Env;
use crate::failure::Failure;
use crate::json::Millis;
use crate::settings;
use crate::stdout::{Form, Stdout};

use self::table::Table;

/// Prints the table.
pub(crate) fn run(
    args: &ScheduleArgs,
    env: &Env,
    form: Form,
    stdout: &Stdout,
) -> Result<(), Failure> {
    let policy = settings::policy(&args.policy, env)?;
    let table = Table::of(&policy);
    match form {
        Form::Json => stdout.object(&object(&policy, &table)),
        Form::Text => stdout.text(&draw::draw(&policy, &table)),
    }
}

fn object(policy: &skyl_retry::RetryPolicy, table: &Table) -> ScheduleObject {
    let retries = table
        .rows
        .iter()
        .zip(0_u32..)
        .map(|(row, retry)| RetryObject {
            retry,
            ceiling_ms: Millis(row.ceiling),
            mean_ms: Millis(row.mean),
            p50_ms: Millis(row.p50),
            p95_ms: Millis(row.p95),
            p99_ms: Millis(row.p99),
        });
    ScheduleObject {
        max_retries: policy.max_retries(),
        jitter: policy.jitter().to_string(),
        retries: retries.collect(),
        mean_total_ms: Millis(table.mean_total),
        worst_total_ms: Millis(table.worst_total),
        max_retry_after_ms: policy
            .honor_retry_after()
            .then(|| Millis(policy.max_retry_after())),
        budget_ms: policy.budget().map(Millis),
    }
}

/// The one object of the command.
#[derive(Debug, Serialize)]
struct ScheduleObject {
    max_retries: u32,
    jitter: String,
    retries: Vec<RetryObject>,
    mean_total_ms: Millis,
    worst_total_ms: Millis,
    /// Null where the server's wait is not honoured.
    max_retry_after_ms: Option<Millis>,
    /// Null where the time budget is unlimited.
    budget_ms: Option<Millis>,
}

/// The wait before one retry, counted from 0.
#[derive(Debug, Serialize)]
struct RetryObject {
    retry: u32,
    ceiling_ms: Millis,
    mean_ms: Millis,
    p50_ms: Millis,
    p95_ms: Millis,
    p99_ms: Millis,
}
