//! The one lock: sequence numbers, script positions, journal.
//!
//! A request is numbered, matched to its step, planned and journaled in one go under the lock, so
//! that two requests never share a step and the journal's order is the order of the steps.

use std::{
    collections::{HashMap, VecDeque},
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::watch;

use crate::{
    journal::JournalEntry,
    limiter::{Limiter, Ruling},
    script::{Script, Step},
};

/// What the sandbox remembers; shared by all connections.
#[derive(Debug)]
pub(crate) struct Ledger {
    book: Mutex<Book>,
    /// Requests journaled so far, for those who wait for the next.
    received: watch::Sender<u64>,
}

/// Counters of a sandbox at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Requests to mounts since the start, dropped and cleared ones included.
    pub requests: u64,
    /// Connections accepted since the start, failed TLS handshakes included.
    pub connections: u64,
    /// Connections open now.
    pub connections_open: u64,
    /// Entries in the journal now.
    pub journal_entries: u64,
    /// Entries the journal dropped because it was full.
    pub journal_dropped: u64,
    /// Script runs that are remembered now.
    pub scripts: u64,
    /// Script runs forgotten because there were too many; they start anew.
    pub scripts_dropped: u64,
}

impl Ledger {
    pub(crate) fn new(keep: NonZeroUsize, limiter: Option<Limiter>) -> Self {
        let book = Book {
            keep: keep.get(),
            seq: 0,
            entries: VecDeque::new(),
            entries_dropped: 0,
            bodies: Bodies::default(),
            runs: Runs::default(),
            server_run: 0,
            bodies_seen: Runs::default(),
            limiter,
        };
        Self {
            book: Mutex::new(book),
            received: watch::Sender::new(0),
        }
    }

    /// Journals one request; `enter` makes the entry and whatever else hangs on its place.
    pub(crate) fn record<T>(
        &self,
        body: &Bytes,
        enter: impl FnOnce(&mut Place<'_>) -> (JournalEntry, T),
    ) -> T {
        let mut book = self.lock();
        book.seq += 1;
        let seq = book.seq;
        let (entry, result) = enter(&mut Place {
            seq,
            book: &mut book,
        });
        if book.entries.len() == book.keep {
            book.entries.pop_front();
            book.entries_dropped += 1;
        }
        book.entries.push_back(Arc::new(entry));
        book.bodies.push(seq, body.clone());
        drop(book);
        self.received.send_replace(seq);
        result
    }

    /// Entries after `seq`, at most `limit`, oldest first.
    pub(crate) fn entries(&self, after: u64, limit: usize) -> Vec<Arc<JournalEntry>> {
        let book = self.lock();
        let from = book.entries.partition_point(|entry| entry.seq <= after);
        book.entries
            .iter()
            .skip(from)
            .take(limit)
            .cloned()
            .collect()
    }

    pub(crate) fn body(&self, seq: u64) -> Option<Bytes> {
        self.lock().bodies.find(seq)
    }

    pub(crate) fn clear_journal(&self) {
        let mut book = self.lock();
        book.entries.clear();
        book.bodies = Bodies::default();
    }

    pub(crate) fn clear_scripts(&self) {
        let mut book = self.lock();
        let dropped = book.runs.dropped;
        book.runs = Runs {
            dropped,
            ..Runs::default()
        };
        book.bodies_seen = Runs::default();
        book.server_run = 0;
    }

    /// Adds what this lock guards to the counters.
    pub(crate) fn count(&self, stats: &mut Stats) {
        let book = self.lock();
        stats.requests = book.seq;
        stats.journal_entries = as_count(book.entries.len());
        stats.journal_dropped = book.entries_dropped;
        stats.scripts = as_count(book.runs.positions.len());
        stats.scripts_dropped = book.runs.dropped;
    }

    /// Resolves once `count` requests have been journaled since the start.
    pub(crate) async fn received(&self, count: u64) {
        let mut seen = self.received.subscribe();
        // The sender lives as long as `self`, so the wait cannot fail.
        let _closed = seen.wait_for(|seq| *seq >= count).await.is_err();
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        // Nothing panics while it holds the lock; if it did, counters and entries would still be
        // whole, since each is changed in one step.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request's place in the order of all requests.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) seq: u64,
    book: &'a mut Book,
}

impl Place<'_> {
    /// The next step of the run that this full model name is, with its index.
    pub(crate) fn step_of<'s>(&mut self, script: &'s Script, name: &str) -> (usize, &'s Step) {
        let keep = self.book.keep;
        script.at(self.book.runs.next(name, keep))
    }

    /// How often this body came before; this request counts from now on.
    pub(crate) fn seen(&mut self, body_sha256: &str) -> u64 {
        let keep = self.book.keep;
        self.book.bodies_seen.next(body_sha256, keep)
    }

    /// What the limiter says to this request; `None` without a limiter.
    pub(crate) fn rule(&mut self, now: Duration, body_sha256: &str, tokens: u64) -> Option<Ruling> {
        let limiter = self.book.limiter.as_mut()?;
        Some(limiter.rule(now, body_sha256, tokens))
    }

    /// The next step of the script that the whole server follows.
    pub(crate) fn step_of_server<'s>(&mut self, script: &'s Script) -> (usize, &'s Step) {
        let position = self.book.server_run;
        self.book.server_run = position.saturating_add(1);
        script.at(position)
    }
}

#[derive(Debug)]
struct Book {
    keep: usize,
    seq: u64,
    /// Ordered by `seq`, at most `keep`.
    entries: VecDeque<Arc<JournalEntry>>,
    entries_dropped: u64,
    bodies: Bodies,
    runs: Runs,
    server_run: u64,
    /// How often each body came, for faults at random.
    bodies_seen: Runs,
    limiter: Option<Limiter>,
}

/// How far each run has come, oldest run first.
#[derive(Debug, Default)]
struct Runs {
    positions: HashMap<Arc<str>, u64>,
    // Invariant: exactly the keys of `positions`.
    order: VecDeque<Arc<str>>,
    dropped: u64,
}

impl Runs {
    /// The position of this request; the next one of the same name gets the next.
    fn next(&mut self, name: &str, keep: usize) -> u64 {
        if let Some(position) = self.positions.get_mut(name) {
            let now = *position;
            *position = now.saturating_add(1);
            return now;
        }
        if self.order.len() == keep
            && let Some(oldest) = self.order.pop_front()
        {
            self.positions.remove(&oldest);
            self.dropped += 1;
        }
        let name: Arc<str> = name.into();
        self.order.push_back(name.clone());
        self.positions.insert(name, 1);
        0
    }
}

/// The last bodies, for tests that assert exact bytes.
#[derive(Debug, Default)]
struct Bodies {
    kept: VecDeque<(u64, Bytes)>,
    bytes: usize,
}

impl Bodies {
    fn push(&mut self, seq: u64, body: Bytes) {
        self.bytes += body.len();
        self.kept.push_back((seq, body));
        while (self.bytes > MAX_BODY_BYTES || self.kept.len() > MAX_BODIES)
            && let Some((_, oldest)) = self.kept.pop_front()
        {
            self.bytes -= oldest.len();
        }
    }

    fn find(&self, seq: u64) -> Option<Bytes> {
        let at = self.kept.binary_search_by_key(&seq, |(seq, _)| *seq).ok()?;
        self.kept.get(at).map(|(_, body)| body.clone())
    }
}

fn as_count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Bodies kept in memory, all together: 64 MiB, two of the largest.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// Bodies kept, whatever their size.
const MAX_BODIES: usize = 1024;

#[cfg(test)]
mod tests;
