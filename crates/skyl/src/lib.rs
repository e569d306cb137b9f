//! Calls to AI APIs that survive bad minutes.

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

pub mod openai;

#[cfg(feature = "test-util")]
pub use skyl_retry::ManualClock;
pub use skyl_retry::{
    Choice, Clock, Failure, FailureClass, Hint, InvalidPolicy, Jitter, OverCap, RetryBudget,
    RetryBudgetPolicy, RetryBy, RetryPolicy, RetryPolicyBuilder, Sent, Spread, StatusSet,
    StopReason as RetryStop, Verdict, WaitSource, ZeroHint,
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
