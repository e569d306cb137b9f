//! The clock a client was given, with its type erased.
//!
//! The client is not generic over its clock: callers would have to name the parameter everywhere.
//! The usual clock stays a plain enum arm, so that a guard per attempt costs no allocation.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use pin_project_lite::pin_project;
use skyl_retry::{Clock, TokioClock};

/// Any clock: Tokio's, or one that was given.
#[derive(Clone)]
pub(crate) enum AnyClock {
    Tokio(TokioClock),
    Given(Arc<dyn Erased>),
}

impl AnyClock {
    /// Tokio's clock, with one origin for all clients of the process: a retry budget that several
    /// of them share must mean one time.
    pub(crate) fn tokio() -> Self {
        static SHARED: LazyLock<TokioClock> = LazyLock::new(TokioClock::new);
        Self::Tokio(*SHARED)
    }

    pub(crate) fn given<C>(clock: C) -> Self
    where
        C: Clock + Send + Sync + 'static,
        C::Sleep: Send + 'static,
    {
        Self::Given(Arc::new(clock))
    }
}

impl Clock for AnyClock {
    type Sleep = AnySleep;

    fn now(&self) -> Duration {
        match self {
            Self::Tokio(clock) => clock.now(),
            Self::Given(clock) => clock.erased_now(),
        }
    }

    fn wall(&self) -> SystemTime {
        match self {
            Self::Tokio(clock) => clock.wall(),
            Self::Given(clock) => clock.erased_wall(),
        }
    }

    fn sleep(&self, duration: Duration) -> AnySleep {
        match self {
            Self::Tokio(clock) => AnySleep::Tokio {
                sleep: clock.sleep(duration),
            },
            Self::Given(clock) => AnySleep::Given {
                sleep: clock.erased_sleep(duration),
            },
        }
    }

    fn guard(&self, duration: Duration) -> AnySleep {
        match self {
            Self::Tokio(clock) => AnySleep::Tokio {
                sleep: clock.guard(duration),
            },
            Self::Given(clock) => AnySleep::Given {
                sleep: clock.erased_guard(duration),
            },
        }
    }
}

impl fmt::Debug for AnyClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tokio(_) => "TokioClock",
            Self::Given(_) => "given clock",
        })
    }
}

pin_project! {
    /// A wait on [`AnyClock`].
    #[project = AnySleepProjection]
    pub(crate) enum AnySleep {
        Tokio { #[pin] sleep: <TokioClock as Clock>::Sleep },
        Given { sleep: BoxedSleep },
    }
}

impl Future for AnySleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project() {
            AnySleepProjection::Tokio { sleep } => sleep.poll(cx),
            AnySleepProjection::Given { sleep } => sleep.as_mut().poll(cx),
        }
    }
}

type BoxedSleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// [`Clock`] without its associated type.
pub(crate) trait Erased: Send + Sync {
    fn erased_now(&self) -> Duration;
    fn erased_wall(&self) -> SystemTime;
    fn erased_sleep(&self, duration: Duration) -> BoxedSleep;
    fn erased_guard(&self, duration: Duration) -> BoxedSleep;
}

impl<C> Erased for C
where
    C: Clock + Send + Sync,
    C::Sleep: Send + 'static,
{
    fn erased_now(&self) -> Duration {
        self.now()
    }

    fn erased_wall(&self) -> SystemTime {
        self.wall()
    }

    fn erased_sleep(&self, duration: Duration) -> BoxedSleep {
        Box::pin(self.sleep(duration))
    }

    fn erased_guard(&self, duration: Duration) -> BoxedSleep {
        Box::pin(self.guard(duration))
    }
}
