//! The two records, held together call by call.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use skyl::{Attempt, Error, ErrorKind, RetryStop};
use skyl_sandbox::JournalEntry;

use crate::course::Fate;
use crate::draw::{Course, Leaving};
use crate::report::Report;
use crate::run::{Clients, LONGEST_BACKOFF, NUMBER_HEADER, Outcome, Told};

/// Checks every call of a batch, and that every request belongs to one.
pub(crate) fn batch(told: &[Told], journal: &[JournalEntry], report: &mut Report) {
    let mut requests: HashMap<u64, Vec<&JournalEntry>> = HashMap::new();
    for entry in journal {
        match entry.header(NUMBER_HEADER).map(str::parse) {
            Some(Ok(number)) => requests.entry(number).or_default().push(entry),
            _ => report.mismatch(None, format!("a request of no call: {entry:?}")),
        }
    }
    for told in told {
        let requests = requests.remove(&told.drawn.number).unwrap_or_default();
        report.count(told, requests.len());
        for problem in call(told, &requests) {
            report.mismatch(Some(told), problem);
        }
    }
    // What a caller left may arrive late; nothing else may.
    let late = requests
        .into_keys()
        .filter(|number| !report.was_cut(*number));
    for number in late.collect::<Vec<_>>() {
        report.mismatch(None, format!("a request of call {number}, which is over"));
    }
}

/// Every attempt and every end of a stream was told to the hooks exactly once.
pub(crate) fn hooks(clients: &Clients, report: &mut Report) {
    for line in &clients.all {
        let name = line.target.name;
        let counts = report.counts(name);
        let heard = (
            line.heard.attempts.load(Ordering::Relaxed),
            line.heard.ends.load(Ordering::Relaxed),
        );
        let (known, started) = (counts.attempts, counts.streams);
        // A dropped call keeps its record to itself; its hooks were fired all the same.
        let (most, most_started) = (known + counts.left * 4, started + counts.left);
        if !(known..=most).contains(&heard.0) || !(started..=most_started).contains(&heard.1) {
            report.mismatch(
                None,
                format!(
                    "{name}: hooks heard of {} attempts and {} ends, the records hold {known} and {started}",
                    heard.0, heard.1
                ),
            );
        }
    }
}

/// What does not fit in the story of one call.
fn call(told: &Told, requests: &[&JournalEntry]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut hold = |holds: bool, what: &str| {
        if !holds {
            problems.push(what.to_owned());
        }
    };
    let one = requests.windows(2);
    hold(
        one.clone()
            .all(|pair| pair[0].body_sha256 == pair[1].body_sha256),
        "attempts sent different bytes",
    );
    hold(
        requests.len() <= told.drawn.course.most_attempts(),
        "more requests than the policy allows",
    );
    hold(
        requests.len() <= told.attempts.len() || matches!(told.outcome, Outcome::Left),
        "more requests than attempts on record",
    );
    // Whatever the call told: an answer, or a status that is final, is asked for once.
    hold(
        one.clone()
            .all(|pair| pair[0].status.is_none_or(may_be_repeated)),
        "a final status was asked again",
    );
    match &told.outcome {
        Outcome::Left => {}
        Outcome::Answered => {
            answered(told, requests, &mut hold);
            record(told, requests, &mut hold);
        }
        Outcome::Failed(error) => {
            failed(told, error, &mut hold);
            record(told, requests, &mut hold);
        }
    }
    if told.drawn.leaving == Leaving::Stays {
        hold(
            !matches!(told.outcome, Outcome::Left),
            "a call ended without a result",
        );
        course(told, requests, &mut hold);
    }
    problems
}

fn answered(told: &Told, requests: &[&JournalEntry], hold: &mut impl FnMut(bool, &str)) {
    hold(
        told.text == told.expected,
        "the answer is not the one to its question",
    );
    hold(
        requests.last().is_some_and(|last| last.status == Some(200)),
        "an answer without a request that was answered",
    );
    hold(
        told.attempts.last().is_some_and(|last| last.kind.is_none()),
        "an answer whose last attempt failed",
    );
}

fn failed(told: &Told, error: &Error, hold: &mut impl FnMut(bool, &str)) {
    hold(
        error.delivered() != told.text.is_empty(),
        "delivered() does not say what was handed out",
    );
    hold(
        told.expected.starts_with(&told.text),
        "what was delivered is not the beginning of the answer",
    );
    hold(
        error.retry_stop().is_some() || told.started,
        "a failure without a reason for its end",
    );
    let (kind, cut) = (error.kind(), told.drawn.leaving);
    hold(
        kind != ErrorKind::Cancelled || matches!(cut, Leaving::Cancels(_)),
        "cancelled by nobody",
    );
    hold(
        kind != ErrorKind::Deadline || matches!(cut, Leaving::Deadline(_)),
        "past a deadline nobody set",
    );
    let strange = match kind {
        ErrorKind::Decode => told.drawn.course != Course::SystemOne,
        ErrorKind::StreamClosed | ErrorKind::Unsupported => true,
        _ => false,
    };
    hold(!strange, "a failure of a kind no fault here has");
}

/// The attempts on record against the requests that arrived.
fn record(told: &Told, requests: &[&JournalEntry], hold: &mut impl FnMut(bool, &str)) {
    let attempts = &told.attempts;
    let numbered = attempts
        .iter()
        .zip(0..)
        .all(|(attempt, number)| attempt.number == number);
    hold(numbered, "attempts are not numbered from 0");
    let cut = told.drawn.leaving != Leaving::Stays;
    // An attempt that was cut may not have reached the server; only the last can be.
    let arrived = attempts.len() == requests.len() || (cut && attempts.len() == requests.len() + 1);
    hold(
        arrived,
        "attempts on record and requests on the wire differ in number",
    );
    for (attempt, request) in attempts.iter().zip(requests) {
        let same = attempt.status == request.status || (cut && attempt.status.is_none());
        hold(same, "an attempt's status is not the one that was sent");
    }
    let (last, earlier) = attempts
        .split_last()
        .map_or((None, &[][..]), |(l, e)| (Some(l), e));
    hold(
        earlier
            .iter()
            .all(|attempt| attempt.kind.is_some() && attempt.wait.is_some()),
        "an attempt before the last one did not fail, or was followed by no wait",
    );
    let planned_last = last.and_then(|last| last.wait);
    hold(
        planned_last.is_none() || cut,
        "a wait after the last attempt",
    );
    for (attempt, pair) in earlier.iter().zip(requests.windows(2)) {
        let planned = attempt.wait.unwrap_or_default();
        let passed = Duration::from_millis(pair[1].time_ms.saturating_sub(pair[0].time_ms) + 1);
        hold(
            passed >= planned,
            "the next request came before the planned wait was over",
        );
    }
}

/// The course that was foretold, for a call that brought its faults along.
fn course(told: &Told, requests: &[&JournalEntry], hold: &mut impl FnMut(bool, &str)) {
    let Some(script) = &told.drawn.script else {
        return;
    };
    let tears = script.fates.iter().zip(&told.attempts);
    let torn = tears
        .take_while(|(fate, attempt)| !matches!(fate, Fate::Torn(_)) || attempt.wait.is_some())
        .count();
    let fates = &script.fates[..script.fates.len().min(torn + 1)];
    hold(
        requests.len() == fates.len(),
        "not as many requests as the script leads to",
    );
    for (attempt, fate) in told.attempts.iter().zip(fates) {
        let (kind, status) = match *fate {
            Fate::Repeated(kind, status, _) | Fate::Final(kind, status) => (Some(kind), status),
            Fate::Broken(kind) | Fate::Torn(kind) => (Some(kind), Some(200)),
            Fate::Answer => (None, Some(200)),
        };
        hold(
            attempt.kind == kind,
            "an attempt's kind is not what its fault is",
        );
        hold(
            attempt.status == status,
            "an attempt's status is not what its fault is",
        );
        if let Fate::Repeated(_, _, asked) = *fate {
            waits(attempt, Duration::from_millis(asked), hold);
        }
    }
    let Some(last) = fates.last() else {
        return;
    };
    match (*last, &told.outcome) {
        (Fate::Answer, Outcome::Answered) => {}
        (Fate::Broken(kind), Outcome::Failed(error)) => {
            hold(
                error.kind() == kind && error.delivered(),
                "a broken stream did not say how it broke",
            );
        }
        // Torn for the fourth time, nothing may have been delivered.
        (Fate::Torn(kind), Outcome::Failed(error)) => {
            let over = error.retry_stop() == Some(RetryStop::AttemptsExhausted);
            hold(
                error.kind() == kind && (error.delivered() || over),
                "a torn stream did not say how it broke",
            );
        }
        (Fate::Final(kind, _), Outcome::Failed(error)) => {
            let stop = error.retry_stop();
            let reasons = [RetryStop::NotRetryable, RetryStop::ServerSaidNo];
            hold(error.kind() == kind, "a final failure of another kind");
            hold(
                stop.is_some_and(|stop| reasons.contains(&stop)),
                "a final failure for another reason",
            );
        }
        (Fate::Repeated(kind, ..), Outcome::Failed(error)) => {
            hold(
                error.kind() == kind,
                "the last failure is not the one returned",
            );
            hold(
                error.retry_stop() == Some(RetryStop::AttemptsExhausted),
                "attempts were used up, and nobody says so",
            );
        }
        _ => hold(false, "another end than the script leads to"),
    }
}

fn waits(attempt: &Attempt, asked: Duration, hold: &mut impl FnMut(bool, &str)) {
    let Some(wait) = attempt.wait else { return };
    if asked.is_zero() {
        hold(wait <= LONGEST_BACKOFF, "a backoff above its ceiling");
    } else {
        hold(wait == asked, "the server's wait was not obeyed");
    }
}

/// Whether a status may be followed by another attempt; a 200 may have been an error, or cut.
fn may_be_repeated(status: u16) -> bool {
    matches!(status, 200..=299 | 408 | 409 | 429 | 500..)
}
