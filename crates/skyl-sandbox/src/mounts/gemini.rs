//! Gemini as its reference documents it: content, token counting and models.
//!
//! Two mounts share the shapes: `/gemini/v1beta`, and `/gemini/v1`, which Google's own SDK asks by
//! default.

mod errors;
mod fields;
mod models;
mod read;
mod turns;
mod write;

use std::time::SystemTime;

use bytes::Bytes;
use http::Method;
use serde_json::{Map, Value, json};

use crate::{
    answer::{Answer, Call, Whole},
    fault::Named,
    limiter::Dimension,
    mounts::{Cause, House, Mount, Request, Spot, percent_decoded, says::ODDITIES},
};

use self::{errors::Refusal, read::Content, write::Form};

/// One mount with these shapes.
#[derive(Debug)]
pub(crate) struct Gemini {
    prefix: &'static str,
    version: &'static str,
}

impl Gemini {
    pub(crate) const fn beta() -> Self {
        Self {
            prefix: "/gemini/v1beta",
            version: "v1beta",
        }
    }

    pub(crate) const fn stable() -> Self {
        Self {
            prefix: "/gemini/v1",
            version: "v1",
        }
    }

    fn route(&self, request: &Request, house: &House) -> Result<Call, Refusal> {
        authorized(request, &house.key)?;
        let path = request.path.as_str();
        match (path.strip_prefix("/models"), &request.method) {
            (Some(""), &Method::GET) => Ok(models::list(request, house)),
            (Some(rest), &Method::GET) if rest.starts_with('/') => {
                Ok(models::one(&rest[1..], house, self.version))
            }
            (Some(rest), &Method::POST) if rest.starts_with('/') => {
                called(&percent_decoded(&rest[1..]), request, house, self.version)
            }
            _ => Err(Refusal::not_found("Requested entity was not found.")),
        }
    }
}

impl Mount for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn prefix(&self) -> &'static str {
        self.prefix
    }

    fn read(&self, request: &Request, house: &House) -> Call {
        self.route(request, house)
            .unwrap_or_else(|refusal| Call::refused(refusal.whole()))
    }

    fn error(&self, status: u16, cause: Cause, message: &str) -> Whole {
        errors::injected(status, cause, message)
    }

    fn overload_frame(&self, message: &str, spot: Spot) -> Bytes {
        let form = Form::of(spot.content_type);
        form.last(&errors::overloaded(message), spot.before == 0)
    }

    /// The provider has no headers for its limits.
    fn limits(&self, _: &[Dimension], _: SystemTime) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Nor has it one for the request.
    fn headers(&self, _: u64) -> Vec<(&'static str, String)> {
        vec![("server-timing", "gfet4t7; dur=1".to_owned())]
    }
}

/// The key, in the provider's own header or in the query; the header goes first.
fn authorized(request: &Request, key: &str) -> Result<(), Refusal> {
    let shown = match request.headers.get("x-goog-api-key") {
        Some(shown) => Some(shown.as_bytes().trim_ascii().to_vec()),
        None => request.query("key").map(String::into_bytes),
    };
    if shown.is_some_and(|shown| shown == key.as_bytes()) {
        Ok(())
    } else {
        Err(Refusal::key())
    }
}

/// A method of a model, `{model}:{method}`; a model's name may have colons of its own.
fn called(name: &str, request: &Request, house: &House, version: &str) -> Result<Call, Refusal> {
    let Some((model, method)) = name.rsplit_once(':') else {
        let message = format!("Invalid resource path: models/{name} names no method.");
        return Err(Refusal::invalid(message));
    };
    let document = fields::document(&request.body)?;
    let known = || known(model, house, version);
    let answer = match method {
        "generateContent" => known().and_then(|()| generated(&document, model, house, None)),
        "streamGenerateContent" => {
            let form = Form::asked_for(request.query("alt").as_deref());
            known().and_then(|()| generated(&document, model, house, Some(form)))
        }
        "countTokens" => known().and_then(|()| counted(&document, model)),
        _ => {
            let message = format!("Method {method} of models/{model} was not found.");
            return Err(Refusal::not_found(&message));
        }
    };
    // The model's name is all a fault needs; whatever is wrong beside it is said by the answer.
    let (answer, tokens) = answer.unwrap_or_else(|refusal| (Answer::Whole(refusal.whole()), 0));
    Ok(Call {
        model: Some(model.to_owned()),
        refused: false,
        tokens,
        answer,
    })
}

/// The answer without a fault, and its tokens.
fn generated(
    document: &Map<String, Value>,
    model: &str,
    house: &House,
    stream: Option<Form>,
) -> Result<(Answer, u64), Refusal> {
    let content = Content::read(document, model)?;
    let answer = match model {
        "sandbox-echo-key" => Answer::Whole(errors::echo(&house.key)),
        "sandbox-empty" => Answer::Whole(errors::pretty(200, &write::empty(model))),
        _ => write::answer(&content, stream),
    };
    Ok((answer, write::tokens(&content)))
}

/// The tokens of a conversation; counting costs none.
fn counted(document: &Map<String, Value>, model: &str) -> Result<(Answer, u64), Refusal> {
    let asked = read::countable(document, model)?;
    let tokens = asked.input_tokens().saturating_add(asked.cached().total());
    let body = json!({
        "totalTokens": tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}],
    });
    Ok((Answer::Whole(errors::pretty(200, &body)), 0))
}

/// A fault answers for any model of its form; the ordinary answer behind it is the catalogue's.
fn known(model: &str, house: &House, version: &str) -> Result<(), Refusal> {
    let fault = !matches!(Named::of(model), Named::Plain);
    if fault || models::known(house).any(|known| known == model) || ODDITIES.contains(&model) {
        return Ok(());
    }
    Err(Refusal::model(model, version))
}

#[cfg(test)]
mod tests;
