//! Reasoning with its signatures, as `OpenRouter` sends it and wants it back.
//!
//! A whole answer has the list `reasoning_details` as it must go back. A stream sends the entries
//! in pieces, which are put together here: pieces of the same type and index are one entry.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::message::OpaqueState;

/// The entries of one answer.
#[derive(Debug, Default)]
pub(super) struct Details(Vec<Value>);

impl Details {
    /// The list of a whole answer; anything but a list is nothing.
    pub(super) fn whole(list: Option<&RawValue>) -> Self {
        let list = list.and_then(|list| serde_json::from_str(list.get()).ok());
        Self(list.unwrap_or_default())
    }

    /// More of a stream's: whole entries, or pieces of the last one.
    pub(super) fn piece(&mut self, list: Option<&RawValue>) {
        for value in Self::whole(list).0 {
            match (self.0.last_mut(), &value) {
                (Some(Value::Object(entry)), Value::Object(more)) if goes_on(entry, more) => {
                    join(entry, more);
                }
                _ => self.0.push(value),
            }
        }
    }

    /// What goes back to the provider named; `None` where there were no entries.
    pub(super) fn state(&self, provider: &str) -> Option<OpaqueState> {
        if self.0.is_empty() {
            return None;
        }
        let json = serde_json::value::to_raw_value(&self.0).ok()?;
        Some(OpaqueState::new(provider, json))
    }
}

/// Whether a piece belongs to the entry before it.
///
/// Encrypted entries come whole, and a signature closes an entry that has no index.
fn goes_on(last: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let field = |entry: &Map<String, Value>, name: &str| {
        entry.get(name).filter(|value| !value.is_null()).cloned()
    };
    let kind = field(last, "type");
    let joins = kind
        .as_ref()
        .is_some_and(|kind| kind == "reasoning.text" || kind == "reasoning.summary");
    joins
        && kind == field(piece, "type")
        && match (field(last, "index"), field(piece, "index")) {
            (None, None) => field(last, "signature").is_none(),
            (last, piece) => last == piece,
        }
}

/// Words grow; of everything else the last word counts, unless it is null.
fn join(entry: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (name, value) in piece {
        match (entry.get_mut(name), value) {
            (_, Value::Null) => {}
            (Some(Value::String(words)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary") =>
            {
                words.push_str(more);
            }
            _ => {
                entry.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &str) {
        let mut details = Details::default();
        for piece in pieces {
            details.piece(serde_json::from_str(piece).ok());
        }
        let state = details.state("openrouter");
        let state = state
            .as_ref()
            .and_then(|state| state.for_provider("openrouter"));
        assert_eq!(state.map_or("", RawValue::get), expected);
    }

    #[test]
    fn pieces_of_one_entry_grow_together_and_keep_a_late_signature() {
        check(
            &[
                r#"[{"type":"reasoning.text","text":"Two ","signature":null,"index":0}]"#,
                r#"[{"type":"reasoning.text","text":"tides.","index":0}]"#,
                r#"[{"type":"reasoning.text","signature":"c2ln","index":0}]"#,
            ],
            r#"[{"type":"reasoning.text","text":"Two tides.","signature":"c2ln","index":0}]"#,
        );
    }

    #[test]
    fn other_types_other_indexes_and_what_is_encrypted_stay_apart() {
        check(
            &[
                r#"[{"type":"reasoning.summary","summary":"a","index":0}]"#,
                r#"[{"type":"reasoning.summary","summary":"b","index":1}]"#,
                r#"[{"type":"reasoning.encrypted","data":"x","index":1}]"#,
                r#"[{"type":"reasoning.encrypted","data":"y","index":1}]"#,
            ],
            concat!(
                r#"[{"type":"reasoning.summary","summary":"a","index":0},"#,
                r#"{"type":"reasoning.summary","summary":"b","index":1},"#,
                r#"{"type":"reasoning.encrypted","data":"x","index":1},"#,
                r#"{"type":"reasoning.encrypted","data":"y","index":1}]"#
            ),
        );
    }

    #[test]
    fn a_signature_closes_an_entry_without_an_index() {
        check(
            &[
                r#"[{"type":"reasoning.text","text":"a","signature":"s"}]"#,
                r#"[{"type":"reasoning.text","text":"b"}]"#,
            ],
            r#"[{"type":"reasoning.text","text":"a","signature":"s"},{"type":"reasoning.text","text":"b"}]"#,
        );
    }

    #[test]
    fn what_is_no_list_is_nothing() {
        check(&["null", "{}", "\"x\"", "[]"], "");
        assert!(Details::whole(None).state("openrouter").is_none());
    }
}
