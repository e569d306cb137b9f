//! Starting, watching and stopping a sandbox.

use std::{
    net::{Ipv4Addr, SocketAddr},
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
};

use bytes::Bytes;
use tokio::{sync::watch, task::JoinSet};

use crate::{
    chaos::Chaos,
    error::Error,
    journal::JournalEntry,
    ledger::{Ledger, Stats},
    limiter::Limiter,
    mounts::{self, House},
    script::Script,
    server::{self, Connections, Server},
    timing::Origin,
    tls::{Acceptor, Tls},
};

/// A running sandbox; dropping it ends every connection at once.
#[derive(Debug)]
pub struct Sandbox {
    server: Arc<Server>,
    addr: SocketAddr,
    scheme: &'static str,
    ca_pem: Option<String>,
    // Holds the accept loop; dropping the set ends it, and with it every connection's task.
    tasks: JoinSet<()>,
}

impl Sandbox {
    /// Starts on a free port of 127.0.0.1 with the key `sandbox-key` and no script.
    ///
    /// # Errors
    /// [`ErrorKind::Bind`](crate::ErrorKind::Bind) if no port can be bound.
    ///
    /// # Cancel safety
    /// Dropping the future before it is done leaves nothing behind.
    pub async fn start() -> Result<Self, Error> {
        Self::builder().start().await
    }

    /// Sets what is to be different from [`Sandbox::start`].
    pub fn builder() -> SandboxBuilder {
        SandboxBuilder {
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            key: DEFAULT_KEY.to_owned(),
            script: None,
            keep: DEFAULT_KEEP,
            chaos: None,
            requests_per_minute: None,
            tokens_per_minute: None,
            tls: None,
            models: Vec::new(),
        }
    }

    /// The address it listens on, with the real port.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The root, such as `http://127.0.0.1:41234`, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.addr)
    }

    /// The base URL of a mount, as its official SDK takes it: `base_url("/openai/v1")`.
    ///
    /// `OpenAI`'s SDKs want the version in it; Anthropic's take the root, `/anthropic`, and Gemini's
    /// theirs, `/gemini`, as TypeSafe's do, `/typesafe`.
    #[must_use]
    pub fn base_url(&self, mount: &str) -> String {
        format!("{}{mount}", self.url())
    }

    /// The key every mount asks for.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.server.house.key
    }

    /// The certificate authority of [`Tls::Trusted`], as PEM; `None` for everything else.
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// Every request so far that the journal still holds, oldest first.
    #[must_use]
    pub fn journal(&self) -> Vec<JournalEntry> {
        self.journal_after(0)
    }

    /// The requests after this sequence number, oldest first.
    #[must_use]
    pub fn journal_after(&self, seq: u64) -> Vec<JournalEntry> {
        let entries = self.server.ledger.entries(seq, usize::MAX);
        entries.into_iter().map(Arc::unwrap_or_clone).collect()
    }

    /// The exact body of a request; `None` once it has been forgotten.
    ///
    /// The last 1,024 bodies are kept, at most 64 MiB in all. One above 32 MiB, which is refused, is
    /// kept as empty.
    #[must_use]
    pub fn body(&self, seq: u64) -> Option<Bytes> {
        self.server.ledger.body(seq)
    }

    /// Empties the journal; sequence numbers go on.
    pub fn clear_journal(&self) {
        self.server.ledger.clear_journal();
    }

    /// Forgets how far every script has come: each starts anew.
    pub fn clear_scripts(&self) {
        self.server.ledger.clear_scripts();
    }

    /// Counters since the start.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.server.stats()
    }

    /// Resolves once this many requests have been journaled since the start.
    ///
    /// # Cancel safety
    /// Safe to drop and to call again.
    pub async fn received(&self, requests: u64) {
        self.server.ledger.received(requests).await;
    }

    /// Resolves once no connection is open: how a test sees that a client hung up.
    ///
    /// # Cancel safety
    /// Safe to drop and to call again.
    pub async fn all_closed(&self) {
        self.server.all_closed().await;
    }

    /// Stops accepting, ends every connection and waits until all are gone.
    ///
    /// # Cancel safety
    /// Dropping the future ends everything as well, without the wait.
    pub async fn shutdown(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Settings of a sandbox about to start; see [`Sandbox::builder`].
#[derive(Debug)]
#[must_use = "nothing listens until `start` is awaited"]
pub struct SandboxBuilder {
    addr: SocketAddr,
    key: String,
    script: Option<Script>,
    keep: NonZeroUsize,
    chaos: Option<Chaos>,
    requests_per_minute: Option<NonZeroU32>,
    tokens_per_minute: Option<NonZeroU32>,
    tls: Option<Tls>,
    models: Vec<String>,
}

impl SandboxBuilder {
    /// Sets where to listen. Default: a free port of 127.0.0.1.
    pub fn addr(mut self, addr: SocketAddr) -> Self {
        self.addr = addr;
        self
    }

    /// Sets the key every mount asks for. Default: `sandbox-key`.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// Sets a script for every request, one step each. Default: none.
    ///
    /// A fault in a model's name goes before it.
    pub fn script(mut self, script: Script) -> Self {
        self.script = Some(script);
        self
    }

    /// Sets how many journal entries, and how many script runs, are kept. Default: 100,000.
    ///
    /// The oldest are dropped and counted in [`Stats`].
    pub fn keep(mut self, keep: NonZeroUsize) -> Self {
        self.keep = keep;
        self
    }

    /// Gives a share of the requests a fault, as a function of seed and body. Default: none.
    ///
    /// Requests whose model names a fault are left alone.
    pub fn chaos(mut self, chaos: Chaos) -> Self {
        self.chaos = Some(chaos);
        self
    }

    /// Limits requests per minute, with truthful headers. Default: no limit.
    ///
    /// The moment a 429 names is kept for that request's bytes: a client that obeys is admitted.
    pub fn requests_per_minute(mut self, limit: NonZeroU32) -> Self {
        self.requests_per_minute = Some(limit);
        self
    }

    /// Limits tokens (input and output) per minute, with truthful headers. Default: no limit.
    pub fn tokens_per_minute(mut self, limit: NonZeroU32) -> Self {
        self.tokens_per_minute = Some(limit);
        self
    }

    /// Serves over TLS with a certificate of this kind. Default: plain HTTP.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Adds a model to the catalogue of every mount.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.models.push(name.into());
        self
    }

    /// Binds the address and starts serving on the current Tokio runtime.
    ///
    /// # Errors
    /// [`ErrorKind::Bind`](crate::ErrorKind::Bind) if the address cannot be bound,
    /// [`ErrorKind::Certificate`](crate::ErrorKind::Certificate) if no certificate can be made.
    ///
    /// # Cancel safety
    /// Dropping the future before it is done leaves nothing behind.
    pub async fn start(self) -> Result<Sandbox, Error> {
        let acceptor = self.tls.map(Acceptor::new).transpose()?;
        let listener = server::bind(self.addr).await.map_err(Error::bind)?;
        let addr = listener.local_addr().map_err(Error::bind)?;
        let limiter = Limiter::new(self.requests_per_minute, self.tokens_per_minute);
        let server = Arc::new(Server {
            ledger: Ledger::new(self.keep, limiter),
            house: House {
                key: self.key,
                models: self.models,
            },
            mounts: mounts::all(),
            script: self.script,
            chaos: self.chaos,
            origin: Origin::now(),
            connections: watch::Sender::new(Connections::default()),
        });
        let (tls, ca_pem) = acceptor.map_or((None, None), |tls| (Some(tls.acceptor), tls.ca_pem));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let mut tasks = JoinSet::new();
        tasks.spawn(server::accept(server.clone(), listener, tls));
        Ok(Sandbox {
            server,
            addr,
            scheme,
            ca_pem,
            tasks,
        })
    }
}

/// The key a sandbox asks for unless it is told another.
pub const DEFAULT_KEY: &str = "sandbox-key";

/// A hundred thousand: minutes of a busy soak, tens of megabytes.
const DEFAULT_KEEP: NonZeroUsize = match NonZeroUsize::new(100_000) {
    Some(keep) => keep,
    None => NonZeroUsize::MIN,
};
