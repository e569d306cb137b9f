//! The single values of body hints and rate-limit resets.

use std::time::SystemTime;

use crate::failure::Hint;

/// Reads a Go duration: `12ms`, `6m0s`, `1h2m3.5s`.
#[must_use]
pub fn go_duration(text: &str) -> Hint {
    let _ = text;
    Hint::Absent
}

/// Reads a protobuf duration in JSON: `45.837906927s`.
#[must_use]
pub fn protobuf_duration(text: &str) -> Hint {
    let _ = text;
    Hint::Absent
}

/// Reads an RFC 3339 instant: `2026-11-30T12:00:14Z`.
#[must_use]
pub fn rfc3339(text: &str, wall: SystemTime) -> Hint {
    let _ = (text, wall);
    Hint::Absent
}

/// Reads an instant in seconds since 1970.
#[must_use]
pub fn epoch_seconds(text: &str, wall: SystemTime) -> Hint {
    let _ = (text, wall);
    Hint::Absent
}

/// Reads an instant in milliseconds since 1970.
#[must_use]
pub fn epoch_millis(text: &str, wall: SystemTime) -> Hint {
    let _ = (text, wall);
    Hint::Absent
}

/// Reads a rate-limit reset in any of the forms in use.
///
/// A Go duration, seconds, an RFC 3339 instant, or an instant in seconds or milliseconds since
/// 1970. `0` and `-1` mean "unknown" and are unusable.
#[must_use]
pub fn reset(text: &str, wall: SystemTime) -> Hint {
    let _ = (text, wall);
    Hint::Absent
}
