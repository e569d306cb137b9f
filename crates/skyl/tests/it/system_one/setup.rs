//! Setting a client up: the environment, the refusals, and what goes out with every request.

use std::collections::HashMap;

use skyl::system_one::{CallOptions, Client, ClientBuilder, Price, Request};
use skyl::{ErrorKind, Jitter, RetryPolicy};
use skyl_retry::ManualClock;

use crate::raw::{Raw, json};
use crate::support::{ms, secs};
use crate::system_one::support::{
    Bench, KEY, STATE, answered, ask, bench, bench_with, policed, questions, status,
};

/// A builder that finds these variables.
fn with_env(variables: &[(&str, &str)]) -> ClientBuilder {
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    Client::builder_from(|name| variables.get(name).map(|value| (*value).to_owned()))
        .clock(ManualClock::skipping())
}

fn with_key() -> ClientBuilder {
    Client::builder_from(|_| None).api_key(KEY)
}

/// What the body of the only request says its model is.
fn model_asked(server: &Raw) -> String {
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    body["model"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_environment_names_key_address_and_model() {
    let server = Raw::serve(vec![answered()]).await;
    let client = with_env(&[
        ("TYPESAFE_API_KEY", "  ts-env-0123456789\n"),
        ("TYPESAFE_BASE_URL", &format!(" {} ", server.base_url())),
        ("TYPESAFE_DEFAULT_MODEL", "jev-1.13.0"),
    ])
    .build()
    .unwrap();
    ask(&client).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!(
        request.header("authorization"),
        Some("Bearer ts-env-0123456789")
    );
    assert_eq!(model_asked(&server), "jev-1.13.0");
}

#[tokio::test]
async fn what_is_set_wins_over_the_environment_and_blank_sets_nothing() {
    let server = Raw::serve(vec![answered()]).await;
    let env = [
        ("TYPESAFE_API_KEY", "ts-env-0123456789"),
        ("TYPESAFE_BASE_URL", "http://127.0.0.1:1"),
        ("TYPESAFE_DEFAULT_MODEL", "jev-env"),
    ];
    let client = with_env(&env)
        .api_key(KEY)
        .base_url(server.base_url())
        .model("jev-set")
        .api_key("  ")
        .base_url("")
        .model(" ")
        .build()
        .unwrap();
    ask(&client).await.unwrap();
    let bearer = format!("Bearer {KEY}");
    assert_eq!(server.requests()[0].header("authorization"), Some(&*bearer));
    assert_eq!(model_asked(&server), "jev-set");
}

#[test]
fn blank_variables_are_unset() {
    let blank = [("TYPESAFE_API_KEY", " \t"), ("TYPESAFE_DEFAULT_MODEL", "")];
    let error = with_env(&blank).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    let client = with_env(&blank).api_key(KEY).build().unwrap();
    assert_eq!(client.model(), "jev-latest");
}

#[test]
fn without_a_key_the_error_says_what_to_set() {
    let error = Client::builder_from(|_| None).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "skyl: typesafe: authentication failed: no API key: set TYPESAFE_API_KEY or `api_key`"
    );
    assert!(error.attempts().is_empty());
}

#[test]
fn a_key_no_header_can_carry_is_refused_without_being_printed() {
    for key in [
        "ts-012345 6789",
        "ts-01234\u{7}56789",
        "ts-0123456789-é",
        "ts-01234\n56789",
    ] {
        let error = Client::builder_from(|_| None)
            .api_key(key)
            .build()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Auth, "{key:?}");
        assert!(
            !crate::secrets::prints(&error).contains("ts-012"),
            "{key:?}"
        );
    }
    with_key().build().unwrap();
}

#[tokio::test]
async fn a_base_url_may_end_in_a_slash_or_in_v1_and_keeps_its_path() {
    let server = Raw::serve(vec![answered()]).await;
    let root = server.base_url().replace("/v1", "");
    for (given, path) in [
        ("", "/v1/systemone"),
        ("/", "/v1/systemone"),
        ("/v1", "/v1/systemone"),
        ("/v1/", "/v1/systemone"),
        ("/typesafe", "/typesafe/v1/systemone"),
        ("/typesafe/v1//", "/typesafe/v1/systemone"),
    ] {
        server.play(vec![answered()]);
        let client = with_key()
            .base_url(format!("{root}{given}"))
            .build()
            .unwrap();
        ask(&client).await.unwrap();
        let head = &server.requests()[0].head;
        assert!(
            head.starts_with(&format!("POST {path} HTTP/1.1")),
            "{given}: {head}"
        );
    }
}

#[test]
fn base_urls_that_are_none_are_refused_without_being_printed() {
    for url in [
        "api.typesafe.ai",
        "ftp://api.typesafe.ai",
        "file:///v1",
        "https://",
        "https://api.typesafe.ai?key=se-cret",
        "https://api.typesafe.ai#se-cret",
        "https://user:se-cret@api.typesafe.ai",
    ] {
        let error = with_key().base_url(url).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest, "{url}");
        assert!(error.to_string().contains("base URL"), "{error}");
        assert!(!crate::secrets::prints(&error).contains("se-cret"), "{url}");
    }
}

#[test]
fn each_setting_that_cannot_be_is_refused_by_its_name() {
    let day = secs(24 * 60 * 60);
    let cases: [(&str, ClientBuilder); 15] = [
        ("max_retries", with_key().max_retries(1001)),
        ("max_delay", with_key().initial_delay(secs(6))),
        ("max_delay", with_key().max_delay(8 * day)),
        ("jitter", with_key().jitter(Jitter::Shave(1.1))),
        ("jitter", with_key().jitter(Jitter::Shave(f64::NAN))),
        ("max_retry_after", with_key().max_retry_after(secs(0))),
        ("budget", with_key().budget(8 * day)),
        ("attempt_timeout", with_key().attempt_timeout(secs(0))),
        ("connect_timeout", with_key().connect_timeout(8 * day)),
        ("total_timeout", with_key().total_timeout(secs(0))),
        ("max_body_bytes", with_key().max_body_bytes(0)),
        ("price", with_key().price(Price::per_million(f64::NAN, 0.0))),
        ("header `x y`", with_key().header("x y", "1")),
        (
            "header `Authorization`",
            with_key().header("Authorization", "Bearer mine"),
        ),
        (
            "header `content-length`",
            with_key().header("content-length", "1"),
        ),
    ];
    for (name, builder) in cases {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest, "{name}");
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
}

#[test]
fn the_whole_documented_range_of_jitter_and_a_zero_delay_are_taken() {
    for fraction in [0.0, 0.25, 1.0] {
        with_key().jitter(Jitter::Shave(fraction)).build().unwrap();
    }
    with_key().initial_delay(secs(0)).build().unwrap();
    with_key()
        .max_retries(1000)
        .budget(secs(0))
        .build()
        .unwrap();
}

#[tokio::test]
async fn a_zero_delay_retries_at_once() {
    let server = Raw::serve(vec![status(503)]).await;
    let Bench { client, clock, .. } = bench_with(&server, |builder| builder.initial_delay(secs(0)));
    ask(&client).await.unwrap_err();
    assert_eq!(clock.sleeps(), [secs(0), secs(0)]);
}

#[tokio::test]
async fn every_request_carries_what_the_api_expects() {
    let server = Raw::serve(vec![answered()]).await;
    ask(&bench(&server).client).await.unwrap();
    let request = &server.requests()[0];
    for (name, value) in [
        ("authorization", "Bearer ts-test-0123456789"),
        ("accept", "application/json"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    for name in ["user-agent", "x-typesafe-sdk"] {
        assert!(request.header(name).unwrap().starts_with("skyl/"), "{name}");
    }
    for name in [
        "typesafe-danger-zone-images",
        "typesafe-danger-zone-long-context",
    ] {
        assert_eq!(request.header(name), None, "{name}");
    }
}

#[tokio::test]
async fn a_list_of_models_is_a_get_without_a_body() {
    let server = Raw::serve(vec![json(200, r#"{"models":[]}"#)]).await;
    assert!(
        bench(&server)
            .client
            .list_models()
            .await
            .unwrap()
            .is_empty()
    );
    let request = &server.requests()[0];
    assert!(
        request.head.starts_with("GET /v1/models HTTP/1.1"),
        "{}",
        request.head
    );
    assert!(request.body.is_empty());
    assert_eq!(request.header("content-type"), None);
}

#[tokio::test]
async fn the_retry_count_is_on_retries_alone() {
    let server = Raw::serve(vec![status(503), status(503), answered()]).await;
    ask(&bench(&server).client).await.unwrap();
    let counts: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.header("x-typesafe-retry-count").map(str::to_owned))
        .collect();
    assert_eq!(counts, [None, Some("1".to_owned()), Some("2".to_owned())]);
}

#[tokio::test]
async fn a_callers_retry_count_is_left_out_with_a_warning() {
    let server = Raw::serve(vec![status(503), answered()]).await;
    let client = bench(&server).client;
    let request = Request::new(STATE, questions());
    let options = CallOptions::new().header("x-typesafe-RETRY-count", "7");
    let response = client.system_one_with(&request, options).await.unwrap();
    let seen = server.requests();
    assert_eq!(seen[0].header("x-typesafe-retry-count"), None);
    assert_eq!(seen[1].header("x-typesafe-retry-count"), Some("1"));
    assert_eq!(response.warnings().len(), 1);
    assert_eq!(response.warnings()[0].field, "headers");

    server.play(vec![answered()]);
    assert!(ask(&client).await.unwrap().warnings().is_empty());
}

#[tokio::test]
async fn headers_of_a_call_win_over_the_clients_and_neither_replaces_the_credential() {
    let server = Raw::serve(vec![answered()]).await;
    let Bench { client, .. } = bench_with(&server, |builder| {
        builder.header("X-Team", "all").header("X-Kept", "yes")
    });
    let request = Request::new(STATE, questions());
    let options = CallOptions::new().header("x-team", "search");
    client.system_one_with(&request, options).await.unwrap();
    let seen = &server.requests()[0];
    assert_eq!(seen.header("x-team"), Some("search"));
    assert_eq!(seen.header("x-kept"), Some("yes"));

    for name in ["authorization", "Authorization", "AUTHORIZATION"] {
        let options = CallOptions::new().header(name, "Bearer se-cret");
        let error = client.system_one_with(&request, options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest);
        assert!(!crate::secrets::prints(&error).contains("se-cret"));
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn headers_that_frame_the_message_are_not_the_callers() {
    let server = Raw::serve(vec![answered()]).await;
    let client = bench(&server).client;
    let request = Request::new(STATE, questions());
    for name in [
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Host",
        "Upgrade",
    ] {
        let options = CallOptions::new().header(name, "1");
        client.system_one_with(&request, options).await.unwrap_err();
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn the_model_is_the_calls_else_the_requests_else_the_clients() {
    let server = Raw::serve(vec![answered()]).await;
    let Bench { client, .. } = bench_with(&server, |builder| builder.model("jev-client"));
    let plain = Request::new(STATE, questions());
    let named = plain.clone().model("jev-request");
    for (request, option, expected) in [
        (&plain, None, "jev-client"),
        (&named, None, "jev-request"),
        (&named, Some("jev-call"), "jev-call"),
        (&plain, Some("jev-call"), "jev-call"),
        (&named, Some(" "), "jev-request"),
    ] {
        server.play(vec![answered()]);
        let options = CallOptions::new();
        let options = match option {
            Some(model) => options.model(model),
            None => options,
        };
        client.system_one_with(request, options).await.unwrap();
        assert_eq!(model_asked(&server), expected);
    }
}

#[tokio::test]
async fn every_figure_of_a_calls_own_policy_is_obeyed() {
    let server = Raw::serve(vec![crate::system_one::support::told(
        503,
        "Retry-After",
        "9",
    )])
    .await;
    let Bench { client, clock, .. } = bench(&server);
    let policy = RetryPolicy::system_one()
        .to_builder()
        .max_retries(1)
        .initial_delay(ms(40))
        .jitter(Jitter::Shave(0.0))
        .honor_retry_after(false)
        .build()
        .unwrap();
    let request = Request::new(STATE, questions());
    let options = CallOptions::new().policy(policy.clone());
    client.system_one_with(&request, options).await.unwrap_err();
    assert_eq!(clock.sleeps(), [ms(40)]);

    let only_429 = policy
        .to_builder()
        .retry_statuses("429".parse().unwrap())
        .build()
        .unwrap();
    let options = CallOptions::new().policy(only_429);
    client.system_one_with(&request, options).await.unwrap_err();
    assert_eq!(
        clock.sleeps().len(),
        1,
        "503 is not among the statuses of this call"
    );
}

#[tokio::test]
async fn the_strict_set_of_statuses_leaves_a_500_alone() {
    let server = Raw::serve(vec![status(500), answered()]).await;
    let strict = || "429, 503, 529".parse().unwrap();
    let Bench { client, .. } = policed(&server, |policy| policy.retry_statuses(strict()));
    ask(&client).await.unwrap_err();
    assert_eq!(server.requests().len(), 1);
    server.play(vec![status(503), answered()]);
    ask(&client).await.unwrap();
}

#[cfg(feature = "reqwest")]
#[tokio::test]
async fn an_adjusted_http_client_keeps_credential_and_rules() {
    let server = Raw::serve(vec![crate::system_one::support::told(
        307,
        "Location",
        "/v1/elsewhere",
    )])
    .await;
    let Bench { client, .. } = bench_with(&server, |builder| {
        builder.http(|http| http.redirect(reqwest::redirect::Policy::limited(5)))
    });
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.http_status(), Some(307));
    let seen = server.requests();
    assert_eq!(seen.len(), 1, "a redirect is not followed");
    assert_eq!(
        seen[0].header("authorization"),
        Some("Bearer ts-test-0123456789")
    );
}

#[test]
fn debug_prints_of_client_builder_and_options_hold_no_secret() {
    let builder = with_key()
        .base_url("https://host.example/se-cret-path")
        .header("x-token", "se-cret");
    let options = CallOptions::new().header("x-token", "se-cret");
    let client = with_key().header("x-token", "se-cret").build().unwrap();
    let all = format!("{builder:?} {options:?} {client:?}");
    assert!(!all.contains("se-cret") && !all.contains(KEY), "{all}");
}

#[test]
fn clients_and_their_futures_go_to_other_threads() {
    fn goes<T: Send>(value: T) -> T {
        value
    }
    fn shared<T: Send + Sync + Clone>(value: T) -> T {
        value
    }
    let client = shared(with_key().build().unwrap());
    drop(goes(ask(&client)));
    drop(goes(client.list_models()));
}
