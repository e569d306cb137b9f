//! The request as it goes over the wire: put together once, sent unchanged by every attempt.

use std::sync::PoisonError;

use http::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST,
    PROXY_AUTHORIZATION, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::client::Core;
use crate::client::plan::Plan;
use crate::dialect::{Dialect, Encoded, Framing};
use crate::error::Error;
use crate::http::Wire;

/// Puts address, headers, credential and bytes together.
pub(crate) fn wire(
    core: &Core,
    plan: &Plan<'_>,
    encoded: Encoded,
    accept: &'static str,
) -> Result<Wire, Error> {
    let provider = &core.provider;
    let url = address(core, &encoded.path)
        .ok_or_else(|| Error::refused(provider, "the request's address is none"))?;

    let mut headers = encoded.headers;
    if !encoded.body.is_empty() {
        headers
            .entry(CONTENT_TYPE)
            .or_insert(HeaderValue::from_static("application/json"));
    }
    headers
        .entry(ACCEPT)
        .or_insert(HeaderValue::from_static(accept));
    if let Some(name) = &core.idempotency_header {
        headers.insert(name.clone(), idempotency_key(core, plan)?);
    }

    if plan.headers.is_empty() {
        authorize(core, &mut headers)?;
    } else {
        own_headers(core, plan, &mut headers)?;
    }
    Ok(Wire {
        method: encoded.method,
        url,
        headers,
        body: encoded.body,
    })
}

fn authorize(core: &Core, headers: &mut HeaderMap) -> Result<(), Error> {
    core.service
        .authorize(headers)
        .map_err(|fault| core.refuse(&fault))
}

/// Adds the caller's headers and the credential, which is none of them.
fn own_headers(core: &Core, plan: &Plan<'_>, headers: &mut HeaderMap) -> Result<(), Error> {
    let mut credential = HeaderMap::new();
    authorize(core, &mut credential)?;
    for own in plan.headers {
        let (name, value) = checked(core, &credential, own)?;
        // The number of the retry is the client's own word.
        if core.attempt_header.as_ref() != Some(&name) {
            headers.insert(name, value);
        }
    }
    headers.extend(credential);
    Ok(())
}

/// Refuses headers that cannot be sent, or are not the caller's to set.
pub(crate) fn check_headers(core: &Core, headers: &[(String, String)]) -> Result<(), Error> {
    let mut credential = HeaderMap::new();
    authorize(core, &mut credential)?;
    headers
        .iter()
        .try_for_each(|own| checked(core, &credential, own).map(drop))
}

fn checked(
    core: &Core,
    credential: &HeaderMap,
    (name, value): &(String, String),
) -> Result<(HeaderName, HeaderValue), Error> {
    let refuse = |why| Error::refused(&core.provider, format!("header `{name}`: {why}"));
    let (name, value) = own_header(name, value).map_err(refuse)?;
    if credential.contains_key(&name) {
        return Err(refuse("it carries the credential and cannot be replaced"));
    }
    Ok((name, value))
}

/// What is asked for in answer to a request for a stream.
pub(super) fn accepted(dialect: &dyn Dialect) -> &'static str {
    match dialect.framing() {
        Framing::Sse => "text/event-stream, application/json",
        // The name that most servers of JSON lines use; nobody has registered one.
        Framing::Lines => "application/x-ndjson, application/json",
        Framing::JsonArray => JSON,
    }
}

/// Reads the address, unless it is that of the call before.
fn address(core: &Core, path: &str) -> Option<reqwest::Url> {
    let base = core.service.base_url();
    let mut last = core.address.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((text, url)) = &*last
        && text.strip_prefix(base) == Some(path)
    {
        return Some(url.clone());
    }
    let address = [base, path].concat();
    let url = reqwest::Url::parse(&address).ok()?;
    *last = Some((address, url.clone()));
    Some(url)
}

/// A caller's header, checked. Its value is never quoted: it may be a secret.
fn own_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), &'static str> {
    let name = HeaderName::try_from(name).map_err(|_| "is not a header name")?;
    if [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, UPGRADE, HOST].contains(&name) {
        return Err("it frames the message and is not the caller's to set");
    }
    let mut value =
        HeaderValue::try_from(value).map_err(|_| "holds a character no header can carry")?;
    value.set_sensitive(is_secret(&name));
    Ok((name, value))
}

/// Whether a header of this name usually holds a secret.
fn is_secret(name: &HeaderName) -> bool {
    [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE].contains(name)
        || name.as_str().ends_with("api-key")
}

fn idempotency_key(core: &Core, plan: &Plan<'_>) -> Result<HeaderValue, Error> {
    let value = match plan.idempotency_key {
        Some(key) => HeaderValue::try_from(key),
        None => HeaderValue::try_from(random_key(core)),
    };
    value.map_err(|_| {
        Error::refused(
            &core.provider,
            "idempotency_key: holds a character no header can carry",
        )
    })
}

/// A random UUID (version 4): half of it the client's own bits, half drawn for the call.
fn random_key(core: &Core) -> String {
    let high = core.id;
    let low = core.seeds.next_rng().next_u64();
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        0x8000 | (low >> 50),
        low & 0xffff_ffff_ffff,
    )
}

/// What is asked for everywhere else.
pub(crate) const JSON: &str = "application/json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_frame_the_message_are_not_the_callers() {
        for name in [
            "Content-Length",
            "transfer-encoding",
            "HOST",
            "connection",
            "Upgrade",
        ] {
            assert!(own_header(name, "1").is_err(), "{name}");
        }
        assert!(own_header("x-team", "search").is_ok());
        assert!(own_header("User-Agent", "mine/1").is_ok());
    }

    #[test]
    fn broken_headers_are_refused_without_quoting_the_value() {
        assert!(own_header("x y", "1").is_err());
        assert!(
            !own_header("x-key", "sk-se\ncret")
                .unwrap_err()
                .contains("cret")
        );
    }

    #[test]
    fn headers_that_hold_secrets_are_marked() {
        for (name, secret) in [
            ("authorization", true),
            ("X-Api-Key", true),
            ("api-key", true),
            ("x-team", false),
        ] {
            assert_eq!(
                own_header(name, "v").unwrap().1.is_sensitive(),
                secret,
                "{name}"
            );
        }
    }
}
