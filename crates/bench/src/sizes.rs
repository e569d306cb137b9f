//! How large the futures are that callers keep, in bytes.
//!
//! A future lies in its caller's own future, and so on up to a task: what is large at the bottom
//! is moved and kept by everybody above it.

use std::future::ready;

use backon::Retryable as _;
use skyl_retry::{Failure, FailureClass, RetryPolicy, TokioClock, retry};

use crate::client::{skyl_client, skyl_request};
use crate::markdown::markdown;
use crate::measure::Bench;

/// Prints the table; there is nothing to run.
pub(crate) fn run(_: &Bench) -> String {
    let policy = RetryPolicy::fleet();
    let clock = TokioClock::new();
    let driver = retry(&policy, &clock).run(
        |_| ready(Ok::<u64, ()>(1)),
        |()| Failure::new(FailureClass::Server),
    );
    let backon = (|| ready(Ok::<u64, ()>(1))).retry(backon::ExponentialBuilder::default());
    let tokio_retry = tokio_retry::Retry::start(
        tokio_retry::strategy::ExponentialBackoff::from_millis(10),
        || ready(Ok::<u64, ()>(1)),
    );
    let client = skyl_client("http://127.0.0.1:9");
    let request = skyl_request();
    let rows = [
        (
            "skyl-retry, around a call of 16 bytes",
            size_of_val(&driver),
        ),
        ("backon, around the same", size_of_val(&backon)),
        ("tokio-retry, around the same", size_of_val(&tokio_retry)),
        ("skyl, `complete`", size_of_val(&client.complete(&request))),
        ("skyl, `stream`", size_of_val(&client.stream(&request))),
        ("skyl, an open stream", size_of::<skyl::ResponseStream>()),
    ];
    let rows = rows.map(|(name, bytes)| vec![name.to_owned(), bytes.to_string()]);
    markdown(
        "Futures",
        &[String::new(), "bytes".to_owned()],
        &rows.to_vec(),
    )
}
