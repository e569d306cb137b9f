//! The compatible servers whose accents the compat mount speaks: their names and their errors.
//!
//! Written from each server's own documentation and from what its users reported. An accent is one
//! way in which a server is known to differ, not a claim that it always does.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{accents::framed, errors};
use crate::{answer::Whole, mounts::Cause};

/// A server with an accent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Server {
    Azure,
    DeepSeek,
    Groq,
    LlamaCpp,
    MiniMax,
    Mistral,
    Moonshot,
    Ollama,
    OpenRouter,
    /// None in particular: everything that any server leaves out or empty.
    Sloppy,
    Together,
    Vllm,
    Xai,
}

impl Server {
    pub(super) const ALL: [(&'static str, Self); 13] = [
        ("compat-azure", Self::Azure),
        ("compat-deepseek", Self::DeepSeek),
        ("compat-groq", Self::Groq),
        ("compat-llamacpp", Self::LlamaCpp),
        ("compat-minimax", Self::MiniMax),
        ("compat-mistral", Self::Mistral),
        ("compat-moonshot", Self::Moonshot),
        ("compat-ollama", Self::Ollama),
        ("compat-openrouter", Self::OpenRouter),
        ("compat-sloppy", Self::Sloppy),
        ("compat-together", Self::Together),
        ("compat-vllm", Self::Vllm),
        ("compat-xai", Self::Xai),
    ];

    /// The server a model's name asks for, and the name without it.
    ///
    /// `compat-groq` is the ordinary answer with that accent; behind an `@` it goes with everything
    /// else: `sandbox-reasoning@compat-groq`, and as the tag of a script, which may go on behind a
    /// dot: `sandbox-do-503,ok@compat-groq.t1`.
    pub(super) fn of(model: &str) -> Option<(Self, &str)> {
        let named = |name: &str| {
            let name = name.split('.').next().unwrap_or_default();
            let found = Self::ALL.iter().find(|(known, _)| *known == name);
            found.map(|(_, server)| *server)
        };
        if let Some((base, tag)) = model.rsplit_once('@') {
            return Some((named(tag)?, base));
        }
        let (_, server) = Self::ALL.iter().find(|(known, _)| *known == model)?;
        Some((*server, model))
    }

    /// The error object of a status, in this server's shape.
    pub(super) fn error(self, status: u16, cause: Cause, message: &str) -> Whole {
        // llama.cpp knows one reason to be unavailable; everybody else repeats what is wrong.
        let loading = self == Self::LlamaCpp && (status == 503 || cause == Cause::Overloaded);
        let message = match cause {
            _ if loading => "Loading model",
            Cause::Context if self.knows_no_context() => CONTEXT,
            Cause::Quota if self == Self::Xai => CREDITS,
            _ => message,
        };
        let (kind, code) = errors::words(status, cause);
        self.whole(status, cause, message, kind, code)
    }

    /// An error of these words, which are OpenAI's, in this server's shape.
    pub(super) fn whole(
        self,
        status: u16,
        cause: Cause,
        message: &str,
        kind: &str,
        code: Option<&str>,
    ) -> Whole {
        // xAI answers a wrong key as it answers any wrong request.
        let status = match (self, status) {
            (Self::Xai, 401) => 400,
            _ => status,
        };
        Whole::json(status, &self.object(status, cause, message, kind, code))
    }

    /// The overload error as it comes inside a stream, with what the server writes after it.
    pub(super) fn overload_frames(self, message: &str) -> Bytes {
        let error = self.error(503, Cause::Overloaded, message);
        let mut frames = match self {
            Self::OpenRouter => {
                let mut chunk: Value = serde_json::from_slice(&error.body).unwrap_or_default();
                chunk["choices"] =
                    json!([{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]);
                framed(&chunk).to_vec()
            }
            // Without the field name, as its older versions wrote it.
            Self::LlamaCpp => [b"error: ", &*error.body, b"\n\n"].concat(),
            Self::Groq => framed(&json!({"choices": [], "x_groq": {"error": message}})).to_vec(),
            _ => [b"data: ", &*error.body, b"\n\n"].concat(),
        };
        // These two end the stream as if all had gone well.
        if matches!(self, Self::OpenRouter | Self::Vllm) {
            frames.extend_from_slice(b"data: [DONE]\n\n");
        }
        frames.into()
    }

    /// Whether only the words tell that a prompt is too long.
    fn knows_no_context(self) -> bool {
        !matches!(self, Self::Azure | Self::LlamaCpp)
    }

    fn object(
        self,
        status: u16,
        cause: Cause,
        message: &str,
        kind: &str,
        code: Option<&str>,
    ) -> Value {
        match self {
            Self::Azure => {
                let code = code.map_or_else(|| status.to_string(), str::to_owned);
                json!({"error": {"code": code, "message": message}})
            }
            Self::DeepSeek => json!({"error": {
                "message": message, "type": kind, "param": null, "code": code.unwrap_or(kind),
            }}),
            Self::Groq if status == 498 => json!({"error": {
                "message": message, "type": "capacity_exceeded", "code": "capacity_exceeded",
            }}),
            Self::Groq => json!({"error": {"message": message, "type": kind, "code": code}}),
            Self::LlamaCpp => {
                let kind = match (cause, status) {
                    (Cause::Context, _) => "exceed_context_size_error",
                    (Cause::Overloaded, _) | (_, 503) => "unavailable_error",
                    (_, 401) => "authentication_error",
                    (_, 500..) => "server_error",
                    _ => kind,
                };
                let mut object =
                    json!({"error": {"code": status, "message": message, "type": kind}});
                if cause == Cause::Context {
                    object["error"]["n_prompt_tokens"] = json!(13_392);
                    object["error"]["n_ctx"] = json!(8_192);
                }
                object
            }
            Self::MiniMax => {
                let number = match (cause, status) {
                    (Cause::Quota, _) | (_, 402) => 1008,
                    (_, 429) => 1002,
                    (_, 401 | 403) => 1004,
                    (Cause::Context, _) | (_, 400..500) => 2013,
                    _ => 1000,
                };
                json!({"choices": null, "base_resp": {"status_code": number, "status_msg": message}})
            }
            Self::Mistral if status == 422 => json!({
                "object": "error",
                "message": {"detail": [{"type": "value_error", "loc": ["body"], "msg": message}]},
                "type": "invalid_request_error", "param": null, "code": null,
            }),
            Self::Mistral => json!({
                "object": "error", "message": message, "type": code.unwrap_or(kind),
                "param": null, "code": "3000", "raw_status_code": status,
            }),
            Self::Moonshot => {
                let kind = match (cause, status) {
                    (Cause::Quota, _) => "exceeded_current_quota_error",
                    (Cause::Overloaded, _) => "engine_overloaded_error",
                    (_, 429) => "rate_limit_reached_error",
                    _ => kind,
                };
                json!({"error": {"message": message, "type": kind}})
            }
            Self::Ollama => json!({"error": {
                "message": message, "type": kind, "param": null, "code": code,
            }}),
            Self::OpenRouter => {
                let word = match (cause, status) {
                    (Cause::Quota, _) => "insufficient_credits",
                    (Cause::Overloaded, _) | (_, 503) => "provider_overloaded",
                    (_, 500..) => "provider_unavailable",
                    _ => code.unwrap_or(kind),
                };
                json!({
                    "error": {"code": status, "message": message, "metadata": {
                        "error_type": word, "provider_name": "Sandbox",
                    }},
                    "user_id": "user_sandbox",
                })
            }
            Self::Sloppy => json!({"error": message}),
            Self::Together => json!({
                "id": "sandbox-1",
                "error": {"message": message, "type": null, "param": null, "code": code},
            }),
            Self::Vllm => {
                let kind = match (cause, status) {
                    (Cause::Quota | Cause::Overloaded, _) => kind,
                    (_, 404) => "NotFoundError",
                    (_, 400..500) => "BadRequestError",
                    _ => "InternalServerError",
                };
                json!({"error": {"message": message, "type": kind, "param": null, "code": status}})
            }
            Self::Xai => {
                let sentence = match status {
                    429 => "Some resource has been exhausted",
                    503 => "The service is currently unavailable",
                    500.. => "Internal error",
                    _ => "Client specified an invalid argument",
                };
                json!({"code": sentence, "error": message})
            }
        }
    }
}

/// What servers say of a prompt that is too long, where they have no code for it.
const CONTEXT: &str = "This model's maximum context length is 8192 tokens. However, you requested \
                       13392 tokens. Please reduce the length of the messages.";

const CREDITS: &str = "Your team has either used all available credits or reached its monthly \
                       spending limit.";
