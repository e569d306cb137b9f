//! Answers, for people and for programs.

use serde::Serialize;
use skyl::Usage;
use skyl::system_one::{Answer, Answers, Response};

use crate::json::{AttemptObject, WarningObject, attempts};

/// The one object of a success.
#[derive(Debug, Serialize)]
pub(super) struct AskObject<'a> {
    model: Option<&'a str>,
    answers: &'a Answers,
    usage: TokensObject,
    request_id: Option<&'a str>,
    warnings: Vec<WarningObject<'a>>,
    attempts: Vec<AttemptObject>,
}

/// What this API counts.
#[derive(Debug, Serialize)]
struct TokensObject {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl<'a> AskObject<'a> {
    pub(super) fn of(response: &'a Response) -> Self {
        let Usage {
            input_tokens,
            output_tokens,
            ..
        } = response.usage();
        Self {
            model: response.model(),
            answers: response.answers(),
            usage: TokensObject {
                input_tokens,
                output_tokens,
            },
            request_id: response.request_id(),
            warnings: response.warnings().iter().map(WarningObject::of).collect(),
            attempts: attempts(response.attempts()),
        }
    }
}

/// An answer on a line: the id, the answer, and how sure it is.
pub(super) fn line(id: &str, answer: &Answer) -> String {
    // An id may be any text; it must not end the line.
    let id = id.replace(['\n', '\r'], " ");
    let said = match answer {
        Answer::Noul(answer) => answer.noul.to_string(),
        Answer::Choice(answer) => {
            let options = answer.probabilities.iter();
            let options = options.map(|(option, share)| format!("{option} {share}"));
            let sure = sure(Some(answer.confidence), options);
            format!("{}{sure}", answer.choice)
        }
        Answer::Score(answer) => {
            let levels = answer.probabilities.iter().enumerate();
            let levels = levels.map(|(level, share)| {
                let meaning = answer.legend.get(level);
                match meaning.and_then(skyl::system_one::Content::as_text) {
                    Some(meaning) => format!("{level} {meaning} {share}"),
                    None => format!("{level} {share}"),
                }
            });
            let sure = sure(Some(answer.confidence), levels);
            format!("{}{sure}", answer.score)
        }
        Answer::Box(answer) => {
            let sure = sure(answer.confidence, std::iter::empty());
            format!(
                "top {} bottom {} left {} right {}{sure}",
                answer.top, answer.bottom, answer.left, answer.right
            )
        }
        Answer::Unknown(answer) => String::from_utf8_lossy(&answer.raw).into_owned(),
        other => format!("{other:?}"),
    };
    format!("{id}: {}", said.replace(['\n', '\r'], " "))
}

fn sure(confidence: Option<f64>, shares: impl Iterator<Item = String>) -> String {
    let confidence = confidence.map(|confidence| format!("confidence {confidence}"));
    let shares = shares.collect::<Vec<_>>().join(", ");
    let shares = Some(shares).filter(|shares| !shares.is_empty());
    let parts: Vec<String> = [confidence, shares].into_iter().flatten().collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(" ({})", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use skyl::system_one::{Request, Strictness, decode};

    use super::*;

    #[test]
    fn every_kind_of_answer_is_one_line() {
        let document = br#"{"state": "x", "questions": {
            "refund": {"type": "noul", "instructions": "?"},
            "queue": {"type": "choice", "criteria": {"carrier": null, "other": null}},
            "patience": {"type": "score", "criteria": ["Relaxed", {"deep": 1}]},
            "where": {"type": "box"},
            "new": {"type": "ode", "x": 1}
        }}"#;
        let body = Bytes::from_static(
            br#"{"model": "jev-1.13.0", "usage": {"input_tokens": 4, "output_tokens": 2}, "answers": {
                "refund": {"type": "noul", "noul": 0.07},
                "queue": {"type": "choice", "choice": "carrier", "confidence": 0.88,
                    "probabilities": {"carrier": 0.94, "other": 0.06}},
                "patience": {"type": "score", "score": 0.75, "confidence": 0.5,
                    "legend": {"0": "Relaxed", "1": {"deep": 1}},
                    "probabilities": {"0": 0.25, "1": 0.75}},
                "where": {"type": "box", "confidence": null,
                    "box": {"top": 0.1, "bottom": 0.5, "left": 0, "right": 1}},
                "new": {"type": "ode",
                    "lines": ["a"]}
            }}"#,
        );
        let request = Request::from_json(document).unwrap();
        let reply = decode(&request.questions, Strictness::Strict, &body).unwrap();
        let lines: Vec<String> = reply
            .answers
            .iter()
            .map(|(id, answer)| line(id, answer))
            .collect();
        assert_eq!(
            lines[..4],
            [
                "refund: 0.07",
                "queue: carrier (confidence 0.88; carrier 0.94, other 0.06)",
                "patience: 0.75 (confidence 0.5; 0 Relaxed 0.25, 1 0.75)",
                "where: top 0.1 bottom 0.5 left 0 right 1",
            ]
        );
        assert!(lines[4].starts_with("new: {"), "{lines:?}");
        assert!(!lines.concat().contains('\n'), "{lines:?}");
    }

    #[test]
    fn an_id_never_ends_the_line() {
        let body = Bytes::from_static(
            br#"{"model": "m", "usage": {"input_tokens": 1, "output_tokens": 1},
                "answers": {"a\nb": {"type": "noul", "noul": 1}}}"#,
        );
        let document = br#"{"state":"x","questions":{"a\nb":{"type":"noul","instructions":"?"}}}"#;
        let request = Request::from_json(document).unwrap();
        let reply = decode(&request.questions, Strictness::Strict, &body).unwrap();
        let (id, answer) = reply.answers.iter().next().unwrap();
        assert_eq!(line(id, answer), "a b: 1");
    }
}
