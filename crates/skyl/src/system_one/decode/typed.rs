//! From one answer's JSON to its type, held against its question.
//!
//! Messages name the field and quote nothing: options and levels are the caller's words, and this
//! text ends up in logs.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use crate::system_one::answer::{Answer, BoxAnswer, ChoiceAnswer, NoulAnswer, ScoreAnswer};
use crate::system_one::json::{Members, Shape};
use crate::system_one::question::{BOX, CHOICE, NOUL, Question, SCORE};
use crate::system_one::state::Content;

/// What is wrong with one answer: the rest of the path, and why.
pub(super) struct Wrong {
    pub(super) place: String,
    pub(super) why: String,
}

pub(super) type Checked<T> = Result<T, Wrong>;

/// The answer, if it is of a type skyl knows; `None` for others, where the question allows it.
pub(super) fn typed(raw: &RawValue, question: Option<&Question>) -> Checked<Option<Answer>> {
    let asked = question.and_then(Question::kind);
    let is_raw = matches!(question, Some(Question::Raw(_)) | None);
    let open = is_raw && !asked.is_some_and(is_known);
    let Some(members) = Members::read(raw.get()) else {
        return if open {
            Ok(None)
        } else {
            wrong("", "must be an object")
        };
    };
    let fields = Fields(members);
    let kind = fields.text("type")?;
    if !open && asked != Some(kind.as_str()) {
        let asked = asked.unwrap_or_default();
        return wrong(".type", format!("a {asked} question was asked"));
    }
    let answer = match kind.as_str() {
        NOUL => Answer::Noul(NoulAnswer {
            noul: fields.fraction("noul")?,
        }),
        CHOICE => Answer::Choice(choice(&fields, question)?),
        SCORE => Answer::Score(score(&fields, question)?),
        BOX => Answer::Box(bounding_box(&fields)?),
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

fn choice(fields: &Fields<'_>, question: Option<&Question>) -> Checked<ChoiceAnswer> {
    let choice = fields.text("choice")?;
    let confidence = fields.fraction("confidence")?;
    let mut probabilities = fields.probabilities()?;
    if let Some(Question::Choice(asked)) = question {
        let options = asked.options.iter().map(|(option, _)| option.as_str());
        let places: HashMap<&str, usize> = options.zip(0..).collect();
        if !places.contains_key(choice.as_str()) {
            return wrong(".choice", "is none of the options");
        }
        let known = |(option, _): &(String, f64)| places.contains_key(option.as_str());
        if probabilities.len() != places.len() || !probabilities.iter().all(known) {
            return wrong(".probabilities", "must be of exactly the options");
        }
        probabilities.sort_by_key(|(option, _)| places.get(option.as_str()).copied());
    } else if !probabilities.iter().any(|(option, _)| *option == choice) {
        return wrong(".choice", "has no probability");
    }
    Ok(ChoiceAnswer {
        choice,
        confidence,
        probabilities,
    })
}

fn score(fields: &Fields<'_>, question: Option<&Question>) -> Checked<ScoreAnswer> {
    let score = fields.number("score")?;
    let confidence = fields.fraction("confidence")?;
    let legend = by_level(fields.object("legend")?.0)
        .ok_or_else(|| Wrong::new(".legend", "must be of levels 0, 1, 2 …"))?;
    let probabilities = by_level(fields.probabilities()?)
        .filter(|probabilities| probabilities.len() == legend.len())
        .ok_or_else(|| Wrong::new(".probabilities", "must be of exactly the legend's levels"))?;
    if let Some(Question::Score(asked)) = question
        && asked.levels.len() != legend.len()
    {
        return wrong(
            ".legend",
            format!("{} levels were asked", asked.levels.len()),
        );
    }
    let (mut expected, mut slack, mut top) = (0.0, FIGURE_SLACK, 0.0);
    for (level, probability) in (0_u32..).zip(&probabilities) {
        top = f64::from(level);
        expected += top * probability;
        slack += top * FIGURE_SLACK;
    }
    if !(0.0..=top).contains(&score) {
        return wrong(".score", "must be within the scale");
    }
    if (score - expected).abs() > slack + ROUNDING {
        return wrong(".score", "does not follow from the probabilities");
    }
    Ok(ScoreAnswer {
        score,
        confidence,
        legend: legend.into_iter().map(Content::raw).collect(),
        probabilities,
    })
}

fn bounding_box(fields: &Fields<'_>) -> Checked<BoxAnswer> {
    let edges = Fields(fields.object("box")?);
    let edge = |name| {
        edges
            .fraction(name)
            .map_err(|wrong| Wrong::new(format!(".box{}", wrong.place), wrong.why))
    };
    let answer = BoxAnswer {
        top: edge("top")?,
        bottom: edge("bottom")?,
        left: edge("left")?,
        right: edge("right")?,
        confidence: match fields.one("confidence")? {
            Some(raw) if Shape::of(raw.get()) != Shape::Null => {
                Some(fields.fraction("confidence")?)
            }
            _ => None,
        },
    };
    if answer.top > answer.bottom || answer.left > answer.right {
        return wrong(".box", "its edges are the wrong way round");
    }
    Ok(answer)
}

/// The fields of one answer.
struct Fields<'a>(Members<'a>);

impl<'a> Fields<'a> {
    /// A field that may be missing, but not stand twice.
    fn one(&self, name: &str) -> Checked<Option<&'a RawValue>> {
        let mut all = self.0.all(name);
        let first = all.next();
        if all.next().is_some() {
            return wrong(format!(".{name}"), "stands twice");
        }
        Ok(first)
    }

    fn required(&self, name: &str) -> Checked<&'a RawValue> {
        self.one(name)?
            .ok_or_else(|| Wrong::new(format!(".{name}"), "missing"))
    }

    fn number(&self, name: &str) -> Checked<f64> {
        number(&format!(".{name}"), self.required(name)?)
    }

    fn fraction(&self, name: &str) -> Checked<f64> {
        fraction(&format!(".{name}"), self.required(name)?)
    }

    fn text(&self, name: &str) -> Checked<String> {
        serde_json::from_str(self.required(name)?.get())
            .map_err(|_| Wrong::new(format!(".{name}"), "must be a string"))
    }

    fn object(&self, name: &str) -> Checked<Members<'a>> {
        Members::read(self.required(name)?.get())
            .ok_or_else(|| Wrong::new(format!(".{name}"), "must be an object"))
    }

    /// The probabilities by name, each a fraction, in all about 1, none twice.
    fn probabilities(&self) -> Checked<Vec<(String, f64)>> {
        const PLACE: &str = ".probabilities";
        let members = self.object("probabilities")?.0;
        let mut probabilities: Vec<(String, f64)> = Vec::with_capacity(members.len());
        let (mut sum, mut slack) = (0.0, 0.0);
        let mut names = HashSet::with_capacity(members.len());
        for (name, raw) in &members {
            if !names.insert(name) {
                return wrong(PLACE, "a name stands twice");
            }
            let probability = fraction(PLACE, raw)?;
            sum += probability;
            slack += FIGURE_SLACK;
            probabilities.push((name.clone().into_owned(), probability));
        }
        if (sum - 1.0_f64).abs() > slack + ROUNDING {
            return wrong(PLACE, "their sum is not 1");
        }
        Ok(probabilities)
    }
}

/// The values of keys "0", "1", "2" …, in that order; `None` for any other keys.
fn by_level<K: AsRef<str>, T>(members: Vec<(K, T)>) -> Option<Vec<T>> {
    let count = members.len();
    let mut levels: Vec<(usize, T)> = Vec::with_capacity(count);
    for (key, value) in members {
        let level: usize = key.as_ref().parse().ok()?;
        // Parsing takes `+1` and `01` too; the wire has neither.
        if level.to_string() != key.as_ref() {
            return None;
        }
        levels.push((level, value));
    }
    levels.sort_by_key(|(level, _)| *level);
    let in_a_row = levels.iter().zip(0..).all(|((level, _), n)| *level == n);
    (in_a_row && count > 0).then(|| levels.into_iter().map(|(_, value)| value).collect())
}

fn number(place: &str, raw: &RawValue) -> Checked<f64> {
    serde_json::from_str(raw.get()).map_err(|_| Wrong::new(place, "must be a number"))
}

fn fraction(place: &str, raw: &RawValue) -> Checked<f64> {
    let number = number(place, raw)?;
    if !(0.0..=1.0).contains(&number) {
        return wrong(place, "must be within 0 and 1");
    }
    Ok(number)
}

fn is_known(kind: &str) -> bool {
    [NOUL, CHOICE, SCORE, BOX].contains(&kind)
}

impl Wrong {
    pub(super) fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            why: why.into(),
        }
    }
}

fn wrong<T>(place: impl Into<String>, why: impl Into<String>) -> Checked<T> {
    Err(Wrong::new(place, why))
}

/// What one figure of two decimals may be off by.
const FIGURE_SLACK: f64 = 0.01;

/// What adding up a few hundred such figures may be off by.
const ROUNDING: f64 = 1e-9;
