//! Retry engines that come with more around them: a middleware of reqwest's, and the runtime of
//! the AWS SDK.
//!
//! Neither can be had without its surroundings, so each stands in two rows: the same call with and
//! without retries. What retries cost is the difference.

use std::hint::black_box;
use std::time::SystemTime;

use aws_smithy_runtime::client::orchestrator::operation::Operation;
use aws_smithy_runtime_api::client::http::{
    HttpConnectorFuture, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse, OrchestratorError};
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::retry::RetryConfig;
use http::Method;
use reqwest::{Request, Response, Url};
use reqwest_middleware::{ClientWithMiddleware, Middleware, Next};
use reqwest_retry::RetryTransientMiddleware;
use retry_policies::RetryPolicy as _;
use retry_policies::policies::ExponentialBackoff;
use tokio::runtime::Runtime;

use crate::engine::keep;
use crate::measure::Contender;

/// Calls that succeed at once.
pub(super) fn happy_path(runtime: &Runtime) -> Vec<Contender<'_>> {
    vec![
        middleware("reqwest-middleware, reqwest-retry", runtime, true),
        middleware("reqwest-middleware alone", runtime, false),
        smithy("aws-smithy-runtime, standard retries", runtime, true),
        smithy("aws-smithy-runtime, no retries", runtime, false),
    ]
}

/// Decisions after a failure.
#[expect(clippy::disallowed_methods, reason = "what its caller has to do")]
pub(super) fn decisions() -> Vec<Contender<'static>> {
    let policy = ExponentialBackoff::builder().build_with_max_retries(3);
    let began = SystemTime::now();
    vec![Contender::new("retry-policies", move |n| {
        for i in 0..n {
            let past = u32::try_from(i % 3).unwrap_or(0);
            keep(black_box(&policy).should_retry(began, past));
        }
    })]
}

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
fn middleware<'a>(name: &'static str, runtime: &'a Runtime, retries: bool) -> Contender<'a> {
    let mut client = reqwest_middleware::ClientBuilder::new(reqwest::Client::new());
    if retries {
        let policy = ExponentialBackoff::builder().build_with_max_retries(3);
        client = client.with(RetryTransientMiddleware::new_with_policy(policy));
    }
    let client: ClientWithMiddleware = client.with(Ready).build();
    let url: Url = "http://localhost/".parse().expect("an address");
    Contender::new(name, move |n| {
        runtime.block_on(async {
            for _ in 0..n {
                let request = Request::new(Method::GET, url.clone());
                keep(client.execute(request).await.expect("an answer"));
            }
        });
    })
}

/// Answers where others would go to the network.
struct Ready;

#[async_trait::async_trait]
impl Middleware for Ready {
    async fn handle(
        &self,
        request: Request,
        _: &mut http::Extensions,
        _: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        drop(black_box(request));
        Ok(Response::from(http::Response::new("")))
    }
}

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
fn smithy<'a>(name: &'static str, runtime: &'a Runtime, retries: bool) -> Contender<'a> {
    let connector = SharedHttpConnector::new(Connector);
    let mut operation = Operation::builder()
        .service_name("bench")
        .operation_name("call")
        .http_client(http_client_fn(move |_, _| connector.clone()))
        .endpoint_url("http://localhost/")
        .no_auth()
        .serializer(|(): ()| Ok(HttpRequest::new(SdkBody::empty())))
        .deserializer(|_: &HttpResponse| Ok::<_, OrchestratorError<std::convert::Infallible>>(()));
    operation = if retries {
        operation.standard_retry(&RetryConfig::standard())
    } else {
        operation.no_retry()
    };
    let operation = operation.build();
    Contender::new(name, move |n| {
        runtime.block_on(async {
            for _ in 0..n {
                operation.invoke(()).await.expect("an answer");
            }
        });
    })
}

/// Answers where others would go to the network.
#[derive(Debug)]
struct Connector;

impl aws_smithy_runtime_api::client::http::HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        drop(black_box(request));
        let status = http::StatusCode::OK.into();
        HttpConnectorFuture::ready(Ok(HttpResponse::new(status, SdkBody::empty())))
    }
}
