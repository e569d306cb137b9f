//! Percent-encoding of one path segment or query value (RFC 3986 §2).

/// Encodes everything but unreserved characters, so that no name can change the path it is in.
pub(crate) fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for nibble in [byte >> 4, byte & 15] {
                out.push(char::from(HEX[usize::from(nibble)]));
            }
        }
    }
    out
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_can_end_its_segment() {
        assert_eq!(segment("gemini-3-pro"), "gemini-3-pro");
        assert_eq!(segment("a/b?c#d:e f"), "a%2Fb%3Fc%23d%3Ae%20f");
        assert_eq!(segment("é"), "%C3%A9");
        assert_eq!(
            segment("sandbox-do-429(ra=1)*2,ok@t1"),
            "sandbox-do-429%28ra%3D1%29%2A2%2Cok%40t1"
        );
    }
}
