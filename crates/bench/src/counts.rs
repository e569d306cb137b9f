//! What contenders allocate, as a counting build has printed it.
//!
//! One build cannot take both: the counter costs three times what an allocation does, and would
//! make every contender that allocates look slower than it is. So one build counts, prints its
//! tables, and the other reads them and sets the counts beside its times.

use crate::markdown::rows;

/// Allocations of one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Count {
    pub(crate) allocations: f64,
    pub(crate) bytes: f64,
}

/// The counts of a whole run, by the title of their table and the contender's name.
#[derive(Debug, Default)]
pub(crate) struct Counts(Vec<(String, String, Count)>);

impl Count {
    /// The two columns of a count.
    pub(crate) fn cells(count: Option<Self>) -> [String; 2] {
        match count {
            Some(count) => [
                format!("{:.2}", count.allocations),
                format!("{:.0}", count.bytes),
            ],
            None => [String::new(), String::new()],
        }
    }
}

impl Counts {
    /// Reads the tables a counting build has printed; tables of something else are passed over.
    pub(crate) fn read(text: &str) -> Self {
        let counts = rows(text).into_iter().filter_map(|(title, row)| {
            let [name, allocations, bytes] = row.as_slice() else {
                return None;
            };
            let count = Count {
                allocations: allocations.parse().ok()?,
                bytes: bytes.parse().ok()?,
            };
            Some((title, name.clone(), count))
        });
        Self(counts.collect())
    }

    /// Whether there is a table of this title.
    pub(crate) fn has(&self, title: &str) -> bool {
        self.0.iter().any(|(of, ..)| of == title)
    }

    pub(crate) fn of(&self, title: &str, name: &str) -> Option<Count> {
        let mut counts = self.0.iter();
        counts
            .find(|(of, who, _)| of == title && who == name)
            .map(|(.., count)| *count)
    }
}
