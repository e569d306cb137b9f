//! Forms (RFC 7578), as far as clients write them: parts with a name, in a body that is at hand.

use bytes::Bytes;
use memchr::memmem;

/// One part of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) content: Bytes,
}

/// Whether a content type says that the body is a form.
pub(super) fn is_form(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("multipart/form-data")
}

/// The boundary a content type names, of 1 to 70 characters (RFC 2046).
pub(super) fn boundary(content_type: &str) -> Option<String> {
    let (_, parameters) = content_type.split_once(';')?;
    parameter(parameters, "boundary").filter(|boundary| (1..=70).contains(&boundary.len()))
}

/// The parts of a form in their order; `None` if it is no well-formed one.
pub(super) fn parts(boundary: &str, body: &Bytes) -> Option<Vec<Part>> {
    let delimiter = format!("\r\n--{boundary}");
    // The first delimiter may stand at the very start, where no line ends before it.
    let opening = delimiter.trim_start().as_bytes();
    let mut at = if body.starts_with(opening) {
        opening.len()
    } else {
        memmem::find(body, delimiter.as_bytes())? + delimiter.len()
    };
    let mut parts: Vec<Part> = Vec::new();
    loop {
        let rest = body.get(at..)?;
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        // White space may pad the delimiter's line.
        let line = memmem::find(rest, b"\r\n")?;
        let padded = rest.get(..line)?;
        if parts.len() == MAX_PARTS || !padded.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return None;
        }
        // From the end of the delimiter's line, so that a part without headers ends at once.
        let head_at = at + line;
        let head = body.get(head_at..)?;
        let head_length = memmem::find(head.get(..MAX_HEAD.min(head.len()))?, b"\r\n\r\n")?;
        let content_at = head_at + head_length + 4;
        let content = body.get(content_at..)?;
        let length = memmem::find(content, delimiter.as_bytes())?;
        let name = name(head.get(..head_length)?)?;
        if parts.iter().any(|part| part.name == name) {
            return None;
        }
        parts.push(Part {
            name,
            content: body.slice(content_at..content_at + length),
        });
        at = content_at + length + delimiter.len();
    }
}

/// The name in a part's headers.
fn name(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let (_, value) =
        lines.find(|(line, _)| line.trim().eq_ignore_ascii_case("content-disposition"))?;
    let (kind, parameters) = value.split_once(';')?;
    let form = kind.trim().eq_ignore_ascii_case("form-data");
    parameter(parameters, "name").filter(|_| form)
}

/// A parameter of a header, quoted or not.
fn parameter(text: &str, name: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let (key, after) = rest.split_once('=')?;
        let key = key.trim_matches([' ', '\t', ';']);
        let (value, left) = value(after)?;
        if key.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = left;
    }
}

/// A value up to its end, and what stands behind it; `None` if a quote is never closed.
fn value(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start_matches([' ', '\t']);
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, left) = text.split_once(';').unwrap_or((text, ""));
        return Some((value.trim().to_owned(), left));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, quoted.get(at + 1..)?)),
            '\\' => value.push(chars.next()?.1),
            other => value.push(other),
        }
    }
    None
}

/// Headers of a part: a name, a file name and a content type.
const MAX_HEAD: usize = 8 * 1024;

/// Parts of a form: the request, and the most assets that are taken.
const MAX_PARTS: usize = super::assets::MAX_ASSETS + 1;
