//! Set-up and checks: `cargo xtask` lists the commands.

fn main() {}
