//! The catalogue, page by page.

use serde_json::{Value, json};

use super::errors::{Refusal, pretty};
use crate::{
    answer::{Answer, Call, Whole},
    mounts::{House, Request, percent_decoded},
};

/// A page of the catalogue.
pub(super) fn list(request: &Request, house: &House) -> Call {
    let page = page(request, house);
    whole(page.map_or_else(|refusal| refusal.whole(), |page| pretty(200, &page)))
}

/// One model of the catalogue; named in the path, it can be a fault like any other.
pub(super) fn one(segment: &str, house: &House, version: &str) -> Call {
    let id = percent_decoded(segment);
    let answer = known(house).find(|model| *model == id).map_or_else(
        || Refusal::model(&id, version).whole(),
        |model| pretty(200, &entry(model)),
    );
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

/// What a model takes at most, in tokens; `None` outside the catalogue.
pub(super) fn input_limit(id: &str) -> Option<u64> {
    let model = CATALOGUE.iter().find(|model| model.id == id)?;
    Some(model.input)
}

fn page(request: &Request, house: &House) -> Result<Value, Refusal> {
    let size = match request.query("pageSize").as_deref() {
        None | Some("0") => DEFAULT_SIZE,
        Some(text) => text
            .parse::<usize>()
            .map_err(|_| Refusal::value("page_size", &json!(text)))?
            .min(MAX_SIZE),
    };
    let ids: Vec<_> = known(house).collect();
    let start = match request.query("pageToken").as_deref() {
        None | Some("") => 0,
        Some(token) => {
            let start = token
                .strip_prefix(TOKEN)
                .and_then(|start| start.parse().ok());
            start
                .filter(|start| (1..ids.len()).contains(start))
                .ok_or_else(|| Refusal::invalid("Invalid page token."))?
        }
    };
    let end = ids.len().min(start.saturating_add(size));
    let models: Value = ids[start..end].iter().map(|id| entry(id)).collect();
    let mut page = json!({"models": models});
    if end < ids.len() {
        page["nextPageToken"] = json!(format!("{TOKEN}{end}"));
    }
    Ok(page)
}

fn entry(id: &str) -> Value {
    let model = CATALOGUE.iter().find(|model| model.id == id);
    let mut entry = json!({
        "name": format!("models/{id}"),
        "version": "001",
        "displayName": model.map_or(id, |model| model.display),
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    });
    if let Some(model) = model {
        entry["inputTokenLimit"] = json!(model.input);
        entry["outputTokenLimit"] = json!(model.output);
    }
    entry
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

const CATALOGUE: [Model; 2] = [
    Model {
        id: "gemini-3.6-flash",
        display: "Gemini 3.6 Flash",
        input: 1_000_000,
        output: 64_000,
    },
    Model {
        id: "gemini-3.6-pro",
        display: "Gemini 3.6 Pro",
        input: 2_000_000,
        output: 64_000,
    },
];

const DEFAULT_SIZE: usize = 50;
const MAX_SIZE: usize = 1000;

/// What a page token begins with; clients send it back as it is.
const TOKEN: &str = "sandbox-page-";
