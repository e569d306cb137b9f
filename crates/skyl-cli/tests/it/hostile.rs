//! Servers, scripts and arguments that mean no good.

use crate::support::{Canned, Ran, Scratch, answer, skyl};

const KEY: &str = "sk-se/cret+\"key9";

/// One call to a server that answers with these bytes, and the events it left.
fn call(answers: Vec<Vec<u8>>, args: &[&str]) -> (Ran, String) {
    let server = Canned::serve(answers);
    let events = Scratch::new("hostile.jsonl", b"");
    let mut run = skyl(["chat", "hi", "--model", "m", "--max-retries", "0"])
        .args(["--base-url", server.url(), "--events", events.path()])
        .env("SKYL_API_KEY", KEY);
    for arg in args {
        run = run.args([arg]);
    }
    (run.run(), events.read())
}

/// Nothing that a terminal obeys, and nothing of the key.
#[track_caller]
fn harmless(text: &str) {
    let obeyed = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{2028}');
    assert!(!text.chars().any(obeyed), "{text:?}");
    for form in ["cret", "key9"] {
        assert!(!text.contains(form), "{text}");
    }
}

#[test]
fn what_a_server_says_of_itself_is_shown_and_never_obeyed_and_holds_no_key() {
    let says = serde_json::json!({"error": {
        "message": format!("\u{1b}[2J\u{7}\u{9b}31m {KEY} sk-se%2Fcret%2B%22key9\r\n\u{202e}\u{2028}"),
        "type": "\u{1b}]0;title\u{7}",
        "code": format!("\u{1b}[31m{KEY}"),
    }});
    let header = "x-request-id: sk-se/cret+\"key9\r\n";
    for (status, code) in [
        ("400 Bad", 4),
        ("401 No", 3),
        ("429 Slow", 5),
        ("500 Oh", 6),
    ] {
        for args in [&[][..], &["--json"], &["--stream", "--json"], &["--raw"]] {
            let (ran, events) = call(vec![answer(status, header, says.to_string())], args);
            assert_eq!(ran.code, code, "{status} {args:?}: {ran:?}");
            for text in [&ran.stdout, &ran.stderr, &events] {
                harmless(text);
            }
            assert!(!ran.stderr.is_empty() && !events.is_empty());
        }
    }
}

#[test]
fn answers_that_are_no_http_are_a_failure_of_the_provider() {
    for bytes in [
        &b"\x1b[2J\x1b[2J\r\n\r\n"[..],
        b"HTTP/1.1 200 \x00OK\r\nfoo\x00: sk-se/cret+\"key9\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
    ] {
        let (ran, events) = call(vec![bytes.to_vec()], &["--json"]);
        assert!(matches!(ran.code, 6 | 7), "{ran:?}");
        for text in [&ran.stdout, &ran.stderr, &events] {
            harmless(text);
        }
        let object = ran.object();
        assert!(
            matches!(
                object["error"]["kind"].as_str(),
                Some("decode" | "transport")
            ),
            "{object}"
        );
    }
}

#[test]
fn a_redirect_is_not_followed_and_carries_the_key_nowhere() {
    let elsewhere = Canned::serve(Vec::new());
    let header = format!("location: {}/{KEY}\r\n", elsewhere.url());
    let (ran, _) = call(vec![answer("302 Found", &header, "")], &["--json"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_eq!(ran.object()["error"]["status"], 302);
    harmless(&ran.stdout);
    harmless(&ran.stderr);
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn a_key_in_the_query_of_an_address_is_in_no_diagnostics() {
    // Nobody listens there.
    let ran = skyl(["chat", "hi", "--model", "m", "--max-retries", "0"])
        .args(["--base-url", "http://127.0.0.1:1/v1?key=very-secret-1"])
        .run();
    assert_eq!(ran.code, 7, "{ran:?}");
    assert!(!ran.stderr.contains("very-secret-1"), "{ran:?}");
}

#[test]
fn scripts_with_odd_bytes_and_no_end_are_refused_in_one_line() {
    let long = "503,".repeat(300) + "ok";
    let name = "x".repeat(20_000);
    let brackets = "(".repeat(5_000);
    for script in [
        "",
        ",",
        "\u{1b}[2J",
        "503\n",
        "ok@",
        "ok\u{202e}",
        "503(ra=\u{7})",
        "503*0",
        "503*10001",
        "５０３",
        &long,
        &name,
        &brackets,
    ] {
        let ran = skyl(["chat", "hi", "--json", "--fault", script]).run();
        let object = ran.object();
        assert_eq!(
            (ran.code, object["error"]["kind"].as_str()),
            (1, Some("usage")),
            "{script:?}"
        );
        let message = object["error"]["message"].as_str().unwrap();
        assert!(
            !message.chars().any(char::is_control),
            "{script:?}: {message:?}"
        );
        assert!(!ran.stderr.contains('\u{1b}'), "{script:?}");
    }
}

#[test]
fn names_of_any_length_and_form_reach_the_server_or_are_refused() {
    let long = format!("sandbox-do-{}ok", "ok,".repeat(2_700));
    for (name, code) in [
        // 8 KiB are taken, one step more than 256 is not, and it is the server that says so.
        (long.as_str(), 4),
        ("sandbox-do-503(ra=\u{1b})", 4),
        ("m\u{1b}[2J", 4),
        ("../../etc/passwd", 4),
        ("gpt-5.6", 0),
    ] {
        let ran = skyl(["chat", "hi", "--json", "--model", name]).run();
        assert_eq!(ran.code, code, "{name:?}: {ran:?}");
        harmless(&ran.stderr);
        ran.object();
    }
}

#[cfg(unix)]
#[test]
fn arguments_and_variables_that_are_no_text_are_wrong_usage() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let odd = OsStr::from_bytes(b"\xff\xfe");
    for run in [
        skyl(["chat", "--json"]).os_arg(odd),
        skyl(["chat", "hi", "--json", "--model"]).os_arg(odd),
        skyl(["chat", "hi", "--json", "--fault"]).os_arg(odd),
        skyl(["explain", "--json"]).os_arg(odd),
        skyl(["chat", "hi", "--json"]).os_env("SKYL_MODEL", odd),
        skyl(["chat", "hi", "--json"]).os_env("SKYL_TIMEOUT", odd),
        skyl(["schedule", "--json"]).os_env("SKYL_POLICY", odd),
    ] {
        let ran = run.run();
        let object = ran.object();
        assert_eq!(
            (ran.code, object["error"]["kind"].as_str()),
            (1, Some("usage")),
            "{ran:?}"
        );
    }
    let ran = skyl(["chat", "hi"]).os_env("SKYL_MODEL", odd).run();
    assert!(ran.stderr.contains("SKYL_MODEL"), "{ran:?}");
}

#[test]
fn a_prompt_longer_than_any_context_is_refused_and_a_long_one_is_not() {
    let echoed = skyl(["chat", "-"]).input(&vec![b'a'; 1_000_000]).run();
    assert_eq!((echoed.code, echoed.stdout.len()), (0, 1_000_011));
    let refused = skyl(["chat", "-", "--json"])
        .input(&vec![b'a'; 16 * 1024 * 1024 + 1])
        .run();
    assert_eq!(
        (refused.code, refused.object()["error"]["kind"].as_str()),
        (1, Some("usage"))
    );
}
