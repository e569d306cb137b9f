//! One file per command.

pub(crate) mod ask;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod models;
pub(crate) mod sandbox;
pub(crate) mod schedule;
pub(crate) mod simulate;
