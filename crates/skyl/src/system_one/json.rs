//! JSON as text: read in order, with every member, and without building a tree.
//!
//! A tree would round long numbers and lose members with the same name. What a caller or a server
//! wrote is kept as text instead, and these functions look into it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

/// The members of one object in order, those with the same name included.
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members of an object; `None` for anything else.
    pub(super) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The first member of that name.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.all(name).next()
    }

    /// All members of that name.
    pub(super) fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'a RawValue> + 's {
        self.0
            .iter()
            .filter(move |(known, _)| known == name)
            .map(|(_, raw)| *raw)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), raw)) = map.next_entry()? {
                    members.push((name, raw));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// A member's name, borrowed where it holds no escape.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Reader)
    }
}

/// What kind of value a JSON text is, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Object,
    Array,
    Number,
    Bool,
    Null,
}

impl Shape {
    pub(super) fn of(json: &str) -> Self {
        match json.trim_ascii_start().as_bytes().first() {
            Some(b'"') => Self::Text,
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b't' | b'f') => Self::Bool,
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Object => "an object",
            Self::Array => "an array",
            Self::Number => "a number",
            Self::Bool => "a boolean",
            Self::Null => "null",
        }
    }
}

/// How deep arrays and objects lie in each other; 0 for a plain value. The text need not be JSON.
pub(super) fn depth(json: &[u8]) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    outside_strings(json, |byte| match byte {
        b'{' | b'[' => {
            open = open.saturating_add(1);
            deepest = deepest.max(open);
        }
        b'}' | b']' => open = open.saturating_sub(1),
        _ => {}
    });
    deepest
}

/// The same JSON without white space between its tokens; numbers and strings stay as written.
pub(super) fn compact(raw: &RawValue) -> Box<RawValue> {
    let text = raw.get();
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    // White space is told by the ASCII bytes JSON allows; strings are copied whole.
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ' ' | '\t' | '\n' | '\r' => {
                rest = &rest[1..];
                continue;
            }
            '"' => string_end(rest.as_bytes()),
            other => other.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        kept.push_str(token);
        rest = after;
    }
    RawValue::from_string(kept).unwrap_or_else(|_| raw.to_owned())
}

/// Looks for a member that stands twice in its object.
///
/// # Errors
/// The place of the first, such as `state.user`; `None` for what cannot be read: no JSON, numbers
/// out of range, half surrogate pairs.
pub(super) fn no_duplicates(json: &str) -> Result<(), Option<String>> {
    let mut walk = Walk {
        path: Vec::new(),
        found: None,
    };
    let mut reader = serde_json::Deserializer::from_str(json);
    let whole = Seed(&mut walk)
        .deserialize(&mut reader)
        .and_then(|()| reader.end());
    whole.map_err(|_| walk.found)
}

/// What is wrong with a text of which [`no_duplicates`] said so.
pub(super) fn repeated(place: Option<String>) -> String {
    place.map_or_else(
        || "a number or an escape is one that no reader takes".to_owned(),
        |place| format!("{place}: stands twice"),
    )
}

/// One name within a path, shown so that it can end nothing and flood nothing.
pub(super) fn segment(name: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if !name.is_empty() && name.len() <= SEGMENT_CHARS && name.bytes().all(plain) {
        return Cow::Borrowed(name);
    }
    let mut start: String = name.chars().take(SEGMENT_CHARS).collect();
    if start.len() < name.len() {
        start.push('…');
    }
    Cow::Owned(format!("{start:?}"))
}

/// Calls back for every byte that is not inside a string.
fn outside_strings(json: &[u8], mut each: impl FnMut(u8)) {
    let mut rest = json;
    while let Some(first) = rest.first() {
        let length = if *first == b'"' {
            string_end(rest)
        } else {
            each(*first);
            1
        };
        rest = rest.get(length..).unwrap_or_default();
    }
}

/// The length of the string at the start, quotes included; all there is where it does not end.
fn string_end(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Where the walk through a document is, and what it found.
struct Walk {
    path: Vec<String>,
    found: Option<String>,
}

struct Seed<'w>(&'w mut Walk);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(Name(name)) = map.next_key()? {
            self.0.path.push(segment(&name).into_owned());
            if !seen.insert(name) {
                self.0.found = Some(self.0.path.join("."));
                return Err(A::Error::custom("a member stands twice"));
            }
            map.next_value_seed(Seed(self.0))?;
            self.0.path.pop();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            self.0.path.push(index.to_string());
            let next = seq.next_element_seed(Seed(self.0))?;
            self.0.path.pop();
            if next.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The deepest nesting that is read or sent: a little below what the JSON reader itself refuses.
pub(super) const MAX_DEPTH: usize = 100;

/// As much of a name as belongs in one line of a log.
const SEGMENT_CHARS: usize = 64;

#[cfg(test)]
mod tests;
