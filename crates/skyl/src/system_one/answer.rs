//! What comes back: one typed answer for each question, under the question's id.

use std::fmt;

use bytes::Bytes;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::dialect::Fault;
use crate::system_one::json::segment;
use crate::system_one::question::{BOX, CHOICE, NOUL, SCORE};
use crate::system_one::state::Content;

/// The answers of one reply, by id: those asked for in the request's order, then any others.
///
/// Serializes as the object the server sent, member by member, untouched.
#[derive(Clone, Default, PartialEq)]
pub struct Answers(Vec<Entry>);

#[derive(Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) answer: Answer,
    pub(super) raw: Bytes,
}

impl Answers {
    /// The answer of that id, of whatever type.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Answer> {
        self.entry(id).map(|entry| &entry.answer)
    }

    /// The JSON of the answer of that id, as the server sent it.
    #[must_use]
    pub fn raw(&self, id: &str) -> Option<&Bytes> {
        self.entry(id).map(|entry| &entry.raw)
    }

    /// The answer to a [`Noul`](super::Noul).
    ///
    /// # Errors
    /// A [`Fault`] of kind `Decode` where there is no answer of that id, or one of another type.
    /// Under strict decoding both mean that no such question was asked.
    pub fn noul(&self, id: &str) -> Result<&NoulAnswer, Fault> {
        self.typed(id, NOUL, |answer| match answer {
            Answer::Noul(answer) => Some(answer),
            _ => None,
        })
    }

    /// The answer to a [`Choice`](super::Choice).
    ///
    /// # Errors
    /// As [`Answers::noul`].
    pub fn choice(&self, id: &str) -> Result<&ChoiceAnswer, Fault> {
        self.typed(id, CHOICE, |answer| match answer {
            Answer::Choice(answer) => Some(answer),
            _ => None,
        })
    }

    /// The answer to a [`Score`](super::Score).
    ///
    /// # Errors
    /// As [`Answers::noul`].
    pub fn score(&self, id: &str) -> Result<&ScoreAnswer, Fault> {
        self.typed(id, SCORE, |answer| match answer {
            Answer::Score(answer) => Some(answer),
            _ => None,
        })
    }

    /// The answer to a [`BoxQuestion`](super::BoxQuestion).
    ///
    /// # Errors
    /// As [`Answers::noul`].
    pub fn bounding_box(&self, id: &str) -> Result<&BoxAnswer, Fault> {
        self.typed(id, BOX, |answer| match answer {
            Answer::Box(answer) => Some(answer),
            _ => None,
        })
    }

    /// Ids and answers, in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Answer)> {
        self.0
            .iter()
            .map(|entry| (entry.id.as_str(), &entry.answer))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    fn entry(&self, id: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.id == id)
    }

    fn typed<'a, T>(
        &'a self,
        id: &str,
        wanted: &str,
        read: impl FnOnce(&'a Answer) -> Option<&'a T>,
    ) -> Result<&'a T, Fault> {
        let path = segment(id);
        let Some(answer) = self.get(id) else {
            return Err(Fault::decode(format!("answers.{path}: missing")));
        };
        read(answer).ok_or_else(|| Fault::decode(format!("answers.{path}: not a {wanted} answer")))
    }
}

impl Serialize for Answers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut answers = serializer.serialize_map(Some(self.len()))?;
        for entry in &self.0 {
            let raw: &RawValue = serde_json::from_slice(&entry.raw).map_err(S::Error::custom)?;
            answers.serialize_entry(&entry.id, raw)?;
        }
        answers.end()
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// One answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// To a yes-or-no question.
    Noul(NoulAnswer),
    /// To a choice.
    Choice(ChoiceAnswer),
    /// To a score.
    Score(ScoreAnswer),
    /// To a question about a place in a picture.
    Box(BoxAnswer),
    /// Of a type skyl does not know, or not as its type should be.
    Unknown(UnknownAnswer),
}

/// The answer to a yes-or-no question.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NoulAnswer {
    /// From 0 (no) to 1 (yes). The API gives no confidence beside it.
    pub noul: f64,
}

/// The answer to a choice.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ChoiceAnswer {
    /// The option chosen.
    pub choice: String,
    /// How sure, from 0 to 1.
    pub confidence: f64,
    /// The probability of every option, in the request's order; two decimals.
    pub probabilities: Vec<(String, f64)>,
}

impl ChoiceAnswer {
    /// The probability of an option; `None` where the answer has none for it.
    #[must_use]
    pub fn probability(&self, option: &str) -> Option<f64> {
        let known = |(name, _): &&(String, f64)| name == option;
        self.probabilities.iter().find(known).map(|(_, p)| *p)
    }
}

/// The answer to a score.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ScoreAnswer {
    /// The place on the scale: 0 is the first level, and halves lie between two.
    pub score: f64,
    /// How sure, from 0 to 1.
    pub confidence: f64,
    /// What each level means, from level 0 up, as the server says it back.
    pub legend: Vec<Content>,
    /// The probability of each level, from level 0 up; two decimals.
    pub probabilities: Vec<f64>,
}

/// The answer to a question about a place in a picture: a rectangle, in fractions of its sides.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BoxAnswer {
    /// The upper edge, from 0 (top of the picture) to 1.
    pub top: f64,
    /// The lower edge, from 0 (top of the picture) to 1.
    pub bottom: f64,
    /// The left edge, from 0 (left of the picture) to 1.
    pub left: f64,
    /// The right edge, from 0 (left of the picture) to 1.
    pub right: f64,
    /// How sure, from 0 to 1; `None` where the server does not say.
    pub confidence: Option<f64>,
}

/// An answer kept as it came.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownAnswer {
    /// The word in `type`; `None` where there is none.
    pub kind: Option<String>,
    /// The JSON, as the server sent it.
    pub raw: Bytes,
}

// Figures may be shown; options and levels are the caller's words.
impl fmt::Debug for ChoiceAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChoiceAnswer")
            .field("confidence", &self.confidence)
            .field("options", &self.probabilities.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ScoreAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScoreAnswer")
            .field("score", &self.score)
            .field("confidence", &self.confidence)
            .field("probabilities", &self.probabilities)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for UnknownAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UnknownAnswer({} bytes)", self.raw.len())
    }
}
