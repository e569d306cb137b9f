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

const OPENAI: &str = r#"{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}"#;
const ANTHROPIC: &str = r#"{"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;
const GEMINI: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP","index":0}],"modelVersion":"m"}"#;

#[test]
fn each_provider_is_asked_at_its_own_path_with_its_own_key() {
    let gemini = "POST /v1beta/models/m:generateContent ";
    for (provider, [key, url], header, body, path, ends) in [
        (
            "openai",
            ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
            "authorization: bearer key-of-its-own",
            OPENAI,
            "POST /v1/chat/completions ",
            &["/v1", "/v1/"][..],
        ),
        (
            "anthropic",
            ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
            "x-api-key: key-of-its-own",
            ANTHROPIC,
            "POST /v1/messages ",
            &["", "/", "/v1", "/v1/"],
        ),
        (
            "gemini",
            ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
            "x-goog-api-key: key-of-its-own",
            GEMINI,
            gemini,
            &["", "/", "/v1beta", "/v1beta/"],
        ),
        (
            "gemini",
            ["GOOGLE_API_KEY", "SKYL_BASE_URL"],
            "x-goog-api-key: key-of-its-own",
            GEMINI,
            gemini,
            &[""],
        ),
        (
            "compat",
            ["SKYL_API_KEY", "SKYL_BASE_URL"],
            "authorization: bearer key-of-its-own",
            OPENAI,
            "POST /v1/chat/completions ",
            &["/v1", "/v1/"],
        ),
    ] {
        for end in ends {
            let server = Canned::serve(vec![answer("200 OK", "", body)]);
            let ran = skyl(["chat", "hi", "--model", "m", "--max-retries", "0"])
                .args(["--provider", provider])
                .env(key, "key-of-its-own")
                .env(url, &format!("{}{end}", server.url()))
                .env("TYPESAFE_API_KEY", "key-of-another")
                .run();
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "hello\n"), "{ran:?}");
            let request = server.requests().concat();
            assert!(request.starts_with(path), "{end}: {request}");
            assert!(request.to_lowercase().contains(header), "{request}");
            assert!(!request.contains("key-of-another"), "{request}");
        }
    }
}

#[test]
fn a_preset_is_asked_with_its_own_key_and_called_by_its_name() {
    let busy = r#"{"error":{"message":"slow down","type":"x","code":429}}"#;
    let server = Canned::serve(vec![
        answer("200 OK", "", OPENAI),
        answer("429 Too Many Requests", "", busy),
    ]);
    let ask = || {
        skyl(["chat", "hi", "--model", "m", "--max-retries", "0", "--json"])
            .args(["--preset", "groq", "--max-tokens", "9"])
            .args(["--base-url", server.url()])
            .env("GROQ_API_KEY", "key-of-its-own")
            .env("SKYL_API_KEY", "key-of-another")
            .run()
    };
    assert_eq!(ask().object()["provider"], "groq");
    let failed = ask();
    assert_eq!(failed.code, 5, "{failed:?}");
    assert_eq!(failed.object()["error"]["provider"], "groq");
    let requests = server.requests().concat();
    assert!(
        requests.to_lowercase().contains("bearer key-of-its-own"),
        "{requests}"
    );
    assert!(!requests.contains("key-of-another"), "{requests}");
    assert!(
        requests.contains("\"max_completion_tokens\":9"),
        "{requests}"
    );
}

#[test]
fn a_preset_nobody_knows_is_wrong_usage_and_names_them_all() {
    let ran = skyl(["chat", "hi", "--json", "--preset", "grok"]).run();
    assert_eq!(ran.code, 1, "{ran:?}");
    let object = ran.object();
    assert_eq!(object["error"]["kind"], "usage");
    let message = object["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("groq") && message.contains("xai"),
        "{message}"
    );
    let ran = skyl(["models", "--preset", "groq"]).run();
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("GROQ_API_KEY"), "{ran:?}");
}

#[test]
fn of_the_two_variables_for_a_gemini_key_the_first_counts() {
    let server = Canned::serve(vec![answer("200 OK", "", GEMINI)]);
    let ran = skyl(["chat", "hi", "--model", "m", "--provider", "gemini"])
        .env("GOOGLE_API_KEY", "key-for-other-things")
        .env("GEMINI_API_KEY", "key-of-its-own")
        .env("GOOGLE_GEMINI_BASE_URL", server.url())
        .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let request = server.requests().concat();
    assert!(
        request.contains("key-of-its-own") && !request.contains("other-things"),
        "{request}"
    );
}

#[test]
fn real_providers_need_a_key_and_a_model_and_say_where_from() {
    for (provider, variable) in [
        ("openai", "OPENAI_API_KEY"),
        ("responses", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("gemini", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    ] {
        let asked = || skyl(["chat", "hi", "--provider", provider]).env("SKYL_API_KEY", "compat");
        let ran = asked().args(["--model", "m"]).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.contains(variable), "{ran:?}");
        let ran = asked().args(["--api-key", "key-of-its-own"]).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.contains("--model or SKYL_MODEL"), "{ran:?}");
    }
}

#[test]
fn the_sandbox_stands_in_for_every_provider() {
    let server = Server::start();
    let root = server.url().replace("/openai/v1", "");
    for (provider, mount, model) in [
        ("openai", "/openai/v1", "sandbox-do-503,ok"),
        ("responses", "/openai/v1", "sandbox-do-503,ok"),
        ("compat", "/compat/v1", "sandbox-do-503,ok"),
        ("anthropic", "/anthropic", "sandbox-do-503,ok"),
        ("gemini", "/gemini", "sandbox-do-503,ok"),
    ] {
        for (stream, tag) in [(&[][..], "whole"), (&["--stream"], "streamed")] {
            let model = format!("{model}@{provider}-{tag}");
            let mut run = skyl(["chat", "hi", "--json", "--retry-base", "1ms"])
                .args(["--provider", provider, "--model", &model])
                .args(["--base-url", &format!("{root}{mount}")])
                .args(["--api-key", "sandbox-key"]);
            for arg in stream {
                run = run.args([arg]);
            }
            let object = run.run().object();
            assert_eq!(object["text"], "You said: hi", "{provider}: {object}");
            assert_eq!(object["provider"], provider, "{object}");
            assert_eq!(object["attempts"].as_array().unwrap().len(), 2, "{object}");
        }
    }
}
