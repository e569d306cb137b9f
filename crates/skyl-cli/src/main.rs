//! The program `skyl`: calls that survive bad minutes, and the tools around them.

fn main() {}
