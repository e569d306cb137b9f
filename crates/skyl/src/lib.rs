//! Calls to AI APIs that survive bad minutes.

pub mod anthropic;
mod dialect;
pub mod gemini;
mod key;
mod kind;
mod message;
mod native;
mod request;
mod response;
mod sink;

pub mod openai;

pub use crate::dialect::{
    Decoded, Dialect, Encoded, Fault, Flow, Frame, Framing, Head, Mode, ModelsPage, StreamDecoder,
    json_body,
};
pub use crate::key::ApiKey;
pub use crate::kind::{ErrorKind, Group, classify_status};
pub use crate::message::{
    Image, Message, OpaqueState, Part, Reasoning, Role, Text, ToolCall, ToolResult,
};
pub use crate::request::{Effort, Request, ResponseFormat, Tool, ToolChoice};
pub use crate::response::{ModelInfo, StopReason, StreamEvent, Usage, Warning};
pub use crate::sink::Sink;
