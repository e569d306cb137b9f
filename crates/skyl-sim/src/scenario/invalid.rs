//! The one error of scenario files.

use std::error::Error;
use std::fmt;

/// What is wrong with a scenario file, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidScenario {
    line: Option<usize>,
    what: String,
}

impl InvalidScenario {
    pub(super) fn new(line: Option<usize>, what: impl Into<String>) -> Self {
        // A parser's finding may show the text it is about, over several lines.
        let what = what.into();
        let words: Vec<&str> = what.split_whitespace().collect();
        Self {
            line,
            what: words.join(" "),
        }
    }

    /// The line, counted from 1; `None` for what is missing.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for InvalidScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl Error for InvalidScenario {}
