//! Tables to look things up in: kinds of error, reasons to stop, streams, policy figures.
//!
//! The [crate's page](crate) explains; this one lists. Nothing is here but text: the tests read the
//! tables and hold them to the code.
//!
//! - [Kinds of error](#kinds-of-error) · [Why a call ended](#why-a-call-ended)
//! - [Why a model stopped](#why-a-model-stopped) · [Streams](#streams)
//! - [Figures of a policy](#figures-of-a-policy) · [Runnable examples](#runnable-examples)
//!
//! # Kinds of error
//!
//! [`Error::kind`] is one of these, [`Error::group`] the coarser word. *Retried* is
//! [`Error::retryable`] under the default policy, where the server has not said otherwise.
//!
//! | kind | group | retried | what it means, what to do |
//! |---|---|---|---|
//! | `auth` | `Auth` | no | 401, 403, 407: the key is wrong, revoked, or not for this model |
//! | `rate_limit` | `RateLimit` | yes | a 429 that waiting heals: lower the rate, or ask for a higher limit |
//! | `not_found` | `NotFound` | no | no such model or path: check the name and the base URL |
//! | `bad_request` | `BadRequest` | no | the request is wrong and stays wrong: read the message |
//! | `server` | `Server` | yes | 408, 409, 5xx, an empty answer: nothing of ours |
//! | `unsupported` | `Unsupported` | no | this provider cannot say it; nothing was sent |
//! | `refusal` | `Refusal` | no | the model declined without an answer; its words are the message |
//! | `stream_closed` | `StreamClosed` | no | the stream was read after it was closed: a mistake of the caller |
//! | `transport` | none | yes | no usable reply: name, connection, reset |
//! | `timeout` | none | yes | an attempt took too long: see its duration in the record |
//! | `certificate` | none | no | a rejected certificate: a misconfiguration, here or there |
//! | `cancelled` | none | no | the caller ended the call; the last real failure is kept |
//! | `deadline` | none | no | the time of the whole call was up; the last real failure is kept |
//! | `quota_exhausted` | `BadRequest` | no | a balance, a spend limit, a daily quota: somebody has to pay |
//! | `context_length` | `BadRequest` | no | the prompt is too long for the model: shorten it |
//! | `truncated` | `Server` | yes | the answer ended without the provider's mark of its end |
//! | `decode` | none | no | a reply nobody can read, such as a proxy's page with a 200 |
//! | `unclassified` | none | no | the provider answered something no rule knows: see status and body |
//!
//! # Why a call ended
//!
//! [`Error::retry_stop`] says why there was no further attempt. They are asked in this order, and
//! the first that holds is the reason:
//!
//! | reason | when |
//! |---|---|
//! | `cancelled` | the caller cancelled |
//! | `content_delivered` | part of a stream had reached the caller |
//! | `not_retryable` | by its kind, or by the caller's own `should_retry` |
//! | `server_said_no` | `x-should-retry: false` |
//! | `retries_disabled` | `max_retries` is 0 |
//! | `attempts_exhausted` | every retry has been used; only then the text says "giving up" |
//! | `hint_over_cap` | the server asked for more than the cap, and the policy gives up then |
//! | `time_budget` | the wait would pass the policy's `budget` |
//! | `deadline` | the wait would pass the deadline, or leave no time worth an attempt; or it has passed |
//! | `retry_budget` | the bucket of retries is empty: too many calls fail at once |
//!
//! # Why a model stopped
//!
//! | [`StopReason`](crate::StopReason) | OpenAI chat | Anthropic | Gemini |
//! |---|---|---|---|
//! | `end_turn` | `stop` | `end_turn` | `STOP` |
//! | `max_tokens` | `length` | `max_tokens`, `model_context_window_exceeded` | `MAX_TOKENS` |
//! | `tool_use` | `tool_calls`, or any call beside `stop` | `tool_use` | any call beside `STOP` |
//! | `stop_sequence` | not told apart from `end_turn` | `stop_sequence` | not told apart from `end_turn` |
//! | `refusal` | `content_filter`, or words of refusal | `refusal` | the words of its filters, such as `SAFETY` |
//! | `pause` | – | `pause_turn` | – |
//! | `unknown` | any other word | any other word | any other word |
//!
//! # Streams
//!
//! | | before the first content | after it |
//! |---|---|---|
//! | a status of 300 or more | an attempt, retried by its kind | cannot be |
//! | an error inside the stream | the same | ends the stream, by its own code |
//! | a reset, a cut connection | the same | ends the stream |
//! | the end without the provider's mark | `truncated`, retried | `truncated` |
//! | silence | ends with [`first_content_timeout`], retried | ends with [`idle_timeout`] |
//! | comments and pings | not content; the timeout runs on | a sign of life |
//! | cancellation, the deadline | ends the call | ends the stream |
//! | a JSON body instead of a stream | read as the whole answer, or its error | cannot be |
//!
//! *Content* is what the caller is handed: text, reasoning, words of a refusal, a tool call's name
//! or arguments.
//!
//! [`first_content_timeout`]: crate::ClientBuilder::first_content_timeout
//! [`idle_timeout`]: crate::ClientBuilder::idle_timeout
//!
//! # Figures of a policy
//!
//! The names are the same in [`RetryPolicyBuilder`](crate::RetryPolicyBuilder), in TOML and in JSON.
//! In files a length has its unit (`"500ms"`, `"30s"`, `"5m"`); only 0 needs none. The client takes at
//! most 1,000 retries and lengths of at most 7 days.
//!
//! | figure | `chat` | `system_one` | `fleet` | what it is; at zero |
//! |---|---|---|---|---|
//! | `max_retries` | 3 | 2 | 3 | retries after the first attempt; 0: off |
//! | `initial_delay` | 500 ms | 500 ms | 500 ms | ceiling of the first backoff; 0: at once, refused by the client |
//! | `max_delay` | 30 s | 5 s | 30 s | cap of every backoff, at least `initial_delay` |
//! | `jitter` | full | shave=0.25 | full | how a backoff is drawn below its ceiling; a shave of 0 never varies, refused by the client |
//! | `honor_retry_after` | true | true | true | whether the server's wait replaces the backoff |
//! | `max_retry_after` | 300 s | 300 s | 300 s | cap of the server's wait; 0: refused |
//! | `over_cap` | clamp | clamp | clamp | a longer wait is cut to the cap, or the call gives up |
//! | `zero_hint` | backoff | obey | backoff | a server's wait of zero: no hint, or no wait |
//! | `honor_should_retry` | true | false | true | whether `x-should-retry` is read |
//! | `spread` | none | none | 1 · 1 · 30 s | random wait on top of the server's: share, growth, most; 0: none |
//! | `budget` | 0 s | 30 s | 0 s | no retry begins after it; 0: unlimited |
//! | `retry_by` | kind | status | kind | what a failure is judged by |
//! | `retry_statuses` | 408, 429, 500-599 | 408, 429, 500-599 | 408, 429, 500-599 | with `retry_by = "status"` |
//! | `retry_on_conn_err` | true | true | true | whether lost connections and cut answers are retried |
//! | `retry_on_timeout` | true | true | true | whether timed-out attempts are |
//! | `retry_unsent` | false | false | false | whether what was provably not sent is, in spite of both |
//! | `retry_budget` | none | none | 0.1 · 0.1 · 10 | tokens per success, per second, at most; a ratio of 0 pays nothing |
//!
//! Where they come from: the first delay of 500 ms and the shaved quarter are those of the official
//! OpenAI and Anthropic SDKs; full jitter is the one that sent the fewest calls in AWS's study
//! "Exponential Backoff And Jitter" (2015); that the server's wait goes first is RFC 9110, section
//! 10.2.3; `x-should-retry` is what both vendors' SDKs obey. The other figures are skyl's own
//! choice.
//!
//! # Runnable examples
//!
//! Each runs without a key against the sandbox, with `cargo run -p skyl --example NAME`:
//!
//! | example | shows |
//! |---|---|
//! | `retry_rate` | the retry rate per provider, by a hook |
//! | `fast_retry_tests` | tests of retries that take no time |
//! | `tool_loop` | a conversation in which the model calls tools |
//! | `structured_output` | an answer that fits a schema, read into a type |
//! | `stream_to_terminal` | an answer as it comes in, and one that breaks off |
//! | `shared_policy_with_reqwest` | one policy and budget for the client and for plain calls |
//! | `own_dialect` | a protocol this crate does not know, with all of the above |
//!
//! [`Error::kind`]: crate::Error::kind
//! [`Error::group`]: crate::Error::group
//! [`Error::retryable`]: crate::Error::retryable
//! [`Error::retry_stop`]: crate::Error::retry_stop

#[cfg(test)]
mod tests;
