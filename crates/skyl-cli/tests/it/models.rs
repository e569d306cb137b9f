//! The list of models.

use crate::support::{Server, skyl};

#[test]
fn models_are_one_name_per_line() {
    let ran = skyl(["models"]).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let names: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        names.contains(&"gpt-5.6") && names.contains(&"gpt-5.4-nano"),
        "{ran:?}"
    );
}

#[test]
fn models_are_one_object() {
    let object = skyl(["models", "--json"]).run().object();
    let models = object["models"].as_array().unwrap();
    let model = models
        .iter()
        .find(|model| model["id"] == "gpt-5.6")
        .unwrap();
    let keys: Vec<&str> = model
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        ["id", "display_name", "context_window", "max_output_tokens"]
    );
}

#[test]
fn models_are_retried_like_any_call() {
    let server = Server::with(|sandbox| sandbox.script("503,ok".parse().unwrap()));
    let url = server.url();
    let ran = skyl([
        "models",
        "--provider",
        "openai",
        "--base-url",
        &url,
        "--retry-base",
        "1ms",
    ])
    .env("OPENAI_API_KEY", "sandbox-key")
    .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(server.journal().len(), 2);
}

#[test]
fn a_wrong_key_is_refused_here_too() {
    let server = Server::start();
    let url = server.url();
    let ran = skyl([
        "models",
        "--provider",
        "openai",
        "--base-url",
        &url,
        "--json",
    ])
    .env("OPENAI_API_KEY", "wrong-key-entirely")
    .run();
    assert_eq!(
        (ran.code, ran.object()["error"]["kind"].as_str()),
        (3, Some("auth"))
    );
}

#[test]
fn the_models_of_system_one_are_listed_where_it_is_named() {
    let server = Server::start();
    let url = server.typesafe_url();
    let models = || {
        skyl(["models", "--provider", "typesafe", "--base-url", &url])
            .env("TYPESAFE_API_KEY", "sandbox-key")
    };
    let ran = models().run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "jev-latest\njev-preview\n"),
        "{ran:?}"
    );
    let object = models().args(["--json"]).run().object();
    let model = object["models"][0].as_object().unwrap();
    let keys: Vec<&str> = model.keys().map(String::as_str).collect();
    assert_eq!(keys, ["id", "description", "release_date"]);
    let ran = models().args(["--raw"]).run();
    assert_eq!(ran.stdout.lines().count(), 2, "{ran:?}");
    assert!(ran.stdout.contains("release_date"), "{ran:?}");
    assert_eq!(server.journal().len(), 3);
}

#[test]
fn models_of_responses_are_openais() {
    let server = Server::start();
    let listed = |provider: &str| {
        let ran = skyl(["models", "--provider", provider, "--json"])
            .args(["--base-url", &server.url(), "--api-key", "sandbox-key"])
            .run();
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.object()
    };
    assert_eq!(listed("responses")["models"], listed("openai")["models"]);
}
