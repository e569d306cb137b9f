//! Waits, in every way servers and people write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skyl_retry::duration::{Human, Rough, parse};
use skyl_retry::hint::{
    Found, HintScope, HintSource, epoch_millis, epoch_seconds, explain, from_headers,
    from_response, go_duration, milliseconds, parse_retry_after, prose, protobuf_duration, reset,
    rfc3339, server_word,
};
use skyl_retry::{Hint, parse_retry_after_or_zero};

/// One `Retry-After` value.
pub(crate) fn retry_after(bytes: &[u8]) {
    for wall in walls() {
        let reading = explain(bytes, wall);
        let hint = parse_retry_after(bytes, wall);
        assert_eq!(
            reading.hint(),
            hint,
            "the explanation and the parser differ"
        );
        assert_ne!(hint, Hint::Absent, "a value that is there is never absent");
        let text = reading.to_string();
        assert!(
            !text.is_empty() && !text.contains(char::is_control),
            "{text:?}"
        );
        assert_eq!(
            reading.steps().last(),
            Some(&text),
            "the last step is the result"
        );

        let padded = [b" \t", bytes, b" "].concat();
        assert_eq!(parse_retry_after(&padded, wall), hint, "white space counts");
        if let Ok(value) = str::from_utf8(bytes) {
            let zero = parse_retry_after_or_zero(value, wall);
            assert_eq!(zero, hint.wait().unwrap_or(Duration::ZERO));
        }
    }
    // At the very start of time no number is taken for an instant.
    if let Some(seconds) = plain_seconds(bytes) {
        let expected = Hint::Wait(Duration::from_secs(seconds));
        assert_eq!(parse_retry_after(bytes, UNIX_EPOCH), expected);
    }
}

/// Response headers, one `name: value` per line, and the message's words after a blank line.
pub(crate) fn headers(bytes: &[u8]) {
    let (head, message) = split_at_blank_line(bytes);
    let message = String::from_utf8_lossy(message);
    let mut lines: Vec<(&str, &[u8])> = head
        .split(|byte| *byte == b'\n')
        .filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let name = str::from_utf8(&line[..colon]).ok()?;
            Some((name, line[colon + 1..].trim_ascii()))
        })
        .collect();
    let word = server_word(lines.iter().copied());
    for wall in walls() {
        let all = from_headers(lines.iter().copied(), wall, HintScope::All);
        let few = from_headers(lines.iter().copied(), wall, HintScope::RetryAfterOnly);
        let with_message = from_response(
            lines.iter().copied(),
            wall,
            HintScope::All,
            || Hint::Absent,
            || prose(&message),
        );
        for found in [all, few, with_message] {
            assert_eq!(
                found.hint.wait().is_some(),
                found.source.is_some(),
                "{found:?}"
            );
        }
        let own = [
            None,
            Some(HintSource::RetryAfterMs),
            Some(HintSource::RetryAfter),
        ];
        assert!(own.contains(&few.source), "{few:?}");
        if few.source.is_some() {
            assert_eq!(all, few, "an earlier source wins");
        }
        if all.source.is_some() {
            assert_eq!(with_message, all, "an earlier source wins");
        }
        same_in_any_order(&mut lines, wall, all, word);
    }
}

/// Texts that stand in bodies, headers and messages for a wait or an instant.
pub(crate) fn waits(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(
        prose(&text),
        prose(&text.to_ascii_uppercase()),
        "case counts"
    );
    let lengths = [milliseconds, go_duration, protobuf_duration];
    for read in lengths {
        let hint = read(&text);
        assert_ne!(hint, Hint::Absent);
        assert_eq!(read(&format!(" {text}\t")), hint, "white space counts");
    }
    for wall in walls() {
        for read in [rfc3339, epoch_seconds, epoch_millis, reset] {
            let hint = read(&text, wall);
            assert_ne!(hint, Hint::Absent);
            assert_eq!(
                read(&format!(" {text}\t"), wall),
                hint,
                "white space counts"
            );
        }
    }
    // A protobuf duration is a Go duration that knows seconds alone.
    if let wait @ Hint::Wait(_) = protobuf_duration(&text) {
        assert_eq!(go_duration(&text), wait);
    }
}

/// Durations in flags and files; and the first bytes as a duration to be printed.
pub(crate) fn duration(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text) {
        Ok(duration) => reads_back(duration),
        Err(error) => {
            let shown = error.to_string();
            assert!(!shown.contains(char::is_control), "{shown:?}");
        }
    }
    // Flags know every unit Go knows, and days.
    if let Hint::Wait(wait) = go_duration(&text) {
        assert_eq!(parse(&text), Ok(wait), "{text:?}");
    }
    if let Some((seconds, rest)) = bytes.split_first_chunk::<8>() {
        let nanos = rest
            .first_chunk::<4>()
            .map_or(0, |nanos| u32::from_le_bytes(*nanos));
        reads_back(Duration::new(
            u64::from_le_bytes(*seconds),
            nanos % 1_000_000_000,
        ));
        reads_back(Duration::from_nanos(u64::from_le_bytes(*seconds)));
    }
}

fn reads_back(duration: Duration) {
    assert_eq!(parse(&Human(duration).to_string()), Ok(duration));
    let rough = parse(&Rough(duration).to_string());
    assert!(rough.is_ok_and(|rough| rough <= duration), "{duration:?}");
}

/// Headers have no order and their names no case.
fn same_in_any_order(
    lines: &mut [(&str, &[u8])],
    wall: SystemTime,
    expected: Found,
    word: Option<bool>,
) {
    lines.reverse();
    let upper: Vec<(String, &[u8])> = lines
        .iter()
        .map(|(name, value)| (name.to_ascii_uppercase(), *value))
        .collect();
    let upper = || upper.iter().map(|(name, value)| (name.as_str(), *value));
    assert_eq!(from_headers(upper(), wall, HintScope::All), expected);
    assert_eq!(server_word(upper()), word);
}

fn split_at_blank_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.windows(2).position(|pair| pair == b"\n\n") {
        Some(at) => (&bytes[..at], &bytes[at + 2..]),
        None => (bytes, &[]),
    }
}

/// The number, if the bytes are up to nine digits and nothing else.
fn plain_seconds(bytes: &[u8]) -> Option<u64> {
    let digits = (1..=9).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_digit);
    if !digits {
        return None;
    }
    str::from_utf8(bytes).ok()?.parse().ok()
}

/// An unset clock, one before it, the present, and the ends of what a system can say.
fn walls() -> impl Iterator<Item = SystemTime> {
    let seconds = Duration::from_secs;
    let far = u64::try_from(i64::MAX).ok().map(seconds);
    [
        Some(UNIX_EPOCH),
        UNIX_EPOCH.checked_sub(seconds(1)),
        UNIX_EPOCH.checked_add(seconds(1_796_083_200)),
        far.and_then(|far| UNIX_EPOCH.checked_add(far)),
        far.and_then(|far| UNIX_EPOCH.checked_sub(far)),
    ]
    .into_iter()
    .flatten()
}
