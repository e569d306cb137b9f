//! What reached the sandbox, request by request.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

/// One request to a mount, as it was received and as it was going to be answered.
///
/// Written before any byte of the answer goes out, and never changed after: `status` is the status
/// line that was decided, even when the client hung up while the sandbox stalled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalEntry {
    /// Counts the requests of this sandbox from 1; never used twice.
    pub seq: u64,
    /// Milliseconds since the sandbox started.
    pub time_ms: u64,
    /// The connection it came on, counted from 1; requests kept alive share it.
    pub connection: u64,
    /// The method as sent.
    pub method: String,
    /// The path as sent, without the query.
    pub path: String,
    /// The provider it went to: `openai`, `compat`, `anthropic`, `gemini` or `typesafe`.
    pub mount: &'static str,
    /// The full model name; none where the request named none or was refused unread.
    pub model: Option<String>,
    /// The script's step it met, counted from 0 as written; none without a script.
    pub step: Option<usize>,
    /// The status of the answer; none where the connection ended before one.
    pub status: Option<u16>,
    /// SHA-256 of the body, in lower-case hex.
    pub body_sha256: String,
    /// Bytes of the body.
    pub body_bytes: u64,
    /// Header lines in lower case, in the order of first appearance, credentials `[redacted]`.
    pub headers: Vec<(String, String)>,
}

impl JournalEntry {
    /// The first value of a header; the name is compared without case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.headers.iter();
        lines
            .find(|(line, _)| line.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The entry as the journal endpoint shows it.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "seq": self.seq,
            "time_ms": self.time_ms,
            "connection": self.connection,
            "method": self.method,
            "path": self.path,
            "mount": self.mount,
            "model": self.model,
            "step": self.step,
            "status": self.status,
            "body_sha256": self.body_sha256,
            "body_bytes": self.body_bytes,
            "headers": self.headers,
        })
    }
}

/// The header lines of a request with their credentials taken out.
pub(crate) fn redacted(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), shown(name, value)))
        .collect()
}

fn shown(name: &HeaderName, value: &HeaderValue) -> String {
    if CREDENTIALS.contains(&name.as_str()) {
        return "[redacted]".to_owned();
    }
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// Headers that carry a key at one provider or another, or at a proxy before it.
const CREDENTIALS: [&str; 6] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_redacted_and_other_headers_are_not() {
        let mut headers = HeaderMap::new();
        for name in CREDENTIALS {
            headers.insert(name, HeaderValue::from_static("secret-value"));
        }
        headers.insert("idempotency-key", HeaderValue::from_static("abc"));
        headers.append("x-twice", HeaderValue::from_static("1"));
        headers.append("x-twice", HeaderValue::from_static("2"));

        let shown = redacted(&headers);

        assert!(!format!("{shown:?}").contains("secret-value"));
        assert_eq!(
            shown
                .iter()
                .filter(|(_, value)| value == "[redacted]")
                .count(),
            6
        );
        let plain: Vec<_> = shown
            .iter()
            .filter(|(_, value)| value != "[redacted]")
            .collect();
        assert_eq!(plain.len(), 3, "{plain:?}");
    }
}
