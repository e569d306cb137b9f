//! Bodies of errors that are no JSON: a proxy's page, a line of text.

/// What such a body says in one line: a page's title, or the first line of text. May be empty.
pub(crate) fn headline(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    let line = match text.as_bytes().first() {
        Some(b'<') => title(text),
        // JSON that was cut says nothing that could be trusted.
        Some(b'{' | b'[') | None => "",
        Some(_) => text.lines().next().unwrap_or_default(),
    };
    line.trim()
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_CHARS)
        .collect()
}

fn title(page: &str) -> &str {
    let lower = page.to_ascii_lowercase();
    // Lower-casing ASCII moves no byte, so places in one are places in the other.
    let inside = || {
        let start = lower.find("<title>")? + "<title>".len();
        let end = start + lower[start..].find("</title>")?;
        page.get(start..end)
    };
    inside().unwrap_or_default()
}

/// As much as belongs in one line of a log.
const MAX_CHARS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_told_by_its_title_and_text_by_its_first_line() {
        for (body, expected) in [
            (
                "<html><head><TITLE>502 Bad Gateway</TITLE></head></html>",
                "502 Bad Gateway",
            ),
            ("<html></html>", ""),
            ("<title>", ""),
            (
                "\u{feff} upstream connect error\nmore",
                "upstream connect error",
            ),
            ("", ""),
            ("{\"error\":", ""),
        ] {
            assert_eq!(headline(body.as_bytes()), expected, "{body}");
        }
        assert_eq!(headline(&[0xff, b'x']), "\u{fffd}x");
        assert_eq!(headline("é".repeat(300).as_bytes()).chars().count(), 200);
    }
}
