//! TypeSafe System One as its schema documents it and the hosted API was seen to behave:
//! questions about one state, and models, on `/typesafe/v1`.
//!
//! No model is behind it: an answer is a function of the state and its question alone
//! ([`write`]). What nobody has recorded of the hosted API is not made up as a rule: a noul without
//! any words is taken, and a box under every model. There are no streams and no headers that tell
//! of limits here, because the provider has none.

mod assets;
mod body;
mod check;
mod draw;
mod errors;
mod limits;
mod models;
mod multipart;
mod write;

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, Method, header};

use crate::{
    answer::{Answer, Call, Whole},
    limiter::Dimension,
    mounts::{Cause, House, Mount, Request, Spot},
};

use self::{body::Envelope, errors::Refusal, write::Oddity};

/// The mount.
#[derive(Debug)]
pub(crate) struct TypeSafe;

impl TypeSafe {
    fn route(request: &Request, house: &House) -> Result<Call, Refusal> {
        authorized(&request.headers, &house.key)?;
        match (request.path.as_str(), &request.method) {
            ("/systemone", &Method::POST) => system_one(request, house),
            ("/models", &Method::GET) => Ok(models::list(house)),
            ("/systemone" | "/models", _) => Err(Refusal::method()),
            _ => Err(Refusal::path()),
        }
    }
}

impl Mount for TypeSafe {
    fn name(&self) -> &'static str {
        "typesafe"
    }

    fn prefix(&self) -> &'static str {
        "/typesafe/v1"
    }

    fn read(&self, request: &Request, house: &House) -> Call {
        Self::route(request, house).unwrap_or_else(|refusal| Call::refused(refusal.whole()))
    }

    fn error(&self, status: u16, cause: Cause, message: &str) -> Whole {
        errors::injected(status, cause, message)
    }

    /// Never sent: no request of this provider asks for a stream.
    fn overload_frame(&self, message: &str, _: Spot) -> Bytes {
        errors::injected(529, Cause::Overloaded, message).body
    }

    fn limits(&self, _: &[Dimension], _: SystemTime) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn headers(&self, seq: u64) -> Vec<(&'static str, String)> {
        vec![("x-typesafe-request-id", format!("req_{seq:032x}"))]
    }
}

/// A bearer token, or no key at all: other schemes count for nothing.
fn authorized(headers: &HeaderMap, key: &str) -> Result<(), Refusal> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|shown| {
        let (scheme, token) = shown.as_bytes().split_at_checked("bearer ".len())?;
        let token = token.trim_ascii();
        (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
    });
    match bearer {
        Some(token) if token == key.as_bytes() => Ok(()),
        Some(_) => Err(Refusal::wrong_key()),
        None => Err(Refusal::no_key()),
    }
}

/// Key, JSON and model come first, then faults; whatever else is wrong is said by the answer.
fn system_one(request: &Request, house: &House) -> Result<Call, Refusal> {
    let envelope = Envelope::open(request)?;
    let Some(model) = envelope.model() else {
        // Without a name there is no fault either: what is wrong is said at once.
        return Err(check::refusal(&envelope.document));
    };
    let (answer, tokens) =
        ordinary(&envelope, model, request, house).unwrap_or_else(|refusal| (refusal.whole(), 0));
    Ok(Call {
        model: Some(model.to_owned()),
        refused: false,
        tokens,
        answer: Answer::Whole(answer),
    })
}

/// The answer without a fault, and its tokens.
fn ordinary(
    envelope: &Envelope,
    model: &str,
    request: &Request,
    house: &House,
) -> Result<(Whole, u64), Refusal> {
    let asked = check::read(&envelope.document)?;
    limits::known_fields(&envelope.document)?;
    let served = models::served(model, house).ok_or_else(|| Refusal::model(model))?;
    limits::questions(&asked)?;
    let assets = assets::read(&asked, &envelope.parts, &request.headers)?;
    let usage = limits::tokens(&asked, assets.len(), &request.headers)?;
    let answer = match model {
        "sandbox-echo-key" => errors::echo(&house.key),
        _ => write::answer(served, &asked, &assets, usage, Oddity::of(model)),
    };
    Ok((answer, usage.total()))
}

#[cfg(test)]
mod tests;
