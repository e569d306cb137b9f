//! Writing answers: one for each question, in the order of the request, and odd ones on demand.
//!
//! | type | the answer |
//! |---|---|
//! | noul | a number from 0 to 1 |
//! | choice | one option with more than half, the rest shared among the others, adding up to 1 |
//! | score | the same over the levels; the score is the mean of the levels, exactly |
//! | box | an upper left corner in the first 60 hundredths, sides of 5 to 39 hundredths |
//!
//! All numbers have two decimals, as on the hosted API.

use serde_json::{Map, Value, json};

use super::{
    assets::Asset,
    check::{Asked, Kind, Question},
    draw::{Draw, Urn, confidence, number, shares},
    limits::Usage,
};
use crate::answer::{JSON, Whole};

/// How an answer is odd, every time, by the name of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    /// No answer at all.
    Empty,
    /// The first question has no answer.
    Missing,
    /// The first answer has another type than its question.
    Mistyped,
    /// The first answer has a number that cannot be.
    OutOfRange,
    /// The first answer comes twice under the same key, the second time another one.
    Duplicate,
    /// The first answer has a type nobody knows.
    UnknownType,
    /// The first answer lacks what it was asked for.
    Incomplete,
    /// An answer nobody asked for comes last.
    Extra,
    UsageMissing,
    UsageNegative,
}

impl Oddity {
    pub(super) fn of(model: &str) -> Option<Self> {
        let named = ODDITIES.iter().find(|(name, _)| *name == model);
        named.map(|(_, oddity)| *oddity)
    }
}

/// The answer to a request.
pub(super) fn answer(
    served: &str,
    asked: &Asked<'_>,
    assets: &[Asset<'_>],
    usage: Usage,
    oddity: Option<Oddity>,
) -> Whole {
    let urn = Urn::new(asked.state, assets);
    let drawn = |question: &Question<'_>, salt| one(question, &mut urn.draw(question, salt));
    let mut answers: Vec<(&str, Value)> = asked
        .questions
        .iter()
        .map(|question| (question.id, drawn(question, 0)))
        .collect();
    if let (Some(oddity), Some(question)) = (oddity, asked.questions.first()) {
        distort(&mut answers, question, oddity, drawn);
    }
    let mut body = vec![
        ("model", json!(served).to_string()),
        ("answers", members(&answers)),
    ];
    if oddity != Some(Oddity::UsageMissing) {
        let input = match oddity {
            Some(Oddity::UsageNegative) => json!(-1),
            _ => json!(usage.input),
        };
        let usage = json!({"input_tokens": input, "output_tokens": usage.output});
        body.push(("usage", usage.to_string()));
    }
    Whole {
        status: 200,
        content_type: JSON,
        body: object(body).into(),
    }
}

/// An answer as its question is asked.
fn one(question: &Question<'_>, draw: &mut Draw) -> Value {
    match question.kind {
        Kind::Noul => noul(draw.up_to(100)),
        Kind::Choice(options) => choice(options, draw),
        Kind::Score(levels) => score(levels, draw),
        Kind::Box => {
            let [top, left] = [draw.up_to(60), draw.up_to(60)];
            let [bottom, right] = [top, left].map(|start| start + 5 + draw.up_to(34));
            json!({
                "type": "box",
                "box": {
                    "top": number(top),
                    "bottom": number(bottom),
                    "left": number(left),
                    "right": number(right),
                },
                "confidence": number(50 + draw.up_to(50)),
            })
        }
    }
}

fn noul(hundredths: u32) -> Value {
    json!({"type": "noul", "noul": number(hundredths)})
}

fn choice(options: &Map<String, Value>, draw: &mut Draw) -> Value {
    let shares = shares(draw, options.len());
    let most = options.keys().zip(&shares).max_by_key(|(_, share)| **share);
    let probabilities = options
        .keys()
        .zip(&shares)
        .map(|(option, share)| (option.clone(), json!(number(*share))));
    json!({
        "type": "choice",
        "choice": most.map(|(option, _)| option),
        "confidence": confidence(&shares),
        "probabilities": probabilities.collect::<Map<_, _>>(),
    })
}

fn score(levels: &[Value], draw: &mut Draw) -> Value {
    let shares = shares(draw, levels.len());
    let mean = (0..).zip(&shares).map(|(level, share)| level * share).sum();
    let legend = levels
        .iter()
        .enumerate()
        .map(|(level, text)| (level.to_string(), text.clone()));
    let probabilities = shares
        .iter()
        .enumerate()
        .map(|(level, share)| (level.to_string(), json!(number(*share))));
    json!({
        "type": "score",
        "score": number(mean),
        "confidence": confidence(&shares),
        "legend": legend.collect::<Map<_, _>>(),
        "probabilities": probabilities.collect::<Map<_, _>>(),
    })
}

/// Makes the answers wrong in the way the model's name says.
fn distort<'d>(
    answers: &mut Vec<(&'d str, Value)>,
    question: &Question<'d>,
    oddity: Oddity,
    drawn: impl Fn(&Question<'_>, u8) -> Value,
) {
    let Some((_, first)) = answers.first_mut() else {
        return;
    };
    match oddity {
        Oddity::Empty => answers.clear(),
        Oddity::Missing => {
            answers.remove(0);
        }
        Oddity::Mistyped => {
            *first = match question.kind {
                Kind::Noul => json!({
                    "type": "choice",
                    "choice": "yes",
                    "confidence": 1.0,
                    "probabilities": {"yes": 1.0},
                }),
                _ => noul(50),
            }
        }
        Oddity::OutOfRange => {
            let place = match question.kind {
                Kind::Noul => "/noul",
                Kind::Choice(_) => "/confidence",
                Kind::Score(_) => "/score",
                Kind::Box => "/box/bottom",
            };
            if let Some(value) = first.pointer_mut(place) {
                // Above every scale: a score has at most ten levels.
                *value = json!(17.0);
            }
        }
        Oddity::Duplicate => {
            let mut salts = 1..=u8::MAX;
            let other =
                salts.find_map(|salt| Some(drawn(question, salt)).filter(|other| other != &*first));
            let second = other.unwrap_or_else(|| noul(50));
            answers.insert(1, (question.id, second));
        }
        Oddity::UnknownType => {
            *first =
                json!({"type": "ranking", "order": ["b", "a"], "weights": {"b": 0.6, "a": 0.4}});
        }
        Oddity::Incomplete => {
            let member = match question.kind {
                Kind::Noul => "noul",
                Kind::Choice(_) => "choice",
                Kind::Score(_) => "score",
                Kind::Box => "box",
            };
            if let Some(members) = first.as_object_mut() {
                members.remove(member);
            }
        }
        Oddity::Extra => answers.push(("sandbox-extra", noul(50))),
        Oddity::UsageMissing | Oddity::UsageNegative => {}
    }
}

/// The text of an object whose keys may come twice, which no map can hold.
fn members(answers: &[(&str, Value)]) -> String {
    object(answers.iter().map(|(id, answer)| (*id, answer.to_string())))
}

fn object<'k>(members: impl IntoIterator<Item = (&'k str, String)>) -> String {
    let members = members
        .into_iter()
        .map(|(key, value)| format!("{}:{value}", Value::from(key)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Beside `sandbox-echo-key`, what this mount knows of odd models.
const ODDITIES: [(&str, Oddity); 10] = [
    ("sandbox-empty", Oddity::Empty),
    ("sandbox-answer-missing", Oddity::Missing),
    ("sandbox-answer-mistyped", Oddity::Mistyped),
    ("sandbox-answer-out-of-range", Oddity::OutOfRange),
    ("sandbox-answer-duplicate", Oddity::Duplicate),
    ("sandbox-answer-unknown-type", Oddity::UnknownType),
    ("sandbox-answer-incomplete", Oddity::Incomplete),
    ("sandbox-answer-extra", Oddity::Extra),
    ("sandbox-usage-missing", Oddity::UsageMissing),
    ("sandbox-usage-negative", Oddity::UsageNegative),
];
