//! Certificates that a careful client must refuse, and one it can be told to trust.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio_rustls::TlsAcceptor;

use crate::error::Error;

/// Which certificate the sandbox shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tls {
    /// Signed by nobody but itself.
    SelfSigned,
    /// From the sandbox's own authority, and expired in 2021.
    Expired,
    /// From the sandbox's own authority, for `wrong.host.invalid`.
    WrongHost,
    /// From the sandbox's own authority ([`Sandbox::ca_pem`](crate::Sandbox::ca_pem)), right for
    /// `localhost`, `127.0.0.1` and `::1`.
    Trusted,
}

/// What a server needs to speak TLS.
pub(crate) struct Acceptor {
    pub(crate) acceptor: TlsAcceptor,
    /// The authority a client can be told to trust, unless the certificate has none.
    pub(crate) ca_pem: Option<String>,
}

impl Acceptor {
    pub(crate) fn new(tls: Tls) -> Result<Self, Error> {
        let key = KeyPair::generate().map_err(Error::certificate)?;
        let mut params = CertificateParams::new(names(tls)).map_err(Error::certificate)?;
        params
            .distinguished_name
            .push(DnType::CommonName, "skyl sandbox");
        if tls == Tls::Expired {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        }
        let (certificate, ca_pem) = if tls == Tls::SelfSigned {
            (params.self_signed(&key).map_err(Error::certificate)?, None)
        } else {
            let authority = authority()?;
            let signed = params
                .signed_by(&key, &authority)
                .map_err(Error::certificate)?;
            (signed, Some(authority.pem()))
        };
        let acceptor = TlsAcceptor::from(Arc::new(config(certificate.der().clone(), &key)?));
        Ok(Self { acceptor, ca_pem })
    }
}

fn names(tls: Tls) -> Vec<String> {
    let names: &[&str] = match tls {
        Tls::WrongHost => &["wrong.host.invalid"],
        Tls::SelfSigned | Tls::Expired | Tls::Trusted => &["localhost", "127.0.0.1", "::1"],
    };
    names.iter().map(|&name| name.to_owned()).collect()
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, Error> {
    let key = KeyPair::generate().map_err(Error::certificate)?;
    let mut params = CertificateParams::new(Vec::new()).map_err(Error::certificate)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(DnType::CommonName, "skyl sandbox authority");
    CertifiedIssuer::self_signed(params, key).map_err(Error::certificate)
}

fn config(certificate: CertificateDer<'static>, key: &KeyPair) -> Result<ServerConfig, Error> {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    // The provider is named, so that nothing depends on what the process has installed.
    ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(Error::certificate)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .map_err(Error::certificate)
}
