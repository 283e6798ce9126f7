//! A server with TLS, and non-blocking clients.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};
use tls::{Certificate, Config};

use super::authority::{Authority, Identity, Purpose};
use crate::driver::{Driver, Seen};

pub const VERSIONS: [&SupportedProtocolVersion; 2] =
    [&rustls::version::TLS12, &rustls::version::TLS13];

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
                certificates: vec![certificate(&host)],
                ..Config::default()
            },
            ca,
        }
    }

    /// Starts a server of `ROUTES` with TLS.
    pub fn driver(&self, values: &[f64]) -> Driver {
        let mut driver = Driver::prompt(values);
        driver.engine.set_tls(driver.server, &self.config).unwrap();
        driver
    }

    pub fn config(&self, version: &'static SupportedProtocolVersion) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(self.ca.der())).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Arc::new(config)
    }

    pub fn client(&self, driver: &Driver) -> Client {
        Client::new(driver, &self.config(&rustls::version::TLS13))
    }

    /// Connects, and completes the handshake.
    pub fn connected(&self, driver: &mut Driver) -> Client {
        let mut client = self.client(driver);
        client.shake_hands(driver);
        client
    }
}

pub fn certificate(identity: &Identity) -> Certificate {
    Certificate {
        names: vec!["localhost".to_owned()],
        chain: identity.chain_der(),
        key: identity.key_der(),
    }
}

/// How the client saw the connection end.
#[derive(Clone, PartialEq, Debug)]
pub enum End {
    /// The server sent a `close_notify`.
    Regular,
    /// There was no `close_notify`: the client cannot know whether data is missing.
    Cut,
    Alert(rustls::Error),
}

pub struct Client {
    pub socket: TcpStream,
    pub tls: ClientConnection,
    pub received: Vec<u8>,
    pub end: Option<End>,
}

impl Client {
    pub fn new(driver: &Driver, config: &Arc<ClientConfig>) -> Self {
        let name = ServerName::try_from("localhost").unwrap();
        Self {
            socket: driver.client(),
            tls: ClientConnection::new(Arc::clone(config), name).unwrap(),
            received: Vec::new(),
            end: None,
        }
    }

    /// Sends and receives as much as possible.
    pub fn pump(&mut self) {
        while self.tls.wants_write() && self.tls.write_tls(&mut self.socket).is_ok() {}
        if self.end.is_some() {
            return;
        }
        match self.tls.read_tls(&mut self.socket) {
            Ok(0) => self.end = Some(End::Cut),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(_) => self.end = Some(End::Cut),
        }
        if let Err(error) = self.tls.process_new_packets() {
            self.end = Some(End::Alert(error));
            return;
        }
        let mut bytes = Vec::new();
        let read = self.tls.reader().read_to_end(&mut bytes);
        self.received.extend_from_slice(&bytes);
        if read.is_ok() {
            self.end = Some(End::Regular);
        }
    }

    pub fn shake_hands(&mut self, driver: &mut Driver) {
        driver.until(|_| {
            self.pump();
            assert_eq!(self.end, None);
            !self.tls.is_handshaking() && !self.tls.wants_write()
        });
    }

    pub fn say(&mut self, bytes: &[u8]) {
        self.tls.writer().write_all(bytes).unwrap();
        self.pump();
    }

    /// Sends bytes, and gives the next request that the engine dispatches.
    pub fn ask(&mut self, driver: &mut Driver, bytes: &[u8]) -> Seen {
        self.say(bytes);
        driver.until(|driver| {
            self.pump();
            driver
                .seen
                .iter()
                .any(|seen| seen.kind() == ring::layout::kind::REQUEST)
        });
        driver.request()
    }

    /// Runs turns until the received bytes end with `suffix`.
    pub fn hear(&mut self, driver: &mut Driver, suffix: &[u8]) -> Vec<u8> {
        driver.until(|_| {
            self.pump();
            assert!(
                self.end.is_none() || self.received.ends_with(suffix),
                "{:?} after {}",
                self.end,
                String::from_utf8_lossy(&self.received)
            );
            self.received.ends_with(suffix)
        });
        std::mem::take(&mut self.received)
    }

    pub fn await_end(&mut self, driver: &mut Driver) -> End {
        driver.until(|_| {
            self.pump();
            self.end.is_some()
        });
        self.end.clone().unwrap()
    }
}
