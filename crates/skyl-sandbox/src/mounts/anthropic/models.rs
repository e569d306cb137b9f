//! The catalogue, page by page.

use serde_json::{Value, json};

use super::{errors::Refusal, read::Version};
use crate::{
    answer::{Answer, Call, Whole},
    mounts::{House, Request, percent_decoded},
};

/// A page of the catalogue.
pub(super) fn list(request: &Request, house: &House) -> Call {
    let page = Version::of(&request.headers).and_then(|_| page(request, house));
    whole(page.map_or_else(|refusal| refusal.whole(), |page| Whole::json(200, &page)))
}

/// One model of the catalogue; named in the path, it can be a fault like any other.
pub(super) fn one(request: &Request, segment: &str, house: &House) -> Call {
    let id = percent_decoded(segment);
    let found = Version::of(&request.headers).and_then(|_| {
        known(house)
            .find(|model| *model == id)
            .map(entry)
            .ok_or_else(|| Refusal::not_found(&format!("model: {id}")))
    });
    let answer = found.map_or_else(|refusal| refusal.whole(), |entry| Whole::json(200, &entry));
    Call {
        model: Some(id),
        ..whole(answer)
    }
}

/// The ids on offer, in the order of the list.
pub(super) fn known(house: &House) -> impl Iterator<Item = &str> {
    CATALOGUE
        .iter()
        .map(|model| model.id)
        .chain(house.models.iter().map(String::as_str))
}

/// What a model takes and gives at most, in tokens; `None` outside the catalogue.
pub(super) fn limits(id: &str) -> Option<(u64, u64)> {
    let model = CATALOGUE.iter().find(|model| model.id == id)?;
    Some((model.input, model.output))
}

fn page(request: &Request, house: &House) -> Result<Value, Refusal> {
    let limit = match request.query("limit") {
        None => DEFAULT_LIMIT,
        Some(text) => {
            let limit = text.parse().ok();
            limit
                .filter(|limit| (1..=MAX_LIMIT).contains(limit))
                .ok_or_else(|| {
                    Refusal::field("limit", "Input should be a whole number from 1 to 1000")
                })?
        }
    };
    let ids: Vec<_> = known(house).collect();
    let place = |name: &str| match request.query(name) {
        None => Ok(None),
        Some(cursor) => ids
            .iter()
            .position(|id| *id == cursor)
            .map(Some)
            .ok_or_else(|| Refusal::field(name, &format!("no model has the id `{cursor}`"))),
    };
    let (page, has_more) = match (place("after_id")?, place("before_id")?) {
        (Some(_), Some(_)) => {
            let message = "after_id and before_id may not be used together";
            return Err(Refusal::invalid(message));
        }
        (after, None) => {
            let start = after.map_or(0, |after| after + 1);
            let end = ids.len().min(start.saturating_add(limit));
            (&ids[start..end], end < ids.len())
        }
        // Backwards, the page is the one that ends before the cursor.
        (None, Some(before)) => {
            let start = before.saturating_sub(limit);
            (&ids[start..before], start > 0)
        }
    };
    Ok(json!({
        "data": page.iter().map(|id| entry(id)).collect::<Value>(),
        "has_more": has_more,
        "first_id": page.first(),
        "last_id": page.last(),
    }))
}

fn entry(id: &str) -> Value {
    let model = CATALOGUE.iter().find(|model| model.id == id);
    json!({
        "type": "model",
        "id": id,
        "display_name": model.map_or(id, |model| model.display),
        "created_at": CREATED,
        "max_input_tokens": model.map(|model| model.input),
        "max_tokens": model.map(|model| model.output),
    })
}

fn whole(answer: Whole) -> Call {
    Call {
        model: None,
        refused: false,
        tokens: 0,
        answer: Answer::Whole(answer),
    }
}

struct Model {
    id: &'static str,
    display: &'static str,
    /// Tokens it takes at most.
    input: u64,
    /// Tokens it gives at most.
    output: u64,
}

const CATALOGUE: [Model; 3] = [
    Model {
        id: "claude-opus-5",
        display: "Claude Opus 5",
        input: 400_000,
        output: 64_000,
    },
    Model {
        id: "claude-sonnet-5",
        display: "Claude Sonnet 5",
        input: 400_000,
        output: 64_000,
    },
    Model {
        id: "claude-haiku-4-5",
        display: "Claude Haiku 4.5",
        input: 200_000,
        output: 32_000,
    },
];

/// Answers must not depend on the day.
const CREATED: &str = "2026-01-01T00:00:00Z";

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 1000;
