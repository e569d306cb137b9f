//! Follows the brackets and strings of JSON text, to know where a value ends.

use crate::scan;

/// A reader of JSON text in pieces, cut anywhere, that knows only depth and strings.
///
/// It does not match `{` with `}`: text with crossed brackets ends somewhere, and whoever
/// decodes the value reports it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nesting {
    depth: usize,
    /// Between the quotes of a string.
    string: bool,
    /// The last byte was a backslash in a string.
    escaped: bool,
    too_deep: bool,
}

impl Nesting {
    /// Reads up to and with the bracket that closes the outermost one; `None` if it is not here.
    pub(crate) fn close(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.string {
                at += self.skip_string(&bytes[at..]);
                continue;
            }
            at += 1;
            match byte {
                b'"' => self.string = true,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.too_deep |= self.depth > MAX_DEPTH;
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Reads a piece to its end, over any number of values.
    pub(crate) fn read(&mut self, mut bytes: &[u8]) {
        while let Some(end) = self.close(bytes) {
            bytes = &bytes[end..];
        }
    }

    /// Whether a bracket or a string is open.
    pub(crate) const fn is_open(&self) -> bool {
        self.depth > 0 || self.string
    }

    /// Whether the text was ever deeper than [`MAX_DEPTH`].
    pub(crate) const fn too_deep(&self) -> bool {
        self.too_deep
    }

    /// Reads in a string, at least one byte, at most to the byte after its closing quote.
    fn skip_string(&mut self, bytes: &[u8]) -> usize {
        if self.escaped {
            self.escaped = false;
            return 1;
        }
        let Some(at) = scan::quote_or_backslash(bytes) else {
            return bytes.len();
        };
        if bytes[at] == b'"' {
            self.string = false;
        } else {
            self.escaped = true;
        }
        at + 1
    }
}

/// Where `serde_json` stops by default; deeper values could not be decoded after all.
pub(crate) const MAX_DEPTH: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, end: Option<usize>) {
        assert_eq!(Nesting::default().close(text.as_bytes()), end, "whole");
        let mut nesting = Nesting::default();
        let by_byte = (0..text.len()).find(|&n| nesting.close(&text.as_bytes()[n..=n]).is_some());
        assert_eq!(by_byte.map(|n| n + 1), end, "byte by byte");
    }

    #[test]
    fn finds_the_closing_bracket() {
        check("{}", Some(2));
        check(r#"{"a":[1,{"b":2}]} {"#, Some(17));
        check("[[],[]]", Some(7));
        check("{", None);
    }

    #[test]
    fn brackets_and_quotes_in_strings_do_not_count() {
        check(r#"{"a":"}]"}"#, Some(10));
        check(r#"{"a":"\"}"}"#, Some(11));
        check(r#"{"a":"\\"}"#, Some(10));
        check(r#"{"a":"}"#, None);
    }

    #[test]
    fn reads_on_over_several_values() {
        let mut nesting = Nesting::default();
        nesting.read(b"{}{}[");
        assert!(nesting.is_open());
        nesting.read(b"]");
        assert!(!nesting.is_open());
    }

    #[test]
    fn remembers_too_great_a_depth() {
        let mut nesting = Nesting::default();
        nesting.read("[".repeat(MAX_DEPTH).as_bytes());
        assert!(!nesting.too_deep());
        nesting.read(b"[");
        nesting.read("]".repeat(MAX_DEPTH + 1).as_bytes());
        assert!(nesting.too_deep() && !nesting.is_open());
    }
}
