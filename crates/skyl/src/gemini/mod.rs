//! Google's Gemini API, by `generateContent`.
//!
//! A pure codec for `POST …/models/{model}:generateContent`, `:streamGenerateContent?alt=sse` and
//! `GET …/models`. It does no I/O; give it to a client. The Interactions API is not spoken.
//!
//! | request | on the wire | refused (R) or warned about (W) |
//! |---|---|---|
//! | model | in the path, escaped; `models/…` and `tunedModels/…` are accepted | |
//! | system | `systemInstruction` | |
//! | user, tool turns | one `user` turn, results in front | |
//! | assistant turns | one `model` turn | W: a turn with nothing left to send |
//! | text | `text`, with the signature it came with | |
//! | image | `inlineData`, or `fileData` for an address; a `data:` address is data | R: a `data:` address that is not base64 |
//! | tool call | `functionCall` with the signature and the id it came with | |
//! | tool result | `functionResponse` under the name of its call; an object as it is, anything else as `output`; a failure as `error` | R: a result without an earlier call |
//! | reasoning | thought parts with their signature, and parts skyl has no part for, untouched | W: reasoning of other providers, or without a signature |
//! | max tokens, temperature, top-p | `generationConfig` | |
//! | stop | `stopSequences` | R: more than five |
//! | tools | `parametersJsonSchema` as given | W: `strict` |
//! | tool choice | `AUTO`, `ANY`, `NONE`; one tool as `ANY` with `allowedFunctionNames` | W: one call at a time |
//! | effort | `thinkingConfig`, see below | W: `xhigh` and `max` as the most there is; R: words unknown to models with budgets |
//! | JSON | `responseMimeType`; a schema as `responseJsonSchema` | W: `strict: false` |
//! | provider options | merged last | |
//!
//! **Effort.** `none` is a `thinkingBudget` of 0 on every model; a model that cannot stop thinking
//! refuses it itself. Models with `gemini-1` or `gemini-2` in their name know budgets alone:
//! `minimal` 512, `low` 1,024, `medium` 8,192, `high` 16,384, more 24,576, the most that every such
//! model takes (vendor's thinking page). All others get `thinkingLevel`. Thoughts are asked for.
//!
//! **Signatures.** Thinking models sign parts of an answer and refuse a tool call of theirs that
//! comes back without. They are kept with the very part and go back with it. A turn of calls that
//! carries none, such as one another provider made, gets the value the API accepts in their place,
//! `skip_thought_signature_validator`.
//!
//! **Calls.** Most have no id. One is made from the answer's id; it ties results to calls and never
//! goes back to the API. Results go back in the order of the calls, under the call's name.
//!
//! **Ends.** A stream may finish in the middle and go on, so it is read to its end. Reasons of the
//! filters are a refusal. An answer without any content is one only if the model says that it
//! stopped or met its limit; every other reason (`MALFORMED_FUNCTION_CALL`, `OTHER`) without
//! content is a failure of the provider, which is worth another attempt.
//!
//! ```
//! use skyl::gemini::Gemini;
//!
//! let dialect = Gemini::new("AIza…").base_url("https://generativelanguage.googleapis.com");
//! # let _ = dialect;
//! ```

mod classify;
mod decode;
mod encode;
mod stream;
mod wire;

use std::fmt;

use http::{HeaderMap, HeaderName, header};

use crate::dialect::{
    Decoded, Dialect, Encoded, Fault, Head, Mode, ModelsPage, StreamDecoder, bearer, secret_header,
};
use crate::key::ApiKey;
use crate::request::Request;

/// The Gemini API as a [`Dialect`].
#[derive(Clone)]
pub struct Gemini {
    key: ApiKey,
    base_url: String,
    /// What stands between the base URL and `/models`: a version, unless the URL has one.
    prefix: String,
    bearer: bool,
}

impl Gemini {
    /// Speaks to Google's own API with this key.
    #[must_use]
    pub fn new(key: impl Into<ApiKey>) -> Self {
        Self {
            key: key.into(),
            base_url: BASE_URL.to_owned(),
            prefix: VERSION.to_owned(),
            bearer: false,
        }
    }

    /// Sets the root before `/v1beta`. Default: `https://generativelanguage.googleapis.com`.
    ///
    /// A version segment in the URL is kept and none is added: `https://x.test/v1`, or
    /// `https://…-aiplatform.googleapis.com/v1/projects/…/publishers/google`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        url.into()
            .trim()
            .trim_end_matches('/')
            .clone_into(&mut self.base_url);
        let path = self
            .base_url
            .split_once("://")
            .map_or(self.base_url.as_str(), |(_, rest)| rest);
        let versioned = path.split('/').skip(1).any(is_version);
        self.prefix = if versioned {
            String::new()
        } else {
            VERSION.to_owned()
        };
        self
    }

    /// Sends the key as `Authorization: Bearer` instead of `x-goog-api-key`.
    ///
    /// Default: `x-goog-api-key`. Access tokens of Google Cloud want this.
    #[must_use]
    pub fn bearer(mut self) -> Self {
        self.bearer = true;
        self
    }
}

impl Dialect for Gemini {
    fn name(&self) -> &str {
        NAME
    }

    fn base_url(&self) -> &str {
        &self.base_url
    }

    fn key(&self) -> Option<&ApiKey> {
        Some(&self.key)
    }

    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Fault> {
        if self.bearer {
            headers.insert(header::AUTHORIZATION, bearer(&self.key)?);
        } else {
            headers.insert(X_GOOG_API_KEY, secret_header(self.key.expose())?);
        }
        Ok(())
    }

    fn encode(&self, request: &Request, mode: Mode) -> Result<Encoded, Fault> {
        encode::request(request, mode, &self.prefix)
    }

    fn decode(&self, _head: &Head<'_>, body: &[u8]) -> Result<Decoded, Fault> {
        decode::answer(body)
    }

    fn stream_decoder(&self, _head: &Head<'_>) -> Box<dyn StreamDecoder> {
        Box::new(stream::Decoder::default())
    }

    fn classify(&self, head: &Head<'_>, body: &[u8]) -> Fault {
        classify::reply(head.status, body)
    }

    fn encode_models(&self, cursor: Option<&str>) -> Result<Encoded, Fault> {
        Ok(encode::models(cursor, &self.prefix))
    }

    fn decode_models(&self, _head: &Head<'_>, body: &[u8]) -> Result<ModelsPage, Fault> {
        decode::models(body)
    }
}

impl fmt::Debug for Gemini {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gemini")
            .field("base_url", &self.base_url)
            .field("prefix", &self.prefix)
            .field("bearer", &self.bearer)
            .finish_non_exhaustive()
    }
}

/// Whether a path segment is a version: `v1`, `v1beta`, `v1alpha2`.
fn is_version(segment: &str) -> bool {
    let Some(rest) = segment.strip_prefix('v') else {
        return false;
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let stage = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    rest.len() + 1 < segment.len() && matches!(stage, "" | "alpha" | "beta")
}

/// The provider's name, and the family its opaque state is kept under.
const NAME: &str = "gemini";
const BASE_URL: &str = "https://generativelanguage.googleapis.com";
const VERSION: &str = "/v1beta";
const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

#[cfg(test)]
mod tests;
