//! Ids of tool calls: one for each call of an answer, and of a length every server takes back.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::openai::quirks::CallIds;
use crate::response::Warning;

/// Gives each call of one answer an id of its own.
#[derive(Debug, Default)]
pub(super) struct Ids {
    taken: HashSet<String>,
}

impl Ids {
    /// The call's id: the given one, made unique, or one made here.
    ///
    /// A made id depends on the answer, the name and the place alone, so that a stream and a whole
    /// answer get the same.
    pub(super) fn settle(
        &mut self,
        given: Option<&str>,
        answer: u64,
        name: &str,
    ) -> (String, Option<Warning>) {
        let place = self.taken.len();
        let made = || {
            format!(
                "call_{}",
                letters(hash(hash(answer, name), &place.to_string()))
            )
        };
        let id = given.map_or_else(made, str::to_owned);
        if self.taken.insert(id.clone()) {
            return (id, None);
        }
        // Azure repeats an id within one answer; a result could not say which call it is for.
        let mut n = place + 1;
        loop {
            let other = format!("{id}_{n}");
            if self.taken.insert(other.clone()) {
                let warning = Warning::new(
                    "tool_calls",
                    format!("the id of call {place} was taken and has been made unique"),
                );
                return (other, Some(warning));
            }
            n += 1;
        }
    }
}

/// What makes the ids of one answer differ from those of the next.
pub(super) fn seed(answer_id: Option<&str>) -> u64 {
    hash(FNV_OFFSET, answer_id.unwrap_or_default())
}

/// An id of the history as the server takes it back.
///
/// The same id always gives the same text, so that calls and results still meet.
pub(super) fn on_the_wire(id: &str, form: CallIds) -> Cow<'_, str> {
    match form {
        CallIds::UpTo40 if id.len() <= MAX_BYTES => Cow::Borrowed(id),
        CallIds::UpTo40 => Cow::Owned(format!("call_{}", letters(hash(FNV_OFFSET, id)))),
        CallIds::Nine if is_nine(id) => Cow::Borrowed(id),
        CallIds::Nine => {
            let mut nine = letters(hash(FNV_OFFSET, id));
            nine.truncate(NINE);
            Cow::Owned(nine)
        }
    }
}

fn is_nine(id: &str) -> bool {
    id.len() == NINE && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// FNV-1a: no defence is needed, as a server that makes ids collide only confuses itself.
fn hash(state: u64, text: &str) -> u64 {
    text.bytes().fold(state, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

fn letters(mut number: u64) -> String {
    let mut text = String::with_capacity(13);
    for _ in 0..13 {
        let digit = u32::try_from(number % 36).unwrap_or_default();
        text.extend(char::from_digit(digit, 36));
        number /= 36;
    }
    text
}

/// The limit of OpenAI, the strictest that is known.
const MAX_BYTES: usize = 40;

/// What Mistral takes.
const NINE: usize = 9;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_ids_stay_as_they_are() {
        let mut ids = Ids::default();
        assert_eq!(ids.settle(Some("a"), 0, "t"), ("a".into(), None));
        assert_eq!(ids.settle(Some("b"), 0, "t"), ("b".into(), None));
    }

    #[test]
    fn repeated_ids_are_made_unique_with_a_warning() {
        let mut ids = Ids::default();
        let settled: Vec<_> = ["x", "x_2", "x", "x"]
            .iter()
            .map(|id| ids.settle(Some(id), 0, "t"))
            .collect();
        let unique: HashSet<_> = settled.iter().map(|(id, _)| id).collect();
        assert_eq!(unique.len(), 4);
        assert_eq!(
            settled
                .iter()
                .filter(|(_, warning)| warning.is_some())
                .count(),
            2
        );
    }

    #[test]
    fn made_ids_differ_by_place_name_and_answer_and_repeat_with_them() {
        let made = |answer, name| {
            let mut ids = Ids::default();
            [
                ids.settle(None, answer, name).0,
                ids.settle(None, answer, name).0,
            ]
        };
        let one = made(seed(Some("a")), "t");
        assert_eq!(one, made(seed(Some("a")), "t"));
        let mut all: Vec<_> = one.into_iter().chain(made(seed(Some("b")), "t")).collect();
        all.extend(made(seed(Some("a")), "u"));
        let unique: HashSet<_> = all.iter().collect();
        assert_eq!(unique.len(), 6, "{all:?}");
    }

    #[test]
    fn long_ids_shrink_alike_and_short_ones_stay() {
        let wire = |id: &str| on_the_wire(id, CallIds::UpTo40).into_owned();
        let long = "x".repeat(41);
        assert_eq!(wire(&"x".repeat(40)), "x".repeat(40));
        assert_eq!(wire(&long), wire(&long));
        assert!(wire(&long).len() <= 40);
        assert_ne!(wire(&long), wire(&"y".repeat(41)));
    }

    #[test]
    fn ids_of_nine_letters_and_digits_stay_and_others_become_such() {
        let wire = |id: &str| on_the_wire(id, CallIds::Nine).into_owned();
        assert_eq!(wire("D681PevKs"), "D681PevKs");
        let mut seen = HashSet::new();
        for id in [
            "call_1",
            "call_2",
            "functions.tide:0",
            "D681PevK-",
            "x",
            "D681PevKs0",
        ] {
            let nine = wire(id);
            assert!(is_nine(&nine), "{id}: {nine}");
            assert_eq!(nine, wire(id));
            assert!(seen.insert(nine), "{id}");
        }
    }
}
