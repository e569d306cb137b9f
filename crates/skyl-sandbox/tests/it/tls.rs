//! Certificates: each wrong in exactly one way, and one that is right.

use std::{io, net::SocketAddr, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use skyl_sandbox::{Sandbox, Tls};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::support::{End, Wire, chat, post, streamed};

async fn serving(tls: Tls) -> Sandbox {
    Sandbox::builder().tls(tls).start().await.unwrap()
}

/// Connects as a client that trusts this authority, or none.
async fn handshake(addr: SocketAddr, ca: Option<&str>) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    if let Some(pem) = ca {
        roots
            .add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap())
            .unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(addr).await?;
    let name = ServerName::from(addr.ip());
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

async fn refusal(sandbox: &Sandbox, ca: Option<&str>) -> CertificateError {
    let error = handshake(sandbox.addr(), ca).await.unwrap_err();
    let cause = error
        .into_inner()
        .unwrap()
        .downcast::<rustls::Error>()
        .unwrap();
    let rustls::Error::InvalidCertificate(error) = *cause else {
        panic!("{cause}")
    };
    error
}

#[tokio::test]
async fn a_client_that_trusts_the_authority_is_served() {
    let sandbox = serving(Tls::Trusted).await;
    assert!(sandbox.url().starts_with("https://127.0.0.1:"));
    let mut wire = Wire::over(handshake(sandbox.addr(), sandbox.ca_pem()).await.unwrap());
    for body in [
        chat("gpt-5.6"),
        streamed("gpt-5.6"),
        chat("sandbox-status-503"),
    ] {
        wire.send(&post(&body)).await;
        assert_eq!(wire.answer().await.unwrap().end, End::Whole);
    }
    assert_eq!(sandbox.journal().len(), 3);
    assert!(sandbox.journal().iter().all(|entry| entry.connection == 1));
}

#[tokio::test]
async fn faults_reach_through_tls() {
    let sandbox = serving(Tls::Trusted).await;
    for (model, end) in [
        ("sandbox-do-reset", End::Rst),
        ("sandbox-do-close", End::Fin),
    ] {
        let mut wire = Wire::over(handshake(sandbox.addr(), sandbox.ca_pem()).await.unwrap());
        wire.send(&post(&chat(model))).await;
        assert_eq!(wire.end().await, end, "{model}");
    }
    for (model, end) in [
        ("sandbox-do-reset-mid", End::Rst),
        ("sandbox-do-close-mid", End::Fin),
    ] {
        let mut wire = Wire::over(handshake(sandbox.addr(), sandbox.ca_pem()).await.unwrap());
        wire.send(&post(&streamed(model))).await;
        let answer = wire.answer().await.unwrap();
        assert_eq!(answer.end, end, "{model}");
        assert!(answer.text().contains("You "), "{model}");
    }
}

#[tokio::test]
async fn a_wrong_certificate_is_wrong_in_one_way_and_no_request_is_made() {
    let sandbox = serving(Tls::Expired).await;
    let error = refusal(&sandbox, sandbox.ca_pem()).await;
    assert!(
        matches!(error, CertificateError::ExpiredContext { .. }),
        "{error}"
    );
    assert!(sandbox.journal().is_empty());

    let sandbox = serving(Tls::WrongHost).await;
    let error = refusal(&sandbox, sandbox.ca_pem()).await;
    assert!(
        matches!(error, CertificateError::NotValidForNameContext { .. }),
        "{error}"
    );
    assert!(sandbox.journal().is_empty());

    let sandbox = serving(Tls::SelfSigned).await;
    assert_eq!(sandbox.ca_pem(), None, "nobody vouches for it");
    let error = refusal(&sandbox, None).await;
    assert!(matches!(error, CertificateError::UnknownIssuer), "{error}");
    sandbox.all_closed().await;
    assert_eq!(
        (sandbox.stats().connections, sandbox.stats().requests),
        (1, 0)
    );
}

#[tokio::test]
async fn a_client_that_does_not_trust_the_authority_refuses_even_the_right_one() {
    let sandbox = serving(Tls::Trusted).await;
    let error = refusal(&sandbox, None).await;
    assert!(matches!(error, CertificateError::UnknownIssuer), "{error}");
}

#[tokio::test]
async fn a_client_without_tls_gets_no_answer() {
    let sandbox = serving(Tls::Trusted).await;
    let mut wire = crate::support::connect(&sandbox).await;
    wire.send(&post(&chat("gpt-5.6"))).await;
    // The first byte of a TLS alert, and certainly not of an HTTP answer.
    wire.until("\u{15}").await;
    sandbox.all_closed().await;
    assert!(sandbox.journal().is_empty());
}
