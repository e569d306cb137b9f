//! The plain case: a block that lies whole in the chunk, borrowed as it is.

use crate::buffer::text;
use crate::field::value;
use crate::frame::DEFAULT_NAME;
use crate::{Event, Limits, scan};

/// Reads a block off the input if all of it is there and it is at most a name and a data line.
///
/// `None` says nothing about the block, not even that it is broken: the other path finds out.
#[inline]
pub(crate) fn plain_block(input: &[u8], limits: Limits) -> Option<(Event<'_>, &[u8])> {
    let mut rest = input;
    while let [b'\n' | b'\r', after @ ..] = rest {
        rest = after;
    }
    let mut name = "";
    if let Some(after) = rest.strip_prefix(b"event:") {
        let (line, after_line) = split_line(after, b"event:".len(), limits)?;
        name = text(line).ok()?;
        rest = after_line;
    }
    let after = rest.strip_prefix(b"data:")?;
    let (line, after_line) = split_line(after, b"data:".len(), limits)?;
    // A lone CR at the chunk's end may have its LF in the next, where it reads as one more blank
    // line between blocks.
    let ([b'\r', b'\n', rest @ ..] | [b'\n' | b'\r', rest @ ..]) = after_line else {
        return None;
    };
    let data = text(line).ok()?;
    if name.len() + data.len() > limits.event {
        return None;
    }
    if name.is_empty() {
        name = DEFAULT_NAME;
    }
    Some((Event::new(name, data), rest))
}

/// Splits after a field's colon: its value, and what follows the line's end.
#[inline]
fn split_line(after_colon: &[u8], name_len: usize, limits: Limits) -> Option<(&[u8], &[u8])> {
    let end = scan::line_end(after_colon)?;
    if name_len + end > limits.line {
        return None;
    }
    let rest = match &after_colon[end..] {
        [b'\r', b'\n', rest @ ..] => rest,
        rest => &rest[1..],
    };
    Some((value(&after_colon[..end]), rest))
}
