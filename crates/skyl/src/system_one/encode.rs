//! From a request to the bytes of every attempt.
//!
//! Members come in one order (state, model, questions, assets, extra), and options and levels in
//! the caller's, so that the same request is the same bytes in every process.

use bytes::Bytes;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::dialect::{Encoded, Fault};
use crate::kind::ErrorKind;
use crate::system_one::asset::{self, Asset, ImageFormat, Kind};
use crate::system_one::question::{BOX, CHOICE, NOUL, Question, SCORE};
use crate::system_one::questions::Questions;
use crate::system_one::request::Request;
use crate::system_one::state::Content;

impl Request {
    /// Validates and encodes the request, once for all attempts.
    ///
    /// `default_model` is sent where the request names no model. The result is a POST to
    /// `/v1/systemone` without opt-in headers; see [`Request::needs_images`].
    ///
    /// # Errors
    /// As [`Request::validate`]; also where the body would be larger than 32 MiB.
    pub fn encode(&self, default_model: &str) -> Result<Encoded, Fault> {
        let warnings = self.validate()?;
        let refuse = |why: String| Fault::new(ErrorKind::BadRequest).with_message(why);
        let model = self.model.as_deref().unwrap_or(default_model);
        if model.trim().is_empty() {
            return Err(refuse("model: must not be empty".to_owned()));
        }
        let body = Body {
            request: self,
            model,
        };
        let body = serde_json::to_vec(&body)
            .map_err(|_| refuse("the request cannot be JSON".to_owned()))?;
        if body.len() > MAX_BODY_BYTES {
            return Err(refuse(format!(
                "the body has {} bytes, at most {MAX_BODY_BYTES} are taken",
                body.len()
            )));
        }
        let mut encoded = Encoded::post(PATH, Bytes::from(body));
        encoded.warnings = warnings;
        Ok(encoded)
    }
}

struct Body<'a> {
    request: &'a Request,
    model: &'a str,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("state", &request.state)?;
        body.serialize_entry("model", self.model)?;
        body.serialize_entry("questions", &AllQuestions(&request.questions))?;
        if !request.assets.is_empty() {
            body.serialize_entry("assets", &Assets(&request.assets))?;
        }
        for (name, value) in &request.extra_body {
            body.serialize_entry(name, value)?;
        }
        body.end()
    }
}

struct AllQuestions<'a>(&'a Questions);

impl Serialize for AllQuestions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let questions = self.0.iter();
        serializer.collect_map(questions.map(|(id, question)| (id, OneQuestion(question))))
    }
}

/// One question as it goes on the wire.
pub(super) struct OneQuestion<'a>(pub(super) &'a Question);

impl Serialize for OneQuestion<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, instructions) = match self.0 {
            Question::Noul(noul) => (NOUL, &noul.instructions),
            Question::Choice(choice) => (CHOICE, &choice.instructions),
            Question::Score(score) => (SCORE, &score.instructions),
            Question::Box(question) => (BOX, &question.instructions),
            Question::Raw(raw) => return raw.json().serialize(serializer),
        };
        let mut question = serializer.serialize_map(None)?;
        question.serialize_entry("type", kind)?;
        if let Some(instructions) = instructions {
            question.serialize_entry("instructions", instructions)?;
        }
        match self.0 {
            Question::Noul(noul) => {
                let sides = Sides([("true", &noul.when_true), ("false", &noul.when_false)]);
                if sides.0.iter().any(|(_, criterion)| criterion.is_some()) {
                    question.serialize_entry("criteria", &sides)?;
                }
            }
            Question::Choice(choice) => {
                question.serialize_entry("criteria", &Options(&choice.options))?;
            }
            Question::Score(score) => question.serialize_entry("criteria", &score.levels)?,
            Question::Box(_) | Question::Raw(_) => {}
        }
        question.end()
    }
}

/// The criteria of a noul: those that are set.
struct Sides<'a>([(&'static str, &'a Option<Content>); 2]);

impl Serialize for Sides<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let set = self.0.iter().filter_map(|(side, criterion)| {
            let criterion = criterion.as_ref()?;
            Some((side, criterion))
        });
        serializer.collect_map(set)
    }
}

/// The criteria of a choice: every option, in order; a description that is missing is null.
struct Options<'a>(&'a [(String, Option<Content>)]);

impl Serialize for Options<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(option, means)| (option, means)))
    }
}

struct Assets<'a>(&'a [(String, Asset)]);

impl Serialize for Assets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, asset)| (name, OneAsset(asset))))
    }
}

struct OneAsset<'a>(&'a Asset);

impl Serialize for OneAsset<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.kind() {
            Kind::Raw(json) => json.serialize(serializer),
            Kind::Image(bytes) => {
                let mut image = serializer.serialize_map(None)?;
                image.serialize_entry("type", "image")?;
                image.serialize_entry("format", &self.0.format().map(ImageFormat::as_str))?;
                image.serialize_entry("data_base64", &asset::to_base64(bytes))?;
                image.end()
            }
        }
    }
}

const PATH: &str = "/v1/systemone";

/// The provider's documents (2026): 32 MiB for a body with pictures, the largest it speaks of.
pub(super) const MAX_BODY_BYTES: usize = 32 << 20;

#[cfg(test)]
mod tests;
