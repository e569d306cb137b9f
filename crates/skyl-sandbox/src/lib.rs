//! Fake AI providers that fail on demand, over real sockets, in each provider's own wire shapes.
//!
//! A test asks for a failure in the model's name, so that nothing needs to be set up and any
//! language can do it:
//!
//! | model | what happens |
//! |---|---|
//! | a model of the catalogue | the ordinary, deterministic answer |
//! | `sandbox-status-429` | that status in the provider's shape; only this form of a 429 adds `Retry-After: 1` |
//! | `sandbox-stream-truncate`, `sandbox-stream-error` | a cut, an in-band error, after some content, every time |
//! | `sandbox-do-429(ra=1)*2,reset,ok@t1` | one step per attempt, the last one repeated; a new `@tag` is a new run |
//! | `sandbox-refusal`, `sandbox-content-filter` | a refusal with words, one without |
//! | `sandbox-reasoning` | reasoning ahead of the answer, signed where the provider signs it |
//! | `sandbox-parallel-tools` | two tool calls at once, where tools are offered |
//! | `sandbox-cached` | the ordinary answer, with a prompt that was in part read from a cache |
//! | `sandbox-empty` | a 200 with neither an answer nor an error |
//! | `sandbox-echo-key` | the refusal of a key that quotes the key, in three spellings |
//!
//! TypeSafe has neither texts nor tools nor streams. Of the odd models it knows the last two, and its
//! own; "first" is the first question of the request:
//!
//! | model on `/typesafe/v1` | what comes back |
//! |---|---|
//! | `sandbox-answer-missing` | no answer to the first question |
//! | `sandbox-answer-mistyped` | an answer of another type to it |
//! | `sandbox-answer-out-of-range` | a number in it that cannot be: a noul, a confidence, a score, an edge of 17 |
//! | `sandbox-answer-duplicate` | two answers to it under one key, the second another one |
//! | `sandbox-answer-unknown-type` | an answer of the type `ranking` to it |
//! | `sandbox-answer-incomplete` | an answer to it without the member named like its type |
//! | `sandbox-answer-extra` | an answer `sandbox-extra` nobody asked for |
//! | `sandbox-usage-missing`, `sandbox-usage-negative` | no usage, input tokens of -1 |
//!
//! On `/compat/v1` a name may also ask for a known server's accent: the shapes of its answers and
//! errors, defects included. `compat-groq` is the ordinary answer in it; behind an `@` it goes with
//! everything above: `sandbox-reasoning@compat-groq`, `sandbox-do-503,ok@compat-groq`, and for a run
//! of its own `sandbox-do-503,ok@compat-groq.t1`.
//!
//! | model | answers | errors |
//! |---|---|---|
//! | `compat-azure` | a first chunk without choices or id, a choice without `delta`, one id for all calls; also under `/openai/v1` and `/openai/deployments/{model}`, and with the key as `api-key` | `{code, message}` |
//! | `compat-deepseek` | `: keep-alive` or blank lines ahead, usage with the finish, cache hits under its own names | the type once more as the code |
//! | `compat-groq` | `x_groq` with request id and usage, `reasoning`, whole calls | 498 is its own; in a stream `x_groq.error` |
//! | `compat-llamacpp` | `timings` | `Loading model` for a 503, `n_ctx` for a long prompt; in a stream a line `error:` |
//! | `compat-minimax` | `base_resp`, the whole message once more as the last chunk | `base_resp` with numbers of its own |
//! | `compat-mistral` | content as a list, ids of nine letters, the id `"null"` in later pieces, text beside the finish | flat; a 422 with a list as its message |
//! | `compat-moonshot` | usage in the choice | types of its own |
//! | `compat-ollama` | whole calls that all have index 0, the last one beside the finish | OpenAI's |
//! | `compat-openrouter` | comments or blank lines ahead, `reasoning_details`, usage in a chunk with a choice | a number as the code, `metadata`; in a stream beside a choice, then `[DONE]` |
//! | `compat-sloppy` | no `object`, no index, no `[DONE]`, empty finish reasons and usages, a number as the id, arguments as objects | the message alone |
//! | `compat-together` | `eos` as the finish reason, with the usage | no type |
//! | `compat-vllm` | `reasoning`, usage on every chunk | a number as the code; in a stream then `[DONE]` |
//! | `compat-xai` | whole calls, usage with sources | sentences; a wrong key is a 400 |
//!
//! Steps, outcomes and ways of delivery are those of a [`Script`]; the same grammar serves the whole
//! server with [`SandboxBuilder::script`].
//!
//! | path | what is there |
//! |---|---|
//! | `/openai/v1` | `POST /chat/completions`, `GET /models`, `GET /models/{id}` |
//! | `/compat/v1` | the same shapes, as a compatible server, and the accents above |
//! | `/anthropic/v1` | `POST /messages`, `POST /messages/count_tokens`, `GET /models` page by page, `GET /models/{id}` |
//! | `/gemini/v1beta` | `POST /models/{id}:generateContent`, `:streamGenerateContent`, `:countTokens`, `GET /models` page by page, `GET /models/{id}` |
//! | `/gemini/v1` | the same |
//! | `/typesafe/v1` | `POST /systemone`, `GET /models`; bodies plain, gzip or zstd, JSON or a form with images |
//! | `GET /healthz` | `{"status":"ok","sandbox":true}` |
//! | `GET /_sandbox/journal?after=SEQ&limit=N` | the entries after that one, oldest first |
//! | `GET /_sandbox/stats` | counters, those of what was dropped among them |
//! | `DELETE /_sandbox/journal`, `DELETE /_sandbox/scripts` | forgets entries, positions of scripts |
//!
//! | mount | models | base URL of the official SDK | key |
//! |---|---|---|---|
//! | openai, compat | `gpt-5.6`, `gpt-5.4-nano` | `/openai/v1`, `/compat/v1` | `Authorization: Bearer` |
//! | anthropic | `claude-opus-5`, `claude-sonnet-5`, `claude-haiku-4-5` | `/anthropic` | `x-api-key`, or Bearer |
//! | gemini | `gemini-3.6-flash`, `gemini-3.6-pro` | `/gemini` | `x-goog-api-key`, or `?key=` |
//! | typesafe | `jev-latest` (`jev-1.13.0`), `jev-preview` (`jev-1.14.0`) | `/typesafe` | `Authorization: Bearer` |
//!
//! The mounts ask for the key and refuse a wrong or missing one as the provider does; the
//! sandbox's own endpoints ask for none and are not journaled. A request is checked in this order:
//! key, JSON and model, fault in the model's name, limiter, [`Chaos`], the server's script, and
//! last what the ordinary answer needs: a known model, messages, tools.
//!
//! Everything that reached a mount is in the journal ([`Sandbox::journal`]): a request is read to
//! its end, matched to its step and journaled before any byte or fault goes out, so an assertion on
//! the journal never races the answer. A fault by name needs nothing but the name:
//! `{"model":"sandbox-status-503"}` is a whole request.
//!
//! The sandbox shares no wire code with any client: its bytes are written from the vendors'
//! documentation, so that a mistake cannot hide on both sides. It is no model: texts are fixed
//! rules, token counts are counts of words. On `/typesafe/v1` an answer is a function of the state and
//! its question, and the tokens of a request are 239 and 0.331 for each byte of its JSON.
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

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
