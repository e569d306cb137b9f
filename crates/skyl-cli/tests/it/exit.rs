//! Exit codes: what scripts branch on.

use skyl_sandbox::Tls;

use crate::support::{Server, skyl};

#[track_caller]
fn ends(args: &[&str], code: i32) {
    for stream in [&[][..], &["--stream"]] {
        one(&[args, stream].concat(), code);
    }
}

#[track_caller]
fn one(args: &[&str], code: i32) {
    let mut run = skyl(["chat", "hi", "--max-retries", "0"]);
    for arg in args {
        run = run.args([arg]);
    }
    let ran = run.run();
    assert_eq!(ran.code, code, "{args:?}: {ran:?}");
}

#[test]
fn every_outcome_has_its_code() {
    ends(&[], 0);
    ends(&["--bogus"], 1);
    ends(&["--temperature=-1"], 2);
    ends(&["--fault", "401"], 3);
    ends(&["--fault", "403"], 3);
    ends(&["--api-key", "wrong-key-entirely"], 3);
    ends(&["--fault", "400"], 4);
    ends(&["--fault", "404"], 4);
    ends(&["--fault", "422"], 4);
    ends(&["--fault", "302"], 4);
    ends(&["--fault", "400(body=context)"], 4);
    ends(&["--model", "no-such-model"], 4);
    ends(&["--model", "sandbox-refusal"], 4);
    ends(&["--fault", "429"], 5);
    ends(&["--fault", "429(body=quota)"], 5);
    ends(&["--fault", "402"], 5);
    ends(&["--fault", "500"], 6);
    ends(&["--fault", "529"], 6);
    ends(&["--fault", "200(body=html)"], 6);
    ends(&["--fault", "reset"], 7);
    ends(&["--fault", "close"], 7);
    ends(&["--fault", "stall(60000)", "--timeout", "50ms"], 7);
    ends(&["--fault", "stall(60000)", "--deadline", "50ms"], 7);
}

#[test]
fn nobody_at_the_other_end_is_the_networks_fault() {
    ends(&["--base-url", "http://127.0.0.1:1/v1", "--model", "m"], 7);
}

#[test]
fn a_certificate_nobody_should_accept_is_one_attempt_and_no_request() {
    for tls in [Tls::SelfSigned, Tls::Expired, Tls::WrongHost] {
        let server = Server::with(|sandbox| sandbox.tls(tls));
        let ran = server.chat(["hi", "--model", "gpt-5.6", "--json"]).run();
        let object = ran.object();
        assert_eq!(
            (ran.code, object["error"]["kind"].as_str()),
            (7, Some("certificate")),
            "{ran:?}"
        );
        assert_eq!(object["error"]["attempts"].as_array().unwrap().len(), 1);
        assert!(server.journal().is_empty());
    }
}

#[test]
fn no_command_at_all_is_wrong_usage_and_shows_the_help() {
    let ran = skyl([]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("Usage:"), "{ran:?}");
}

#[test]
fn wrong_values_are_refused_with_one_that_is_right() {
    for (args, words) in [
        (
            &["chat", "hi", "--max-retries", "-1"][..],
            "a whole number from 0",
        ),
        (
            &["chat", "hi", "--max-tokens", "many"],
            "a whole number from 0",
        ),
        (
            &["chat", "hi", "--temperature", "hot"],
            "a number such as 0.7",
        ),
        (
            &["chat", "hi", "--temperature", "nan"],
            "a number such as 0.7",
        ),
        (&["sandbox", "--addr", "8099"], "a port: 127.0.0.1:8099"),
        (&["sandbox", "--addr", "localhost:1"], "a port: 127.0.0.1:1"),
        (&["sandbox", "--addr", "here"], "such as 127.0.0.1:8099"),
        (
            &["chat", "hi", "--base-url", "localhost:1/v1"],
            "begins with http://",
        ),
        (&["chat", "hi", "there"], "skyl chat 'hi there'"),
    ] {
        let mut run = skyl([]);
        for arg in args {
            run = run.args([*arg]);
        }
        let ran = run.run();
        assert_eq!(ran.code, 1, "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{args:?}: {ran:?}");
    }
    let flag = skyl(["chat", "hi", "--bogus"]).run();
    assert!(!flag.stderr.contains("quotes"), "{flag:?}");
}
