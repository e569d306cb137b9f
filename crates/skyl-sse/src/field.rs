//! What one line of server-sent events says.

use crate::scan;

/// A line without its end, told apart by its field name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// The empty line, which ends a block.
    Blank,
    Comment(&'a [u8]),
    Data(&'a [u8]),
    /// The `event` field.
    Name(&'a [u8]),
    Id(&'a [u8]),
    Retry(&'a [u8]),
    /// The `error` field: none of the standard's, but llama.cpp used to report errors by it.
    Error(&'a [u8]),
    /// A field that is well-formed and means nothing, to be ignored as the standard says.
    Unknown,
    /// No field at all.
    Stray,
}

impl<'a> Line<'a> {
    /// Reads a line. A value is always the end of the line.
    ///
    /// The standard takes every line for a field, whatever stands before its first colon, and so
    /// `  "error": {` for an unknown one. Here a field's name is letters, digits, `-` and `_`;
    /// no stream is known to use others, and bare JSON never looks like that.
    pub(crate) fn parse(line: &'a [u8]) -> Self {
        let (name, value) = match line.iter().position(|&b| !is_name_byte(b)) {
            None if line.is_empty() => return Self::Blank,
            None => (line, &line[line.len()..]),
            Some(colon) if line[colon] == b':' => (&line[..colon], value(&line[colon + 1..])),
            // White space alone is no field, but also nothing to hand out.
            Some(_) if scan::is_blank(line) => return Self::Unknown,
            Some(_) => return Self::Stray,
        };
        match name {
            b"" => Self::Comment(value),
            b"data" => Self::Data(value),
            b"event" => Self::Name(value),
            b"id" => Self::Id(value),
            b"retry" => Self::Retry(value),
            b"error" => Self::Error(value),
            _ => Self::Unknown,
        }
    }
}

/// Strips the one space that may follow the colon.
#[inline]
pub(crate) fn value(after_colon: &[u8]) -> &[u8] {
    after_colon.strip_prefix(b" ").unwrap_or(after_colon)
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Line<'_>) {
        assert_eq!(Line::parse(line.as_bytes()), expected, "{line:?}");
    }

    #[test]
    fn reads_each_known_field_with_and_without_a_space() {
        check("", Line::Blank);
        check("data", Line::Data(b""));
        check("data:", Line::Data(b""));
        check("data:x", Line::Data(b"x"));
        check("data: x", Line::Data(b"x"));
        check("data:  x", Line::Data(b" x"));
        check("data:\tx", Line::Data(b"\tx"));
        check("event: tick", Line::Name(b"tick"));
        check("id: a:b", Line::Id(b"a:b"));
        check("retry:10", Line::Retry(b"10"));
        check(":", Line::Comment(b""));
        check(": ping", Line::Comment(b"ping"));
        check("error: {}", Line::Error(b"{}"));
    }

    #[test]
    fn ignores_other_well_formed_names() {
        for line in [
            "Data: x",
            "datum: x",
            "data-x: y",
            "x_1:",
            "OK",
            "   ",
            "\t",
        ] {
            check(line, Line::Unknown);
        }
    }

    #[test]
    fn json_and_prose_are_no_fields() {
        for line in [
            "{",
            r#"  "error": {"#,
            r#""error": {"#,
            "}]",
            "[DONE]",
            " data: x",
            "data : x",
            "Internal Server Error",
            "<html>",
            "HTTP/1.1 502 Bad Gateway",
            "d\u{e4}ta: x",
        ] {
            check(line, Line::Stray);
        }
    }
}
