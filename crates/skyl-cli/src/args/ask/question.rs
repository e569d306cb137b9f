//! Questions in flags: `KEY=TEXT`, `KEY=TEXT:A,B`, `KEY=TEXT:A|B|C`.
//!
//! The first `=` ends the key and the last `:` begins the labels. A label with a `:` of its own
//! would shift that split without a word, so a backslash takes the meaning of a mark away, and
//! what looks like such a shift is refused.

/// A question, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) key: String,
    /// What is asked; `None` where nothing stands before the labels.
    pub(crate) text: Option<String>,
    pub(crate) kind: AskedKind,
}

/// What kind of answer is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AskedKind {
    Noul,
    /// The options, in order.
    Choice(Vec<String>),
    /// The levels, from the lowest.
    Score(Vec<String>),
}

pub(super) fn noul(text: &str) -> Result<Asked, String> {
    let (key, question) = key(text, "KEY=TEXT")?;
    let text = plain(question, None);
    if text.is_empty() {
        return Err("expected KEY=TEXT, with a question as the text".to_owned());
    }
    Ok(Asked {
        key,
        text: Some(text),
        kind: AskedKind::Noul,
    })
}

pub(super) fn choice(text: &str) -> Result<Asked, String> {
    let (key, text, options) = labelled(text, ',', "KEY=TEXT:A,B")?;
    Ok(Asked {
        key,
        text,
        kind: AskedKind::Choice(options),
    })
}

pub(super) fn score(text: &str) -> Result<Asked, String> {
    let (key, text, levels) = labelled(text, '|', "KEY=TEXT:A|B|C")?;
    Ok(Asked {
        key,
        text,
        kind: AskedKind::Score(levels),
    })
}

fn key<'a>(text: &'a str, form: &str) -> Result<(String, &'a str), String> {
    match text.split_once('=') {
        Some((key, rest)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), rest)),
        _ => Err(format!("expected {form}")),
    }
}

fn labelled(
    text: &str,
    between: char,
    form: &str,
) -> Result<(String, Option<String>, Vec<String>), String> {
    let (key, rest) = key(text, form)?;
    let colons = marks(rest, ':');
    let Some(&last) = colons.last() else {
        return Err(format!("expected {form}"));
    };
    let (question, labels) = (&rest[..last], &rest[last + 1..]);
    let labels: Vec<String> = split(labels, between)
        .into_iter()
        .map(|label| plain(label, Some(between)))
        .collect();
    if labels.iter().any(String::is_empty) {
        return Err(format!("expected {form}, and a label is empty"));
    }
    let twice = labels
        .iter()
        .enumerate()
        .find(|(at, label)| labels[..*at].contains(label));
    if let Some((_, label)) = twice {
        return Err(format!("expected {form}, and `{label}` stands there twice"));
    }
    // `10:30,11:00` would come to one label, `00`, and a text that ends in `10:30,11`.
    if labels.len() == 1 && colons.len() > 1 {
        return Err(format!(
            "`{}` would be the only label, since the last `:` begins them; write a `:` in a label \
             as `\\:`",
            labels[0]
        ));
    }
    let question = plain(question, Some(between));
    Ok((key, Some(question).filter(|text| !text.is_empty()), labels))
}

/// Where this mark stands with its meaning.
fn marks(text: &str, mark: char) -> Vec<usize> {
    let mut marks = Vec::new();
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == mark && !escaped {
            marks.push(at);
        }
        escaped = c == '\\' && !escaped;
    }
    marks
}

fn split(text: &str, mark: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for at in marks(text, mark) {
        parts.push(&text[start..at]);
        start = at + mark.len_utf8();
    }
    parts.push(&text[start..]);
    parts
}

/// The text without the backslashes that took a mark's meaning away, and without outer spaces.
///
/// Any other backslash is text: prose about paths and patterns is full of them.
fn plain(text: &str, between: Option<char>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.trim().chars().peekable();
    while let Some(c) = rest.next() {
        let means_itself = |next: char| next == ':' || next == '\\' || Some(next) == between;
        match rest.peek() {
            Some(&next) if c == '\\' && between.is_some() && means_itself(next) => {
                plain.push(next);
                rest.next();
            }
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts = (String, Option<String>, Vec<String>);

    fn parts(asked: Asked) -> Parts {
        let labels = match asked.kind {
            AskedKind::Noul => Vec::new(),
            AskedKind::Choice(labels) | AskedKind::Score(labels) => labels,
        };
        (asked.key, asked.text, labels)
    }

    #[track_caller]
    fn check(asked: Result<Asked, String>, key: &str, text: Option<&str>, labels: &[&str]) {
        let labels = labels.iter().map(ToString::to_string).collect();
        let expected: Parts = (key.to_owned(), text.map(str::to_owned), labels);
        assert_eq!(parts(asked.unwrap()), expected);
    }

    #[test]
    fn the_first_equals_sign_ends_the_key_and_the_last_colon_begins_the_labels() {
        check(noul("q=Is x=1: yes?"), "q", Some("Is x=1: yes?"), &[]);
        check(
            choice("q=Pick: one:a,b"),
            "q",
            Some("Pick: one"),
            &["a", "b"],
        );
        check(choice("q=x=y?: a , b "), "q", Some("x=y?"), &["a", "b"]);
        check(
            score("q=How?:low|mid, so|high"),
            "q",
            Some("How?"),
            &["low", "mid, so", "high"],
        );
        check(score(" q =How?:only"), "q", Some("How?"), &["only"]);
    }

    #[test]
    fn labels_need_no_text_before_them() {
        check(choice("q=:a,b"), "q", None, &["a", "b"]);
    }

    #[test]
    fn a_backslash_takes_the_meaning_of_a_mark_away() {
        check(
            choice(r"q=When?:10\:30,11\:00"),
            "q",
            Some("When?"),
            &["10:30", "11:00"],
        );
        check(
            choice(r"q=Which\: one?:a\,b,c"),
            "q",
            Some("Which: one?"),
            &["a,b", "c"],
        );
        check(
            score(r"q=How?:a\|b|c\\"),
            "q",
            Some("How?"),
            &["a|b", r"c\"],
        );
        // Elsewhere it is text, and a noul has no marks.
        check(choice(r"q=\d+?:\a,b"), "q", Some(r"\d+?"), &[r"\a", "b"]);
        check(noul(r"q=C:\\temp\:x"), "q", Some(r"C:\\temp\:x"), &[]);
    }

    #[test]
    fn a_colon_in_a_label_that_would_shift_the_split_is_refused() {
        let why = choice("q=When?:10:30,11:00").unwrap_err();
        assert!(why.contains("`00`") && why.contains(r"`\:`"), "{why}");
        let why = score("q=When?:10:30").unwrap_err();
        assert!(why.contains(r"`\:`"), "{why}");
    }

    #[test]
    fn what_is_no_question_is_refused_with_the_form() {
        for (asked, form) in [
            (noul("q"), "KEY=TEXT"),
            (noul("=x"), "KEY=TEXT"),
            (noul("q= "), "KEY=TEXT"),
            (choice("q=Which?"), "KEY=TEXT:A,B"),
            (choice("q=Which?:a,,b"), "KEY=TEXT:A,B"),
            (choice("q=Which?:"), "KEY=TEXT:A,B"),
            (choice("q=Which?:a,b,a"), "`a` stands there twice"),
            (score("q=How?:a|"), "KEY=TEXT:A|B|C"),
            (score(""), "KEY=TEXT:A|B|C"),
        ] {
            let why = asked.unwrap_err();
            assert!(why.contains(form), "{why}");
        }
    }
}
