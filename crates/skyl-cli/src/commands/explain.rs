//! `skyl explain`: how a server's wait is read, step by step, and what would be done about it.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use skyl_retry::duration::Human;
use skyl_retry::{Clock, Hint, RetryPolicy, TokioClock, hint};

use crate::args::{ExplainArgs, length};
use crate::env::Env;
use crate::escape;
use crate::failure::Failure;
use crate::json::Millis;
use crate::moment::Moment;
use crate::settings::{Names, Sourced};
use crate::stdout::{Form, Stdout};

/// Explains one value.
pub(crate) fn run(
    args: &ExplainArgs,
    env: &Env,
    form: Form,
    stdout: &Stdout,
) -> Result<(), Failure> {
    let header = Header::find(&args.header)?;
    let cap = cap(args, env)?;
    let now = args
        .now
        .as_ref()
        .map_or_else(|| TokioClock::new().wall(), |Moment(now)| *now);
    let reading = Reading::of(header, &args.value, now, cap);
    match form {
        Form::Json => stdout.object(&reading.object(&args.header, &args.value, now)),
        Form::Text => stdout.text(&reading.text(&args.header, &args.value)),
    }
}

fn cap(args: &ExplainArgs, env: &Env) -> Result<Duration, Failure> {
    match CAP.pick(args.cap, env, length)? {
        Some(Sourced { value, source }) if value.is_zero() => {
            Err(Failure::usage(format!("{source}: must be longer than 0")))
        }
        Some(cap) => Ok(cap.value),
        None => Ok(RetryPolicy::chat().max_retry_after()),
    }
}

/// A header a wait can stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    Millis,
    RetryAfter,
    Reset,
}

impl Header {
    fn find(name: &str) -> Result<Self, Failure> {
        let name = name.to_ascii_lowercase();
        let is_reset = (name.starts_with("x-ratelimit-reset"))
            || (name.starts_with("anthropic-ratelimit-") && name.ends_with("-reset"));
        match name.as_str() {
            "retry-after-ms" | "x-ms-retry-after-ms" => Ok(Self::Millis),
            "retry-after" => Ok(Self::RetryAfter),
            _ if is_reset => Ok(Self::Reset),
            _ => Err(Failure::usage(
                "--header: no wait is read from this header; those that are: retry-after-ms, \
                 x-ms-retry-after-ms, retry-after, x-ratelimit-reset-*, \
                 anthropic-ratelimit-*-reset",
            )),
        }
    }

    /// Where the header stands among the places a wait is looked for.
    fn place(self) -> &'static str {
        match self {
            Self::Millis => "asked first, before retry-after",
            Self::RetryAfter => "asked second, after retry-after-ms",
            Self::Reset => {
                "asked after retry-after-ms, retry-after and the body; \
                 counts only if nothing remains of that limit"
            }
        }
    }
}

/// What a value comes to.
#[derive(Debug)]
struct Reading {
    steps: Vec<String>,
    hint: Hint,
    /// What a chat call would wait; `None` is its own backoff.
    obeyed: Option<Duration>,
}

impl Reading {
    fn of(header: Header, value: &str, now: SystemTime, cap: Duration) -> Self {
        let mut steps = vec![header.place().to_owned()];
        let hint = match header {
            Header::RetryAfter => {
                let reading = hint::explain(value, now);
                steps.extend(reading.steps());
                reading.hint()
            }
            Header::Millis => {
                let hint = hint::milliseconds(value);
                steps.push(told("decimal milliseconds", hint));
                hint
            }
            Header::Reset => {
                let hint = hint::reset(value, now);
                steps.push(told("a duration, seconds, or an instant", hint));
                hint
            }
        };
        let obeyed = match hint {
            Hint::Wait(Duration::ZERO) => {
                steps.push("zero is no wait a fleet should obey: it counts as none".to_owned());
                None
            }
            Hint::Wait(wait) if wait > cap => {
                steps.push(format!("longer than the cap of {}: cut to it", Human(cap)));
                Some(cap)
            }
            Hint::Wait(wait) => {
                steps.push(format!("within the cap of {}", Human(cap)));
                Some(wait)
            }
            _ => None,
        };
        Self {
            steps,
            hint,
            obeyed,
        }
    }

    fn conclusion(&self) -> String {
        match (self.hint, self.obeyed) {
            (_, Some(wait)) => format!("The next attempt comes after {}.", Human(wait)),
            (Hint::Wait(_), None) => "The own backoff is used. (System One, whose rules differ, \
                                      would try again at once.)"
                .to_owned(),
            _ => "The next source is asked; without one, the own backoff is used.".to_owned(),
        }
    }

    fn text(&self, header: &str, value: &str) -> String {
        let mut text = format!("{}: {}\n", escape::line(header), escape::line(value));
        for (step, number) in self.steps.iter().zip(1..) {
            // Writing to a string cannot fail.
            let _infallible = writeln!(text, "  {number}. {}", escape::line(step));
        }
        text + &self.conclusion() + "\n"
    }

    fn object<'a>(&'a self, header: &'a str, value: &'a str, now: SystemTime) -> ExplainObject<'a> {
        ExplainObject {
            header,
            value,
            now_ms: now.duration_since(UNIX_EPOCH).ok().map(Millis),
            usable: matches!(self.hint, Hint::Wait(_)),
            retry_after_ms: self.hint.wait().map(Millis),
            wait_ms: self.obeyed.map(Millis),
            steps: &self.steps,
            conclusion: self.conclusion(),
        }
    }
}

fn told(form: &str, hint: Hint) -> String {
    match hint {
        Hint::Wait(wait) => format!("{form}: wait {}", Human(wait)),
        _ => format!("{form}: no; unusable"),
    }
}

/// The one object of the command.
#[derive(Debug, Serialize)]
struct ExplainObject<'a> {
    header: &'a str,
    value: &'a str,
    /// The time it was read at, since 1970; null before that.
    now_ms: Option<Millis>,
    usable: bool,
    /// The raw wait; null where it cannot be read.
    retry_after_ms: Option<Millis>,
    /// The wait a chat call would make of it; null where it would use its own backoff.
    wait_ms: Option<Millis>,
    steps: &'a [String],
    conclusion: String,
}

const CAP: Names = Names::new("--cap", "SKYL_RETRY_AFTER_CAP");

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn obeyed(header: &str, value: &str) -> Option<Duration> {
        Reading::of(Header::find(header).unwrap(), value, UNIX_EPOCH, MINUTE).obeyed
    }

    #[test]
    fn every_kind_of_header_is_read_by_its_own_rule() {
        for (header, value, expected) in [
            ("Retry-After", "2", Some(2_000)),
            ("retry-after", "1.5", Some(1_500)),
            ("Retry-After", "Thu, 01 Jan 1970 00:00:30 GMT", Some(30_000)),
            ("retry-after-ms", "250", Some(250)),
            ("X-MS-Retry-After-MS", "250", Some(250)),
            ("x-ratelimit-reset-tokens", "6s", Some(6_000)),
            (
                "anthropic-ratelimit-requests-reset",
                "1970-01-01T00:00:07Z",
                Some(7_000),
            ),
        ] {
            assert_eq!(
                obeyed(header, value),
                expected.map(Duration::from_millis),
                "{header}: {value}"
            );
        }
    }

    #[test]
    fn a_wait_above_the_cap_is_cut_and_one_at_it_is_not() {
        assert_eq!(obeyed("retry-after", "61"), Some(MINUTE));
        assert_eq!(obeyed("retry-after", "60"), Some(MINUTE));
        let steps = |value| Reading::of(Header::RetryAfter, value, UNIX_EPOCH, MINUTE).steps;
        assert!(steps("61").iter().any(|step| step.contains("cut")));
        assert!(!steps("60").iter().any(|step| step.contains("cut")));
    }

    #[test]
    fn zero_and_the_unreadable_leave_it_to_the_own_backoff_for_different_reasons() {
        let reading = |value| Reading::of(Header::RetryAfter, value, UNIX_EPOCH, MINUTE);
        for value in ["0", "-1", "soon", "NaN", "1e3"] {
            assert_eq!(reading(value).obeyed, None, "{value}");
        }
        assert!(reading("0").conclusion().contains("System One"));
        assert!(reading("soon").conclusion().contains("next source"));
    }

    #[test]
    fn a_header_nobody_reads_is_refused_and_the_readable_ones_are_named() {
        let failure = Header::find("x-wait").unwrap_err();
        assert!(
            failure.line().contains("retry-after-ms"),
            "{}",
            failure.line()
        );
    }
}
