//! Whether a request fits into the model's context, by an estimate.
//!
//! The API has two ceilings, 64 thousand tokens for the state with all questions and 32 thousand
//! for the state with the longest of them, and its error says neither which was passed nor by how
//! much. The estimate is a public one, 239 + 0.331 tokens a byte of JSON, which was found to
//! over-report by about a quarter; a picture counts 2 tokens for every 28 × 28 pixels. So a request
//! that is over by it may still be taken, and the client warns rather than refuses.

use std::io;

use crate::response::Warning;
use crate::system_one::encode::OneQuestion;
use crate::system_one::json::segment;
use crate::system_one::request::Request;

/// Estimates the input tokens of so many bytes of state and questions.
///
/// 239 for none; over-reports by about a quarter.
#[must_use]
pub fn estimate_tokens(bytes: usize) -> u64 {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    // Thousandths in whole numbers; what saturates is over every limit anyway.
    BASE_TOKENS.saturating_add(bytes.saturating_mul(331) / 1_000)
}

/// The two ceilings of a context, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextLimits {
    /// The state with all questions.
    pub all: u64,
    /// The state with its longest question.
    pub longest: u64,
}

impl ContextLimits {
    /// The hosted API's own: 64,000 and 32,000 (the provider's documents, 2026).
    pub const HOSTED: Self = Self {
        all: 64_000,
        longest: 32_000,
    };

    /// With the API's opt-in for long contexts: about 262,000 for both.
    pub const LONG: Self = Self {
        all: 262_144,
        longest: 262_144,
    };
}

/// What a request is estimated to take of each ceiling, in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextEstimate {
    /// The state with all questions.
    pub all: u64,
    /// The state with its longest question.
    pub longest: u64,
    /// The id of that question; empty where there is none.
    pub longest_id: String,
}

impl ContextEstimate {
    /// A warning for each ceiling that is passed; none where the request fits.
    #[must_use]
    pub fn excess(&self, limits: ContextLimits) -> Vec<Warning> {
        let question = format!("questions.{}", segment(&self.longest_id));
        [
            ("state".to_owned(), self.all, limits.all, "all questions"),
            (question, self.longest, limits.longest, "this question"),
        ]
        .into_iter()
        .filter(|(_, tokens, limit, _)| tokens > limit)
        .map(|(path, tokens, limit, what)| {
            let text = format!(
                "about {tokens} tokens for the state and {what}, and {limit} are taken; the \
                 estimate is some 25 % too high"
            );
            Warning::new(path, text)
        })
        .collect()
    }
}

impl Request {
    /// Estimates what the request takes of the model's context.
    #[must_use]
    pub fn context_estimate(&self) -> ContextEstimate {
        let pictures =
            (self.assets.iter()).fold(0_u64, |sum, (_, asset)| sum.saturating_add(asset.tokens()));
        let state = self.state.as_json().len();
        let (mut all, mut longest, mut longest_id) = (state, state, "");
        for (id, question) in self.questions.iter() {
            let mut count = Count(0);
            // Nothing can fail: the content is JSON already, and counting does no I/O.
            let bytes = serde_json::to_writer(&mut count, &OneQuestion(question));
            let bytes = bytes.map_or(0, |()| count.0);
            all = all.saturating_add(bytes);
            if longest_id.is_empty() || state.saturating_add(bytes) > longest {
                longest = state.saturating_add(bytes);
                longest_id = id;
            }
        }
        ContextEstimate {
            all: estimate_tokens(all).saturating_add(pictures),
            longest: estimate_tokens(longest).saturating_add(pictures),
            longest_id: longest_id.to_owned(),
        }
    }
}

/// Counts what is written to it.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the model is told around every request.
const BASE_TOKENS: u64 = 239;

#[cfg(test)]
mod tests;
