//! The fault script: what a test asks the sandbox to do, attempt by attempt.
//!
//! A script is a short text such as `429(ra=1)*2,reset,ok`: one step per request, the last one
//! repeated. It travels in a model name (`sandbox-do-<script>[@tag]`), so that a client in any
//! language can ask for a fault without set-up, or is given to the whole server
//! ([`SandboxBuilder::script`](crate::SandboxBuilder::script)).
//!
//! This module is pure: text in, steps or a [`ScriptError`] out. It never guesses: an unknown verb,
//! key or number is refused with its position and with what would have been right.

mod parse;
mod print;
#[cfg(test)]
mod tests;

use std::{error::Error, fmt, num::NonZeroUsize, str::FromStr, time::Duration};

/// A parsed fault script: 1 to 256 steps, one per request, the last one repeated.
///
/// Made with [`str::parse`]; printed in a canonical form that parses to the same script. Letters
/// count: `OK` is no verb. A script has at most 8 KiB.
///
/// ```text
/// script = step *( "," step )
/// step   = verb *( "+" verb ) [ "*" 1..10000 ]       for example 503(ra=1)+stall(200)*2
/// verb   = word [ "(" arg *( ";" arg ) ")" ]
/// arg    = number | key "=" value                    value: any byte but ";", ")" and controls
/// ```
///
/// A step has at most one outcome (default `ok`) and any of the delivery verbs, each once, in any
/// order. Times are milliseconds and may have a fraction; none is longer than seven days, however
/// many digits it has.
///
/// | outcome | what the client gets |
/// |---|---|
/// | `ok` | the ordinary answer |
/// | `200` … `599` | that status with the provider's error object; 204, 205 and 304 without a body |
/// | `reset`, `close` | RST, FIN, before any byte |
/// | `reset-mid`, `close-mid` | the same in mid-body; on a stream after the first content frame |
/// | `first-error` | a 200 stream whose first frame is the provider's overload error |
/// | `stream-truncate(n)` | the proper end of the HTTP body after `n` content frames (default 1) |
/// | `stream-error(n)` | the overload error after `n` content frames, then the proper end |
/// | `stream-reset(n)` | RST after `n` content frames |
/// | `stream-stall(n;ms)` | silence after `n` content frames, then the rest |
///
/// With fewer content frames than `n` the place is after the last of them: the finish reason and
/// the terminal mark never come. On a request without streaming `first-error` and `stream-error`
/// give a 200 with the error as body, `stream-truncate` is `close-mid`, `stream-reset` is
/// `reset-mid`, `stream-stall` is `stall-mid`.
///
/// | argument of a status | what it adds |
/// |---|---|
/// | `ra=2.5` | `Retry-After` in seconds, sent as written |
/// | `ra-ms=1500` | `retry-after-ms`, sent as written |
/// | `ra-date=+30`, `ra-date=-30` | `Retry-After` as a date so many seconds from now |
/// | `ra-raw=…` | `Retry-After` with any value |
/// | `should-retry=true` or `false` | `x-should-retry` |
/// | `body=quota` or `context` or `overloaded` | that error object, whatever the status |
/// | `body=html` or `empty` or `cut` | a proxy's page, no bytes, half an error object |
///
/// | delivery | what it does |
/// |---|---|
/// | `stall(ms)` | waits before the headers, or before the RST or FIN |
/// | `stall-mid(ms)` | waits where `close-mid` would cut, then goes on |
/// | `slow(ms)` | waits before each chunk: a frame, or a body that is no stream |
/// | `split(n)` | chunks of `n` bytes, whatever the frames |
/// | `comments(ms)` | for that long a comment every 10 ms ahead of the first frame; a blank line without streaming |
///
/// ```
/// use skyl_sandbox::Script;
///
/// let script: Script = "split(3)+503(ra=1)*2,reset,ok".parse()?;
/// assert_eq!(script.to_string(), "503(ra=1)+split(3)*2,reset,ok");
///
/// let error = "429(after=1)".parse::<Script>().unwrap_err();
/// assert_eq!(error.position(), 4);
/// # Ok::<(), skyl_sandbox::ScriptError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    // Invariant: never empty, at most `MAX_STEPS`.
    steps: Vec<Step>,
}

impl Script {
    /// The step a run reaches with its `position`-th request (from 0), and its index.
    ///
    /// `*N` holds a step for N requests; the last step holds for ever.
    pub(crate) fn at(&self, position: u64) -> (usize, &Step) {
        let mut first = 0_u64;
        for (index, step) in self.steps.iter().enumerate() {
            first = first.saturating_add(u64::from(step.times));
            if position < first || index + 1 == self.steps.len() {
                return (index, step);
            }
        }
        // Unreachable while the invariant holds; an empty script would answer as usual.
        (0, Step::OK)
    }

    /// Parses `script[@tag]`, the part of a model name after `sandbox-do-`.
    ///
    /// The tag takes no part in the script: it only makes the name, and so the run, a new one.
    pub(crate) fn parse_tagged(text: &str) -> Result<Self, ScriptError> {
        parse::tagged(text)
    }
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        parse::script(text)
    }
}

/// A script that does not parse: where, and what would have been right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    position: usize,
    expected: String,
}

impl ScriptError {
    /// Byte offset into the script, from 0; the script's length when more was expected.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The error of a script that goes on past the longest name.
    pub(crate) fn too_long(position: usize) -> Self {
        Self {
            position,
            expected: format!("the end (a name has at most {MAX_NAME_BYTES} bytes)"),
        }
    }

    /// What would have been right there, in words.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "bad script at byte {}: expected {}",
            self.position, self.expected
        )
    }
}

impl Error for ScriptError {}

/// What one request gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) outcome: Outcome,
    pub(crate) delivery: Delivery,
    /// For how many requests the step holds: 1 to 10,000.
    pub(crate) times: u16,
}

impl Step {
    /// The ordinary answer, delivered at once.
    pub(crate) const OK: &'static Self = &Self::of(Outcome::Ok);

    pub(crate) const fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            delivery: Delivery::AT_ONCE,
            times: 1,
        }
    }
}

/// How a request ends. A step has one; the default is the ordinary answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    Status(StatusFault),
    /// RST before any byte.
    Reset,
    /// FIN before any byte.
    Close,
    /// RST in the middle of the body.
    ResetMid,
    /// FIN in the middle of the body.
    CloseMid,
    /// A 200 stream whose first frame is the error.
    FirstError,
    /// The body ends after so many content frames, without a terminal mark.
    StreamTruncate(u32),
    /// An error frame after so many content frames, then the end.
    StreamError(u32),
    /// RST after so many content frames.
    StreamReset(u32),
    /// Silence after so many content frames, then the rest.
    StreamStall {
        after: u32,
        wait: Number,
    },
}

/// An error status and what comes with it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct StatusFault {
    /// 200 to 599.
    pub(crate) code: u16,
    /// `Retry-After` in decimal seconds, sent verbatim.
    pub(crate) retry_after: Option<Number>,
    /// `retry-after-ms`, sent verbatim.
    pub(crate) retry_after_ms: Option<Number>,
    /// `Retry-After` as a date so many seconds from now.
    pub(crate) retry_after_date: Option<i64>,
    /// `Retry-After` with any value.
    pub(crate) retry_after_raw: Option<String>,
    /// `x-should-retry`.
    pub(crate) should_retry: Option<bool>,
    pub(crate) body: BodyKind,
}

/// Which body an error status carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum BodyKind {
    /// The provider's error object for the status.
    #[default]
    Usual,
    /// The error object of a quota that no waiting heals.
    Quota,
    /// The error object of a context that is too long.
    Context,
    /// The error object of an overloaded provider.
    Overloaded,
    /// A proxy's error page.
    Html,
    /// No bytes.
    Empty,
    /// The usual error object, cut in the middle; the HTTP body itself is whole.
    Cut,
}

/// How the bytes reach the client; every field may go with every outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Milliseconds before the headers (or before the RST or FIN).
    pub(crate) stall: Option<Number>,
    /// Milliseconds at the place where `close-mid` would cut.
    pub(crate) stall_mid: Option<Number>,
    /// Milliseconds before each chunk.
    pub(crate) slow: Option<Number>,
    /// Bytes per chunk.
    pub(crate) split: Option<NonZeroUsize>,
    /// For how many milliseconds comments come before the first frame.
    pub(crate) comments: Option<Number>,
}

impl Delivery {
    const AT_ONCE: Self = Self {
        stall: None,
        stall_mid: None,
        slow: None,
        split: None,
        comments: None,
    };
}

/// A decimal number as written: digits, then perhaps a point and digits.
///
/// The text is kept, because `ra=2.0` has to reach the client as `2.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number(Box<str>);

impl Number {
    /// The number as milliseconds; anything above seven days is seven days.
    pub(crate) fn millis(&self) -> Duration {
        // Checked by the parser: the text is digits with at most one point, so this cannot fail,
        // and a long row of digits gives infinity, which the cap takes.
        let millis = self.0.parse::<f64>().unwrap_or(f64::INFINITY);
        Duration::from_secs_f64(millis.min(MAX_WAIT_MS) / 1000.0)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<u32> for Number {
    fn from(whole: u32) -> Self {
        Self(whole.to_string().into())
    }
}

/// No wait of a script is longer: seven days, the longest duration a client may be given.
const MAX_WAIT_MS: f64 = 7.0 * 24.0 * 3600.0 * 1000.0;

/// The longest model name, and the longest script.
pub(crate) const MAX_NAME_BYTES: usize = 8 * 1024;

/// The most steps of a script.
const MAX_STEPS: usize = 256;

/// The largest `*N`.
const MAX_TIMES: u16 = 10_000;

/// The longest tag.
const MAX_TAG_BYTES: usize = 64;
