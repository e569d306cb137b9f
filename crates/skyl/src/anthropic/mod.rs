//! Anthropic's Messages API.
//!
//! A pure codec for `POST /v1/messages` and `GET /v1/models`, of the API versions `2023-06-01`
//! (default) and `2026-10-21`. It does no I/O; give it to a client.
//!
//! | request | on the wire | refused (R) or warned about (W) |
//! |---|---|---|
//! | system | `system` | |
//! | user, tool turns | one `user` turn, results in front | R: a first turn that is not the user's, a turn of empty text |
//! | assistant turns | one `assistant` turn | W: a turn with nothing left to send |
//! | text | `text`; empty text is left out | |
//! | image | `image`, `base64` or `url`; a `data:` address is data | R: a `data:` address that is not base64 |
//! | tool call | `tool_use`; ids that the API would refuse are replaced, in calls and results alike | |
//! | tool result | `tool_result`, `is_error` | R: a result without an earlier call |
//! | reasoning | `thinking` with its signature, `redacted_thinking`, and blocks skyl has no part for, untouched | W: reasoning of other providers, or without a signature |
//! | max tokens | `max_tokens`; by model where unset, see below | |
//! | temperature, top-p | the same | R: on version `2026-10-21`; a temperature above 1 |
//! | stop | `stop_sequences` | |
//! | tools | `input_schema` as given, with `type: object` where it is missing; `strict` | |
//! | tool choice | `auto`, `any`, `tool`, `none`; parallel calls as `disable_parallel_tool_use` | |
//! | effort | `output_config.effort` with adaptive thinking; `none` disables thinking | W: `minimal` is sent as `low`; thinking is left out where the tool choice forces a call |
//! | JSON schema | `output_config.format` | W: `strict: false`; R: JSON without a schema |
//! | provider options | merged last | |
//!
//! **Default of `max_tokens`**, which the API requires: 4,096 for the first Claude 3 models and for
//! names that are not Claude's, 8,192 for Claude 3.5, and 21,333 for every other `claude-…` name:
//! what ten minutes hold at the vendor's figure of 128,000 tokens an hour, the most its own SDKs
//! send without streaming. All of these are within what the models accept (vendor's model pages).
//!
//! Text blocks next to each other are read as one part. Server tools and citations have no part of
//! their own: such blocks are kept as reasoning without text, so that they go back untouched, and
//! a warning names them.
//!
//! ```
//! use skyl::anthropic::Anthropic;
//!
//! let dialect = Anthropic::new("sk-ant-…").beta("files-api-2025-04-14");
//! # let _ = dialect;
//! ```

mod blocks;
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

/// The Messages API as a [`Dialect`].
#[derive(Clone)]
pub struct Anthropic {
    key: ApiKey,
    base_url: String,
    version: String,
    betas: Vec<String>,
    bearer: bool,
}

impl Anthropic {
    /// Speaks to Anthropic's own API with this key.
    #[must_use]
    pub fn new(key: impl Into<ApiKey>) -> Self {
        Self {
            key: key.into(),
            base_url: BASE_URL.to_owned(),
            version: VERSION.to_owned(),
            betas: Vec::new(),
            bearer: false,
        }
    }

    /// Sets the root before `/v1`; one that ends in `/v1` is accepted too.
    ///
    /// Default: `https://api.anthropic.com`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        let url = url.into();
        let root = url.trim().trim_end_matches('/');
        let root = root.strip_suffix("/v1").unwrap_or(root);
        root.trim_end_matches('/').clone_into(&mut self.base_url);
        self
    }

    /// Sets `anthropic-version`. Default: `2023-06-01`.
    ///
    /// The default is the version that takes every request skyl can express. `2026-10-21` refuses
    /// `temperature` and `top_p`; a request with one is then refused locally as `Unsupported`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Adds a name to `anthropic-beta`. Default: none, and no header.
    #[must_use]
    pub fn beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
        self
    }

    /// Sends the key as `Authorization: Bearer` instead of `x-api-key`.
    ///
    /// Default: `x-api-key`, which the API prefers where it finds both.
    #[must_use]
    pub fn bearer(mut self) -> Self {
        self.bearer = true;
        self
    }
}

impl Dialect for Anthropic {
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
            headers.insert(X_API_KEY, secret_header(self.key.expose())?);
        }
        Ok(())
    }

    fn encode(&self, request: &Request, mode: Mode) -> Result<Encoded, Fault> {
        let mut encoded = encode::request(request, mode, self.refuses_sampling())?;
        encode::headers(&mut encoded.headers, &self.version, &self.betas)?;
        Ok(encoded)
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
        let mut encoded = encode::models(cursor);
        encode::headers(&mut encoded.headers, &self.version, &self.betas)?;
        Ok(encoded)
    }

    fn decode_models(&self, _head: &Head<'_>, body: &[u8]) -> Result<ModelsPage, Fault> {
        decode::models(body)
    }
}

impl Anthropic {
    /// Whether this version of the API answers sampling fields with a 400.
    fn refuses_sampling(&self) -> bool {
        // Versions are dates, so later ones compare greater; a later one is taken to refuse too.
        self.version.as_str() >= NO_SAMPLING
    }
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Anthropic")
            .field("base_url", &self.base_url)
            .field("version", &self.version)
            .field("betas", &self.betas)
            .field("bearer", &self.bearer)
            .finish_non_exhaustive()
    }
}

/// The provider's name, and the family its opaque state is kept under.
const NAME: &str = "anthropic";
const BASE_URL: &str = "https://api.anthropic.com";
const VERSION: &str = "2023-06-01";
/// The first version without `temperature`, `top_p` and `top_k`.
const NO_SAMPLING: &str = "2026-10-21";
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

#[cfg(test)]
mod tests;
