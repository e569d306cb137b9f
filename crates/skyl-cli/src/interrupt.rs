//! SIGINT and SIGTERM: the wish to stop.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;

use crate::failure::Failure;

/// Whether somebody wants this program to stop. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(watch::Receiver<bool>);

impl Interrupt {
    /// Runs `work` while listening. The first signal is passed on as a wish; the second one ends
    /// the listening and with it the program, wherever `work` stands.
    ///
    /// A signal that finds this thread held up, by a pipe nobody opens at its other end, is
    /// `stuck`'s to act on, on a thread of its own.
    pub(crate) async fn around<T>(
        work: impl AsyncFnOnce(Self) -> Result<T, Failure>,
        stuck: impl FnOnce() + Send + 'static,
    ) -> Result<T, Failure> {
        let unheard =
            |error: io::Error| Failure::internal(format!("cannot listen for signals: {error}"));
        let (sender, receiver) = watch::channel(false);
        let mut signals = Signals::listen().map_err(unheard)?;
        let heard = Arc::new(AtomicBool::new(false));
        watch_over(Arc::clone(&heard), stuck).map_err(unheard)?;
        let twice = async {
            signals.next().await;
            heard.store(true, Ordering::Relaxed);
            // Nobody listening is fine: then the work has ended.
            sender.send_replace(true);
            signals.next().await;
        };
        tokio::select! {
            biased;
            done = work(Self(receiver)) => done,
            () = twice => Err(Failure::Interrupted),
        }
    }

    /// Resolves at the first signal; never without one.
    pub(crate) fn wait(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut receiver = self.0.clone();
        async move {
            if receiver.wait_for(|interrupted| *interrupted).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Does `work` unless interrupted before it is done.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.wait() => Err(Failure::Interrupted),
            done = work => Ok(done),
        }
    }
}

/// Listens beside the one thread that works, and acts if that one does not hear a signal.
#[expect(
    clippy::disallowed_methods,
    reason = "a thread that is held up is found by real time alone"
)]
fn watch_over(heard: Arc<AtomicBool>, stuck: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::listen()?
    };
    // It ends with the program.
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                signals.next().await;
                tokio::time::sleep(HELD_UP).await;
            });
            if !heard.load(Ordering::Relaxed) {
                stuck();
            }
        })
        .map(drop)
}

/// How long a thread that is only busy takes to hear a signal, at most.
const HELD_UP: Duration = Duration::from_millis(500);

/// The signals that ask a program to stop.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
