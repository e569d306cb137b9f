//! What the codes, types and phrases of errors mean, whichever protocol they come through.
//!
//! Gateways pass one provider's errors on in another's envelope, so every dialect asks here. All
//! words are in lower case. A general word (`invalid_request_error`, `api_error`) names no kind, and
//! whoever asks decides by the status.

use crate::kind::ErrorKind;

/// The kind a code or type names; beats the status.
pub(crate) fn named(word: &str) -> Option<ErrorKind> {
    let kind = match word {
        "invalid_api_key" | "api_key_invalid" | "authentication_error" | "permission_error"
        | "permission_denied" | "unauthenticated" | "unsupported_country_region_territory" => {
            ErrorKind::Auth
        }
        "rate_limit_exceeded" | "rate_limit_error" | "too_many_requests" | "resource_exhausted"
        // Groq's flex tier, on a 498.
        | "capacity_exceeded" => ErrorKind::RateLimit,
        "context_length_exceeded"
        | "exceed_context_size_error"
        | "model_context_window_exceeded" => ErrorKind::ContextLength,
        "model_not_found" | "not_found_error" | "not_found" => ErrorKind::NotFound,
        "content_filter"
        | "content_policy_violation"
        | "image_content_policy_violation"
        | "misalignment_policy_violation"
        | "bio_policy"
        | "responsibleaipolicyviolation" => ErrorKind::Refusal,
        "server_error" | "internalservererror" | "internal_server_error" | "provider_unavailable" => {
            ErrorKind::Server
        }
        _ if is_overloaded(word) => ErrorKind::Server,
        _ => return None,
    };
    Some(kind)
}

/// Whether a code or type names a quota that no waiting within reason refills.
pub(crate) fn is_quota(word: &str) -> bool {
    matches!(
        word,
        "insufficient_quota"
            | "credit_balance_exhausted"
            | "organization_usage_limit_exceeded"
            | "billing_error"
            | "billing_not_active"
            | "billing_hard_limit_reached"
            | "insufficient_credits"
            | "insufficient_balance"
            | "exceeded_current_quota_error"
    ) || word.ends_with("_spend_limit_exceeded")
        || word.ends_with("_spend_limit_reached")
}

/// Whether words speak of a context that is too long, as servers without a code for it say it.
///
/// A 429 may say the like of a minute's tokens: ask only where the status allows it.
pub(crate) fn is_context(text: &str) -> bool {
    has_any(
        text,
        &[
            "maximum context length",
            "maximum prompt length",
            "exceeds the available context size",
            "exceeds the context window",
            "longer than the model's context length",
            "greater than the context length",
            "input tokens exceed the configured limit of",
            "too large for model",
            "length of all messages is too long",
            "too many input tokens",
            "maximum number of tokens allowed",
            "exceed context limit",
            "prompt is too long",
            "input is too long",
            "reduce the length",
        ],
    ) || text.contains("input token count") && text.contains("exceeds")
}

/// Whether a code or type is one of a provider that is there and has no room.
pub(crate) fn is_overloaded(word: &str) -> bool {
    OVERLOADED.contains(&word)
}

/// Whether a text holds any of these phrases.
pub(crate) fn has_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// Codes and types of a provider that is there and has no room.
const OVERLOADED: &[&str] = &[
    "overloaded_error",
    "overloaded",
    "compaction_unavailable",
    "server_is_overloaded",
    "service_unavailable_error",
    "engine_overloaded_error",
    "slow_down",
    "unavailable",
    // llama.cpp while it loads the model.
    "unavailable_error",
    "provider_overloaded",
];
