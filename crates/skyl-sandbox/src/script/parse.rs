//! From text to steps, byte by byte, with the position of the first thing that is wrong.

use std::num::NonZeroUsize;

use super::{
    BodyKind, Delivery, MAX_NAME_BYTES, MAX_STEPS, MAX_TAG_BYTES, MAX_TIMES, Number, Outcome,
    Script, ScriptError, StatusFault, Step,
};

/// Parses a whole script, without a tag.
pub(super) fn script(text: &str) -> Result<Script, ScriptError> {
    if text.len() > MAX_NAME_BYTES {
        return Err(ScriptError::too_long(MAX_NAME_BYTES));
    }
    let mut cursor = Cursor { text, at: 0 };
    let mut steps = Vec::new();
    loop {
        if steps.len() == MAX_STEPS {
            return Err(cursor.wrong(format!("at most {MAX_STEPS} steps")));
        }
        steps.push(step(&mut cursor)?);
        if !cursor.take(b',') {
            break;
        }
    }
    if cursor.at < text.len() {
        return Err(cursor.wrong("`,`, `+`, `*` or the end of the script"));
    }
    Ok(Script { steps })
}

/// Parses a script with an optional tag after the last `@` outside brackets.
pub(super) fn tagged(text: &str) -> Result<Script, ScriptError> {
    let Some(at) = last_at_outside_brackets(text) else {
        return script(text);
    };
    let parsed = script(&text[..at])?;
    let tag = &text[at + 1..];
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let good = tag.bytes().take_while(|byte| plain(*byte)).count();
    if good < tag.len() || tag.is_empty() || tag.len() > MAX_TAG_BYTES {
        let expected = format!("a tag of 1 to {MAX_TAG_BYTES} letters, digits, `-`, `_` or `.`");
        return Err(wrong(at + 1 + good.min(MAX_TAG_BYTES), expected));
    }
    Ok(parsed)
}

fn last_at_outside_brackets(text: &str) -> Option<usize> {
    let (mut inside, mut last) = (false, None);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => inside = true,
            b')' => inside = false,
            b'@' if !inside => last = Some(index),
            _ => {}
        }
    }
    last
}

/// `step = verb *( "+" verb ) [ "*" 1..10000 ]`
fn step(cursor: &mut Cursor<'_>) -> Result<Step, ScriptError> {
    let mut outcome = None;
    let mut delivery = Delivery::AT_ONCE;
    loop {
        let start = cursor.at;
        match verb(cursor)? {
            Verb::Outcome(_) if outcome.is_some() => {
                return Err(wrong(start, "a delivery verb (a step has one outcome)"));
            }
            Verb::Outcome(it) => outcome = Some(it),
            Verb::Delivery(it) => put(&mut delivery, it)
                .map_err(|word| wrong(start, format!("`{word}` once in a step")))?,
        }
        if !cursor.take(b'+') {
            break;
        }
    }
    let times = if cursor.take(b'*') { times(cursor)? } else { 1 };
    Ok(Step {
        outcome: outcome.unwrap_or(Outcome::Ok),
        delivery,
        times,
    })
}

fn times(cursor: &mut Cursor<'_>) -> Result<u16, ScriptError> {
    let start = cursor.at;
    let digits = cursor.run(|byte| byte.is_ascii_digit());
    match digits.parse::<u16>() {
        Ok(times @ 1..=MAX_TIMES) => Ok(times),
        _ => Err(wrong(
            start,
            format!("a whole number from 1 to {MAX_TIMES}"),
        )),
    }
}

enum Verb {
    Outcome(Outcome),
    Delivery(Manner),
}

enum Manner {
    Stall(Number),
    StallMid(Number),
    Slow(Number),
    Split(NonZeroUsize),
    Comments(Number),
}

/// Puts a delivery verb into the step, or gives its word when it is there already.
fn put(delivery: &mut Delivery, manner: Manner) -> Result<(), &'static str> {
    fn once<T>(slot: &mut Option<T>, value: T, word: &'static str) -> Result<(), &'static str> {
        if slot.replace(value).is_some() {
            Err(word)
        } else {
            Ok(())
        }
    }
    match manner {
        Manner::Stall(wait) => once(&mut delivery.stall, wait, "stall"),
        Manner::StallMid(wait) => once(&mut delivery.stall_mid, wait, "stall-mid"),
        Manner::Slow(wait) => once(&mut delivery.slow, wait, "slow"),
        Manner::Split(bytes) => once(&mut delivery.split, bytes, "split"),
        Manner::Comments(wait) => once(&mut delivery.comments, wait, "comments"),
    }
}

/// `verb = word [ "(" arg *( ";" arg ) ")" ]`
fn verb(cursor: &mut Cursor<'_>) -> Result<Verb, ScriptError> {
    let start = cursor.at;
    let word = cursor.run(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let word_end = cursor.at;
    let args = if cursor.take(b'(') {
        Some(args(cursor)?)
    } else {
        None
    };
    let mut args = Args {
        list: args.unwrap_or_default().into_iter(),
        end: word_end,
    };
    if let Some(last) = args.list.as_slice().last() {
        args.end = last.at + last.text.len();
    }
    let it = match word {
        "ok" => Verb::Outcome(Outcome::Ok),
        "reset" => Verb::Outcome(Outcome::Reset),
        "close" => Verb::Outcome(Outcome::Close),
        "reset-mid" => Verb::Outcome(Outcome::ResetMid),
        "close-mid" => Verb::Outcome(Outcome::CloseMid),
        "first-error" => Verb::Outcome(Outcome::FirstError),
        "stream-truncate" => Verb::Outcome(Outcome::StreamTruncate(args.frames()?)),
        "stream-error" => Verb::Outcome(Outcome::StreamError(args.frames()?)),
        "stream-reset" => Verb::Outcome(Outcome::StreamReset(args.frames()?)),
        "stream-stall" => {
            let after = args.count("a number of content frames")?;
            Verb::Outcome(Outcome::StreamStall {
                after,
                wait: args.number(MILLIS)?,
            })
        }
        "stall" => Verb::Delivery(Manner::Stall(args.number(MILLIS)?)),
        "stall-mid" => Verb::Delivery(Manner::StallMid(args.number(MILLIS)?)),
        "slow" => Verb::Delivery(Manner::Slow(args.number(MILLIS)?)),
        "comments" => Verb::Delivery(Manner::Comments(args.number(MILLIS)?)),
        "split" => Verb::Delivery(Manner::Split(args.size()?)),
        _ => match word.parse::<u16>() {
            Ok(code @ 200..=599) if word.len() == 3 => {
                Verb::Outcome(Outcome::Status(status(code, &mut args)?))
            }
            _ => return Err(wrong(start, VERBS)),
        },
    };
    args.done()?;
    Ok(it)
}

/// One argument as written, with its place.
struct Arg<'a> {
    at: usize,
    text: &'a str,
}

/// Reads the arguments up to the closing bracket, which is consumed.
fn args<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<Arg<'a>>, ScriptError> {
    let mut list = Vec::new();
    loop {
        let at = cursor.at;
        let text = cursor.run(|byte| !matches!(byte, b';' | b')') && !byte.is_ascii_control());
        list.push(Arg { at, text });
        if cursor.take(b')') {
            return Ok(list);
        }
        if !cursor.take(b';') {
            return Err(cursor.wrong("`;` or `)`"));
        }
    }
}

/// The arguments of one verb, taken from the front.
struct Args<'a> {
    list: std::vec::IntoIter<Arg<'a>>,
    /// Where a missing argument would have stood.
    end: usize,
}

impl Args<'_> {
    fn number(&mut self, expected: &str) -> Result<Number, ScriptError> {
        let Some(arg) = self.list.next() else {
            return Err(wrong(self.end, expected));
        };
        number(arg.text).ok_or_else(|| wrong(arg.at, expected))
    }

    /// A whole number; a longer row of digits than fits is the largest that does.
    fn count(&mut self, expected: &str) -> Result<u32, ScriptError> {
        let Some(arg) = self.list.next() else {
            return Err(wrong(self.end, expected));
        };
        if arg.text.is_empty() || !arg.text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong(arg.at, expected));
        }
        Ok(arg.text.parse().unwrap_or(u32::MAX))
    }

    /// The content frames of a `stream-*` verb; without brackets one, as in the model names.
    fn frames(&mut self) -> Result<u32, ScriptError> {
        if self.list.len() == 0 {
            Ok(1)
        } else {
            self.count("a number of content frames")
        }
    }

    fn size(&mut self) -> Result<NonZeroUsize, ScriptError> {
        let at = self.list.as_slice().first().map_or(self.end, |arg| arg.at);
        let bytes = self.count(BYTES)?;
        usize::try_from(bytes)
            .ok()
            .and_then(NonZeroUsize::new)
            .ok_or_else(|| wrong(at, BYTES))
    }

    fn done(mut self) -> Result<(), ScriptError> {
        match self.list.next() {
            Some(arg) => Err(wrong(arg.at, "no further argument")),
            None => Ok(()),
        }
    }
}

/// The arguments of a status: `key=value`, each key once.
fn status(code: u16, args: &mut Args<'_>) -> Result<StatusFault, ScriptError> {
    let mut fault = StatusFault {
        code,
        ..StatusFault::default()
    };
    let mut seen: Vec<&str> = Vec::new();
    for arg in args.list.by_ref() {
        let Some((key, value)) = arg.text.split_once('=') else {
            return Err(wrong(arg.at, KEYS));
        };
        if seen.contains(&key) {
            return Err(wrong(arg.at, format!("`{key}` once")));
        }
        seen.push(key);
        let at = arg.at + key.len() + 1;
        match key {
            "ra" => {
                fault.retry_after =
                    Some(number(value).ok_or_else(|| wrong(at, "decimal seconds"))?);
            }
            "ra-ms" => fault.retry_after_ms = Some(number(value).ok_or_else(|| wrong(at, MILLIS))?),
            "ra-date" => {
                fault.retry_after_date = Some(offset(value).ok_or_else(|| wrong(at, OFFSET))?);
            }
            "ra-raw" => fault.retry_after_raw = Some(value.to_owned()),
            "should-retry" => {
                fault.should_retry = Some(match value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(wrong(at, "`true` or `false`")),
                });
            }
            "body" => fault.body = body(value).ok_or_else(|| wrong(at, BODIES))?,
            _ => return Err(wrong(arg.at, KEYS)),
        }
    }
    Ok(fault)
}

fn body(value: &str) -> Option<BodyKind> {
    Some(match value {
        "quota" => BodyKind::Quota,
        "context" => BodyKind::Context,
        "overloaded" => BodyKind::Overloaded,
        "html" => BodyKind::Html,
        "empty" => BodyKind::Empty,
        "cut" => BodyKind::Cut,
        _ => return None,
    })
}

/// `number = 1*DIGIT [ "." 1*DIGIT ]`
fn number(text: &str) -> Option<Number> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let good = match text.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(text),
    };
    good.then(|| Number(text.into()))
}

/// Whole seconds with an optional sign; longer rows of digits saturate.
fn offset(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = digits.parse::<i64>().unwrap_or(i64::MAX);
    Some(if negative { -seconds } else { seconds })
}

/// Reads bytes; stops only at ASCII, so that every cut is a character boundary.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, byte: u8) -> bool {
        let found = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// The longest run of bytes that `wanted` accepts: all of them, or none, of the non-ASCII ones.
    fn run(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|byte| wanted(*byte)).count();
        self.at += length;
        &rest[..length]
    }

    fn wrong(&self, expected: impl Into<String>) -> ScriptError {
        wrong(self.at, expected)
    }
}

fn wrong(position: usize, expected: impl Into<String>) -> ScriptError {
    ScriptError {
        position,
        expected: expected.into(),
    }
}

const VERBS: &str = "a verb: ok, a status from 200 to 599, reset, close, reset-mid, close-mid, first-error, \
                     stream-truncate, stream-error, stream-reset, stream-stall, stall, stall-mid, slow, split or comments";
const KEYS: &str = "ra=, ra-ms=, ra-date=, ra-raw=, should-retry= or body=";
const BODIES: &str = "quota, context, overloaded, html, empty or cut";
const MILLIS: &str = "a number of milliseconds";
const BYTES: &str = "a whole number of bytes, at least 1";
const OFFSET: &str = "whole seconds from now, such as +30 or -30";
