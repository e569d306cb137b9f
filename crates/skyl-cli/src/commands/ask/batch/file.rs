//! A file of lines that only ever grows at its end, and may be cut there.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The file, written to by one batch at a time.
#[derive(Debug)]
pub(super) struct LineFile {
    path: PathBuf,
    file: File,
    /// Where the next line goes: everything before it is whole lines.
    len: u64,
}

/// Where a line stands, its end included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) at: u64,
    pub(super) len: usize,
}

impl Span {
    pub(super) fn end(self) -> u64 {
        self.at
            .saturating_add(u64::try_from(self.len).unwrap_or(u64::MAX))
    }
}

impl LineFile {
    /// Makes a file that must not be there yet.
    pub(super) fn create(path: PathBuf) -> Result<Self, Failure> {
        let file = options().create_new(true).open(&path);
        file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&path),
            _ => unopened(&path, &error),
        })
        .map(|file| Self { path, file, len: 0 })
    }

    /// Refuses what is there and is no file: a folder, a pipe, a device.
    pub(super) fn check(path: &Path) -> Result<(), Failure> {
        // What is not there is made; what cannot be looked at cannot be opened either.
        match path.metadata() {
            Ok(kind) if !kind.is_file() => Err(no_file(path)),
            _ => Ok(()),
        }
    }

    /// Opens a file to go on with, or makes it.
    pub(super) fn open(path: PathBuf) -> Result<Self, Failure> {
        let opened = options()
            .create(true)
            .truncate(false)
            .open(&path)
            .and_then(|file| file.metadata().map(|kind| (file, kind)));
        let (file, kind) = opened.map_err(|error| unopened(&path, &error))?;
        if !kind.is_file() {
            return Err(no_file(&path));
        }
        Ok(Self {
            path,
            file,
            len: kind.len(),
        })
    }

    /// Keeps every other batch away from the file, until this one ends, however it ends.
    pub(super) fn lock(&self) -> Result<(), Failure> {
        lock(&self.file).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => busy(&self.path),
            _ => unopened(&self.path, &error),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Reads the file from its start, line by line; the last one may have no end.
    pub(super) fn read(
        &self,
        mut take: impl FnMut(Span, &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let unread = |error: io::Error| unreadable(&self.path, &error);
        let mut from = &self.file;
        from.seek(SeekFrom::Start(0)).map_err(unread)?;
        let mut from = BufReader::new(from);
        let (mut line, mut at) = (Vec::new(), 0_u64);
        loop {
            line.clear();
            let len = from.read_until(b'\n', &mut line).map_err(unread)?;
            if len == 0 {
                return Ok(());
            }
            let span = Span { at, len };
            take(span, &line)?;
            at = span.end();
        }
    }

    /// The bytes of a line that stands here.
    pub(super) fn line(&self, span: Span) -> Result<Vec<u8>, Failure> {
        let mut line = vec![0; span.len];
        let mut from = &self.file;
        from.seek(SeekFrom::Start(span.at))
            .and_then(|_| from.read_exact(&mut line))
            .map_err(|error| unreadable(&self.path, &error))?;
        Ok(line)
    }

    /// Adds a line, which must have its end, and leaves nothing of it where that fails.
    ///
    /// The system has it when this returns: a program that is killed loses nothing of it.
    pub(super) fn append(&mut self, line: &[u8]) -> Result<Span, Failure> {
        let span = Span {
            at: self.len,
            len: line.len(),
        };
        let written = self
            .file
            .seek(SeekFrom::Start(span.at))
            .and_then(|_| self.file.write_all(line));
        if let Err(error) = written {
            // On a full disk this still works; where it does not, the torn line is cut on resuming.
            let _torn = self.file.set_len(span.at).is_err();
            return Err(unwritable(&self.path, &error));
        }
        self.len = span.end();
        Ok(span)
    }

    /// Cuts everything from here on.
    pub(super) fn cut(&mut self, len: u64) -> Result<(), Failure> {
        self.file
            .set_len(len)
            .map_err(|error| unwritable(&self.path, &error))?;
        self.len = len;
        Ok(())
    }

    /// Waits until the disk has it.
    pub(super) fn sync(&self) -> Result<(), Failure> {
        self.file
            .sync_all()
            .map_err(|error| unwritable(&self.path, &error))
    }

    /// Takes the file away.
    pub(super) fn remove(self) -> Result<(), Failure> {
        // Windows removes no open file.
        drop(self.file);
        std::fs::remove_file(&self.path).map_err(|error| {
            Failure::internal(format!("cannot remove {}: {error}", self.path.display()))
        })
    }
}

pub(super) fn exists(path: &Path) -> Failure {
    Failure::usage(format!(
        "--out {}: it is there already; --resume goes on with it",
        path.display()
    ))
}

fn busy(path: &Path) -> Failure {
    Failure::usage(format!(
        "--out {}: another batch is writing it",
        path.display()
    ))
}

fn no_file(path: &Path) -> Failure {
    Failure::usage(format!("--out {}: this is no file", path.display()))
}

/// Nothing has been asked yet.
fn unopened(path: &Path, error: &io::Error) -> Failure {
    Failure::internal(format!("cannot write {}: {error}", path.display()))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal(format!(
        "cannot write {}: {error}; what was answered is kept, and --resume goes on",
        path.display()
    ))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal(format!("cannot read {}: {error}", path.display()))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    share(&mut options);
    options
}

/// A second writer is turned away where the file is opened; readers are welcome.
#[cfg(windows)]
fn share(options: &mut OpenOptions) {
    use std::os::windows::fs::OpenOptionsExt;

    const FILE_SHARE_READ: u32 = 1;
    options.share_mode(FILE_SHARE_READ);
}

#[cfg(not(windows))]
fn share(_: &mut OpenOptions) {}

/// The system lets go of the lock when the process is gone, so that a killed batch leaves none.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};

    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        // Some network file systems have no locks; a batch on them is no worse than with none.
        Err(error) if [rustix::io::Errno::NOLCK, rustix::io::Errno::OPNOTSUPP].contains(&error) => {
            Ok(())
        }
        done => done.map_err(io::Error::from),
    }
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the shape of the other systems")]
fn lock(_: &File) -> io::Result<()> {
    Ok(())
}
