//! TypeSafe's System One: typed questions about a state, answered with figures.
//!
//! A [`Client`] asks, and gets the answers in spite of bad minutes: on the path all calls of this
//! crate take, under the policy of that API's own page on retries, and with the choices that page
//! leaves open.
//!
//! ```
//! use skyl::system_one::{Choice, Client, Noul, Questions};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! # let sandbox = skyl_sandbox::Sandbox::start().await?;
//! // A fake API, so that this page runs without a key. For the real one `Client::builder()` is
//! // enough: it reads `TYPESAFE_API_KEY`.
//! let client = Client::builder()
//!     .api_key("sandbox-key")
//!     .base_url(sandbox.base_url("/typesafe"))
//!     .build()?;
//!
//! let questions = Questions::new()
//!     .ask("late", Noul::new("Is a delivery late?"))
//!     .ask("team", Choice::new("Who should own the case?").options(["carrier", "warehouse"]));
//! let response = client.system_one("Tracking has not moved for nine days.", questions).await?;
//!
//! let late = response.noul("late")?.noul;
//! assert!((0.0..=1.0).contains(&late));
//! println!("{late} {}", response.choice("team")?.choice);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [Questions](#questions) · [Retries](#retries) · [Billed twice](#billed-twice) · [Time](#time)
//! - [Errors](#errors) · [Strict and lenient](#strict-and-lenient) · [Set-up](#set-up)
//! - [What is not here](#what-is-not-here)
//!
//! # Questions
//!
//! | question | asks | answer |
//! |---|---|---|
//! | [`Noul`] | how true a statement is | `noul`, from 0 to 1 |
//! | [`Choice`] | for one of 1 to 255 options | `choice`, `confidence`, `probabilities` |
//! | [`Score`] | for a place on 1 to 10 levels | `score`, `confidence`, `legend`, `probabilities` |
//! | [`BoxQuestion`] | where in a picture something is | four edges, as fractions; needs [`images`](ClientBuilder::images) |
//! | [`RawQuestion`] | what skyl does not know yet | [`UnknownAnswer`] |
//!
//! Options and levels are sent in the order they were given, since their order is part of the
//! question. State, instructions and criteria are text, objects or lists. A [`Request`] is held to
//! the API's own rules before it is sent; what is wrong is named by its path
//! (`questions.team.criteria: …`).
//!
//! # Retries
//!
//! | figure | default | what it does; at zero |
//! |---|---|---|
//! | [`max_retries`](ClientBuilder::max_retries) | 2 | retries after the first attempt; 0: off |
//! | [`initial_delay`](ClientBuilder::initial_delay) | 500 ms | the backoff before retry n, from 0, is `min(initial_delay · 2ⁿ, max_delay)`; 0: at once |
//! | [`max_delay`](ClientBuilder::max_delay) | 5 s | cap of the backoff |
//! | [`jitter`](ClientBuilder::jitter) | 0.25 | shaves off a random fraction up to this; 0: nothing |
//! | [`honor_retry_after`](ClientBuilder::honor_retry_after) | true | the wait in `retry-after-ms` or `Retry-After` replaces the backoff |
//! | [`max_retry_after`](ClientBuilder::max_retry_after) | 5 min | cap of the server's wait; 0: refused |
//! | [`over_cap`](ClientBuilder::over_cap) | clamp | a longer wait is cut to the cap, or the call gives up |
//! | [`budget`](ClientBuilder::budget) | 30 s | a wait that would end after it is not begun; 0: unlimited |
//! | [`retry_statuses`](ClientBuilder::retry_statuses) | 408, 429, 500–599 | statuses that are retried; 422 is refused |
//! | [`retry_on_conn_err`](ClientBuilder::retry_on_conn_err) | true | lost connections, and answers that break off |
//! | [`retry_on_timeout`](ClientBuilder::retry_on_timeout) | true | attempts that timed out |
//! | [`retry_unsent`](ClientBuilder::retry_unsent) | false | what was provably not sent, in spite of both |
//!
//! A server's wait of zero, or a date that has passed, is obeyed: no wait. No other header and no
//! body is read for a wait. The caller's own [`should_retry`](ClientBuilder::should_retry) replaces
//! the statuses and switches, and nothing else. Every attempt sends the very same bytes, encoded and
//! validated once; on retries `X-TypeSafe-Retry-Count` says which.
//!
//! # Billed twice
//!
//! A question is a POST, and the API has no idempotency key: after a reset or a timeout nobody knows
//! whether the request was processed, and sending it again may be billed again. Who cannot have that
//! switches both off, and may leave the harmless failures on:
//!
//! ```
//! use skyl::system_one::Client;
//!
//! let client = Client::builder()
//!     .api_key("ts-0123456789")
//!     .retry_on_conn_err(false)
//!     .retry_on_timeout(false)
//!     // Refused connections, names that do not resolve, failed handshakes: nothing was sent.
//!     .retry_unsent(true)
//!     // A 500 or 504 may come after the work was done.
//!     .retry_statuses("429, 503, 529".parse()?)
//!     .build()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Time
//!
//! | limit | default | when it passes |
//! |---|---|---|
//! | [`attempt_timeout`](ClientBuilder::attempt_timeout), body included | 10 s | retried |
//! | [`connect_timeout`](ClientBuilder::connect_timeout) | 10 s | retried; nothing was sent |
//! | [`budget`](ClientBuilder::budget) | 30 s | no further retry begins; an attempt in flight goes on |
//! | [`total_timeout`](ClientBuilder::total_timeout), [`deadline`](CallOptions::deadline) | none | cuts the attempt in flight: kind `Deadline`, with the last real error in `last_error()` |
//!
//! # Errors
//!
//! The one [`Error`](crate::Error) of this crate, under the provider name `typesafe`. A 422 says the
//! request back in its `input`: that is taken out of messages and of
//! [`body`](crate::Error::body), and no debug print, event or log holds the state or the questions.
//! Where an error quotes the state, instructions or criteria in its own prose, `[redacted]` stands
//! for every run of 12 bytes or more, and for shorter content in quotes; ids and options stay.
//! A redirect is an error and is not followed. A body that is whole and cannot be read is final.
//! [`retryable`](crate::Error::retryable) goes by the rules of chat, under which a 409 counts too.
//!
//! # Strict and lenient
//!
//!
//! | in the reply | [`Strictness::Strict`] | [`Strictness::Lenient`] |
//! |---|---|---|
//! | no JSON object, or none in `answers` | error | error |
//! | no answer to a question | error | left out, warning |
//! | two answers of one id, or two `type`s in one | error | the last kept raw, warning |
//! | an answer of another type than asked | error | kept raw, warning |
//! | a figure missing or of another JSON type | error | kept raw, warning |
//! | `noul`, a confidence, a probability or an edge outside 0 to 1 | error | kept raw, warning |
//! | edges of a box the wrong way round | error | kept raw, warning |
//! | a choice that is none of the options | error | kept raw, warning |
//! | probabilities not of exactly the options or levels | error | kept raw, warning |
//! | probabilities whose sum is not 1 | error | kept raw, warning |
//! | a legend that is not of levels 0, 1, 2 … as many as asked | error | kept raw, warning |
//! | a score outside the scale, or other than Σ level · probability | error | kept raw, warning |
//! | usage or model of another type; negative or broken usage | error | not known, warning |
//! | usage or model missing | not known, warning | not known, warning |
//! | an answer nobody asked for | kept, warning | kept, warning |
//! | a type skyl does not know, to a raw question | kept raw | kept raw |
//! | a field skyl does not know | ignored | ignored |
//!
//! *Kept raw* is [`Answer::Unknown`] under the answer's id, with its bytes.
//!
//! Figures come with two decimals, so sums may be off without being wrong: each probability may be
//! off by 0.01, which also allows for servers that cut instead of round. The sum may be off by that
//! for every option; the score by that times the level for every level, and by 0.01 itself.
//!
//! # Set-up
//!
//! | variable | setter | default |
//! |---|---|---|
//! | `TYPESAFE_API_KEY` | [`api_key`](ClientBuilder::api_key) | none: the client is refused |
//! | `TYPESAFE_BASE_URL` | [`base_url`](ClientBuilder::base_url) | `https://api.typesafe.ai` |
//! | `TYPESAFE_DEFAULT_MODEL` | [`model`](ClientBuilder::model) | `jev-latest` |
//!
//! Blank is unset, and setters win. `docs/system-one.md` in the repository is for people who come
//! from another client: its names beside these, and every difference with the test that holds it.
//!
//! # What is not here
//!
//! - **Streams and batches**: the API has neither. Put all questions about one state in one request.
//! - **A rate limiter**: the API tells nothing of its limits. [`shared_pause`] holds back all calls
//!   once it has asked for a wait; `skyl ask --batch` has a limiter.
//! - **Compression of requests** and multipart forms: pictures go as base64 in the body.
//!
//! [`shared_pause`]: ClientBuilder::shared_pause

mod answer;
mod asset;
mod builder;
mod call;
mod client;
mod cost;
mod decode;
mod detail;
mod document;
mod echo;
mod encode;
mod json;
mod model;
mod options;
mod question;
mod questions;
mod redact;
mod request;
mod response;
mod service;
mod state;
mod tokens;
mod validate;

pub use skyl_retry::RetryPolicy;

pub use self::answer::{
    Answer, Answers, BoxAnswer, ChoiceAnswer, NoulAnswer, ScoreAnswer, UnknownAnswer,
};
pub use self::asset::{Asset, ImageFormat};
pub use self::builder::{ClientBuilder, ContextCheck};
pub use self::client::Client;
pub use self::cost::Price;
pub use self::decode::{Reply, Strictness, decode};
pub use self::detail::classify;
pub use self::model::{Model, decode_models};
pub use self::options::CallOptions;
pub use self::question::{BoxQuestion, Choice, Noul, Question, RawQuestion, Score};
pub use self::questions::Questions;
pub use self::redact::redacted_body;
pub use self::request::Request;
pub use self::response::Response;
pub use self::state::{Content, State};
pub use self::tokens::{ContextEstimate, ContextLimits, estimate_tokens};
