//! What a call costs in clock reads: two per attempt, and the wall only where a date is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use skyl::openai::OpenAi;
use skyl::{Client, Clock};
use skyl_retry::ManualClock;

use crate::raw::{Raw, answer, json, ok, reply};
use crate::support::{KEY, request};

#[derive(Clone)]
struct Counting {
    clock: ManualClock,
    now: Arc<AtomicU32>,
    wall: Arc<AtomicU32>,
}

impl Clock for Counting {
    type Sleep = <ManualClock as Clock>::Sleep;

    fn now(&self) -> Duration {
        self.now.fetch_add(1, Relaxed);
        self.clock.now()
    }

    fn wall(&self) -> SystemTime {
        self.wall.fetch_add(1, Relaxed);
        self.clock.wall()
    }

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        self.clock.sleep(duration)
    }

    fn guard(&self, duration: Duration) -> Self::Sleep {
        self.clock.guard(duration)
    }
}

fn counting(server: &Raw) -> (Client, Counting) {
    let clock = Counting {
        clock: ManualClock::skipping(),
        now: Arc::default(),
        wall: Arc::default(),
    };
    let dialect = OpenAi::new(KEY).base_url(server.base_url());
    let client = Client::builder(dialect)
        .clock(clock.clone())
        .hook(|_| {})
        .build()
        .unwrap();
    (client, clock)
}

#[tokio::test]
async fn a_call_that_succeeds_at_once_reads_the_clock_twice_and_the_wall_never() {
    let limits = [
        ("x-ratelimit-reset-requests", "1s"),
        ("x-ratelimit-remaining-requests", "0"),
    ];
    for script in [ok("Paris"), reply(200, &limits, answer("Paris"))] {
        let server = Raw::serve(vec![script]).await;
        let (client, clock) = counting(&server);
        client.complete(&request()).await.unwrap();
        assert_eq!((clock.now.load(Relaxed), clock.wall.load(Relaxed)), (2, 0));
    }
}

#[tokio::test]
async fn every_further_attempt_reads_it_twice_more() {
    let server = Raw::serve(vec![json(503, "{}"), json(503, "{}"), ok("Paris")]).await;
    let (client, clock) = counting(&server);
    client.complete(&request()).await.unwrap();
    assert_eq!(clock.now.load(Relaxed), 6);
    assert!(
        clock.wall.load(Relaxed) > 0,
        "an error's headers may hold a date"
    );
}
