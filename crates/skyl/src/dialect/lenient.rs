//! JSON readers that doubt every type, for answers of servers that only resemble their model.
//!
//! Servers send numbers for ids, null for lists, text for objects. A strict reader would lose a
//! whole answer over a field nobody needs; these readers take what fits and see nothing in the
//! rest. They never refuse a value for its type, only bytes that are not JSON. All read in one
//! pass and borrow from the input where JSON allows it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A text, or a number as its text; nothing for every other type and for empty text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scalar<'a>(Option<Cow<'a, str>>);

impl Scalar<'_> {
    /// The text; `None` where it is empty or the word `null`, which servers write for none.
    pub(crate) fn get(&self) -> Option<&str> {
        self.0
            .as_deref()
            .filter(|text| !text.is_empty() && *text != "null")
    }
}

/// A count: digits as a number or as text; nothing for negatives and every other type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<u64>);

/// An object, or nothing for every other type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

// By hand: a derive would ask for `T: Default`.
impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// An object that seldom comes, or nothing for every other type; where it is missing it takes a
/// word.
#[derive(Clone, Debug)]
pub(crate) struct Rare<T>(pub(crate) Option<Box<T>>);

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// The objects of a list; every other element and every other type is nothing.
///
/// An object alone is a list of itself: some servers drop the brackets where there is one.
///
/// The first one lies inline: nearly every chunk of a stream has one choice with one piece, and
/// those cost no allocation.
#[derive(Clone, Debug)]
pub(crate) struct List<T> {
    first: Option<T>,
    rest: Vec<T>,
    strays: bool,
}

impl<T> List<T> {
    /// Whether something was there that is no object, blank values apart.
    pub(crate) fn has_strays(&self) -> bool {
        self.strays
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }

    fn no_list(strays: bool) -> Self {
        Self {
            strays,
            ..Self::default()
        }
    }

    fn push(&mut self, item: T) {
        if self.first.is_none() {
            self.first = Some(item);
        } else {
            self.rest.push(item);
        }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            first: None,
            rest: Vec::new(),
            strays: false,
        }
    }
}

/// A [`List`] that is mostly missing, and then takes three words.
#[derive(Clone, Debug)]
pub(crate) struct RareList<T>(Vec<T>);

impl<T> RareList<T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<T> Default for RareList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The text of a JSON string, with at most one allocation; `None` for every other type.
///
/// Half a surrogate pair becomes U+FFFD: gateways that cut text between its UTF-16 units send
/// such, and half an emoji is no reason to end a stream.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let body = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if !body.contains('\\') {
        return Some(Cow::Borrowed(body));
    }
    // Text never grows by unescaping: the shortest escape, `\n`, is two bytes for one.
    let mut text = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = escape(&rest[at + 1..], &mut text);
    }
    text.push_str(rest);
    Some(Cow::Owned(text))
}

/// A JSON value without the white space between its tokens; numbers and text stay as written.
pub(crate) fn compact(raw: &RawValue) -> String {
    let json = raw.get();
    let mut text = String::with_capacity(json.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in json.chars() {
        if quoted || !matches!(c, ' ' | '\t' | '\n' | '\r') {
            text.push(c);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = quoted,
            '"' => quoted = !quoted,
            _ => {}
        }
    }
    text
}

/// Whether a value is one that servers send for "no error": null, false, zero, nothing in it.
pub(crate) fn is_blank(raw: &RawValue) -> bool {
    let text = raw.get().trim_ascii();
    let inside = |open, close| {
        text.strip_prefix(open)
            .and_then(|text: &str| text.strip_suffix(close))
            .is_some_and(|inside: &str| inside.trim_ascii().is_empty())
    };
    matches!(text, "null" | "false" | "0" | "\"\"") || inside('{', '}') || inside('[', ']')
}

/// Reads one escape, behind its backslash, and gives what follows.
fn escape<'a>(rest: &'a str, text: &mut String) -> &'a str {
    let Some(&kind) = rest.as_bytes().first() else {
        return rest;
    };
    let plain = match kind {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(&rest[1..], text),
        // `"`, `\` and `/` stand for themselves; the JSON reader has refused everything else.
        _ => {
            let mut chars = rest.chars();
            text.extend(chars.next());
            return chars.as_str();
        }
    };
    text.push(plain);
    &rest[1..]
}

fn unicode<'a>(rest: &'a str, text: &mut String) -> &'a str {
    let Some((unit, rest)) = unit(rest) else {
        return rest;
    };
    if let 0xd800..=0xdbff = unit
        && let Some((low @ 0xdc00..=0xdfff, rest)) = rest.strip_prefix("\\u").and_then(self::unit)
    {
        let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return rest;
    }
    text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

/// Four hex digits.
fn unit(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Scalar<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Scalar(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Scalar(Some(Cow::Owned(text.to_owned()))))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Scalar(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Scalar(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Scalar(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Scalar(None))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Scalar(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                skip_seq(seq).map(|()| Scalar(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                skip_map(map).map(|()| Scalar(None))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Count(Some(number)))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                // `12.0` is a count; its text then has no fraction left.
                Ok(Count(number.to_string().parse().ok()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Count(text.parse().ok()))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Count(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Count(None))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Count(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                skip_seq(seq).map(|()| Count(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                skip_map(map).map(|()| Count(None))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|value| Object(Some(value)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                skip_seq(seq).map(|()| Object(None))
            }

            fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Object(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Object(None))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Object(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Object(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Object(None))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Object(None))
            }
        }

        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Rare<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Object::deserialize(deserializer).map(|Object(value)| Rare(value.map(Box::new)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for RareList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let List { first, rest, .. } = List::deserialize(deserializer)?;
        Ok(Self(first.into_iter().chain(rest).collect()))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = List::default();
                while let Some(Object(item)) = seq.next_element()? {
                    match item {
                        Some(item) => list.push(item),
                        None => list.strays = true,
                    }
                }
                Ok(list)
            }

            // One element where a list of them belongs.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let first = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(List {
                    first: Some(first),
                    ..List::default()
                })
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(List::no_list(!text.is_empty()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(List::no_list(number != 0))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(List::no_list(true))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(List::no_list(true))
            }

            fn visit_bool<E>(self, yes: bool) -> Result<Self::Value, E> {
                Ok(List::no_list(yes))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(List::default())
            }
        }

        deserializer.deserialize_any(Reader(PhantomData))
    }
}

fn skip_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests;
