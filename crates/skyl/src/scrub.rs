//! Taking the key out of whatever a server echoes.
//!
//! A provider that answers "incorrect key: sk-…" would put the key into every log its callers keep.
//! The key is looked for character by character, each in any of the spellings a server may use: as
//! it is, percent-escaped, or escaped as JSON (`\/`, `\u002b`). So a key of which only one character
//! was escaped is found too, and no list of encodings can fall behind.
//!
//! Keys under eight bytes are left alone: they would be found in ordinary words.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use crate::key::ApiKey;

/// The secrets of one client.
#[derive(Clone, Default)]
pub(crate) struct Scrubber {
    // Each at least `LEAST_BYTES` long.
    secrets: Vec<Box<[u8]>>,
}

impl Scrubber {
    pub(crate) fn new(key: Option<&ApiKey>) -> Self {
        let mut scrubber = Self::default();
        if let Some(key) = key {
            scrubber.add(key.expose());
        }
        scrubber
    }

    /// Adds a secret; `false` if it is too short to be found safely.
    pub(crate) fn add(&mut self, secret: &str) -> bool {
        let fits = secret.len() >= LEAST_BYTES;
        if fits {
            self.secrets.push(secret.as_bytes().into());
        }
        fits
    }

    /// The text without secrets; borrowed if there was none in it.
    pub(crate) fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some((start, end)) = self.find(text.as_bytes(), 0) else {
            return Cow::Borrowed(text);
        };
        let mut clean = String::with_capacity(text.len());
        let mut next = Some((start, end));
        let mut done = 0;
        while let Some((start, end)) = next {
            // Both ends lie at ASCII or at whole spellings of it or of the secret, so on characters.
            clean.push_str(text.get(done..start).unwrap_or_default());
            clean.push_str(REDACTED);
            done = end;
            next = self.find(text.as_bytes(), done);
        }
        clean.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(clean)
    }

    pub(crate) fn scrub_owned(&self, text: String) -> String {
        match self.scrub(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        }
    }

    /// The error, or its texts without the secrets if any of them has one.
    pub(crate) fn scrub_source(&self, error: BoxError) -> BoxError {
        let mut dirty = false;
        let mut next: Option<&(dyn StdError + 'static)> = Some(&*error);
        while let Some(error) = next {
            dirty |= self.finds(&error.to_string()) || self.finds(&format!("{error:?}"));
            next = error.source();
        }
        if dirty {
            Box::new(self.texts(&*error))
        } else {
            error
        }
    }

    fn finds(&self, text: &str) -> bool {
        self.find(text.as_bytes(), 0).is_some()
    }

    fn texts(&self, error: &(dyn StdError + 'static)) -> Texts {
        Texts {
            text: self.scrub_owned(error.to_string()),
            source: error.source().map(|source| Box::new(self.texts(source))),
        }
    }

    /// The first secret at or after `from`.
    fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        if self.secrets.is_empty() {
            return None;
        }
        (from..text.len()).find_map(|start| {
            let found = |secret: &[u8]| matches_at(&text[start..], secret);
            let length = self
                .secrets
                .iter()
                .filter_map(|secret| found(secret))
                .max()?;
            Some((start, start + length))
        })
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.secrets.len())
    }
}

/// An error chain as text: what is left when the errors themselves must not be shown.
#[derive(Debug)]
struct Texts {
    text: String,
    source: Option<Box<Texts>>,
}

impl fmt::Display for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl StdError for Texts {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// The bytes the secret takes at the start of `text`, in any mix of spellings.
///
/// A text that ends within the secret counts too, if enough of it is there: a body that was cut.
fn matches_at(text: &[u8], secret: &[u8]) -> Option<usize> {
    // `%` and `\` can be read two ways, so every reading that is still possible is followed: there
    // are never more than there are bytes.
    let first = *secret.first()?;
    if spellings(text, first) == [None; 2] {
        return None;
    }
    let mut ends = vec![0];
    for (matched, &byte) in secret.iter().enumerate() {
        if matched >= LEAST_BYTES && ends.contains(&text.len()) {
            return Some(text.len());
        }
        let mut next = Vec::with_capacity(ends.len());
        for end in ends {
            let lengths = spellings(&text[end..], byte);
            next.extend(lengths.into_iter().flatten().map(|length| end + length));
        }
        next.sort_unstable();
        next.dedup();
        ends = next;
    }
    ends.pop()
}

/// The lengths of the spellings of `byte` that can be read at the start of `text`.
fn spellings(text: &[u8], byte: u8) -> [Option<usize>; 2] {
    let plain = text
        .first()
        .is_some_and(|first| *first == byte)
        .then_some(1);
    let escaped = match text {
        [b'%', high, low, ..] if hex(&[*high, *low]) == Some(u32::from(byte)) => Some(3),
        [b'\\', b'u', a, b, c, d, ..] if hex(&[*a, *b, *c, *d]) == Some(u32::from(byte)) => Some(6),
        [b'\\', escaped, ..] if unescaped(*escaped) == Some(byte) => Some(2),
        _ => None,
    };
    [plain, escaped]
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| {
        Some(value * 16 + char::from(*digit).to_digit(16)?)
    })
}

/// The byte a JSON escape of two characters stands for.
fn unescaped(escaped: u8) -> Option<u8> {
    Some(match escaped {
        b'"' | b'\\' | b'/' => escaped,
        b't' => b'\t',
        _ => return None,
    })
}

/// The shortest secret that is looked for: shorter ones would be found in ordinary words.
pub(crate) const LEAST_BYTES: usize = 8;

const REDACTED: &str = "[redacted]";

#[cfg(test)]
mod tests;
