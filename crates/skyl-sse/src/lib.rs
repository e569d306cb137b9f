//! Bytes in, server-sent events out: any split of the input, capped, no copy beyond the data.
//!
//! AI APIs stream their answers as server-sent events, as JSON lines or as one long JSON array.
//! A [`Decoder`] cuts any of the three into [`Frame`]s. It does no I/O and knows no runtime: a
//! body loop pushes the chunks it gets and takes the frames that are complete.
//!
//! ```
//! use skyl_sse::{Decoder, Frame, Framing, Limits};
//!
//! let limits = Limits::default().max_event_bytes(1 << 20);
//! let mut decoder = Decoder::new(Framing::Sse, limits);
//!
//! let mut answer = String::new();
//! // As the network cuts them: in an event, in a line, in the middle of "ü".
//! for chunk in [&b": ping\n\ndata: Gr\xc3"[..], b"\xbc\xc3\x9f", b"e\n\ndata:!\n\n"] {
//!     let mut input = chunk;
//!     while let Some(frame) = decoder.next(&mut input)? {
//!         if let Frame::Event(event) = frame {
//!             answer.push_str(event.data);
//!         }
//!     }
//! }
//! while let Some(frame) = decoder.finish()? {
//!     // What an end of stream leaves open, marked as such.
//!     assert!(!matches!(frame, Frame::Event(event) if event.terminated));
//! }
//! assert_eq!(answer, "Grüße!");
//! # Ok::<(), skyl_sse::Error>(())
//! ```
//!
//! # How it reads server-sent events
//!
//! As the HTML standard says, and so in particular:
//!
//! - It works on bytes. Text is decoded per event, so that no cut can fall into a character.
//! - LF, CRLF and a lone CR end a line, and nothing else does: U+2028, U+0085 or a vertical tab
//!   are content. A lone CR at the end of a chunk ends its line at once.
//! - One space after the colon is stripped. Data lines join with LF. A bare `data` is an empty
//!   line. A block without a data line is no event.
//! - `id` outlives its event and is ignored if it holds a NUL. `retry` counts if it is digits
//!   alone. A byte-order mark is skipped at the very start.
//!
//! It departs from the standard in three places, each for what real servers do:
//!
//! - **The last event.** The standard drops an event without its blank line. Here it comes from
//!   [`Decoder::finish`] with [`Event::terminated`] false, for the caller to judge.
//! - **Bad UTF-8** in an event's data, name or id is an error. The standard puts U+FFFD there,
//!   which would pass a damaged answer, or a damaged tool call, for a good one.
//! - **Strays**, below.
//!
//! # Strays
//!
//! Servers that fail in mid-stream often write the bare error into the stream: JSON without
//! `data:`, pretty-printed over several lines, with an array around it, or a proxy's page of
//! HTML. By the standard each such line is an unknown field, to be ignored, and the failure is
//! lost. Here a line is a field only if letters, digits, `-` and `_` alone stand before its
//! first colon or its end. Any other line is *stray*, and a run of them comes as one
//! [`Frame::Stray`]:
//!
//! - JSON comes as soon as its brackets close, at the end of that line. Prose comes at the next
//!   blank line or field. Both come at the end of the stream. Comments do not end a run, nor do
//!   blank lines within JSON.
//! - If the block has data, its event comes first.
//! - If that data is JSON with open brackets, stray lines continue it: some servers put `data:`
//!   before the first line only.
//! - The `error:` lines of older llama.cpp servers are strays too, with the value as content.
//! - Other unknown fields are ignored, and with them a bare word on a line of its own.
//!
//! # Cost
//!
//! An event that lies whole in its chunk and has at most a name and one data line is borrowed
//! from the chunk: no copy, no allocation. Others go through buffers that are reused. Time is
//! linear in the bytes for every split, one byte at a time included. Memory has the caps of
//! [`Limits`].
//!
//! # What it does not do
//!
//! It does not reconnect (an answer cannot be resumed; see [`Decoder::retry`] for the server's
//! wish), does not decode the JSON, does not know `[DONE]`, and reads no clock: idle timeouts
//! belong to whoever reads the body, and a [`Frame::Comment`] is their sign of life.

mod array;
mod block;
mod buffer;
mod decoder;
mod error;
mod field;
mod frame;
mod limits;
mod lines;
mod nesting;
mod plain;
mod scan;
mod sse;
mod stray;

pub use decoder::{Decoder, Framing};
pub use error::{Error, ErrorKind};
pub use frame::{Event, Frame};
pub use limits::Limits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
