//! What the two dialects share: where a server is, how it is addressed, and the codec behind it.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::dialect::{
    Decoded, Encoded, Fault, Head, Mode, ModelsPage, StreamDecoder, bearer, secret_header,
};
use crate::key::ApiKey;
use crate::kind::ErrorKind;
use crate::openai::quirks::{Quirks, Replay};
use crate::openai::stream::ChatStream;
use crate::openai::{classify, decode, encode};
use crate::request::Request;

/// A server that speaks Chat Completions.
#[derive(Clone)]
pub(super) struct Chat {
    pub(super) name: String,
    base_url: String,
    /// The query of the base URL, with its question mark; Azure's `?api-version=…`.
    query: String,
    pub(super) key: Option<ApiKey>,
    /// The header the key goes in; `None` for `Authorization: Bearer`.
    pub(super) key_header: Option<String>,
    /// Further headers of every request, not checked yet.
    pub(super) headers: Vec<(String, String)>,
    pub(super) quirks: Quirks,
    /// Whether there is a list of models at this address.
    pub(super) lists_models: bool,
}

impl Chat {
    pub(super) fn new(name: &str, base_url: &str, quirks: Quirks) -> Self {
        let mut chat = Self {
            name: name.to_owned(),
            base_url: String::new(),
            query: String::new(),
            key: None,
            key_header: None,
            headers: Vec::new(),
            quirks,
            lists_models: true,
        };
        chat.set_base_url(base_url);
        chat
    }

    pub(super) fn set_base_url(&mut self, url: &str) {
        let (path, query) = url.trim().split_once('?').unwrap_or((url.trim(), ""));
        path.trim_end_matches('/').clone_into(&mut self.base_url);
        self.query = if query.is_empty() {
            String::new()
        } else {
            format!("?{query}")
        };
    }

    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(super) fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Fault> {
        let Some(key) = &self.key else { return Ok(()) };
        match &self.key_header {
            None => {
                headers.insert(http::header::AUTHORIZATION, bearer(key)?);
            }
            Some(name) => {
                headers.insert(header_name(name)?, secret_header(key.expose())?);
            }
        }
        Ok(())
    }

    pub(super) fn encode(&self, request: &Request, mode: Mode) -> Result<Encoded, Fault> {
        self.address(encode::request(request, mode, &self.quirks, &self.name)?)
    }

    pub(super) fn encode_models(&self) -> Result<Encoded, Fault> {
        if !self.lists_models {
            return Err(Fault::unsupported(
                "models cannot be listed at the address of a deployment",
            ));
        }
        self.address(Encoded::get("/models"))
    }

    pub(super) fn decode(&self, head: &Head<'_>, body: &[u8]) -> Result<Decoded, Fault> {
        decode::answer(head, body, self.keeps_details())
    }

    pub(super) fn decode_models(head: &Head<'_>, body: &[u8]) -> Result<ModelsPage, Fault> {
        decode::models(head, body)
    }

    pub(super) fn stream_decoder(&self, head: &Head<'_>) -> Box<dyn StreamDecoder> {
        Box::new(ChatStream::new(head, self.keeps_details()))
    }

    pub(super) fn classify(head: &Head<'_>, body: &[u8]) -> Fault {
        classify::reply(head, body)
    }

    /// The name under which `reasoning_details` are kept; `None` where nobody wants them back.
    fn keeps_details(&self) -> Option<&str> {
        (self.quirks.replay == Replay::Details).then_some(&*self.name)
    }

    /// Adds what the server's address and account ask of every request.
    pub(super) fn address(&self, mut encoded: Encoded) -> Result<Encoded, Fault> {
        encoded.path.push_str(&self.query);
        for (name, value) in &self.headers {
            let text = HeaderValue::from_str(value)
                .map_err(|_| refused(format!("the value of header `{name}` cannot be sent")))?;
            encoded.headers.insert(header_name(name)?, text);
        }
        Ok(encoded)
    }
}

// By hand: header values may be credentials of a proxy.
impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("name", &self.name)
            .field("base_url", &self.base_url)
            .field("key", &self.key)
            .field(
                "headers",
                &self
                    .headers
                    .iter()
                    .map(|(name, _)| name)
                    .collect::<Vec<_>>(),
            )
            .field("quirks", &self.quirks)
            .finish_non_exhaustive()
    }
}

fn header_name(name: &str) -> Result<HeaderName, Fault> {
    name.parse()
        .map_err(|_| refused(format!("`{}` is no header name", name.escape_debug())))
}

fn refused(why: String) -> Fault {
    Fault::new(ErrorKind::BadRequest).with_message(why)
}
