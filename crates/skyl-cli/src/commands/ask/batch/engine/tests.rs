use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use skyl_retry::TokioClock;
use tokio::sync::{Semaphore, oneshot};

use super::*;
use crate::commands::ask::batch::record::Tally;
use crate::commands::ask::batch::store::Totals;
use crate::stderr::{Look, page};

/// What happens to lines, and what has happened.
#[derive(Default)]
struct World {
    /// Lines that wait until they are let go.
    held: HashMap<u64, Arc<Semaphore>>,
    asked: Mutex<Vec<(u64, Duration)>>,
    flight: AtomicUsize,
    most: AtomicUsize,
}

/// A run over lines `1..=last`, kept in a folder of its own.
struct Run {
    concurrency: usize,
    pace: Pace,
    folder: PathBuf,
    world: Arc<World>,
    cost: Done,
}

impl Run {
    fn new(concurrency: usize) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("skyl-engine-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self {
            concurrency,
            pace: Pace::new(None, None),
            folder,
            world: Arc::default(),
            cost: Done {
                outcome: Outcome::Stopped,
                tokens: None,
                requests: 1,
            },
        }
    }

    fn hold(mut self, line: u64) -> Self {
        let world = Arc::get_mut(&mut self.world).unwrap();
        world.held.insert(line, Arc::new(Semaphore::new(0)));
        self
    }

    async fn over(
        &mut self,
        last: u64,
        stop: impl Future<Output = ()>,
    ) -> (Result<End, Failure>, Totals) {
        let (sender, lines) = mpsc::channel(1);
        let writer = async move {
            for number in 1..=last {
                let document = Ok(b"x".to_vec());
                if sender.send(Ok(Line { number, document })).await.is_err() {
                    return;
                }
            }
        };
        self.fed(lines, writer, stop).await
    }

    async fn fed(
        &mut self,
        lines: mpsc::Receiver<io::Result<Line>>,
        writer: impl Future<Output = ()>,
        stop: impl Future<Output = ()>,
    ) -> (Result<End, Failure>, Totals) {
        let out = self.folder.join("out");
        let mut store = Store::create(&out).unwrap();
        let look = Look {
            live: false,
            colour: false,
        };
        let progress = Progress::new(page(look).0, None);
        let clock = TokioClock::new();
        let engine = Engine {
            concurrency: self.concurrency,
            pace: std::mem::replace(&mut self.pace, Pace::new(None, None)),
            clock: &clock,
            store: &mut store,
            progress: &progress,
        };
        let (world, tokens, requests) = (self.world.clone(), self.cost.tokens, self.cost.requests);
        let ask = |line: Line| {
            let (world, now) = (world.clone(), clock.now());
            async move { answer(&world, line.number, now, tokens, requests).await }
        };
        let (ended, ()) = tokio::join!(engine.run(lines, stop, ask), writer);
        (ended, store.leave().unwrap())
    }

    fn asked(&self) -> Vec<u64> {
        let asked = self.world.asked.lock().unwrap();
        asked.iter().map(|(line, _)| *line).collect()
    }

    fn starts(&self) -> Vec<u128> {
        let asked = self.world.asked.lock().unwrap();
        asked.iter().map(|(_, at)| at.as_millis()).collect()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

async fn answer(
    world: &World,
    line: u64,
    now: Duration,
    tokens: Option<u64>,
    requests: u64,
) -> Result<Done, Failure> {
    world.asked.lock().unwrap().push((line, now));
    let flight = world.flight.fetch_add(1, Ordering::SeqCst) + 1;
    world.most.fetch_max(flight, Ordering::SeqCst);
    match world.held.get(&line) {
        Some(held) => drop(held.acquire().await.unwrap()),
        None => tokio::task::yield_now().await,
    }
    world.flight.fetch_sub(1, Ordering::SeqCst);
    let record = Record::new(line, &json!({"answers": {}}), Tally::default())?;
    Ok(Done {
        outcome: Outcome::Answered(record),
        tokens,
        requests,
    })
}

#[tokio::test]
async fn every_line_is_asked_once_and_no_more_than_so_many_at_a_time() {
    for concurrency in [1, 3, 64] {
        let mut run = Run::new(concurrency);
        let (ended, totals) = run.over(50, std::future::pending()).await;
        assert_eq!(ended.unwrap(), End::Whole);
        assert_eq!(totals.answered, 50);
        assert_eq!(run.asked(), (1..=50).collect::<Vec<_>>());
        assert!(run.world.most.load(Ordering::SeqCst) <= concurrency);
    }
}

#[tokio::test(start_paused = true)]
async fn one_slow_line_holds_back_all_but_four_times_the_concurrency() {
    let mut run = Run::new(5).hold(1);
    let world = run.world.clone();
    let clock = TokioClock::new();
    let later = async {
        clock.sleep(Duration::from_secs(1)).await;
        let asked = world.asked.lock().unwrap().len();
        assert_eq!(asked, 20);
        world.held[&1].add_permits(1);
        std::future::pending::<()>().await;
    };
    let (ended, totals) = run.over(100, later).await;
    assert_eq!((ended.unwrap(), totals.answered), (End::Whole, 100));
}

#[tokio::test(start_paused = true)]
async fn lines_start_when_the_limiter_lets_them() {
    let mut run = Run::new(8);
    run.pace = Pace::new(std::num::NonZeroU32::new(60), None);
    run.over(4, std::future::pending()).await.0.unwrap();
    assert_eq!(run.starts(), [0, 1000, 2000, 3000]);
}

#[tokio::test(start_paused = true)]
async fn retries_and_tokens_are_paid_for_afterwards() {
    // With one line at a time each is paid for before the next one is read.
    let mut run = Run::new(1);
    run.pace = Pace::new(std::num::NonZeroU32::new(60), None);
    run.cost.requests = 3;
    run.over(3, std::future::pending()).await.0.unwrap();
    assert_eq!(run.starts(), [0, 3000, 6000]);
    let mut run = Run::new(1);
    run.pace = Pace::new(None, std::num::NonZeroU32::new(1000));
    run.cost.tokens = Some(2500);
    run.over(3, std::future::pending()).await.0.unwrap();
    assert_eq!(run.starts(), [0, 2500, 5000]);
}

#[tokio::test]
async fn what_was_refused_before_it_was_sent_costs_nothing() {
    let mut run = Run::new(1);
    run.pace = Pace::new(std::num::NonZeroU32::new(1), std::num::NonZeroU32::new(1));
    run.cost.requests = 0;
    run.over(20, std::future::pending()).await.0.unwrap();
    assert_eq!(run.asked().len(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_stop_begins_nothing_and_waits_for_what_is_in_flight() {
    let mut run = Run::new(3).hold(1).hold(2).hold(3);
    let (stop, stopped) = oneshot::channel::<()>();
    let world = run.world.clone();
    let clock = TokioClock::new();
    let script = async {
        clock.sleep(Duration::from_secs(1)).await;
        stop.send(()).unwrap();
        clock.sleep(Duration::from_secs(1)).await;
        for line in 1..=3 {
            world.held[&line].add_permits(1);
        }
    };
    let stopping = async { stopped.await.unwrap() };
    let ((ended, totals), ()) = tokio::join!(run.over(100, stopping), script);
    assert_eq!((ended.unwrap(), totals.answered), (End::Stopped, 3));
    assert_eq!(run.asked(), [1, 2, 3]);
}

#[tokio::test]
async fn an_input_that_breaks_off_ends_the_run_once_what_was_asked_is_kept() {
    let mut run = Run::new(2);
    let (sender, lines) = mpsc::channel(1);
    let writer = async move {
        let document = Ok(b"x".to_vec());
        sender
            .send(Ok(Line {
                number: 1,
                document,
            }))
            .await
            .unwrap();
        sender.send(Err(io::Error::other("gone"))).await.unwrap();
    };
    let (ended, totals) = run.fed(lines, writer, std::future::pending()).await;
    let line = ended.unwrap_err().line();
    assert!(line.contains("gone"), "{line}");
    assert_eq!(totals.answered, 1);
}
