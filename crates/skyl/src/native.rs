//! What the native protocols, Anthropic's, Google's and OpenAI's own, have in common.
//!
//! The first two know two speakers instead of three roles, want a tool's results beside each other
//! and in front of everything else, and take pictures as base64 or by address; the third ties
//! results to calls and names its items as they do. What they share stands here once; everything
//! they do differently stands in their own folders.

mod history;
mod ids;
mod image;
mod page;
mod percent;
mod text;
mod told;

pub(crate) use self::history::{History, Speaker, Turn};
pub(crate) use self::ids::Ids;
pub(crate) use self::image::Picture;
pub(crate) use self::page::headline;
pub(crate) use self::percent::segment;
pub(crate) use self::text::{bare, cut, is_nothing, json_text, text};
pub(crate) use self::told::Told;

#[cfg(test)]
mod moves;
