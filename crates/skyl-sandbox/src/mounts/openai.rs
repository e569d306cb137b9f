//! `OpenAI` as its reference documents it: chat completions and models.
//!
//! Two mounts share the shapes: `/openai/v1`, and `/compat/v1`, which by the model's name also
//! speaks as known compatible servers do.

mod accents;
mod errors;
mod read;
mod responses;
mod servers;
mod write;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method, header};
use serde_json::{Map, Value, json};

use crate::{
    answer::{Answer, Call, Whole},
    fault::Named,
    limiter::Dimension,
    mounts::{Cause, House, Mount, Request, Spot, percent_decoded, says::ODDITIES},
};

use self::{errors::Refusal, read::Chat, servers::Server};

pub(crate) use self::responses::Responses;

/// One mount with these shapes.
#[derive(Debug)]
pub(crate) struct OpenAi {
    name: &'static str,
    prefix: &'static str,
    /// Whether models may ask for an accent.
    has_accents: bool,
    /// The accent errors and headers are in.
    server: Option<Server>,
}

impl OpenAi {
    pub(crate) const fn official() -> Self {
        Self {
            name: "openai",
            prefix: "/openai/v1",
            has_accents: false,
            server: None,
        }
    }

    pub(crate) const fn compatible() -> Self {
        Self::speaking(None)
    }

    /// The compatible mount in one server's accent.
    const fn speaking(server: Option<Server>) -> Self {
        Self {
            name: "compat",
            prefix: "/compat/v1",
            has_accents: true,
            server,
        }
    }

    fn route(&self, request: &Request, house: &House) -> Result<Call, Refusal> {
        if self.has_accents {
            authorized_by(&request.headers, &house.key, "api-key")?;
        } else {
            authorized(&request.headers, &house.key)?;
        }
        let (deployment, path) = self.place(request)?;
        match (path, &request.method) {
            ("/chat/completions", &Method::POST) => {
                let (document, model) = read::document(&request.body)?;
                let model = deployment.unwrap_or(model);
                Ok(self.chat(&document, model, house))
            }
            ("/models", &Method::GET) => Ok(whole(Whole::json(200, &list(house)))),
            ("/chat/completions" | "/models", method) => {
                Err(Refusal::method(method.as_str(), &format!("/v1{path}")))
            }
            (path, &Method::GET) if path.starts_with("/models/") => {
                Ok(model(&path["/models/".len()..], house))
            }
            (path, method) => Err(Refusal::path(method.as_str(), &format!("/v1{path}"))),
        }
    }
}

/// Accents, and Azure's paths.
impl OpenAi {
    /// A length until a limit is full again.
    fn reset(&self, length: Duration) -> String {
        match self.server {
            Some(Server::Azure) => length.as_millis().div_ceil(1_000).to_string(),
            _ => go_duration(length),
        }
    }

    /// The deployment that a path names, and the rest of it.
    ///
    /// Azure's addresses end in the same paths as everybody's; a deployment's also need a version.
    fn place<'a>(&self, request: &'a Request) -> Result<(Option<String>, &'a str), Refusal> {
        let path = request.path.as_str();
        let Some(inside) = path.strip_prefix("/openai/").filter(|_| self.has_accents) else {
            return Ok((None, path));
        };
        let not_found = || Refusal::path(request.method.as_str(), path);
        if let Some(rest) = inside.strip_prefix("v1") {
            return Ok((None, rest));
        }
        let named = inside.strip_prefix("deployments/").ok_or_else(not_found)?;
        let at = named.find('/').ok_or_else(not_found)?;
        if request
            .query("api-version")
            .is_none_or(|version| version.is_empty())
        {
            return Err(not_found());
        }
        Ok((Some(percent_decoded(&named[..at])), &named[at..]))
    }

    /// The accent a model's name asks for, and the name without it.
    fn accent<'m>(&self, model: &'m str) -> Option<(Server, &'m str)> {
        self.has_accents.then(|| Server::of(model))?
    }

    /// Key, JSON and model come first, then faults; whatever else is wrong is said by the answer.
    fn chat(&self, document: &Map<String, Value>, model: String, house: &House) -> Call {
        let accent = self.accent(&model);
        let (answer, tokens) =
            ordinary(document, &model, accent, house).unwrap_or_else(|refusal| {
                (
                    Answer::Whole(refusal.by(accent.map(|(server, _)| server))),
                    0,
                )
            });
        Call {
            model: Some(model),
            refused: false,
            tokens,
            answer,
        }
    }
}

impl Mount for OpenAi {
    fn name(&self) -> &'static str {
        self.name
    }

    fn prefix(&self) -> &'static str {
        self.prefix
    }

    fn read(&self, request: &Request, house: &House) -> Call {
        self.route(request, house).unwrap_or_else(|refusal| {
            let named = read::document(&request.body).ok();
            let accent = named.as_ref().and_then(|(_, model)| self.accent(model));
            Call::refused(refusal.by(accent.map(|(server, _)| server)))
        })
    }

    fn error(&self, status: u16, cause: Cause, message: &str) -> Whole {
        match self.server {
            Some(server) => server.error(status, cause, message),
            None => errors::injected(status, cause, message),
        }
    }

    fn overload_frame(&self, message: &str, _: Spot) -> Bytes {
        match self.server {
            Some(server) => server.overload_frames(message),
            None => write::frame(&errors::injected(503, Cause::Overloaded, message).body),
        }
    }

    fn voice(&self, model: &str) -> Option<&'static dyn Mount> {
        let (server, _) = self.accent(model)?;
        let voice = VOICES.iter().find(|voice| voice.server == Some(server))?;
        Some(voice)
    }

    fn limits(&self, limits: &[Dimension], _: SystemTime) -> Vec<(&'static str, String)> {
        let lines = limits.iter().flat_map(|limit| {
            let [of, left, reset] = match limit.name {
                "requests" => REQUEST_LIMITS,
                _ => TOKEN_LIMITS,
            };
            [
                (of, limit.limit.to_string()),
                (left, limit.remaining.to_string()),
                (reset, self.reset(limit.reset)),
            ]
        });
        lines.collect()
    }

    fn headers(&self, seq: u64) -> Vec<(&'static str, String)> {
        let own = match self.server {
            Some(Server::Azure) => Some("apim-request-id"),
            Some(Server::Mistral) => Some("mistral-correlation-id"),
            Some(Server::OpenRouter) => Some("x-generation-id"),
            _ => None,
        };
        if let Some(name) = own {
            return vec![(name, format!("req_sandbox_{seq}"))];
        }
        vec![
            ("x-request-id", format!("req_sandbox_{seq}")),
            ("openai-processing-ms", "1".to_owned()),
            ("openai-version", "2020-10-01".to_owned()),
        ]
    }
}

/// A length as the provider writes it: `12ms`, `1s`, `6m0s`, `1h2m3.5s`; rounded up.
fn go_duration(length: Duration) -> String {
    let millis = length.as_nanos().div_ceil(1_000_000);
    let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
    let seconds = (millis / 1000 % 60).to_string();
    let fraction = match millis % 1000 {
        0 => String::new(),
        rest => format!(".{rest:03}").trim_end_matches('0').to_owned(),
    };
    match (hours, minutes) {
        (0, 0) if millis < 1000 => format!("{millis}ms"),
        (0, 0) => format!("{seconds}{fraction}s"),
        (0, _) => format!("{minutes}m{seconds}{fraction}s"),
        _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
    }
}

/// The key, in a header of its own or as everywhere.
fn authorized_by(headers: &HeaderMap, key: &str, header: &str) -> Result<(), Refusal> {
    match headers.get(header) {
        Some(shown) if shown.as_bytes().trim_ascii() == key.as_bytes() => Ok(()),
        Some(_) => Err(Refusal::wrong_key()),
        None => authorized(headers, key),
    }
}

/// The key must be there and right, on every mount.
fn authorized(headers: &HeaderMap, key: &str) -> Result<(), Refusal> {
    let shown = headers
        .get(header::AUTHORIZATION)
        .map(http::HeaderValue::as_bytes);
    let Some(shown) = shown else {
        return Err(Refusal::no_key());
    };
    let mut words = shown.splitn(2, |&byte| byte == b' ');
    let scheme = words.next().unwrap_or_default();
    match words.next() {
        Some(credential) if scheme.eq_ignore_ascii_case(b"bearer") => {
            if credential.trim_ascii() == key.as_bytes() {
                Ok(())
            } else {
                Err(Refusal::wrong_key())
            }
        }
        _ => Err(Refusal::no_key()),
    }
}

/// The answer without a fault, and its tokens.
fn ordinary(
    document: &Map<String, Value>,
    model: &str,
    accent: Option<(Server, &str)>,
    house: &House,
) -> Result<(Answer, u64), Refusal> {
    let (server, base) = match accent {
        Some((server, base)) => (Some(server), base),
        None => (None, model),
    };
    // A fault answers for any model of its form; the ordinary answer behind it is the catalogue's.
    let fault = !matches!(Named::of(model), Named::Plain);
    // A name that is nothing but an accent is a model of its own.
    let plain = server.is_some() && base == model;
    if !fault && !plain && !known(house).any(|known| known == base) && !ODDITIES.contains(&base) {
        return Err(Refusal::model(model));
    }
    let chat = Chat::read(document, base)?;
    let answer = match base {
        "sandbox-echo-key" => Answer::Whole(errors::echo(&house.key)),
        "sandbox-empty" => Answer::Whole(Whole::json(200, &write::empty(model))),
        _ => write::answer(&chat, model, server),
    };
    Ok((answer, write::tokens(&chat)))
}

/// One model of the catalogue; named in the path, it can be a fault like any other.
fn model(segment: &str, house: &House) -> Call {
    let id = percent_decoded(segment);
    let answer = known(house).find(|model| *model == id).map_or_else(
        || Refusal::model(&id).whole(),
        |model| Whole::json(200, &entry(model)),
    );
    Call {
        model: Some(id),
        ..whole(answer)
    }
}

fn whole(answer: Whole) -> Call {
    Call {
        model: None,
        refused: false,
        tokens: 0,
        answer: Answer::Whole(answer),
    }
}

fn list(house: &House) -> Value {
    json!({"object": "list", "data": known(house).map(entry).collect::<Value>()})
}

fn entry(id: &str) -> Value {
    let context = CATALOGUE
        .iter()
        .find(|(name, ..)| *name == id)
        .map(|(_, _, context)| context);
    let name = CATALOGUE
        .iter()
        .find(|(name, ..)| *name == id)
        .map_or(id, |(_, display, _)| display);
    json!({
        "id": id,
        "object": "model",
        "created": CREATED,
        "owned_by": "skyl-sandbox",
        "name": name,
        "context_length": context,
    })
}

fn known(house: &House) -> impl Iterator<Item = &str> {
    CATALOGUE
        .iter()
        .map(|(name, ..)| *name)
        .chain(house.models.iter().map(String::as_str))
}

/// Name, name for people, context length.
const CATALOGUE: [(&str, &str, u64); 2] = [
    ("gpt-5.6", "GPT-5.6", 400_000),
    ("gpt-5.4-nano", "GPT-5.4 nano", 128_000),
];

const REQUEST_LIMITS: [&str; 3] = [
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
];
const TOKEN_LIMITS: [&str; 3] = [
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
];

/// The compatible mount, once for each accent.
static VOICES: [OpenAi; Server::ALL.len()] = {
    let mut voices = [const { OpenAi::compatible() }; Server::ALL.len()];
    let mut at = 0;
    while at < voices.len() {
        voices[at].server = Some(Server::ALL[at].1);
        at += 1;
    }
    voices
};

/// 2025-01-01: answers must not depend on the day.
const CREATED: u64 = 1_735_689_600;

#[cfg(test)]
mod tests;
