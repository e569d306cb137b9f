//! A client of System One on a manual clock, and the answers of a raw server.

use skyl::system_one::{CallOptions, Client, ClientBuilder, Noul, Questions, Request, Response};
use skyl::{Error, RetryPolicy};
use skyl_retry::ManualClock;
use tokio::task::JoinSet;

use crate::raw::{Act, Raw, json, reply};
use crate::support::Events;

pub(crate) const KEY: &str = "ts-test-0123456789";

/// A client of a raw server, its clock, and what its hook heard.
pub(crate) struct Bench {
    pub(crate) client: Client,
    pub(crate) clock: ManualClock,
    pub(crate) events: Events,
}

/// A client whose waits take no time.
pub(crate) fn bench(server: &Raw) -> Bench {
    bench_with(server, |builder| builder)
}

/// A client whose waits take no time, with settings of its own.
pub(crate) fn bench_with(server: &Raw, set: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Bench {
    bench_on(ManualClock::skipping(), &server.base_url(), set)
}

/// A client on this clock.
pub(crate) fn bench_on(
    clock: ManualClock,
    base_url: &str,
    set: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Bench {
    let events = Events::default();
    let builder = Client::builder_from(|_| None)
        .api_key(KEY)
        .base_url(base_url)
        .clock(clock.clone())
        .seed(1)
        .hook(events.hook());
    Bench {
        client: set(builder).build().unwrap(),
        clock,
        events,
    }
}

/// A client under a policy changed from the default one.
pub(crate) fn policed(
    server: &Raw,
    change: impl FnOnce(skyl::RetryPolicyBuilder) -> skyl::RetryPolicyBuilder,
) -> Bench {
    let policy = change(RetryPolicy::system_one().to_builder())
        .build()
        .unwrap();
    bench_with(server, |builder| builder.policy(policy))
}

/// Words no error, log or event may hold.
pub(crate) const STATE: &str = "parcel-8841 is late again";

pub(crate) fn questions() -> Questions {
    Questions::new().ask("late", Noul::new("Is a delivery late?"))
}

pub(crate) async fn ask(client: &Client) -> Result<Response, Error> {
    client.system_one(STATE, questions()).await
}

/// A call that is under way while the test does something else; dropping it ends it.
pub(crate) struct Running(JoinSet<Result<Response, Error>>);

impl Running {
    pub(crate) fn ask(client: Client) -> Self {
        Self::ask_with(client, CallOptions::new())
    }

    pub(crate) fn ask_with(client: Client, options: CallOptions) -> Self {
        let mut calls = JoinSet::new();
        calls.spawn(async move {
            let request = Request::new(STATE, questions());
            client.system_one_with(&request, options).await
        });
        Self(calls)
    }

    pub(crate) fn is_finished(&mut self) -> bool {
        self.0.try_join_next().is_some()
    }

    pub(crate) async fn end(&mut self) -> Result<Response, Error> {
        self.0.join_next().await.unwrap().unwrap()
    }
}

/// Waits until the server has read so many requests.
pub(crate) async fn received(server: &Raw, requests: usize) {
    while server.requests().len() < requests {
        tokio::task::yield_now().await;
    }
}

/// The answer to [`questions`].
pub(crate) fn answered() -> Vec<Act> {
    reply(
        200,
        &[
            ("Content-Type", "application/json"),
            ("x-typesafe-request-id", "req_ok"),
        ],
        ANSWER,
    )
}

pub(crate) const ANSWER: &str = r#"{"model":"jev-1.13.0","answers":{"late":{"type":"noul","noul":0.93}},"usage":{"input_tokens":431,"output_tokens":20}}"#;

/// A failed answer that says nothing.
pub(crate) fn status(status: u16) -> Vec<Act> {
    json(status, r#"{"detail":"no"}"#)
}

/// A failed answer with a header.
pub(crate) fn told(status: u16, name: &str, value: &str) -> Vec<Act> {
    reply(status, &[(name, value)], "{}")
}
