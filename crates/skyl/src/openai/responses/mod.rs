//! OpenAI's Responses API: items in, items out.
//!
//! What is the same as in Chat Completions (addresses, errors, lists of models) is that module's;
//! here stands what differs. The one thing that needs thought is [`items`]: an answer is a list of
//! items, told by place and id, and a stream brings them in pieces and once more as a whole.

mod decode;
mod encode;
mod items;
mod lanes;
mod stream;
mod wire;

use http::HeaderMap;

use crate::dialect::{Decoded, Dialect, Encoded, Fault, Head, Mode, ModelsPage, StreamDecoder};
use crate::key::ApiKey;
use crate::openai::chat::Chat;
use crate::openai::{BASE_URL, quirks};
use crate::request::Request;

/// OpenAI's Responses API, and every server that speaks it.
///
/// | of the request | on the wire | refused (R) or warned about (W) |
/// |---|---|---|
/// | `system` | `instructions` | |
/// | text, images | messages of `input_text`, `input_image`; the model's own words as `output_text`, with the phase they came in | |
/// | tool calls, results | `function_call`, `function_call_output`, tied by `call_id`; ids are made short and unique | R: a result without an earlier call, unless `previous_response_id` or `conversation` is set |
/// | a failed tool | the result's text behind `error: `, since there is no field for it | |
/// | reasoning | the item as it came, with its encrypted content | W: reasoning of other providers, without such content, or with no answer behind it |
/// | items without a part of their own | as they came | |
/// | `max_tokens` | `max_output_tokens` | R: below 16, which the API refuses |
/// | temperature, top-p | the same | |
/// | `stop` | | R: the API has no stop texts |
/// | tools | flat; `strict` is false where the tool leaves it open, since the API's own default refuses most schemas | |
/// | tool choice, parallel calls | `tool_choice`, `parallel_tool_calls` | |
/// | effort | `reasoning.effort`, with `include: ["reasoning.encrypted_content"]` | |
/// | `response_format` | `text.format`; the schema's name is `response` where it has none | |
/// | provider options | merged last | R: `background`, and a contrary `stream` |
///
/// Every request says `store: false`: the conversation is in the messages, and nothing of it is
/// left with the provider. A provider option `store` says otherwise; reasoning then goes back even
/// without encrypted content, by its id.
///
/// Items that have no part of their own (web searches, code, and whatever the API adds next) are
/// kept as reasoning without text, so that they go back untouched, and a warning names them.
/// Summaries of reasoning come as reasoning; ask for them with the provider option
/// `reasoning: {"summary": "auto"}`.
///
/// The stop reason is told from the status and the items, since the API has no word for it. An
/// answer that failed, was cancelled, or is not finished is an error, whatever its HTTP status. A
/// stream ends with `response.completed`, `response.incomplete` or `response.failed`, and without
/// one of them it is cut.
///
/// ```
/// use skyl::openai::Responses;
///
/// let dialect = Responses::new("sk-…").project("proj-…");
/// ```
#[derive(Clone, Debug)]
pub struct Responses(Chat);

impl Responses {
    /// The API at `https://api.openai.com/v1`, with a key.
    #[must_use]
    pub fn new(key: impl Into<ApiKey>) -> Self {
        let mut chat = Chat::new("responses", BASE_URL, quirks::OPENAI);
        chat.key = Some(key.into());
        Self(chat)
    }

    /// Sets another base URL, up to and including `/v1`, as OpenAI's own SDKs take it.
    ///
    /// A query in the URL goes with every request.
    #[must_use]
    pub fn base_url(mut self, url: impl AsRef<str>) -> Self {
        self.0.set_base_url(url.as_ref());
        self
    }

    /// Names the server, for errors and hooks. Default: `responses`.
    ///
    /// Encrypted reasoning goes back to the name it came from and to no other, so two servers that
    /// cannot read each other's need two names.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.name = name.into();
        self
    }

    /// Bills an organization, by `OpenAI-Organization`. Default: the key's own.
    #[must_use]
    pub fn organization(mut self, id: impl Into<String>) -> Self {
        let header = ("openai-organization".to_owned(), id.into());
        self.0.headers.push(header);
        self
    }

    /// Bills a project, by `OpenAI-Project`. Default: the key's own.
    #[must_use]
    pub fn project(mut self, id: impl Into<String>) -> Self {
        let header = ("openai-project".to_owned(), id.into());
        self.0.headers.push(header);
        self
    }
}

impl Dialect for Responses {
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
        self.0
            .address(encode::request(request, mode, &self.0.name)?)
    }

    fn decode(&self, head: &Head<'_>, body: &[u8]) -> Result<Decoded, Fault> {
        decode::answer(head, body, &self.0.name)
    }

    fn stream_decoder(&self, head: &Head<'_>) -> Box<dyn StreamDecoder> {
        Box::new(stream::Responses::new(head, &self.0.name))
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

#[cfg(test)]
mod tests;
