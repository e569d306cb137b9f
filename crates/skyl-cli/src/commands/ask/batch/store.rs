//! Where answers are kept: `OUT` in the order of the lines, `OUT.part` in the order they came.
//!
//! | at any instant, a kill included | |
//! |---|---|
//! | `OUT.part` | every answer there is, each once: it is written before anything counts it |
//! | `OUT` | the first lines in order, failures among them; at most its last line is torn |
//! | which is to be believed | both: an answer in either is an answer |
//!
//! An answer goes to `OUT.part` the moment it comes. As soon as no earlier line is open, it is copied
//! to `OUT`. A failure goes to `OUT` alone: it is asked again on resuming, so nobody misses it in
//! `OUT.part`. When all lines are answered, `OUT` is synced to the disk and only then is `OUT.part`
//! removed.
//!
//! On resuming, the answers at the start of `OUT` stay where they are. From the first line on that is
//! not there in its place (a failure, a gap) `OUT` is cut, once what it held is in `OUT.part`, and
//! written anew. Lines are not synced one by one: a power cut may cost answers of the last seconds,
//! which are asked again; a killed program loses none.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use crate::commands::ask::batch::file::{LineFile, Span, exists};
use crate::commands::ask::batch::record::{Record, Stored, Tally};
use crate::exit::Exit;
use crate::failure::Failure;

/// The two files.
#[derive(Debug)]
pub(super) struct Store {
    out: LineFile,
    part: LineFile,
    /// Where `OUT` stands: everything before is written and in its place.
    written: u64,
    /// Whether what follows in `OUT` is still being read along with, and so not yet cut.
    following: bool,
    /// Lines that have been begun with and are not in `OUT` yet, in order.
    queue: VecDeque<u64>,
    /// What is known of lines that are not in `OUT` yet.
    places: HashMap<u64, Place>,
    totals: Totals,
}

#[derive(Debug)]
enum Place {
    /// An answer that an earlier run left in `OUT`, in order.
    Out(Span),
    /// An answer in `OUT.part`.
    Part(Span),
    /// A failure, held until its turn.
    Failed(Vec<u8>),
}

/// What became of all lines, those of earlier runs included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) answered: u64,
    /// How many of them an earlier run had answered.
    pub(super) kept: u64,
    pub(super) failed: u64,
    /// Lines that took more than one attempt.
    pub(super) retried: u64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    /// The first line that failed, and the code of its failure.
    pub(super) first_failure: Option<(u64, Exit)>,
}

/// Whether a line is still to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Answered,
    Open,
}

impl Store {
    /// Refuses to start afresh where either file is there.
    pub(super) fn check_absent(out: &Path) -> Result<(), Failure> {
        for path in [out, &part_of(out)] {
            if path.symlink_metadata().is_ok() {
                return Err(exists(path));
            }
        }
        Ok(())
    }

    /// Makes both files, which must not be there yet.
    pub(super) fn create(out: &Path) -> Result<Self, Failure> {
        // Asked first, so that a refusal leaves nothing behind.
        Self::check_absent(out)?;
        let part = part_of(out);
        let out = LineFile::create(out.to_owned())?;
        out.lock()?;
        let part = LineFile::create(part)?;
        part.lock()?;
        Ok(Self::of(out, part))
    }

    /// Takes up both files where an earlier run left them; a missing one counts as empty.
    pub(super) fn resume(out: &Path) -> Result<Self, Failure> {
        let part = part_of(out);
        // Both first, so that a refusal leaves nothing behind.
        LineFile::check(out)?;
        LineFile::check(&part)?;
        let out = LineFile::open(out.to_owned())?;
        // Before anything is read: what another batch writes is none of this one's business. Each by
        // itself, since either may be a link to the other, or to a file of another batch.
        out.lock()?;
        let part = LineFile::open(part)?;
        part.lock()?;
        let mut store = Self::of(out, part);
        store.load_part()?;
        store.load_out()?;
        store.following = true;
        store.totals.kept = store.totals.answered;
        Ok(store)
    }

    fn of(out: LineFile, part: LineFile) -> Self {
        Self {
            out,
            part,
            written: 0,
            following: false,
            queue: VecDeque::new(),
            places: HashMap::new(),
            totals: Totals::default(),
        }
    }

    /// Begins with a line. Lines are begun with in the order of the input.
    pub(super) fn begin(&mut self, line: u64) -> Result<Known, Failure> {
        self.queue.push_back(line);
        if self.places.contains_key(&line) {
            self.write()?;
            return Ok(Known::Answered);
        }
        Ok(Known::Open)
    }

    /// How many lines have been begun with and are not in `OUT` yet.
    pub(super) fn ahead(&self) -> usize {
        self.queue.len()
    }

    /// Keeps the answer to a line.
    pub(super) fn answered(&mut self, line: u64, record: &Record) -> Result<(), Failure> {
        let span = self.part.append(&record.json)?;
        self.places.insert(line, Place::Part(span));
        self.totals.count(record.tally);
        self.write()
    }

    /// Keeps the failure of a line, which ends with this code.
    pub(super) fn failed(&mut self, line: u64, record: Record, exit: Exit) -> Result<(), Failure> {
        self.places.insert(line, Place::Failed(record.json));
        self.totals.failed = self.totals.failed.saturating_add(1);
        self.totals.retried = self
            .totals
            .retried
            .saturating_add(u64::from(record.tally.retried));
        let first = self.totals.first_failure.get_or_insert((line, exit));
        if line < first.0 {
            *first = (line, exit);
        }
        self.write()
    }

    /// Ends a run that has seen all lines of the input. Where all are answered, `OUT.part` goes.
    pub(super) fn finish(mut self) -> Result<Totals, Failure> {
        if let Some(line) = self.places.keys().min() {
            return Err(Failure::usage(format!(
                "--resume: {} has an answer to line {line}, which the input does not ask: is it \
                 the same input?",
                self.out.path().display()
            )));
        }
        if self.written < self.out.len() {
            // What is left is no answer: a torn line, or the failure of a line that is no more.
            self.out.cut(self.written)?;
        }
        self.out.sync()?;
        if self.totals.failed == 0 {
            self.part.remove()?;
        }
        Ok(self.totals)
    }

    /// Ends a run that was stopped: everything stays for the next one.
    pub(super) fn leave(self) -> Result<Totals, Failure> {
        self.part.sync()?;
        self.out.sync()?;
        Ok(self.totals)
    }

    /// Brings to `OUT` what has its turn.
    fn write(&mut self) -> Result<(), Failure> {
        while let Some(line) = self.queue.front().copied() {
            match self.places.get(&line) {
                None => return Ok(()),
                Some(Place::Out(span)) if self.following && span.at == self.written => {
                    self.written = span.end();
                }
                Some(_) => {
                    if self.following {
                        self.part_with_out()?;
                    }
                    self.copy(line)?;
                }
            }
            self.places.remove(&line);
            self.queue.pop_front();
        }
        Ok(())
    }

    fn copy(&mut self, line: u64) -> Result<(), Failure> {
        let span = match self.places.get(&line) {
            None => return Ok(()),
            Some(Place::Failed(json)) => self.out.append(json)?,
            Some(Place::Part(span)) => self.out.append(&self.part.line(*span)?)?,
            Some(Place::Out(span)) => self.out.append(&self.out.line(*span)?)?,
        };
        self.written = span.end();
        Ok(())
    }

    /// Leaves what earlier runs wrote to `OUT` from here on: the answers move to `OUT.part`, and then
    /// it is cut.
    fn part_with_out(&mut self) -> Result<(), Failure> {
        let mut moved = false;
        for place in self.places.values_mut() {
            if let Place::Out(span) = *place {
                let line = self.out.line(span)?;
                *place = Place::Part(self.part.append(&line)?);
                moved = true;
            }
        }
        if moved {
            self.part.sync()?;
        }
        self.following = false;
        self.out.cut(self.written)
    }

    fn load_part(&mut self) -> Result<(), Failure> {
        let Self {
            part,
            places,
            totals,
            ..
        } = self;
        let mut tail = Tail::Whole;
        let mut number = 0_u64;
        part.read(|span, bytes| {
            number = number.saturating_add(1);
            let stored = stored(part.path(), number, bytes)?;
            tail = Tail::of(span, bytes, stored);
            if let Some(Stored { line, answer }) = stored
                && let Some(tally) = answer
                && !places.contains_key(&line)
            {
                let len = span.len.saturating_add(usize::from(tail == Tail::Unended));
                places.insert(line, Place::Part(Span { len, ..span }));
                totals.count(tally);
            }
            Ok(())
        })?;
        match tail {
            Tail::Whole => Ok(()),
            Tail::Torn(at) => part.cut(at),
            Tail::Unended => part.append(b"\n").map(drop),
        }
    }

    /// Reads `OUT`. Its leading answers are followed where they stand; any later one that is nowhere
    /// else is copied to `OUT.part`.
    fn load_out(&mut self) -> Result<(), Failure> {
        let Self {
            out,
            part,
            places,
            totals,
            ..
        } = self;
        let (mut number, mut last, mut leading) = (0_u64, 0_u64, true);
        out.read(|span, bytes| {
            number = number.saturating_add(1);
            let stored = stored(out.path(), number, bytes)?;
            let Some(Stored { line, answer }) = stored else {
                leading = false;
                return Ok(());
            };
            let whole = Tail::of(span, bytes, stored) == Tail::Whole;
            leading = leading && whole && answer.is_some() && line > last;
            last = line;
            let Some(tally) = answer else {
                return Ok(());
            };
            let known = places.contains_key(&line);
            if leading {
                places.insert(line, Place::Out(span));
            } else if !known {
                let mut copy = bytes.to_vec();
                if !whole {
                    copy.push(b'\n');
                }
                places.insert(line, Place::Part(part.append(&copy)?));
            }
            if !known {
                totals.count(tally);
            }
            Ok(())
        })
    }
}

/// How a file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Whole,
    /// With the begin of a line, which stands here.
    Torn(u64),
    /// With a whole object whose line end is missing.
    Unended,
}

impl Tail {
    fn of(span: Span, bytes: &[u8], stored: Option<Stored>) -> Self {
        match stored {
            _ if bytes.ends_with(b"\n") => Self::Whole,
            Some(_) => Self::Unended,
            None => Self::Torn(span.at),
        }
    }
}

impl Totals {
    fn count(&mut self, tally: Tally) {
        let add = |total: &mut u64, amount: u64| *total = total.saturating_add(amount);
        add(&mut self.answered, 1);
        add(&mut self.retried, u64::from(tally.retried));
        add(&mut self.input_tokens, tally.input_tokens);
        add(&mut self.output_tokens, tally.output_tokens);
    }
}

/// Reads a line of one of the files; `None` is a blank line, or a torn last one.
fn stored(path: &Path, number: u64, bytes: &[u8]) -> Result<Option<Stored>, Failure> {
    match Stored::read(bytes) {
        Some(stored) => Ok(Some(stored)),
        None if !bytes.ends_with(b"\n") || bytes.trim_ascii().is_empty() => Ok(None),
        // It may be somebody's only copy of something else.
        None => Err(Failure::usage(format!(
            "--resume: line {number} of {} is no line of a batch; name another --out",
            path.display()
        ))),
    }
}

pub(super) fn part_of(out: &Path) -> PathBuf {
    let mut part = out.as_os_str().to_owned();
    part.push(".part");
    part.into()
}

#[cfg(test)]
mod tests;
