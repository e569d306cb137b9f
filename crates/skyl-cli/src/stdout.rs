//! Standard output: the answer, event lines, or one JSON object, and nothing else.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::escape;
use crate::failure::Failure;
use crate::json;

/// In which form a command answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// Standard output; clones write to the same one, so that lines never run into each other.
#[derive(Clone)]
pub(crate) struct Stdout(Arc<Mutex<Sink>>);

struct Sink {
    to: Box<dyn Write + Send>,
    /// Whether a person looks at it, on a device that obeys control bytes.
    terminal: bool,
    /// Whether the last byte ended a line.
    fresh: bool,
}

impl Stdout {
    pub(crate) fn of_process() -> Self {
        Self::new(Box::new(io::stdout()), io::stdout().is_terminal())
    }

    fn new(to: Box<dyn Write + Send>, terminal: bool) -> Self {
        Self(Arc::new(Mutex::new(Sink {
            to,
            terminal,
            fresh: true,
        })))
    }

    /// Text as it comes: exact bytes, except that a terminal gets no control bytes of others.
    pub(crate) fn text(&self, piece: &str) -> Result<(), Failure> {
        self.with(|sink| {
            if sink.terminal {
                sink.write(escape::block(piece).as_bytes())
            } else {
                sink.write(piece.as_bytes())
            }
        })
    }

    /// Bytes of others, which may be no text: exact, except on a terminal, whose line is ended too.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.with(|sink| {
            if sink.terminal {
                let text = String::from_utf8_lossy(bytes);
                sink.write(escape::block(&text).as_bytes())?;
                sink.end_line()
            } else {
                sink.write(bytes)
            }
        })
    }

    /// Ends the line, if one was begun.
    pub(crate) fn end_line(&self) -> Result<(), Failure> {
        self.with(Sink::end_line)
    }

    /// A line of its own.
    pub(crate) fn line(&self, line: &str) -> Result<(), Failure> {
        self.with(|sink| {
            sink.end_line()?;
            sink.write(format!("{line}\n").as_bytes())
        })
    }

    /// A JSON value as a line of its own.
    pub(crate) fn object(&self, object: &impl Serialize) -> Result<(), Failure> {
        self.line(&json::line(object)?)
    }

    fn with(&self, write: impl FnOnce(&mut Sink) -> io::Result<()>) -> Result<(), Failure> {
        // A panic while writing leaves at worst a line without its end.
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut sink)
            .and_then(|()| sink.to.flush())
            .map_err(|error| Failure::output(&error))
    }
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(last) = bytes.last() {
            self.fresh = *last == b'\n';
        }
        self.to.write_all(bytes)
    }

    fn end_line(&mut self) -> io::Result<()> {
        if self.fresh {
            Ok(())
        } else {
            self.write(b"\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// What was written.
    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(terminal: bool, write: impl FnOnce(&Stdout) -> Result<(), Failure>) -> String {
        let page = Page::default();
        write(&Stdout::new(Box::new(page.clone()), terminal)).unwrap();
        let bytes = page.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_never_runs_into_text_that_has_no_end() {
        let text = written(false, |out| {
            out.text("half")?;
            out.line("{}")?;
            out.text("more\n")?;
            out.line("{}")?;
            out.end_line()
        });
        assert_eq!(text, "half\n{}\nmore\n{}\n");
    }

    #[test]
    fn only_a_terminal_is_spared_control_bytes() {
        let evil = "\u{1b}[2Jgone\n";
        assert_eq!(written(true, |out| out.text(evil)), "\\x1b[2Jgone\n");
        assert_eq!(written(false, |out| out.text(evil)), evil);
    }

    #[test]
    fn bytes_that_are_no_text_arrive_as_they_are_but_for_a_terminal() {
        let page = Page::default();
        let out = Stdout::new(Box::new(page.clone()), false);
        out.bytes(b"\xff\x1b\n").unwrap();
        assert_eq!(page.0.lock().unwrap().as_slice(), b"\xff\x1b\n");
        assert_eq!(
            written(true, |out| out.bytes(b"\xff\x1b")),
            "\u{fffd}\\x1b\n"
        );
    }

    #[test]
    fn a_reader_that_is_gone_is_told_from_a_disk_that_is_full() {
        struct Broken(io::ErrorKind);
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let fail = |kind| {
            Stdout::new(Box::new(Broken(kind)), false)
                .text("x")
                .unwrap_err()
        };
        assert!(matches!(
            fail(io::ErrorKind::BrokenPipe),
            Failure::OutputClosed
        ));
        assert!(matches!(
            fail(io::ErrorKind::StorageFull),
            Failure::Internal(_)
        ));
    }
}
