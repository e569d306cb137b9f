//! Where the prompt comes from.

use std::io::{self, IsTerminal};

use crate::failure::Failure;
use crate::input;

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
    let prompt = input::stdin("the prompt").await?;
    if prompt.is_empty() && !explicit {
        return Err(Failure::usage(
            "a prompt is missing, and standard input is empty",
        ));
    }
    Ok(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_given_prompt_is_taken_as_it_is_even_if_empty() {
        for prompt in ["hi\n", "", " - "] {
            assert_eq!(read(Some(prompt.to_owned())).await.unwrap(), prompt);
        }
    }
}
