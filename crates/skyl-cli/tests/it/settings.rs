//! Who goes before whom.

use crate::support::{Canned, Server, answer, skyl};

/// Retries that were made before giving up.
#[track_caller]
fn retries(run: crate::support::Skyl) -> usize {
    let object = run.args(["--json", "--fault", "503"]).run().object();
    object["error"]["attempts"].as_array().unwrap().len() - 1
}

#[test]
fn a_flag_goes_before_a_variable_and_that_before_the_policy_and_that_before_the_default() {
    let chat = || skyl(["chat", "hi"]).env("SKYL_RETRY_BASE", "1ms");
    assert_eq!(retries(chat()), 3);
    assert_eq!(retries(chat().args(["--policy", "system_one"])), 2);
    let variable = || {
        chat()
            .args(["--policy", "system_one"])
            .env("SKYL_MAX_RETRIES", "1")
    };
    assert_eq!(retries(variable()), 1);
    assert_eq!(retries(variable().args(["--max-retries", "5"])), 5);
    // Blank is unset.
    assert_eq!(retries(chat().env("SKYL_MAX_RETRIES", "")), 3);
}

#[test]
fn a_wrong_variable_is_wrong_usage_and_is_named() {
    let ran = skyl(["chat", "hi"]).env("SKYL_TIMEOUT", "10").run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("SKYL_TIMEOUT"), "{ran:?}");
    // Where the flag says it, nobody asks the variable.
    let ran = skyl(["chat", "hi", "--timeout", "10s"])
        .env("SKYL_TIMEOUT", "10")
        .run();
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn the_providers_own_variables_are_the_usual_ones() {
    let server = Server::start();
    let ran = skyl(["chat", "hi"])
        .env("SKYL_PROVIDER", "openai")
        .env("SKYL_MODEL", "gpt-5.6")
        .env("OPENAI_API_KEY", "sandbox-key")
        .env("OPENAI_BASE_URL", &server.url())
        .run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "You said: hi\n"),
        "{ran:?}"
    );
    assert_eq!(server.journal().len(), 1);
}

#[test]
fn a_key_on_the_line_goes_before_the_variable() {
    let server = Server::start();
    let wrong = server
        .chat(["hi", "-m", "gpt-5.6"])
        .env("OPENAI_API_KEY", "wrong-key-entirely");
    let ran = wrong.run();
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.stderr.contains("the key came from OPENAI_API_KEY"),
        "{ran:?}"
    );
    let right = server.chat(["hi", "-m", "gpt-5.6", "--api-key", "sandbox-key"]);
    assert_eq!(
        right.env("OPENAI_API_KEY", "wrong-key-entirely").run().code,
        0
    );
}

#[test]
fn each_provider_is_asked_at_its_own_path_with_its_own_key() {
    for (provider, variables, header, path, body) in [
        (
            "anthropic",
            ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
            "x-api-key: key-of-its-own",
            "POST /v1/messages ",
            r#"{"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
        ),
        (
            "gemini",
            ["GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
            "x-goog-api-key: key-of-its-own",
            "POST /v1beta/models/m:generateContent ",
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP","index":0}],"modelVersion":"m"}"#,
        ),
    ] {
        let server = Canned::serve(vec![answer("200 OK", "", body)]);
        let ran = skyl([
            "chat",
            "hi",
            "--provider",
            provider,
            "--model",
            "m",
            "--max-retries",
            "0",
        ])
        .env(variables[0], "key-of-its-own")
        .env(variables[1], server.url())
        .env("OPENAI_API_KEY", "key-of-another")
        .run();
        let request = server.requests().concat();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "hello\n"), "{ran:?}");
        assert!(request.starts_with(path), "{request}");
        assert!(request.to_lowercase().contains(header), "{request}");
        assert!(!request.contains("key-of-another"), "{request}");
    }
}
