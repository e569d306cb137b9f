//! What comes back from System One.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use skyl_retry::Sent;

use crate::attempts::{Attempt, Attempts};
use crate::dialect::Fault;
use crate::error::Error;
use crate::response::{Usage, Warning};
use crate::scrub::Scrubber;
use crate::system_one::answer::{Answers, BoxAnswer, ChoiceAnswer, NoulAnswer, ScoreAnswer};
use crate::system_one::service::PROVIDER;

/// The answers, and what getting them took.
///
/// ```no_run
/// # async fn example(client: skyl::system_one::Client) -> Result<(), skyl::Error> {
/// use skyl::system_one::{Noul, Questions};
///
/// let questions = Questions::new().ask("late", Noul::new("Is a delivery late?"));
/// let response = client.system_one("Tracking has not moved for nine days.", questions).await?;
/// if response.noul("late")?.noul > 0.8 {
///     println!("late, says {}", response.model().unwrap_or("a model without a name"));
/// }
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Response {
    pub(super) model: Option<String>,
    pub(super) answers: Answers,
    pub(super) usage: Usage,
    pub(super) request_id: Option<String>,
    pub(super) warnings: Vec<Warning>,
    pub(super) cost: Option<f64>,
    pub(super) attempts: Attempts,
    pub(super) elapsed: Duration,
    pub(super) raw: Bytes,
}

/// The answers.
///
/// The getters of one type are errors, of kind [`Decode`](crate::ErrorKind::Decode), where there is
/// no answer of that id, or one of another type: never a zero.
impl Response {
    /// The yes-or-no answer of this id.
    ///
    /// # Errors
    /// Kind `Decode` where there is none.
    pub fn noul(&self, id: &str) -> Result<&NoulAnswer, Error> {
        self.answers.noul(id).map_err(|fault| self.missing(&fault))
    }

    /// The chosen option of this id.
    ///
    /// # Errors
    /// Kind `Decode` where there is none.
    pub fn choice(&self, id: &str) -> Result<&ChoiceAnswer, Error> {
        self.answers
            .choice(id)
            .map_err(|fault| self.missing(&fault))
    }

    /// The score of this id.
    ///
    /// # Errors
    /// Kind `Decode` where there is none.
    pub fn score(&self, id: &str) -> Result<&ScoreAnswer, Error> {
        self.answers.score(id).map_err(|fault| self.missing(&fault))
    }

    /// The box of this id.
    ///
    /// # Errors
    /// Kind `Decode` where there is none.
    pub fn bounding_box(&self, id: &str) -> Result<&BoxAnswer, Error> {
        self.answers
            .bounding_box(id)
            .map_err(|fault| self.missing(&fault))
    }

    fn missing(&self, fault: &Fault) -> Error {
        let mut error = Error::from_fault(fault, &Arc::from(PROVIDER), &Scrubber::default());
        let inner = error.inner_mut();
        inner.request_id.clone_from(&self.request_id);
        // The answer came in: whoever asks again pays again.
        inner.sent = Sent::Maybe;
        error
    }
}

/// What getting them took.
impl Response {
    /// The model that served: a version, where an alias was asked for.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The answers by id, in the order of the questions.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The answers alone.
    #[must_use]
    pub fn into_answers(self) -> Answers {
        self.answers
    }

    /// What the answer cost, in tokens; what the server did not report is none and not zero.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What the answer cost, in the currency of the client's [`Price`](super::Price).
    ///
    /// `None` without a price, or without the count of tokens. Attempts that failed are not in it:
    /// whether they are billed, the provider does not say.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        self.cost
    }

    /// The id under which the provider knows the request (`x-typesafe-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// What could not be said, or read, exactly; without words of the request.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The attempts of the call, in order; the last one succeeded.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        self.attempts.as_slice()
    }

    /// Time from the first attempt to the answer, waits included.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The body as it came in.
    #[must_use]
    pub fn raw(&self) -> &Bytes {
        &self.raw
    }
}

// Answers repeat words of the request (legends, options), so how much there is is shown, not what.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("model", &self.model)
            .field("answers", &self.answers)
            .field("usage", &self.usage)
            .field("cost", &self.cost)
            .field("request_id", &self.request_id)
            .field("warnings", &self.warnings)
            .field("attempts", &self.attempts())
            .field("elapsed", &self.elapsed)
            .field("raw_bytes", &self.raw.len())
            .finish()
    }
}
