//! Lists read one element after the other, without a list of them in memory.

use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Hands out the elements of a JSON list, in order; false where it is none.
pub(crate) fn each<'a>(list: &'a RawValue, take: impl FnMut(&'a RawValue)) -> bool {
    let mut reader = serde_json::Deserializer::from_str(list.get());
    reader.deserialize_seq(Each(take)).is_ok()
}

struct Each<F>(F);

impl<'de, F: FnMut(&'de RawValue)> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(element) = seq.next_element()? {
            (self.0)(element);
        }
        Ok(())
    }

    // What `null` says is for whoever asks.
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Err(E::custom("null"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_in_order_and_as_they_stand() {
        let list: &RawValue = serde_json::from_str(r#"[1, {"a": [2]}, "x", null]"#).unwrap();
        let mut elements = Vec::new();
        assert!(each(list, |raw| elements.push(raw.get())));
        assert_eq!(elements, ["1", r#"{"a": [2]}"#, r#""x""#, "null"]);
    }

    #[test]
    fn everything_else_is_no_list() {
        for json in ["null", "1", "true", r#""[]""#, "{}"] {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            assert!(!each(raw, |_| panic!("{json} has no elements")), "{json}");
        }
        assert!(each(serde_json::from_str("[]").unwrap(), |_| panic!()));
    }
}
