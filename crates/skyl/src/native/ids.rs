//! Ids of the calls of one answer: each its own, also where the server gives none or one twice.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Gives each call of one answer an id that no other call of the conversation is likely to have.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// What made ids are made of: the answer's own id, as far as it may stand in one.
    answer: String,
    taken: HashSet<String>,
}

impl Ids {
    /// Takes the id of the answer; the first one stays.
    pub(crate) fn answer(&mut self, id: &str) {
        if self.answer.is_empty() {
            let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            self.answer = id.chars().filter(fits).take(MAX_ANSWER).collect();
        }
    }

    /// The id of the next call, and whether the given one was taken.
    ///
    /// A made id depends on the answer and the place alone, so that a stream and a whole answer
    /// get the same. Where the answer has no id, `salt` stands in for it.
    pub(crate) fn settle(&mut self, given: &str, salt: &str) -> (String, bool) {
        if !given.is_empty() && self.taken.insert(given.to_owned()) {
            return (given.to_owned(), false);
        }
        let place = self.taken.len();
        let mut id = if self.answer.is_empty() {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            format!("call_{:016x}_{place}", hasher.finish())
        } else {
            format!("call_{}_{place}", self.answer)
        };
        while !self.taken.insert(id.clone()) {
            id.push('_');
        }
        (id, !given.is_empty())
    }
}

/// The most of an answer's id that goes into a call's: providers take ids of 40 characters.
const MAX_ANSWER: usize = 28;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_ids_stay_and_repeated_ones_do_not() {
        let mut ids = Ids::default();
        ids.answer("msg_1");
        ids.answer("msg_2");
        let given = ["x", "call_msg_1_3", "x", "x", "", "y"];
        let settled: Vec<_> = given.iter().map(|id| ids.settle(id, "")).collect();
        let expected = [
            ("x", false),
            ("call_msg_1_3", false),
            ("call_msg_1_2", true),
            ("call_msg_1_3_", true),
            ("call_msg_1_4", false),
            ("y", false),
        ];
        assert_eq!(
            settled,
            expected.map(|(id, repeated)| (id.to_owned(), repeated))
        );
    }

    #[test]
    fn made_ids_differ_between_answers_and_fit_every_provider() {
        let made = |answer: &str, salt: &str| {
            let mut ids = Ids::default();
            ids.answer(answer);
            ids.settle("", salt).0
        };
        assert_eq!(made("a", ""), "call_a_0");
        assert_ne!(made("", "x"), made("", "y"));
        assert_eq!(made("", "x"), made("", "x"));
        for id in [made("", "x"), made(&"é:a".repeat(99), "")] {
            assert!(id.len() <= 40 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        }
    }
}
