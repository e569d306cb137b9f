//! The decoder from outside: every rule, fed whole, byte by byte and cut at every offset.

mod json_array;
mod json_lines;
mod limits;
mod reports;
mod splits;
mod standard;
mod strays;
mod support;
