//! Bytes in, server-sent events out: any split of the input, capped, no copy beyond the data.

mod decoder;
mod error;
mod frame;
mod limits;

pub use decoder::{Decoder, Framing};
pub use error::{Error, ErrorKind};
pub use frame::{Event, Frame};
pub use limits::Limits;
