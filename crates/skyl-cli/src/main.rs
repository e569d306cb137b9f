//! The program `skyl`: calls that survive bad minutes, and the tools around them.
//!
//! [`args`] says what can be written, [`settings`] what it comes to, `commands/` what is done, and
//! [`report`] what is said when it fails. Standard output belongs to the answer and to the JSON
//! contract ([`json`]); everything for people goes to standard error. There is no retry, no wire
//! format and no fault in here: those are the libraries'.

mod args;
mod asker;
mod call;
mod commands;
mod env;
mod escape;
mod events;
mod exit;
mod failure;
mod file;
mod input;
mod interrupt;
mod json;
mod live;
mod moment;
mod program;
mod provider;
mod raw;
mod report;
mod settings;
mod stderr;
mod stdout;

use std::process::ExitCode;

fn main() -> ExitCode {
    program::run(std::env::args_os(), env::Env::of_process()).into()
}
