//! A line of the answers, as it is written and as it is read again.

use std::num::NonZeroU64;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::json;

/// A line to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The whole line, its end included.
    pub(super) json: Vec<u8>,
    pub(super) tally: Tally,
}

/// What a line adds to the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Whether it took more than one attempt.
    pub(super) retried: bool,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

impl Record {
    /// The object of a call, with the line it answers.
    pub(super) fn new(line: u64, object: &impl Serialize, tally: Tally) -> Result<Self, Failure> {
        #[derive(Serialize)]
        struct Numbered<'a, T> {
            line: u64,
            #[serde(flatten)]
            object: &'a T,
        }

        let mut json = json::line(&Numbered { line, object })?;
        json.push('\n');
        Ok(Self {
            json: json.into_bytes(),
            tally,
        })
    }
}

/// What a stored line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) line: u64,
    /// What the answer adds to the summary; `None` if the line failed.
    pub(super) answer: Option<Tally>,
}

impl Stored {
    /// Reads a line; `None` if it is none of a batch, or not a whole one.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Object {
            line: NonZeroU64,
            answers: Option<IgnoredAny>,
            error: Option<IgnoredAny>,
            usage: Option<Usage>,
            attempts: Option<Vec<IgnoredAny>>,
        }

        #[derive(Deserialize)]
        struct Usage {
            input_tokens: Option<u64>,
            output_tokens: Option<u64>,
        }

        let object: Object = serde_json::from_slice(bytes).ok()?;
        let answer = match (object.answers, object.error) {
            (Some(_), None) => {
                let usage = object.usage.as_ref();
                let tokens =
                    |pick: fn(&Usage) -> Option<u64>| usage.and_then(pick).unwrap_or_default();
                Some(Tally {
                    retried: object.attempts.is_some_and(|attempts| attempts.len() > 1),
                    input_tokens: tokens(|usage| usage.input_tokens),
                    output_tokens: tokens(|usage| usage.output_tokens),
                })
            }
            (None, Some(_)) => None,
            _ => return None,
        };
        Some(Self {
            line: object.line.get(),
            answer,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let tally = Tally {
            retried: true,
            input_tokens: 7,
            output_tokens: 3,
        };
        let object = json!({
            "model": "jev\u{1b}\n", "answers": {}, "attempts": [{}, {}],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        });
        let record = Record::new(12, &object, tally).unwrap();
        let text = std::str::from_utf8(&record.json).unwrap();
        assert!(text.starts_with(r#"{"line":12,"model":"#), "{text}");
        assert_eq!(text.matches('\n').count(), 1);
        let expected = Stored {
            line: 12,
            answer: Some(tally),
        };
        assert_eq!(Stored::read(&record.json), Some(expected));
    }

    #[test]
    fn a_failure_is_told_from_an_answer() {
        for (text, answered) in [
            (r#"{"line":1,"answers":{}}"#, true),
            (
                r#"{"line":1,"answers":{},"usage":{"input_tokens":null},"attempts":[]}"#,
                true,
            ),
            (r#"{"line":1,"error":{"kind":"server"},"text":""}"#, false),
        ] {
            let stored = Stored::read(text.as_bytes()).unwrap();
            assert_eq!(stored.answer.is_some(), answered, "{text}");
        }
    }

    #[test]
    fn what_is_no_line_of_a_batch_is_not_taken_for_one() {
        for text in [
            "",
            "\n",
            "\0\0\0",
            "[]",
            r#"{"line":1}"#,
            r#"{"line":0,"answers":{}}"#,
            r#"{"line":-1,"answers":{}}"#,
            r#"{"answers":{}}"#,
            r#"{"line":1,"answers":{},"error":{}}"#,
            r#"{"line":1,"answers":{}"#,
            r#"{"state":"x","questions":{}}"#,
        ] {
            assert_eq!(Stored::read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn answers_may_be_nested_as_deep_as_they_like() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let text = format!(r#"{{"line":1,"answers":{deep}}}"#);
        assert!(Stored::read(text.as_bytes()).is_some());
    }
}
