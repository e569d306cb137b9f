//! Byte searches over a chunk, eight and thirty-two bytes at a step.
//!
//! Safe code that the compiler turns into vector instructions; a crate for it gained too little
//! on lines of a few hundred bytes to be worth the crate's only dependency.

/// Finds the first LF or CR: the only bytes that end a line of server-sent events.
#[inline]
pub(crate) fn line_end(bytes: &[u8]) -> Option<usize> {
    first_of(bytes, b'\n', b'\r')
}

/// Finds the first LF.
#[inline]
pub(crate) fn lf(bytes: &[u8]) -> Option<usize> {
    first_of(bytes, b'\n', b'\n')
}

/// Finds the first byte that ends a JSON string or escapes in it.
#[inline]
pub(crate) fn quote_or_backslash(bytes: &[u8]) -> Option<usize> {
    first_of(bytes, b'"', b'\\')
}

/// Whether there is nothing to see in a line.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[inline]
fn first_of(bytes: &[u8], one: u8, two: u8) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (n, block) in blocks.iter().enumerate() {
        // No early exit within a block, and a pass for each byte: that is what becomes a few
        // vector compares. In one pass the compiler interleaves the two and takes twice as long.
        let hits = |wanted| {
            block
                .iter()
                .fold(0, |hits, &byte| hits | u8::from(byte == wanted))
        };
        if hits(one) | hits(two) != 0 {
            return first_of_words(block, one, two).map(|at| n * BLOCK + at);
        }
    }
    first_of_words(rest, one, two).map(|at| bytes.len() - rest.len() + at)
}

#[inline]
fn first_of_words(bytes: &[u8], one: u8, two: u8) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let hits = zero_bytes(word ^ spread(one)) | zero_bytes(word ^ spread(two));
        if hits != 0 {
            return Some(n * 8 + (hits.trailing_zeros() / 8) as usize);
        }
    }
    rest.iter()
        .position(|&b| b == one || b == two)
        .map(|at| bytes.len() - rest.len() + at)
}

const fn spread(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Sets the high bit of each zero byte. Bits above the lowest one set may be wrong: a borrow
/// runs upwards. Only the lowest is asked for here.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(spread(0x01)) & !word & spread(0x80)
}

/// Two SSE registers, or one of AVX2.
const BLOCK: usize = 32;

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn finds_the_first_at_every_place_and_length() {
        for len in 0..100 {
            for at in 0..len {
                let mut bytes = vec![b'x'; len];
                bytes[at] = b'\r';
                bytes[len - 1] = b'\n';
                assert_eq!(line_end(&bytes), Some(at), "length {len}");
                assert_eq!(lf(&bytes), Some(len - 1), "length {len}");
            }
            assert_eq!(line_end(&vec![0x0b; len]), None);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn agrees_with_a_plain_search(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let plain = bytes.iter().position(|&b| b == b'"' || b == b'\\');
            prop_assert_eq!(quote_or_backslash(&bytes), plain);
            let plain = bytes.iter().position(|&b| b == b'\n' || b == b'\r');
            prop_assert_eq!(line_end(&bytes), plain);
        }
    }
}
