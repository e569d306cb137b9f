//! One prompt, one answer.

use serde_json::json;

use crate::support::{Scratch, Server, skyl};

#[test]
fn the_first_command_needs_no_key_and_says_who_answered() {
    let ran = skyl(["chat", "What is the capital of France?"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Paris\n"), "{ran:?}");
    assert!(ran.stderr.contains("sandbox"), "{ran:?}");
    assert!(ran.attempts().is_empty(), "{ran:?}");
}

#[test]
fn the_sandbox_answers_whatever_keys_are_set() {
    let ran = skyl(["chat", "What is the capital of France?"])
        .env("OPENAI_API_KEY", "sk-real-enough")
        .env("ANTHROPIC_API_KEY", "sk-ant")
        .env("GEMINI_API_KEY", "g")
        .env("SKYL_API_KEY", "s")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .run();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Paris\n"), "{ran:?}");
}

#[test]
fn a_proxy_of_the_environment_does_not_stand_before_the_embedded_sandbox() {
    let ran = skyl(["chat", "hi"])
        .env("http_proxy", "http://127.0.0.1:1")
        .env("HTTP_PROXY", "http://127.0.0.1:1")
        .env("ALL_PROXY", "http://127.0.0.1:1")
        .run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "You said: hi\n"),
        "{ran:?}"
    );
}

#[test]
fn the_prompt_comes_from_standard_input_too() {
    for args in [&["chat", "-"][..], &["chat"]] {
        let mut run = skyl([]);
        for arg in args {
            run = run.args([arg]);
        }
        let ran = run.input(b"hello there\n").run();
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "You said: hello there\n"),
            "{ran:?}"
        );
    }
}

#[test]
fn a_prompt_that_is_missing_or_no_text_is_wrong_usage() {
    for (args, input) in [(&["chat"][..], &b""[..]), (&["chat", "-"], b"\xff\xfe")] {
        let mut run = skyl([]);
        for arg in args {
            run = run.args([arg]);
        }
        let ran = run.input(input).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.contains("prompt"), "{ran:?}");
    }
    // An empty prompt that was given as one is sent.
    assert_eq!(
        skyl(["chat", ""]).run().stdout,
        "Hello from the skyl sandbox.\n"
    );
}

#[test]
fn a_streamed_answer_has_the_very_same_bytes() {
    let prompt = "two  spaces,\n\na blank line and ünïcødé 🌊";
    let whole = skyl(["chat", prompt]).run();
    let streamed = skyl(["chat", "--stream", prompt]).run();
    assert_eq!(whole.code, 0, "{whole:?}");
    assert_eq!(whole.stdout, format!("You said: {prompt}\n"));
    assert_eq!((streamed.code, streamed.stdout), (0, whole.stdout));
}

#[test]
fn standard_output_holds_the_answer_and_nothing_else() {
    for args in [
        ["--max-tokens", "1"],
        ["--fault", "503,ok"],
        ["--retry-base", "1ms"],
    ] {
        let ran = skyl(["chat", "hi", "--retry-base", "1ms"]).args(args).run();
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            ["You said: hi\n", "You\n"].contains(&ran.stdout.as_str()),
            "{ran:?}"
        );
    }
    let ran = skyl(["chat", "hi", "--fault", "400"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{ran:?}");
}

#[test]
fn an_answer_cut_at_the_token_limit_is_an_answer_with_a_note() {
    let ran = skyl(["chat", "one two three", "--max-tokens", "2"]).run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "You said:\n"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("token limit"), "{ran:?}");
    let ran = skyl(["chat", "one two three"]).run();
    assert!(!ran.stderr.contains("token limit"), "{ran:?}");
}

#[test]
fn what_is_asked_reaches_the_server() {
    let server = Server::start();
    let ran = server
        .chat([
            "hi",
            "--model",
            "gpt-5.6",
            "--system",
            "be brief",
            "--temperature",
            "0.5",
        ])
        .args(["--header", "X-Team=a=b", "-H", "x-other=1"])
        .run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "You said: hi\n"),
        "{ran:?}"
    );
    // A provider that was chosen is not told of again.
    assert_eq!(ran.stderr, "");
    let journal = server.journal();
    assert_eq!(journal.len(), 1);
    assert_eq!(journal[0].path, "/openai/v1/chat/completions");
    assert_eq!(journal[0].model.as_deref(), Some("gpt-5.6"));
    assert_eq!(journal[0].header("x-team"), Some("a=b"));
    assert_eq!(journal[0].header("x-other"), Some("1"));
}

#[test]
fn a_header_cannot_take_the_place_of_the_key() {
    let server = Server::start();
    let ran = server
        .chat([
            "hi",
            "-m",
            "gpt-5.6",
            "-H",
            "Authorization=Bearer other-secret",
        ])
        .run();
    assert!(!ran.stderr.contains("other-secret"), "{ran:?}");
    assert!(ran.code == 2 || ran.code == 0, "{ran:?}");
    if ran.code == 2 {
        assert!(server.journal().is_empty());
    }
}

#[test]
fn compat_goes_without_a_key_where_the_server_does() {
    let server = Server::start();
    let url = server.url().replace("/openai/", "/compat/");
    let args = ["chat", "hi", "--base-url", &url, "--model", "gpt-5.6"];
    let with = skyl(args).env("SKYL_API_KEY", "sandbox-key").run();
    assert_eq!(
        (with.code, with.stdout.as_str()),
        (0, "You said: hi\n"),
        "{with:?}"
    );
    // This server wants one; the program sends none, and least of all another provider's.
    let without = skyl(args).env("OPENAI_API_KEY", "sandbox-key").run();
    assert_eq!(without.code, 3, "{without:?}");
    assert_eq!(
        server.journal().last().unwrap().header("authorization"),
        None
    );
}

#[test]
fn a_key_that_a_server_echoes_is_printed_nowhere() {
    let key = "sk-super-secret-0123456789";
    let server = Server::with(|sandbox| sandbox.key(key));
    for extra in [&[][..], &["--json"], &["--stream"], &["--stream", "--json"]] {
        for model in ["sandbox-echo-key", "sandbox-do-401"] {
            let mut run = server
                .chat(["hi", "--model", model])
                .env("OPENAI_API_KEY", key);
            for arg in extra {
                run = run.args([arg]);
            }
            let ran = run.run();
            assert_eq!(ran.code, 3, "{ran:?}");
            assert!(!format!("{ran:?}").contains("super-secret"), "{ran:?}");
        }
    }
}

#[test]
fn tools_of_a_file_are_offered_and_their_calls_told() {
    let tools = json!([{
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }]);
    let file = Scratch::new("tools.json", tools.to_string().as_bytes());
    let args = [
        "chat",
        "How is the weather in Kampala?",
        "--tools",
        file.path(),
    ];
    let object = skyl(args).args(["--json"]).run().object();
    assert_eq!(object["stop_reason"], "tool_use", "{object}");
    let call = &object["tool_calls"][0];
    assert_eq!(call["name"], "get_weather");
    assert_eq!(call["arguments"], r#"{"city":"Kampala","units":"metric"}"#);
    assert!(!call["id"].as_str().unwrap().is_empty());
    // The same, streamed.
    let streamed = skyl(args).args(["--json", "--stream"]).run().object();
    assert_eq!(streamed["tool_calls"], object["tool_calls"]);
    // People see the call beside the answer, not in it.
    let ran = skyl(args).run();
    assert!(ran.stderr.contains("tool call: get_weather"), "{ran:?}");
    assert!(!ran.stdout.contains("get_weather"), "{ran:?}");
}

#[test]
fn an_answer_can_be_held_to_a_schema() {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let file = Scratch::new("schema.json", schema.to_string().as_bytes());
    let ran = skyl(["chat", "Where?", "--schema", file.path()]).run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer, json!({"city": "sandbox"}));
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_flag() {
    let no_json = Scratch::new("no.json", b"{");
    let no_array = Scratch::new("no-array.json", b"{}");
    for (flag, path) in [
        ("--tools", "no/such/file.json"),
        ("--tools", no_json.path()),
        ("--tools", no_array.path()),
        ("--schema", no_json.path()),
        ("--image", no_json.path()),
    ] {
        let ran = skyl(["chat", "hi", flag, path]).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(
            ran.stderr.contains(flag) && ran.stderr.contains(path),
            "{ran:?}"
        );
    }
}

#[test]
fn a_reader_that_leaves_early_ends_the_program_quietly() {
    for extra in [&[][..], &["--json"], &["--stream"]] {
        let mut run = skyl(["chat", "hi"]);
        for arg in extra {
            run = run.args([arg]);
        }
        let ran = run.nobody_reads();
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            !ran.stderr.contains("panic") && !ran.stderr.contains("error"),
            "{ran:?}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_not_lost_silently() {
    let full = || {
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    let ran = skyl(["chat", "hi"]).stdout_to(full());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("cannot write to standard output"),
        "{ran:?}"
    );
    // An answer is not lost because its events are.
    let ran = skyl(["chat", "hi", "--events", "/dev/full"]).run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "You said: hi\n"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("--events"), "{ran:?}");
}

#[test]
fn responses_are_asked_at_openais_address_with_openais_key() {
    let server = Server::start();
    let ask = |more: &[&str]| {
        let mut run = skyl(["chat", "--provider", "responses", "--json"])
            .env("OPENAI_API_KEY", "sandbox-key")
            .env("OPENAI_BASE_URL", &server.url());
        for arg in more {
            run = run.args([arg]);
        }
        run.run()
    };
    for stream in [&[][..], &["--stream"]] {
        let ran = ask(&[&["--model", "gpt-5.6", "two  spaces"], stream].concat());
        let object = ran.object();
        assert_eq!(
            (ran.code, &object["text"]),
            (0, &json!("You said: two  spaces"))
        );
        assert_eq!(object["provider"], "responses");
        assert_eq!(object["stop_reason"], "end_turn");
        assert_eq!(object["usage"]["input_tokens"], 2);
        assert_eq!(object["warnings"], json!([]));
        assert!(object["id"].as_str().unwrap().starts_with("resp_"));
    }
    let journal = server.journal();
    assert_eq!(journal.len(), 2);
    assert!(
        journal
            .iter()
            .all(|entry| entry.path == "/openai/v1/responses")
    );

    // What the API cannot be told is refused here, with nothing sent.
    let ran = ask(&["--model", "gpt-5.6", "hi", "--max-tokens", "3"]);
    let object = ran.object();
    assert_eq!(
        (ran.code, &object["error"]["kind"]),
        (2, &json!("unsupported"))
    );
    assert_eq!(object["error"]["attempts"], json!([]));
    assert_eq!(server.journal().len(), 2);

    let ran = ask(&["--model", "sandbox-refusal", "hi", "--stream"]);
    assert_eq!(
        (ran.code, &ran.object()["error"]["kind"]),
        (4, &json!("refusal"))
    );
    let ran = ask(&["--model", "sandbox-stream-error", "hi", "--stream"]);
    let object = ran.object();
    assert_eq!((ran.code, &object["error"]["kind"]), (6, &json!("server")));
    assert_eq!(
        (&object["error"]["delivered"], &object["text"]),
        (&json!(true), &json!("You "))
    );
}

#[test]
fn an_answer_of_responses_prints_its_text_whole_and_as_it_comes() {
    let server = Server::start();
    for stream in [&[][..], &["--stream"]] {
        let mut run = skyl([
            "chat",
            "hi",
            "--provider",
            "responses",
            "--model",
            "gpt-5.6",
        ])
        .args(["--base-url", &server.url(), "--api-key", "sandbox-key"]);
        for arg in stream {
            run = run.args([arg]);
        }
        let ran = run.run();
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "You said: hi\n"),
            "{ran:?}"
        );
    }
}
