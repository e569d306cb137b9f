//! The `tower` layer around a service that speaks HTTP through `hyper`.
//!
//! `cargo run -p skyl-retry --features tokio,tower --example tower_hyper_service`
//!
//! Client and server talk over a pipe in memory, so that it runs anywhere. The server is busy, then
//! broken, then well; the layer reads `Retry-After` and the status off each response.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::TokioIo;
use skyl_retry::hint::{HintScope, from_headers};
use skyl_retry::{Clock, Failure, FailureClass, RetryLayer, RetryPolicy, TokioClock};
use tower::{BoxError, Layer, Service, ServiceExt, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let response = run(TokioClock::new()).await?;
    println!("{}: {:?}", response.status(), response.body());
    Ok(())
}

/// Makes one call through the layer.
///
/// # Errors
/// When every attempt failed without a response.
pub(crate) async fn run<C>(clock: C) -> Result<Response<Bytes>, BoxError>
where
    C: Clock<Sleep: Send> + Clone + Send + Sync + 'static,
{
    let wall = clock.clone();
    let retries = RetryLayer::new(
        RetryPolicy::chat(),
        clock,
        move |outcome: Result<&Response<Bytes>, &BoxError>| classify(outcome, &wall),
    )
    .total_timeout(Duration::from_secs(60))
    .on_decision(|attempt, failure, verdict| {
        println!("attempt {}: {}; {verdict}", attempt.number, failure.class);
    });

    let mut service = retries.layer(http_service());
    // The body is held by reference count: a clone per attempt copies no byte of it.
    let request = Request::post("http://api.example/v1/messages").body(Full::from("{}"))?;
    Ok(service.ready().await?.call(request).await?)
}

/// What the layer is to make of an outcome.
fn classify(outcome: Result<&Response<Bytes>, &BoxError>, clock: &impl Clock) -> Option<Failure> {
    let Ok(response) = outcome else {
        return Some(Failure::new(FailureClass::ConnectionLost));
    };
    let class = match response.status() {
        status if status.is_success() => return None,
        StatusCode::TOO_MANY_REQUESTS => FailureClass::Throttled,
        status if status.is_server_error() => FailureClass::Server,
        _ => FailureClass::Permanent,
    };
    let headers = response.headers().iter();
    let headers: Vec<_> = headers
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let found = from_headers(headers.iter().copied(), clock.wall(), HintScope::All);
    Some(
        Failure::new(class)
            .with_status(response.status().as_u16())
            .with_hint(found.hint),
    )
}

/// A service that opens a connection per request and reads the whole answer.
///
/// It reads the body below the layer, so that an answer cut short is an error that can be retried.
fn http_service()
-> impl Service<Request<Full<Bytes>>, Response = Response<Bytes>, Error = BoxError, Future: Send>
+ Clone
+ Send
+ 'static {
    let count = Arc::new(AtomicUsize::new(0));
    service_fn(move |request| exchange(request, Arc::clone(&count)))
}

async fn exchange(
    request: Request<Full<Bytes>>,
    count: Arc<AtomicUsize>,
) -> Result<Response<Bytes>, BoxError> {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let answering = hyper::service::service_fn(move |_: Request<Incoming>| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        async move { Ok::<_, Infallible>(answer(number)) }
    });
    let server =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(far), answering);

    let client = async {
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(near)).await?;
        let exchange = async {
            let (parts, body) = sender.send_request(request).await?.into_parts();
            let body = Limited::new(body, MAX_BODY_BYTES).collect().await?;
            // Without its sender the connection ends, and with it the server's side.
            drop(sender);
            Ok::<_, BoxError>(Response::from_parts(parts, body.to_bytes()))
        };
        let (response, connection) = tokio::join!(exchange, connection);
        connection?;
        response
    };
    // Both sides run inside this future: dropping it ends them.
    let (response, server) = tokio::join!(client, server);
    server?;
    response
}

/// The server: busy, then broken, then well.
fn answer(number: usize) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from("{\"text\":\"Paris\"}"));
    match number {
        0 => {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            let wait = http::HeaderValue::from_static("2");
            response.headers_mut().insert("retry-after", wait);
        }
        1 => *response.status_mut() = StatusCode::BAD_GATEWAY,
        _ => {}
    }
    response
}

const PIPE_BYTES: usize = 1024;
const MAX_BODY_BYTES: usize = 1 << 20;
