//! What is asked: a document, or a state and questions in flags.

use std::io::{self, IsTerminal};
use std::path::Path;

use skyl::system_one::{Choice, Noul, Question, Questions, Request, Score};

use crate::args::{Asked, AskedKind, QuestionArgs};
use crate::failure::Failure;
use crate::file;
use crate::input;
use crate::provider::Api;

/// Reads the request from where the flags say.
pub(super) async fn read(args: &QuestionArgs) -> Result<Request, Failure> {
    if let Some(state) = &args.state {
        let asked = [&args.noul, &args.choice, &args.score];
        let questions: Questions = asked.into_iter().flatten().map(question).collect();
        if questions.is_empty() {
            return Err(Failure::usage(
                "a question is missing: --noul, --choice or --score",
            ));
        }
        return Ok(Request::new(self::state(state).await?, questions));
    }
    match &args.file {
        Some(path) if path != Path::new("-") => document(&bytes("--file", path).await?),
        explicit => {
            if explicit.is_none() && io::stdin().is_terminal() {
                return Err(Failure::usage(MISSING));
            }
            let text = input::stdin("the document").await?;
            if text.trim().is_empty() {
                return Err(Failure::usage(format!(
                    "{MISSING}; standard input is empty"
                )));
            }
            document(text.as_bytes())
        }
    }
}

/// Reads a request document.
pub(super) fn document(bytes: &[u8]) -> Result<Request, Failure> {
    Request::from_json(bytes).map_err(|fault| refused(fault.message().unwrap_or_default()))
}

/// A request that is not sent, because of its own words.
pub(super) fn refused(why: &str) -> Failure {
    Failure::Refused {
        provider: Api::SystemOne.at_an_address().name,
        why: why.to_owned(),
    }
}

/// The text of a state: as it was given, from a file, or from standard input.
async fn state(given: &str) -> Result<String, Failure> {
    if given == "-" {
        return input::stdin("the state").await;
    }
    let Some(path) = given.strip_prefix('@') else {
        return Ok(given.to_owned());
    };
    if path.starts_with('@') {
        return Ok(path.to_owned());
    }
    let mut text = String::from_utf8(bytes("--state", Path::new(path)).await?)
        .map_err(|_| Failure::usage(format!("--state @{path}: not valid UTF-8")))?;
    input::trim_end(&mut text);
    Ok(text)
}

async fn bytes(flag: &'static str, path: &Path) -> Result<Vec<u8>, Failure> {
    input::blocking(path.to_owned(), move |path| {
        file::read(&path, input::MAX_MIB).map_err(|unread| {
            Failure::usage(format!("{flag} {}: {}", path.display(), unread.why()))
        })
    })
    .await
}

fn question(asked: &Asked) -> (String, Question) {
    let text = asked.text.clone();
    let question = match &asked.kind {
        AskedKind::Noul => text.map_or_else(Noul::default, Noul::new).into(),
        AskedKind::Choice(options) => {
            let choice = text.map_or_else(Choice::default, Choice::new);
            choice.options(options.clone()).into()
        }
        AskedKind::Score(levels) => {
            let score = text.map_or_else(Score::default, Score::new);
            score.levels(levels.clone()).into()
        }
    };
    (asked.key.clone(), question)
}

const MISSING: &str = "nothing is asked: a document comes with --file or on standard input, \
                       or --state goes with --noul, --choice and --score";

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kind: AskedKind, text: Option<&str>) -> Asked {
        Asked {
            key: "q".to_owned(),
            text: text.map(str::to_owned),
            kind,
        }
    }

    #[tokio::test]
    async fn a_state_is_its_text_a_file_or_escaped() {
        assert_eq!(state("plain @x").await.unwrap(), "plain @x");
        assert_eq!(state("@@home").await.unwrap(), "@home");
        let text = state("@src/commands.rs").await.unwrap();
        assert!(
            text.starts_with("//! One file") && !text.ends_with('\n'),
            "{text}"
        );
        let line = state("@no/such").await.unwrap_err().line();
        assert!(line.starts_with("--state no/such: "), "{line}");
    }

    #[tokio::test]
    async fn a_state_without_a_question_asks_nothing() {
        let args = QuestionArgs {
            state: Some("x".to_owned()),
            ..QuestionArgs::default()
        };
        assert!(read(&args).await.unwrap_err().line().contains("--noul"));
        let args = QuestionArgs {
            noul: vec![asked(AskedKind::Noul, Some("Well?"))],
            ..args
        };
        assert!(read(&args).await.is_ok());
    }

    #[test]
    fn flags_come_to_the_questions_of_a_document() {
        let labels = || vec!["a".to_owned(), "b".to_owned()];
        for (kind, text, json) in [
            (
                AskedKind::Noul,
                Some("Well?"),
                r#"{"type":"noul","instructions":"Well?"}"#,
            ),
            (
                AskedKind::Choice(labels()),
                None,
                r#"{"type":"choice","criteria":{"a":null,"b":null}}"#,
            ),
            (
                AskedKind::Score(labels()),
                Some("How?"),
                r#"{"type":"score","instructions":"How?","criteria":["a","b"]}"#,
            ),
        ] {
            let ours: Questions = [question(&asked(kind, text))].into_iter().collect();
            let ours = Request::new("x", ours).encode("m").unwrap();
            let theirs = format!(r#"{{"state":"x","questions":{{"q":{json}}}}}"#);
            let theirs = document(theirs.as_bytes()).unwrap().encode("m").unwrap();
            assert_eq!(ours.body, theirs.body, "{json}");
        }
    }

    #[test]
    fn what_is_no_document_is_refused_and_was_not_sent() {
        for (text, why) in [
            ("", "not JSON"),
            ("[]", "must be a JSON object"),
            (r#"{"state":"x"}"#, "questions: missing"),
        ] {
            let failure = document(text.as_bytes()).unwrap_err();
            assert_eq!(failure.exit().code(), 2, "{text}");
            let line = failure.line();
            assert!(
                line.starts_with("skyl: typesafe: invalid request: "),
                "{line}"
            );
            assert!(line.contains(why), "{line}");
        }
    }
}
