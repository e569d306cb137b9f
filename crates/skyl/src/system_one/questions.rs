//! The questions of one request, in order, each under an id of the caller's.

use std::fmt;

use crate::system_one::question::Question;

/// Questions about one state, in order; the answers come back under the same ids.
///
/// The model never sees the ids. They must differ and must not be empty, which
/// [`Request::validate`](super::Request::validate) checks.
///
/// ```
/// use skyl::system_one::{Choice, Noul, Questions, Score};
///
/// let questions = Questions::new()
///     .ask("refund", Noul::new("Is the buyer asking for money back?"))
///     .ask("queue", Choice::new("Who owns this?").described("carrier", "Lost or late").option("other"))
///     .ask("patience", Score::new("How patient?").levels(["Relaxed", "Annoyed", "Fed up"]));
/// assert_eq!(questions.len(), 3);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Questions(Vec<(String, Question)>);

impl Questions {
    /// No questions yet; at least one is needed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a question under an id.
    #[must_use]
    pub fn ask(mut self, id: impl Into<String>, question: impl Into<Question>) -> Self {
        self.0.push((id.into(), question.into()));
        self
    }

    /// The question of that id; the first, where two have it.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Question> {
        self.iter().find(|(known, _)| *known == id).map(|(_, q)| q)
    }

    /// Ids and questions, in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Question)> {
        self.0.iter().map(|(id, question)| (id.as_str(), question))
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
}

impl<I: Into<String>, Q: Into<Question>> FromIterator<(I, Q)> for Questions {
    fn from_iter<T: IntoIterator<Item = (I, Q)>>(pairs: T) -> Self {
        let mut questions = Self::new();
        questions.extend(pairs);
        questions
    }
}

impl<I: Into<String>, Q: Into<Question>> Extend<(I, Q)> for Questions {
    fn extend<T: IntoIterator<Item = (I, Q)>>(&mut self, pairs: T) {
        let pairs = pairs.into_iter();
        self.0
            .extend(pairs.map(|(id, question)| (id.into(), question.into())));
    }
}

impl<I: Into<String>, Q: Into<Question>, const N: usize> From<[(I, Q); N]> for Questions {
    fn from(pairs: [(I, Q); N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
