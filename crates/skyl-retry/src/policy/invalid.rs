//! The one error of this crate's configuration.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

/// A figure a policy cannot have: which one, its value, and the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPolicy {
    key: &'static str,
    value: String,
    rule: Cow<'static, str>,
}

impl InvalidPolicy {
    pub(crate) fn new(
        key: &'static str,
        value: impl fmt::Display,
        rule: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            key,
            value: value.to_string(),
            rule: rule.into(),
        }
    }

    /// The figure's name in builder, files and JSON; parts of a table are dotted.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// The refused value, as text.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What the value must be, as text.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }
}

impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.value, self.rule)
    }
}

impl Error for InvalidPolicy {}
