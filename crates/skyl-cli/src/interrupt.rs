//! SIGINT and SIGTERM: the wish to stop.

use std::future::Future;
use std::io;

use tokio::sync::watch;

use crate::failure::Failure;

/// Whether somebody wants this program to stop. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(watch::Receiver<bool>);

impl Interrupt {
    /// Runs `work` while listening. The first signal is passed on as a wish; the second one ends
    /// the listening and with it the program, wherever `work` stands.
    pub(crate) async fn around<T>(
        work: impl AsyncFnOnce(Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (sender, receiver) = watch::channel(false);
        let mut signals = Signals::listen()
            .map_err(|error| Failure::internal(format!("cannot listen for signals: {error}")))?;
        let twice = async {
            signals.next().await;
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
