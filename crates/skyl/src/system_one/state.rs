//! What can be said to the model: a text, a JSON object or a JSON array.
//!
//! Content is kept as the JSON text that goes on the wire. So it is encoded once, however often it
//! is sent; members keep their order; and numbers keep every digit, which a JSON tree would round.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::dialect::Fault;
use crate::kind::ErrorKind;
use crate::system_one::json::{self, MAX_DEPTH, Shape};

/// A text, a JSON object or a JSON array: a state, an instruction or a criterion.
///
/// Anything JSON can be put in; [`Request::validate`](super::Request::validate) refuses numbers,
/// booleans and null, and more than 100 levels, and names the place. `Debug` shows the size alone.
#[derive(Clone)]
pub struct Content(Box<RawValue>);

/// What the questions are about: a text, a JSON object or a JSON array.
pub type State = Content;

impl Content {
    /// Content from anything that serializes.
    ///
    /// # Errors
    /// A [`Fault`] of kind `BadRequest` where it cannot be JSON: a map whose keys are no strings,
    /// or an error of its own `Serialize`. The message holds nothing of the value.
    pub fn serialize(value: &impl Serialize) -> Result<Self, Fault> {
        to_raw_value(value).map(Self).map_err(|_| {
            Fault::new(ErrorKind::BadRequest).with_message("the content cannot be JSON")
        })
    }

    /// Content from JSON text, kept as written but for white space between tokens.
    ///
    /// # Errors
    /// A [`Fault`] of kind `BadRequest` where the text is no JSON, is nested deeper than 100
    /// levels, or has an object with two members of one name.
    pub fn from_json(text: &str) -> Result<Self, Fault> {
        let refuse = |why: String| Fault::new(ErrorKind::BadRequest).with_message(why);
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            refuse(format!("not JSON at line {line} column {column}"))
        })?;
        if json::depth(text.as_bytes()) > MAX_DEPTH {
            return Err(refuse(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        json::no_duplicates(text).map_err(|place| refuse(json::repeated(place)))?;
        Ok(Self::raw(raw))
    }

    /// The JSON text, as it goes on the wire.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// The text, if this is one; `None` for objects and arrays.
    #[must_use]
    pub fn as_text(&self) -> Option<String> {
        serde_json::from_str(self.as_json()).ok()
    }

    pub(super) fn raw(raw: &RawValue) -> Self {
        Self(json::compact(raw))
    }

    pub(super) fn shape(&self) -> Shape {
        Shape::of(self.as_json())
    }

    /// What is wrong with it as content, in words that follow a path.
    pub(super) fn problem(&self) -> Option<String> {
        match self.shape() {
            Shape::Text => None,
            Shape::Object | Shape::Array => (json::depth(self.as_json().as_bytes()) > MAX_DEPTH)
                .then(|| format!("nested deeper than {MAX_DEPTH} levels")),
            other => Some(format!(
                "must be a string, an object or an array, not {}",
                other.name()
            )),
        }
    }

    /// Whether the words occur in a text or a member's name of it.
    pub(super) fn mentions(&self, words: &str) -> bool {
        if !self.as_json().contains('\\') {
            return self.as_json().contains(words);
        }
        serde_json::from_str(self.as_json()).is_ok_and(|value| mentions(&value, words))
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        infallible(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        infallible(text.as_str())
    }
}

impl From<&String> for Content {
    fn from(text: &String) -> Self {
        infallible(text.as_str())
    }
}

impl From<Value> for Content {
    fn from(value: Value) -> Self {
        infallible(&value)
    }
}

impl From<Map<String, Value>> for Content {
    fn from(members: Map<String, Value>) -> Self {
        infallible(&members)
    }
}

impl From<Vec<Value>> for Content {
    fn from(elements: Vec<Value>) -> Self {
        infallible(&elements)
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Eq for Content {}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

// A debug print in somebody's log must not become a leak of states.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.shape() {
            Shape::Text => "text",
            Shape::Object => "object",
            Shape::Array => "array",
            Shape::Number | Shape::Bool | Shape::Null => "no content",
        };
        write!(f, "Content({kind}, {} bytes)", self.as_json().len())
    }
}

/// Strings and JSON trees always serialize; null, if ever one did not, is refused by validation.
fn infallible<T: Serialize + ?Sized>(value: &T) -> Content {
    Content(to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
}

fn mentions(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.contains(words),
        Value::Array(elements) => elements.iter().any(|element| mentions(element, words)),
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| name.contains(words) || mentions(member, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests;
