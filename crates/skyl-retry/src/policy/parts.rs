//! The enums and small structs a policy is made of, each with its word in files and flags.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::policy::InvalidPolicy;

/// How a backoff is drawn below its ceiling.
///
/// Drawn last and always inside the cap, so that no crowd gathers on it. In text: `full`, `equal`,
/// `decorrelated`, `shave=0.25`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Jitter {
    /// Uniform in `[0, ceiling]`, both ends included.
    Full,
    /// Uniform in `[ceiling / 2, ceiling]`.
    Equal,
    /// `min(max_delay, U(initial_delay, 3 · previous))`, the previous starting at `initial_delay`.
    Decorrelated,
    /// `ceiling · (1 − U[0, fraction])`; the fraction is in `0..=1`, and 0 is a fixed schedule.
    Shave(f64),
}

impl fmt::Display for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Equal => f.write_str("equal"),
            Self::Decorrelated => f.write_str("decorrelated"),
            Self::Shave(fraction) => write!(f, "shave={fraction}"),
        }
    }
}

/// Reads a word; the fraction's range is checked when the policy is built.
impl FromStr for Jitter {
    type Err = InvalidPolicy;

    fn from_str(text: &str) -> Result<Self, InvalidPolicy> {
        let shave = || text.strip_prefix("shave=")?.parse().ok().map(Self::Shave);
        match text {
            "full" => Ok(Self::Full),
            "equal" => Ok(Self::Equal),
            "decorrelated" => Ok(Self::Decorrelated),
            _ => shave().ok_or_else(|| {
                InvalidPolicy::new(
                    "jitter",
                    text,
                    "must be full, equal, decorrelated or shave=FRACTION",
                )
            }),
        }
    }
}

/// What happens to a server's wait above [`max_retry_after`](crate::RetryPolicy::max_retry_after).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverCap {
    /// Wait as long as the cap allows, then retry. In text `clamp`.
    Clamp,
    /// Stop at once and hand the failure back. In text `give_up`; flags also say `give-up`.
    GiveUp,
}

/// What a server's wait of zero means, dates in the past included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZeroHint {
    /// No hint: the own backoff is drawn. In text `backoff`.
    Backoff,
    /// No wait: retry at once. In text `obey`.
    Obey,
}

/// What a failure is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RetryBy {
    /// By its kind, as the caller classified it. In text `kind`.
    Kind,
    /// By its status where it has one, whatever its kind. In text `status`.
    Status,
}

macro_rules! words {
    ($type:ident, $key:literal, $rule:literal, $($word:literal => $variant:ident),+) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $word),+ })
            }
        }

        impl FromStr for $type {
            type Err = InvalidPolicy;

            fn from_str(text: &str) -> Result<Self, InvalidPolicy> {
                // Flags are written with dashes, files with underscores; both are read.
                match text.replace('-', "_").as_str() {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(InvalidPolicy::new($key, text, $rule)),
                }
            }
        }
    };
}

words!(OverCap, "over_cap", "must be clamp or give_up", "clamp" => Clamp, "give_up" => GiveUp);
words!(ZeroHint, "zero_hint", "must be backoff or obey", "backoff" => Backoff, "obey" => Obey);
words!(RetryBy, "retry_by", "must be kind or status", "kind" => Kind, "status" => Status);

/// An extra random wait on top of a server's, so that a fleet does not return as one.
///
/// `U(0, min(hint · of_hint · growthᵏ, max))`, k being the number of hinted retries in a row
/// before this one; drawn after clamping and counted by budgets and deadline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The widest extra wait as a share of the server's; finite, from 0.
    pub of_hint: f64,
    /// How much wider each further hinted retry in a row spreads; finite, from 1.
    pub growth: f64,
    /// The widest extra wait; 0 is none.
    pub max: Duration,
}

/// The figures of a retry budget; [`RetryBudget`](crate::RetryBudget) holds its state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryBudgetPolicy {
    /// Tokens a successful call deposits, from 0 to 1,000; 0.1 pays one retry per ten successes.
    pub ratio: f64,
    /// Tokens that accrue per second without any success, from 0 to 1,000.
    pub reserve_per_second: f64,
    /// The most tokens the bucket holds, from 1 to 1,000,000,000.
    pub capacity: f64,
    /// Tokens at the start, from 0 to the capacity; `None` starts full.
    pub initial: Option<f64>,
}
