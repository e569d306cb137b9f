//! Text from standard input, and other reads that may have to wait for somebody.

use std::io::{self, Read};

use crate::failure::Failure;

/// All of standard input, with `what` it is for those who read an error.
pub(crate) async fn stdin(what: &'static str) -> Result<String, Failure> {
    blocking((), move |()| from(io::stdin().lock(), what)).await
}

/// Does what may block, such as opening a pipe, on a thread of its own: there it cannot hold up an
/// interrupt.
pub(crate) async fn blocking<A, T>(
    of: A,
    work: impl FnOnce(A) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure>
where
    A: Send + 'static,
    T: Send + 'static,
{
    tokio::task::spawn_blocking(move || work(of))
        .await
        .map_err(|error| Failure::internal(error.to_string()))?
}

fn from(input: impl Read, what: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    input
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::usage(format!("cannot read {what}: {error}")))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_BYTES) {
        return Err(Failure::usage(format!(
            "{what} on standard input is longer than {MAX_MIB} MiB"
        )));
    }
    let mut text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{what} on standard input is not valid UTF-8")))?;
    trim_end(&mut text);
    Ok(text)
}

/// Drops the line end that `echo` and editors put last: it is not part of what was said.
pub(crate) fn trim_end(text: &mut String) {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
}

/// Longer than every model's context; a file somebody piped by mistake may be longer still.
pub(crate) const MAX_MIB: u64 = 16;
const MAX_BYTES: u64 = MAX_MIB * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_end_at_the_end_is_dropped_and_no_more() {
        for (input, expected) in [
            ("a", "a"),
            ("a\n", "a"),
            ("a\r\n", "a"),
            ("a\n\n", "a\n"),
            ("\n", ""),
            ("", ""),
            ("a\nb", "a\nb"),
        ] {
            assert_eq!(from(input.as_bytes(), "x").unwrap(), expected, "{input:?}");
        }
    }

    #[test]
    fn what_is_no_text_or_too_much_is_refused() {
        let refused = |input: &mut dyn Read| from(input, "the prompt").unwrap_err().line();
        assert!(refused(&mut &b"\xff\xfe"[..]).contains("UTF-8"));
        assert!(refused(&mut io::repeat(b'a')).contains("16 MiB"));
    }
}
