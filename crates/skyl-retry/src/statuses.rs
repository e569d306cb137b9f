//! A set of HTTP statuses, written as single statuses and ranges.

use std::fmt;
use std::str::FromStr;

use crate::policy::InvalidPolicy;

/// A set of statuses from 100 to 599.
///
/// In text: statuses and ranges, separated by commas. Reading what [`Display`](fmt::Display)
/// writes gives the same set.
///
/// ```
/// use skyl_retry::StatusSet;
///
/// let set: StatusSet = "408, 429, 500-599".parse()?;
/// assert!(set.contains(529));
/// assert!(!set.contains(422));
/// assert_eq!(set.to_string(), "408, 429, 500-599");
/// # Ok::<(), skyl_retry::InvalidPolicy>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StatusSet {
    // One bit per status, 100 first.
    bits: [u64; 8],
}

impl StatusSet {
    /// The empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The statuses a repeated request can heal: 408, 429 and 500–599.
    #[must_use]
    pub fn transient() -> Self {
        TRANSIENT
    }

    /// Adds one item: a status (`"408"`) or a range (`"500-599"`).
    ///
    /// # Errors
    /// [`InvalidPolicy`] names `retry_statuses` if the item is neither, or outside 100–599.
    pub fn with(mut self, item: &str) -> Result<Self, InvalidPolicy> {
        let item = item.trim();
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (status(first, item)?, status(last, item)?);
        if first > last {
            return Err(InvalidPolicy::new(
                KEY,
                item.escape_debug(),
                "must name the lower status first",
            ));
        }
        for status in first..=last {
            self.set(status);
        }
        Ok(self)
    }

    /// Whether the status is in the set; false for statuses outside 100–599.
    #[must_use]
    pub fn contains(&self, status: u16) -> bool {
        place(status).is_some_and(|(word, bit)| self.bits[word] & bit != 0)
    }

    /// The statuses in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (FIRST..=LAST).filter(|&status| self.contains(status))
    }

    /// Whether no status is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits == [0; 8]
    }

    /// The statuses in the set as runs of neighbours, first and last, in ascending order.
    pub(crate) fn runs(self) -> impl Iterator<Item = (u16, u16)> {
        let mut next = FIRST;
        std::iter::from_fn(move || {
            let first = (next..=LAST).find(|&status| self.contains(status))?;
            let last = (first..=LAST)
                .take_while(|&status| self.contains(status))
                .last()
                .unwrap_or(first);
            next = last + 1;
            Some((first, last))
        })
    }

    const fn set(&mut self, status: u16) {
        if let Some((word, bit)) = place(status) {
            self.bits[word] |= bit;
        }
    }
}

/// Takes the statuses from 100 to 599 and drops the others, which no server sends.
impl FromIterator<u16> for StatusSet {
    fn from_iter<I: IntoIterator<Item = u16>>(statuses: I) -> Self {
        let mut set = Self::new();
        for status in statuses {
            set.set(status);
        }
        set
    }
}

impl FromStr for StatusSet {
    type Err = InvalidPolicy;

    fn from_str(text: &str) -> Result<Self, InvalidPolicy> {
        if text.trim().is_empty() {
            return Ok(Self::new());
        }
        text.split(',').try_fold(Self::new(), Self::with)
    }
}

impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (first, last) in self.runs() {
            match last - first {
                0 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ", ";
        }
        Ok(())
    }
}

impl fmt::Debug for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StatusSet[{self}]")
    }
}

fn status(text: &str, item: &str) -> Result<u16, InvalidPolicy> {
    let text = text.trim();
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(status) if digits && (FIRST..=LAST).contains(&status) => Ok(status),
        _ => Err(InvalidPolicy::new(
            KEY,
            item.escape_debug(),
            "must hold statuses from 100 to 599, or ranges of them",
        )),
    }
}

const fn place(status: u16) -> Option<(usize, u64)> {
    if status < FIRST || status > LAST {
        return None;
    }
    let index = (status - FIRST) as usize;
    Some((index / 64, 1 << (index % 64)))
}

/// Built once, by the compiler: presets are made on every use.
const TRANSIENT: StatusSet = {
    let mut set = StatusSet { bits: [0; 8] };
    set.set(408);
    set.set(429);
    let mut status = 500;
    while status <= LAST {
        set.set(status);
        status += 1;
    }
    set
};

const KEY: &str = "retry_statuses";
const FIRST: u16 = 100;
const LAST: u16 = 599;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_transient_set_is_408_429_and_the_five_hundreds() {
        let set = StatusSet::transient();
        let expected = [408, 429].into_iter().chain(500..=599);
        assert!(set.iter().eq(expected));
        for not in [99, 200, 407, 409, 422, 499, 600, 0, u16::MAX] {
            assert!(!set.contains(not), "{not}");
        }
    }

    #[test]
    fn text_that_is_no_set_is_refused_by_name() {
        for bad in [
            "600", "99", "x", "500-", "-500", "599-500", "500-600", "1e2", "+429", "429,",
            "429;408", "500--599",
        ] {
            let invalid = bad.parse::<StatusSet>().unwrap_err();
            assert_eq!(invalid.key(), "retry_statuses", "{bad}");
        }
    }

    #[test]
    fn an_empty_text_is_the_empty_set() {
        assert!(" ".parse::<StatusSet>().unwrap().is_empty());
        assert_eq!(StatusSet::new().to_string(), "");
        assert!(!StatusSet::transient().is_empty());
    }

    #[test]
    fn ranges_and_spaces_are_read() {
        let set: StatusSet = " 100 - 102 ,429,599".parse().unwrap();
        assert!(set.iter().eq([100, 101, 102, 429, 599]));
        assert_eq!(format!("{set:?}"), "StatusSet[100-102, 429, 599]");
    }

    proptest! {
        #[test]
        fn every_set_reads_back_as_it_is_written(statuses in prop::collection::vec(0_u16..700, 0..80)) {
            let set: StatusSet = statuses.iter().copied().collect();
            prop_assert_eq!(set.to_string().parse(), Ok(set));
            for status in 0..700 {
                let expected = statuses.contains(&status) && (100..600).contains(&status);
                prop_assert_eq!(set.contains(status), expected);
            }
        }
    }
}
