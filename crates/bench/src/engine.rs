//! The engine beside its peers: the call that succeeds at once, and the decision after a failure.
//!
//! Each contender is set up as its own documentation shows, with jitter, and with a retry budget
//! where it has one. The runtime is Tokio's current-thread one for all.

#[cfg(feature = "peers")]
mod peers;

use std::future::{Future, ready};
use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use backon::{BackoffBuilder as _, Retryable as _};
use skyl_retry::{
    Facts, Failure, FailureClass, Hint, RetryBudget, RetryPolicy, Rng, TokioClock, decide, retry,
};
use tokio::runtime::Runtime;
use tower::retry::backoff::{Backoff as _, ExponentialBackoffMaker, MakeBackoff as _};
use tower::retry::budget::{Budget as _, TpsBudget};
use tower::util::rng::HasherRng;
use tower::{Service, ServiceExt as _};

use crate::measure::{Bench, Contender, Stopwatch, Subject};

/// Measures and prints both tables.
pub(crate) fn run(bench: &Bench) -> String {
    let mut out = happy_path(bench);
    out.push('\n');
    out.push_str(&decision(bench));
    out
}

fn happy_path(bench: &Bench) -> String {
    let runtime = runtime();
    let policy = RetryPolicy::fleet();
    let clock = TokioClock::new();
    let budget = budget(&policy);
    let tps = Arc::new(TpsBudget::default());

    let subject = Subject {
        title: "Engine, first attempt succeeds",
        unit: "call",
        iterations: 1_000_000,
        bytes: None,
        clock: Stopwatch::Wall,
        note: HAPPY_PATH,
    };
    #[cfg_attr(not(feature = "peers"), expect(unused_mut, reason = "peers are added"))]
    let mut contenders = vec![
        Contender::new("skyl-retry, retry budget on", |n| {
            runtime.block_on(async {
                for i in 0..n {
                    let answer = retry(&policy, &clock)
                        .budget(&*budget)
                        .run(|_| work(i), |()| Failure::new(FailureClass::Server))
                        .await;
                    keep(answer);
                }
            });
        }),
        Contender::new("bare await", |n| {
            runtime.block_on(async {
                for i in 0..n {
                    keep(work(i).await);
                }
            });
        }),
        Contender::new("backon", |n| {
            let strategy = backon::ExponentialBuilder::default().with_jitter();
            runtime.block_on(async {
                for i in 0..n {
                    keep((|| work(i)).retry(strategy).await);
                }
            });
        }),
        Contender::new("tokio-retry", |n| {
            runtime.block_on(async {
                for i in 0..n {
                    let strategy = tokio_retry_strategy();
                    keep(tokio_retry::Retry::start(strategy, || work(i)).await);
                }
            });
        }),
        Contender::new("tower Retry, TpsBudget", |n| {
            let mut service = tower::retry::Retry::new(
                Budgeted {
                    budget: tps.clone(),
                },
                Work,
            );
            runtime.block_on(async {
                for i in 0..n {
                    let Ok(ready) = service.ready().await else {
                        return;
                    };
                    keep(ready.call(i).await);
                }
            });
        }),
    ];
    #[cfg(feature = "peers")]
    contenders.extend(peers::happy_path(&runtime));
    bench.compare(subject, contenders)
}

fn decision(bench: &Bench) -> String {
    let runtime = runtime();
    let policy = RetryPolicy::fleet();
    let failure = Failure::new(FailureClass::Server).with_status(503);
    let hinted = Failure::new(FailureClass::Throttled)
        .with_status(429)
        .with_hint(Hint::Wait(Duration::from_secs(1)));
    let budget = budget(&policy);
    let mut rng = Rng::from_seed(1);
    let mut third_rng = Rng::from_seed(3);
    let mut other_rng = Rng::from_seed(2);
    let tps = TpsBudget::default();
    let mut backon_delays = backon::ExponentialBuilder::default()
        .with_jitter()
        .without_max_times()
        .build();
    let mut tokio_delays = tokio_retry_strategy();

    // Every contender draws a jittered delay; skyl and tower also ask their budget, which is kept
    // from running dry by a deposit for each withdrawal.
    let subject = Subject {
        title: "Engine, decision with jitter after a failure",
        unit: "decision",
        iterations: 1_000_000,
        bytes: None,
        clock: Stopwatch::Wall,
        note: DECISION,
    };
    #[cfg_attr(not(feature = "peers"), expect(unused_mut, reason = "peers are added"))]
    let mut contenders = vec![
        Contender::new("skyl-retry, with its budget", |n| {
            for i in 0..n {
                budget.deposit();
                let facts = Facts::new(u32::try_from(i % 3).unwrap_or(0));
                let verdict = decide(&policy, &failure, &facts, None, &mut rng, || {
                    black_box(&budget).withdraw(Duration::ZERO)
                });
                keep(verdict);
            }
        }),
        Contender::new("skyl-retry, no budget", |n| {
            for i in 0..n {
                let facts = Facts::new(u32::try_from(i % 3).unwrap_or(0));
                keep(decide(
                    &policy,
                    &failure,
                    &facts,
                    None,
                    &mut third_rng,
                    || true,
                ));
            }
        }),
        Contender::new("skyl-retry, server's wait with spread", |n| {
            for _ in 0..n {
                let facts = Facts::new(0);
                let verdict = decide(&policy, &hinted, &facts, None, &mut other_rng, || true);
                keep(verdict);
            }
        }),
        Contender::new("backon", |n| {
            for _ in 0..n {
                black_box(backon_delays.next());
            }
        }),
        Contender::new("tokio-retry", |n| {
            for _ in 0..n {
                black_box(tokio_delays.next());
                tokio_delays = tokio_retry_strategy();
            }
        }),
        Contender::new("tower ExponentialBackoff, TpsBudget", |n| {
            let mut maker = ExponentialBackoffMaker::new(
                Duration::from_millis(500),
                Duration::from_secs(30),
                0.99,
                HasherRng::new(),
            );
            // Its backoff makes a Tokio timer, so it needs a runtime.
            if let Ok(maker) = &mut maker {
                let mut backoff = maker.make_backoff();
                runtime.block_on(async {
                    for _ in 0..n {
                        tps.deposit();
                        black_box(tps.withdraw());
                        keep(backoff.next_backoff());
                    }
                });
            }
        }),
    ];
    #[cfg(feature = "peers")]
    contenders.extend(peers::decisions());
    bench.compare(subject, contenders)
}

/// The work whose retrying is measured: a future that is ready at once.
fn work(i: u64) -> impl Future<Output = Result<u64, ()>> {
    ready(black_box(Ok(i)))
}

fn tokio_retry_strategy() -> impl Iterator<Item = Duration> {
    tokio_retry::strategy::ExponentialBackoff::from_millis(10)
        .map(tokio_retry::strategy::jitter)
        .take(3)
}

fn budget(policy: &RetryPolicy) -> Arc<RetryBudget> {
    match RetryBudget::for_policy(policy) {
        Some(budget) => budget,
        None => unreachable!("the fleet's policy has a retry budget"),
    }
}

/// Makes the compiler believe that the value is used.
pub(crate) fn keep<T>(value: T) {
    drop(black_box(Some(value)));
}

#[expect(
    clippy::expect_used,
    reason = "a measurement without a runtime is no measurement"
)]
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// What is compared, where retrying costs next to nothing.
const HAPPY_PATH: &str = "\
The work is a future that is ready at once: what is left is what the engine adds to a call that needs
no retry. A middleware and the runtime of the AWS SDK cannot be had without their surroundings; each
stands in two rows, and what its retries cost is the difference.";

/// What is compared after a failure.
const DECISION: &str = "\
Every contender draws a jittered delay. skyl and tower ask their retry budget too, which gets a deposit
for every withdrawal so that it does not run dry; the others have none.";

/// tower's service and policy, as its documentation shows them.
#[derive(Clone)]
struct Work;

impl Service<u64> for Work {
    type Response = u64;
    type Error = ();
    type Future = std::future::Ready<Result<u64, ()>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, i: u64) -> Self::Future {
        ready(black_box(Ok(i)))
    }
}

#[derive(Clone)]
struct Budgeted {
    budget: Arc<TpsBudget>,
}

impl tower::retry::Policy<u64, u64, ()> for Budgeted {
    type Future = std::future::Ready<()>;

    fn retry(&mut self, _: &mut u64, result: &mut Result<u64, ()>) -> Option<Self::Future> {
        match result {
            Ok(_) => {
                self.budget.deposit();
                None
            }
            Err(()) => self.budget.withdraw().then(|| ready(())),
        }
    }

    fn clone_request(&mut self, request: &u64) -> Option<u64> {
        Some(*request)
    }
}
