//! From the bytes of a request to its JSON: content codings, and forms with images beside it.

use std::io::Read;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http::{HeaderMap, header};
use ruzstd::decoding::StreamingDecoder;
use serde_json::{Map, Value, json};

use super::{
    check,
    errors::{Issue, Refusal},
    multipart::{self, Part},
};
use crate::mounts::Request;

/// The JSON of a request, and the parts that came beside it.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) document: Map<String, Value>,
    /// Those of a form beside the `request` part.
    pub(super) parts: Vec<Part>,
}

impl Envelope {
    /// Undoes the content coding, then reads the JSON, from a form's `request` part if it is one.
    pub(super) fn open(request: &Request) -> Result<Self, Refusal> {
        let body = decoded(&request.headers, &request.body)?;
        let content_type = request.headers.get(header::CONTENT_TYPE);
        let content_type = content_type
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        // A JSON body needs no content type here: a fault by name needs nothing but the name.
        if !multipart::is_form(content_type) {
            return Ok(Self {
                document: document(&body)?,
                parts: Vec::new(),
            });
        }
        let mut parts = multipart::boundary(content_type)
            .and_then(|boundary| multipart::parts(&boundary, &body))
            .ok_or_else(|| Refusal::text("There was an error parsing the body"))?;
        let Some(at) = parts.iter().position(|part| part.name == "request") else {
            let loc = check::place(&["body", "request"]);
            let issue = Issue::new("missing", loc, "Field required", &Value::Null);
            return Err(Refusal::issues(vec![issue]));
        };
        let envelope = parts.remove(at);
        Ok(Self {
            document: document(&envelope.content)?,
            parts,
        })
    }

    pub(super) fn model(&self) -> Option<&str> {
        self.document.get("model").and_then(Value::as_str)
    }
}

fn document(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    if body.is_empty() {
        let loc = check::place(&["body"]);
        let issue = Issue::new("missing", loc, "Field required", &Value::Null);
        return Err(Refusal::issues(vec![issue]));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(document)) => Ok(document),
        Ok(other) => {
            let issue = check::no_object(check::place(&["body"]), &other);
            Err(Refusal::issues(vec![issue]))
        }
        Err(error) => {
            let loc = vec![json!("body"), json!(offset(body, &error))];
            let issue = Issue::new("json_invalid", loc, "JSON decode error", &json!({}));
            let issue = issue.with_context(json!({"error": error.to_string()}));
            Err(Refusal::issues(vec![issue]))
        }
    }
}

/// Where a text stopped being JSON, in bytes from its start.
fn offset(body: &[u8], error: &serde_json::Error) -> usize {
    let before = error.line().saturating_sub(1);
    let lines = body.split_inclusive(|&byte| byte == b'\n').take(before);
    let start: usize = lines.map(<[u8]>::len).sum();
    start.saturating_add(error.column().saturating_sub(1))
}

/// The body without its content coding: none, gzip or zstd, one of them.
fn decoded(headers: &HeaderMap, body: &Bytes) -> Result<Bytes, Refusal> {
    let lines = headers.get_all(header::CONTENT_ENCODING).iter();
    let lines: Vec<_> = lines
        .map(|line| String::from_utf8_lossy(line.as_bytes()).to_ascii_lowercase())
        .collect();
    let codings = lines.iter().flat_map(|line| line.split(','));
    let codings: Vec<_> = codings
        .map(str::trim)
        .filter(|coding| !matches!(*coding, "" | "identity"))
        .collect();
    let mut content = Vec::new();
    let whole = match codings.as_slice() {
        [] => return Ok(body.clone()),
        ["gzip" | "x-gzip"] => MultiGzDecoder::new(&**body)
            .take(LIMIT + 1)
            .read_to_end(&mut content)
            .is_ok(),
        ["zstd"] => frames(body, &mut content),
        other => {
            let coding = other.join(", ");
            let message = format!("Unsupported content encoding: {coding}");
            return Err(Refusal::plain(415, message));
        }
    };
    if u64::try_from(content.len()).unwrap_or(u64::MAX) > LIMIT {
        let message = format!("sandbox: the body has more than {LIMIT} bytes when decoded");
        return Err(Refusal::plain(413, message));
    }
    if whole {
        Ok(content.into())
    } else {
        Err(Refusal::text("There was an error decoding the body"))
    }
}

/// Reads zstd frames to the end of the body, or a byte past the limit; `false` if one is broken.
fn frames(mut body: &[u8], content: &mut Vec<u8>) -> bool {
    loop {
        let left = (LIMIT + 1).saturating_sub(u64::try_from(content.len()).unwrap_or(u64::MAX));
        // The window is what a decoder has to keep: a frame may ask for terabytes.
        let frame = StreamingDecoder::new_with_max_window_size(&mut body, LIMIT);
        let read = frame.map(|frame| frame.take(left).read_to_end(content));
        if !matches!(read, Ok(Ok(_))) {
            return false;
        }
        if body.is_empty() || u64::try_from(content.len()).unwrap_or(u64::MAX) > LIMIT {
            return true;
        }
    }
}

/// The largest body, decoded: as much as is taken without a coding.
const LIMIT: u64 = crate::server::MAX_BODY_BYTES;
