//! One request: a state, the questions about it, and what goes along.

use std::fmt;

use serde_json::Value;

use crate::system_one::asset::Asset;
use crate::system_one::questions::Questions;
use crate::system_one::state::{Content, State};

/// A state and the questions about it.
///
/// ```
/// use skyl::system_one::{Noul, Questions, Request};
///
/// let questions = Questions::new().ask("defect", Noul::new("Does the text report a defect?"));
/// let request = Request::new("The kettle has been leaking since Tuesday.", questions);
/// assert!(request.validate()?.is_empty());
/// # Ok::<(), skyl::Fault>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// What the questions are about.
    pub state: State,
    /// The questions; at least one.
    pub questions: Questions,
    /// The model's name: opaque, never checked against a list. Default: the client's.
    pub model: Option<String>,
    /// Pictures, each under the name by which the state or a question mentions it.
    pub assets: Vec<(String, Asset)>,
    pub(super) extra_body: Vec<(String, Content)>,
}

impl Request {
    /// A request for the client's model.
    #[must_use]
    pub fn new(state: impl Into<State>, questions: impl Into<Questions>) -> Self {
        Self {
            state: state.into(),
            questions: questions.into(),
            model: None,
            assets: Vec::new(),
            extra_body: Vec::new(),
        }
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a picture under the name by which the state or a question mentions it.
    #[must_use]
    pub fn asset(mut self, name: impl Into<String>, asset: Asset) -> Self {
        self.assets.push((name.into(), asset));
        self
    }

    /// Sets a top-level field skyl does not know, for servers that take more than the hosted API.
    ///
    /// Where the name is set already, objects merge (RFC 7396) and anything else replaces. The
    /// names of the request's own parts, `state`, `model`, `questions` and `assets`, are refused by
    /// [`Request::validate`], so nothing set here can slip past it.
    #[must_use]
    pub fn extra_body(mut self, name: impl Into<String>, value: impl Into<Content>) -> Self {
        let (name, value) = (name.into(), value.into());
        match self.extra_body.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = merged(old, value),
            None => self.extra_body.push((name, value)),
        }
        self
    }

    /// Whether it needs the API's opt-in for pictures: it has assets, or a box question.
    #[must_use]
    pub fn needs_images(&self) -> bool {
        let is_box = |(_, question): (&str, &super::Question)| question.kind() == Some("box");
        !self.assets.is_empty() || self.questions.iter().any(is_box)
    }
}

// State, instructions and criteria stay out of debug prints; see `state`.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.extra_body.iter().map(|(name, _)| name).collect();
        f.debug_struct("Request")
            .field("state", &self.state)
            .field("model", &self.model)
            .field("questions", &self.questions)
            .field("assets", &self.assets)
            .field("extra_body", &names)
            .finish()
    }
}

/// A merge of two objects by RFC 7396; the new value where one of them is none.
fn merged(old: &Content, new: Content) -> Content {
    let tree = |content: &Content| serde_json::from_str(content.as_json()).ok();
    match (tree(old), tree(&new)) {
        (Some(mut target @ Value::Object(_)), Some(Value::Object(patch))) => {
            for (name, value) in &patch {
                crate::dialect::merge(&mut target, name, value);
            }
            target.into()
        }
        _ => new,
    }
}

#[cfg(test)]
mod tests;
