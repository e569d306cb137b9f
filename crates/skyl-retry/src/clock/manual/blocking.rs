//! The tests' clock under a blocking call.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, SystemTime};

use crate::clock::Clock;
use crate::clock::blocking::{BlockingClock, Stopper};
use crate::clock::manual::ManualClock;

/// Standing still, it blocks until another thread moves it; skipping, it never blocks.
impl BlockingClock for ManualClock {
    fn now(&self) -> Duration {
        Clock::now(self)
    }

    fn wall(&self) -> SystemTime {
        Clock::wall(self)
    }

    fn sleep(&self, duration: Duration, stopper: Option<&Stopper>) {
        let _entered = stopper.map(Stopper::enter);
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut sleep = pin!(Clock::sleep(self, duration));
        let mut poll = || sleep.as_mut().poll(&mut Context::from_waker(&waker));
        while !stopper.is_some_and(Stopper::is_stopped) && poll().is_pending() {
            thread::park();
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
