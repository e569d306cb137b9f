//! Policies in files: read from TOML and JSON, and written back.
//!
//! A file holds the figures that differ from [`RetryPolicy::chat`], under the builder's names:
//!
//! ```
//! # use skyl_retry::RetryPolicy;
//! # let policy: RetryPolicy = toml::from_str(r#"
//! max_retries = 5
//! initial_delay = "250ms"     # a length needs its unit; only 0 needs none
//! max_delay = "1m"
//! jitter = { shave = 0.25 }   # or "full", "equal", "decorrelated"
//! retry_by = "status"
//! retry_statuses = [408, 429, "500-599"]
//! retry_budget = { ratio = 0.1, reserve_per_second = 0.1, capacity = 10 }
//! # "#)?;
//! # assert_eq!(policy.max_delay(), std::time::Duration::from_secs(60));
//! # Ok::<(), toml::de::Error>(())
//! ```
//!
//! Each value is checked where it is read, so that a reader which knows positions can show the line;
//! the text names the key in any case. What is known only at the end (a `max_delay` alone in its
//! file, below the default of `initial_delay`) has no position: `InvalidPolicy::line_in` finds it.
//!
//! Written by hand on the traits alone: derived code would bring a macro compiler into every build,
//! and could not name the key of a refused value. It refuses to guess: no unknown keys, no bare
//! numbers for lengths, no second spelling, no key twice. Formats must describe themselves, as TOML,
//! JSON and YAML do.

mod figure;
mod line;
mod table;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;

use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::policy::build::{check_cap, check_delays};
use crate::policy::file::figure::{Keys, any, count, length, switch, word};
use crate::policy::file::table::{BudgetTable, JitterTable, SpreadTable, StatusList};
use crate::policy::{RetryPolicy, RetryPolicyBuilder};

/// Reads the figures of a file over [`RetryPolicy::chat`] and checks them as a whole.
impl<'de> Deserialize<'de> for RetryPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let builder = RetryPolicyBuilder::deserialize(deserializer)?;
        builder.build().map_err(D::Error::custom)
    }
}

/// Reads the figures of a file over [`RetryPolicy::chat`], for more to be set on top.
///
/// Every figure has been checked but for what hangs on another one:
/// [`build`](RetryPolicyBuilder::build) does that, once flags have had their say.
impl<'de> Deserialize<'de> for RetryPolicyBuilder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Figures)
    }
}

struct Figures;

impl<'de> Visitor<'de> for Figures {
    type Value = RetryPolicyBuilder;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with the figures of a retry policy")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RetryPolicyBuilder, A::Error> {
        let mut builder = RetryPolicy::builder();
        let (mut initial, mut max) = (None, None);
        let mut keys = Keys::new("", &KEYS);
        while let Some(key) = map.next_key_seed(&mut keys)? {
            builder = match key {
                "max_retries" => builder.max_retries(map.next_value_seed(count(key))?),
                "initial_delay" => {
                    let fits = |initial| max.map_or(Ok(()), |max| check_delays(initial, max));
                    let delay = map.next_value_seed(length(key, fits))?;
                    initial = Some(delay);
                    builder.initial_delay(delay)
                }
                "max_delay" => {
                    let fits = |max| initial.map_or(Ok(()), |initial| check_delays(initial, max));
                    let delay = map.next_value_seed(length(key, fits))?;
                    max = Some(delay);
                    builder.max_delay(delay)
                }
                "jitter" => builder.jitter(map.next_value_seed(JitterTable)?),
                "honor_retry_after" => builder.honor_retry_after(map.next_value_seed(switch(key))?),
                "max_retry_after" => {
                    builder.max_retry_after(map.next_value_seed(length(key, check_cap))?)
                }
                "over_cap" => builder.over_cap(map.next_value_seed(word(key, OVER_CAP))?),
                "zero_hint" => builder.zero_hint(map.next_value_seed(word(key, ZERO_HINT))?),
                "honor_should_retry" => {
                    builder.honor_should_retry(map.next_value_seed(switch(key))?)
                }
                "spread" => builder.spread(map.next_value_seed(SpreadTable)?),
                "budget" => builder.budget(map.next_value_seed(length(key, any))?),
                "retry_by" => builder.retry_by(map.next_value_seed(word(key, RETRY_BY))?),
                "retry_statuses" => builder.retry_statuses(map.next_value_seed(StatusList)?),
                "retry_on_conn_err" => builder.retry_on_conn_err(map.next_value_seed(switch(key))?),
                "retry_on_timeout" => builder.retry_on_timeout(map.next_value_seed(switch(key))?),
                "retry_unsent" => builder.retry_unsent(map.next_value_seed(switch(key))?),
                "retry_budget" => builder.retry_budget(map.next_value_seed(BudgetTable)?),
                // `Keys` hands out names of its list alone, and each has its arm above.
                other => return Err(A::Error::unknown_field(other, &KEYS)),
            };
        }
        Ok(builder)
    }
}

const OVER_CAP: &str = "must be clamp or give_up";
const ZERO_HINT: &str = "must be backoff or obey";
const RETRY_BY: &str = "must be kind or status";

/// Every key of a policy, in the order in which one is written.
const KEYS: [&str; 17] = [
    "max_retries",
    "initial_delay",
    "max_delay",
    "honor_retry_after",
    "max_retry_after",
    "over_cap",
    "zero_hint",
    "honor_should_retry",
    "budget",
    "retry_by",
    "retry_statuses",
    "retry_on_conn_err",
    "retry_on_timeout",
    "retry_unsent",
    // Tables last, where every TOML writer can put them.
    "jitter",
    "spread",
    "retry_budget",
];
