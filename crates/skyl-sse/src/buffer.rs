//! What all framings do with the bytes they have to keep.

use std::str;

use crate::Error;

/// Appends to a buffer that the caller keeps below `cap`.
///
/// Grows by doubling, but never past the cap: a buffer that doubles freely would hold up to
/// twice what the limits promise.
pub(crate) fn append(buffer: &mut Vec<u8>, bytes: &[u8], cap: usize) {
    let needed = buffer.len().saturating_add(bytes.len());
    if needed > buffer.capacity() {
        let doubled = buffer.capacity().saturating_mul(2).max(SMALLEST);
        let target = doubled.min(cap).max(needed);
        buffer.reserve_exact(target - buffer.len());
    }
    buffer.extend_from_slice(bytes);
}

/// Empties a buffer, and gives its memory back if one giant frame made it large.
pub(crate) fn clear(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEPT {
        *buffer = Vec::new();
    } else {
        buffer.clear();
    }
}

/// Reads bytes as text.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Error> {
    str::from_utf8(bytes).map_err(|_| Error::invalid_utf8())
}

/// Reads the last bytes of a stream as text, less a character that the end has cut.
pub(crate) fn cut_text(bytes: &[u8]) -> Result<&str, Error> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // A cut stream is to be reported as cut, not as bad text.
        Err(error) if error.error_len().is_none() => text(&bytes[..error.valid_up_to()]),
        Err(_) => Err(Error::invalid_utf8()),
    }
}

/// A typical delta is a few hundred bytes; starting there saves the first doublings.
const SMALLEST: usize = 512;

/// Above every text delta, below the first image.
const KEPT: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_by_doubling_and_never_past_the_cap() {
        let mut buffer = Vec::new();
        let mut moves = 0;
        for _ in 0..10_000 {
            let before = buffer.capacity();
            append(&mut buffer, b"x", 10_000);
            moves += usize::from(buffer.capacity() != before);
            assert!(buffer.capacity() <= 10_000);
        }
        assert!(moves <= 6, "{moves} moves");
    }

    #[test]
    fn keeps_a_small_buffer_and_frees_a_large_one() {
        let mut buffer = Vec::with_capacity(KEPT);
        clear(&mut buffer);
        assert_eq!(buffer.capacity(), KEPT);
        let mut buffer = Vec::with_capacity(KEPT + 1);
        clear(&mut buffer);
        assert_eq!(buffer.capacity(), 0);
        // Every delta of text is small, a picture is not.
        assert!((8_000..1_000_000).contains(&KEPT));
    }

    #[test]
    fn leaves_off_a_cut_character_but_not_a_wrong_one() {
        assert_eq!(cut_text(b"a\xe6\x9c"), Ok("a"));
        assert_eq!(cut_text(b"a\xff"), Err(Error::invalid_utf8()));
        assert_eq!(text(b"a\xe6\x9c"), Err(Error::invalid_utf8()));
    }
}
