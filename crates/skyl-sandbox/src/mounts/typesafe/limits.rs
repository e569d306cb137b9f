//! What the provider refuses although it fits the schema, and how many tokens a request has.

use http::HeaderMap;
use serde_json::{Map, Value};

use super::{
    check::{Asked, Kind},
    errors::Refusal,
};

/// The tokens of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
}

impl Usage {
    pub(super) fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// Refuses a top-level field the provider does not know; it does not say which.
pub(super) fn known_fields(document: &Map<String, Value>) -> Result<(), Refusal> {
    let known = |name: &String| FIELDS.contains(&name.as_str());
    if document.keys().all(known) {
        Ok(())
    } else {
        Err(Refusal::usage("Invalid request."))
    }
}

/// Refuses questions that are too large, too small or without a name.
pub(super) fn questions(asked: &Asked<'_>) -> Result<(), Refusal> {
    for question in &asked.questions {
        let id = question.id;
        let message = match question.kind {
            _ if id.is_empty() => "Question key cannot be empty.".to_owned(),
            Kind::Choice(options) if options.is_empty() => {
                format!("Choice question must have at least one choice: {id}")
            }
            Kind::Choice(options) if options.len() > MAX_OPTIONS => {
                format!("Too many choices. Must have at most {MAX_OPTIONS} choices.")
            }
            Kind::Score(levels) if levels.len() > MAX_LEVELS => {
                format!("Too many score levels. Must have at most {MAX_LEVELS} levels.")
            }
            _ => continue,
        };
        return Err(Refusal::text(message));
    }
    Ok(())
}

/// The tokens of a request, unless one of the two ceilings is passed.
///
/// Input is 239 and 0.331 for each byte of the state and of every question, as compact JSON, and a
/// thousand for each image, rounded up. Output is 20 for a noul, 17 for a score, 25 for a box, and
/// 24 and 6 for each option of a choice. These are measurements of others of the hosted API, but
/// for the images: a picture is not decoded, and its size is what the provider counts.
pub(super) fn tokens(
    asked: &Asked<'_>,
    images: usize,
    headers: &HeaderMap,
) -> Result<Usage, Refusal> {
    let state = bytes(asked.state);
    let questions = asked.questions.iter().map(|question| bytes(question.json));
    let longest = questions.clone().max().unwrap_or_default();
    let images = count(images).saturating_mul(IMAGE_TOKENS);
    let estimate = |bytes: u64| {
        let text = bytes.saturating_mul(BYTE_MILLITOKENS).div_ceil(1000);
        text.saturating_add(BASE_TOKENS).saturating_add(images)
    };
    let input = estimate(questions.fold(state, u64::saturating_add));
    let [all, one] = if opted_in(headers, LONG_CONTEXT) {
        [LONG_TOKENS; 2]
    } else {
        CEILINGS
    };
    if input > all || estimate(state.saturating_add(longest)) > one {
        return Err(Refusal::too_long());
    }
    let output = asked.questions.iter().map(|question| match question.kind {
        Kind::Noul => 20,
        Kind::Score(_) => 17,
        Kind::Box => 25,
        Kind::Choice(options) => 24 + 6 * count(options.len()),
    });
    Ok(Usage {
        input,
        output: output.fold(0, u64::saturating_add),
    })
}

/// Whether a request opts into something the provider calls dangerous.
pub(super) fn opted_in(headers: &HeaderMap, name: &str) -> bool {
    headers
        .get(name)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true"))
}

fn bytes(value: &Value) -> u64 {
    count(value.to_string().len())
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

const FIELDS: [&str; 4] = ["state", "model", "questions", "assets"];

const MAX_OPTIONS: usize = 255;
const MAX_LEVELS: usize = 10;

const LONG_CONTEXT: &str = "typesafe-danger-zone-long-context";

/// State with all questions, and state with the longest question.
const CEILINGS: [u64; 2] = [64 * 1024, 32 * 1024];
/// Either, for a request that opts into long contexts.
const LONG_TOKENS: u64 = 256 * 1024;

const BASE_TOKENS: u64 = 239;
const BYTE_MILLITOKENS: u64 = 331;
const IMAGE_TOKENS: u64 = 1000;
