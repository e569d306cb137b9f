//! Answers in the accents of compatible servers: made from the reference's shape, then bent.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::servers::Server;
use crate::answer::{Frame, JSON, Role, Whole};

/// One chunk of a stream, before it is framed.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) role: Role,
    pub(super) data: Value,
}

/// One `data:` frame.
pub(super) fn framed(data: &Value) -> Bytes {
    format!("data: {data}\n\n").into()
}

impl Server {
    /// A whole answer.
    pub(super) fn completion(self, mut body: Value) -> Whole {
        let usage = body["usage"].clone();
        for choice in list(&mut body["choices"]) {
            self.bend(&mut choice["message"], Form::Whole);
            self.bend_choice(choice);
        }
        self.bend_body(&mut body);
        self.bend_usage(&mut body, &usage);
        let text = match self {
            // What keeps the connection open while a request waits for its turn.
            Self::DeepSeek => format!("\n\n\n{body}"),
            Self::OpenRouter => format!("\n         \n         \n{body}"),
            _ => body.to_string(),
        };
        Whole {
            status: 200,
            content_type: JSON,
            body: text.into(),
        }
    }

    /// The frames of a stream whose chunks are those of the reference.
    pub(super) fn frames(self, chunks: Vec<Chunk>, usage: &Value) -> Vec<Frame> {
        let asked = chunks
            .iter()
            .any(|chunk| chunk.data["choices"] == json!([]));
        let mut chunks = self.calls(chunks);
        for chunk in &mut chunks {
            for choice in list(&mut chunk.data["choices"]) {
                self.bend(&mut choice["delta"], Form::Piece);
                self.bend_choice(choice);
            }
            self.bend_body(&mut chunk.data);
        }
        let chunks = self.tail(chunks, usage, asked);
        let mut frames: Vec<Frame> = self.lead();
        frames.extend(chunks.iter().map(|chunk| Frame {
            role: chunk.role,
            bytes: framed(&chunk.data),
        }));
        if self != Self::Sloppy {
            frames.push(Frame {
                role: Role::Tail,
                bytes: "data: [DONE]\n\n".into(),
            });
        }
        frames
    }

    /// What stands ahead of the first chunk.
    fn lead(self) -> Vec<Frame> {
        let text = match self {
            Self::DeepSeek => ": keep-alive\n\n".to_owned(),
            Self::OpenRouter => ": OPENROUTER PROCESSING\n\n".repeat(2),
            Self::Azure => {
                let first = json!({
                    "choices": [], "created": 0, "id": "", "model": "", "object": "",
                    "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": safe()}],
                });
                format!("data: {first}\n\n")
            }
            _ => return Vec::new(),
        };
        vec![Frame {
            role: Role::Lead,
            bytes: text.into(),
        }]
    }

    /// The pieces of tool calls, as this server cuts them.
    fn calls(self, chunks: Vec<Chunk>) -> Vec<Chunk> {
        match self {
            Self::Groq | Self::Ollama | Self::Sloppy | Self::Xai => whole_calls(chunks),
            _ => chunks,
        }
    }

    /// What a message, or a piece of one, looks like.
    fn bend(self, said: &mut Value, form: Form) {
        let Some(said) = said.as_object_mut() else {
            return;
        };
        match self {
            Self::Groq | Self::Ollama | Self::Vllm => {
                rename(said, "reasoning_content", "reasoning");
            }
            Self::OpenRouter => {
                rename(said, "reasoning_content", "reasoning");
                if let Some(text) = said.get("reasoning").cloned() {
                    let detail =
                        json!({"type": "reasoning.text", "text": text, "index": 0, "format": null});
                    said.insert("reasoning_details".into(), json!([detail]));
                }
            }
            Self::Mistral => thinking(said),
            Self::Sloppy => {
                said.remove("refusal");
                said.entry("tool_calls").or_insert(Value::Null);
                if form == Form::Piece {
                    said.insert("role".into(), json!(""));
                }
            }
            _ => {}
        }
        for call in list(said.get_mut("tool_calls").unwrap_or(&mut Value::Null)) {
            self.bend_call(call, form);
        }
    }

    fn bend_call(self, call: &mut Value, form: Form) {
        let begins = call.get("id").is_some();
        let Some(call) = call.as_object_mut() else {
            return;
        };
        match self {
            // Every call of an answer under one id.
            Self::Azure if begins => {
                call.insert("id".into(), json!("call_sandbox_1"));
            }
            Self::Mistral => {
                call.remove("type");
                let id = call.get("id").and_then(Value::as_str);
                let nine =
                    id.map(|id| format!("sandbox0{}", id.trim_start_matches("call_sandbox_")));
                call.insert("id".into(), json!(nine.as_deref().unwrap_or("null")));
            }
            Self::Ollama if form == Form::Piece => {
                call.insert("index".into(), json!(0));
            }
            Self::Sloppy => {
                call.remove("index");
                call.remove("type");
                let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                let object = serde_json::from_str::<Value>(arguments);
                call["function"]["arguments"] = object.unwrap_or(Value::Null);
            }
            _ => {}
        }
    }

    fn bend_choice(self, choice: &mut Value) {
        let Some(choice) = choice.as_object_mut() else {
            return;
        };
        let finish = choice.get("finish_reason").cloned().unwrap_or_default();
        match self {
            Self::Azure => {
                choice.insert("content_filter_results".into(), safe());
            }
            Self::OpenRouter => {
                choice.insert("native_finish_reason".into(), finish);
            }
            Self::Sloppy => {
                choice.remove("index");
                if finish.is_null() {
                    choice.insert("finish_reason".into(), json!(""));
                }
            }
            Self::Together => {
                if finish == "stop" {
                    choice.insert("finish_reason".into(), json!("eos"));
                }
                if let Some(Value::Object(delta)) = choice.get_mut("delta") {
                    delta.insert("token_id".into(), json!(8_675));
                }
            }
            Self::Vllm => {
                choice.insert("stop_reason".into(), Value::Null);
                choice.insert("token_ids".into(), Value::Null);
            }
            _ => {}
        }
    }

    fn bend_body(self, body: &mut Value) {
        let Some(body) = body.as_object_mut() else {
            return;
        };
        match self {
            Self::Azure if body["object"] == "chat.completion" => {
                let filter = json!([{"prompt_index": 0, "content_filter_results": safe()}]);
                body.insert("prompt_filter_results".into(), filter);
            }
            Self::Groq => {
                body.insert("service_tier".into(), json!("on_demand"));
                body.insert("x_groq".into(), json!({"id": "req_sandbox_groq"}));
            }
            Self::LlamaCpp if body["object"] == "chat.completion" => {
                body.insert("timings".into(), timings());
            }
            Self::MiniMax => {
                body.insert("input_sensitive".into(), json!(false));
                body.insert(
                    "base_resp".into(),
                    json!({"status_code": 0, "status_msg": ""}),
                );
            }
            Self::Ollama => {
                body.insert("system_fingerprint".into(), json!("fp_ollama"));
            }
            Self::OpenRouter => {
                body.insert("provider".into(), json!("Sandbox"));
            }
            Self::Sloppy => {
                body.remove("object");
                body.insert("created".into(), Value::Null);
                body.insert("id".into(), json!(7));
                // What is known is told once, and until then as nothing.
                if body.get("usage").is_none_or(Value::is_null) {
                    body.insert("usage".into(), json!({}));
                }
            }
            _ => {}
        }
        if !matches!(self, Self::Groq) {
            body.remove("service_tier");
        }
    }

    /// The usage in this server's words; `body` is a whole answer, or the chunk that has it.
    fn bend_usage(self, body: &mut Value, usage: &Value) {
        let cached = usage["prompt_tokens_details"]["cached_tokens"].clone();
        let mut usage = usage.clone();
        match self {
            Self::DeepSeek => {
                let all = usage["prompt_tokens"].as_u64().unwrap_or_default();
                let hit = cached.as_u64().unwrap_or_default();
                usage["prompt_cache_hit_tokens"] = json!(hit);
                usage["prompt_cache_miss_tokens"] = json!(all.saturating_sub(hit));
                remove(&mut usage, "prompt_tokens_details");
            }
            Self::Groq => {
                for name in ["queue_time", "prompt_time", "completion_time", "total_time"] {
                    usage[name] = json!(0.001);
                }
            }
            Self::Moonshot => usage["cached_tokens"] = cached,
            Self::OpenRouter => usage["cost"] = json!(0.000_014),
            Self::Xai => usage["num_sources_used"] = json!(0),
            _ => {}
        }
        if self == Self::Groq && body.get("x_groq").is_some() && body["object"] != "chat.completion"
        {
            body["x_groq"]["usage"] = usage;
        } else if self == Self::Moonshot && body["object"] != "chat.completion" {
            body["choices"][0]["usage"] = usage;
        } else {
            body["usage"] = usage;
        }
    }

    /// The end of a stream: where the usage stands, and what comes with the finish.
    fn tail(self, mut chunks: Vec<Chunk>, usage: &Value, asked: bool) -> Vec<Chunk> {
        let last = chunks.iter().rposition(|chunk| chunk.role == Role::Content);
        match self {
            Self::Azure => {
                // The asynchronous filter: a choice without a delta, and without ids.
                let results = json!({"index": 0, "finish_reason": null, "content_filter_results": safe(),
                    "content_filter_offsets": {"check_offset": 10, "start_offset": 0, "end_offset": 10}});
                let data = json!({"id": "", "object": "", "created": 0, "model": "", "choices": [results]});
                let chunk = Chunk {
                    role: Role::Lead,
                    data,
                };
                chunks.insert(last.map_or(1, |last| last + 1).min(chunks.len()), chunk);
            }
            Self::Mistral | Self::Ollama => join_finish(&mut chunks),
            Self::Vllm if asked => {
                let total = usage["prompt_tokens"].clone();
                for chunk in &mut chunks {
                    if chunk.role != Role::Tail {
                        chunk.data["usage"] = json!({"prompt_tokens": total, "total_tokens": total,
                                                     "completion_tokens": null});
                    }
                }
            }
            _ => {}
        }
        match self {
            Self::DeepSeek
            | Self::Groq
            | Self::Mistral
            | Self::Moonshot
            | Self::Sloppy
            | Self::Together => {
                chunks.retain(|chunk| !is_usage(&chunk.data));
                if let Some(finish) = chunks.last_mut() {
                    self.bend_usage(&mut finish.data, usage);
                }
            }
            Self::MiniMax => {
                chunks.retain(|chunk| !is_usage(&chunk.data));
                chunks.extend(self.whole_message(&chunks, usage));
            }
            Self::OpenRouter | Self::Xai => {
                chunks.retain(|chunk| !is_usage(&chunk.data));
                let mut data = chunks
                    .last()
                    .map(|chunk| chunk.data.clone())
                    .unwrap_or_default();
                data["choices"] = if self == Self::Xai {
                    json!([])
                } else {
                    json!([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null}])
                };
                self.bend_usage(&mut data, usage);
                chunks.push(Chunk {
                    role: Role::Tail,
                    data,
                });
            }
            Self::LlamaCpp => {
                if let Some(last) = chunks.last_mut() {
                    last.data["timings"] = timings();
                }
            }
            Self::Azure | Self::Ollama | Self::Vllm => {}
        }
        chunks
    }

    /// The whole message once more, with the usage, as the last chunk.
    fn whole_message(self, chunks: &[Chunk], usage: &Value) -> Option<Chunk> {
        let mut data = chunks.last()?.data.clone();
        let text: String = chunks
            .iter()
            .filter_map(|chunk| chunk.data["choices"][0]["delta"]["content"].as_str())
            .collect();
        let finish = data["choices"][0]["finish_reason"].clone();
        data["object"] = json!("chat.completion");
        data["choices"] = json!([{"index": 0, "finish_reason": finish,
                                  "message": {"role": "assistant", "content": text}}]);
        self.bend_usage(&mut data, usage);
        Some(Chunk {
            role: Role::Tail,
            data,
        })
    }
}

/// Whether a message comes at once or in pieces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Piece,
}

/// Puts the pieces of each call together; each call is one chunk.
fn whole_calls(chunks: Vec<Chunk>) -> Vec<Chunk> {
    let mut whole: Vec<Chunk> = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let piece = &chunk.data["choices"][0]["delta"]["tool_calls"][0];
        let more = piece["function"]["arguments"].as_str().unwrap_or_default();
        if piece.is_null() || piece.get("id").is_some() {
            whole.push(chunk);
            continue;
        }
        if let Some(last) = whole.last_mut() {
            let arguments =
                &mut last.data["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"];
            let text = arguments.as_str().unwrap_or_default().to_owned() + more;
            *arguments = json!(text);
        }
    }
    whole
}

/// Puts the finish reason into the last chunk with content.
fn join_finish(chunks: &mut Vec<Chunk>) {
    let last = chunks.iter().rposition(|chunk| chunk.role == Role::Content);
    let finish = chunks.iter().position(|chunk| {
        chunk.role == Role::Tail && chunk.data["choices"][0]["finish_reason"].is_string()
    });
    if let (Some(last), Some(finish)) = (last, finish) {
        let reason = chunks[finish].data["choices"][0]["finish_reason"].clone();
        chunks[last].data["choices"][0]["finish_reason"] = reason;
        chunks.remove(finish);
    }
}

/// Reasoning as a part of the content, which then is a list.
fn thinking(said: &mut Map<String, Value>) {
    let Some(thought) = said.remove("reasoning_content") else {
        return;
    };
    let mut parts =
        vec![json!({"type": "thinking", "thinking": [{"type": "text", "text": thought}]})];
    if let Some(text @ Value::String(_)) = said.get("content") {
        parts.push(json!({"type": "text", "text": text}));
    }
    said.insert("content".into(), Value::Array(parts));
}

fn is_usage(chunk: &Value) -> bool {
    chunk["choices"] == json!([]) && chunk["usage"].is_object()
}

fn rename(object: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = object.remove(from) {
        object.insert(to.to_owned(), value);
    }
}

fn remove(object: &mut Value, name: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(name);
    }
}

fn list(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

fn timings() -> Value {
    json!({"prompt_n": 5, "prompt_ms": 12.5, "predicted_n": 4, "predicted_ms": 80.0})
}

fn safe() -> Value {
    json!({"hate": {"filtered": false, "severity": "safe"}})
}

#[cfg(test)]
mod tests;
