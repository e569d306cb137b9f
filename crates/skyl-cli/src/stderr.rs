//! Standard error: everything for people.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::env::Env;
use crate::escape;

/// Standard error; clones write to the same one.
///
/// What cannot be written is lost: there is nowhere left to say so.
#[derive(Clone)]
pub(crate) struct Stderr(Arc<Mutex<Sink>>);

struct Sink {
    to: Box<dyn Write + Send>,
    look: Look,
    /// Whether the last line is one that will be overwritten.
    drawn: bool,
}

/// What the device at the other end can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// Lines can be overwritten.
    pub(crate) live: bool,
    pub(crate) colour: bool,
}

impl Look {
    /// A terminal is live; it has colour unless `NO_COLOR` is set, whatever to.
    fn of(terminal: bool, env: &Env) -> Self {
        let dumb = env.text("TERM").ok().flatten() == Some("dumb");
        let live = terminal && !dumb;
        Self {
            live,
            colour: live && !env.is_set("NO_COLOR"),
        }
    }
}

/// How a line is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// What happened.
    Plain,
    /// What happens by the way.
    Aside,
    /// What went wrong.
    Alarm,
}

impl Stderr {
    pub(crate) fn of_process(env: &Env) -> Self {
        Self::new(
            Box::new(io::stderr()),
            Look::of(io::stderr().is_terminal(), env),
        )
    }

    pub(crate) fn new(to: Box<dyn Write + Send>, look: Look) -> Self {
        Self(Arc::new(Mutex::new(Sink {
            to,
            look,
            drawn: false,
        })))
    }

    pub(crate) fn look(&self) -> Look {
        self.with(|sink| sink.look)
    }

    /// One line; control bytes in it are shown, not obeyed.
    pub(crate) fn line(&self, tone: Tone, text: &str) {
        self.with(|sink| {
            let text = escape::line(text);
            sink.erase();
            sink.write(&match sink.paint(tone) {
                Some(paint) => format!("{paint}{text}\x1b[0m\n"),
                None => format!("{text}\n"),
            });
        });
    }

    /// Several lines that were put in form elsewhere.
    pub(crate) fn block(&self, text: &str) {
        self.with(|sink| {
            let text = escape::block(text.trim_end());
            sink.erase();
            sink.write(&format!("{text}\n"));
        });
    }

    /// A line that the next one replaces; nothing where lines cannot be overwritten.
    pub(crate) fn draw(&self, text: &str) {
        self.with(|sink| {
            if !sink.look.live {
                return;
            }
            let text = escape::line(text);
            let (paint, end) = match sink.paint(Tone::Aside) {
                Some(paint) => (paint, "\x1b[0m"),
                None => ("", ""),
            };
            sink.write(&format!("\r\x1b[K{paint}{text}{end}"));
            sink.drawn = true;
        });
    }

    /// Takes a drawn line away.
    pub(crate) fn erase(&self) {
        self.with(Sink::erase);
    }

    fn with<T>(&self, act: impl FnOnce(&mut Sink) -> T) -> T {
        // A panic while writing leaves at worst a line without its end.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Sink {
    fn write(&mut self, text: &str) {
        let written = self
            .to
            .write_all(text.as_bytes())
            .and_then(|()| self.to.flush());
        // A closed standard error is no reason to lose the answer.
        drop(written);
    }

    fn erase(&mut self) {
        if self.drawn {
            self.write("\r\x1b[K");
            self.drawn = false;
        }
    }

    fn paint(&self, tone: Tone) -> Option<&'static str> {
        if !self.look.colour {
            return None;
        }
        match tone {
            Tone::Plain => None,
            Tone::Aside => Some("\x1b[2m"),
            Tone::Alarm => Some("\x1b[31m"),
        }
    }
}

/// A page to write on in tests.
#[cfg(test)]
pub(crate) fn page(look: Look) -> (Stderr, impl Fn() -> String) {
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

    let page = Page::default();
    let stderr = Stderr::new(Box::new(page.clone()), look);
    (stderr, move || {
        String::from_utf8(page.0.lock().unwrap().clone()).unwrap()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: Look = Look {
        live: false,
        colour: false,
    };
    const TERMINAL: Look = Look {
        live: true,
        colour: true,
    };

    #[test]
    fn colours_need_a_terminal_and_no_word_against_them() {
        for (terminal, variables, expected) in [
            (true, &[][..], TERMINAL),
            (
                true,
                &[("NO_COLOR", "1")],
                Look {
                    live: true,
                    colour: false,
                },
            ),
            (true, &[("NO_COLOR", "")], TERMINAL),
            (true, &[("TERM", "dumb")], PIPE),
            (false, &[], PIPE),
        ] {
            assert_eq!(
                Look::of(terminal, &Env::of(variables)),
                expected,
                "{variables:?}"
            );
        }
    }

    #[test]
    fn a_pipe_gets_plain_lines_and_nothing_drawn() {
        let (stderr, written) = page(PIPE);
        stderr.draw("1s");
        stderr.line(Tone::Alarm, "bad\u{1b}[2J");
        stderr.erase();
        assert_eq!(written(), "bad\\x1b[2J\n");
    }

    #[test]
    fn on_a_terminal_a_line_takes_the_place_of_a_drawn_one() {
        let (stderr, written) = page(Look {
            live: true,
            colour: false,
        });
        stderr.draw("2s");
        stderr.draw("1s");
        stderr.line(Tone::Plain, "done");
        stderr.erase();
        assert_eq!(written(), "\r\x1b[K2s\r\x1b[K1s\r\x1b[Kdone\n");
    }
}
