//! Where the prompt comes from.

use std::io::{self, IsTerminal, Read};

use crate::failure::Failure;

/// The prompt: as it was given, or from standard input.
pub(super) async fn read(given: Option<String>) -> Result<String, Failure> {
    let explicit = match given {
        Some(prompt) if prompt != "-" => return Ok(prompt),
        given => given.is_some(),
    };
    if !explicit && io::stdin().is_terminal() {
        return Err(Failure::usage(
            "a prompt is missing; `-` reads it from standard input",
        ));
    }
    // Reading blocks; on its own thread it cannot hold up an interrupt.
    let read = tokio::task::spawn_blocking(|| from(io::stdin().lock()));
    let prompt = read
        .await
        .map_err(|error| Failure::internal(error.to_string()))??;
    if prompt.is_empty() && !explicit {
        return Err(Failure::usage(
            "a prompt is missing, and standard input is empty",
        ));
    }
    Ok(prompt)
}

fn from(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    input
        .take(MAX_PROMPT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::usage(format!("cannot read the prompt: {error}")))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_PROMPT_BYTES) {
        return Err(Failure::usage(
            "the prompt on standard input is longer than 16 MiB",
        ));
    }
    let mut prompt = String::from_utf8(bytes)
        .map_err(|_| Failure::usage("the prompt on standard input is not valid UTF-8"))?;
    // The line end that `echo` and editors put last is not part of what was said.
    if prompt.ends_with('\n') {
        prompt.pop();
        if prompt.ends_with('\r') {
            prompt.pop();
        }
    }
    Ok(prompt)
}

/// Longer than every model's context; a file somebody piped by mistake may be longer still.
const MAX_PROMPT_BYTES: u64 = 16 * 1024 * 1024;

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
            assert_eq!(from(input.as_bytes()).unwrap(), expected, "{input:?}");
        }
    }

    #[test]
    fn what_is_no_text_or_too_much_is_refused() {
        let refused = |input: &mut dyn Read| from(input).unwrap_err().line();
        assert!(refused(&mut &b"\xff\xfe"[..]).contains("UTF-8"));
        assert!(refused(&mut io::repeat(b'a')).contains("16 MiB"));
    }

    #[tokio::test]
    async fn a_given_prompt_is_taken_as_it_is_even_if_empty() {
        for prompt in ["hi\n", "", " - "] {
            assert_eq!(read(Some(prompt.to_owned())).await.unwrap(), prompt);
        }
    }
}
