//! What can be checked of a request before any network, with the path of what is wrong.
//!
//! | rule | otherwise |
//! |---|---|
//! | state, instructions, criteria: a string, an object or an array, at most 100 levels deep | refused |
//! | at least one question; ids that differ and are not empty | refused |
//! | noul: instructions, or a criterion for at least one side | refused |
//! | choice: 1 to 255 options that differ | refused |
//! | score: 1 to 10 levels, none of them null | refused |
//! | score: a single level, which the API takes and its documents do not | warned about |
//! | box: an image among the assets | warned about |
//! | a raw question or asset: an object with a string `type` | refused |
//! | asset: a name, mentioned by the state or a question; none twice | refused |
//! | image: PNG or JPEG, not animated, 1 byte to 16 MiB | refused |
//! | image: sides from 256 to 1,568 pixels, area from 78,400 to 2,458,624 | warned about |
//! | extra fields: not `state`, `model`, `questions`, `assets` | refused |
//! | extra fields at all, which the hosted API refuses and others take | warned about |

use std::collections::HashSet;

use crate::dialect::Fault;
use crate::kind::ErrorKind;
use crate::response::Warning;
use crate::system_one::asset::{self, Asset, Kind};
use crate::system_one::json::{Members, Shape, segment};
use crate::system_one::question::{Choice, Noul, Question, Score};
use crate::system_one::request::Request;
use crate::system_one::state::Content;

impl Request {
    /// Checks all that can be checked before any network; gives what may be refused all the same.
    ///
    /// The rules are those the hosted API has been seen to hold, so that a mistake costs no round
    /// trip and has a name.
    ///
    /// # Errors
    /// A [`Fault`] of kind `BadRequest` for the first thing wrong, with its path, such as
    /// `questions.tone.criteria: …`. It holds ids, never states, instructions or criteria.
    pub fn validate(&self) -> Result<Vec<Warning>, Fault> {
        let mut check = Check {
            warnings: Vec::new(),
        };
        match check.request(self) {
            Ok(()) => Ok(check.warnings),
            Err(Wrong { path, why }) => {
                Err(Fault::new(ErrorKind::BadRequest).with_message(format!("{path}: {why}")))
            }
        }
    }
}

struct Check {
    warnings: Vec<Warning>,
}

/// What is wrong, and where.
struct Wrong {
    path: String,
    why: String,
}

impl Check {
    fn request(&mut self, request: &Request) -> Result<(), Wrong> {
        if request.model.as_ref().is_some_and(|m| m.trim().is_empty()) {
            return wrong("model", "must not be empty");
        }
        content("state", &request.state)?;
        if request.questions.is_empty() {
            return wrong("questions", "there must be at least one");
        }
        let mut ids = HashSet::new();
        for (id, question) in request.questions.iter() {
            if id.is_empty() {
                return wrong("questions", "an id is empty");
            }
            let path = format!("questions.{}", segment(id));
            if !ids.insert(id) {
                return wrong(path, "the id stands twice");
            }
            self.question(&path, question, request)?;
        }
        let mut names = HashSet::new();
        for (name, asset) in &request.assets {
            if name.is_empty() {
                return wrong("assets", "a name is empty");
            }
            let path = format!("assets.{}", segment(name));
            if !names.insert(name) {
                return wrong(path, "the name stands twice");
            }
            self.asset(&path, asset)?;
            if !mentioned(request, name) {
                return wrong(path, "neither the state nor a question mentions it");
            }
        }
        for (name, _) in &request.extra_body {
            let path = segment(name);
            if OWN_FIELDS.contains(&name.as_str()) {
                return wrong(path, "an extra field cannot replace the request's own");
            }
            self.warn(path, "the hosted API refuses fields it does not know");
        }
        Ok(())
    }

    fn question(
        &mut self,
        path: &str,
        question: &Question,
        request: &Request,
    ) -> Result<(), Wrong> {
        let instructions = match question {
            Question::Noul(noul) => &noul.instructions,
            Question::Choice(choice) => &choice.instructions,
            Question::Score(score) => &score.instructions,
            Question::Box(question) => &question.instructions,
            Question::Raw(raw) => {
                if !raw.is_object() || raw.kind().is_none() {
                    return wrong(
                        path,
                        "a raw question must be an object with a string `type`",
                    );
                }
                return content(path, raw.json());
            }
        };
        if let Some(instructions) = instructions {
            content(&format!("{path}.instructions"), instructions)?;
        }
        match question {
            Question::Noul(question) => noul(path, question),
            Question::Choice(question) => choice(path, question),
            Question::Score(question) => self.score(path, question),
            Question::Box(_) if request.assets.is_empty() => {
                self.warn(path, "a box question needs an image among the assets");
                Ok(())
            }
            Question::Box(_) | Question::Raw(_) => Ok(()),
        }
    }

    fn score(&mut self, path: &str, question: &Score) -> Result<(), Wrong> {
        let path = format!("{path}.criteria");
        let count = question.levels.len();
        if !LEVELS.contains(&count) {
            let why = format!("a score has 1 to {} levels, not {count}", LEVELS.end());
            return wrong(path, why);
        }
        for (level, meaning) in question.levels.iter().enumerate() {
            content(&format!("{path}.{level}"), meaning)?;
        }
        if count == 1 {
            self.warn(path, "a score of one level has one answer");
        }
        Ok(())
    }

    fn asset(&mut self, path: &str, asset: &Asset) -> Result<(), Wrong> {
        match asset.kind() {
            Kind::Image(bytes) => {
                if let Some(why) = asset::problem(bytes) {
                    return wrong(path, why);
                }
                if let Some(doubt) = asset::doubt(bytes) {
                    self.warn(path, doubt);
                }
                Ok(())
            }
            Kind::Raw(json) => {
                let kind = Members::read(json.as_json())
                    .and_then(|members| members.get("type").map(|kind| Shape::of(kind.get())));
                if kind != Some(Shape::Text) {
                    return wrong(path, "a raw asset must be an object with a string `type`");
                }
                content(path, json)
            }
        }
    }

    fn warn(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.warnings.push(Warning::new(path, message));
    }
}

fn noul(path: &str, question: &Noul) -> Result<(), Wrong> {
    let sides = [
        ("true", &question.when_true),
        ("false", &question.when_false),
    ];
    for (side, criterion) in sides {
        if let Some(criterion) = criterion {
            content(&format!("{path}.criteria.{side}"), criterion)?;
        }
    }
    let asks = question.instructions.is_some() || sides.iter().any(|(_, c)| c.is_some());
    if !asks {
        return wrong(path, "a noul needs instructions or criteria");
    }
    Ok(())
}

fn choice(path: &str, question: &Choice) -> Result<(), Wrong> {
    let path = format!("{path}.criteria");
    let count = question.options.len();
    if !OPTIONS.contains(&count) {
        let why = format!("a choice has 1 to {} options, not {count}", OPTIONS.end());
        return wrong(path, why);
    }
    let mut seen = HashSet::new();
    for (position, (option, description)) in question.options.iter().enumerate() {
        // By position: the options are the caller's words, and this text ends up in logs.
        if !seen.insert(option) {
            return wrong(path, format!("option {position} stands there twice"));
        }
        if let Some(description) = description {
            content(&format!("{path}.{position}"), description)?;
        }
    }
    Ok(())
}

fn content(path: &str, content: &Content) -> Result<(), Wrong> {
    match content.problem() {
        None => Ok(()),
        Some(why) => wrong(path, why),
    }
}

/// Whether the name occurs in the state, in instructions or in criteria.
fn mentioned(request: &Request, name: &str) -> bool {
    let within = |content: &Option<Content>| content.as_ref().is_some_and(|c| c.mentions(name));
    request.state.mentions(name)
        || request
            .questions
            .iter()
            .any(|(_, question)| match question {
                Question::Noul(noul) => {
                    within(&noul.instructions)
                        || within(&noul.when_true)
                        || within(&noul.when_false)
                }
                Question::Choice(choice) => {
                    within(&choice.instructions)
                        || (choice.options.iter())
                            .any(|(option, means)| option.contains(name) || within(means))
                }
                Question::Score(score) => {
                    within(&score.instructions) || score.levels.iter().any(|c| c.mentions(name))
                }
                Question::Box(question) => within(&question.instructions),
                Question::Raw(raw) => raw.json().mentions(name),
            })
}

fn wrong<T>(path: impl Into<String>, why: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong {
        path: path.into(),
        why: why.into(),
    })
}

/// What the hosted API takes (seen 2026): 0 and 256 options are refused.
const OPTIONS: std::ops::RangeInclusive<usize> = 1..=255;

/// What the hosted API takes (seen 2026): 0 and 11 levels are refused.
const LEVELS: std::ops::RangeInclusive<usize> = 1..=10;

/// The parts of a request that have a type of their own.
const OWN_FIELDS: [&str; 4] = ["state", "model", "questions", "assets"];

#[cfg(test)]
mod tests;
