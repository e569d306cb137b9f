//! The kinds of questions, each with what it may carry.
//!
//! Nothing here fails: [`Request::validate`](super::Request::validate) finds what is wrong with
//! all of it at once, before any network, and names the place. Options and levels keep their order
//! on the wire, since the order in which a model reads options moves its answer.

use std::fmt;

use serde_json::Value;

use crate::system_one::json::{Members, Shape};
use crate::system_one::state::Content;

/// One question about the state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Question {
    /// Is it so? Answered by a number from 0 (no) to 1 (yes).
    Noul(Noul),
    /// Which one of these? Answered by one option.
    Choice(Choice),
    /// How much, on this scale? Answered by a number on the scale.
    Score(Score),
    /// Where in the picture? Answered by a rectangle.
    Box(BoxQuestion),
    /// Anything else, sent as it is.
    Raw(RawQuestion),
}

impl Question {
    /// A question in the provider's own JSON, sent untouched. It needs a string `type`.
    #[must_use]
    pub fn raw(json: impl Into<Content>) -> Self {
        Self::Raw(RawQuestion::new(json))
    }

    /// The word in the question's `type`; `None` where a raw question has none.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        match self {
            Self::Noul(_) => Some(NOUL),
            Self::Choice(_) => Some(CHOICE),
            Self::Score(_) => Some(SCORE),
            Self::Box(_) => Some(BOX),
            Self::Raw(raw) => raw.kind(),
        }
    }
}

/// Is it so? A yes-or-no question whose answer is a number from 0 to 1.
///
/// It needs instructions, or a criterion for at least one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Noul {
    /// What is asked.
    pub instructions: Option<Content>,
    /// When the answer is yes: `criteria.true`.
    pub when_true: Option<Content>,
    /// When the answer is no: `criteria.false`.
    pub when_false: Option<Content>,
}

impl Noul {
    /// A question with instructions; [`Noul::default`] is one without.
    #[must_use]
    pub fn new(instructions: impl Into<Content>) -> Self {
        Self {
            instructions: Some(instructions.into()),
            ..Self::default()
        }
    }

    /// Says when the answer is yes.
    #[must_use]
    pub fn when_true(mut self, criterion: impl Into<Content>) -> Self {
        self.when_true = Some(criterion.into());
        self
    }

    /// Says when the answer is no.
    #[must_use]
    pub fn when_false(mut self, criterion: impl Into<Content>) -> Self {
        self.when_false = Some(criterion.into());
        self
    }
}

/// Which one of these? From 1 to 255 options, sent in the order they were added.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// What is asked.
    pub instructions: Option<Content>,
    /// The options with what each means; no two may be the same.
    pub options: Vec<(String, Option<Content>)>,
}

impl Choice {
    /// A question with instructions; [`Choice::default`] is one without.
    #[must_use]
    pub fn new(instructions: impl Into<Content>) -> Self {
        Self {
            instructions: Some(instructions.into()),
            ..Self::default()
        }
    }

    /// Adds an option that needs no words; sent with a description of null.
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push((option.into(), None));
        self
    }

    /// Adds an option and says what it means.
    #[must_use]
    pub fn described(mut self, option: impl Into<String>, description: impl Into<Content>) -> Self {
        self.options.push((option.into(), Some(description.into())));
        self
    }

    /// Adds options that need no words.
    #[must_use]
    pub fn options<O: Into<String>>(mut self, options: impl IntoIterator<Item = O>) -> Self {
        let options = options.into_iter().map(|option| (option.into(), None));
        self.options.extend(options);
        self
    }
}

/// How much? A scale of 1 to 10 levels, lowest first.
///
/// One level alone is taken by the API, though its documents ask for two: it is sent with a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Score {
    /// What is asked.
    pub instructions: Option<Content>,
    /// What each level means, from level 0 up.
    pub levels: Vec<Content>,
}

impl Score {
    /// A question with instructions; [`Score::default`] is one without.
    #[must_use]
    pub fn new(instructions: impl Into<Content>) -> Self {
        Self {
            instructions: Some(instructions.into()),
            ..Self::default()
        }
    }

    /// Adds the next higher level.
    #[must_use]
    pub fn level(mut self, meaning: impl Into<Content>) -> Self {
        self.levels.push(meaning.into());
        self
    }

    /// Adds levels, lowest first.
    #[must_use]
    pub fn levels<L: Into<Content>>(mut self, meanings: impl IntoIterator<Item = L>) -> Self {
        self.levels.extend(meanings.into_iter().map(Into::into));
        self
    }
}

/// Where in the picture? Needs an image among the request's assets, and the API's opt-in for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoxQuestion {
    /// What is looked for.
    pub instructions: Option<Content>,
}

impl BoxQuestion {
    /// A question with instructions; [`BoxQuestion::default`] is one without.
    #[must_use]
    pub fn new(instructions: impl Into<Content>) -> Self {
        Self {
            instructions: Some(instructions.into()),
        }
    }
}

/// A question in the provider's own JSON, for types skyl does not know.
#[derive(Clone, PartialEq, Eq)]
pub struct RawQuestion {
    json: Content,
    kind: Option<String>,
}

impl RawQuestion {
    /// A question of this JSON: an object with a string `type`.
    #[must_use]
    pub fn new(json: impl Into<Content>) -> Self {
        let json = json.into();
        let kind = Members::read(json.as_json())
            .and_then(|members| serde_json::from_str(members.get("type")?.get()).ok());
        Self { json, kind }
    }

    /// The word in `type`; `None` where there is none, which validation refuses.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The JSON, as it goes on the wire.
    #[must_use]
    pub fn json(&self) -> &Content {
        &self.json
    }

    pub(super) fn is_object(&self) -> bool {
        self.json.shape() == Shape::Object
    }
}

impl From<Noul> for Question {
    fn from(question: Noul) -> Self {
        Self::Noul(question)
    }
}

impl From<Choice> for Question {
    fn from(question: Choice) -> Self {
        Self::Choice(question)
    }
}

impl From<Score> for Question {
    fn from(question: Score) -> Self {
        Self::Score(question)
    }
}

impl From<BoxQuestion> for Question {
    fn from(question: BoxQuestion) -> Self {
        Self::Box(question)
    }
}

impl From<RawQuestion> for Question {
    fn from(question: RawQuestion) -> Self {
        Self::Raw(question)
    }
}

impl From<Value> for RawQuestion {
    fn from(json: Value) -> Self {
        Self::new(json)
    }
}

// Options are the caller's words, as much as instructions are: how many, not which.
impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice")
            .field("instructions", &self.instructions)
            .field("options", &self.options.len())
            .finish()
    }
}

impl fmt::Debug for RawQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawQuestion({} bytes)", self.json.as_json().len())
    }
}

pub(super) const NOUL: &str = "noul";
pub(super) const CHOICE: &str = "choice";
pub(super) const SCORE: &str = "score";
pub(super) const BOX: &str = "box";
