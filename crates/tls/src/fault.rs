//! Errors of settings, and errors of peers.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The reason why settings were refused. Its text is a sentence that says what is wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigFault {
    NoCertificate,
    /// A certificate is wrong. `which` gives its index and its first name.
    Certificate {
        which: Which,
        problem: String,
    },
    /// The key of a certificate cannot be used.
    Key {
        which: Which,
        problem: String,
    },
    /// The key belongs to another certificate.
    KeyMismatch {
        which: Which,
    },
    /// The certificate of an authority is wrong. Its index begins at 0.
    Authority {
        index: usize,
        problem: String,
    },
    NoAuthority,
    RevocationList {
        problem: String,
    },
    UnknownCipher {
        name: String,
    },
    UnknownGroup {
        name: String,
    },
    NoCipherForVersions,
    VersionsReversed,
    TicketKeys {
        length: usize,
    },
    /// The TLS library refuses the settings for another reason.
    Library {
        problem: String,
    },
}

/// Names a certificate in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Which {
    /// The index, from 0.
    pub index: usize,
    pub name: Option<String>,
}

impl Display for Which {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(out, "certificate {} ({name})", self.index + 1),
            None => write!(out, "certificate {}", self.index + 1),
        }
    }
}

impl Display for ConfigFault {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCertificate => {
                out.write_str("TLS needs a certificate and its key, and none was given.")
            }
            Self::Certificate { which, problem } => write!(
                out,
                "The chain of {which} cannot be used: {problem}. Give the certificate itself first, then those of its issuers."
            ),
            Self::Key { which, problem } => write!(
                out,
                "The private key of {which} cannot be used: {problem}. Give an RSA key of 2048 bits or more, an ECDSA key of P-256, P-384 or P-521, or an Ed25519 key."
            ),
            Self::KeyMismatch { which } => write!(
                out,
                "The private key of {which} belongs to another certificate. Give the key that this certificate was issued for, and the certificate itself as the first of its chain."
            ),
            Self::Authority { index, problem } => write!(
                out,
                "Certificate {} of ca cannot be used: {problem}. Give the certificates of the authorities that issue your clients' certificates.",
                index + 1
            ),
            Self::NoAuthority => out.write_str(
                "Clients are asked for a certificate, and ca is empty, so none could be verified. Give the certificates of the authorities in ca.",
            ),
            Self::RevocationList { problem } => write!(
                out,
                "A list of crl cannot be used: {problem}. Give lists of revoked certificates (X.509 CRL) that the authorities in ca have signed."
            ),
            Self::UnknownCipher { name } => write!(
                out,
                "The cipher suite {name:?} is not supported. Supported are {}.",
                crate::names::suite_names()
            ),
            Self::UnknownGroup { name } => write!(
                out,
                "The key exchange group {name:?} is not supported. Supported are {}.",
                crate::names::group_names()
            ),
            Self::NoCipherForVersions => out.write_str(
                "None of the cipher suites belongs to one of the TLS versions, so no client could connect. Suites whose names begin with TLS_ are those of TLS 1.3, and the others are those of TLS 1.2.",
            ),
            Self::VersionsReversed => {
                out.write_str("minVersion is above maxVersion, so no client could connect.")
            }
            Self::TicketKeys { length } => write!(
                out,
                "ticketKeys has {length} bytes, and it needs 48 random ones, such as those of crypto.randomBytes(48)."
            ),
            Self::Library { problem } => {
                write!(out, "The settings of TLS were refused: {problem}.")
            }
        }
    }
}

impl Error for ConfigFault {}

/// The reason why a link has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The peer began with plain HTTP. Nothing was sent.
    PlainHttp,
    /// The peer sent bytes that are not TLS, or that are not accepted. If there is an alert, it is in the output.
    Tls(rustls::Error),
    /// The peer sent more bytes of an incomplete message than are kept.
    TooMuch,
}

impl Display for Fault {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::PlainHttp => out.write_str("the peer speaks HTTP without TLS"),
            Self::Tls(error) => error.fmt(out),
            Self::TooMuch => out.write_str("the peer sent a handshake message that is too large"),
        }
    }
}

impl Error for Fault {}
