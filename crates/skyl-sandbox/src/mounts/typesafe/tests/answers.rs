//! What the answers are, and the odd ones.

use super::{super::draw, *};

fn mixed() -> Value {
    json!({
        "noul": {"type": "noul", "instructions": "Is it broken?"},
        "choice": {"type": "choice", "criteria": {"b": null, "a": "first", "c": {"x": 1}}},
        "score": {"type": "score", "criteria": ["low", {"label": "mid"}, ["high"]]},
    })
}

/// The hundredths of a number with two decimals.
#[track_caller]
fn hundredths(value: &Value) -> i64 {
    let text = value.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, after)| after.len());
    assert!((1..=2).contains(&decimals), "{text}");
    let digits: i64 = text.replace('.', "").parse().unwrap();
    if decimals == 1 { digits * 10 } else { digits }
}

fn probabilities(answer: &Value) -> Vec<i64> {
    let members = answer["probabilities"].as_object().unwrap();
    members.values().map(hundredths).collect()
}

#[test]
fn every_question_has_its_answer_in_the_order_of_the_request() {
    let answers = answers(&mixed());
    let ids: Vec<_> = answers.as_object().unwrap().keys().collect();
    assert_eq!(ids, ["noul", "choice", "score"]);
    for (id, members) in [
        ("noul", &["type", "noul"][..]),
        ("choice", &["type", "choice", "confidence", "probabilities"]),
        (
            "score",
            &["type", "score", "confidence", "legend", "probabilities"],
        ),
    ] {
        let answer = answers[id].as_object().unwrap();
        assert_eq!(answer["type"], id);
        assert_eq!(answer.keys().collect::<Vec<_>>(), members);
    }
}

#[test]
fn an_answer_has_exactly_three_members() {
    let (_, answer) = ask(&questions(&mixed()));
    let members: Vec<_> = answer.as_object().unwrap().keys().collect();
    assert_eq!(members, ["model", "answers", "usage"]);
}

#[test]
fn numbers_are_what_the_provider_says_they_are() {
    for state in 0..200 {
        let mut body = questions(&mixed());
        body["state"] = json!([state]);
        let (_, answer) = ask(&body);
        let answers = &answer["answers"];
        assert!((0..=100).contains(&hundredths(&answers["noul"]["noul"])));

        let choice = &answers["choice"];
        let names: Vec<_> = choice["probabilities"]
            .as_object()
            .unwrap()
            .keys()
            .collect();
        assert_eq!(names, ["b", "a", "c"], "options keep their order");
        let shares = probabilities(choice);
        assert_eq!(shares.iter().sum::<i64>(), 100);
        let most = *shares.iter().max().unwrap();
        let chosen = choice["choice"].as_str().unwrap();
        assert_eq!(hundredths(&choice["probabilities"][chosen]), most);
        assert_eq!(shares.iter().filter(|share| **share == most).count(), 1);

        let score = &answers["score"];
        let levels: Vec<_> = score["probabilities"].as_object().unwrap().keys().collect();
        assert_eq!(levels, ["0", "1", "2"]);
        let shares = probabilities(score);
        assert_eq!(shares.iter().sum::<i64>(), 100);
        let mean: i64 = (0..).zip(&shares).map(|(level, share)| level * share).sum();
        assert_eq!(hundredths(&score["score"]), mean);
        let legend = json!({"0": "low", "1": {"label": "mid"}, "2": ["high"]});
        assert_eq!(score["legend"], legend, "as it was sent");
    }
}

#[test]
fn every_outcome_comes_up() {
    let mut chosen = std::collections::BTreeSet::new();
    let mut sides = [0; 2];
    for state in 0..100 {
        let mut body = questions(&mixed());
        body["state"] = json!([state]);
        let answers = ask(&body).1["answers"].take();
        chosen.insert(answers["choice"]["choice"].as_str().unwrap().to_owned());
        sides[usize::from(answers["noul"]["noul"].as_f64().unwrap() > 0.5)] += 1;
    }
    assert_eq!(chosen.len(), 3);
    assert!(sides.iter().all(|side| *side > 20), "{sides:?}");
}

#[test]
fn confidence_is_the_distance_from_chance() {
    // The first two rows are recorded answers of the hosted API.
    for (shares, confidence) in [
        (&[94, 2, 4][..], 0.91),
        (&[90, 10], 0.8),
        (&[100], 1.0),
        (&[100, 0], 1.0),
        (&[51, 49], 0.02),
        (&[52, 12, 12, 12, 12], 0.4),
    ] {
        let said = draw::confidence(shares);
        assert!((said - confidence).abs() < 1e-9, "{shares:?}: {said}");
    }
}

#[test]
fn shares_add_up_with_any_number_of_options() {
    for options in 1..=255 {
        let criteria: Map<_, _> = (0..options).map(|n| (n.to_string(), Value::Null)).collect();
        let answers = answers(&json!({"q": {"type": "choice", "criteria": criteria}}));
        assert_eq!(
            probabilities(&answers["q"]).iter().sum::<i64>(),
            100,
            "{options}"
        );
    }
}

#[test]
fn one_option_is_certain() {
    let one = answers(
        &json!({"c": {"type": "choice", "criteria": {"": null}}, "s": {"type": "score", "criteria": ["x"]}}),
    );
    let choice =
        json!({"type": "choice", "choice": "", "confidence": 1.0, "probabilities": {"": 1.0}});
    assert_eq!(one["c"], choice);
    let score = json!({"type": "score", "score": 0.0, "confidence": 1.0, "legend": {"0": "x"}, "probabilities": {"0": 1.0}});
    assert_eq!(one["s"], score);
}

#[test]
fn an_answer_hangs_on_its_state_and_its_question_alone() {
    let asked = |state: &str, model: &str, asked: &Value| {
        ask(&json!({"state": state, "model": model, "questions": asked})).1["answers"].take()
    };
    let noul = json!({"type": "choice", "instructions": "?", "criteria": {"a": null, "b": null, "c": null}});
    let alone = asked("s", "jev-latest", &json!({"q": noul}));
    // Another name, another model, another question beside it.
    let other = asked(
        "s",
        "jev-preview",
        &json!({"p": {"type": "noul"}, "renamed": noul}),
    );
    assert_eq!(alone["q"], other["renamed"]);
    let mut changed = noul.clone();
    changed["instructions"] = json!("!");
    for other in [
        asked("t", "jev-latest", &json!({"q": noul})),
        asked("s", "jev-latest", &json!({"q": changed})),
    ] {
        assert_ne!(alone["q"], other["q"]);
    }
}

/// The answers of an odd model, and of the same request without its name.
fn odd(model: &str) -> (Value, Value) {
    let mut body = questions(&mixed());
    let ordinary = ask(&body).1;
    body["model"] = json!(model);
    let (status, odd) = ask(&body);
    assert_eq!((status, &odd["model"]), (200, &json!("jev-1.13.0")));
    (odd, ordinary)
}

/// Everything beside the first answer is as usual.
fn only_the_first_differs(odd: &Value, ordinary: &Value) {
    for id in ["choice", "score"] {
        assert_eq!(odd["answers"][id], ordinary["answers"][id]);
    }
    assert_ne!(odd["answers"]["noul"], ordinary["answers"]["noul"]);
    assert_eq!(odd["usage"], ordinary["usage"]);
}

#[test]
fn an_answer_can_be_missing_or_one_too_many() {
    let (missing, ordinary) = odd("sandbox-answer-missing");
    assert!(missing["answers"].get("noul").is_none());
    only_the_first_differs(&missing, &ordinary);

    let (extra, mut ordinary) = odd("sandbox-answer-extra");
    ordinary["answers"]["sandbox-extra"] = json!({"type": "noul", "noul": 0.5});
    assert_eq!(extra, ordinary);

    let (empty, ordinary) = odd("sandbox-empty");
    assert_eq!(empty["answers"], json!({}));
    assert_eq!(empty["usage"], ordinary["usage"]);
}

#[test]
fn an_answer_can_have_another_type() {
    let (mistyped, ordinary) = odd("sandbox-answer-mistyped");
    assert_eq!(mistyped["answers"]["noul"]["type"], "choice");
    only_the_first_differs(&mistyped, &ordinary);

    let (unknown, ordinary) = odd("sandbox-answer-unknown-type");
    assert_eq!(unknown["answers"]["noul"]["type"], "ranking");
    only_the_first_differs(&unknown, &ordinary);
}

/// The first answer of an odd model to one question.
fn odd_one(model: &str, question: &Value) -> Value {
    let mut body = questions(&json!({"q": question}));
    body["model"] = json!(model);
    ask(&body).1["answers"]["q"].take()
}

#[test]
fn an_answer_can_be_out_of_range_or_incomplete_in_every_type() {
    let choice = json!({"type": "choice", "criteria": {"a": null, "b": null}});
    let score = json!({"type": "score", "criteria": ["a", "b"]});
    for (question, member, place) in [
        (json!({"type": "noul"}), "noul", "noul"),
        (choice, "choice", "confidence"),
        (score, "score", "score"),
    ] {
        let wild = odd_one("sandbox-answer-out-of-range", &question);
        assert_eq!(wild[place], 17.0);
        assert_eq!(wild["type"], question["type"]);
        let partial = odd_one("sandbox-answer-incomplete", &question);
        assert!(partial.get(member).is_none());
        assert_eq!(partial["type"], question["type"]);
        let mistyped = odd_one("sandbox-answer-mistyped", &question);
        assert_ne!(mistyped["type"], question["type"]);
    }
}

#[test]
fn an_answer_can_come_twice() {
    for question in [
        json!({"type": "noul"}),
        json!({"type": "choice", "criteria": {"a": null, "b": null}}),
        json!({"type": "choice", "criteria": {"only": null}}),
        json!({"type": "score", "criteria": ["a", "b"]}),
    ] {
        let mut body = questions(&json!({"q": question, "p": {"type": "noul"}}));
        let ordinary = ask(&body).1;
        body["model"] = json!("sandbox-answer-duplicate");
        let twice = text(&read(&post(body.to_string())));
        assert_eq!(twice.matches("\"q\":{").count(), 2, "{twice}");
        assert_eq!(twice.matches("\"p\":{").count(), 1);
        assert!(twice.contains(&format!("\"q\":{}", ordinary["answers"]["q"])));
        let last: Value = serde_json::from_str(&twice).unwrap();
        assert_ne!(last["answers"]["q"], ordinary["answers"]["q"]);
    }
}

#[test]
fn usage_can_be_missing_or_below_zero() {
    let (missing, mut ordinary) = odd("sandbox-usage-missing");
    ordinary.as_object_mut().unwrap().remove("usage");
    assert_eq!(missing, ordinary);
    let (negative, mut ordinary) = odd("sandbox-usage-negative");
    ordinary["usage"]["input_tokens"] = json!(-1);
    assert_eq!(negative, ordinary);
}

#[test]
fn an_odd_model_validates_like_any_other() {
    let body = json!({"state": "s", "model": "sandbox-answer-missing", "questions": {}});
    assert_eq!(ask(&body).0, 422);
}
