//! The values of a policy file that are tables and lists.

use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::policy::file::figure::{Keys, Read, Scalar, any, figure, length, number};
use crate::policy::{Jitter, RetryBudgetPolicy, Spread};
use crate::statuses::StatusSet;

/// `jitter`: a word, or a table with the fraction to shave.
pub(super) struct JitterTable;

impl<'de> DeserializeSeed<'de> for JitterTable {
    type Value = Jitter;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Jitter, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JitterTable {
    type Value = Jitter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`jitter`, which {JITTER}")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Jitter, E> {
        match word {
            "full" => Ok(Jitter::Full),
            "equal" => Ok(Jitter::Equal),
            "decorrelated" => Ok(Jitter::Decorrelated),
            _ => Err(E::custom(format_args!("jitter = {word:?}: {JITTER}"))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Jitter, A::Error> {
        let mut keys = Keys::new("jitter.", &["jitter.shave"]);
        let mut shave = None;
        while map.next_key_seed(&mut keys)?.is_some() {
            shave = Some(map.next_value_seed(number("jitter"))?);
        }
        required(shave, "jitter.shave").map(Jitter::Shave)
    }
}

/// `spread`: a table.
pub(super) struct SpreadTable;

impl<'de> DeserializeSeed<'de> for SpreadTable {
    type Value = Spread;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Spread, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SpreadTable {
    type Value = Spread;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`spread`, which must be a table with of_hint, growth and max")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Spread, A::Error> {
        let (mut of_hint, mut growth, mut max) = (None, None, None);
        let mut keys = Keys::new("spread.", &[OF_HINT, GROWTH, MAX]);
        while let Some(key) = map.next_key_seed(&mut keys)? {
            match key {
                OF_HINT => of_hint = Some(map.next_value_seed(number(key))?),
                GROWTH => growth = Some(map.next_value_seed(number(key))?),
                _ => max = Some(map.next_value_seed(length(key, any))?),
            }
        }
        Ok(Spread {
            of_hint: required(of_hint, OF_HINT)?,
            growth: required(growth, GROWTH)?,
            max: required(max, MAX)?,
        })
    }
}

/// `retry_budget`: a table.
pub(super) struct BudgetTable;

impl<'de> DeserializeSeed<'de> for BudgetTable {
    type Value = RetryBudgetPolicy;

    fn deserialize<D>(self, deserializer: D) -> Result<RetryBudgetPolicy, D::Error>
    where
        D: Deserializer<'de>,
    {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for BudgetTable {
    type Value = RetryBudgetPolicy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "`retry_budget`, which must be a table with ratio, reserve_per_second, capacity and, \
             if it does not start full, initial",
        )
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RetryBudgetPolicy, A::Error> {
        let (mut ratio, mut reserve, mut capacity, mut initial) = (None, None, None, None);
        let mut keys = Keys::new("retry_budget.", &[RATIO, RESERVE, CAPACITY, INITIAL]);
        while let Some(key) = map.next_key_seed(&mut keys)? {
            let figure = Some(map.next_value_seed(number(key))?);
            match key {
                RATIO => ratio = figure,
                RESERVE => reserve = figure,
                CAPACITY => capacity = figure,
                _ => initial = figure,
            }
        }
        let budget = RetryBudgetPolicy {
            ratio: required(ratio, RATIO)?,
            reserve_per_second: required(reserve, RESERVE)?,
            capacity: required(capacity, CAPACITY)?,
            initial,
        };
        // Once more as a whole: more may not be there at the start than fits in.
        budget.check().map_err(A::Error::custom)?;
        Ok(budget)
    }
}

/// `retry_statuses`: a list of statuses and ranges.
pub(super) struct StatusList;

impl<'de> DeserializeSeed<'de> for StatusList {
    type Value = StatusSet;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<StatusSet, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StatusList {
    type Value = StatusSet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`retry_statuses`, which must be a list such as [408, 429, \"500-599\"]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StatusSet, A::Error> {
        let mut set = StatusSet::new();
        while let Some(more) = list.next_element_seed(figure(STATUSES, STATUS, with_item(set)))? {
            set = more;
        }
        Ok(set)
    }
}

/// Adds one item to the set.
fn with_item(set: StatusSet) -> impl Read<StatusSet> {
    move |value: &Scalar<'_>| match *value {
        Scalar::Whole(status) => Some(set.with(&status.to_string())),
        Scalar::Text(text) => Some(set.with(text)),
        _ => None,
    }
}

fn required<T, E: Error>(figure: Option<T>, key: &'static str) -> Result<T, E> {
    figure.ok_or_else(|| E::custom(format_args!("`{key}` is missing")))
}

const JITTER: &str = "must be full, equal, decorrelated or a table { shave = FRACTION }";

const OF_HINT: &str = "spread.of_hint";
const GROWTH: &str = "spread.growth";
const MAX: &str = "spread.max";

const RATIO: &str = "retry_budget.ratio";
const RESERVE: &str = "retry_budget.reserve_per_second";
const CAPACITY: &str = "retry_budget.capacity";
const INITIAL: &str = "retry_budget.initial";

const STATUSES: &str = "retry_statuses";
const STATUS: &str = "must hold statuses from 100 to 599, or ranges such as \"500-599\"";
