//! Deltas that differ from the one before in nothing but their words.
//!
//! A stream is the same JSON a thousand times over, with other words in one string of it, and
//! reading that JSON anew is most of what a stream costs. So a decoder that has read a delta keeps
//! its shape, and takes the words of the next one out of it if all the rest is the same, byte for
//! byte. Between two quotes, text without a bare quote, a backslash or a control character is
//! always that text alone, so the result is what a JSON reader would have given. Whatever does not
//! fit is read as JSON: a stencil saves work and decides nothing.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use crate::dialect::lenient::string;

/// The shape of the last delta, and what deltas of that shape mean.
#[derive(Clone, Debug)]
pub(crate) struct Stencil<M> {
    /// The delta as it stood.
    shape: String,
    /// Where later ones may differ, in order.
    gaps: [Gap; GAPS],
    /// How many of the gaps there are; none is no shape.
    used: usize,
    meaning: Option<M>,
}

#[derive(Clone, Debug)]
struct Gap {
    at: Range<usize>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The words, between their quotes.
    Words,
    /// A text nobody reads, between its quotes.
    Text,
    /// A whole number nobody reads.
    Number,
}

impl<M: Clone> Stencil<M> {
    /// Keeps the shape of a delta: where its words stand, and the fields that may change unread.
    ///
    /// Every value must lie in `data`. What it cannot keep it forgets, and the next delta is read
    /// as JSON.
    pub(crate) fn learn<const N: usize>(
        &mut self,
        data: &str,
        words: &RawValue,
        unread: [Option<&RawValue>; N],
        meaning: M,
    ) {
        self.meaning = None;
        self.used = 0;
        let values = unread.into_iter().flatten().map(|raw| (raw, false));
        for (raw, is_words) in values.chain([(words, true)]) {
            let Some(gap) = Gap::of(data, raw, is_words) else {
                return;
            };
            let Some(free) = self.gaps.get_mut(self.used) else {
                return;
            };
            *free = gap;
            self.used += 1;
        }
        self.gaps[..self.used].sort_unstable_by_key(|gap| gap.at.start);
        data.clone_into(&mut self.shape);
        self.meaning = Some(meaning);
    }

    /// What a delta of the same shape means, and its words; `None` for every other.
    pub(crate) fn read<'a>(&self, data: &'a str) -> Option<(M, Cow<'a, str>)> {
        let meaning = self.meaning.as_ref()?;
        let mut words = Cow::Borrowed("");
        // Up to where both have been compared.
        let (mut here, mut there) = (0, 0);
        for gap in &self.gaps[..self.used] {
            let same = self.shape.get(here..gap.at.start)?;
            if !data.get(there..)?.starts_with(same) {
                return None;
            }
            there += same.len();
            here = gap.at.end;
            let end = there + gap.kind.length(&data.as_bytes()[there..])?;
            if gap.kind == Kind::Words {
                words = unquoted(data, there..end)?;
            }
            there = end;
        }
        (data.get(there..)? == self.shape.get(here..)?).then(|| (meaning.clone(), words))
    }

    /// A piece of the shape, by where [`place`] found it.
    pub(crate) fn piece(&self, at: Range<usize>) -> &str {
        self.shape.get(at).unwrap_or_default()
    }
}

impl<M> Default for Stencil<M> {
    fn default() -> Self {
        Self {
            shape: String::new(),
            gaps: [NO_GAP; GAPS],
            used: 0,
            meaning: None,
        }
    }
}

/// Where in `data` a piece of it lies; `None` for text from elsewhere.
pub(crate) fn place(data: &str, piece: &str) -> Option<Range<usize>> {
    let start = piece.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
    let at = start..start.checked_add(piece.len())?;
    (data.get(at.clone())? == piece).then_some(at)
}

impl Gap {
    fn of(data: &str, raw: &RawValue, is_words: bool) -> Option<Self> {
        let at = place(data, raw.get())?;
        let quoted = raw.get().starts_with('"');
        let kind = match (is_words, quoted) {
            (true, true) => Kind::Words,
            (false, true) => Kind::Text,
            (false, false) if raw.get().bytes().all(|byte| byte.is_ascii_digit()) => Kind::Number,
            _ => return None,
        };
        let at = if quoted { at.start + 1..at.end - 1 } else { at };
        Some(Self { at, kind })
    }
}

impl Kind {
    /// How long the value of a gap is; `None` where it cannot be one.
    fn length(self, rest: &[u8]) -> Option<usize> {
        match self {
            Self::Number => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                // JSON has no leading zeros.
                (digits == 1 || digits > 1 && rest[0] != b'0').then_some(digits)
            }
            Self::Text => {
                let ends = |&byte: &u8| byte < b' ' || matches!(byte, b'"' | b'\\');
                let end = rest.iter().position(ends)?;
                (rest[end] == b'"').then_some(end)
            }
            Self::Words => {
                let mut escaped = false;
                let end = rest.iter().position(|&byte| {
                    let ends = byte < b' ' || byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    ends
                })?;
                (rest[end] == b'"').then_some(end)
            }
        }
    }
}

/// The text of a string of which only the end has been looked for.
fn unquoted(data: &str, at: Range<usize>) -> Option<Cow<'_, str>> {
    let text = data.get(at.clone())?;
    if !text.contains('\\') {
        return Some(Cow::Borrowed(text));
    }
    // Not every escape is one: the JSON reader knows them.
    let quoted = data.get(at.start - 1..at.end + 1)?;
    serde_json::from_str::<&RawValue>(quoted)
        .ok()
        .and_then(string)
}

/// The words, and two fields beside them: a number and a text is what protocols change.
const GAPS: usize = 3;

const NO_GAP: Gap = Gap {
    at: 0..0,
    kind: Kind::Number,
};

#[cfg(test)]
mod tests;
