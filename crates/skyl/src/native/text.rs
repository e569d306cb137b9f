//! Text fields of answers, read so that none is lost in silence.

use serde_json::value::RawValue;

use crate::dialect::Fault;
use crate::dialect::lenient;

/// A text field: absent and null are empty.
///
/// # Errors
/// `Decode` for anything but a string, which would otherwise be a gap in the answer.
pub(crate) fn text(field: Option<&RawValue>) -> Result<String, Fault> {
    match field {
        None => Ok(String::new()),
        Some(raw) if raw.get() == "null" => Ok(String::new()),
        Some(raw) => lenient::string(raw)
            .map(Into::into)
            .ok_or_else(|| Fault::decode("a text field holds something else")),
    }
}

/// JSON text: a string holds it, anything else is it. Absent, null and `{}` say nothing.
///
/// What is no string loses its white space: servers space out whole answers and not streamed ones,
/// and both have to say the same.
pub(crate) fn json_text(field: Option<&RawValue>) -> String {
    let Some(raw) = field else {
        return String::new();
    };
    if let Some(text) = lenient::string(raw) {
        return text.into();
    }
    let json = lenient::compact(raw);
    if matches!(json.as_str(), "null" | "{}") {
        return String::new();
    }
    json
}

/// A body without the byte order mark and the blank lines that servers put around it.
pub(crate) fn bare(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(body)
        .trim_ascii()
}

/// Whether a body says that there is nothing.
pub(crate) fn is_nothing(body: &[u8]) -> bool {
    matches!(body, b"" | b"null" | b"[]")
}

/// The start of a message, as much as the client keeps of a body.
pub(crate) fn cut(mut message: String) -> String {
    let mut end = MESSAGE_BYTES.min(message.len());
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    message.truncate(end);
    message
}

const MESSAGE_BYTES: usize = 2_048;

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Option<&RawValue> {
        serde_json::from_str(json).ok()
    }

    #[test]
    fn text_may_be_null_but_not_a_number() {
        assert_eq!(text(None).unwrap(), "");
        assert_eq!(text(raw("null")).unwrap(), "");
        assert_eq!(text(raw(r#""a\n""#)).unwrap(), "a\n");
        assert!(text(raw("5")).is_err());
        assert!(text(raw("{}")).is_err());
    }

    #[test]
    fn json_may_be_text_or_itself() {
        for (json, expected) in [
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("{\n  \"a\": [1, \" \\\" \"]\n}", r#"{"a":[1," \" "]}"#),
            ("null", ""),
            ("{}", ""),
            ("{ }", ""),
            (r#""""#, ""),
        ] {
            assert_eq!(json_text(raw(json)), expected, "{json}");
        }
        assert_eq!(json_text(None), "");
    }

    #[test]
    fn a_message_is_cut_at_a_character() {
        assert_eq!(cut("short".into()), "short");
        let long = cut("é".repeat(2_000) + "x");
        assert_eq!(long.len(), 2_048);
        assert_eq!(cut(format!("x{}", "é".repeat(2_000))).len(), 2_047);
    }
}
