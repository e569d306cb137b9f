//! The HTTP client, held to what a retry engine needs.
//!
//! The library underneath is one decision of one file. It sends exactly what it is told, once:
//! redirects are not followed, its own retries are off, nothing is compressed, and it speaks
//! HTTP/1.1 alone, where an attempt that is cut takes its connection with it. So a timeout or a
//! reset is never followed by a retry on the same connection.
//!
//! One exception is left to it: a pooled connection that turns out to be closed before a byte was
//! written is replaced by a new one. Nothing was sent, so nothing is sent twice.

mod body;
mod failure;

use std::mem;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::scrub::BoxError;

pub(crate) use self::body::{Body, ReadFailure};
pub(crate) use self::failure::TransportFailure;

/// One pool of connections, with all settings applied.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    client: reqwest::Client,
}

/// The caller's changes to the HTTP library's builder.
pub(crate) type Adjust = Box<dyn FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder + Send>;

impl Http {
    /// Applies the caller's settings, then skyl's own.
    pub(crate) fn build(
        base_url: &str,
        connect_timeout: Duration,
        adjust: Option<Adjust>,
    ) -> Result<Self, BoxError> {
        let mut builder = reqwest::Client::builder().user_agent(USER_AGENT);
        match adjust {
            Some(adjust) => builder = adjust(builder),
            // Reading the system's certificates takes tens of milliseconds, and fails on machines
            // without any: no price to pay for a server on this machine.
            None if !needs_certificates(base_url) => {
                builder = builder.tls_certs_only(std::iter::empty());
            }
            None => {}
        }
        let client = builder
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .http1_only()
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .connect_timeout(connect_timeout)
            .build()?;
        Ok(Self { client })
    }

    /// Sends the request once and reads the head of the answer.
    ///
    /// # Cancel safety
    /// Dropping it closes the connection, if one was in use.
    pub(crate) fn send(
        &self,
        wire: &Wire,
        extra: Option<(HeaderName, HeaderValue)>,
    ) -> impl Future<Output = Result<Reply, TransportFailure>> + use<> {
        let mut request = reqwest::Request::new(wire.method.clone(), wire.url.clone());
        request.headers_mut().clone_from(&wire.headers);
        request.headers_mut().extend(extra);
        if !wire.body.is_empty() {
            // By reference count: every attempt sends the very same bytes.
            *request.body_mut() = Some(wire.body.clone().into());
        }
        // Made outside the block, so that the future returned is as small as the library's own.
        let response = self.client.execute(request);
        async move {
            let mut response = response.await.map_err(TransportFailure::new)?;
            Ok(Reply {
                head: ReplyHead {
                    status: response.status().as_u16(),
                    headers: mem::take(response.headers_mut()),
                },
                body: Body::new(response.into()),
            })
        }
    }
}

/// A request as it goes over the wire: encoded once, sent once per attempt.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    pub(crate) method: Method,
    pub(crate) url: reqwest::Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// An answer whose body is still to be read.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) head: ReplyHead,
    pub(crate) body: Body,
}

/// Status and headers of an answer.
#[derive(Debug)]
pub(crate) struct ReplyHead {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
}

impl ReplyHead {
    /// The id under which the provider knows the request.
    pub(crate) fn request_id(&self) -> Option<&str> {
        REQUEST_ID_HEADERS
            .iter()
            .filter_map(|name| self.headers.get(name)?.to_str().ok())
            .find(|id| !id.is_empty())
    }

    /// The headers as the hint parser wants them.
    pub(crate) fn pairs(&self) -> Vec<(&str, &[u8])> {
        self.headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect()
    }

    pub(crate) fn content_type(&self) -> Option<&str> {
        let value = self
            .headers
            .get(http::header::CONTENT_TYPE)?
            .to_str()
            .ok()?;
        Some(value.split(';').next().unwrap_or_default().trim())
    }
}

/// Whether a connection to this address can lead to TLS. Redirects are not followed, so a plain
/// address does so only through a proxy that is spoken to over TLS.
fn needs_certificates(base_url: &str) -> bool {
    let secure = |address: &str| {
        address
            .trim_start()
            .to_ascii_lowercase()
            .starts_with("https:")
    };
    let proxies = PROXY_VARIABLES.iter().filter_map(std::env::var_os);
    secure(base_url)
        || proxies
            .into_iter()
            .any(|proxy| secure(&proxy.to_string_lossy()))
}

const PROXY_VARIABLES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];

const USER_AGENT: &str = concat!("skyl/", env!("CARGO_PKG_VERSION"));

/// Where providers put the id, the most telling first: TypeSafe; OpenAI and most others; Anthropic;
/// OpenRouter; Mistral; Azure's gateway and its services; AWS; Cloudflare, which stands before many.
const REQUEST_ID_HEADERS: [HeaderName; 9] = [
    HeaderName::from_static("x-typesafe-request-id"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("request-id"),
    HeaderName::from_static("x-generation-id"),
    HeaderName::from_static("mistral-correlation-id"),
    HeaderName::from_static("apim-request-id"),
    HeaderName::from_static("x-ms-request-id"),
    HeaderName::from_static("x-amzn-requestid"),
    HeaderName::from_static("cf-ray"),
];
