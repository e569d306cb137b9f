//! TypeSafe's System One: typed questions about a state, answered with figures.

mod answer;
mod asset;
mod builder;
mod call;
mod client;
mod cost;
mod decode;
mod detail;
mod document;
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
