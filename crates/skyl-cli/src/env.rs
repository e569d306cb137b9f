//! The environment, read through one door, so that tests can bring their own.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;

use crate::failure::Failure;

/// The variables the program looks at. Debug prints show no values: some are keys.
pub(crate) struct Env(HashMap<OsString, OsString>);

impl Env {
    /// The variables of this process.
    pub(crate) fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
        Self(
            variables
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// The value of a variable; blank counts as unset, since that is how shells unset one for a
    /// single command.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Failure> {
        let Some(value) = self.0.get(OsString::from(name).as_os_str()) else {
            return Ok(None);
        };
        let Some(text) = value.to_str() else {
            return Err(Failure::usage(format!("{name} is not valid UTF-8")));
        };
        Ok(Some(text.trim()).filter(|text| !text.is_empty()))
    }

    /// Whether a variable is there at all and not blank, whatever it says.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.0
            .get(OsString::from(name).as_os_str())
            .is_some_and(|value| !value.is_empty())
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Env({} variables)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_variables_count_as_unset() {
        let env = Env::of(&[("A", ""), ("B", "  "), ("C", " x ")]);
        for (name, expected) in [("A", None), ("B", None), ("C", Some("x")), ("D", None)] {
            assert_eq!(env.text(name).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn debug_prints_show_no_values() {
        let env = Env::of(&[("OPENAI_API_KEY", "sk-very-secret")]);
        assert!(!format!("{env:?}").contains("secret"));
    }
}
