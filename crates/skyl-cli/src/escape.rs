//! Text of others, made safe to print.
//!
//! What a server says may hold control bytes: a terminal obeys them, and a log line breaks in two.
//! Diagnostics therefore show them as `\xNN` or `\u{NNNN}`, and so does an answer that goes to a
//! terminal; an answer that goes anywhere else keeps its exact bytes.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// One line: every control character is shown, line ends included; a tab stays.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\t')
}

/// JSON, as it is written: what a terminal would still obey becomes `\uNNNN`, which reads the same.
///
/// Such characters stand in strings alone; JSON writers escape those below a space themselves.
pub(crate) fn json(line: &str) -> Cow<'_, str> {
    replace(
        line,
        |_| false,
        |c, out| write!(out, "\\u{:04x}", u32::from(c)),
    )
}

/// Text for a terminal: as [`line()`], but line ends stay.
pub(crate) fn block(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\t' || c == '\n')
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    replace(text, keep, |c, out| match u32::from(c) {
        code @ 0..0x80 => write!(out, "\\x{code:02x}"),
        code => write!(out, "\\u{{{code:x}}}"),
    })
}

fn replace(
    text: &str,
    keep: impl Fn(char) -> bool,
    write: impl Fn(char, &mut String) -> fmt::Result,
) -> Cow<'_, str> {
    let shown = |c: char| keep(c) || !is_unsafe(c);
    if text.chars().all(&shown) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _infallible = if shown(c) {
            escaped.write_char(c)
        } else {
            write(c, &mut escaped)
        };
    }
    Cow::Owned(escaped)
}

/// Control characters, the line ends of Unicode, and the marks that reorder what is shown.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}'
        )
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_never_obeyed() {
        for (text, expected) in [
            ("\u{1b}[2Jgone", "\\x1b[2Jgone"),
            ("a\r\nb\0", "a\\x0d\\x0ab\\x00"),
            ("\u{7f}\u{9b}", "\\x7f\\u{9b}"),
            ("a\u{202e}b\u{2028}", "a\\u{202e}b\\u{2028}"),
        ] {
            assert_eq!(line(text), expected);
        }
    }

    #[test]
    fn json_reads_the_same_and_holds_nothing_a_terminal_obeys() {
        let text = "\u{1b}[2J \u{7f}\u{9b}31m \u{202e}x\u{2028} ünïcødé \"\\";
        let written = serde_json::to_string(text).unwrap();
        let escaped = json(&written);
        assert!(!escaped.chars().any(is_unsafe), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        assert!(matches!(json(r#"{"a":"ü"}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in ["", "plain", "tab\tstays", "Ünïcødé 朝 🌊", "\\x1b is text"] {
            assert!(
                matches!(line(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn only_a_block_keeps_its_line_ends() {
        assert_eq!(block("a\nb\u{1b}"), "a\nb\\x1b");
        assert_eq!(line("a\nb"), "a\\x0ab");
    }
}
