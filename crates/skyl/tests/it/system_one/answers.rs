//! What comes back when a call goes well.

use skyl::ErrorKind;
use skyl::system_one::{Choice, Noul, Price, Questions, Score, Strictness};

use crate::raw::{Raw, json, reply};
use crate::support::secs;
use crate::system_one::support::{ANSWER, Bench, STATE, answered, ask, bench, bench_with, told};

const MIXED: &str = r#"{"model":"jev-1.13.0","answers":{"refund":{"type":"noul","noul":0.07},"queue":{"type":"choice","choice":"carrier","confidence":0.91,"probabilities":{"carrier":0.94,"warehouse":0.02,"other":0.04}},"patience":{"type":"score","score":0.95,"confidence":0.63,"legend":{"0":"Relaxed","1":"Mildly annoyed","2":"Fed up"},"probabilities":{"0":0.15,"1":0.75,"2":0.1}}},"usage":{"input_tokens":431,"output_tokens":79}}"#;

fn mixed() -> Questions {
    Questions::new()
        .ask("refund", Noul::new("Is the buyer asking for money back?"))
        .ask(
            "queue",
            Choice::new("Which team?").options(["carrier", "warehouse", "other"]),
        )
        .ask(
            "patience",
            Score::new("How patient?").levels(["Relaxed", "Mildly annoyed", "Fed up"]),
        )
}

#[tokio::test]
async fn answers_are_read_by_id_and_type() {
    let server = Raw::serve(vec![json(200, MIXED)]).await;
    let response = bench(&server)
        .client
        .system_one(STATE, mixed())
        .await
        .unwrap();
    assert!((response.noul("refund").unwrap().noul - 0.07).abs() < 1e-9);
    assert_eq!(response.choice("queue").unwrap().choice, "carrier");
    assert!((response.score("patience").unwrap().score - 0.95).abs() < 1e-9);
    let ids: Vec<_> = response.answers().iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["refund", "queue", "patience"]);
}

#[tokio::test]
async fn an_answer_of_another_type_or_id_is_an_error_and_never_a_zero() {
    let server = Raw::serve(vec![json(200, MIXED)]).await;
    let response = bench(&server)
        .client
        .system_one(STATE, mixed())
        .await
        .unwrap();
    for error in [
        response.noul("queue").unwrap_err(),
        response.noul("nobody asked").unwrap_err(),
        response.score("refund").unwrap_err(),
        response.choice("patience").unwrap_err(),
        response.bounding_box("refund").unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Decode);
        assert_eq!(error.provider(), Some("typesafe"));
        assert!(!error.retryable());
    }
}

#[tokio::test]
async fn a_response_says_what_it_took() {
    let server = Raw::serve(vec![told(429, "Retry-After", "2"), answered()]).await;
    let Bench { client, .. } = bench_with(&server, |builder| builder.price(Price::LIST));
    let response = ask(&client).await.unwrap();
    assert_eq!(response.model(), Some("jev-1.13.0"));
    assert_eq!(response.request_id(), Some("req_ok"));
    assert_eq!(response.usage().input_tokens, Some(431));
    assert_eq!(response.usage().output_tokens, Some(20));
    assert_eq!(response.attempts().len(), 2);
    assert_eq!(response.attempts()[0].wait, Some(secs(2)));
    assert_eq!(response.elapsed(), secs(2));
    assert_eq!(response.raw(), ANSWER.as_bytes());
    assert!((response.cost().unwrap() - 431.0 * 0.042 / 1e6).abs() < 1e-15);
    assert!(response.warnings().is_empty());
    assert_eq!(response.into_answers().len(), 1);
}

#[tokio::test]
async fn without_a_price_or_a_count_there_is_no_cost() {
    let server = Raw::serve(vec![answered()]).await;
    assert_eq!(ask(&bench(&server).client).await.unwrap().cost(), None);

    let unmetered = ANSWER.replace(r#""input_tokens":431,"#, "");
    let server = Raw::serve(vec![json(200, &unmetered)]).await;
    let Bench { client, .. } = bench_with(&server, |builder| {
        builder.price(Price::LIST).strictness(Strictness::Lenient)
    });
    let response = ask(&client).await.unwrap();
    assert_eq!(
        (response.usage().input_tokens, response.cost()),
        (None, None)
    );
}

#[tokio::test]
async fn every_2xx_is_an_answer() {
    for code in [200, 201, 203, 205, 208] {
        let server = Raw::serve(vec![json(code, ANSWER)]).await;
        let response = ask(&bench(&server).client).await;
        // A 205 has no body by the rules of HTTP, whatever is sent with it.
        match response {
            Ok(response) => assert!(response.noul("late").is_ok()),
            Err(error) => assert_eq!((code, error.kind()), (205, ErrorKind::Decode), "{error}"),
        }
    }
}

#[tokio::test]
async fn what_strict_refuses_lenient_keeps_with_a_warning() {
    let odd = ANSWER.replace("0.93", "1.7");
    let server = Raw::serve(vec![json(200, &odd)]).await;
    let error = ask(&bench(&server).client).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert!(error.to_string().contains("answers.late"), "{error}");

    let Bench { client, .. } =
        bench_with(&server, |builder| builder.strictness(Strictness::Lenient));
    let response = ask(&client).await.unwrap();
    assert!(!response.warnings().is_empty());
    assert!(
        response.noul("late").is_err(),
        "not as a figure that may be taken for one"
    );
    assert!(response.answers().raw("late").is_some());
}

#[tokio::test]
async fn models_are_listed_with_what_the_server_says_of_them() {
    let body = r#"{"models":[{"name":"jev-latest","description":"The latest","release_date":"2026-09-10T18:38:01.391457+00:00"},{"name":"jev-preview","description":"Next","release_date":"2026-11-01"}]}"#;
    let head = [("x-typesafe-request-id", "req_m")];
    let server = Raw::serve(vec![reply(200, &head, body)]).await;
    let models = bench(&server).client.list_models().await.unwrap();
    assert_eq!(models.len(), 2);
    assert_eq!(models[0].name, "jev-latest");
    assert_eq!(
        models[0].release_date.as_deref(),
        Some("2026-09-10T18:38:01.391457+00:00")
    );

    server.play(vec![reply(200, &head, "nothing")]);
    let error = bench(&server).client.list_models().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(error.request_id(), Some("req_m"));
    assert_eq!(server.requests().len(), 1, "final");
}

#[tokio::test]
async fn the_sandbox_answers_what_it_is_asked() {
    let sandbox = skyl_sandbox::Sandbox::start().await.unwrap();
    let client = skyl::system_one::Client::builder_from(|_| None)
        .api_key("sandbox-key")
        .base_url(sandbox.base_url("/typesafe"))
        .clock(skyl_retry::ManualClock::skipping())
        .build()
        .unwrap();
    let response = client.system_one(STATE, mixed()).await.unwrap();
    assert!(response.noul("refund").is_ok());
    assert!(response.choice("queue").is_ok());
    assert!(response.score("patience").is_ok());
    assert!(response.request_id().unwrap().starts_with("req_"));
    assert!(response.warnings().is_empty(), "{:?}", response.warnings());
    assert_eq!(client.list_models().await.unwrap()[0].name, "jev-latest");
}
