//! `OpenAI`'s Responses as its reference documents them.
//!
//! A mount of its own inside `/openai/v1`, since its streams tell errors in frames of their own. It
//! keeps no answers: nothing can be fetched, continued by id, or done in the background.

mod input;
mod read;
mod refusal;
mod write;

use std::time::SystemTime;

use bytes::Bytes;
use http::Method;
use serde_json::{Map, Value};

use super::{OpenAi, authorized, errors, known};
use crate::{
    answer::{Answer, Call, Whole},
    fault::Named,
    limiter::Dimension,
    mounts::{Cause, House, Mount, Request, Spot, percent_decoded, says::ODDITIES},
};

use self::{read::Asks, refusal::Refusal};

/// The endpoint, as a mount.
#[derive(Debug)]
pub(crate) struct Responses;

impl Responses {
    fn route(request: &Request, house: &House) -> Call {
        if let Err(refusal) = authorized(&request.headers, &house.key) {
            return Call::refused(refusal.whole());
        }
        let path = &*request.path;
        match (path, &request.method) {
            ("", &Method::POST) => {
                respond(request, house).unwrap_or_else(|refusal| Call::refused(refusal.whole()))
            }
            ("", method) => {
                let refusal = errors::Refusal::method(method.as_str(), "/v1/responses");
                Call::refused(refusal.whole())
            }
            (path, &Method::GET | &Method::DELETE) if is_id(path) => {
                let id = percent_decoded(path.trim_start_matches('/'));
                Call::refused(Refusal::no_response(&id).whole())
            }
            (path, method) => {
                let path = format!("/v1/responses{path}");
                Call::refused(errors::Refusal::path(method.as_str(), &path).whole())
            }
        }
    }
}

impl Mount for Responses {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn prefix(&self) -> &'static str {
        "/openai/v1/responses"
    }

    fn read(&self, request: &Request, house: &House) -> Call {
        Self::route(request, house)
    }

    fn error(&self, status: u16, cause: Cause, message: &str) -> Whole {
        errors::injected(status, cause, message)
    }

    fn overload_frame(&self, message: &str, spot: Spot) -> Bytes {
        write::error_frame(
            &errors::injected(503, Cause::Overloaded, message),
            spot.before,
        )
    }

    fn limits(&self, limits: &[Dimension], wall: SystemTime) -> Vec<(&'static str, String)> {
        OpenAi::official().limits(limits, wall)
    }

    fn headers(&self, seq: u64) -> Vec<(&'static str, String)> {
        OpenAi::official().headers(seq)
    }
}

/// Whether a path names one stored answer and nothing of it.
fn is_id(path: &str) -> bool {
    let id = path.trim_start_matches('/');
    !id.is_empty() && !id.contains('/')
}

/// Key, JSON and model come first, then faults; whatever else is wrong is said by the answer.
fn respond(request: &Request, house: &House) -> Result<Call, Refusal> {
    let (document, model) = read::document(&request.body)?;
    let (answer, tokens) = ordinary(&document, &model, house)
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
    house: &House,
) -> Result<(Answer, u64), Refusal> {
    // A fault answers for any model of its form; the ordinary answer behind it is the catalogue's.
    let fault = !matches!(Named::of(model), Named::Plain);
    if !fault && !known(house).any(|known| known == model) && !ODDITIES.contains(&model) {
        return Err(Refusal::model(model));
    }
    let asks = Asks::read(document, model)?;
    let answer = match model {
        "sandbox-echo-key" => Answer::Whole(errors::echo(&house.key)),
        "sandbox-empty" => Answer::Whole(Whole::json(200, &write::empty(&asks))),
        _ => write::answer(&asks),
    };
    Ok((answer, write::tokens(&asks)))
}

#[cfg(test)]
mod tests;
