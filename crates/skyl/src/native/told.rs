//! Warnings about an answer, each once.

use crate::response::Warning;
use crate::sink::Sink;

/// What has been warned of already: once per answer is enough.
#[derive(Debug, Default)]
pub(crate) struct Told(Vec<String>);

impl Told {
    /// Warns about a part of the content, unless that was done already.
    pub(crate) fn warn(&mut self, sink: &mut Sink, subject: &str, what: &str) {
        if self.0.len() < MAX_SUBJECTS && !self.0.iter().any(|known| known == subject) {
            self.0.push(subject.to_owned());
            sink.warn(Warning::new("content", format!("`{subject}` {what}")));
        }
    }
}

/// A server could make up names without end.
const MAX_SUBJECTS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subject_is_warned_of_once_and_not_without_end() {
        let (mut told, mut sink) = (Told::default(), Sink::new());
        for n in 0..100 {
            told.warn(&mut sink, "a", "is odd");
            told.warn(&mut sink, &format!("b{n}"), "is odd");
        }
        let warnings = sink.partial().warnings;
        assert_eq!(warnings[0].to_string(), "content: `a` is odd");
        assert_eq!(warnings.len(), 16);
    }
}
