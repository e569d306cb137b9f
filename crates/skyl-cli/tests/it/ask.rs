//! Questions to System One, one request at a time.

use serde_json::{Value, json};

use crate::support::{Scratch, Server, Skyl, skyl};

/// A request document with one question.
const DOCUMENT: &str = r#"{"state": "The kettle leaks.",
    "questions": {"defect": {"type": "noul", "instructions": "Is it a defect?"}}}"#;

fn ask() -> Skyl {
    skyl(["ask", "--retry-base", "1ms"]).input(DOCUMENT.as_bytes())
}

#[track_caller]
fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

#[test]
fn the_first_question_needs_no_key_and_says_who_answered() {
    let ran = skyl(["ask", "--state", "The kettle leaks."])
        .args(["--noul", "defect=Is it a defect?"])
        .args(["--choice", "who=Who should see it?:support,sales"])
        .args(["--score", "mood=How angry?:calm|cross|furious"])
        .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("sandbox"), "{ran:?}");
    assert!(ran.attempts().is_empty(), "{ran:?}");
    let ids: Vec<&str> = ran
        .stdout
        .lines()
        .map(|line| line.split_once(": ").unwrap().0)
        .collect();
    assert_eq!(ids, ["defect", "who", "mood"], "{ran:?}");
}

#[test]
fn the_sandbox_answers_whatever_keys_and_addresses_are_set() {
    let ran = ask()
        .env("TYPESAFE_API_KEY", "ts-real-enough")
        .env("TYPESAFE_BASE_URL", "http://127.0.0.1:1")
        .env("SKYL_PRESET", "groq")
        .env("HTTP_PROXY", "http://127.0.0.1:1")
        .env("http_proxy", "http://127.0.0.1:1")
        .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("defect: "), "{ran:?}");
}

#[test]
fn the_object_has_every_field() {
    let ran = ask().args(["--json"]).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let object = ran.object();
    let expected = [
        "model",
        "answers",
        "usage",
        "request_id",
        "warnings",
        "attempts",
    ];
    assert_eq!(keys(&object), expected);
    assert_eq!(object["answers"]["defect"]["type"], "noul");
    assert_eq!(keys(&object["usage"]), ["input_tokens", "output_tokens"]);
    assert!(object["request_id"].as_str().unwrap().starts_with("req_"));
    let attempts = object["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 1);
    let expected = ["attempt", "status", "kind", "duration_ms", "wait_ms"];
    assert_eq!(keys(&attempts[0]), expected);
}

#[test]
fn answers_are_the_servers_own_in_the_order_of_the_questions() {
    let document = r#"{"state": "x", "questions": {
        "z": {"type": "choice", "criteria": {"b": null, "a": "first"}},
        "a": {"type": "score", "criteria": ["low", {"high": [1, 2]}]}}}"#;
    let object = skyl(["ask", "--json"])
        .input(document.as_bytes())
        .run()
        .object();
    let answers = &object["answers"];
    assert_eq!(keys(answers), ["z", "a"]);
    assert_eq!(keys(&answers["z"]["probabilities"]), ["b", "a"]);
    assert_eq!(
        answers["a"]["legend"],
        json!({"0": "low", "1": {"high": [1, 2]}})
    );
}

#[test]
fn the_document_comes_from_a_pipe_a_dash_or_a_file() {
    let file = Scratch::new("request.json", DOCUMENT.as_bytes());
    let from_pipe = ask().run();
    assert_eq!(from_pipe.code, 0, "{from_pipe:?}");
    for run in [
        ask().args(["-f", "-"]),
        skyl(["ask", "-f", file.path()]),
        skyl(["ask", "--file", file.path()]),
    ] {
        let ran = run.run();
        assert_eq!((ran.code, &ran.stdout), (0, &from_pipe.stdout), "{ran:?}");
    }
}

#[test]
fn a_state_comes_from_the_flag_a_file_or_standard_input() {
    let server = Server::start();
    let file = Scratch::new("state.txt", b"The kettle leaks.\n");
    let at = format!("@{}", file.path());
    for (state, input) in [
        ("The kettle leaks.", None),
        (at.as_str(), None),
        ("-", Some(&b"The kettle leaks.\n"[..])),
    ] {
        let run = server.ask(["--state", state, "--noul", "q=Well?"]);
        let ran = match input {
            Some(input) => run.input(input).run(),
            None => run.run(),
        };
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let journal = server.journal();
    assert_eq!(journal.len(), 3);
    assert!(
        journal
            .iter()
            .all(|entry| entry.body_sha256 == journal[0].body_sha256)
    );
}

#[test]
fn what_asks_nothing_or_two_things_is_wrong_usage() {
    for args in [
        &["ask"][..],
        &["ask", "-f", "-"],
        &["ask", "-f", "no/such.json"],
        &["ask", "--state", "x"],
        &["ask", "--noul", "q=Well?"],
        &["ask", "--state", "x", "--noul", "q"],
        &["ask", "--state", "x", "--choice", "q=At?:10:30,11:00"],
        &["ask", "--state", "@no/such", "--noul", "q=Well?"],
        &["ask", "--state", "x", "--noul", "q=Well?", "-f", "-"],
        &["ask", "--out", "x"],
        &["ask", "--resume"],
        &["ask", "--batch", "x"],
        &["ask", "--batch", "x", "--out", "y", "--state", "z"],
        &["ask", "--batch", "x", "--out", "y", "-f", "z"],
        &["ask", "--batch", "x", "--out", "y", "--raw"],
        &["ask", "--batch", "x", "--out", "-"],
        &["ask", "--preset", "groq"],
    ] {
        let mut run = skyl([]);
        for arg in args {
            run = run.args([arg]);
        }
        let ran = run.args(["--json"]).input(b"").run();
        assert_eq!(ran.code, 1, "{args:?}: {ran:?}");
        let object = ran.object();
        assert_eq!(object["error"]["kind"], "usage", "{args:?}: {object}");
        assert_eq!(object["error"]["attempts"], json!([]));
    }
}

#[test]
fn a_document_that_cannot_be_sent_is_refused_and_was_not() {
    let server = Server::start();
    for document in [
        "{",
        "[]",
        "\u{feff}",
        r#"{"state": "x", "questions": {}}"#,
        r#"{"state": "x", "questions": {"q": {"type": "choice", "criteria": {}}}}"#,
        r#"{"state": 5, "questions": {"q": {"type": "noul", "instructions": "?"}}}"#,
        r#"{"state": "x", "state": "y", "questions": {"q": {"type": "noul", "instructions": "?"}}}"#,
    ] {
        let ran = server.ask(["--json"]).input(document.as_bytes()).run();
        assert_eq!(ran.code, 2, "{document}: {ran:?}");
        let error = &ran.object()["error"];
        assert_eq!(error["kind"], "bad_request", "{document}: {error}");
        assert_eq!(error["provider"], "typesafe", "{document}: {error}");
        assert_eq!(error["attempts"], json!([]));
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("skyl: typesafe: invalid request: "),
            "{message}"
        );
    }
    assert!(server.journal().is_empty());
}

#[test]
fn more_than_16_mib_are_not_read() {
    let mut long = DOCUMENT.as_bytes().to_vec();
    long.resize(16 * 1024 * 1024 + 1, b' ');
    let file = Scratch::new("long.json", &long);
    for run in [skyl(["ask"]).input(&long), skyl(["ask", "-f", file.path()])] {
        let ran = run.run();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("16 MiB"), "{ran:?}");
    }
}

#[test]
fn the_model_is_the_flags_else_the_documents_else_the_variables() {
    let server = Server::start();
    let named = DOCUMENT.replacen('{', r#"{"model": "jev-preview", "#, 1);
    let everywhere = |run: Skyl| {
        run.env("SKYL_MODEL", "jev-1.13.0")
            .env("TYPESAFE_DEFAULT_MODEL", "jev-latest")
    };
    for run in [
        everywhere(server.ask(["--model", "jev-1.14.0"])).input(named.as_bytes()),
        everywhere(server.ask([])).input(named.as_bytes()),
        everywhere(server.ask([])).input(DOCUMENT.as_bytes()),
        server
            .ask([])
            .env("TYPESAFE_DEFAULT_MODEL", "jev-1.13.0")
            .input(DOCUMENT.as_bytes()),
        server.ask([]).input(DOCUMENT.as_bytes()),
    ] {
        run.run();
    }
    let models: Vec<String> = server
        .journal()
        .into_iter()
        .map(|entry| entry.model.unwrap())
        .collect();
    let expected = [
        "jev-1.14.0",
        "jev-preview",
        "jev-1.13.0",
        "jev-1.13.0",
        "jev-latest",
    ];
    assert_eq!(models, expected);
}

#[test]
fn the_real_one_is_named_or_has_an_address() {
    let server = Server::start();
    let url = server.typesafe_url();
    let key = |run: Skyl| run.env("TYPESAFE_API_KEY", "sandbox-key");
    for run in [
        key(ask().args(["--provider", "typesafe", "--base-url", &url])),
        key(ask().args(["--base-url", &url])),
        // A version segment is accepted.
        key(ask().args(["--base-url", &format!("{url}/v1")])),
        key(ask().env("SKYL_BASE_URL", &url)),
        key(ask()
            .args(["--provider", "typesafe"])
            .env("TYPESAFE_BASE_URL", &url)),
        key(ask()
            .env("SKYL_PROVIDER", "typesafe")
            .env("TYPESAFE_BASE_URL", &url)),
        ask().args(["--base-url", &url, "--api-key", "sandbox-key"]),
    ] {
        let ran = run.run();
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.stderr.contains("sandbox:"), "{ran:?}");
    }
    assert_eq!(server.journal().len(), 7);
}

#[test]
fn a_real_one_without_a_key_or_of_another_kind_is_wrong_usage() {
    for (run, word) in [
        (ask().args(["--provider", "typesafe"]), "TYPESAFE_API_KEY"),
        (ask().args(["--provider", "openai"]), "skyl chat"),
        (ask().env("SKYL_PROVIDER", "anthropic"), "SKYL_PROVIDER"),
        (skyl(["chat", "hi", "--provider", "typesafe"]), "skyl ask"),
        (
            ask().args(["--provider", "sandbox", "--base-url", "http://x"]),
            "typesafe",
        ),
        (
            ask()
                .args(["--provider", "typesafe", "--fault", "503"])
                .env("TYPESAFE_API_KEY", "sandbox-key"),
            "--fault",
        ),
    ] {
        let ran = run.run();
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.contains(word), "{ran:?}");
    }
}

#[test]
fn each_failure_has_its_code_and_kind() {
    for (fault, code, kind, attempts) in [
        ("401", 3, "auth", 1),
        ("403", 3, "auth", 1),
        ("404", 4, "not_found", 1),
        ("422", 4, "bad_request", 1),
        ("429", 5, "rate_limit", 3),
        ("408", 6, "server", 3),
        ("503", 6, "server", 3),
        ("529", 6, "server", 3),
        ("200(body=html)", 6, "decode", 1),
        ("reset", 7, "transport", 3),
    ] {
        let ran = ask().args(["--json", "--fault", fault]).run();
        assert_eq!(ran.code, code, "{fault}: {ran:?}");
        let error = &ran.object()["error"];
        assert_eq!(error["kind"], kind, "{fault}: {error}");
        let made = error["attempts"].as_array().unwrap().len();
        assert_eq!(made, attempts, "{fault}: {error}");
    }
}

#[test]
fn what_time_heals_is_retried_and_told_of() {
    let ran = ask()
        .args(["--json", "--fault", "429(ra-ms=1),reset,ok"])
        .run();
    assert_eq!((ran.code, ran.attempts().len()), (0, 3), "{ran:?}");
    let object = ran.object();
    assert_eq!(object["attempts"].as_array().unwrap().len(), 3, "{object}");
    assert_eq!(object["attempts"][0]["wait_ms"], 1);
}

#[test]
fn the_policy_is_system_ones_and_flags_and_variables_change_it() {
    let attempts = |run: Skyl| {
        let object = run
            .args(["--json", "--fault", "500,reset,503"])
            .run()
            .object();
        object["error"]["attempts"].as_array().unwrap().len()
    };
    assert_eq!(attempts(ask()), 3);
    assert_eq!(attempts(ask().args(["--max-retries", "5"])), 6);
    assert_eq!(attempts(ask().env("SKYL_MAX_RETRIES", "0")), 1);
    assert_eq!(attempts(ask().args(["--no-retry-on-conn-err"])), 2);
    assert_eq!(attempts(ask().args(["--policy", "chat"])), 4);
    // A chat must not be without jitter; this API's page has it as a choice.
    assert_eq!(attempts(ask().args(["--jitter", "shave=0"])), 3);
}

#[test]
fn a_budget_or_a_deadline_ends_a_call_that_would_wait_past_it() {
    for (limit, stop) in [
        (["--budget", "20s"], "time_budget"),
        // The budget is of the policy and holds unless it is taken away.
        (["--deadline", "40s"], "time_budget"),
        (["--deadline=20s", "--budget=0"], "deadline"),
    ] {
        let ran = ask()
            .args(limit)
            .args(["--json", "--fault", "429(ra=60)"])
            .run();
        assert_eq!(ran.code, 5, "{ran:?}");
        assert_eq!(ran.object()["error"]["stop_reason"], stop);
    }
}

#[test]
fn every_attempt_is_an_event() {
    let file = Scratch::new("ask.jsonl", b"");
    let ran = ask()
        .args(["--events", file.path(), "--fault", "503,ok"])
        .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let events: Vec<Value> = file
        .read()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), 2);
    for event in &events {
        assert_eq!(event["operation"], "system_one", "{event}");
        assert_eq!(event["provider"], "typesafe", "{event}");
    }
    assert_eq!(events[0]["will_retry"], true);
}

#[test]
fn raw_is_the_body_byte_by_byte() {
    let ran = ask().args(["--raw"]).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let body: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(keys(&body), ["model", "answers", "usage"]);
    assert_eq!(ask().args(["--raw", "--json"]).run().code, 1);
}

#[test]
fn pictures_need_the_word_that_opts_in_to_them() {
    let document = r#"{"state": "<image:a>",
        "questions": {"q": {"type": "noul", "instructions": "Is it a cat?"}},
        "assets": {"<image:a>": {"type": "image", "format": "png", "data_base64":
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}}"#;
    let server = Server::start();
    let ran = server.ask([]).input(document.as_bytes()).run();
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(server.journal().is_empty());
    server.ask(["--images"]).input(document.as_bytes()).run();
    let journal = server.journal();
    assert_eq!(journal.len(), 1);
    let opted = |(name, _): &(String, String)| name == "typesafe-danger-zone-images";
    assert!(journal[0].headers.iter().any(opted), "{journal:?}");
}

#[test]
fn the_key_and_the_state_stay_out_of_what_is_said_of_a_failure() {
    let server = Server::start();
    let ran = server
        .ask([
            "--state",
            "my-secret-state",
            "--noul",
            "q=my-secret-question?",
        ])
        .args(["--api-key", "wrong-key-0123", "--json"])
        .run();
    assert_eq!(ran.code, 3, "{ran:?}");
    for secret in ["my-secret", "wrong-key-0123"] {
        assert!(
            !ran.stdout.contains(secret) && !ran.stderr.contains(secret),
            "{ran:?}"
        );
    }
    assert!(ran.stderr.contains("--api-key"), "{ran:?}");
    let ran = server
        .ask([
            "--state",
            "my-secret-state",
            "--noul",
            "q=my-secret-question?",
        ])
        .args(["--model", "sandbox-status-422"])
        .run();
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(!ran.stderr.contains("my-secret"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_long_wait_at_once() {
    let file = Scratch::new("long-wait.json", DOCUMENT.as_bytes());
    let mut running = skyl(["ask", "--json", "-f", file.path(), "--budget", "0"])
        .args(["--fault", "429(ra=60)"])
        .start();
    running.wait_for("waiting 1m");
    let ran = running.signal("INT");
    assert_eq!(ran.code, 130, "{ran:?}");
    let object = ran.object();
    assert_eq!(object["error"]["kind"], "cancelled", "{object}");
    assert_eq!(object["error"]["attempts"][0]["status"], 429, "{object}");
}
