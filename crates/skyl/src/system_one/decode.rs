//! From the body of a 200 to typed answers, held against the questions that were asked.
//!
//! A truncated or confused reply must never look like a confident one: a figure that is missing is
//! an error and not a zero. What else counts as an error is the caller's to choose; the whole
//! difference between the two modes is a table on the [module's page](crate::system_one).

mod typed;

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::value::RawValue;

use self::typed::{Wrong, typed};
use crate::dialect::Fault;
use crate::response::{Usage, Warning};
use crate::system_one::answer::{Answer, Answers, Entry, UnknownAnswer};
use crate::system_one::detail;
use crate::system_one::json::{self, MAX_DEPTH, Members, Shape, segment};
use crate::system_one::question::Question;
use crate::system_one::questions::Questions;

/// How much a reply may depart from what was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// An answer that is missing, of another type or out of range is an error. The default.
    #[default]
    Strict,
    /// Such an answer is left out or kept raw, with a warning.
    Lenient,
}

/// A decoded reply.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The model that served, by its versioned name; `None` where the server did not say.
    pub model: Option<String>,
    /// The answers, by id.
    pub answers: Answers,
    /// What the call cost, in tokens; `None` in it where the server did not say.
    pub usage: Usage,
    /// What was not as it should be, and was kept all the same.
    pub warnings: Vec<Warning>,
}

/// Decodes the whole body of a reply with a status below 300.
///
/// `questions` are those that were asked: answers are held against them.
///
/// # Errors
/// A [`Fault`] of kind `Decode` that names the path of what is wrong, such as `answers.tone.noul`,
/// and never quotes it; see [`Strictness`]. Where the body is an error instead, its own message.
/// The usage comes along where it can be read: a reply that is refused here was paid for.
pub fn decode(questions: &Questions, strictness: Strictness, body: &Bytes) -> Result<Reply, Fault> {
    let mut reader = Reader {
        strictness,
        body,
        warnings: Vec::new(),
        unreported: 0,
    };
    reader.reply(questions).map_err(|fault| match paid(body) {
        Some(usage) => fault.with_usage(usage),
        None => fault,
    })
}

/// The usage of a reply that is refused, as far as it can be read.
fn paid(body: &[u8]) -> Option<Usage> {
    let members = Members::read(str::from_utf8(body).ok()?)?;
    let members = Members::read(members.get("usage")?.get())?;
    let count = |name: &str| serde_json::from_str(members.get(name)?.get()).ok();
    let usage = Usage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        ..Usage::default()
    };
    (usage != Usage::default()).then_some(usage)
}

struct Reader<'a> {
    strictness: Strictness,
    body: &'a Bytes,
    warnings: Vec<Warning>,
    unreported: usize,
}

impl<'a> Reader<'a> {
    fn reply(&mut self, questions: &Questions) -> Result<Reply, Fault> {
        let not_json = || Fault::decode("the body is no JSON object");
        if json::depth(self.body) > MAX_DEPTH {
            return Err(Fault::decode(format!(
                "the body is nested deeper than {MAX_DEPTH} levels"
            )));
        }
        let text = str::from_utf8(self.body).map_err(|_| not_json())?;
        let Some(members) = Members::read(text) else {
            return Err(detail::in_band(self.body).unwrap_or_else(not_json));
        };
        let Some(answers) = members.get("answers") else {
            return Err(
                detail::in_band(self.body).unwrap_or_else(|| Fault::decode("answers: missing"))
            );
        };
        for name in ["answers", "model", "usage"] {
            if members.all(name).nth(1).is_some() {
                self.wrong(name, "stands twice")?;
            }
        }
        let Some(answers) = Members::read(answers.get()) else {
            return Err(Fault::decode("answers: must be an object"));
        };
        let mut reply = Reply {
            answers: self.answers(questions, &answers)?,
            model: self.model(members.get("model"))?,
            usage: self.usage(members.get("usage"))?,
            warnings: std::mem::take(&mut self.warnings),
        };
        if self.unreported > 0 {
            let more = format!("{} more warnings are not shown", self.unreported);
            reply.warnings.push(Warning::new("answers", more));
        }
        Ok(reply)
    }

    fn answers(&mut self, questions: &Questions, found: &Members<'a>) -> Result<Answers, Fault> {
        // The last of an id, as every JSON reader has it, and how many there were.
        let mut by_id: HashMap<&str, (&'a RawValue, usize)> = HashMap::new();
        for (id, raw) in &found.0 {
            let (last, times) = by_id.entry(id).or_insert((raw, 0));
            *last = raw;
            *times += 1;
        }
        let mut answers = Answers::default();
        for (id, question) in questions.iter() {
            let Some((raw, times)) = by_id.remove(id) else {
                if answers.get(id).is_none() {
                    self.wrong(&format!("answers.{}", segment(id)), "missing")?;
                }
                continue;
            };
            let answer = self.answer(id, raw, times, Some(question))?;
            answers.push(self.entry(id, raw, answer));
        }
        let mut dropped = 0_usize;
        let mut unasked = 0_usize;
        for (id, _) in &found.0 {
            let Some((raw, times)) = by_id.remove(id.as_ref()) else {
                continue;
            };
            // A server could make up answers without end.
            if unasked == MAX_UNASKED {
                dropped += 1;
                continue;
            }
            unasked += 1;
            let answer = self.answer(id, raw, times, None)?;
            answers.push(self.entry(id, raw, answer));
            self.warn(&format!("answers.{}", segment(id)), "nobody asked for it");
        }
        if dropped > 0 {
            let text = format!("{dropped} answers nobody asked for are not kept");
            self.warn("answers", &text);
        }
        Ok(answers)
    }

    fn entry(&self, id: &str, raw: &RawValue, answer: Answer) -> Entry {
        Entry {
            id: id.to_owned(),
            answer,
            raw: self.bytes(raw),
        }
    }

    /// One answer, typed where it is sound; an error or raw where it is not.
    fn answer(
        &mut self,
        id: &str,
        raw: &RawValue,
        times: usize,
        question: Option<&Question>,
    ) -> Result<Answer, Fault> {
        let read = if times > 1 {
            Err(Wrong::new("", "there is more than one answer of this id"))
        } else {
            typed(raw, question)
        };
        let wrong = match read {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => return Ok(self.unknown(raw)),
            Err(wrong) => wrong,
        };
        let path = format!("answers.{}{}", segment(id), wrong.place);
        if question.is_some() {
            self.wrong(&path, &wrong.why)?;
        } else {
            self.warn(&path, &wrong.why);
        }
        Ok(self.unknown(raw))
    }

    fn unknown(&self, raw: &RawValue) -> Answer {
        let kind = Members::read(raw.get())
            .and_then(|members| serde_json::from_str(members.get("type")?.get()).ok());
        Answer::Unknown(UnknownAnswer {
            kind,
            raw: self.bytes(raw),
        })
    }

    fn model(&mut self, raw: Option<&RawValue>) -> Result<Option<String>, Fault> {
        let Some(raw) = raw else {
            self.warn("model", "missing");
            return Ok(None);
        };
        let model: Option<String> = serde_json::from_str(raw.get()).ok();
        if model.is_none() {
            self.wrong("model", "must be a string")?;
        }
        Ok(model)
    }

    fn usage(&mut self, raw: Option<&RawValue>) -> Result<Usage, Fault> {
        let mut usage = Usage::default();
        let Some(raw) = raw.filter(|raw| Shape::of(raw.get()) != Shape::Null) else {
            self.warn("usage", "missing");
            return Ok(usage);
        };
        let Some(members) = Members::read(raw.get()) else {
            self.wrong("usage", "must be an object")?;
            return Ok(usage);
        };
        for (name, slot) in [
            ("input_tokens", &mut usage.input_tokens),
            ("output_tokens", &mut usage.output_tokens),
        ] {
            let path = format!("usage.{name}");
            let mut all = members.all(name);
            let count = all.next().map(RawValue::get).filter(|c| *c != "null");
            if all.next().is_some() {
                self.wrong(&path, "stands twice")?;
                continue;
            }
            let Some(count) = count else {
                self.warn(&path, "missing");
                continue;
            };
            *slot = serde_json::from_str(count).ok();
            if slot.is_none() {
                self.wrong(&path, "must be a whole number of at least 0")?;
            }
        }
        Ok(usage)
    }

    /// Something wrong: an error or a warning, by the strictness.
    fn wrong(&mut self, path: &str, why: &str) -> Result<(), Fault> {
        match self.strictness {
            Strictness::Strict => Err(Fault::decode(format!("{path}: {why}"))),
            Strictness::Lenient => {
                self.warn(path, why);
                Ok(())
            }
        }
    }

    fn warn(&mut self, path: &str, why: &str) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(Warning::new(path, why));
        } else {
            self.unreported += 1;
        }
    }

    fn bytes(&self, raw: &RawValue) -> Bytes {
        self.body.slice_ref(raw.get().as_bytes())
    }
}

/// More than any reply of the hosted API has, and a bound on what a broken one costs.
const MAX_UNASKED: usize = 1_024;

/// Enough to see what is wrong.
const MAX_WARNINGS: usize = 64;

#[cfg(test)]
mod tests;
