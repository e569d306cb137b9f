//! Seeded mutations of a corpus: the same seed gives the same inputs, on every machine.

use crate::MAX_INPUT_BYTES;
use crate::cuts::{digest, next};

/// An endless row of inputs, each a corpus entry with a few changes.
#[derive(Debug)]
pub struct Mutations<'c> {
    corpus: &'c [Vec<u8>],
    words: &'c [&'c str],
    state: u64,
}

impl<'c> Mutations<'c> {
    /// Starts a row; the name is mixed into the seed, so that targets do not share one.
    #[must_use]
    pub fn new(corpus: &'c [Vec<u8>], words: &'c [&'c str], name: &str, seed: u64) -> Self {
        let state = digest(name.as_bytes()) ^ seed.rotate_left(32);
        Self {
            corpus,
            words,
            // Zero has no successor.
            state: state.max(1),
        }
    }

    fn draw(&mut self, below: usize) -> usize {
        self.state = next(self.state);
        // The upper half: the last bit is always set.
        let number = usize::try_from(self.state >> 33).unwrap_or(0);
        number.checked_rem(below).unwrap_or(0)
    }

    fn entry(&mut self) -> &'c [u8] {
        let at = self.draw(self.corpus.len());
        self.corpus.get(at).map_or(&[], Vec::as_slice)
    }

    fn word(&mut self) -> &'c [u8] {
        let at = self.draw(self.words.len());
        self.words.get(at).map_or(&[], |word| word.as_bytes())
    }

    /// A piece of the bytes: where it starts and where it ends.
    fn piece(&mut self, length: usize, longest: usize) -> (usize, usize) {
        let start = self.draw(length + 1);
        let size = self.draw(longest.min(length - start) + 1);
        (start, start + size)
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        match self.draw(11) {
            0 => {
                let bit = self.draw(8);
                let at = self.draw(length);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            1 => {
                let new = u8::try_from(self.draw(256)).unwrap_or(0);
                let at = self.draw(length);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = new;
                }
            }
            2 => bytes.truncate(self.draw(length + 1)),
            3 => {
                let (start, end) = self.piece(length, 64);
                bytes.drain(start..end);
            }
            4 => {
                let (start, end) = self.piece(length, 256);
                let copy = bytes[start..end].repeat(1 + self.draw(16));
                bytes.splice(end..end, copy);
            }
            5 => {
                let (start, end) = self.piece(length, 256);
                let copy = bytes[start..end].to_vec();
                let at = self.draw(length + 1);
                bytes.splice(at..at, copy);
            }
            6 => {
                let other = self.entry();
                let (start, end) = self.piece(other.len(), 1024);
                let at = self.draw(length + 1);
                bytes.splice(at..at, other[start..end].iter().copied());
            }
            7 => {
                // The start of one and the end of another.
                let other = self.entry();
                let from = self.draw(other.len() + 1);
                bytes.truncate(self.draw(length + 1));
                bytes.extend_from_slice(&other[from..]);
            }
            8 => {
                let word = self.word();
                let (start, end) = self.piece(length, 24);
                bytes.splice(start..end, word.iter().copied());
            }
            9 => {
                // A value for a value: what stands between two quotes, colons or commas.
                let from = self.draw(length + 1);
                let mark = |byte: &u8| b"\":,{}[]\n".contains(byte);
                if let Some(start) = bytes[from..].iter().position(mark) {
                    let start = from + start + 1;
                    let rest = &bytes[start..];
                    let end = rest.iter().position(mark).unwrap_or(rest.len());
                    let word = self.word();
                    bytes.splice(start..start + end, word.iter().copied());
                }
            }
            _ => {
                let word = self.word();
                let at = self.draw(length + 1);
                bytes.splice(at..at, word.iter().copied());
            }
        }
    }
}

impl Iterator for Mutations<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut bytes = self.entry().to_vec();
        for _ in 0..=self.draw(5) {
            self.change(&mut bytes);
            bytes.truncate(MAX_INPUT_BYTES);
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seed: u64, name: &str) -> Vec<Vec<u8>> {
        let corpus = [b"data: {\"a\":1}\n\n".to_vec(), Vec::new()];
        let inputs = Mutations::new(&corpus, &["[DONE]"], name, seed);
        inputs.take(500).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_inputs() {
        assert_eq!(row(7, "sse"), row(7, "sse"));
    }

    #[test]
    fn another_seed_or_target_gives_others() {
        assert_ne!(row(7, "sse"), row(8, "sse"));
        assert_ne!(row(7, "sse"), row(7, "lines"));
    }

    #[test]
    fn inputs_differ_from_the_corpus_and_keep_to_the_longest() {
        let long = [vec![b'x'; MAX_INPUT_BYTES]];
        let inputs: Vec<_> = Mutations::new(&long, &["y"], "sse", 1).take(200).collect();
        assert!(inputs.iter().all(|input| input.len() <= MAX_INPUT_BYTES));
        assert!(inputs.iter().filter(|input| **input != long[0]).count() > 100);
    }

    #[test]
    fn no_corpus_and_no_words_still_give_inputs() {
        assert_eq!(Mutations::new(&[], &[], "sse", 0).take(100).count(), 100);
    }
}
