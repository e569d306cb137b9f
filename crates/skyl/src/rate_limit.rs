//! The rate-limit state a provider reports in its headers.
//!
//! Read on success and on failure alike, so that a caller can slow down before the first 429. What
//! a header does not say stays `None`; nothing is guessed.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use skyl_retry::hint;

/// What is left of the provider's limits, as far as its headers say.
///
/// From `x-ratelimit-*` (OpenAI and those like it) and `anthropic-ratelimit-*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimit {
    /// Requests; also limits that name no dimension.
    pub requests: Option<RateWindow>,
    /// Tokens of any sort.
    pub tokens: Option<RateWindow>,
    /// Input tokens, where they are counted apart.
    pub input_tokens: Option<RateWindow>,
    /// Output tokens, where they are counted apart.
    pub output_tokens: Option<RateWindow>,
}

/// One limit: its size, what is left, and when it is full again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateWindow {
    /// The size of the limit.
    pub limit: Option<u64>,
    /// What is left of it.
    pub remaining: Option<u64>,
    /// Time until it is full again, from the moment the answer came.
    pub reset: Option<Duration>,
}

impl RateLimit {
    /// Reads the headers; `None` if they say nothing. The wall time is asked for dates alone.
    pub(crate) fn read(headers: &HeaderMap, wall: &dyn Fn() -> SystemTime) -> Option<Self> {
        let mut found = None::<Self>;
        for (name, value) in headers {
            let name = name.as_str();
            let Some((dimension, field)) = place(name) else {
                continue;
            };
            let Ok(value) = value.to_str() else { continue };
            let window = found.get_or_insert_default().window(dimension);
            match field {
                Field::Limit => window.limit = number(value).or(window.limit),
                Field::Remaining => window.remaining = number(value).or(window.remaining),
                Field::Reset => window.reset = reset(value, wall).or(window.reset),
            }
        }
        found
    }

    fn window(&mut self, dimension: Dimension) -> &mut RateWindow {
        match dimension {
            Dimension::Requests => &mut self.requests,
            Dimension::Tokens => &mut self.tokens,
            Dimension::InputTokens => &mut self.input_tokens,
            Dimension::OutputTokens => &mut self.output_tokens,
        }
        .get_or_insert_default()
    }
}

#[derive(Clone, Copy)]
enum Dimension {
    Requests,
    Tokens,
    InputTokens,
    OutputTokens,
}

#[derive(Clone, Copy)]
enum Field {
    Limit,
    Remaining,
    Reset,
}

/// Which limit a header speaks of: `x-ratelimit-<field>[-<dimension>]` or
/// `anthropic-ratelimit-<dimension>-<field>`.
fn place(name: &str) -> Option<(Dimension, Field)> {
    if let Some(rest) = name.strip_prefix("x-ratelimit-") {
        let (word, dimension) = rest.split_once('-').unwrap_or((rest, "requests"));
        return Some((self::dimension(dimension)?, field(word)?));
    }
    let (dimension, word) = name
        .strip_prefix("anthropic-ratelimit-")?
        .rsplit_once('-')?;
    Some((self::dimension(dimension)?, field(word)?))
}

fn dimension(word: &str) -> Option<Dimension> {
    Some(match word {
        "requests" => Dimension::Requests,
        "tokens" => Dimension::Tokens,
        "input-tokens" => Dimension::InputTokens,
        "output-tokens" => Dimension::OutputTokens,
        _ => return None,
    })
}

fn field(word: &str) -> Option<Field> {
    Some(match word {
        "limit" => Field::Limit,
        "remaining" => Field::Remaining,
        "reset" => Field::Reset,
        _ => return None,
    })
}

/// A count; some servers write `-1` for "no limit", which is no count.
fn number(value: &str) -> Option<u64> {
    value.trim().parse().ok()
}

fn reset(value: &str, wall: &dyn Fn() -> SystemTime) -> Option<Duration> {
    hint::go_duration(value)
        .wait()
        .or_else(|| hint::reset(value, wall()).wait())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::UNIX_EPOCH;

    use http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    fn read(pairs: &[(&'static str, &'static str)]) -> Option<RateLimit> {
        RateLimit::read(&headers(pairs), &|| UNIX_EPOCH + Duration::from_secs(1_000))
    }

    #[test]
    fn openai_headers_give_requests_and_tokens() {
        let state = read(&[
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-limit-tokens", "150000"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ])
        .unwrap();
        let requests = state.requests.unwrap();
        assert_eq!((requests.limit, requests.remaining), (Some(60), Some(59)));
        assert_eq!(requests.reset, Some(Duration::from_secs(1)));
        let tokens = state.tokens.unwrap();
        assert_eq!(tokens.remaining, Some(0));
        assert_eq!(tokens.reset, Some(Duration::from_secs(360)));
        assert_eq!(state.input_tokens, None);
    }

    #[test]
    fn anthropic_headers_give_dates_as_time_from_now() {
        let state = read(&[
            ("anthropic-ratelimit-input-tokens-remaining", "12"),
            ("anthropic-ratelimit-output-tokens-limit", "7"),
            ("anthropic-ratelimit-requests-reset", "1970-01-01T00:17:00Z"),
        ])
        .unwrap();
        assert_eq!(state.input_tokens.unwrap().remaining, Some(12));
        assert_eq!(state.output_tokens.unwrap().limit, Some(7));
        assert_eq!(state.requests.unwrap().reset, Some(Duration::from_secs(20)));
    }

    #[test]
    fn headers_that_say_nothing_give_nothing() {
        assert_eq!(read(&[("content-type", "application/json")]), None);
        assert_eq!(read(&[("x-ratelimit-limit-images", "3")]), None);
    }

    #[test]
    fn values_that_are_no_counts_are_left_out() {
        let state = read(&[
            ("x-ratelimit-limit", "-1"),
            ("x-ratelimit-remaining", "many"),
        ]);
        assert_eq!(state.unwrap().requests, Some(RateWindow::default()));
    }

    #[test]
    fn no_clock_is_read_for_lengths() {
        let asked = Cell::new(0);
        let wall = || {
            asked.set(asked.get() + 1);
            UNIX_EPOCH
        };
        RateLimit::read(&headers(&[("x-ratelimit-reset-requests", "12ms")]), &wall);
        assert_eq!(asked.get(), 0);
    }
}
