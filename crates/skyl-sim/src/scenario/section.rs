//! A table of a scenario file, read key by key; what nobody asked for is refused.
//!
//! Written on the parser's own tables, which know where everything stands. Derived code would say
//! what type it expected, and neither the key nor the line.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use serde::Deserialize;
use skyl_retry::{RetryPolicy, RetryPolicyBuilder, duration};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::number::nanos;
use crate::scenario::InvalidScenario;

/// One table.
pub(super) struct Section<'t> {
    text: &'t str,
    // Dotted and with a dot at its end, or empty for the file itself.
    prefix: String,
    // Where the table stands; `None` if it does not.
    place: Option<Range<usize>>,
    entries: Vec<Entry<'t>>,
    known: Vec<&'static str>,
}

struct Entry<'t> {
    key: Spanned<String>,
    value: Spanned<DeValue<'t>>,
}

impl<'t> Section<'t> {
    /// The file itself.
    pub(super) fn root(text: &'t str) -> Result<Self, InvalidScenario> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| line(text, &span));
            InvalidScenario::new(line, error.message())
        })?;
        Ok(Self::of(text, String::new(), None, table.into_inner()))
    }

    fn of(text: &'t str, prefix: String, place: Option<Range<usize>>, table: DeTable<'t>) -> Self {
        let entries = table.into_iter().map(|(key, value)| Entry {
            key: Spanned::new(key.span(), key.into_inner().into_owned()),
            value,
        });
        Self {
            text,
            prefix,
            place,
            entries: entries.collect(),
            known: Vec::new(),
        }
    }

    /// Takes the value of a key, if it is there.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Value<'t>> {
        self.known.push(key);
        let index = self
            .entries
            .iter()
            .position(|entry| entry.key.get_ref() == key)?;
        Some(self.value(index))
    }

    /// Takes the value of a key that must be there.
    pub(super) fn need(&mut self, key: &'static str) -> Result<Value<'t>, InvalidScenario> {
        let line = self.place.as_ref().map(|place| line(self.text, place));
        let missing = format!("`{}{key}` is missing", self.prefix);
        self.take(key)
            .ok_or_else(|| InvalidScenario::new(line, missing))
    }

    /// Takes a table; one that is not there is empty.
    pub(super) fn table(&mut self, key: &'static str) -> Result<Self, InvalidScenario> {
        match self.take(key) {
            Some(value) => value.table(),
            None => Ok(Self {
                text: self.text,
                prefix: format!("{}{key}.", self.prefix),
                place: None,
                entries: Vec::new(),
                known: Vec::new(),
            }),
        }
    }

    /// Takes what is left, whatever it is called.
    pub(super) fn rest(mut self) -> Vec<(String, Value<'t>)> {
        let mut rest = Vec::new();
        while !self.entries.is_empty() {
            let name = self.entries[0].key.get_ref().clone();
            rest.push((name, self.value(0)));
        }
        rest
    }

    pub(super) fn is_there(&self) -> bool {
        self.place.is_some()
    }

    /// Refuses the keys that nobody took.
    pub(super) fn finish(self) -> Result<(), InvalidScenario> {
        let Some(entry) = self.entries.first() else {
            return Ok(());
        };
        let what = format!(
            "unknown key `{}{}`; known are {}",
            self.prefix,
            entry.key.get_ref().escape_debug(),
            self.known.join(", ")
        );
        Err(InvalidScenario::new(
            Some(line(self.text, &entry.key.span())),
            what,
        ))
    }

    fn value(&mut self, index: usize) -> Value<'t> {
        let entry = self.entries.remove(index);
        Value {
            text: self.text,
            key: format!("{}{}", self.prefix, entry.key.get_ref().escape_debug()),
            place: entry.key.span(),
            content: entry.value,
        }
    }
}

/// One value, with its key and its place.
pub(super) struct Value<'t> {
    text: &'t str,
    key: String,
    place: Range<usize>,
    content: Spanned<DeValue<'t>>,
}

impl<'t> Value<'t> {
    pub(super) fn string(&self) -> Result<String, InvalidScenario> {
        match self.content.get_ref() {
            DeValue::String(text) => Ok(text.clone().into_owned()),
            _ => Err(self.refuse("must be text")),
        }
    }

    pub(super) fn switch(&self) -> Result<bool, InvalidScenario> {
        match self.content.get_ref() {
            DeValue::Boolean(switch) => Ok(*switch),
            _ => Err(self.refuse("must be true or false")),
        }
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, InvalidScenario> {
        let text = self.content.get_ref().as_str();
        let found = words.iter().find(|(word, _)| text == Some(*word));
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.refuse(&format!("must be one of {}", words.join(", ")))
        })
    }

    /// A length of time in nanoseconds: text with its unit, or a bare 0.
    pub(super) fn length(&self, range: RangeInclusive<Duration>) -> Result<u64, InvalidScenario> {
        let length = match self.content.get_ref() {
            DeValue::Integer(_) if self.whole() == Some(0) => Some(Duration::ZERO),
            DeValue::String(text) => duration::parse(text).ok(),
            _ => None,
        };
        let Some(length) = length else {
            return Err(self.refuse("must be a duration with its unit, such as 500ms, 30s or 5m"));
        };
        if range.contains(&length) {
            return Ok(nanos(length));
        }
        let (least, most) = (
            duration::Human(*range.start()),
            duration::Human(*range.end()),
        );
        Err(self.refuse(&format!("must be from {least} to {most}")))
    }

    pub(super) fn count(&self, range: RangeInclusive<u32>) -> Result<u32, InvalidScenario> {
        let count = self.whole().and_then(|whole| u32::try_from(whole).ok());
        count.filter(|count| range.contains(count)).ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            self.refuse(&format!("must be a whole number from {least} to {most}"))
        })
    }

    pub(super) fn number(&self, range: RangeInclusive<f64>) -> Result<f64, InvalidScenario> {
        let number = match self.content.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        // `contains` is false for NaN.
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| {
                let (least, most) = (range.start(), range.end());
                self.refuse(&format!("must be a number from {least} to {most}"))
            })
    }

    /// The items of a list, or the value alone; at least one.
    pub(super) fn one_or_many(self) -> Result<Vec<Self>, InvalidScenario> {
        let empty = self.refuse("must not be empty");
        let DeValue::Array(items) = self.content.get_ref() else {
            return Ok(vec![self]);
        };
        let items: Vec<Self> = items
            .iter()
            .map(|item| Self {
                text: self.text,
                key: self.key.clone(),
                place: item.span(),
                content: item.clone(),
            })
            .collect();
        if items.is_empty() {
            Err(empty)
        } else {
            Ok(items)
        }
    }

    pub(super) fn table(self) -> Result<Section<'t>, InvalidScenario> {
        let refused = self.refuse("must be a table");
        match self.content.into_inner() {
            DeValue::Table(table) => Ok(Section::of(
                self.text,
                format!("{}.", self.key),
                Some(self.place),
                table,
            )),
            _ => Err(refused),
        }
    }

    /// A policy, with the keys and the checks of a policy file.
    pub(super) fn policy(self) -> Result<RetryPolicy, InvalidScenario> {
        let place = line(self.text, &self.place);
        let deserializer = toml::de::ValueDeserializer::from(self.content);
        let builder = RetryPolicyBuilder::deserialize(deserializer).map_err(|error| {
            let line = error.span().map_or(place, |span| line(self.text, &span));
            InvalidScenario::new(Some(line), format!("{}: {}", self.key, error.message()))
        })?;
        builder
            .build()
            .map_err(|error| InvalidScenario::new(Some(place), format!("{}.{error}", self.key)))
    }

    pub(super) fn refuse(&self, rule: &str) -> InvalidScenario {
        let value = self.text.get(self.content.span()).unwrap_or_default();
        // One line of it, and no control byte: it goes to somebody's terminal.
        let value: String = value.chars().take_while(|c| *c != '\n').take(60).collect();
        let what = format!("{} = {}: {rule}", self.key, value.escape_debug());
        // Quotes are no danger, and easier to read as they stand in the file.
        let what = what.replace("\\\"", "\"").replace("\\'", "'");
        InvalidScenario::new(Some(line(self.text, &self.place)), what)
    }

    fn whole(&self) -> Option<i64> {
        let number = self.content.get_ref().as_integer()?;
        i64::from_str_radix(number.as_str(), number.radix()).ok()
    }
}

/// The line on which a place begins, counted from 1.
fn line(text: &str, place: &Range<usize>) -> usize {
    let before = text.get(..place.start).unwrap_or(text);
    before.matches('\n').count() + 1
}
