//! Certificates: a rejected one is final, and found wherever in the chain it hides.

use skyl::openai::OpenAi;
use skyl::{Client, ClientBuilder, Error, ErrorKind, Request, RetryStop, Sent};
use skyl_retry::ManualClock;
use skyl_sandbox::{DEFAULT_KEY, Sandbox, Tls};

fn builder(sandbox: &Sandbox) -> ClientBuilder {
    Client::builder(OpenAi::new(DEFAULT_KEY).base_url(sandbox.base_url("/openai/v1")))
        .clock(ManualClock::skipping())
}

fn request() -> Request {
    Request::new("gpt-5.6").user("What is the capital of France?")
}

fn check(error: &Error, sandbox: &Sandbox) {
    assert_eq!(error.kind(), ErrorKind::Certificate, "{error:?}");
    assert_eq!((error.sent(), error.retryable()), (Sent::No, false));
    assert_eq!(error.retry_stop(), Some(RetryStop::NotRetryable));
    assert_eq!(error.attempts().len(), 1);
    assert!(
        error
            .to_string()
            .starts_with("skyl: openai: certificate rejected: "),
        "{error}"
    );
    assert!(sandbox.journal().is_empty(), "no request went out");
}

// hashicorp/go-retryablehttp#201, fabric8io/kubernetes-client#7915, bazelbuild/bazel#28227
#[tokio::test]
async fn certificates_nobody_vouches_for_are_one_attempt() {
    for tls in [Tls::SelfSigned, Tls::Expired, Tls::WrongHost] {
        let sandbox = Sandbox::builder().tls(tls).start().await.unwrap();
        let client = builder(&sandbox).build().unwrap();
        check(&client.complete(&request()).await.unwrap_err(), &sandbox);
        check(&client.stream(&request()).await.unwrap_err(), &sandbox);
    }
}

#[tokio::test]
async fn the_caller_cannot_have_them_retried() {
    let sandbox = Sandbox::builder()
        .tls(Tls::SelfSigned)
        .start()
        .await
        .unwrap();
    let client = builder(&sandbox)
        .should_retry(|_| skyl::Choice::Retry)
        .build()
        .unwrap();
    check(&client.complete(&request()).await.unwrap_err(), &sandbox);
}

#[cfg(feature = "reqwest")]
fn trusting(sandbox: &Sandbox) -> Client {
    let authority = reqwest::Certificate::from_pem(sandbox.ca_pem().unwrap().as_bytes()).unwrap();
    builder(sandbox)
        .http(move |http| http.tls_certs_only([authority]))
        .build()
        .unwrap()
}

#[cfg(feature = "reqwest")]
#[tokio::test]
async fn a_trusted_authority_makes_the_call_work() {
    let sandbox = Sandbox::builder().tls(Tls::Trusted).start().await.unwrap();
    let answer = trusting(&sandbox).complete(&request()).await.unwrap();
    assert_eq!(answer.attempts().len(), 1);
}

#[cfg(feature = "reqwest")]
#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_told() {
    for (tls, why) in [
        (Tls::Expired, "it has expired"),
        (Tls::WrongHost, "it belongs to another host"),
    ] {
        let sandbox = Sandbox::builder().tls(tls).start().await.unwrap();
        let error = trusting(&sandbox).complete(&request()).await.unwrap_err();
        check(&error, &sandbox);
        assert_eq!(error.message(), Some(why));
    }
}

// astral-sh/uv#15896: a peer that closes without saying so after a whole body
#[cfg(feature = "reqwest")]
#[tokio::test]
async fn a_body_that_is_whole_by_its_length_needs_no_polite_goodbye() {
    use std::sync::Arc;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::rustls;

    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}/v1", listener.local_addr().unwrap());
    let serve = async {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let _request = stream.read(&mut [0; 8192]).await.unwrap();
            let body = crate::raw::answer("Paris");
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
            // Dropped without a close_notify: TLS calls that an unexpected end.
        }
    };
    let authority = reqwest::Certificate::from_der(&certificate).unwrap();
    let client = Client::builder(OpenAi::new(DEFAULT_KEY).base_url(address))
        .http(move |http| http.tls_certs_only([authority]))
        .build()
        .unwrap();
    let request = request();
    let answer = tokio::select! {
        outcome = client.complete(&request) => outcome.unwrap(),
        () = serve => unreachable!(),
    };
    assert_eq!(answer.attempts().len(), 1);
    assert_eq!(answer.text(), "Paris");
}
