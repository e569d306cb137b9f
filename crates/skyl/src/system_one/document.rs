//! A request as a JSON document: the body of the HTTP request, as people write it in a file.
//!
//! Stricter than the API where the API drops things in silence: of two members with one name it
//! takes the last, and a misspelt field of a question it ignores. Both are refused here by name.
//! States, instructions, criteria and fields skyl does not know keep their exact text.

use serde_json::value::RawValue;

use crate::dialect::Fault;
use crate::kind::ErrorKind;
use crate::system_one::asset::{self, Asset, ImageFormat};
use crate::system_one::json::{self, MAX_DEPTH, Members, Shape, segment};
use crate::system_one::question::{
    BOX, BoxQuestion, CHOICE, Choice, NOUL, Noul, Question, RawQuestion, SCORE, Score,
};
use crate::system_one::questions::Questions;
use crate::system_one::request::Request;
use crate::system_one::state::Content;

impl Request {
    /// Reads a request document: the JSON that goes over the wire, at most 48 MiB of it.
    ///
    /// Top-level fields skyl does not know become [extra fields](Request::extra_body), and
    /// questions of types it does not know [raw questions](Question::raw). The order of everything
    /// is kept. It is read, not validated; sending it validates it.
    ///
    /// # Errors
    /// A [`Fault`] of kind `BadRequest` with the path of what is wrong: no JSON, nested deeper than
    /// 100 levels, a member that stands twice, a field that is missing, of another type, or
    /// unknown in a question of a known type.
    pub fn from_json(document: &[u8]) -> Result<Self, Fault> {
        read(document).map_err(|why| Fault::new(ErrorKind::BadRequest).with_message(why))
    }
}

fn read(document: &[u8]) -> Result<Request, String> {
    if document.len() > MAX_DOCUMENT_BYTES {
        return Err(format!(
            "the document has {} bytes, at most {MAX_DOCUMENT_BYTES} are read",
            document.len()
        ));
    }
    let text = str::from_utf8(document).map_err(|_| "the document is not UTF-8".to_owned())?;
    // Editors on Windows put a mark in front that JSON does not know.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if json::depth(text.as_bytes()) > MAX_DEPTH {
        return Err(format!(
            "the document is nested deeper than {MAX_DEPTH} levels"
        ));
    }
    // By line and column: the reader's own words may quote the document.
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        if error.is_data() {
            return "the document must be a JSON object".to_owned();
        }
        format!("the document is not JSON at line {line} column {column}")
    })?;
    json::no_duplicates(text).map_err(json::repeated)?;

    let state = members.get("state").ok_or("state: missing")?;
    let asked = members.get("questions").ok_or("questions: missing")?;
    let mut request = Request::new(Content::raw(state), questions(asked)?);
    for (name, raw) in &members.0 {
        match name.as_ref() {
            "state" | "questions" => {}
            "model" => request.model = Some(string("model", raw)?),
            "assets" => request.assets = assets(raw)?,
            other => request
                .extra_body
                .push((other.to_owned(), Content::raw(raw))),
        }
    }
    Ok(request)
}

fn questions(raw: &RawValue) -> Result<Questions, String> {
    let mut questions = Questions::new();
    for (id, raw) in object("questions", raw)?.0 {
        let path = format!("questions.{}", segment(&id));
        questions = questions.ask(id, question(&path, raw)?);
    }
    Ok(questions)
}

fn question(path: &str, raw: &RawValue) -> Result<Question, String> {
    let members = object(path, raw)?;
    let kind = members
        .get("type")
        .ok_or_else(|| format!("{path}.type: missing"))?;
    let kind = string(&format!("{path}.type"), kind)?;
    if ![NOUL, CHOICE, SCORE, BOX].contains(&kind.as_str()) {
        return Ok(RawQuestion::new(Content::raw(raw)).into());
    }
    let known = |name: &str| match name {
        "type" | "instructions" => true,
        "criteria" => kind != BOX,
        _ => false,
    };
    if let Some((name, _)) = members.0.iter().find(|(name, _)| !known(name)) {
        let name = segment(name);
        return Err(format!("{path}.{name}: unknown field of a {kind} question"));
    }
    let instructions = members.get("instructions").and_then(optional);
    let place = format!("{path}.criteria");
    let criteria = members.get("criteria");
    let required = || criteria.ok_or_else(|| format!("{place}: missing"));
    Ok(match kind.as_str() {
        NOUL => noul(&place, instructions, criteria)?.into(),
        CHOICE => Choice {
            instructions,
            options: object(&place, required()?)?
                .0
                .into_iter()
                .map(|(option, means)| (option.into_owned(), optional(means)))
                .collect(),
        }
        .into(),
        SCORE => Score {
            instructions,
            levels: array(&place, required()?)?
                .into_iter()
                .map(Content::raw)
                .collect(),
        }
        .into(),
        _ => BoxQuestion { instructions }.into(),
    })
}

fn noul(
    place: &str,
    instructions: Option<Content>,
    criteria: Option<&RawValue>,
) -> Result<Noul, String> {
    let mut noul = Noul {
        instructions,
        ..Noul::default()
    };
    let Some(criteria) = criteria.filter(|raw| Shape::of(raw.get()) != Shape::Null) else {
        return Ok(noul);
    };
    for (side, criterion) in object(place, criteria)?.0 {
        match side.as_ref() {
            "true" => noul.when_true = optional(criterion),
            "false" => noul.when_false = optional(criterion),
            other => {
                let other = segment(other);
                return Err(format!("{place}.{other}: neither `true` nor `false`"));
            }
        }
    }
    Ok(noul)
}

fn assets(raw: &RawValue) -> Result<Vec<(String, Asset)>, String> {
    let members = object("assets", raw)?.0.into_iter();
    let read = members.map(|(name, raw)| {
        let path = format!("assets.{}", segment(&name));
        Ok((name.into_owned(), one_asset(&path, raw)?))
    });
    read.collect()
}

fn one_asset(path: &str, raw: &RawValue) -> Result<Asset, String> {
    let members = object(path, raw)?;
    let field = |name: &str| {
        let place = format!("{path}.{name}");
        match members.get(name) {
            Some(raw) => string(&place, raw),
            None => Err(format!("{place}: missing")),
        }
    };
    if field("type")? != "image" {
        return Ok(Asset::raw(Content::raw(raw)));
    }
    for (name, _) in &members.0 {
        match name.as_ref() {
            "type" | "format" | "data_base64" => {}
            "part" => return Err(format!("{path}.part: a document has no other parts")),
            other => {
                let other = segment(other);
                return Err(format!("{path}.{other}: unknown field of an image"));
            }
        }
    }
    let format = ImageFormat::parse(&field("format")?)
        .ok_or_else(|| format!("{path}.format: neither `png` nor `jpeg`"))?;
    let bytes = asset::from_base64(&field("data_base64")?)
        .ok_or_else(|| format!("{path}.data_base64: not base64"))?;
    // Bytes of no format at all are validation's to name.
    if ImageFormat::of(&bytes).is_some_and(|found| found != format) {
        return Err(format!("{path}.format: the bytes are of another format"));
    }
    Ok(Asset::image(bytes))
}

/// Content, or nothing for null.
fn optional(raw: &RawValue) -> Option<Content> {
    (Shape::of(raw.get()) != Shape::Null).then(|| Content::raw(raw))
}

fn object<'a>(path: &str, raw: &'a RawValue) -> Result<Members<'a>, String> {
    Members::read(raw.get()).ok_or_else(|| not_a("an object", path, raw))
}

fn array<'a>(path: &str, raw: &'a RawValue) -> Result<Vec<&'a RawValue>, String> {
    serde_json::from_str(raw.get()).map_err(|_| not_a("an array", path, raw))
}

fn string(path: &str, raw: &RawValue) -> Result<String, String> {
    serde_json::from_str(raw.get()).map_err(|_| not_a("a string", path, raw))
}

fn not_a(wanted: &str, path: &str, raw: &RawValue) -> String {
    format!(
        "{path}: must be {wanted}, not {}",
        Shape::of(raw.get()).name()
    )
}

/// Room for the largest body the API takes, written with white space.
const MAX_DOCUMENT_BYTES: usize = 48 << 20;

#[cfg(test)]
mod tests;
