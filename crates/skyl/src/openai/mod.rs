//! OpenAI's Chat Completions, and every server that speaks it.
//!
//! [`OpenAi`] is OpenAI itself; [`OpenAiCompatible`] is everybody else: Groq, OpenRouter, Mistral,
//! vLLM, Ollama and so on. Both are one codec with a few settings apart, because a server that
//! resembles OpenAI today differs from it tomorrow, and OpenAI's own answers come through proxies
//! that bend them. So what is *sent* follows the reference to the letter, and what comes *back* is
//! read with doubt. [`Responses`] is OpenAI's other API, a dialect of its own that shares addresses,
//! errors and lists of models with these two.
//!
//! # What is sent
//!
//! | of the request | on the wire |
//! |---|---|
//! | `system` | a leading message of role `system`, which all models and servers take |
//! | text, images | a string, or parts; image bytes as a `data:` URL |
//! | tool calls, results | `tool_calls` and one `tool` message per result |
//! | a failed tool | the result's text behind `error: `, since there is no field for it |
//! | reasoning | left out with a warning, or as the server's preset wants it back |
//! | `max_tokens` | `max_completion_tokens` for OpenAI, `max_tokens` for most others |
//! | `stop` | at most 4 for OpenAI, else `Unsupported`; unknown limits are the server's to tell |
//! | `response_format` | `response_format`; the schema's name is `response` where it has none |
//! | provider options | merged last; `n` above 1 and a contrary `stream` are refused |
//!
//! What known servers want differently stands in the table of [`OpenAiCompatible::preset`].
//!
//! # What is taken
//!
//! Missing, null and empty fields; ids as numbers; content as a list, with thinking in it;
//! arguments as an object; tool calls with all indexes zero, without index, without id, with an id
//! repeated; usage in any chunk, in `x_groq`, in the choice; reasoning as `reasoning` or
//! `reasoning_content`; errors with a 200, in a chunk, in a line without `data:`, flat, as a string,
//! encoded twice. A chunk that is not one JSON value is an error of kind `Decode`, never a gap.
//!
//! A prompt that a filter refused (`content_filter`, `content_policy_violation`) is an error of kind
//! `Refusal`, like an answer of which the filter left nothing.
//!
//! What this codec refuses to do: read more than one choice, guess at an answer that was cut, or
//! call half a tool call whole.
//!
//! ```
//! use skyl::openai::{OpenAi, OpenAiCompatible};
//!
//! let openai = OpenAi::new("sk-…").organization("org-…");
//! let groq = OpenAiCompatible::groq("gsk-…");
//! let local = OpenAiCompatible::ollama();
//! ```

mod calls;
mod chat;
mod classify;
mod compatible;
mod date;
mod decode;
mod details;
mod encode;
mod ids;
mod presets;
mod quirks;
mod responses;
mod stop;
mod stream;
mod wire;

use http::HeaderMap;

use crate::dialect::{Decoded, Dialect, Encoded, Fault, Head, Mode, ModelsPage, StreamDecoder};
use crate::key::ApiKey;
use crate::openai::chat::Chat;
use crate::request::Request;

pub use crate::openai::compatible::OpenAiCompatible;
pub use crate::openai::presets::{Preset, presets};
pub use crate::openai::responses::Responses;

/// OpenAI's Chat Completions API.
///
/// ```
/// use skyl::openai::OpenAi;
///
/// let dialect = OpenAi::new("sk-…").project("proj-…");
/// ```
#[derive(Clone, Debug)]
pub struct OpenAi(Chat);

impl OpenAi {
    /// The API at `https://api.openai.com/v1`, with a key.
    #[must_use]
    pub fn new(key: impl Into<ApiKey>) -> Self {
        let mut chat = Chat::new("openai", BASE_URL, quirks::OPENAI);
        chat.key = Some(key.into());
        Self(chat)
    }

    /// Sets another base URL, up to and including `/v1`, as OpenAI's own SDKs take it.
    #[must_use]
    pub fn base_url(mut self, url: impl AsRef<str>) -> Self {
        self.0.set_base_url(url.as_ref());
        self
    }

    /// Bills an organization, by `OpenAI-Organization`. Default: the key's own.
    #[must_use]
    pub fn organization(mut self, id: impl Into<String>) -> Self {
        self.0
            .headers
            .push(("openai-organization".to_owned(), id.into()));
        self
    }

    /// Bills a project, by `OpenAI-Project`. Default: the key's own.
    #[must_use]
    pub fn project(mut self, id: impl Into<String>) -> Self {
        self.0
            .headers
            .push(("openai-project".to_owned(), id.into()));
        self
    }
}

impl Dialect for OpenAi {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn base_url(&self) -> &str {
        self.0.base_url()
    }

    fn key(&self) -> Option<&ApiKey> {
        self.0.key.as_ref()
    }

    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Fault> {
        self.0.authorize(headers)
    }

    fn encode(&self, request: &Request, mode: Mode) -> Result<Encoded, Fault> {
        self.0.encode(request, mode)
    }

    fn decode(&self, head: &Head<'_>, body: &[u8]) -> Result<Decoded, Fault> {
        self.0.decode(head, body)
    }

    fn stream_decoder(&self, head: &Head<'_>) -> Box<dyn StreamDecoder> {
        self.0.stream_decoder(head)
    }

    fn classify(&self, head: &Head<'_>, body: &[u8]) -> Fault {
        Chat::classify(head, body)
    }

    fn encode_models(&self, _: Option<&str>) -> Result<Encoded, Fault> {
        self.0.encode_models()
    }

    fn decode_models(&self, head: &Head<'_>, body: &[u8]) -> Result<ModelsPage, Fault> {
        Chat::decode_models(head, body)
    }
}

const BASE_URL: &str = "https://api.openai.com/v1";

#[cfg(test)]
mod tests;
