//! Why a sandbox did not start.

use std::{error, fmt, io};

/// A sandbox that did not start.
#[derive(Debug)]
pub struct Error(Box<Repr>);

#[derive(Debug)]
struct Repr {
    kind: ErrorKind,
    source: Box<dyn error::Error + Send + Sync>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The address could not be bound: taken, not ours, or not allowed.
    Bind,
    /// The certificate could not be made.
    Certificate,
}

impl Error {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    pub(crate) fn bind(source: io::Error) -> Self {
        Self::new(ErrorKind::Bind, source)
    }

    pub(crate) fn certificate(source: impl error::Error + Send + Sync + 'static) -> Self {
        Self::new(ErrorKind::Certificate, source)
    }

    fn new(kind: ErrorKind, source: impl error::Error + Send + Sync + 'static) -> Self {
        Self(Box::new(Repr {
            kind,
            source: Box::new(source),
        }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.kind {
            ErrorKind::Bind => "the sandbox could not listen",
            ErrorKind::Certificate => "the sandbox could not make its certificate",
        })
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&*self.0.source)
    }
}
