//! The lines of a batch, read one after the other and never all at once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use tokio::sync::mpsc;

use crate::failure::Failure;

/// A line that asks something.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its place in the file, from 1, blank lines counted.
    pub(super) number: u64,
    /// The document, or why it cannot be one.
    pub(super) document: Result<Vec<u8>, &'static str>,
}

/// The file, open; from here on it is read as far as somebody takes lines.
pub(super) struct Input {
    from: Box<dyn Read + Send>,
    /// How many lines ask something, where that can be known before they are read.
    pub(super) total: Option<u64>,
}

/// Whether the lines are worth counting first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// Somebody watches a bar that needs an end.
    Lines,
    Nothing,
}

impl Input {
    /// Opens the file; `-` is standard input.
    pub(super) fn open(path: &Path, count: Count) -> Result<Self, Failure> {
        let unread =
            |error: io::Error| Failure::usage(format!("--batch {}: {error}", path.display()));
        if path == Path::new("-") {
            return Ok(Self {
                from: Box::new(io::stdin()),
                total: None,
            });
        }
        let file = File::open(path).map_err(unread)?;
        let kind = file.metadata().map_err(unread)?;
        if kind.is_dir() {
            return Err(Failure::usage(format!(
                "--batch {}: this is a folder",
                path.display()
            )));
        }
        // What is no plain file, such as a pipe with a name, can be read once only.
        let total = match count {
            Count::Lines if kind.is_file() => Some(asking(path).map_err(unread)?),
            _ => None,
        };
        Ok(Self {
            from: Box::new(file),
            total,
        })
    }

    /// The lines, read on a thread of their own: a pipe may be silent for as long as it likes.
    pub(super) fn lines(self) -> mpsc::Receiver<io::Result<Line>> {
        let (sender, receiver) = mpsc::channel(READ_AHEAD);
        tokio::task::spawn_blocking(move || {
            let mut lines = Lines::new(BufReader::new(self.from), MAX_LINE_BYTES);
            while let Some(line) = lines.next().transpose() {
                let end = line.is_err();
                // Nobody takes lines any more: the batch is over.
                if sender.blocking_send(line).is_err() || end {
                    return;
                }
            }
        });
        receiver
    }
}

/// How many lines of a file ask something.
fn asking(path: &Path) -> io::Result<u64> {
    let mut lines = Lines::new(BufReader::new(File::open(path)?), 0);
    let mut count = 0_u64;
    while lines.next()?.is_some() {
        count = count.saturating_add(1);
    }
    Ok(count)
}

/// Cuts bytes into lines; of one that is too long no more than the limit is ever held.
struct Lines<R> {
    from: R,
    number: u64,
    max_bytes: usize,
}

impl<R: BufRead> Lines<R> {
    fn new(from: R, max_bytes: usize) -> Self {
        Self {
            from,
            number: 0,
            max_bytes,
        }
    }

    /// The next line that is not blank; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Line>> {
        while let Some(read) = self.read()? {
            self.number = self.number.saturating_add(1);
            let document = match read {
                Piece::Blank => continue,
                Piece::TooLong => Err(TOO_LONG),
                Piece::Whole(bytes) => Ok(bytes),
            };
            return Ok(Some(Line {
                number: self.number,
                document,
            }));
        }
        Ok(None)
    }

    fn read(&mut self) -> io::Result<Option<Piece>> {
        let mut line = Vec::new();
        let (mut begun, mut blank, mut too_long) = (false, true, false);
        loop {
            let piece = match self.from.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if piece.is_empty() {
                break;
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let (mut text, used) = match end {
                Some(end) => (&piece[..end], end + 1),
                None => (piece, piece.len()),
            };
            // Editors of one system put a mark before everything else.
            if self.number == 0 && !begun {
                text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
            }
            begun = true;
            blank = blank && text.iter().all(u8::is_ascii_whitespace);
            too_long = too_long || line.len().saturating_add(text.len()) > self.max_bytes;
            if too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(text);
            }
            self.from.consume(used);
            if end.is_some() {
                break;
            }
        }
        Ok(match (begun, blank, too_long) {
            (false, ..) => None,
            (_, true, _) => Some(Piece::Blank),
            (_, _, true) => Some(Piece::TooLong),
            _ => Some(Piece::Whole(line)),
        })
    }
}

/// One line, as far as it is worth holding.
enum Piece {
    Blank,
    TooLong,
    Whole(Vec<u8>),
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

const TOO_LONG: &str = "the line is longer than 16 MiB";

/// As much as a single document may have.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Enough to have the next line ready; the lines that are held are bounded elsewhere.
const READ_AHEAD: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes a few at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn read(input: &[u8], max_bytes: usize, at_once: usize) -> Vec<(u64, Option<String>)> {
        let mut lines = Lines::new(BufReader::new(Slowly(input, at_once)), max_bytes);
        std::iter::from_fn(|| lines.next().unwrap())
            .map(|Line { number, document }| {
                let text = document.ok().map(|bytes| String::from_utf8(bytes).unwrap());
                (number, text)
            })
            .collect()
    }

    #[track_caller]
    fn check(input: &str, expected: &[(u64, Option<&str>)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(number, text)| (*number, text.map(str::to_owned)))
            .collect();
        for at_once in [1, 2, 7, 4096] {
            assert_eq!(read(input.as_bytes(), 8, at_once), expected, "{at_once}");
        }
    }

    #[test]
    fn lines_are_counted_from_1_and_the_last_needs_no_end() {
        check("", &[]);
        check("a\nb\n", &[(1, Some("a")), (2, Some("b"))]);
        check("a\r\nb", &[(1, Some("a\r")), (2, Some("b"))]);
    }

    #[test]
    fn blank_lines_are_passed_over_and_counted() {
        check("\n \t\na\n\r\n\nb\n\n", &[(3, Some("a")), (6, Some("b"))]);
        check("\n\n", &[]);
        // Blank for longer than a line may be.
        check("            \na", &[(2, Some("a"))]);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_and_the_next_one_is_read() {
        check(
            "12345678\n123456789\nb",
            &[(1, Some("12345678")), (2, None), (3, Some("b"))],
        );
        check("123456789", &[(1, None)]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        for at_once in [3, 4096] {
            assert_eq!(
                read("\u{feff}a\n\u{feff}b".as_bytes(), 8, at_once),
                [(1, Some("a".to_owned())), (2, Some("\u{feff}b".to_owned()))]
            );
        }
    }

    #[test]
    fn only_lines_that_ask_are_counted() {
        assert_eq!(
            asking(Path::new("no/such")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        let mut lines = Lines::new(&b"a\n\nb\n \nc"[..], 0);
        let mut count = 0;
        while lines.next().unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 3);
    }
}
