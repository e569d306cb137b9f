//! Fake AI providers that fail on demand, over real sockets, in each provider's own wire shapes.
//!
//! A test asks for a failure in the model's name, so that nothing needs to be set up and any
//! language can do it:
//!
//! | model | what happens |
//! |---|---|
//! | `gpt-5.6`, `gpt-5.4-nano` | the ordinary, deterministic answer |
//! | `sandbox-status-429` | that status in the provider's shape; only this form of a 429 adds `Retry-After: 1` |
//! | `sandbox-stream-truncate`, `sandbox-stream-error` | a cut, an in-band error, after some content, every time |
//! | `sandbox-do-429(ra=1)*2,reset,ok@t1` | one step per attempt, the last one repeated; a new `@tag` is a new run |
//! | `sandbox-refusal`, `sandbox-content-filter` | a refusal with words, one without |
//! | `sandbox-reasoning` | reasoning ahead of the answer |
//! | `sandbox-parallel-tools` | two tool calls at once, where tools are offered |
//! | `sandbox-empty` | a 200 with neither an answer nor an error |
//! | `sandbox-echo-key` | a 401 that quotes the key it was shown, in three spellings |
//!
//! Everything that reached the sandbox is in its journal ([`Sandbox::journal`], or
//! `GET /_sandbox/journal`): a request is read to its end, matched to its step and journaled before
//! any byte or fault goes out, so an assertion on the journal never races the answer.
//!
//! The sandbox shares no wire code with any client: its bytes are written from the vendors'
//! documentation, so that a mistake cannot hide on both sides. It is no model: texts are fixed
//! rules, token counts are counts of words.
//!
//! ```
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let sandbox = skyl_sandbox::Sandbox::start().await?;
//! let base_url = sandbox.base_url("/openai/v1"); // http://127.0.0.1:PORT/openai/v1
//! // … run any client against it with the key `sandbox-key` …
//! assert!(sandbox.journal().is_empty());
//! # assert!(base_url.starts_with("http://127.0.0.1:"));
//! # Ok::<(), skyl_sandbox::Error>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod body;
mod chaos;
mod control;
mod error;
mod fault;
mod http_date;
mod journal;
mod ledger;
mod limiter;
mod mounts;
mod plan;
mod sandbox;
mod script;
mod server;
mod socket;
mod timing;
mod tls;

pub use crate::{
    chaos::Chaos,
    error::{Error, ErrorKind},
    journal::JournalEntry,
    ledger::Stats,
    sandbox::{DEFAULT_KEY, Sandbox, SandboxBuilder},
    script::{Script, ScriptError},
    tls::Tls,
};
