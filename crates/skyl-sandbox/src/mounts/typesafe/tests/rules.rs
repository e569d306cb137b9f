//! What fits the schema and is refused all the same; and tokens.

use super::*;

fn noul() -> Value {
    json!({"n": {"type": "noul"}})
}

fn object_of(count: usize) -> Value {
    (0..count)
        .map(|n| (n.to_string(), Value::Null))
        .collect::<Map<_, _>>()
        .into()
}

#[test]
fn a_field_nobody_knows_is_refused_without_a_name() {
    let mut body = questions(&noul());
    body["routing"] = json!({"speed": "fast"});
    let expected = json!({"error_type": "api_usage_error", "message": "Invalid request."});
    assert_eq!(refused(ask(&body), 400), expected);
    // What does not fit the schema is said first.
    body["state"] = json!(5);
    assert_eq!(ask(&body).0, 422);
}

#[test]
fn aliases_answer_with_their_version_and_versions_with_themselves() {
    let with = |model: &str| {
        let mut body = questions(&noul());
        body["model"] = json!(model);
        ask(&body)
    };
    for (model, served) in [
        ("jev-latest", "jev-1.13.0"),
        ("jev-preview", "jev-1.14.0"),
        ("jev-1.13.0", "jev-1.13.0"),
        ("jev-1.14.0", "jev-1.14.0"),
        ("mine", "mine"),
        ("sandbox-do-503,ok@a", "jev-1.13.0"),
        ("sandbox-status-503", "jev-1.13.0"),
        ("sandbox-answer-extra", "jev-1.13.0"),
    ] {
        let (status, answer) = with(model);
        assert_eq!((status, &answer["model"]), (200, &json!(served)), "{model}");
    }
    for model in ["", "jev-0", "JEV-LATEST", "sandbox-refusal", "gpt-5.6"] {
        let message = format!("Unknown model: {model}");
        let expected = json!({"error_type": "api_usage_error", "message": message});
        assert_eq!(refused(with(model), 400), expected);
    }
}

#[test]
fn an_empty_id_is_refused_and_an_odd_one_is_not() {
    let detail = refused(ask(&questions(&json!({"": {"type": "noul"}}))), 400);
    assert_eq!(detail, "Question key cannot be empty.");
    answers(&json!({" ": {"type": "noul"}, "naïve 🚀": {"type": "noul"}}));
}

#[test]
fn a_choice_has_1_to_255_options() {
    let choice =
        |count| questions(&json!({"pick": {"type": "choice", "criteria": object_of(count)}}));
    assert_eq!(
        refused(ask(&choice(0)), 400),
        "Choice question must have at least one choice: pick"
    );
    assert_eq!(ask(&choice(1)).0, 200);
    assert_eq!(ask(&choice(255)).0, 200);
    assert_eq!(
        refused(ask(&choice(256)), 400),
        "Too many choices. Must have at most 255 choices."
    );
}

#[test]
fn a_score_has_at_most_10_levels() {
    let score =
        |count| questions(&json!({"s": {"type": "score", "criteria": vec!["level"; count]}}));
    assert_eq!(ask(&score(1)).0, 200);
    assert_eq!(ask(&score(10)).0, 200);
    assert_eq!(
        refused(ask(&score(11)), 400),
        "Too many score levels. Must have at most 10 levels."
    );
}

#[test]
fn the_last_of_two_keys_wins() {
    let body = r#"{"state":"s","model":"jev-0","model":"jev-preview","questions":
        {"q":{"type":"score"},"r":{"type":"noul"},"q":{"type":"noul"}}}"#;
    let (status, answer) = send(&post(body));
    assert_eq!((status, &answer["model"]), (200, &json!("jev-1.14.0")));
    let ids: Vec<_> = answer["answers"].as_object().unwrap().keys().collect();
    assert_eq!(ids, ["q", "r"]);
    assert_eq!(answer["answers"]["q"]["type"], "noul");
}

#[test]
fn tokens_are_a_function_of_the_bytes_and_the_answers() {
    // State `"a kettle"`: 10 bytes.
    for (asked, bytes, output) in [
        (json!({"n": {"type": "noul"}}), 10 + 15, 20),
        (
            json!({"s": {"type": "score", "criteria": ["a"]}}),
            10 + 33,
            17,
        ),
        (
            json!({"c": {"type": "choice", "criteria": {"a": null, "b": null}}}),
            10 + 48,
            36,
        ),
        (
            json!({"n": {"type": "noul"}, "m": {"type": "noul"}}),
            10 + 30,
            40,
        ),
    ] {
        let call = read(&post(questions(&asked).to_string()));
        let input = 239 + u64::div_ceil(331 * bytes, 1000);
        assert_eq!(call.tokens, input + output, "what the limiter charges");
        let usage = json!({"input_tokens": input, "output_tokens": output});
        assert_eq!(whole(&call).1["usage"], usage, "{asked}");
    }
    // White space in the JSON is not counted, and refusals cost nothing.
    let spaced = serde_json::to_string_pretty(&questions(&noul())).unwrap();
    assert_eq!(send(&post(spaced)), ask(&questions(&noul())));
    assert_eq!(read(&post(questions(&json!({})).to_string())).tokens, 0);
}

/// The status of a request whose state and questions have this many bytes of text each.
fn of_bytes(state: usize, each: &[usize], long: bool) -> (u16, Value) {
    let asked = each.iter().enumerate().map(|(n, bytes)| {
        let question = json!({"type": "noul", "instructions": "x".repeat(*bytes)});
        (n.to_string(), question)
    });
    let mut body = questions(&asked.collect::<Map<_, _>>().into());
    body["state"] = json!("x".repeat(state));
    let request = post(body.to_string());
    send(&if long {
        with_header(request, "typesafe-danger-zone-long-context", "true")
    } else {
        request
    })
}

#[test]
fn either_context_ceiling_is_refused_without_a_word_on_which() {
    // 32 Ki tokens are some 98,000 bytes: with one question, or with the longest of several.
    assert_eq!(of_bytes(90_000, &[5_000], false).0, 200);
    let too_long = json!({"error_type": "max_tokens_exceeded"});
    assert_eq!(refused(of_bytes(90_000, &[10_000], false), 400), too_long);
    assert_eq!(
        refused(of_bytes(90_000, &[1, 10_000, 1], false), 400),
        too_long
    );
    // 64 Ki tokens are some 197,000 bytes: with all questions.
    assert_eq!(of_bytes(90_000, &[5_000; 20], false).0, 200);
    assert_eq!(
        refused(of_bytes(90_000, &[5_000; 22], false), 400),
        too_long
    );
}

#[test]
fn a_long_context_is_taken_from_those_who_ask_for_it() {
    assert_eq!(of_bytes(700_000, &[1], true).0, 200);
    assert_eq!(of_bytes(1_000, &[70_000; 10], true).0, 200);
    let detail = refused(of_bytes(800_000, &[1], true), 400);
    assert_eq!(detail, json!({"error_type": "max_tokens_exceeded"}));
    let request = post(
        json!({"state": "x".repeat(200_000), "model": "jev-latest", "questions": noul()})
            .to_string(),
    );
    let request = with_header(request, "typesafe-danger-zone-long-context", "false");
    assert_eq!(send(&request).0, 400);
}
