//! What a failure of the transport means: its kind, and whether the request can have been sent.
//!
//! The whole chain of causes is walked, since every layer wraps the one below, and TLS errors hide
//! inside I/O errors. Types and I/O kinds are looked at, never texts: those change between
//! releases, and a certificate that is suddenly "just another I/O error" would be retried for ever.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError};
use skyl_retry::{FailureClass, Sent};

use crate::kind::ErrorKind;
use crate::scrub::BoxError;

/// A failure without a (whole) answer.
#[derive(Debug)]
pub(crate) struct TransportFailure {
    pub(crate) kind: ErrorKind,
    pub(crate) class: FailureClass,
    pub(crate) sent: Sent,
    /// What happened, in skyl's words; the source has the rest.
    pub(crate) message: &'static str,
    pub(crate) source: BoxError,
}

impl TransportFailure {
    pub(crate) fn new(mut error: reqwest::Error) -> Self {
        if let Some(url) = error.url_mut() {
            // A query may carry a key; host and path tell what is needed.
            url.set_query(None);
            url.set_fragment(None);
            // These fail only on addresses without a host, and such addresses have no user.
            let _no_user = url.set_username("").and_then(|()| url.set_password(None));
        }
        let Meaning {
            kind,
            class,
            sent,
            message,
        } = meaning(&error);
        Self {
            kind,
            class,
            sent,
            message,
            source: Box::new(error),
        }
    }
}

struct Meaning {
    kind: ErrorKind,
    class: FailureClass,
    sent: Sent,
    message: &'static str,
}

fn meaning(error: &reqwest::Error) -> Meaning {
    if let Some(message) = certificate(error) {
        return Meaning {
            kind: ErrorKind::Certificate,
            class: FailureClass::Certificate,
            // A server's alert about our own certificate may come after the handshake.
            sent: if error.is_connect() {
                Sent::No
            } else {
                Sent::Maybe
            },
            message,
        };
    }
    if error.is_connect() {
        return Meaning {
            kind: ErrorKind::Transport,
            class: FailureClass::Connect,
            sent: Sent::No,
            message: no_connection(error),
        };
    }
    if error.is_builder() {
        // Only a caller's header or address gets this far.
        return Meaning {
            kind: ErrorKind::BadRequest,
            class: FailureClass::Permanent,
            sent: Sent::No,
            message: "the request cannot be sent",
        };
    }
    // A timeout the caller set on the HTTP library itself.
    if error.is_timeout() {
        return Meaning {
            kind: ErrorKind::Timeout,
            class: FailureClass::Timeout,
            sent: Sent::Maybe,
            message: "the HTTP client's own timeout passed",
        };
    }
    let lost = |sent, message| Meaning {
        kind: ErrorKind::Transport,
        class: FailureClass::ConnectionLost,
        sent,
        message,
    };
    if let Some(hyper) = causes(error).find_map(|cause| cause.downcast_ref::<hyper::Error>()) {
        if hyper.is_canceled() {
            return lost(Sent::No, "connection closed before the request was sent");
        }
        if hyper.is_parse() {
            return Meaning {
                kind: ErrorKind::Decode,
                class: FailureClass::Decode,
                sent: Sent::Maybe,
                message: "the answer is not HTTP",
            };
        }
    }
    let io = causes(error)
        .find_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind);
    lost(
        Sent::Maybe,
        match io {
            Some(io::ErrorKind::ConnectionReset) => "connection reset",
            Some(io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted) => {
                "connection broken"
            }
            _ => "connection closed before the answer was complete",
        },
    )
}

/// What is wrong with a certificate, if that is what is wrong.
fn certificate(error: &reqwest::Error) -> Option<&'static str> {
    causes(error).find_map(|cause| match cause.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(why) => Some(rejected(why)),
        rustls::Error::NoCertificatesPresented => Some("the server presented no certificate"),
        rustls::Error::InvalidCertRevocationList(_) => Some("a revocation list is invalid"),
        // The server rejects ours: as much a misconfiguration as the other way round.
        rustls::Error::AlertReceived(
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::UnknownCA,
        ) => Some("the server rejects the client's certificate"),
        _ => None,
    })
}

fn rejected(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet"
        }
        CertificateError::Revoked => "it has been revoked",
        CertificateError::UnknownIssuer => "its issuer is not trusted, or it is self-signed",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it belongs to another host"
        }
        _ => "it cannot be trusted",
    }
}

fn no_connection(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        return "no connection within the connect timeout";
    }
    if error.is_dns() {
        return "the host name cannot be resolved";
    }
    if causes(error).any(<dyn StdError>::is::<rustls::Error>) {
        return "TLS handshake failed";
    }
    let io = causes(error)
        .find_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind);
    match io {
        Some(io::ErrorKind::ConnectionRefused) => "connection refused",
        Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable) => {
            "host unreachable"
        }
        _ => "cannot connect",
    }
}

/// The error and all its causes, those inside I/O errors included.
fn causes<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

fn cause<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    // An I/O error's own `source` skips the error it wraps.
    match error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}
