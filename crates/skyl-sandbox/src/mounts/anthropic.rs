//! Anthropic as its reference documents it: messages, token counting and models, on `/anthropic/v1`.

mod errors;
mod models;
mod read;
mod turns;
mod write;

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, Method, header};
use serde_json::{Map, Value, json};

use crate::{
    answer::{Answer, Call, Whole},
    fault::Named,
    http_date,
    limiter::Dimension,
    mounts::{Cause, House, Mount, Request, Spot, says::ODDITIES},
};

use self::{
    errors::Refusal,
    read::{Messages, Version},
};

/// The mount.
#[derive(Debug)]
pub(crate) struct Anthropic;

impl Anthropic {
    fn route(request: &Request, house: &House) -> Result<Call, Refusal> {
        authorized(&request.headers, &house.key)?;
        match (request.path.as_str(), &request.method) {
            ("/messages", &Method::POST) => named(request, house, ordinary),
            ("/messages/count_tokens", &Method::POST) => named(request, house, counted),
            ("/models", &Method::GET) => Ok(models::list(request, house)),
            ("/messages" | "/messages/count_tokens" | "/models", _) => Err(Refusal::method()),
            (path, &Method::GET) if path.starts_with("/models/") => {
                Ok(models::one(request, &path["/models/".len()..], house))
            }
            _ => Err(Refusal::not_found("Not Found")),
        }
    }
}

impl Mount for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn prefix(&self) -> &'static str {
        "/anthropic/v1"
    }

    fn read(&self, request: &Request, house: &House) -> Call {
        Self::route(request, house).unwrap_or_else(|refusal| Call::refused(refusal.whole()))
    }

    fn error(&self, status: u16, cause: Cause, message: &str) -> Whole {
        errors::injected(status, cause, message)
    }

    fn overload_frame(&self, message: &str, _: Spot) -> Bytes {
        write::frame("error", &errors::overloaded(message))
    }

    fn numbered(&self, answer: Whole, seq: u64) -> Whole {
        errors::numbered(answer, &request_id(seq))
    }

    fn limits(&self, limits: &[Dimension], wall: SystemTime) -> Vec<(&'static str, String)> {
        let lines = limits.iter().flat_map(|limit| {
            let [of, left, reset] = match limit.name {
                "requests" => REQUEST_LIMITS,
                _ => TOKEN_LIMITS,
            };
            [
                (of, limit.limit.to_string()),
                (left, limit.remaining.to_string()),
                (reset, http_date::rfc3339_after(wall, limit.reset)),
            ]
        });
        lines.collect()
    }

    fn headers(&self, seq: u64) -> Vec<(&'static str, String)> {
        vec![
            ("request-id", request_id(seq)),
            ("anthropic-organization-id", ORGANIZATION.to_owned()),
        ]
    }
}

fn request_id(seq: u64) -> String {
    format!("req_sandbox_{seq}")
}

/// The key, in the provider's own header or as a bearer token; its own header goes first.
fn authorized(headers: &HeaderMap, key: &str) -> Result<(), Refusal> {
    if let Some(shown) = headers.get("x-api-key") {
        let right = shown.as_bytes().trim_ascii() == key.as_bytes();
        return right
            .then_some(())
            .ok_or_else(|| Refusal::key("invalid x-api-key"));
    }
    let bearer = headers.get(header::AUTHORIZATION).and_then(|shown| {
        let (scheme, token) = shown.as_bytes().split_at_checked("bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
    });
    match bearer {
        Some(token) if token.trim_ascii() == key.as_bytes() => Ok(()),
        Some(_) => Err(Refusal::key("Invalid bearer token")),
        None => Err(Refusal::key("x-api-key header is required")),
    }
}

/// What answers a request that names a model, and what it costs.
type Ordinary = fn(&Map<String, Value>, &str, &Request, &House) -> Result<(Answer, u64), Refusal>;

/// Key, JSON and model come first, then faults; whatever else is wrong is said by the answer.
fn named(request: &Request, house: &House, ordinary: Ordinary) -> Result<Call, Refusal> {
    let (document, model) = read::document(&request.body)?;
    let (answer, tokens) = ordinary(&document, &model, request, house)
        .unwrap_or_else(|refusal| (Answer::Whole(refusal.whole()), 0));
    Ok(Call {
        model: Some(model),
        refused: false,
        tokens,
        answer,
    })
}

/// The answer without a fault, and its tokens.
fn ordinary(
    document: &Map<String, Value>,
    model: &str,
    request: &Request,
    house: &House,
) -> Result<(Answer, u64), Refusal> {
    let version = Version::of(&request.headers)?;
    known(model, house)?;
    let messages = Messages::read(document, model, version)?;
    let answer = match model {
        "sandbox-echo-key" => Answer::Whole(errors::echo(&house.key)),
        "sandbox-empty" => Answer::Whole(Whole::json(200, &write::empty(model))),
        _ => write::answer(&messages),
    };
    Ok((answer, write::tokens(&messages)))
}

/// The tokens of a conversation; counting costs none.
fn counted(
    document: &Map<String, Value>,
    model: &str,
    request: &Request,
    house: &House,
) -> Result<(Answer, u64), Refusal> {
    let version = Version::of(&request.headers)?;
    known(model, house)?;
    let asked = read::countable(document, model, version)?;
    let tokens = asked.input_tokens().saturating_add(asked.cached().total());
    let answer = Whole::json(200, &json!({"input_tokens": tokens}));
    Ok((Answer::Whole(answer), 0))
}

/// A fault answers for any model of its form; the ordinary answer behind it is the catalogue's.
fn known(model: &str, house: &House) -> Result<(), Refusal> {
    let fault = !matches!(Named::of(model), Named::Plain);
    if fault || models::known(house).any(|known| known == model) || ODDITIES.contains(&model) {
        return Ok(());
    }
    Err(Refusal::not_found(&format!("model: {model}")))
}

const REQUEST_LIMITS: [&str; 3] = [
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
];
const TOKEN_LIMITS: [&str; 3] = [
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
];

const ORGANIZATION: &str = "5a4db0c5-0000-4000-8000-000000000001";

#[cfg(test)]
mod tests;
