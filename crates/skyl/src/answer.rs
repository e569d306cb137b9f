//! The answer to a call, with what only the client knows about it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::attempts::{Attempt, Attempts};
use crate::dialect::Decoded;
use crate::message::{Message, Part, Role, ToolCall};
use crate::rate_limit::RateLimit;
use crate::response::{StopReason, Usage, Warning};

/// What a call gave: the answer, what it cost, and what it took to get it.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Response {
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// The provider's name.
    pub provider: Arc<str>,
    /// The model that served; `None` if the provider did not name it.
    pub model: Option<String>,
    /// The assistant's turn, ready to go into the next request.
    pub message: Message,
    /// The words of a refusal that came beside text; a refusal alone is an error.
    pub refusal: Option<String>,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// What it cost, in tokens.
    pub usage: Usage,
    /// The id under which the provider knows the request.
    pub request_id: Option<String>,
    /// What the provider said about its limits.
    pub rate_limit: Option<RateLimit>,
    /// Time from the first attempt to the whole answer, waits included.
    pub elapsed: Duration,
    /// The body as it came; empty for an answer that was streamed.
    pub raw: Bytes,
    /// What could not be expressed or read exactly.
    pub warnings: Vec<Warning>,
    pub(crate) attempts: Attempts,
}

impl Response {
    /// All text parts joined without a separator.
    #[must_use]
    pub fn text(&self) -> String {
        self.message.text()
    }

    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.message.tool_calls()
    }

    /// The attempts it took, in order; the last one is the one that succeeded.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        self.attempts.as_slice()
    }

    /// The answer a dialect decoded; the client's own fields are filled in after it.
    pub(crate) fn from_decoded(decoded: Decoded, provider: &Arc<str>) -> Self {
        let Decoded {
            id,
            model,
            parts,
            refusal,
            stop_reason,
            usage,
            request_id,
            warnings,
        } = decoded;
        Self {
            id,
            provider: Arc::clone(provider),
            model,
            message: Message::new(Role::Assistant, parts),
            refusal,
            stop_reason,
            usage,
            request_id,
            rate_limit: None,
            elapsed: Duration::ZERO,
            raw: Bytes::new(),
            warnings,
            attempts: Attempts::default(),
        }
    }
}

// Completions stay out of debug prints, as in `message`.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("id", &self.id)
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("message", &self.message)
            .field("refusal_bytes", &self.refusal.as_ref().map(String::len))
            .field("stop_reason", &self.stop_reason)
            .field("usage", &self.usage)
            .field("request_id", &self.request_id)
            .field("rate_limit", &self.rate_limit)
            .field("elapsed", &self.elapsed)
            .field("raw_bytes", &self.raw.len())
            .field("warnings", &self.warnings)
            .field("attempts", &self.attempts())
            .finish()
    }
}

/// Applies the refusal rule: the words of a refusal that is no answer, if it is one.
///
/// Declining without a text is an error, so that nobody takes silence for an answer. A text that
/// came with it makes it an answer, whose stop reason then says so. Tool calls count as text: they
/// are something to act on.
pub(crate) fn refusal(decoded: &mut Decoded) -> Option<String> {
    let words = decoded.refusal.as_deref().unwrap_or_default();
    if words.is_empty() && decoded.stop_reason != StopReason::Refusal {
        return None;
    }
    let answered = decoded.parts.iter().any(|part| match part {
        Part::Text(text) => !text.text.is_empty(),
        Part::ToolCall(_) => true,
        _ => false,
    });
    if answered {
        decoded.stop_reason = StopReason::Refusal;
        return None;
    }
    Some(decoded.refusal.take().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        parts: Vec<Part>,
        words: Option<&str>,
        stop: StopReason,
    ) -> (Option<String>, StopReason) {
        let mut decoded = Decoded::new(parts, stop);
        decoded.refusal = words.map(str::to_owned);
        (refusal(&mut decoded), decoded.stop_reason)
    }

    #[test]
    fn a_refusal_without_text_is_an_error_with_its_words() {
        let words = Some("I cannot help with that.");
        assert_eq!(
            check(vec![], words, StopReason::EndTurn).0.as_deref(),
            words
        );
        assert_eq!(
            check(vec![], None, StopReason::Refusal).0.as_deref(),
            Some("")
        );
        assert_eq!(
            check(vec![Part::text("")], words, StopReason::EndTurn)
                .0
                .as_deref(),
            words
        );
    }

    #[test]
    fn a_refusal_with_text_is_an_answer_that_says_so() {
        let text = || vec![Part::text("Well,")];
        assert_eq!(
            check(text(), Some("no"), StopReason::EndTurn),
            (None, StopReason::Refusal)
        );
        assert_eq!(
            check(text(), None, StopReason::Refusal),
            (None, StopReason::Refusal)
        );
        let call = vec![Part::ToolCall(ToolCall::new("c", "t", "{}"))];
        assert_eq!(check(call, None, StopReason::Refusal).0, None);
    }

    #[test]
    fn an_answer_without_text_is_no_refusal() {
        assert_eq!(
            check(vec![], None, StopReason::EndTurn),
            (None, StopReason::EndTurn)
        );
        assert_eq!(check(vec![], Some(""), StopReason::MaxTokens).0, None);
    }
}
