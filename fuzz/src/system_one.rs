//! System One: replies, error bodies and request documents.

use std::fmt::Debug;
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::{Value, json};
use skyl::system_one::{
    Answer, Answers, BoxQuestion, Choice, Noul, Question, Questions, Reply, Request, Score,
    Strictness, classify, decode, decode_models, redacted_body,
};
use skyl::{ErrorKind, Fault};

/// A reply: an answer in both modes, and a list of models.
pub(crate) fn reply(bytes: &[u8]) {
    let body = Bytes::copy_from_slice(bytes);
    let strict = decode(questions(), Strictness::Strict, &body);
    let lenient = decode(questions(), Strictness::Lenient, &body);
    match (&strict, &lenient) {
        (Ok(strict), Ok(lenient)) => {
            assert_eq!(strict, lenient, "what is sound is the same in both modes");
            for (id, question) in questions().iter() {
                answered(&strict.answers, id, question);
            }
        }
        (Err(fault), Ok(lenient)) => {
            unreadable(fault);
            assert!(!lenient.warnings.is_empty(), "what is let through is told");
        }
        (Err(strict), Err(lenient)) => {
            unreadable(strict);
            unreadable(lenient);
        }
        (Ok(_), Err(fault)) => unreachable!("lenient is stricter: {fault:?}"),
    }
    if let Ok(reply) = lenient {
        kept(&reply, bytes);
    }
    match decode_models(&body) {
        Ok(models) => {
            assert!(models.iter().all(|model| !model.name.is_empty()));
            in_proportion(&models, bytes);
        }
        Err(fault) => unreadable(&fault),
    }
}

/// An error body, under statuses of every kind.
pub(crate) fn error(bytes: &[u8]) {
    for status in STATUSES {
        let fault = classify(status, bytes);
        let again = classify(status, bytes);
        assert_eq!(
            format!("{again:?}"),
            format!("{fault:?}"),
            "not the same twice"
        );
        assert_ne!(fault.kind(), ErrorKind::Unsupported, "arises locally alone");
        if status == 429 || status >= 500 {
            assert_eq!(fault.kind(), skyl::classify_status(status));
        }
        assert_eq!(fault.is_overloaded(), status == 529);
        for text in [fault.message(), fault.code()].into_iter().flatten() {
            assert!(!text.is_empty() && text.len() <= 2_048);
            assert!(!text.contains(char::is_control), "{text:?}");
        }
        let shown = redacted_body(status, bytes);
        if let Ok(value) = serde_json::from_str(&shown) {
            assert!(!echoes(&value), "{shown}");
        }
    }
}

/// A request document: what is read and can be sent is read again the same.
pub(crate) fn document(bytes: &[u8]) {
    let request = match Request::from_json(bytes) {
        Ok(request) => request,
        Err(fault) => {
            assert_eq!(fault.kind(), ErrorKind::BadRequest);
            assert!(
                fault
                    .message()
                    .is_some_and(|text| !text.contains(char::is_control))
            );
            return;
        }
    };
    in_proportion(&request, bytes);
    let estimate = request.context_estimate();
    assert!(estimate.longest <= estimate.all);
    let encoded = match (request.validate(), request.encode("m")) {
        (Ok(warnings), Ok(encoded)) => {
            assert_eq!(warnings, encoded.warnings);
            encoded
        }
        (Err(_), Err(fault)) => {
            assert_eq!(fault.kind(), ErrorKind::BadRequest);
            return;
        }
        (validated, encoded) => unreachable!("{validated:?} but {encoded:?}"),
    };
    let sent = if request.model.is_some() {
        request
    } else {
        request.model("m")
    };
    match Request::from_json(&encoded.body) {
        Ok(again) => assert_eq!(again, sent),
        Err(fault) => unreachable!("what is sent cannot be read: {fault:?}"),
    }
}

/// One question of each kind.
fn questions() -> &'static Questions {
    static QUESTIONS: OnceLock<Questions> = OnceLock::new();
    QUESTIONS.get_or_init(|| {
        Questions::new()
            .ask("n", Noul::new("i"))
            .ask("c", Choice::new("i").options(["x", "y"]))
            .ask("s", Score::new("i").levels(["a", "b", "c"]))
            .ask("b", BoxQuestion::new("i"))
            .ask("r", Question::raw(json!({"type": "ranking"})))
    })
}

/// An answer that strict decoding let through is of the type asked, and its figures are in range.
fn answered(answers: &Answers, id: &str, question: &Question) {
    let fraction = |figure: f64| assert!((0.0..=1.0).contains(&figure), "{figure}");
    match (question, answers.get(id)) {
        (Question::Noul(_), Some(Answer::Noul(answer))) => fraction(answer.noul),
        (Question::Choice(asked), Some(Answer::Choice(answer))) => {
            fraction(answer.confidence);
            assert!(
                asked
                    .options
                    .iter()
                    .any(|(option, _)| *option == answer.choice)
            );
            assert_eq!(asked.options.len(), answer.probabilities.len());
            answer.probabilities.iter().for_each(|(_, p)| fraction(*p));
        }
        (Question::Score(asked), Some(Answer::Score(answer))) => {
            fraction(answer.confidence);
            assert_eq!(asked.levels.len(), answer.legend.len());
            answer.probabilities.iter().for_each(|p| fraction(*p));
            assert!((0.0..=2.0).contains(&answer.score));
        }
        (Question::Box(_), Some(Answer::Box(answer))) => {
            assert!(answer.top <= answer.bottom && answer.left <= answer.right);
        }
        (Question::Raw(_), Some(_)) => {}
        (_, answer) => unreachable!("{id}: {answer:?}"),
    }
}

/// What is kept of a reply reads back, and is in proportion to it.
fn kept(reply: &Reply, bytes: &[u8]) {
    in_proportion(reply, bytes);
    assert!(reply.warnings.len() <= 65);
    let written = serde_json::to_string(&reply.answers).unwrap_or_default();
    let read: Result<Value, _> = serde_json::from_str(&written);
    // A number out of range is kept as it came, and only a tree cannot hold it.
    if let Ok(read) = read {
        assert_eq!(
            read.as_object().map(serde_json::Map::len),
            Some(reply.answers.len())
        );
    }
}

fn unreadable(fault: &Fault) {
    assert_eq!(fault.kind(), ErrorKind::Decode);
    assert!(
        fault
            .message()
            .is_some_and(|text| !text.contains(char::is_control))
    );
}

/// Whether an echo of the request is left in an error body.
fn echoes(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(name, member)| {
            let echo = ["input", "ctx", "state", "questions"].contains(&name.as_str());
            if echo {
                member != "[redacted]"
            } else {
                echoes(member)
            }
        }),
        Value::Array(elements) => elements.iter().any(echoes),
        _ => false,
    }
}

/// What is made of an input is not many times the input, measured as text.
fn in_proportion(made: &impl Debug, bytes: &[u8]) {
    let made = format!("{made:?}").len();
    let bound = 4096 + 128 * bytes.len();
    assert!(made <= bound, "{made} bytes made of {}", bytes.len());
}

const STATUSES: [u16; 8] = [302, 400, 401, 413, 422, 429, 500, 529];
