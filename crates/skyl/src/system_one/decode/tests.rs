//! The table of both modes, row by row, and the recorded replies.

mod any;

use serde_json::{Value, json};

use super::*;
use crate::kind::ErrorKind;
use crate::system_one::{BoxQuestion, Choice, Content, Noul, Request, Score};

fn fixture(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/system-one/");
    serde_json::from_slice(&std::fs::read(format!("{folder}{name}")).unwrap()).unwrap()
}

fn asked(name: &str) -> Questions {
    let document = fixture(name).to_string();
    Request::from_json(document.as_bytes()).unwrap().questions
}

fn bytes(text: impl Into<String>) -> Bytes {
    Bytes::from(text.into())
}

/// One question of each kind.
fn all_kinds() -> Questions {
    Questions::new()
        .ask("n", Noul::new("i"))
        .ask("c", Choice::new("i").option("x").option("y"))
        .ask("s", Score::new("i").levels(["a", "b", "c"]))
        .ask("b", BoxQuestion::new("i"))
}

/// A sound reply to all of them.
fn sound() -> Value {
    json!({
        "model": "jev-1",
        "answers": {
            "n": {"type": "noul", "noul": 0.25},
            "c": {"type": "choice", "choice": "y", "confidence": 0.5, "probabilities": {"y": 0.75, "x": 0.25}},
            "s": {
                "type": "score", "score": 1.5, "confidence": 1, "legend": {"2": "c", "0": "a", "1": "b"},
                "probabilities": {"0": 0.0, "1": 0.5, "2": 0.5}
            },
            "b": {"type": "box", "box": {"top": 0, "bottom": 1, "left": 0.5, "right": 0.5}, "confidence": null},
        },
        "usage": {"input_tokens": 7, "output_tokens": 0}
    })
}

/// A row where strict decoding fails at the path, and lenient decoding warns of it.
#[track_caller]
fn departs(body: &str, path: &str) -> Reply {
    let body = bytes(body);
    let fault = decode(&all_kinds(), Strictness::Strict, &body).unwrap_err();
    assert_eq!(fault.kind(), ErrorKind::Decode);
    let message = fault.message().unwrap();
    assert!(message.starts_with(&format!("{path}: ")), "{message}");
    let reply = decode(&all_kinds(), Strictness::Lenient, &body).unwrap();
    let warned = reply.warnings.iter().any(|warning| warning.field == path);
    assert!(warned, "{:?}", reply.warnings);
    assert!(!format!("{fault:?}{reply:?}").contains("SECRET"));
    reply
}

/// A row about one answer: kept raw by lenient decoding, with its bytes.
#[track_caller]
fn kept_raw(id: &str, change: impl FnOnce(&mut Value), path: &str) {
    let mut reply = sound();
    change(&mut reply["answers"][id]);
    let raw = reply["answers"][id].to_string();
    let reply = departs(&reply.to_string(), path);
    let Some(Answer::Unknown(kept)) = reply.answers.get(id) else {
        panic!("{reply:?}");
    };
    assert_eq!(kept.raw, raw);
    assert_eq!(reply.answers.len(), 4);
}

#[track_caller]
fn clean(questions: &Questions, body: &Value) -> Reply {
    let body = bytes(body.to_string());
    let strict = decode(questions, Strictness::Strict, &body).unwrap();
    let lenient = decode(questions, Strictness::Lenient, &body).unwrap();
    assert_eq!(strict, lenient);
    assert_eq!(strict.warnings, []);
    strict
}

#[test]
fn a_sound_reply_is_typed_in_the_requests_order() {
    let reply = clean(&all_kinds(), &sound());
    assert_eq!(reply.model.as_deref(), Some("jev-1"));
    assert_eq!(reply.usage.input_tokens, Some(7));
    assert_eq!(reply.usage.output_tokens, Some(0));
    let ids: Vec<_> = reply.answers.iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["n", "c", "s", "b"]);
    assert!((reply.answers.noul("n").unwrap().noul - 0.25).abs() < 1e-9);
    let choice = reply.answers.choice("c").unwrap();
    assert_eq!(choice.choice, "y");
    assert_eq!(
        choice.probabilities,
        [("x".to_owned(), 0.25), ("y".to_owned(), 0.75)]
    );
    assert_eq!(choice.probability("x"), Some(0.25));
    assert_eq!(choice.probability("z"), None);
    let score = reply.answers.score("s").unwrap();
    assert_eq!(score.legend, ["a", "b", "c"].map(Content::from));
    assert_eq!(score.probabilities, [0.0, 0.5, 0.5]);
    assert_eq!(reply.answers.bounding_box("b").unwrap().confidence, None);
    assert_eq!(
        reply.answers.raw("n").unwrap(),
        &r#"{"type":"noul","noul":0.25}"#
    );
}

#[test]
fn a_getter_of_another_type_or_id_is_an_error() {
    let reply = clean(&all_kinds(), &sound());
    let fault = reply.answers.noul("c").unwrap_err();
    assert_eq!(fault.message(), Some("answers.c: not a noul answer"));
    let fault = reply.answers.score("zz").unwrap_err();
    assert_eq!(fault.message(), Some("answers.zz: missing"));
    assert!(reply.answers.choice("n").is_err() && reply.answers.bounding_box("n").is_err());
    assert_eq!(reply.answers.get("zz"), None);
}

#[test]
fn answers_serialize_as_the_server_sent_them() {
    let body = r#"{"answers":{"n":{ "noul":0.250,"type":"noul"}},"model":"m","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let questions = Questions::from([("n", Noul::new("i"))]);
    let reply = decode(&questions, Strictness::Strict, &bytes(body)).unwrap();
    let written = serde_json::to_string(&reply.answers).unwrap();
    assert_eq!(written, r#"{"n":{ "noul":0.250,"type":"noul"}}"#);
}

#[test]
fn recorded_replies_decode() {
    let mixed = clean(
        &asked("02-request-mixed.json"),
        &fixture("03-response-mixed.json"),
    );
    assert_eq!(mixed.answers.len(), 3);
    assert_eq!(mixed.answers.choice("queue").unwrap().choice, "carrier");
    assert_eq!(mixed.usage.input_tokens, Some(431));

    let structured = clean(
        &asked("04-request-structured-score.json"),
        &fixture("05-response-structured-legend.json"),
    );
    let legend = &structured.answers.score("exposure").unwrap().legend;
    assert_eq!(legend[1].as_json(), r#"["names","emails"]"#);

    let boxed = fixture("14-request-response-box.json");
    let questions = Request::from_json(boxed["request"].to_string().as_bytes())
        .unwrap()
        .questions;
    let reply = clean(&questions, &boxed["response"]);
    assert_eq!(
        reply.answers.bounding_box("valve").unwrap().confidence,
        Some(0.88)
    );
}

#[test]
fn an_unknown_type_is_kept_for_a_raw_question() {
    let raw = Question::raw(json!({"type": "ranking", "of": ["a", "b"]}));
    let questions = Questions::new()
        .ask("known", Noul::new("i"))
        .ask("later", raw);
    let reply = clean(&questions, &fixture("06-response-unknown-answer-type.json"));
    let Some(Answer::Unknown(answer)) = reply.answers.get("later") else {
        panic!("{reply:?}");
    };
    assert_eq!(answer.kind.as_deref(), Some("ranking"));
    let raw: Value = serde_json::from_slice(&answer.raw).unwrap();
    assert_eq!(raw["order"], json!(["b", "a"]));
}

#[test]
fn a_raw_question_of_a_known_type_is_held_to_its_type() {
    let questions = Questions::from([(
        "q",
        Question::raw(json!({"type": "choice", "criteria": {}})),
    )]);
    let reply = |answer: Value| {
        bytes(json!({"model": "m", "answers": {"q": answer}, "usage": {"input_tokens": 1, "output_tokens": 1}}).to_string())
    };
    let sound =
        json!({"type": "choice", "choice": "x", "confidence": 0.0, "probabilities": {"x": 1}});
    let decoded = decode(&questions, Strictness::Strict, &reply(sound.clone())).unwrap();
    assert_eq!(decoded.answers.choice("q").unwrap().choice, "x");
    let fault = decode(
        &questions,
        Strictness::Strict,
        &reply(json!({"type": "noul", "noul": 0.5})),
    )
    .unwrap_err();
    assert_eq!(
        fault.message(),
        Some("answers.q.type: a choice question was asked")
    );
    let mut odd = sound;
    odd["choice"] = json!("y");
    let fault = decode(&questions, Strictness::Strict, &reply(odd)).unwrap_err();
    assert_eq!(
        fault.message(),
        Some("answers.q.choice: has no probability")
    );
}

#[test]
fn no_json_or_no_answers_is_an_error_in_both_modes() {
    for (body, why) in [
        ("", "the body is no JSON object"),
        ("{\"model\":", "the body is no JSON object"),
        ("<html></html>", "the body is no JSON object"),
        ("[]", "the body is no JSON object"),
        ("null", "the body is no JSON object"),
        ("{}", "answers: missing"),
        (r#"{"answers":null}"#, "answers: must be an object"),
        (r#"{"answers":[]}"#, "answers: must be an object"),
        (
            r#"{"detail":{"error_type":"api_usage_error","message":"no"}}"#,
            "no answers, but an error: no",
        ),
    ] {
        for strictness in [Strictness::Strict, Strictness::Lenient] {
            let fault = decode(&all_kinds(), strictness, &bytes(body)).unwrap_err();
            assert_eq!(fault.kind(), ErrorKind::Decode, "{body}");
            assert_eq!(fault.message(), Some(why), "{body}");
        }
    }
    let invalid = Bytes::from_static(b"{\"answers\":{\"\xff\":1}}");
    assert!(decode(&all_kinds(), Strictness::Lenient, &invalid).is_err());
    let deep = bytes("[".repeat(1_000_000));
    let fault = decode(&all_kinds(), Strictness::Lenient, &deep).unwrap_err();
    assert_eq!(
        fault.message(),
        Some("the body is nested deeper than 100 levels")
    );
}

#[test]
fn a_missing_answer_is_an_error_or_left_out() {
    let mut reply = sound();
    reply["answers"].as_object_mut().unwrap().shift_remove("c");
    let reply = departs(&reply.to_string(), "answers.c");
    assert_eq!(reply.answers.get("c"), None);
    assert_eq!(reply.answers.len(), 3);
}

#[test]
fn two_answers_of_one_id_are_an_error_or_the_last_kept_raw() {
    let body = sound()
        .to_string()
        .replace(r#""n":{"#, r#""n":{"type":"noul","noul":0.9},"n":{"#);
    let reply = departs(&body, "answers.n");
    let Some(Answer::Unknown(kept)) = reply.answers.get("n") else {
        panic!("{reply:?}");
    };
    assert_eq!(kept.raw, r#"{"type":"noul","noul":0.25}"#);
    assert_eq!(reply.answers.len(), 4);
}

#[test]
fn a_type_that_stands_twice_is_an_error_and_one_that_stands_last_is_not() {
    let twice = r#"{"type":"noul","noul":0.25,"type":"choice"}"#;
    let body = sound().to_string();
    let departed = body.replace(r#"{"type":"noul","noul":0.25}"#, twice);
    let reply = departs(&departed, "answers.n.type");
    assert_eq!(reply.answers.raw("n").unwrap(), twice);
    let last = body.replace(
        r#"{"type":"noul","noul":0.25}"#,
        r#"{"noul":0.25,"type":"noul"}"#,
    );
    let reply = decode(&all_kinds(), Strictness::Strict, &bytes(last)).unwrap();
    assert!(reply.answers.noul("n").is_ok());
}

#[test]
fn an_answer_of_another_type_than_asked_is_an_error_or_raw() {
    let noul = || json!({"type": "noul", "noul": 0.5});
    kept_raw("c", |answer| *answer = noul(), "answers.c.type");
    kept_raw(
        "n",
        |answer| *answer = json!({"type": "ranking"}),
        "answers.n.type",
    );
    kept_raw(
        "n",
        |answer| *answer = json!({"noul": 0.5}),
        "answers.n.type",
    );
    kept_raw("n", |answer| answer["type"] = json!(3), "answers.n.type");
    kept_raw("n", |answer| *answer = json!(0.5), "answers.n");
    kept_raw("n", |answer| *answer = json!(null), "answers.n");
}

#[test]
fn a_missing_figure_is_never_zero() {
    for (id, field) in [
        ("n", "noul"),
        ("c", "choice"),
        ("c", "confidence"),
        ("c", "probabilities"),
        ("s", "score"),
        ("s", "confidence"),
        ("s", "legend"),
        ("s", "probabilities"),
        ("b", "box"),
    ] {
        let path = format!("answers.{id}.{field}");
        let without = |answer: &mut Value| {
            answer.as_object_mut().unwrap().shift_remove(field);
        };
        kept_raw(id, without, &path);
        kept_raw(id, |answer| answer[field] = json!(null), &path);
        kept_raw(id, |answer| answer[field] = json!([]), &path);
        kept_raw(id, |answer| answer[field] = json!(true), &path);
    }
    for edge in ["top", "bottom", "left", "right"] {
        let path = format!("answers.b.box.{edge}");
        kept_raw("b", |answer| answer["box"][edge] = json!(null), &path);
    }
    kept_raw(
        "n",
        |answer| answer["noul"] = json!("0.5"),
        "answers.n.noul",
    );
    let twice = r#"{"type":"noul","noul":0.25,"noul":0.25}"#;
    let body = sound()
        .to_string()
        .replace(r#"{"type":"noul","noul":0.25}"#, twice);
    departs(&body, "answers.n.noul");
}

#[test]
fn figures_are_within_0_and_1() {
    for (id, field) in [
        ("n", "noul"),
        ("c", "confidence"),
        ("s", "confidence"),
        ("b", "confidence"),
    ] {
        for figure in [json!(1.7), json!(-0.01), json!(1e300)] {
            let path = format!("answers.{id}.{field}");
            kept_raw(id, |answer| answer[field] = figure, &path);
        }
    }
    for edge in ["top", "bottom", "left", "right"] {
        let path = format!("answers.b.box.{edge}");
        kept_raw("b", |answer| answer["box"][edge] = json!(1.01), &path);
    }
    for figure in [0.0, 1.0] {
        let mut reply = sound();
        reply["answers"]["n"]["noul"] = json!(figure);
        reply["answers"]["c"]["confidence"] = json!(figure);
        reply["answers"]["b"]["confidence"] = json!(figure);
        clean(&all_kinds(), &reply);
    }
    // No number a float can hold.
    let body = sound().to_string().replace("0.25}", "1e999}");
    departs(&body, "answers.n.noul");
}

#[test]
fn edges_must_not_be_the_wrong_way_round() {
    kept_raw(
        "b",
        |answer| answer["box"] = json!({"top": 0.6, "bottom": 0.5, "left": 0, "right": 1}),
        "answers.b.box",
    );
    kept_raw(
        "b",
        |answer| answer["box"] = json!({"top": 0, "bottom": 1, "left": 0.6, "right": 0.5}),
        "answers.b.box",
    );
}

#[test]
fn a_choice_is_one_of_the_options_and_so_are_its_probabilities() {
    kept_raw(
        "c",
        |answer| answer["choice"] = json!("SECRET"),
        "answers.c.choice",
    );
    // Option names tell upper from lower case.
    kept_raw(
        "c",
        |answer| answer["choice"] = json!("Y"),
        "answers.c.choice",
    );
    for odd in [
        json!({"y": 1}),
        json!({"x": 0.5, "SECRET": 0.5}),
        json!({"x": 0.5, "y": 0.5, "SECRET": 0}),
        json!({}),
    ] {
        kept_raw(
            "c",
            |answer| answer["probabilities"] = odd,
            "answers.c.probabilities",
        );
    }
    let twice = sound()
        .to_string()
        .replace(r#"{"y":0.75,"x":0.25}"#, r#"{"y":0.75,"x":0.25,"y":0}"#);
    departs(&twice, "answers.c.probabilities");
}

#[test]
fn probabilities_add_up_to_1_within_what_two_decimals_allow() {
    for (x, y, fits) in [
        (0.26, 0.75, true),
        (0.27, 0.75, true),
        (0.28, 0.75, false),
        (0.23, 0.75, true),
        (0.22, 0.75, false),
        (0.0, 0.0, false),
    ] {
        let probabilities = json!({"x": x, "y": y});
        if fits {
            let mut reply = sound();
            reply["answers"]["c"]["probabilities"] = probabilities;
            clean(&all_kinds(), &reply);
        } else {
            kept_raw(
                "c",
                |answer| answer["probabilities"] = probabilities,
                "answers.c.probabilities",
            );
        }
    }
    // Per cent instead of fractions.
    kept_raw(
        "c",
        |answer| answer["probabilities"] = json!({"x": 25, "y": 75}),
        "answers.c.probabilities",
    );
}

#[test]
fn two_hundred_options_may_all_be_rounded_to_nothing() {
    let options: Vec<String> = (0..255).map(|n| format!("o{n}")).collect();
    let questions = Questions::from([("q", Choice::new("i").options(options.clone()))]);
    let probabilities: serde_json::Map<_, _> = options
        .into_iter()
        .map(|option| (option, json!(0.0)))
        .collect();
    let reply = json!({
        "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1},
        "answers": {"q": {"type": "choice", "choice": "o3", "confidence": 0, "probabilities": probabilities}}
    });
    clean(&questions, &reply);
}

#[test]
fn a_legend_is_of_as_many_levels_as_asked() {
    for odd in [
        json!({"0": "a", "1": "b"}),
        json!({"0": "a", "1": "b", "2": "c", "3": "d"}),
        json!({"0": "a", "1": "b", "3": "c"}),
        json!({"0": "a", "1": "b", "-2": "c"}),
        json!({"0": "a", "1": "b", " 2": "c"}),
        json!({"0": "a", "1": "b", "2.0": "c"}),
        json!({"0": "a", "1": "b", "02": "c"}),
        json!({"0": "a", "1": "b", "+2": "c"}),
        json!({"0": "a", "1": "b", "99999999999999999999": "c"}),
        json!({}),
    ] {
        let mut reply = sound();
        reply["answers"]["s"]["legend"] = odd.clone();
        let fault =
            decode(&all_kinds(), Strictness::Strict, &bytes(reply.to_string())).unwrap_err();
        let message = fault.message().unwrap();
        let expected = ["answers.s.legend: ", "answers.s.probabilities: "];
        assert!(
            expected.iter().any(|start| message.starts_with(start)),
            "{odd}: {message}"
        );
    }
    kept_raw(
        "s",
        |answer| answer["legend"] = json!({"0": "a", "1": "b", "01": "c"}),
        "answers.s.legend",
    );
    kept_raw(
        "s",
        |answer| {
            answer["legend"] = json!({"0": "a", "1": "b"});
            answer["probabilities"] = json!({"0": 0.0, "1": 1.0});
            answer["score"] = json!(1);
        },
        "answers.s.legend",
    );
    kept_raw(
        "s",
        |answer| answer["probabilities"] = json!({"0": 0.5, "1": 0.5}),
        "answers.s.probabilities",
    );
}

#[test]
fn a_score_lies_on_the_scale_and_follows_from_its_probabilities() {
    kept_raw(
        "s",
        |answer| answer["score"] = json!(2.01),
        "answers.s.score",
    );
    kept_raw(
        "s",
        |answer| answer["score"] = json!(-0.01),
        "answers.s.score",
    );
    // Three levels: 0.01 for the score, 0.01 and 0.02 for the probabilities.
    for (score, fits) in [(1.54, true), (1.46, true), (1.55, false), (1.45, false)] {
        if fits {
            let mut reply = sound();
            reply["answers"]["s"]["score"] = json!(score);
            clean(&all_kinds(), &reply);
        } else {
            kept_raw(
                "s",
                |answer| answer["score"] = json!(score),
                "answers.s.score",
            );
        }
    }
}

#[test]
fn one_level_has_the_score_zero() {
    let questions = Questions::from([("s", Score::new("i").level("only"))]);
    let answer = json!({"type": "score", "score": 0, "confidence": 1, "legend": {"0": "only"}, "probabilities": {"0": 1}});
    let reply = json!({"model": "m", "answers": {"s": answer}, "usage": {"input_tokens": 1, "output_tokens": 1}});
    clean(&questions, &reply);
}

#[test]
fn broken_usage_is_an_error_or_not_known() {
    for odd in [json!(-1), json!(1.5), json!("7"), json!([]), json!(true)] {
        let mut reply = sound();
        reply["usage"]["input_tokens"] = odd;
        let reply = departs(&reply.to_string(), "usage.input_tokens");
        assert_eq!(reply.usage.input_tokens, None);
        assert_eq!(reply.usage.output_tokens, Some(0));
    }
    let mut reply = sound();
    reply["usage"] = json!([1]);
    departs(&reply.to_string(), "usage");
    let twice = sound().to_string().replace(
        r#""input_tokens":7"#,
        r#""input_tokens":7,"input_tokens":8"#,
    );
    assert_eq!(
        departs(&twice, "usage.input_tokens").usage.input_tokens,
        None
    );
    let huge = sound().to_string().replace(":7,", ":99999999999999999999,");
    departs(&huge, "usage.input_tokens");
}

#[test]
fn a_refused_reply_says_what_it_cost() {
    let mut reply = sound();
    reply["answers"]["n"]["noul"] = json!(7);
    let usage = |reply: &Value| {
        let body = bytes(reply.to_string());
        let fault = decode(&all_kinds(), Strictness::Strict, &body).unwrap_err();
        fault
            .usage()
            .map(|usage| (usage.input_tokens, usage.output_tokens))
    };
    assert_eq!(usage(&reply), Some((Some(7), Some(0))));
    reply["usage"]["input_tokens"] = json!(-7);
    assert_eq!(usage(&reply), Some((None, Some(0))));
    for unknown in [json!(null), json!({}), json!([7])] {
        reply["usage"] = unknown;
        assert_eq!(usage(&reply), None);
    }
}

#[test]
fn missing_usage_or_model_is_not_known_and_warned_of_in_both_modes() {
    for (field, value, path) in [
        ("usage", None, "usage"),
        ("usage", Some(json!(null)), "usage"),
        (
            "usage",
            Some(json!({"output_tokens": 1})),
            "usage.input_tokens",
        ),
        ("model", None, "model"),
    ] {
        let mut reply = sound();
        match value {
            Some(value) => reply[field] = value,
            None => {
                reply.as_object_mut().unwrap().shift_remove(field);
            }
        }
        for strictness in [Strictness::Strict, Strictness::Lenient] {
            let reply = decode(&all_kinds(), strictness, &bytes(reply.to_string())).unwrap();
            let warnings: Vec<_> = reply.warnings.iter().map(ToString::to_string).collect();
            assert_eq!(warnings, [format!("{path}: missing")]);
            assert_eq!(reply.answers.len(), 4);
        }
    }
    let mut odd = sound();
    odd["model"] = json!(1);
    assert_eq!(departs(&odd.to_string(), "model").model, None);
}

#[test]
fn top_level_members_that_stand_twice_are_errors_or_the_first_counts() {
    let body = sound().to_string().replace(
        r#"{"model":"jev-1","#,
        r#"{"model":"jev-1","model":"jev-2","#,
    );
    assert_eq!(departs(&body, "model").model.as_deref(), Some("jev-1"));
}

#[test]
fn an_answer_nobody_asked_for_is_kept_with_a_warning_in_both_modes() {
    let mut reply = sound();
    reply["answers"]["extra"] = json!({"type": "noul", "noul": 0.5});
    reply["answers"]["odd"] = json!({"type": "noul", "noul": 7});
    for strictness in [Strictness::Strict, Strictness::Lenient] {
        let reply = decode(&all_kinds(), strictness, &bytes(reply.to_string())).unwrap();
        assert!(reply.answers.noul("extra").is_ok());
        assert!(matches!(reply.answers.get("odd"), Some(Answer::Unknown(_))));
        let fields: Vec<_> = reply.warnings.iter().map(|w| w.field.as_str()).collect();
        assert_eq!(fields, ["answers.extra", "answers.odd.noul", "answers.odd"]);
    }
}

#[test]
fn answers_nobody_asked_for_are_bounded_and_said_to_be() {
    let mut reply = sound();
    for n in 0..MAX_UNASKED + 3 {
        reply["answers"][format!("x{n}")] = json!({"type": "noul", "noul": 0.5});
    }
    let reply = decode(&all_kinds(), Strictness::Strict, &bytes(reply.to_string())).unwrap();
    assert_eq!(reply.answers.len(), 4 + MAX_UNASKED);
    assert_eq!(reply.warnings.len(), MAX_WARNINGS + 1);
    let last = reply.warnings.last().unwrap().to_string();
    assert!(last.contains("more warnings"), "{last}");
}

#[test]
fn a_field_skyl_does_not_know_is_ignored() {
    let mut reply = sound();
    reply["future"] = json!({"a": 1});
    reply["answers"]["n"]["why"] = json!("because");
    reply["usage"]["cached"] = json!("some");
    clean(&all_kinds(), &reply);
}

#[test]
fn a_debug_print_of_a_reply_holds_no_word_of_request_or_answer() {
    let questions = Questions::new()
        .ask("c", Choice::new("i").option("SECRET"))
        .ask("s", Score::new("i").level("SECRET"))
        .ask("r", Question::raw(json!({"type": "x"})));
    let reply = json!({
        "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1},
        "answers": {
            "c": {"type": "choice", "choice": "SECRET", "confidence": 1, "probabilities": {"SECRET": 1}},
            "s": {"type": "score", "score": 0, "confidence": 1, "legend": {"0": "SECRET"}, "probabilities": {"0": 1}},
            "r": {"type": "SECRET", "x": "SECRET"},
        }
    });
    let shown = format!("{:?}", clean(&questions, &reply));
    assert!(!shown.contains("SECRET"), "{shown}");
}
