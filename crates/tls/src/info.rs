//! The result of a handshake.

use rustls::{CommonState, HandshakeKind, ProtocolVersion};

use crate::config::Version;
use crate::names::openssl_name;

/// The result of a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info<'a> {
    pub version: Version,
    /// The OpenSSL name of the cipher suite.
    pub cipher: &'static str,
    pub alpn: Option<&'a [u8]>,
    /// The host that the client named, in lower case.
    pub server_name: Option<&'a str>,
    /// True if an earlier session was resumed.
    pub resumed: bool,
    /// The client's certificate as DER.
    pub peer: Option<&'a [u8]>,
}

impl<'a> Info<'a> {
    pub(crate) fn new(state: &'a CommonState, server_name: Option<&'a str>) -> Self {
        Self {
            version: match state.protocol_version() {
                Some(ProtocolVersion::TLSv1_2) => Version::Tls12,
                _ => Version::Tls13,
            },
            cipher: state
                .negotiated_cipher_suite()
                .map_or("", |suite| openssl_name(suite.suite())),
            alpn: state.alpn_protocol(),
            server_name,
            resumed: state.handshake_kind() == Some(HandshakeKind::Resumed),
            peer: state
                .peer_certificates()
                .and_then(|chain| chain.first())
                .map(AsRef::as_ref),
        }
    }
}
