use skyl_retry::{Jitter, RetryPolicy};

use super::*;
use crate::args::{ConnectionArgs, PolicyArgs, Secret};
use crate::provider::Api;
use crate::settings::connection::Faults;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[track_caller]
fn connect(args: &ConnectionArgs, env: &[(&str, &str)]) -> Connection {
    Connection::resolve(Api::Chat, args, &Env::of(env), Faults::None).unwrap()
}

#[track_caller]
fn refused(args: &ConnectionArgs, env: &[(&str, &str)], words: &[&str]) {
    let line = Connection::resolve(Api::Chat, args, &Env::of(env), Faults::None)
        .unwrap_err()
        .line();
    for word in words {
        assert!(line.contains(word), "{line}");
    }
}

fn provider(name: &str) -> ConnectionArgs {
    ConnectionArgs {
        provider: Some(name.to_owned()),
        ..ConnectionArgs::default()
    }
}

#[test]
fn a_flag_goes_before_its_variable_and_that_before_the_policy() {
    let args = PolicyArgs {
        max_retries: Some(7),
        ..PolicyArgs::default()
    };
    let variables = [
        ("SKYL_MAX_RETRIES", "5"),
        ("SKYL_RETRY_BASE", "1s"),
        ("SKYL_POLICY", "system_one"),
    ];
    let policy = chat_policy(&args, &Env::of(&variables)).unwrap();
    assert_eq!(policy.max_retries(), 7);
    assert_eq!(policy.initial_delay(), ms(1000));
    // What nobody said is the policy's word.
    assert_eq!(policy.max_delay(), ms(5000));
    assert_eq!(policy.jitter(), Jitter::Shave(0.25));
}

#[test]
fn without_a_word_the_policy_is_the_chat_policy() {
    let policy = chat_policy(&PolicyArgs::default(), &Env::of(&[])).unwrap();
    assert_eq!(policy, RetryPolicy::chat());
}

#[test]
fn every_variable_of_the_policy_is_read() {
    let variables = [
        ("SKYL_POLICY", "fleet"),
        ("SKYL_MAX_RETRIES", "9"),
        ("SKYL_RETRY_BASE", "10ms"),
        ("SKYL_RETRY_MAX", "20ms"),
        ("SKYL_JITTER", "equal"),
        ("SKYL_RETRY_AFTER_CAP", "1s"),
        ("SKYL_OVER_CAP", "give-up"),
        ("SKYL_IGNORE_RETRY_AFTER", "1"),
        ("SKYL_BUDGET", "3s"),
        ("SKYL_NO_RETRY_ON_TIMEOUT", "true"),
        ("SKYL_NO_RETRY_ON_CONN_ERR", "yes"),
        ("SKYL_RETRY_UNSENT", "on"),
    ];
    let expected = RetryPolicy::fleet()
        .to_builder()
        .max_retries(9)
        .initial_delay(ms(10))
        .max_delay(ms(20))
        .jitter(Jitter::Equal)
        .max_retry_after(ms(1000))
        .over_cap(skyl_retry::OverCap::GiveUp)
        .honor_retry_after(false)
        .budget(ms(3000))
        .retry_on_timeout(false)
        .retry_on_conn_err(false)
        .retry_unsent(true)
        .build()
        .unwrap();
    assert_eq!(
        chat_policy(&PolicyArgs::default(), &Env::of(&variables)).unwrap(),
        expected
    );
}

#[test]
fn a_switch_on_the_line_goes_before_one_in_a_variable() {
    let args = PolicyArgs {
        retry_unsent: Some(false),
        ..PolicyArgs::default()
    };
    let policy = policy(&args, &Env::of(&[("SKYL_RETRY_UNSENT", "1")])).unwrap();
    assert!(!policy.retry_unsent());
}

#[test]
fn a_wrong_variable_is_named() {
    for (name, value, word) in [
        ("SKYL_RETRY_BASE", "5", "unit"),
        ("SKYL_MAX_RETRIES", "-1", "whole number"),
        ("SKYL_JITTER", "none", "decorrelated"),
        ("SKYL_RETRY_UNSENT", "perhaps", "true or false"),
        ("SKYL_POLICY", "mine", "fleet"),
        ("SKYL_POLICY", "src", "directory"),
    ] {
        let line = policy(&PolicyArgs::default(), &Env::of(&[(name, value)]))
            .unwrap_err()
            .line();
        assert!(line.starts_with(name) && line.contains(word), "{line}");
    }
}

#[test]
fn figures_that_do_not_go_together_are_refused_by_who_said_them() {
    let refused = |args: &PolicyArgs| chat_policy(args, &Env::of(&[])).unwrap_err().line();
    let line = refused(&PolicyArgs {
        retry_base: Some(ms(2000)),
        retry_max: Some(ms(1000)),
        ..PolicyArgs::default()
    });
    assert!(line.starts_with("--retry-max: max_delay"), "{line}");
    // Here the default is what does not fit, and the line says which flag mends it.
    let line = refused(&PolicyArgs {
        retry_base: Some(ms(60_000)),
        ..PolicyArgs::default()
    });
    assert!(
        line.starts_with("--retry-base: max_delay") && line.contains("--retry-max"),
        "{line}"
    );
    let line = refused(&PolicyArgs {
        retry_after_cap: Some(ms(0)),
        ..PolicyArgs::default()
    });
    assert!(line.starts_with("--retry-after-cap: "), "{line}");
}

#[test]
fn the_chat_client_takes_no_wait_that_cannot_vary_and_no_thousand_and_first_retry() {
    for args in [
        PolicyArgs {
            jitter: Some(Jitter::Shave(0.0)),
            ..PolicyArgs::default()
        },
        PolicyArgs {
            retry_base: Some(ms(0)),
            ..PolicyArgs::default()
        },
        PolicyArgs {
            max_retries: Some(1001),
            ..PolicyArgs::default()
        },
        PolicyArgs {
            retry_max: Some(ms(8 * 24 * 3_600_000)),
            ..PolicyArgs::default()
        },
    ] {
        let env = Env::of(&[]);
        let line = chat_policy(&args, &env).unwrap_err().line();
        assert!(line.starts_with("--"), "{line}");
        assert!(
            policy(&args, &env).is_ok(),
            "the engine itself takes it: {line}"
        );
    }
}

#[test]
fn times_of_zero_and_of_ages_are_refused() {
    let times =
        |text: &str| Times::resolve(&TimeArgs::default(), &Env::of(&[("SKYL_DEADLINE", text)]));
    assert_eq!(times("90s").unwrap().deadline, Some(ms(90_000)));
    assert_eq!(times("7d").unwrap().deadline, Some(LONGEST));
    for text in ["0", "0s", "8d", "10"] {
        let line = times(text).unwrap_err().line();
        assert!(line.starts_with("SKYL_DEADLINE: "), "{text}: {line}");
    }
}

#[test]
fn the_sandbox_answers_whatever_keys_are_set() {
    let variables = [
        ("OPENAI_API_KEY", "sk-1"),
        ("OPENAI_BASE_URL", "https://host/v1"),
        ("ANTHROPIC_API_KEY", "sk-2"),
        ("GEMINI_API_KEY", "sk-3"),
        ("SKYL_API_KEY", "sk-4"),
    ];
    let connection = connect(&ConnectionArgs::default(), &variables);
    assert!(connection.is_sandbox());
    assert!(connection.key.is_none() && connection.chosen_by.is_none());
}

#[test]
fn a_base_url_alone_means_compat_and_a_name_beside_it_does_not() {
    let url = ConnectionArgs {
        base_url: Some("http://host/v1/".into()),
        ..ConnectionArgs::default()
    };
    let connection = connect(&url, &[("OPENAI_API_KEY", "sk-1")]);
    assert_eq!(connection.provider.name, "compat");
    assert_eq!(connection.base_url.as_deref(), Some("http://host/v1/"));
    // Another provider's key does not travel to an address that is not its own.
    assert!(connection.key.is_none());

    let named = ConnectionArgs {
        provider: Some("openai".into()),
        ..url
    };
    assert_eq!(
        connect(&named, &[("OPENAI_API_KEY", "sk-1")]).provider.name,
        "openai"
    );
    assert_eq!(
        connect(&ConnectionArgs::default(), &[("SKYL_BASE_URL", "http://h")])
            .provider
            .name,
        "compat"
    );
}

#[test]
fn keys_come_from_the_flag_and_then_from_the_providers_own_variable() {
    let both = [("OPENAI_API_KEY", "sk-own"), ("SKYL_API_KEY", "sk-skyl")];
    let key = |args: &ConnectionArgs| connect(args, &both).key.unwrap().value.expose().to_owned();
    assert_eq!(key(&provider("openai")), "sk-own");
    let given = ConnectionArgs {
        api_key: Some(Secret("sk-flag".into())),
        ..provider("openai")
    };
    assert_eq!(key(&given), "sk-flag");
    let compat = ConnectionArgs {
        base_url: Some("http://h".into()),
        ..provider("compat")
    };
    assert_eq!(key(&compat), "sk-skyl");
    refused(
        &provider("openai"),
        &[("SKYL_API_KEY", "sk-skyl")],
        &["OPENAI_API_KEY", "--api-key"],
    );
}

#[test]
fn addresses_come_from_the_flag_then_skyls_variable_then_the_providers() {
    let env =
        |pairs: &[(&'static str, &'static str)]| [pairs, &[("OPENAI_API_KEY", "sk-own")]].concat();
    let own = env(&[("OPENAI_BASE_URL", "https://own/v1")]);
    let both = env(&[
        ("OPENAI_BASE_URL", "https://own/v1"),
        ("SKYL_BASE_URL", "https://skyl/v1"),
    ]);
    let url = |args: &ConnectionArgs, env: &[(&str, &str)]| connect(args, env).base_url;
    assert_eq!(url(&provider("openai"), &env(&[])), None);
    assert_eq!(
        url(&provider("openai"), &own).as_deref(),
        Some("https://own/v1")
    );
    assert_eq!(
        url(&provider("openai"), &both).as_deref(),
        Some("https://skyl/v1")
    );
    let flag = ConnectionArgs {
        base_url: Some("https://flag/v1".into()),
        ..provider("openai")
    };
    assert_eq!(url(&flag, &both).as_deref(), Some("https://flag/v1"));
}

#[test]
fn an_address_that_is_none_is_refused_without_being_repeated() {
    for url in [
        "host",
        "ftp://host",
        "http://",
        "http://user:pw9@host/v1",
        "http://[pw9",
        "http://h/#pw9",
    ] {
        let args = ConnectionArgs {
            base_url: Some(url.into()),
            ..ConnectionArgs::default()
        };
        let line = Connection::resolve(Api::Chat, &args, &Env::of(&[]), Faults::None)
            .unwrap_err()
            .line();
        assert!(
            line.starts_with("--base-url: ") && !line.contains("pw9"),
            "{url}: {line}"
        );
    }
}

#[test]
fn a_provider_that_nobody_knows_names_those_that_are_there() {
    let there_are = "sandbox, openai, responses, anthropic, gemini and compat";
    refused(
        &provider("nobody"),
        &[],
        &["--provider", "nobody", there_are],
    );
    refused(
        &ConnectionArgs::default(),
        &[("SKYL_PROVIDER", "nobody")],
        &["SKYL_PROVIDER"],
    );
    refused(&provider("compat"), &[], &["--base-url"]);
}

fn preset(name: &str) -> ConnectionArgs {
    ConnectionArgs {
        preset: Some(name.to_owned()),
        ..ConnectionArgs::default()
    }
}

#[test]
fn a_preset_means_compat_and_brings_its_own_key_variable() {
    let both = [("SKYL_API_KEY", "sk-skyl"), ("GROQ_API_KEY", "gsk-own")];
    let connection = connect(&preset("groq"), &both);
    assert_eq!(
        (connection.provider.name, connection.name()),
        ("compat", "groq")
    );
    assert_eq!(connection.base_url, None);
    assert_eq!(connection.key.unwrap().value.expose(), "gsk-own");
    let connection = connect(&preset("Groq"), &both[..1]);
    assert_eq!(connection.key.unwrap().value.expose(), "sk-skyl");
    refused(
        &preset("groq"),
        &[],
        &["GROQ_API_KEY", "SKYL_API_KEY", "--api-key"],
    );
    // Those on one's own machine go without, and so may whoever stands at another address.
    assert!(connect(&preset("llama.cpp"), &[]).key.is_none());
    let moved = ConnectionArgs {
        base_url: Some("http://h/v1".into()),
        ..preset("groq")
    };
    let connection = connect(&moved, &[]);
    assert_eq!(connection.base_url.as_deref(), Some("http://h/v1"));
    assert_eq!(connection.name(), "groq");
}

#[test]
fn a_preset_without_an_address_of_its_own_needs_one() {
    let key = [("AZURE_OPENAI_API_KEY", "azure-key")];
    refused(&preset("azure"), &key, &["azure", "--base-url"]);
    let at = ConnectionArgs {
        base_url: Some("https://h/openai/v1".into()),
        ..preset("azure")
    };
    assert_eq!(connect(&at, &key).key.unwrap().value.expose(), "azure-key");
}

#[test]
fn a_preset_nobody_knows_names_those_that_are() {
    refused(
        &preset("grok"),
        &[],
        &["--preset", "grok", "azure, ", " and xai"],
    );
    refused(
        &ConnectionArgs::default(),
        &[("SKYL_PRESET", "grok")],
        &["SKYL_PRESET", "groq"],
    );
}

#[test]
fn of_a_provider_and_a_preset_the_flag_holds_and_two_of_a_rank_must_agree() {
    let env = [
        ("SKYL_PRESET", "ollama"),
        ("OPENAI_API_KEY", "sk-1"),
        ("GROQ_API_KEY", "gsk-1"),
    ];
    assert_eq!(connect(&provider("openai"), &env).name(), "openai");
    assert_eq!(connect(&provider("compat"), &env).name(), "ollama");
    assert_eq!(connect(&ConnectionArgs::default(), &env).name(), "ollama");
    let named = [("SKYL_PROVIDER", "openai"), ("GROQ_API_KEY", "gsk-1")];
    assert_eq!(connect(&preset("groq"), &named).name(), "groq");
    let both = ConnectionArgs {
        provider: Some("openai".into()),
        ..preset("groq")
    };
    refused(&both, &env, &["--preset", "--provider", "openai"]);
    refused(
        &ConnectionArgs::default(),
        &[("SKYL_PROVIDER", "openai"), ("SKYL_PRESET", "groq")],
        &["SKYL_PRESET", "SKYL_PROVIDER"],
    );
}

#[test]
fn the_sandbox_has_no_other_address() {
    let args = ConnectionArgs {
        base_url: Some("http://h".into()),
        ..provider("sandbox")
    };
    refused(&args, &[], &["--base-url", "inside"]);
    assert!(connect(&provider("sandbox"), &[("SKYL_BASE_URL", "http://h")]).is_sandbox());
}

#[test]
fn faults_are_for_the_sandbox_alone() {
    let asked = |args: &ConnectionArgs, env: &[(&str, &str)]| {
        Connection::resolve(Api::Chat, args, &Env::of(env), Faults::Asked)
    };
    assert!(asked(&ConnectionArgs::default(), &[]).is_ok());
    let line = asked(
        &ConnectionArgs::default(),
        &[("SKYL_PROVIDER", "openai"), ("OPENAI_API_KEY", "k")],
    )
    .unwrap_err()
    .line();
    assert!(
        line.contains("--fault") && line.contains("SKYL_PROVIDER"),
        "{line}"
    );
}

#[test]
fn a_header_needs_a_name_and_its_value_is_never_repeated() {
    let args = |text: &str| ConnectionArgs {
        headers: vec![Secret(text.to_owned())],
        ..ConnectionArgs::default()
    };
    let header = &connect(&args("X-A=b=c"), &[]).headers[0];
    assert_eq!(
        (header.name.as_str(), header.value.as_str()),
        ("X-A", "b=c")
    );
    assert!(!format!("{header:?}").contains("b=c"));
    for text in ["secret", "=secret", " =secret"] {
        let line = Connection::resolve(Api::Chat, &args(text), &Env::of(&[]), Faults::None)
            .unwrap_err()
            .line();
        assert!(
            line.starts_with("--header: ") && !line.contains("secret"),
            "{line}"
        );
    }
}
