//! The API key: a secret that cannot be printed by accident.

use std::fmt;

/// An API key; prints `[redacted]` whatever the format.
///
/// The only way to read it is [`ApiKey::expose`], so that every use can be found by name.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key. Surrounding white space is trimmed, since keys are often read from files.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        let key = key.into();
        let trimmed = key.trim();
        if trimmed.len() == key.len() {
            Self(key)
        } else {
            Self(trimmed.to_owned())
        }
    }

    /// The key itself, for the one header it belongs in.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl<T: Into<String>> From<T> for ApiKey {
    fn from(key: T) -> Self {
        Self::new(key)
    }
}
