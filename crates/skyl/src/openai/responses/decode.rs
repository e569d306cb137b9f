//! Whole answers.
//!
//! The items go through the same code as a stream's, so that both give the same answer.

use super::stream::Responses;
use super::wire::Answer;
use crate::dialect::lenient::{Object, is_blank};
use crate::dialect::{Decoded, Fault, Head};
use crate::openai::classify;
use crate::openai::decode::{json, no_object_at_all, read};
use crate::sink::Sink;

/// Decodes the body of an answer with a status below 300.
pub(super) fn answer(head: &Head<'_>, body: &[u8], family: &str) -> Result<Decoded, Fault> {
    let text = json(body)?;
    let Object(Some(answer)) = read::<Object<Answer<'_>>>(text)? else {
        return Err(no_object_at_all(head, text));
    };
    let is_answer = answer.object.get() == Some("response") || answer.output.is_some();
    if !is_answer {
        let error = answer.error.is_some_and(|error| !is_blank(error));
        if error || answer.kind.get() == Some("error") || answer.object.get() == Some("error") {
            return Err(classify::in_band(text, Some(head.now())));
        }
        return Err(classify::no_answer(text, Some(head.now())));
    }
    let mut sink = Sink::new();
    let mut decoder = Responses::new(head, family);
    decoder.close(&answer, answer.status.get(), Some(head.now()), &mut sink)?;
    Ok(sink.partial())
}
