//! Takes the caller's own words out of an error.
//!
//! Where an error's fields are known, `detail` and `redact` leave out those that echo the request.
//! Free prose has no fields: a proxy or a validator may quote what it was sent anywhere in its words.
//! So what is kept of an error is held against the request that was sent. Ids, types and options
//! stay: they name the place.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::error::Error;

/// Takes out of an error what stands in the content of the request, `sent`, as well.
///
/// Content is state, instructions, criteria and extra fields; of pictures only the names of their
/// fields are known, since nobody quotes base64 in prose.
pub(super) fn take_out(mut error: Error, sent: &[u8]) -> Error {
    let inner = error.inner_mut();
    let texts = [&mut inner.message, &mut inner.code, &mut inner.body];
    if texts.iter().all(|text| text.is_none()) {
        return error;
    }
    let Ok(Value::Object(request)) = serde_json::from_slice::<Value>(sent) else {
        return error;
    };
    let content = content(&request);
    for text in texts.into_iter().flatten() {
        if let Some(clean) = without(text, &content) {
            *text = clean;
        }
    }
    error
}

/// The text without the runs it shares with the content; `None` where there are none.
fn without(text: &str, content: &[&str]) -> Option<String> {
    let mut shared = vec![false; text.len()];
    let windows: HashSet<&[u8]> = text.as_bytes().windows(RUN_BYTES).collect();
    let mut found = HashSet::new();
    for words in content {
        let runs = words.as_bytes().windows(RUN_BYTES);
        found.extend(runs.filter(|run| windows.contains(run)));
        // Short content is taken out only where it is quoted as a whole.
        if (1..RUN_BYTES).contains(&words.len()) {
            for (at, _) in text.match_indices(words) {
                let end = at + words.len();
                let is_quoted = text[..at].ends_with(QUOTES) && text[end..].starts_with(QUOTES);
                if is_quoted {
                    shared[at..end].fill(true);
                }
            }
        }
    }
    for (at, window) in text.as_bytes().windows(RUN_BYTES).enumerate() {
        if found.contains(window) {
            shared[at..at + RUN_BYTES].fill(true);
        }
    }
    if !shared.contains(&true) {
        return None;
    }
    let mut clean = String::with_capacity(text.len());
    let mut inside = false;
    for (at, c) in text.char_indices() {
        // A run may begin or end within a character.
        let is_shared = shared[at..at + c.len_utf8()].contains(&true);
        if !is_shared {
            clean.push(c);
        } else if !inside {
            clean.push_str(REDACTED);
        }
        inside = is_shared;
    }
    Some(clean)
}

/// The caller's words in a request.
fn content(request: &Map<String, Value>) -> Vec<&str> {
    let mut words = Vec::new();
    for (name, value) in request {
        match name.as_str() {
            "model" | "assets" => {}
            "questions" => {
                let questions = value.as_object().into_iter().flat_map(Map::values);
                for (name, member) in questions.filter_map(Value::as_object).flatten() {
                    if name != "type" {
                        leaves(member, &mut words);
                    }
                }
            }
            _ => leaves(value, &mut words),
        }
    }
    words
}

fn leaves<'a>(value: &'a Value, words: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => words.push(text),
        Value::Array(elements) => elements.iter().for_each(|one| leaves(one, words)),
        Value::Object(members) => members.values().for_each(|one| leaves(one, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What is shorter is a word or two that anybody may say.
const RUN_BYTES: usize = 12;

/// Between these, short content is a quotation.
const QUOTES: [char; 3] = ['"', '\'', '`'];

const REDACTED: &str = "[redacted]";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kind::ErrorKind;

    const SENT: &str = r#"{"state":{"note":"parcel-8841 is late, again","from":"Ana"},
        "model":"jev-latest-of-all","extra":"a word of ours",
        "questions":{"is it late?":{"type":"choice","instructions":["Is a \"delivery\" late?"],
        "criteria":{"the first option":"something is described","b":null}}}}"#;

    fn message(text: &str) -> String {
        let mut error = Error::new(ErrorKind::BadRequest);
        error.inner_mut().message = Some(text.to_owned());
        let error = take_out(error, SENT.as_bytes());
        error.message().unwrap_or_default().to_owned()
    }

    #[test]
    fn what_the_request_says_is_taken_out_of_prose() {
        for (said, kept) in [
            (
                "cannot read 'parcel-8841 is late, again'",
                "cannot read '[redacted]'",
            ),
            ("no: parcel-8841 is la…", "no: [redacted]…"),
            ("got parcel-8841 is late here", "got [redacted] here"),
            (
                r#"Is a "delivery" late? is no question"#,
                "[redacted] is no question",
            ),
            (
                "a word of ours, something is described",
                "[redacted], [redacted]",
            ),
            ("who is 'Ana'?", "who is '[redacted]'?"),
        ] {
            assert_eq!(message(said), kept, "{said}");
        }
    }

    #[test]
    fn names_of_places_and_words_anybody_says_stay() {
        for said in [
            "questions.is it late?.choice.criteria.the first option: too long",
            "Unknown model: jev-latest-of-all",
            "Ana is no type, parcel",
            "",
        ] {
            assert_eq!(message(said), said);
        }
    }

    #[test]
    fn the_body_and_the_code_are_held_against_the_request_too() {
        let mut error = Error::new(ErrorKind::BadRequest);
        error.inner_mut().body = Some("<p>parcel-8841 is late</p>".to_owned());
        error.inner_mut().code = Some("a word of ours".to_owned());
        let error = take_out(error, SENT.as_bytes());
        assert_eq!(error.body(), Some("<p>[redacted]</p>"));
        assert_eq!(error.code(), Some("[redacted]"));
    }

    proptest! {
        #[test]
        fn no_run_of_the_content_is_left(
            state in "[a-zé 世\"]{0,40}",
            before in "[a-zé'世]{0,20}",
            (from, to) in (0_usize..60, 0_usize..60),
        ) {
            let part: String = state.chars().skip(from.min(to)).take(from.abs_diff(to)).collect();
            let clean = without(&format!("{before}{part}"), &[state.as_str()]);
            if let Some(clean) = &clean {
                let runs = state.as_bytes().windows(RUN_BYTES);
                let left = runs.filter(|run| clean.as_bytes().windows(RUN_BYTES).any(|w| w == *run));
                prop_assert_eq!(left.count(), 0);
            } else {
                prop_assert!(part.len() < RUN_BYTES);
            }
        }
    }
}
