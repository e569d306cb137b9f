//! The dialects and the known servers, each with an answer of its own to go back.

use std::sync::Arc;
use std::time::SystemTime;

use http::HeaderMap;
use serde_json::{Value, json};
use skyl::anthropic::Anthropic;
use skyl::gemini::Gemini;
use skyl::openai::{OpenAi, OpenAiCompatible, Responses, presets};
use skyl::{Dialect, Encoded, Fault, Head, Message, Mode, Request, Role};

use crate::difference::{added, short};
use crate::probes::{Outcome, Probe};

/// A dialect as the page shows it.
pub(crate) struct Column {
    pub(crate) anchor: &'static str,
    pub(crate) title: &'static str,
    pub(crate) model: &'static str,
    pub(crate) dialect: Arc<dyn Dialect>,
    /// The dialect it is like, but for a few rows.
    pub(crate) like: Option<&'static str>,
    /// An answer with reasoning, in the provider's own words.
    own: fn() -> Value,
}

impl Column {
    /// What comes of a probe.
    pub(crate) fn ask(&self, probe: &Probe) -> Outcome {
        let asked = || Request::new(self.model).user("hi");
        let base = self.encode(&(probe.without)(asked(), self), Mode::Complete);
        let base = base.unwrap_or_else(|fault| panic!("{}: {fault:?}", self.title));
        let request = (probe.request)(asked(), self);
        request
            .validate()
            .unwrap_or_else(|fault| panic!("{}: {fault:?}", probe.name));
        match self.encode(&request, probe.mode) {
            Err(fault) => Outcome::Refused(fault.message().unwrap_or_default().to_owned()),
            Ok(encoded) => Outcome::Sent {
                wire: wire(&base, &encoded),
                warnings: encoded
                    .warnings
                    .iter()
                    .filter(|warning| !base.warnings.contains(warning))
                    .map(|warning| warning.message.clone())
                    .collect(),
            },
        }
    }

    /// The turn this provider's own answer with reasoning makes in a history.
    pub(crate) fn own_turn(&self) -> Message {
        let headers = HeaderMap::new();
        let head = Head::new(200, &headers, SystemTime::UNIX_EPOCH);
        let body = (self.own)().to_string();
        let decoded = self.dialect.decode(&head, body.as_bytes());
        let decoded = decoded.unwrap_or_else(|fault| panic!("{}: {fault:?}", self.title));
        Message::new(Role::Assistant, decoded.parts)
    }

    fn encode(&self, request: &Request, mode: Mode) -> Result<Encoded, Fault> {
        self.dialect.encode(request, mode)
    }
}

/// Where in a request something new stands.
fn wire(base: &Encoded, encoded: &Encoded) -> Vec<String> {
    let body = |encoded: &Encoded| serde_json::from_slice::<Value>(&encoded.body).unwrap();
    let mut wire = added(&body(base), &body(encoded));
    if base.path != encoded.path {
        let action = encoded.path.rsplit(['/', ':']).next().unwrap_or_default();
        wire.insert(0, format!("`…{}`", short(action)));
    }
    for name in encoded.headers.keys() {
        if !base.headers.contains_key(name) {
            wire.push(format!("header `{name}`"));
        }
    }
    wire
}

pub(crate) fn columns() -> Vec<Column> {
    vec![
        Column {
            anchor: "openai",
            title: "OpenAI Chat Completions",
            model: "gpt-5.6",
            dialect: Arc::new(OpenAi::new(KEY)),
            like: None,
            own: chat,
        },
        Column {
            anchor: "responses",
            title: "OpenAI Responses",
            model: "gpt-5.6",
            dialect: Arc::new(Responses::new(KEY)),
            like: None,
            own: || {
                json!({"id": "resp_1", "object": "response", "status": "completed", "output": [
                    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"},
                    {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
                     "content": [{"type": "output_text", "text": "Brest."}]},
                ]})
            },
        },
        compat(),
        Column {
            anchor: "anthropic",
            title: "Anthropic Messages",
            model: "claude-opus-5",
            dialect: Arc::new(Anthropic::new(KEY)),
            like: None,
            own: anthropic,
        },
        Column {
            anchor: "anthropic-2026-10-21",
            title: "Anthropic Messages, version 2026-10-21",
            model: "claude-opus-5",
            dialect: Arc::new(Anthropic::new(KEY).version("2026-10-21")),
            like: Some("anthropic"),
            own: anthropic,
        },
        Column {
            anchor: "gemini",
            title: "Gemini generateContent",
            model: "gemini-3.6-flash",
            dialect: Arc::new(Gemini::new(KEY)),
            like: None,
            own: gemini,
        },
        Column {
            anchor: "gemini-2",
            title: "Gemini generateContent, models that know budgets alone",
            model: "gemini-2.5-flash",
            dialect: Arc::new(Gemini::new(KEY)),
            like: Some("gemini"),
            own: gemini,
        },
    ]
}

/// A compatible server of which nothing is known.
pub(crate) fn compat() -> Column {
    Column {
        anchor: "compat",
        title: "OpenAI-compatible servers",
        model: "m",
        dialect: Arc::new(OpenAiCompatible::new("http://localhost:8000/v1").key(KEY)),
        like: None,
        own: chat,
    }
}

/// The known servers.
pub(crate) fn servers() -> Vec<Column> {
    let servers = presets().iter().map(|preset| Column {
        anchor: preset.name(),
        title: preset.name(),
        model: "m",
        dialect: Arc::new(preset.dialect().key(KEY)),
        like: Some("compat"),
        own: || {
            let mut answer = chat();
            let detail =
                json!({"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "index": 0});
            answer["choices"][0]["message"]["reasoning_details"] = json!([detail]);
            answer
        },
    });
    servers.collect()
}

fn chat() -> Value {
    let message = json!({"role": "assistant", "content": "Brest.", "reasoning_content": "Hm."});
    json!({"id": "a", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})
}

fn anthropic() -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Brest."},
    ]})
}

fn gemini() -> Value {
    json!({"responseId": "r", "candidates": [{"finishReason": "STOP", "content": {"parts": [
        {"text": "Hm.", "thought": true, "thoughtSignature": "c2ln"},
        {"text": "Brest."},
    ]}}]})
}

/// Stands in no request body, so it never shows.
const KEY: &str = "key-of-nobody";
