//! A link and a client of rustls, connected in memory.
#![allow(dead_code, reason = "no test file uses all of it")]

use std::io::{Cursor, ErrorKind, Read, Write};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion, version};
use tls::{Certificate, Config, Fault, Fed, Link, Scratch, Settings};

use crate::authority::{Authority, Identity, Purpose};

/// An authority, and a server's settings with a certificate for localhost.
pub struct World {
    pub ca: Authority,
    pub config: Config,
}

impl World {
    pub fn new() -> Self {
        let ca = Authority::root("test");
        let host = ca.issue(Purpose::Server, &["localhost"]);
        Self {
            config: Config {
                certificates: vec![certificate(&["localhost"], &host)],
                ..Config::default()
            },
            ca,
        }
    }

    pub fn settings(&self) -> Settings {
        self.config.build(None).unwrap()
    }

    pub fn client(&self) -> Client {
        Client::new(&self.ca)
    }
}

pub fn certificate(names: &[&str], identity: &Identity) -> Certificate {
    Certificate {
        names: names.iter().map(|&name| name.to_owned()).collect(),
        chain: identity.chain_der(),
        key: identity.key_der(),
    }
}

/// The settings of a client.
#[derive(Clone)]
pub struct Client {
    pub versions: Vec<&'static SupportedProtocolVersion>,
    pub provider: rustls::crypto::CryptoProvider,
    pub roots: RootCertStore,
    pub alpn: Vec<Vec<u8>>,
    pub name: &'static str,
    pub max_fragment: Option<usize>,
    identity: Option<(Vec<Vec<u8>>, Vec<u8>)>,
}

impl Client {
    pub fn new(ca: &Authority) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(ca.der())).unwrap();
        Self {
            versions: vec![&version::TLS13, &version::TLS12],
            provider: aws_lc_rs::default_provider(),
            roots,
            alpn: Vec::new(),
            name: "localhost",
            max_fragment: None,
            identity: None,
        }
    }

    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    pub fn version(mut self, version: &'static SupportedProtocolVersion) -> Self {
        self.versions = vec![version];
        self
    }

    pub fn alpn(mut self, protocols: &[&str]) -> Self {
        self.alpn = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        self
    }

    pub fn with(mut self, identity: &Identity) -> Self {
        self.identity = Some((identity.chain_der(), identity.key_der()));
        self
    }

    /// Gives the configuration, which stores the tickets of its connections.
    pub fn config(&self) -> Arc<ClientConfig> {
        let builder = ClientConfig::builder_with_provider(Arc::new(self.provider.clone()))
            .with_protocol_versions(&self.versions)
            .unwrap()
            .with_root_certificates(self.roots.clone());
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let chain = chain.iter().cloned().map(CertificateDer::from).collect();
                let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.clone()));
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols.clone_from(&self.alpn);
        config.max_fragment_size = self.max_fragment;
        config.resumption = Resumption::in_memory_sessions(32);
        Arc::new(config)
    }

    pub fn connect(&self, settings: &Settings) -> Pair {
        Pair::new(settings, &self.config(), self.name)
    }
}

/// A link and its client.
pub struct Pair {
    pub link: Link,
    pub client: ClientConnection,
    pub scratch: Scratch,
    /// The plaintext that the link has given.
    pub plain: Vec<u8>,
    /// The bytes that the link has sent and the client has not received.
    pub wire: Vec<u8>,
    pub ended: bool,
}

impl Pair {
    pub fn new(settings: &Settings, client: &Arc<ClientConfig>, name: &'static str) -> Self {
        let name = ServerName::try_from(name).unwrap();
        Self {
            link: Link::new(settings).unwrap(),
            client: ClientConnection::new(Arc::clone(client), name).unwrap(),
            scratch: Scratch::default(),
            plain: Vec::new(),
            wire: Vec::new(),
            ended: false,
        }
    }

    /// Gives the bytes that the client has to send.
    pub fn client_bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while self.client.wants_write() {
            self.client.write_tls(&mut bytes).unwrap();
        }
        bytes
    }

    /// Feeds ciphertext to the link.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Fed, Fault> {
        self.feed_with_room(bytes, 65_536)
    }

    pub fn feed_with_room(&mut self, bytes: &[u8], room: usize) -> Result<Fed, Fault> {
        self.link.room(&mut self.scratch)[..bytes.len()].copy_from_slice(bytes);
        let mut plain = vec![0; room];
        let fed = self
            .link
            .feed(&mut self.scratch, bytes.len(), &mut plain, &mut self.wire)?;
        self.plain.extend_from_slice(&plain[..fed.plaintext]);
        self.ended |= fed.ended;
        Ok(fed)
    }

    /// Delivers the bytes of the link to the client.
    pub fn deliver(&mut self) -> Result<(), rustls::Error> {
        let mut bytes = Cursor::new(std::mem::take(&mut self.wire));
        while (bytes.position() as usize) < bytes.get_ref().len() {
            self.client.read_tls(&mut bytes).unwrap();
            self.client.process_new_packets()?;
        }
        Ok(())
    }

    /// Passes bytes in both directions until both sides wait.
    pub fn settle(&mut self) -> Result<(), Fault> {
        loop {
            let bytes = self.client_bytes();
            for piece in bytes.chunks(65_536) {
                self.feed(piece)?;
            }
            if bytes.is_empty() && self.wire.is_empty() {
                return Ok(());
            }
            self.deliver().unwrap();
        }
    }

    /// Sends bytes of the client to the link.
    pub fn say(&mut self, bytes: &[u8]) {
        let before = self.plain.len();
        for piece in bytes.chunks(16_384) {
            self.client.writer().write_all(piece).unwrap();
            self.settle().unwrap();
        }
        assert!(
            self.plain[before..] == *bytes,
            "the link got something else"
        );
    }

    /// Sends bytes of the link, and gives what the client read.
    pub fn answer(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.link.seal(bytes, &mut self.wire);
        self.deliver().unwrap();
        self.heard()
    }

    /// Gives the bytes that the client can read now.
    pub fn heard(&mut self) -> Vec<u8> {
        let mut heard = Vec::new();
        match self.client.reader().read_to_end(&mut heard) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        heard
    }
}
