//! Policies by name: skyl's own, the textbook kinds, and what others publish.
//!
//! The textbook kinds share the figures of [`RetryPolicy::chat`] (3 retries, 500 ms doubled up to
//! 30 s) and differ in how the wait is drawn alone, so that a comparison shows the draw.
//!
//! | name | what it is | source of the figures |
//! |---|---|---|
//! | `chat` | three retries, full jitter | [`RetryPolicy::chat`] |
//! | `system_one` | two retries, a quarter shaved off, 30 s in all | [`RetryPolicy::system_one`] |
//! | `fleet` | `chat` with spread hints and a retry budget | [`RetryPolicy::fleet`] |
//! | `none` | three retries without any wait | the AWS backoff study's "None" |
//! | `fixed` | three retries, one second apart, no jitter | the usual first loop people write |
//! | `exponential` | doubled waits without jitter | the study's "Exponential" |
//! | `equal`, `full`, `decorrelated` | doubled waits with that jitter | the study's names |
//! | `official-sdk` | two retries, 500 ms doubled up to 8 s, less up to 25 %; a server's wait over 120 s ends the call | the openai and anthropic SDKs as released in autumn 2026 |
//! | `token-bucket` | `full` with a bucket: 0.1 token per success, one per retry, starting empty | Marc Brooker, "Fixing retries with token buckets", 2022 |

use std::time::Duration;

use skyl_retry::{InvalidPolicy, Jitter, OverCap, RetryBudgetPolicy, RetryPolicy};

/// Every name that [`named`] knows, in the order in which tables list them.
pub const POLICY_NAMES: [&str; 11] = [
    "chat",
    "system_one",
    "fleet",
    "none",
    "fixed",
    "exponential",
    "equal",
    "full",
    "decorrelated",
    "official-sdk",
    "token-bucket",
];

/// Gives the policy of this name; `None` for a name that is not in [`POLICY_NAMES`].
#[must_use]
pub fn named(name: &str) -> Option<RetryPolicy> {
    let policy = match name {
        "chat" => Ok(RetryPolicy::chat()),
        "system_one" => Ok(RetryPolicy::system_one()),
        "fleet" => Ok(RetryPolicy::fleet()),
        "none" => fixed(Duration::ZERO),
        "fixed" => fixed(Duration::from_secs(1)),
        "exponential" => with(Jitter::Shave(0.0)),
        "equal" => with(Jitter::Equal),
        "full" => with(Jitter::Full),
        "decorrelated" => with(Jitter::Decorrelated),
        "official-sdk" => official_sdk(),
        "token-bucket" => token_bucket(),
        _ => return None,
    };
    // Constants that a test builds, every one.
    policy.ok()
}

fn with(jitter: Jitter) -> Result<RetryPolicy, InvalidPolicy> {
    RetryPolicy::builder().jitter(jitter).build()
}

fn fixed(delay: Duration) -> Result<RetryPolicy, InvalidPolicy> {
    RetryPolicy::builder()
        .initial_delay(delay)
        .max_delay(delay)
        .jitter(Jitter::Shave(0.0))
        .build()
}

fn official_sdk() -> Result<RetryPolicy, InvalidPolicy> {
    RetryPolicy::builder()
        .max_retries(2)
        .max_delay(Duration::from_secs(8))
        .jitter(Jitter::Shave(0.25))
        .max_retry_after(Duration::from_secs(120))
        .over_cap(OverCap::GiveUp)
        .build()
}

fn token_bucket() -> Result<RetryPolicy, InvalidPolicy> {
    RetryPolicy::builder()
        .retry_budget(RetryBudgetPolicy {
            ratio: 0.1,
            reserve_per_second: 0.0,
            // The bucket of the AWS SDKs: 500 tokens at 5 per retry.
            capacity: 100.0,
            initial: Some(0.0),
        })
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_a_policy_and_no_other_is() {
        for name in POLICY_NAMES {
            assert!(named(name).is_some(), "{name}");
        }
        assert_eq!(named("Chat"), None);
        assert_eq!(named(""), None);
    }

    #[test]
    fn the_schedules_of_others_are_as_published() {
        let sdk = named("official-sdk").unwrap();
        let ceilings: Vec<u128> = (0..6).map(|n| sdk.ceiling(n).as_millis()).collect();
        assert_eq!(ceilings, [500, 1000, 2000, 4000, 8000, 8000]);
        assert_eq!(named("none").unwrap().ceiling(9), Duration::ZERO);
        assert_eq!(named("fixed").unwrap().ceiling(9), Duration::from_secs(1));
        assert!(named("exponential").unwrap().wait_can_vary().is_err());
    }
}
