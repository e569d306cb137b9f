//! `skyl sandbox`, from outside.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::{Running, skyl};

/// Starts a sandbox and gives the address it printed.
fn serve<const N: usize>(args: [&str; N]) -> (Running, String) {
    let mut running = skyl(["sandbox", "--addr", "127.0.0.1:0"])
        .args(args)
        .start();
    let url = running.line();
    (running, url)
}

#[track_caller]
fn ask(url: &str, head: &str) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    write!(
        stream,
        "{head} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_base_url_is_a_line_of_its_own_once_it_listens() {
    let (_running, url) = serve([]);
    let port: u16 = url
        .strip_prefix("http://127.0.0.1:")
        .unwrap()
        .parse()
        .unwrap();
    assert_ne!(port, 0);
    assert!(ask(&url, "GET /healthz").starts_with("HTTP/1.1 200"));
}

#[test]
fn another_program_of_ours_can_call_it() {
    let (_running, url) = serve(["--key", "other-key", "--script", "503,ok"]);
    let openai = format!("{url}/openai/v1");
    let chat = || {
        skyl([
            "chat",
            "hi",
            "--provider",
            "openai",
            "--base-url",
            &openai,
            "--model",
            "gpt-5.6",
        ])
        .args(["--retry-base", "1ms"])
    };
    let ran = chat().env("OPENAI_API_KEY", "other-key").run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "You said: hi\n"),
        "{ran:?}"
    );
    assert_eq!(ran.attempts().len(), 2);
    assert_eq!(chat().env("OPENAI_API_KEY", "sandbox-key").run().code, 3);
    let journal = ask(&url, "GET /_sandbox/journal");
    let (_, body) = journal.split_once("\r\n\r\n").unwrap();
    let journal: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(journal.as_array().unwrap().len(), 3, "{journal}");
}

/// Asks with this prompt, once, and gives the exit code.
fn ask_once(url: &str, prompt: &str) -> i32 {
    let url = format!("{url}/openai/v1");
    skyl([
        "chat",
        prompt,
        "--provider",
        "openai",
        "--base-url",
        &url,
        "--model",
        "gpt-5.6",
    ])
    .args(["--max-retries", "0"])
    .env("OPENAI_API_KEY", "sandbox-key")
    .run()
    .code
}

#[test]
fn chaos_is_the_same_for_the_same_seed_and_the_same_prompts() {
    let prompts = ["a", "b", "c", "d", "e", "f"];
    let codes = |seed: &str| {
        let (_running, url) = serve(["--chaos", "0.7", "--seed", seed]);
        prompts.map(|prompt| ask_once(&url, prompt))
    };
    let seven = codes("7");
    assert_eq!(codes("7"), seven);
    assert_ne!(codes("8"), seven);
    let (_running, url) = serve(["--chaos", "0"]);
    assert_eq!(ask_once(&url, "a"), 0);
}

#[test]
fn a_limit_is_a_limit() {
    for flag in ["--rpm", "--tpm"] {
        let (_running, url) = serve([flag, "1"]);
        let codes = ["a", "b", "c"].map(|prompt| ask_once(&url, prompt));
        assert!(codes[1..].contains(&5), "{flag}: {codes:?}");
    }
}

#[test]
fn shares_and_limits_that_are_none_are_wrong_usage() {
    for args in [
        ["--chaos", "1.1"],
        ["--chaos", "NaN"],
        ["--chaos", "-0.1"],
        ["--rpm", "0"],
        ["--seed", "1"],
    ] {
        let ran = skyl(["sandbox", "--addr", "127.0.0.1:0"]).args(args).run();
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (1, ""),
            "{args:?}: {ran:?}"
        );
    }
}

#[test]
fn a_key_of_ones_own_is_not_printed() {
    let mut running = skyl(["sandbox", "--addr", "127.0.0.1:0", "--key", "very-own-key"]).start();
    assert!(!running.wait_for("key").contains("very-own-key"));
}

#[test]
fn an_object_can_be_asked_for() {
    let (_running, line) = serve(["--json"]);
    let object: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(
        object["base_url"]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:"),
        "{object}"
    );
}

#[test]
fn with_a_certificate_the_address_says_https() {
    for kind in ["self-signed", "expired", "wrong-host"] {
        let (_running, url) = serve(["--tls", kind]);
        assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    }
}

#[test]
fn a_bad_script_is_refused_with_its_position() {
    let ran = skyl([
        "sandbox",
        "--addr",
        "127.0.0.1:0",
        "--script",
        "503,429(after=1)",
    ])
    .run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("byte 8"), "{ran:?}");
}

#[test]
fn an_address_that_is_taken_is_a_failure_with_its_cause() {
    let (_running, url) = serve([]);
    let taken = url.strip_prefix("http://").unwrap();
    let ran = skyl(["sandbox", "--json", "--addr", taken]).run();
    assert_eq!(
        (ran.code, ran.object()["error"]["kind"].as_str()),
        (1, Some("internal")),
        "{ran:?}"
    );
    assert!(ran.stderr.contains(taken), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn being_asked_to_stop_is_no_failure() {
    for signal in ["INT", "TERM"] {
        let (running, _) = serve([]);
        let ran = running.signal(signal);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, ""),
            "{signal}: {ran:?}"
        );
    }
}
