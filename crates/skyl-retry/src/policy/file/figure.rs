//! Keys and single values of a policy file, each refused under its own name.
//!
//! A refusal arises inside the key or value, so that readers which know positions point at it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde_core::de::{DeserializeSeed, Deserializer, Error, Visitor};

use crate::duration;
use crate::policy::InvalidPolicy;
use crate::policy::build::check_number;

/// A retry count.
pub(super) fn count(key: &'static str) -> Figure<impl Read<u32>> {
    let rule = "must be a whole number from 0 to 4294967295";
    figure(key, rule, |value| match *value {
        Scalar::Whole(number) => u32::try_from(number).ok().map(Ok),
        _ => None,
    })
}

/// A length of time, text with a unit or a bare 0, that must pass a check.
pub(super) fn length(
    key: &'static str,
    check: impl FnOnce(Duration) -> Result<(), InvalidPolicy>,
) -> Figure<impl Read<Duration>> {
    let rule = "must be a duration with its unit, such as 500ms, 30s or 5m";
    figure(key, rule, |value| {
        let length = match *value {
            Scalar::Whole(0) => Duration::ZERO,
            Scalar::Text(text) => duration::parse(text).ok()?,
            _ => return None,
        };
        Some(check(length).map(|()| length))
    })
}

/// The check of lengths that may be anything.
#[expect(clippy::unnecessary_wraps, reason = "it stands where checks stand")]
pub(super) fn any(_: Duration) -> Result<(), InvalidPolicy> {
    Ok(())
}

/// A switch.
pub(super) fn switch(key: &'static str) -> Figure<impl Read<bool>> {
    figure(key, "must be true or false", |value| match *value {
        Scalar::Bool(switch) => Some(Ok(switch)),
        _ => None,
    })
}

/// One of several words, which its own type knows.
pub(super) fn word<T>(key: &'static str, rule: &'static str) -> Figure<impl Read<T>>
where
    T: FromStr,
{
    figure(key, rule, |value| match *value {
        Scalar::Text(text) => text.parse().ok().map(Ok),
        _ => None,
    })
}

/// A fraction or rate; whole numbers are numbers, too.
pub(super) fn number(key: &'static str) -> Figure<impl Read<f64>> {
    figure(key, "must be a number", move |value| {
        #[expect(
            clippy::cast_precision_loss,
            reason = "whole numbers too large to be exact are far outside every range"
        )]
        let number = match *value {
            Scalar::Whole(number) => number as f64,
            Scalar::Number(number) => number,
            _ => return None,
        };
        Some(check_number(key, number).map(|()| number))
    })
}

/// Makes a value of its own kind; `read` gives `None` where `rule` says what is wrong.
pub(super) fn figure<T, F>(key: &'static str, rule: &'static str, read: F) -> Figure<F>
where
    F: FnOnce(&Scalar<'_>) -> Option<Result<T, InvalidPolicy>>,
{
    Figure { key, rule, read }
}

/// What reads a value.
pub(super) trait Read<T>: FnOnce(&Scalar<'_>) -> Option<Result<T, InvalidPolicy>> {}

impl<T, F> Read<T> for F where F: FnOnce(&Scalar<'_>) -> Option<Result<T, InvalidPolicy>> {}

/// One value to be read.
pub(super) struct Figure<F> {
    key: &'static str,
    rule: &'static str,
    read: F,
}

impl<F> Figure<F> {
    fn take<T, E: Error>(self, value: &Scalar<'_>) -> Result<T, E>
    where
        F: FnOnce(&Scalar<'_>) -> Option<Result<T, InvalidPolicy>>,
    {
        (self.read)(value)
            .unwrap_or_else(|| Err(InvalidPolicy::new(self.key, value, self.rule)))
            .map_err(E::custom)
    }
}

impl<'de, T, F> DeserializeSeed<'de> for Figure<F>
where
    F: FnOnce(&Scalar<'_>) -> Option<Result<T, InvalidPolicy>>,
{
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<T, F> Visitor<'_> for Figure<F>
where
    F: FnOnce(&Scalar<'_>) -> Option<Result<T, InvalidPolicy>>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, which {}", self.key, self.rule)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        self.take(&Scalar::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        self.take(&Scalar::Whole(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        self.take(&Scalar::Whole(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<T, E> {
        self.take(&Scalar::Whole(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        self.take(&Scalar::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        self.take(&Scalar::Text(value))
    }
}

/// A value as the file has it, written back the same way in refusals.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar<'a> {
    Bool(bool),
    Whole(i128),
    Number(f64),
    Text(&'a str),
}

impl fmt::Display for Scalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bool(value) => value.fmt(f),
            Self::Whole(value) => value.fmt(f),
            // With its point or exponent: it may have been refused for not being whole.
            Self::Number(value) => write!(f, "{value:?}"),
            // Escaped: what a file holds must not steer a terminal.
            Self::Text(value) => write!(f, "{value:?}"),
        }
    }
}

/// The keys of one table, each to be read once at most.
pub(super) struct Keys {
    prefix: &'static str,
    known: &'static [&'static str],
    // One bit per known key.
    seen: u32,
}

impl Keys {
    /// The keys after `prefix`; there are 32 at most.
    pub(super) fn new(prefix: &'static str, known: &'static [&'static str]) -> Self {
        Self {
            prefix,
            known,
            seen: 0,
        }
    }
}

/// Gives a key by its full name, dotted where it is part of a table.
impl<'de> DeserializeSeed<'de> for &mut Keys {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for &mut Keys {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a figure")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<&'static str, E> {
        let is_it = |key: &&str| key.strip_prefix(self.prefix) == Some(name);
        let Some(index) = self.known.iter().position(is_it) else {
            let (prefix, known) = (self.prefix, self.known.join(", "));
            let name = name.escape_debug();
            return Err(E::custom(format_args!(
                "unknown key `{prefix}{name}`; known are {known}"
            )));
        };
        let (key, bit) = (self.known[index], 1 << index);
        if self.seen & bit != 0 {
            return Err(E::custom(format_args!("`{key}` is there twice")));
        }
        self.seen |= bit;
        Ok(key)
    }
}
