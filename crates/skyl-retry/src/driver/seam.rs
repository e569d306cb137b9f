//! How the optional closures of a call are held: `()` where none was given.

use crate::decide::{Choice, Verdict};
use crate::driver::Attempt;
use crate::failure::Failure;

/// Answers whether to retry, or leaves it to the engine.
pub trait Judge {
    /// The caller's choice; `None` leaves it to the engine.
    fn choose(&mut self, failure: &Failure) -> Option<Choice>;
}

/// Hears of decisions.
pub trait Observe<E> {
    /// A failed attempt, and what follows it.
    fn decided(&mut self, attempt: &Attempt, error: &E, verdict: &Verdict);
}

impl Judge for () {
    fn choose(&mut self, _: &Failure) -> Option<Choice> {
        None
    }
}

impl<E> Observe<E> for () {
    fn decided(&mut self, _: &Attempt, _: &E, _: &Verdict) {}
}

/// A caller's `should_retry`.
#[derive(Debug)]
pub struct Asked<F>(pub(super) F);

impl<F: FnMut(&Failure) -> Choice> Judge for Asked<F> {
    fn choose(&mut self, failure: &Failure) -> Option<Choice> {
        Some((self.0)(failure))
    }
}

/// A caller's `on_decision`.
#[derive(Debug)]
pub struct Told<F>(pub(super) F);

impl<E, F: FnMut(&Attempt, &E, &Verdict)> Observe<E> for Told<F> {
    fn decided(&mut self, attempt: &Attempt, error: &E, verdict: &Verdict) {
        (self.0)(attempt, error, verdict);
    }
}
