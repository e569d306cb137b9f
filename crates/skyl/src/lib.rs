//! Calls to AI APIs that survive bad minutes.
//!
//! One call, and whatever the minute brings: a 429 with a wait, an overloaded provider, a reset
//! connection, an answer that stalls or breaks off. skyl retries what time can heal and nothing
//! else, waits as long as the server asked, and in the end tells exactly what happened.
//!
//! ```
//! use skyl::openai::OpenAi;
//! use skyl::{Client, Request};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! // A fake provider, so that this page runs without a key. For the real one leave out `base_url`.
//! let sandbox = skyl_sandbox::Sandbox::start().await?;
//! let openai = OpenAi::new("sandbox-key").base_url(sandbox.base_url("/openai/v1"));
//!
//! let client = Client::builder(openai).build()?;
//! // Two 429s, a reset, then the answer.
//! let model = "sandbox-do-429(ra-ms=1)*2,reset,ok";
//! let answer = client.complete(&Request::new(model).user("What is the capital of France?")).await?;
//!
//! println!("{}", answer.text());
//! assert_eq!(answer.attempts().len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [Retries](#retries) · [Choosing a policy](#choosing-a-policy) · [Time](#time)
//! - [Errors](#errors) · [Streams](#streams) · [Hooks and logs](#hooks-and-logs)
//! - [Testing](#testing) · [System One](#system-one) · [Own dialects](#own-dialects) · [Features](#features)
//! - [What is not here](#what-is-not-here) · [`guide`]: tables to look things up in, examples to run
//!
//! # Retries
//!
//! A call is up to four attempts. Before each retry the client waits: as long as the server asked,
//! or else a backoff drawn from `0..=min(500 ms · 2ⁿ, 30 s)`.
//!
//! | setting | default | what it controls |
//! |---|---|---|
//! | [`max_retries`](ClientBuilder::max_retries) | 3 | retries after the first attempt; 0 is off |
//! | [`retry_delay`](ClientBuilder::retry_delay) | 500 ms, 30 s | bounds of the own backoff |
//! | [`retry_after_cap`](ClientBuilder::retry_after_cap) | 5 min | the longest server's wait that is obeyed |
//!
//! | retried | never retried |
//! |---|---|
//! | `RateLimit`, `Server`, `Transport`, `Timeout`, `Truncated` | `Auth`, `BadRequest`, `NotFound`, `Refusal`, `Unsupported`, `QuotaExhausted`, `ContextLength`, `Certificate`, `Decode`, `Unclassified` |
//!
//! The whole draw is random, and that cannot be turned off: a hundred clients that fail at once and
//! wait the same time come back at once, and a provider that struggles gets a wall instead of a
//! trickle. A policy whose waits cannot vary is refused.
//!
//! A server has two more words. Its wait (`Retry-After` in seconds or as a date, `retry-after-ms`,
//! the reset of an exhausted limit, a hint in the body) replaces the backoff, up to the cap. Its
//! `x-should-retry: false` ends the call; `true` has an answer retried that nobody can read, but
//! never a refused key.
//!
//! Every attempt sends the very same bytes, encoded once. A retried request may have been processed
//! before: [`Error::sent`] tells whether that can be, and
//! [`idempotency_key_header`](ClientBuilder::idempotency_key_header) helps where the provider has
//! one. To have nothing sent twice that may have arrived, decide yourself:
//!
//! ```
//! use skyl::{Choice, Client, Sent};
//! # let dialect = skyl::openai::OpenAi::new("sk-0123456789");
//! let client = Client::builder(dialect)
//!     .should_retry(|failure| match failure.sent {
//!         // Refused, not resolved, no handshake: or an answer that says so.
//!         Sent::No => Choice::Retry,
//!         Sent::Maybe if failure.status == Some(429) => Choice::Retry,
//!         Sent::Maybe => Choice::Stop,
//!     })
//!     .build()?;
//! # Ok::<(), skyl::Error>(())
//! ```
//!
//! # Choosing a policy
//!
//! A [`RetryPolicy`] is all figures in one value; [`policy`](ClientBuilder::policy) takes it, per
//! client or per call.
//!
//! - [`RetryPolicy::chat`], the default: patient and plain, for a service that calls a model.
//! - [`RetryPolicy::fleet`]: for many processes behind one account. A retry budget keeps an outage
//!   from being multiplied by its own retries, and waits the server gave to all are spread.
//! - A person is waiting: few retries and a [`total_timeout`](ClientBuilder::total_timeout).
//! - A nightly batch: many retries, a long cap, no deadline.
//!
//! ```
//! use std::time::Duration;
//! use skyl::{CallOptions, Client, Request, RetryPolicy, RetryStop};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! # let sandbox = skyl_sandbox::Sandbox::start().await?;
//! # let openai = skyl::openai::OpenAi::new("sandbox-key").base_url(sandbox.base_url("/openai/v1"));
//! // One of many processes.
//! let client = Client::builder(openai).policy(RetryPolicy::fleet()).build()?;
//!
//! // This call is one a person waits for.
//! let hurried = RetryPolicy::fleet().to_builder().max_retries(1).build()?;
//! let options = CallOptions::new().policy(hurried).total_timeout(Duration::from_secs(5));
//! let request = Request::new("sandbox-do-503(ra=60),ok").user("Hello");
//! let error = client.complete_with(&request, options).await.unwrap_err();
//!
//! // The server asks for a minute, so the person is told now and not after five seconds.
//! assert_eq!(error.retry_stop(), Some(RetryStop::Deadline));
//! assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With [`shared_pause`](ClientBuilder::shared_pause) one call's 429 holds back all calls of the
//! client to that model until the server's wait has passed.
//!
//! # Time
//!
//! | limit | default | when it passes |
//! |---|---|---|
//! | [`attempt_timeout`](ClientBuilder::attempt_timeout), body included | 10 min | retried |
//! | [`first_content_timeout`](ClientBuilder::first_content_timeout) of a stream | as above | retried |
//! | [`idle_timeout`](ClientBuilder::idle_timeout) of a stream | 5 min | ends the stream |
//! | [`connect_timeout`](ClientBuilder::connect_timeout) | 10 s | retried |
//! | [`total_timeout`](ClientBuilder::total_timeout), [`deadline`](CallOptions::deadline) | none | ends the call |
//!
//! A wait that would pass the deadline is not begun: the error comes at once, not after the time is
//! up. To cancel, drop the future, or give it something to end on
//! ([`cancel_on`](CallOptions::cancel_on)) and keep the error that was being waited out.
//!
//! # Errors
//!
//! One type. Its [`kind`](Error::kind) says what to do, its text what happened:
//!
//! ```text
//! skyl: giving up after 4 attempts: skyl: openai: rate limited (http 429): slow down
//! ```
//!
//! ```
//! use skyl::{Error, ErrorKind};
//!
//! fn on_call(error: &Error) -> &'static str {
//!     match error.kind() {
//!         ErrorKind::Auth | ErrorKind::QuotaExhausted => "page the owner of the account",
//!         ErrorKind::ContextLength => "shorten the conversation",
//!         _ if error.retryable() => "the provider's bad minute was longer than ours",
//!         _ => "a bug, or a new answer: see the request id and the body",
//!     }
//! }
//! # let dialect = skyl::openai::OpenAi::new("sk-0123456789");
//! # let error = skyl::Client::builder(dialect).max_retries(2_000).build().unwrap_err();
//! # assert!(on_call(&error).starts_with("a bug"));
//! ```
//!
//! What a person at a broken system asks: [`status`](Error::status),
//! [`code`](Error::code), [`request_id`](Error::request_id), [`body`](Error::body),
//! [`retry_after`](Error::retry_after), every [attempt](Error::attempts) with its wait, and
//! [why it stopped](Error::retry_stop). The key is nowhere in it, even if the server said it back.
//!
//! # Streams
//!
//! [`Client::stream`] resolves at the first content. Until then everything that fails is a failed
//! attempt, retried like any other: a status, a reset, an error in the first frame. After it nothing
//! is ever sent again, because part of the answer has been seen (and will be billed): the failure
//! comes out of the stream, [`delivered`](Error::delivered) says so, and
//! [`partial`](ResponseStream::partial) has what came in. A stream that ends without its provider's
//! mark of the end is `Truncated`, never a success.
//!
//! ```
//! use skyl::{Client, Request, StreamEvent};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! # let sandbox = skyl_sandbox::Sandbox::start().await?;
//! # let openai = skyl::openai::OpenAi::new("sandbox-key").base_url(sandbox.base_url("/openai/v1"));
//! # let client = Client::builder(openai).build()?;
//! let request = Request::new("sandbox-stream-truncate").user("What is the capital of France?");
//! let mut stream = client.stream(&request).await?;
//! let broken = loop {
//!     match stream.next().await {
//!         Some(Ok(StreamEvent::Text(piece))) => print!("{piece}"),
//!         Some(Ok(_)) => {}
//!         Some(Err(error)) => break error,
//!         None => unreachable!("this model's streams are cut"),
//!     }
//! };
//! assert!(broken.delivered());
//! assert!(!stream.partial().text().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Hooks and logs
//!
//! A hook hears of every attempt, before its wait. Retries do not show in latencies until it is too
//! late; a rate that creeps from 0.5 % to 5 % is the first sign of a provider's trouble:
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
//! use skyl::{Client, HookEvent, Operation, Request};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! # let sandbox = skyl_sandbox::Sandbox::start().await?;
//! # let openai = skyl::openai::OpenAi::new("sandbox-key").base_url(sandbox.base_url("/openai/v1"));
//! let (attempts, retries) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
//! let (all, again) = (attempts.clone(), retries.clone());
//! let client = Client::builder(openai)
//!     .hook(move |event: &HookEvent<'_>| {
//!         if event.operation() == Operation::Complete {
//!             all.fetch_add(1, Relaxed);
//!             again.fetch_add(u64::from(event.attempt() > 0), Relaxed);
//!         }
//!     })
//!     .build()?;
//! client.complete(&Request::new("sandbox-do-503(ra-ms=1),ok").user("Hello")).await?;
//! client.complete(&Request::new("gpt-5.6").user("Hello")).await?;
//! assert_eq!((attempts.load(Relaxed), retries.load(Relaxed)), (3, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With a `tracing` subscriber every call is a span `skyl.call` and every attempt an event in it,
//! under OpenTelemetry's names where it has them. Neither hooks nor logs hold prompts, answers or
//! keys.
//!
//! # Testing
//!
//! `skyl-sandbox` is a fake provider over a real socket that fails on demand, by the model's name.
//! Waits of real length have no place in tests. Shrink them:
//!
//! ```
//! use std::time::Duration;
//! use skyl::{Client, ErrorKind, Request};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! # let sandbox = skyl_sandbox::Sandbox::start().await?;
//! # let openai = skyl::openai::OpenAi::new("sandbox-key").base_url(sandbox.base_url("/openai/v1"));
//! let client = Client::builder(openai)
//!     // The same retries, next to no time. The cap matters: this model sends a real `Retry-After`.
//!     .retry_delay(Duration::from_millis(1), Duration::from_millis(10))
//!     .retry_after_cap(Duration::from_millis(5))
//!     .build()?;
//! let error = client.complete(&Request::new("sandbox-status-429").user("Hi")).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::RateLimit);
//! assert_eq!(sandbox.journal().len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Or, with the feature `test-util`, give the client a `ManualClock` that takes every wait at once
//! and remembers it.
//!
//! # System One
//!
//! [`system_one`] asks TypeSafe's System One typed questions on the same path, under the policy of
//! that API: two retries, waits shaved by up to a quarter, no retry after thirty seconds, judged by
//! status.
//!
//! ```
//! use skyl::system_one::{Client, Noul, Questions};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! # let sandbox = skyl_sandbox::Sandbox::start().await?;
//! # let base_url = sandbox.base_url("/typesafe");
//! let client = Client::builder().api_key("sandbox-key").base_url(base_url).build()?;
//! let questions = Questions::new().ask("late", Noul::new("Is a delivery late?"));
//! let response = client.system_one("Tracking has not moved for nine days.", questions).await?;
//! println!("{:.2}", response.noul("late")?.noul);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Own dialects
//!
//! A [`Dialect`] is a pure codec: a request into bytes, bytes into an answer, frames into events,
//! failures into [`Fault`]s. It sends nothing and retries nothing, so one written outside this crate
//! gets retries, hooks, streams and timeouts unchanged. Built in are [`openai`], [`anthropic`] and
//! [`gemini`]; the example `own_dialect` is one that is not.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `reqwest` | off | `ClientBuilder::http`: the HTTP library's own builder |
//! | `test-util` | off | `ManualClock`, for tests that never wait |
//!
//! # What is not here
//!
//! - A **circuit breaker**: a retry budget bounds what an outage costs, without a state to get stuck.
//! - **Hedging**: a second request beside a slow first one is billed twice by design.
//! - **Fallback** to another provider: the caller knows which answer is as good. The error's kind
//!   and [`retryable`](Error::retryable) tell when to.
//! - **Resuming a broken stream**: no provider can; a new request is another answer.
//! - Agents, prompts, memory: this crate makes the call.

mod answer;
mod attempts;
mod client;
mod clock;
mod dialect;
mod error;
mod hook;
mod http;
mod key;
mod kind;
mod message;
mod native;
mod rate_limit;
mod request;
mod response;
mod scrub;
mod sink;
mod stream;

pub mod anthropic;
pub mod gemini;
pub mod guide;
pub mod openai;
pub mod system_one;

#[cfg(feature = "test-util")]
pub use skyl_retry::ManualClock;
pub use skyl_retry::{
    Choice, Clock, Failure, FailureClass, Hint, InvalidPolicy, Jitter, OverCap, RetryBudget,
    RetryBudgetPolicy, RetryBy, RetryPolicy, RetryPolicyBuilder, Sent, Spread, StatusSet,
    StopReason as RetryStop, Verdict, WaitSource, ZeroHint, hint,
    parse_retry_after_or_zero as parse_retry_after,
};

pub use crate::answer::Response;
pub use crate::attempts::Attempt;
pub use crate::client::{CallOptions, Client, ClientBuilder};
pub use crate::dialect::{
    Decoded, Dialect, Encoded, Fault, Flow, Frame, Framing, Head, Mode, ModelsPage, StreamDecoder,
    json_body,
};
pub use crate::error::Error;
pub use crate::hook::{CallId, HookEvent, Operation};
pub use crate::key::ApiKey;
pub use crate::kind::{ErrorKind, Group, classify_status};
pub use crate::message::{
    Image, Message, OpaqueState, Part, Reasoning, Role, Text, ToolCall, ToolResult,
};
pub use crate::rate_limit::{RateLimit, RateWindow};
pub use crate::request::{Effort, Request, ResponseFormat, Tool, ToolChoice};
pub use crate::response::{ModelInfo, StopReason, StreamEvent, Usage, Warning};
pub use crate::sink::Sink;
pub use crate::stream::ResponseStream;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
