//! Certificates: a rejected one is final, and found wherever in the chain it hides.

use skyl::openai::OpenAi;
use skyl::{Client, ClientBuilder, Error, ErrorKind, ManualClock, Request, RetryStop, Sent};
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
