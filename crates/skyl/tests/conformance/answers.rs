//! Texts, ends, usage, structured output, refusals.

use skyl::{Effort, ErrorKind, Image, Message, Part, ResponseFormat, Role, StopReason, Tool};

use crate::stage::{Case, MODES, PROMPT, Stage, defaults, echo, request, retries, script};

pub(crate) async fn texts_keep_their_bytes_complete_and_streamed(case: &Case) {
    let stage = Stage::new(case).await;
    for (prompt, expected) in [
        (PROMPT.to_owned(), echo()),
        ("What is the capital of France?".to_owned(), "Paris".into()),
        ("a".repeat(500), format!("You said: {}", "a".repeat(500))),
    ] {
        let asked = skyl::Request::new(case.model).user(prompt);
        let answer = stage.ask(&asked).await;
        assert_eq!(answer.text(), expected, "{}", case.name);
        assert_eq!(answer.stop_reason, StopReason::EndTurn, "{}", case.name);
        assert_eq!(&*answer.provider, stage.client.provider());
        assert_eq!(answer.model.as_deref(), Some(case.model), "{}", case.name);
        assert!(answer.id.is_some(), "{}", case.name);
        assert_eq!(answer.warnings, [], "{}", case.name);
        assert_eq!(answer.attempts().len(), 1, "{}", case.name);
    }
}

pub(crate) async fn a_token_limit_is_a_stop_reason(case: &Case) {
    let stage = Stage::new(case).await;
    if case.least_tokens > 1 {
        let asked = request(case.model).max_tokens(case.least_tokens - 1);
        refused_locally(&stage, &asked).await;
    }
    let limit = case.least_tokens.max(3);
    let words = usize::try_from(limit).unwrap();
    let long = "word  ".repeat(40);
    let asked = skyl::Request::new(case.model).user(&long).max_tokens(limit);
    let answer = stage.ask(&asked).await;
    let expected = format!("You said: {}", "word  ".repeat(words - 2));
    assert_eq!(answer.text(), expected.trim_end(), "{}", case.name);
    assert_eq!(answer.stop_reason, StopReason::MaxTokens, "{}", case.name);
    assert_eq!(
        answer.usage.output_tokens,
        Some(limit.into()),
        "{}",
        case.name
    );
    let answer = stage.ask(&request(case.model).max_tokens(1000)).await;
    assert_eq!(answer.stop_reason, StopReason::EndTurn, "{}", case.name);
}

pub(crate) async fn a_stop_text_ends_the_answer(case: &Case) {
    let stage = Stage::new(case).await;
    let asked = request(case.model).stop("spaces");
    if !case.takes_stops {
        refused_locally(&stage, &asked).await;
        return;
    }
    let answer = stage.ask(&asked).await;
    assert_eq!(answer.text(), "You said: two  ", "{}", case.name);
    let expected = if case.names_stop_text {
        StopReason::StopSequence
    } else {
        StopReason::EndTurn
    };
    assert_eq!(answer.stop_reason, expected, "{}", case.name);
}

/// What a provider cannot be told is refused before anything is sent.
async fn refused_locally(stage: &Stage, asked: &skyl::Request) {
    stage.clear();
    for mode in MODES {
        let error = stage.fail(asked, mode, defaults()).await;
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{}", stage.case);
        assert!(error.attempts().is_empty() && stage.sandbox.journal().is_empty());
    }
}

pub(crate) async fn usage_counts_caches_into_the_input(case: &Case) {
    let stage = Stage::new(case).await;
    let (words, said) = (7, 9);
    let plain = stage.ask(&request(case.model)).await.usage;
    assert_eq!(plain.input_tokens, Some(words), "{}", case.name);
    assert_eq!(plain.output_tokens, Some(said), "{}", case.name);
    assert_eq!(plain.cache_read_tokens.unwrap_or(0), 0, "{}", case.name);

    let cached = stage.ask(&request("sandbox-cached")).await.usage;
    assert_eq!(
        cached.input_tokens,
        Some(words + 1024 + 256),
        "{}",
        case.name
    );
    assert_eq!(cached.cache_read_tokens, Some(1024), "{}", case.name);
    let written = case.tells_cache_writes.then_some(256);
    assert_eq!(cached.cache_write_tokens, written, "{}", case.name);
    assert_eq!(cached.output_tokens, Some(said), "{}", case.name);
}

pub(crate) async fn reasoning_is_counted_into_the_output(case: &Case) {
    let stage = Stage::new(case).await;
    let answer = stage.ask(&request("sandbox-reasoning")).await;
    assert_eq!(answer.text(), echo(), "{}", case.name);
    assert_eq!(answer.usage.reasoning_tokens, Some(4), "{}", case.name);
    assert_eq!(answer.usage.output_tokens, Some(9 + 4), "{}", case.name);
    let thoughts: Vec<_> = answer
        .message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Reasoning(reasoning) => Some(reasoning.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(thoughts, ["The question is simple."], "{}", case.name);
}

pub(crate) async fn structured_output_fits_its_schema(case: &Case) {
    let stage = Stage::new(case).await;
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "pages": {"type": "integer"},
            "language": {"type": "string", "enum": ["en", "fr"]},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["title", "pages", "language", "tags"],
        "additionalProperties": false,
    });
    let asked = request(case.model).response_format(ResponseFormat::json_schema(schema));
    let answer = stage.ask(&asked).await;
    let document: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
    let expected = serde_json::json!({
        "title": "sandbox", "pages": 1, "language": "en", "tags": ["sandbox"],
    });
    assert_eq!(document, expected, "{}", case.name);
    assert_eq!(answer.stop_reason, StopReason::EndTurn, "{}", case.name);
}

pub(crate) async fn a_refusal_without_text_is_an_error_with_its_words(case: &Case) {
    let stage = Stage::new(case).await;
    for (model, words) in [
        (
            "sandbox-refusal",
            Some("I'm sorry, I can't help with that."),
        ),
        ("sandbox-content-filter", None),
    ] {
        for mode in MODES {
            stage.clear();
            let error = stage.fail(&request(model), mode, defaults()).await;
            assert_eq!(error.kind(), ErrorKind::Refusal, "{} {model}", case.name);
            if let Some(words) = words {
                assert_eq!(error.message(), Some(words), "{} {mode:?}", case.name);
            }
            let usage = error.usage().unwrap();
            assert_eq!(usage.input_tokens, Some(7), "{} {mode:?}", case.name);
            assert!(!error.retryable(), "{} {mode:?}", case.name);
            assert_eq!(stage.sandbox.journal().len(), 1, "{} {model}", case.name);
        }
    }
}

pub(crate) async fn a_200_without_an_answer_is_never_an_empty_success(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        for (asked, kind, retryable) in [
            (request("sandbox-empty"), ErrorKind::Server, true),
            (script("200(body=empty)", mode), ErrorKind::Server, true),
        ] {
            stage.clear();
            let error = stage.fail(&asked, mode, retries(1)).await;
            let told = format!("{} {mode:?} {}: {error}", case.name, asked.model);
            assert_eq!(
                (error.kind(), error.retryable()),
                (kind, retryable),
                "{told}"
            );
            assert_eq!(error.http_status(), Some(200), "{told}");
            assert_eq!(stage.agreed(error.attempts()), [Some(200); 2], "{told}");
        }
        for body in ["html", "cut"] {
            stage.clear();
            let asked = script(&format!("200(body={body})"), mode);
            let error = stage.fail(&asked, mode, retries(1)).await;
            let told = format!("{} {mode:?} {body}: {error}", case.name);
            assert!(!error.delivered(), "{told}");
            let tries = if error.retryable() { 2 } else { 1 };
            assert_eq!(stage.agreed(error.attempts()).len(), tries, "{told}");
        }
    }
}

pub(crate) async fn a_full_request_is_taken(case: &Case) {
    let stage = Stage::new(case).await;
    let image = Image::Data {
        media_type: "image/png".to_owned(),
        data: b"\x89PNG\r\n\x1a\n".to_vec(),
    };
    let tool = Tool::new(
        "clock",
        serde_json::json!({"type": "object", "properties": {}}),
    );
    let mut asked = skyl::Request::new(case.model)
        .system("Be brief.")
        .user("one")
        .message(Message::assistant("two"))
        .message(Message::new(
            Role::User,
            vec![Part::text("three"), Part::Image(image)],
        ))
        .max_tokens(2048)
        .tool(tool.description("The time."))
        .reasoning_effort(Effort::Low);
    if case.takes_stops {
        asked = asked.stop("never");
    }
    let answer = stage.ask(&asked).await;
    assert_eq!(answer.text(), "You said: three", "{}", case.name);
    assert_eq!(answer.warnings, [], "{}", case.name);

    asked = asked.temperature(0.5);
    if case.samples {
        stage.ask(&asked).await;
        return;
    }
    refused_locally(&stage, &asked).await;
}
