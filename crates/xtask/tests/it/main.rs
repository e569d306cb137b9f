//! The checks on the workspace they stand in, and the program as people start it.

// Marked so that clippy knows the functions beside the tests for test code.
#[cfg(test)]
mod program;
#[cfg(test)]
mod workspace;
