//! What does not fit the schema: the 422 and its issues, word by word.

use super::*;

/// The issues of a request.
#[track_caller]
fn issues(body: &Value) -> Vec<Value> {
    let Value::Array(issues) = refused(ask(body), 422) else {
        panic!("no list")
    };
    issues
}

/// The issues of one question, each without the place's first three segments.
#[track_caller]
fn of_question(question: &Value) -> Vec<Value> {
    let mut found = issues(&questions(&json!({"q": question})));
    for issue in &mut found {
        let loc = issue["loc"].as_array_mut().unwrap();
        let start: Vec<_> = loc.drain(..3).collect();
        assert_eq!(start, ["body", "questions", "q"]);
    }
    found
}

/// The three issues of something that is no entry.
fn arms(loc: &[&str], input: &Value) -> Vec<Value> {
    [
        ("str", "string_type", "Input should be a valid string"),
        (
            "dict[any,any]",
            "dict_type",
            "Input should be a valid dictionary",
        ),
        ("list[any]", "list_type", "Input should be a valid list"),
    ]
    .iter()
    .map(|(arm, kind, message)| {
        let loc: Vec<_> = loc.iter().chain([arm]).collect();
        json!({"type": kind, "loc": loc, "msg": message, "input": input})
    })
    .collect()
}

fn too_short(container: &str, loc: &[&str], input: &Value) -> Value {
    json!({
        "type": "too_short",
        "loc": loc,
        "msg": format!("{container} should have at least 1 item after validation, not 0"),
        "input": input,
        "ctx": {"field_type": container, "min_length": 1, "actual_length": 0},
    })
}

#[test]
fn a_state_is_a_text_an_object_or_an_array() {
    let with = |state: Value| {
        let mut body = questions(&json!({"n": {"type": "noul"}}));
        body["state"] = state;
        body
    };
    for state in [
        json!("s"),
        json!(""),
        json!({}),
        json!([]),
        json!([1, null]),
    ] {
        assert_eq!(ask(&with(state)).0, 200);
    }
    for state in [json!(5), json!(1.5), json!(true)] {
        assert_eq!(
            issues(&with(state.clone())),
            arms(&["body", "state"], &state)
        );
    }
}

#[test]
fn a_null_state_counts_as_missing_and_echoes_the_request() {
    let mut body = questions(&json!({"n": {"type": "noul"}}));
    body["state"] = Value::Null;
    let missing = json!({"type": "missing", "loc": ["body", "state"], "msg": "Field required", "input": body});
    assert_eq!(issues(&body), [missing]);
}

#[test]
fn every_missing_field_is_named() {
    let body = json!({"model": "jev-latest"});
    let found = issues(&body);
    let places: Vec<_> = found.iter().map(|issue| &issue["loc"]).collect();
    assert_eq!(
        places,
        [&json!(["body", "state"]), &json!(["body", "questions"])]
    );
    assert!(found.iter().all(|issue| issue["input"] == body));
}

#[test]
fn a_request_without_a_model_meets_no_fault() {
    for body in [json!({}), json!({"model": 5}), json!({"model": null})] {
        let call = read(&post(body.to_string()));
        assert!(call.refused && call.model.is_none(), "{body}");
        assert_eq!(whole(&call).0, 422);
    }
    let found = issues(&json!({"state": "s", "model": 5, "questions": {"n": {"type": "noul"}}}));
    let expected = json!({"type": "string_type", "loc": ["body", "model"], "msg": "Input should be a valid string", "input": 5});
    assert_eq!(found, [expected]);
    let named = read(&post(r#"{"model":"sandbox-status-503"}"#));
    assert!(!named.refused, "a fault needs nothing but its name");
    assert_eq!(named.model.as_deref(), Some("sandbox-status-503"));
}

#[test]
fn questions_are_a_filled_object() {
    let empty = too_short("Dictionary", &["body", "questions"], &json!({}));
    assert_eq!(issues(&questions(&json!({}))), [empty]);
    let list = json!([{"type": "noul"}]);
    let expected = json!({"type": "dict_type", "loc": ["body", "questions"], "msg": "Input should be a valid dictionary", "input": list});
    assert_eq!(issues(&questions(&list)), [expected]);
}

#[test]
fn a_question_is_an_object_with_a_known_type() {
    let message = "Input should be a valid dictionary or object to extract fields from";
    assert_eq!(
        of_question(&json!("n")),
        [json!({"type": "model_attributes_type", "loc": [], "msg": message, "input": "n"})]
    );
    let untyped = json!({"instructions": "?"});
    assert_eq!(
        of_question(&untyped),
        [json!({
            "type": "union_tag_not_found",
            "loc": [],
            "msg": "Unable to extract tag using discriminator 'type'",
            "input": untyped,
            "ctx": {"discriminator": "'type'"},
        })]
    );
    for (kind, tag) in [
        (json!("ranking"), "ranking"),
        (json!(5), "5"),
        (json!("Noul"), "Noul"),
    ] {
        let question = json!({"type": kind});
        let found = of_question(&question);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["type"], "union_tag_invalid");
        assert_eq!(found[0]["ctx"]["tag"], tag);
        let message = format!(
            "Input tag '{tag}' found using 'type' does not match any of the expected tags: 'noul', 'choice', 'score', 'box'"
        );
        assert_eq!(found[0]["msg"], message);
    }
}

#[test]
fn the_type_is_a_segment_of_the_place() {
    for kind in ["choice", "score"] {
        let question = json!({"type": kind, "instructions": "?"});
        assert_eq!(
            of_question(&question),
            [
                json!({"type": "missing", "loc": [kind, "criteria"], "msg": "Field required", "input": question})
            ]
        );
    }
}

#[test]
fn instructions_are_an_entry_or_null_in_every_type() {
    let typed = |kind: &str, instructions: &Value| {
        let criteria = match kind {
            "choice" => json!({"a": null}),
            "score" => json!(["a"]),
            _ => Value::Null,
        };
        json!({"type": kind, "instructions": instructions, "criteria": criteria})
    };
    for kind in ["noul", "choice", "score"] {
        for instructions in [json!("?"), json!({"task": 1}), json!([]), Value::Null] {
            answers(&json!({"q": typed(kind, &instructions)}));
        }
        for instructions in [json!(5), json!(false)] {
            let found = of_question(&typed(kind, &instructions));
            assert_eq!(found, arms(&[kind, "instructions"], &instructions));
        }
    }
    let found = of_question(&typed("box", &json!(5)));
    assert_eq!(found, arms(&["box", "instructions"], &json!(5)));
}

#[test]
fn a_noul_may_have_no_words_and_has_two_outcomes() {
    for criteria in [
        Value::Null,
        json!({}),
        json!({"true": "yes", "false": null}),
        json!({"true": [], "false": {}, "maybe": 5}),
    ] {
        answers(&json!({"q": {"type": "noul", "criteria": criteria}}));
    }
    let found = of_question(&json!({"type": "noul", "criteria": {"true": 5}}));
    assert_eq!(found, arms(&["noul", "criteria", "true"], &json!(5)));
    let found = of_question(&json!({"type": "noul", "criteria": ["yes"]}));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["loc"], json!(["noul", "criteria"]));
    assert_eq!(found[0]["type"], "model_attributes_type");
}

#[test]
fn a_choice_has_an_object_of_entries_or_nulls() {
    answers(
        &json!({"q": {"type": "choice", "criteria": {"a": null, "": "empty", "c": {}, "d": []}}}),
    );
    let found = of_question(&json!({"type": "choice", "criteria": {"a": null, "b": 5}}));
    assert_eq!(found, arms(&["choice", "criteria", "b"], &json!(5)));
    for criteria in [json!(["a"]), Value::Null] {
        let found = of_question(&json!({"type": "choice", "criteria": criteria}));
        assert_eq!(
            found,
            [
                json!({"type": "dict_type", "loc": ["choice", "criteria"], "msg": "Input should be a valid dictionary", "input": criteria})
            ]
        );
    }
}

#[test]
fn a_score_has_a_filled_list_of_entries() {
    answers(&json!({"q": {"type": "score", "criteria": ["a", {}, []]}}));
    let found = of_question(&json!({"type": "score", "criteria": []}));
    assert_eq!(
        found,
        [too_short("List", &["score", "criteria"], &json!([]))]
    );
    let found = of_question(&json!({"type": "score", "criteria": {"0": "a"}}));
    assert_eq!(found[0]["type"], "list_type");
    assert_eq!(found.len(), 1);
}

#[test]
fn a_null_level_has_an_issue_for_each_arm() {
    let found = issues(&questions(
        &json!({"s": {"type": "score", "criteria": ["a", null]}}),
    ));
    let recorded = json!([
        {
            "type": "string_type",
            "loc": ["body", "questions", "s", "score", "criteria", 1, "str"],
            "msg": "Input should be a valid string",
            "input": null
        },
        {
            "type": "dict_type",
            "loc": ["body", "questions", "s", "score", "criteria", 1, "dict[any,any]"],
            "msg": "Input should be a valid dictionary",
            "input": null
        },
        {
            "type": "list_type",
            "loc": ["body", "questions", "s", "score", "criteria", 1, "list[any]"],
            "msg": "Input should be a valid list",
            "input": null
        }
    ]);
    assert_eq!(Value::Array(found), recorded);
}

#[test]
fn issues_of_all_questions_come_in_one_answer() {
    let found = issues(&json!({
        "state": 5,
        "model": "jev-latest",
        "questions": {
            "queue": {"type": "choice", "instructions": "Pick one"},
            "fine": {"type": "noul"},
            "patience": {"type": "score", "criteria": []},
        },
    }));
    let kinds: Vec<_> = found.iter().map(|issue| &issue["type"]).collect();
    assert_eq!(
        kinds,
        [
            "string_type",
            "dict_type",
            "list_type",
            "missing",
            "too_short"
        ]
    );
}

#[test]
fn fields_nobody_knows_are_ignored_inside_a_question() {
    answers(&json!({"q": {"type": "noul", "instructions": "?", "weight": 5}}));
}

#[test]
fn assets_are_a_filled_object_of_images() {
    let with = |assets: Value| {
        let mut body = questions(&json!({"n": {"type": "noul"}}));
        body["assets"] = assets;
        body
    };
    assert_eq!(ask(&with(Value::Null)).0, 200, "a null is no asset");
    let empty = too_short("Dictionary", &["body", "assets"], &json!({}));
    assert_eq!(issues(&with(json!({}))), [empty]);
    for (asset, kind, loc) in [
        (
            json!("x"),
            "model_attributes_type",
            json!(["body", "assets", "a"]),
        ),
        (
            json!({"type": "video"}),
            "literal_error",
            json!(["body", "assets", "a", "type"]),
        ),
        (
            json!({"format": "gif"}),
            "enum",
            json!(["body", "assets", "a", "format"]),
        ),
        (
            json!({"data_base64": 5}),
            "string_type",
            json!(["body", "assets", "a", "data_base64"]),
        ),
        (
            json!({"part": []}),
            "string_type",
            json!(["body", "assets", "a", "part"]),
        ),
    ] {
        let found = issues(&with(json!({"a": asset})));
        assert_eq!(found.len(), 1, "{asset}");
        assert_eq!((&found[0]["type"], &found[0]["loc"]), (&json!(kind), &loc));
    }
}

#[test]
fn a_request_of_a_million_mistakes_has_a_bounded_answer() {
    let levels = vec![Value::Null; 100_000];
    let found = issues(&questions(
        &json!({"s": {"type": "score", "criteria": levels}}),
    ));
    assert_eq!(found.len(), 1000);
}

#[test]
fn text_that_is_no_json_is_refused_with_its_place() {
    for (body, at) in [
        ("{", 0),
        ("{\"a\":}", 5),
        ("{\n \"a\": x}", 8),
        ("nonsense", 1),
    ] {
        let Value::Array(found) = refused(send(&post(body)), 422) else {
            panic!("no list")
        };
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["type"], "json_invalid");
        assert_eq!(found[0]["msg"], "JSON decode error");
        assert_eq!(found[0]["input"], json!({}));
        assert!(found[0]["ctx"]["error"].is_string());
        assert_eq!(found[0]["loc"], json!(["body", at]), "{body}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(send(&post(deep)).0, 422);
    assert_eq!(send(&post(&b"{\"model\":\"\xff\"}"[..])).0, 422);
}

#[test]
fn a_body_that_is_no_object_or_not_there_is_refused() {
    let Value::Array(found) = refused(send(&post("[1]")), 422) else {
        panic!("no list")
    };
    assert_eq!(found[0]["type"], "model_attributes_type");
    assert_eq!(
        (&found[0]["loc"], &found[0]["input"]),
        (&json!(["body"]), &json!([1]))
    );
    let detail = refused(send(&post("")), 422);
    let expected =
        json!([{"type": "missing", "loc": ["body"], "msg": "Field required", "input": null}]);
    assert_eq!(detail, expected);
}
