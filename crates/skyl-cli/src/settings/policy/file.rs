//! A policy in a file: TOML, or JSON where the name ends in `.json`.

use std::path::Path;

use skyl_retry::{InvalidPolicy, RetryPolicyBuilder};

use crate::failure::Failure;
use crate::file::{self, Unread};
use crate::settings::Sourced;

/// A file that has been read, kept to say on which line a figure stands.
pub(super) struct PolicyFile {
    /// Who named the file, and its name.
    place: String,
    text: String,
}

impl PolicyFile {
    /// Reads the figures of the named file. Those that do not go together are found later, once
    /// flags and variables have had their say.
    ///
    /// `names` are the policies that need no file.
    pub(super) fn read(
        name: &Sourced<String>,
        names: &str,
    ) -> Result<(Self, RetryPolicyBuilder), Failure> {
        let Sourced { value, source } = name;
        let path = Path::new(value);
        let place = format!("{source} {value}");
        let bytes = file::read(path, MAX_FILE_MIB).map_err(|unread| match unread {
            Unread::Missing(_) => Failure::usage(format!(
                "{place}: no file, and no policy of this name; there are {names}"
            )),
            Unread::Other(why) => Failure::usage(format!("{place}: {why}")),
        })?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::usage(format!("{place}: not valid UTF-8")))?;
        let is_json = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let read = if is_json { json(&text) } else { toml(&text) };
        match read {
            Ok(builder) => Ok((Self { place, text }, builder)),
            Err(Refused { line, why }) => Err(Failure::usage(told(&place, line, &why))),
        }
    }

    /// The place of the figure that is refused, where this file sets it.
    pub(super) fn refuse(&self, invalid: &InvalidPolicy) -> Option<Failure> {
        let line = invalid.line_in(&self.text)?;
        let line = told(&self.place, Some(line), &invalid.to_string());
        Some(Failure::usage(line))
    }

    /// The place of `initial_delay`, the one figure that makes another one wrong.
    pub(super) fn place_of_initial_delay(&self) -> Option<String> {
        let sets = |line: &str| {
            let code = line.split('#').next().unwrap_or_default();
            code.contains("initial_delay")
        };
        let line = self.text.lines().position(sets)? + 1;
        Some(format!("{}: line {line}", self.place))
    }
}

/// What is wrong with a text, and where.
struct Refused {
    line: Option<usize>,
    why: String,
}

fn toml(text: &str) -> Result<RetryPolicyBuilder, Refused> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        Refused {
            line: before.map(|before| before.matches('\n').count() + 1),
            why: error.message().to_owned(),
        }
    })
}

fn json(text: &str) -> Result<RetryPolicyBuilder, Refused> {
    serde_json::from_str(text).map_err(|error| {
        let why = error.to_string();
        // The position is said first, in the words of both formats.
        let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
        Refused {
            line: Some(error.line()),
            why: why.to_owned(),
        }
    })
}

fn told(place: &str, line: Option<usize>, why: &str) -> String {
    // A parser's finding may show the text it is about, over several lines.
    let why: Vec<&str> = why.split_whitespace().collect();
    let why = why.join(" ");
    match line {
        Some(line) => format!("{place}: line {line}: {why}"),
        None => format!("{place}: {why}"),
    }
}

/// Far more than seventeen figures take.
const MAX_FILE_MIB: u64 = 1;
