//! Writing a policy: every figure by name, lengths as text, nothing where there is none.

use serde_core::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::duration::Human;
use crate::policy::{Jitter, RetryBudgetPolicy, RetryPolicy, Spread};
use crate::statuses::StatusSet;

/// Writes every figure, defaults included, so that a later default changes no file.
///
/// No spread and no retry budget are written as nothing: the table is left out.
impl Serialize for RetryPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("max_retries", &self.max_retries)?;
        map.serialize_entry("initial_delay", &text(&Human(self.initial_delay)))?;
        map.serialize_entry("max_delay", &text(&Human(self.max_delay)))?;
        map.serialize_entry("honor_retry_after", &self.honor_retry_after)?;
        map.serialize_entry("max_retry_after", &text(&Human(self.max_retry_after)))?;
        map.serialize_entry("over_cap", &text(&self.over_cap))?;
        map.serialize_entry("zero_hint", &text(&self.zero_hint))?;
        map.serialize_entry("honor_should_retry", &self.honor_should_retry)?;
        map.serialize_entry("budget", &text(&Human(self.budget)))?;
        map.serialize_entry("retry_by", &text(&self.retry_by))?;
        map.serialize_entry("retry_statuses", &Statuses(self.retry_statuses))?;
        map.serialize_entry("retry_on_conn_err", &self.retry_on_conn_err)?;
        map.serialize_entry("retry_on_timeout", &self.retry_on_timeout)?;
        map.serialize_entry("retry_unsent", &self.retry_unsent)?;
        // Tables last: not every TOML writer puts them there by itself.
        map.serialize_entry("jitter", &JitterFigure(self.jitter))?;
        if let Some(spread) = self.spread {
            map.serialize_entry("spread", &SpreadFigure(spread))?;
        }
        if let Some(budget) = self.retry_budget {
            map.serialize_entry("retry_budget", &BudgetFigure(budget))?;
        }
        map.end()
    }
}

struct JitterFigure(Jitter);

impl Serialize for JitterFigure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Jitter::Shave(fraction) = self.0 else {
            return serializer.collect_str(&self.0);
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("shave", &fraction)?;
        map.end()
    }
}

struct SpreadFigure(Spread);

impl Serialize for SpreadFigure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("of_hint", &self.0.of_hint)?;
        map.serialize_entry("growth", &self.0.growth)?;
        map.serialize_entry("max", &text(&Human(self.0.max)))?;
        map.end()
    }
}

struct BudgetFigure(RetryBudgetPolicy);

impl Serialize for BudgetFigure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ratio", &self.0.ratio)?;
        map.serialize_entry("reserve_per_second", &self.0.reserve_per_second)?;
        map.serialize_entry("capacity", &self.0.capacity)?;
        if let Some(initial) = self.0.initial {
            map.serialize_entry("initial", &initial)?;
        }
        map.end()
    }
}

struct Statuses(StatusSet);

impl Serialize for Statuses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for (first, last) in self.0.runs() {
            if first == last {
                list.serialize_element(&first)?;
            } else {
                list.serialize_element(&format!("{first}-{last}"))?;
            }
        }
        list.end()
    }
}

fn text(figure: &impl ToString) -> String {
    figure.to_string()
}
