//! Reading a request against the provider's schema: every issue is found, as a 422 lists them.

use serde_json::{Map, Value, json};

use super::errors::{Issue, Refusal};

/// A request that fits the schema.
#[derive(Debug)]
pub(super) struct Asked<'d> {
    pub(super) state: &'d Value,
    /// In the order of the request.
    pub(super) questions: Vec<Question<'d>>,
    pub(super) assets: Option<&'d Map<String, Value>>,
}

/// One question, with the JSON it was asked in.
#[derive(Debug)]
pub(super) struct Question<'d> {
    pub(super) id: &'d str,
    pub(super) json: &'d Value,
    pub(super) kind: Kind<'d>,
}

#[derive(Debug)]
pub(super) enum Kind<'d> {
    Noul,
    Choice(&'d Map<String, Value>),
    Score(&'d [Value]),
    Box,
}

/// Reads a request.
///
/// # Errors
/// All issues, or the first [`MAX_ISSUES`] of them.
pub(super) fn read(document: &Map<String, Value>) -> Result<Asked<'_>, Refusal> {
    let mut issues = Issues::default();
    let asked = issues.request(document);
    match asked {
        Some(asked) if issues.0.is_empty() => Ok(asked),
        _ => Err(Refusal::issues(issues.0)),
    }
}

/// What is wrong with a request that names no model.
pub(super) fn refusal(document: &Map<String, Value>) -> Refusal {
    let mut issues = Issues::default();
    issues.request(document);
    Refusal::issues(issues.0)
}

/// Issues so far; each check that finds none gives what it read.
#[derive(Debug, Default)]
struct Issues(Vec<Issue>);

impl Issues {
    fn push(&mut self, issue: Issue) {
        if self.0.len() < MAX_ISSUES {
            self.0.push(issue);
        }
    }

    fn request<'d>(&mut self, document: &'d Map<String, Value>) -> Option<Asked<'d>> {
        let body = || Value::Object(document.clone());
        let state = document.get("state").filter(|state| !state.is_null());
        match state {
            // A null counts as missing, on the hosted API too.
            None => self.missing(place(&["body", "state"]), &body()),
            Some(state) => self.entry(&place(&["body", "state"]), state, Null::Refused),
        }
        match document.get("model") {
            None => self.missing(place(&["body", "model"]), &body()),
            Some(Value::String(_)) => {}
            Some(other) => self.mistyped("str", place(&["body", "model"]), other),
        }
        let questions = match document.get("questions") {
            None => {
                self.missing(place(&["body", "questions"]), &body());
                None
            }
            Some(questions) => self.questions(questions),
        };
        let assets = match document.get("assets") {
            None | Some(Value::Null) => None,
            Some(assets) => self.assets(assets),
        };
        Some(Asked {
            state: state?,
            questions: questions?,
            assets,
        })
    }

    fn questions<'d>(&mut self, questions: &'d Value) -> Option<Vec<Question<'d>>> {
        let loc = place(&["body", "questions"]);
        let questions = self.filled_object(&loc, questions)?;
        let questions = questions
            .iter()
            .map(|(id, question)| self.question(id, question));
        // All of them are looked at, whatever the first one lacks.
        let questions: Vec<_> = questions.collect();
        questions.into_iter().collect()
    }

    fn question<'d>(&mut self, id: &'d str, json: &'d Value) -> Option<Question<'d>> {
        let mut loc = place(&["body", "questions", id]);
        let Value::Object(question) = json else {
            self.no_object(loc, json);
            return None;
        };
        let Some(tag) = question.get("type") else {
            let message = "Unable to extract tag using discriminator 'type'";
            let issue = Issue::new("union_tag_not_found", loc, message, json);
            self.push(issue.with_context(json!({"discriminator": "'type'"})));
            return None;
        };
        let tag = tag.as_str().map_or_else(|| tag.to_string(), str::to_owned);
        if !TYPES.contains(&tag.as_str()) {
            let message = format!(
                "Input tag '{tag}' found using 'type' does not match any of the expected tags: {EXPECTED_TYPES}"
            );
            let context =
                json!({"discriminator": "'type'", "tag": tag, "expected_tags": EXPECTED_TYPES});
            let issue = Issue::new("union_tag_invalid", loc, message, json);
            self.push(issue.with_context(context));
            return None;
        }
        // The type is a segment of the place, because it picked the arm of the union.
        loc.push(json!(tag));
        if let Some(instructions) = question.get("instructions") {
            self.entry(&under(&loc, "instructions"), instructions, Null::Taken);
        }
        let criteria = question.get("criteria");
        let at = under(&loc, "criteria");
        let kind = match tag.as_str() {
            "noul" => {
                if let Some(criteria) = criteria.filter(|criteria| !criteria.is_null()) {
                    self.outcomes(&at, criteria);
                }
                Kind::Noul
            }
            "box" => Kind::Box,
            other => {
                let Some(criteria) = criteria else {
                    self.missing(at, json);
                    return None;
                };
                match other {
                    "choice" => Kind::Choice(self.options(&at, criteria)?),
                    _ => Kind::Score(self.levels(&at, criteria)?),
                }
            }
        };
        Some(Question { id, json, kind })
    }

    fn outcomes(&mut self, loc: &[Value], criteria: &Value) {
        let Value::Object(outcomes) = criteria else {
            self.no_object(loc.to_vec(), criteria);
            return;
        };
        for outcome in ["true", "false"] {
            if let Some(entry) = outcomes.get(outcome) {
                self.entry(&under(loc, outcome), entry, Null::Taken);
            }
        }
    }

    fn options<'d>(
        &mut self,
        loc: &[Value],
        criteria: &'d Value,
    ) -> Option<&'d Map<String, Value>> {
        let Value::Object(options) = criteria else {
            self.mistyped("dict", loc.to_vec(), criteria);
            return None;
        };
        for (option, entry) in options {
            self.entry(&under(loc, option), entry, Null::Taken);
        }
        Some(options)
    }

    fn levels<'d>(&mut self, loc: &[Value], criteria: &'d Value) -> Option<&'d [Value]> {
        let Value::Array(levels) = criteria else {
            self.mistyped("list", loc.to_vec(), criteria);
            return None;
        };
        if levels.is_empty() {
            self.too_short(loc.to_vec(), "List", criteria);
        }
        for (index, level) in levels.iter().enumerate() {
            let mut loc = loc.to_vec();
            loc.push(json!(index));
            self.entry(&loc, level, Null::Refused);
        }
        Some(levels)
    }

    fn assets<'d>(&mut self, assets: &'d Value) -> Option<&'d Map<String, Value>> {
        let loc = place(&["body", "assets"]);
        let assets = self.filled_object(&loc, assets)?;
        for (reference, asset) in assets {
            let loc = under(&loc, reference);
            let Value::Object(fields) = asset else {
                self.no_object(loc, asset);
                continue;
            };
            let field = |name| fields.get(name).filter(|value: &&Value| !value.is_null());
            if let Some(kind) = field("type").filter(|kind| *kind != "image") {
                let issue = Issue::new(
                    "literal_error",
                    under(&loc, "type"),
                    "Input should be 'image'",
                    kind,
                );
                self.push(issue.with_context(json!({"expected": "'image'"})));
            }
            let known = |format: &Value| FORMATS.iter().any(|known| format == known);
            if let Some(format) = field("format").filter(|format| !known(format)) {
                let message = format!("Input should be {EXPECTED_FORMATS}");
                let issue = Issue::new("enum", under(&loc, "format"), message, format);
                self.push(issue.with_context(json!({"expected": EXPECTED_FORMATS})));
            }
            for name in ["data_base64", "part"] {
                if let Some(other) = field(name).filter(|value| !value.is_string()) {
                    self.mistyped("str", under(&loc, name), other);
                }
            }
        }
        Some(assets)
    }

    /// A text, an object or an array; anything else has one issue per arm of that union.
    fn entry(&mut self, loc: &[Value], entry: &Value, null: Null) {
        match entry {
            Value::String(_) | Value::Object(_) | Value::Array(_) => {}
            Value::Null if null == Null::Taken => {}
            other => {
                for (arm, kind) in ARMS {
                    self.mistyped(kind, under(loc, arm), other);
                }
            }
        }
    }

    fn filled_object<'d>(
        &mut self,
        loc: &[Value],
        value: &'d Value,
    ) -> Option<&'d Map<String, Value>> {
        let Value::Object(object) = value else {
            self.mistyped("dict", loc.to_vec(), value);
            return None;
        };
        if object.is_empty() {
            self.too_short(loc.to_vec(), "Dictionary", value);
        }
        Some(object)
    }

    fn missing(&mut self, loc: Vec<Value>, around: &Value) {
        self.push(Issue::new("missing", loc, "Field required", around));
    }

    fn mistyped(&mut self, kind: &str, loc: Vec<Value>, input: &Value) {
        let (code, noun) = match kind {
            "str" => ("string_type", "string"),
            "dict" => ("dict_type", "dictionary"),
            _ => ("list_type", "list"),
        };
        let message = format!("Input should be a valid {noun}");
        self.push(Issue::new(code, loc, message, input));
    }

    fn no_object(&mut self, loc: Vec<Value>, input: &Value) {
        self.push(no_object(loc, input));
    }

    fn too_short(&mut self, loc: Vec<Value>, container: &str, input: &Value) {
        let message = format!("{container} should have at least 1 item after validation, not 0");
        let context = json!({"field_type": container, "min_length": 1, "actual_length": 0});
        self.push(Issue::new("too_short", loc, message, input).with_context(context));
    }
}

/// What the schema says to something that had to be an object with known members.
pub(super) fn no_object(loc: Vec<Value>, input: &Value) -> Issue {
    let message = "Input should be a valid dictionary or object to extract fields from";
    Issue::new("model_attributes_type", loc, message, input)
}

/// Whether a null may stand in the place of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Null {
    Taken,
    Refused,
}

pub(super) fn place(segments: &[&str]) -> Vec<Value> {
    segments.iter().map(|segment| json!(segment)).collect()
}

fn under(loc: &[Value], segment: &str) -> Vec<Value> {
    loc.iter().cloned().chain([json!(segment)]).collect()
}

const TYPES: [&str; 4] = ["noul", "choice", "score", "box"];
const EXPECTED_TYPES: &str = "'noul', 'choice', 'score', 'box'";

const FORMATS: [&str; 3] = ["png", "jpg", "jpeg"];
const EXPECTED_FORMATS: &str = "'png', 'jpg' or 'jpeg'";

/// The union of an entry, in the provider's order: the arm's name, and what it wants.
const ARMS: [(&str, &str); 3] = [
    ("str", "str"),
    ("dict[any,any]", "dict"),
    ("list[any]", "list"),
];

/// Issues that are listed. The hosted API lists all; a request of 32 MiB could have millions.
const MAX_ISSUES: usize = 1000;
