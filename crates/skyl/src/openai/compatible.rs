//! The dialect of everybody who speaks as OpenAI does.

use http::HeaderMap;

use crate::dialect::{Decoded, Dialect, Encoded, Fault, Head, Mode, ModelsPage, StreamDecoder};
use crate::key::ApiKey;
use crate::openai::chat::Chat;
use crate::openai::presets::Preset;
use crate::openai::quirks::{self, Replay, TokenLimit};
use crate::request::Request;

/// Any server that speaks Chat Completions: Groq, `DeepSeek`, vLLM, Ollama, a gateway.
///
/// Known servers have a constructor of their own, such as [`OpenAiCompatible::groq`], or go by name
/// with [`OpenAiCompatible::preset`]; everybody else goes by address.
///
/// Answers are read with doubt: ids may be numbers, lists may be null, tool calls may come without
/// index or id, usage may stand anywhere, errors may come with a 200. See the
/// [module](crate::openai) for what is taken from whom.
///
/// ```
/// use skyl::openai::OpenAiCompatible;
///
/// let groq = OpenAiCompatible::groq("gsk-…");
/// let gateway = OpenAiCompatible::new("https://llm.internal.test/v1").name("gateway");
/// ```
#[derive(Clone, Debug)]
pub struct OpenAiCompatible(Chat);

impl OpenAiCompatible {
    /// A server by its base URL: up to and including `/v1`, where it has that.
    ///
    /// A query in the URL goes with every request, as Azure's `?api-version=…` must. The server is
    /// called `openai-compatible` until [`OpenAiCompatible::name`] says better.
    #[must_use]
    pub fn new(base_url: impl AsRef<str>) -> Self {
        Self(Chat::new(
            "openai-compatible",
            base_url.as_ref(),
            quirks::COMPATIBLE,
        ))
    }

    /// A known server.
    pub(super) fn of(preset: &Preset) -> Self {
        let url = preset.base_url().unwrap_or_default();
        let mut chat = Chat::new(preset.name(), url, preset.quirks);
        chat.key_header = preset.key_header().map(str::to_owned);
        Self(chat)
    }

    /// Sets another base URL, as [`OpenAiCompatible::new`] takes it.
    #[must_use]
    pub fn base_url(mut self, url: impl AsRef<str>) -> Self {
        self.0.set_base_url(url.as_ref());
        self
    }

    /// Sets the key. Default: none, for servers that ask for none.
    #[must_use]
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.0.key = Some(key.into());
        self
    }

    /// Sends the key in a header of its own, such as Azure's `api-key`.
    ///
    /// Default: `Authorization: Bearer`. A text that is no header name makes calls fail locally.
    #[must_use]
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.0.key_header = Some(name.into());
        self
    }

    /// Names the server, for errors and hooks. Default: the preset's, or `openai-compatible`.
    ///
    /// State that has to go back to a server is kept under this name, too.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.name = name.into();
        self
    }

    /// Adds a header to every request, such as `HTTP-Referer` for OpenRouter.
    ///
    /// A later value of the same name replaces the earlier one. A name or value that cannot be a
    /// header makes calls fail locally.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.headers.push((name.into(), value.into()));
        self
    }

    /// Sends the token limit as `max_completion_tokens`.
    ///
    /// Default: the preset's name for it, or `max_tokens`, which every server but OpenAI's own newer
    /// models takes.
    #[must_use]
    pub fn max_completion_tokens(mut self) -> Self {
        self.0.quirks.token_limit = TokenLimit::MaxCompletionTokens;
        self
    }

    /// Does not ask streams for their usage, for servers that refuse `stream_options`.
    ///
    /// Default: usage is asked for, unless the preset knows better.
    #[must_use]
    pub fn without_stream_usage(mut self) -> Self {
        self.0.quirks.stream_usage = false;
        self
    }

    /// Sends the reasoning of earlier turns back, as `reasoning_content`.
    ///
    /// Default: the preset's rule, or it is left out with a warning, as most servers refuse or
    /// ignore it.
    #[must_use]
    pub fn replay_reasoning(mut self) -> Self {
        self.0.quirks.replay = Replay::Text;
        self
    }

    /// Refuses to list models, where the address has no such list.
    pub(super) fn without_models(mut self) -> Self {
        self.0.lists_models = false;
        self
    }
}

impl Dialect for OpenAiCompatible {
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
