//! Checks settings, and turns them into those of the TLS library.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer, PrivatePkcs8KeyDer,
};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{
    NoServerSessionStorage, ProducesTickets, VerifierBuilderError, WebPkiClientVerifier,
};
use rustls::sign::CertifiedKey;
use rustls::time_provider::TimeProvider;
use rustls::{
    Error, InconsistentKeys, RootCertStore, ServerConfig, SupportedProtocolVersion, version,
};

use crate::certificates::Certificates;
use crate::fault::{ConfigFault, Which};
use crate::names;
use crate::tickets::{Dated, SHARED_KEY_BYTES, Shared, policy_digest};

/// The longest time in seconds for which a TLS 1.3 session may be resumed (RFC 8446 §4.6.1).
const LONGEST_SESSION: u32 = 604_800;

/// A certificate, and the names by which it is chosen.
#[derive(Clone, Default)]
pub struct Certificate {
    /// Exact host names, or names with a wildcard as their first label: `*.example.com`.
    pub names: Vec<String>,
    /// The certificate itself, then those of its issuers, as DER.
    pub chain: Vec<Vec<u8>>,
    /// The private key as PKCS#8 DER.
    pub key: Vec<u8>,
}

/// Says whether clients are asked for a certificate. A certificate that does not verify is always refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClientCertificate {
    #[default]
    None,
    Optional,
    Required,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Version {
    Tls12,
    Tls13,
}

/// The settings of a server: what it offers, and which clients it accepts.
#[derive(Clone)]
pub struct Config {
    /// At least one certificate. The first one is also used for names that no certificate has.
    pub certificates: Vec<Certificate>,
    /// The authorities of clients' certificates as DER.
    pub ca: Vec<Vec<u8>>,
    /// Lists of revoked certificates as DER.
    pub crl: Vec<Vec<u8>>,
    pub client_certificate: ClientCertificate,
    pub min_version: Version,
    pub max_version: Version,
    /// Names of OpenSSL or IANA, in order of preference. An empty list stands for all suites, the strongest first.
    pub ciphers: Vec<String>,
    /// Names of OpenSSL or IANA, in order of preference. An empty list stands for the default groups.
    pub groups: Vec<String>,
    /// The time in seconds for which a session may be resumed; 0 turns resumption off.
    pub session_timeout: u32,
    /// 48 bytes that processes share; `None` makes keys of this process, which rotate every 6 h and are accepted for 12
    /// h.
    pub ticket_keys: Option<Vec<u8>>,
    /// The protocols that ALPN (RFC 7301) offers, in order of preference.
    pub alpn: Vec<Vec<u8>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            certificates: Vec::new(),
            ca: Vec::new(),
            crl: Vec::new(),
            client_certificate: ClientCertificate::None,
            min_version: Version::Tls12,
            max_version: Version::Tls13,
            ciphers: Vec::new(),
            groups: Vec::new(),
            session_timeout: 300,
            ticket_keys: None,
            alpn: vec![b"http/1.1".to_vec()],
        }
    }
}

/// A checked [`Config`]. Cloning it is cheap.
#[derive(Clone)]
pub struct Settings {
    pub(crate) config: Arc<ServerConfig>,
    /// Issues tickets under keys of this process. The policy for client certificates belongs to the keys.
    tickets: Option<Arc<dyn ProducesTickets>>,
    policy: [u8; 32],
    /// Verifies the certificates of clients, if clients are asked for one.
    pub(crate) verifier: Option<Arc<dyn ClientCertVerifier>>,
}

impl Settings {
    /// The same settings, by another clock than the system's, which decides whether a certificate has expired. For
    /// tests.
    #[must_use]
    pub fn with_clock(&self, clock: Arc<dyn TimeProvider>) -> Self {
        let mut config = ServerConfig::clone(&self.config);
        config.time_provider = clock;
        Self {
            config: Arc::new(config),
            ..self.clone()
        }
    }
}

impl Debug for Settings {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("Settings").finish_non_exhaustive()
    }
}

impl Config {
    /// Checks all settings. The sessions of `previous` can be resumed with the new settings only if both have the same
    /// policy for client certificates, because the library does not verify the certificate of a resumed session.
    ///
    /// # Errors
    ///
    /// Fails for an invalid setting, and says which one it is. Nothing has changed then.
    pub fn build(&self, previous: Option<&Settings>) -> Result<Settings, ConfigFault> {
        let provider = Arc::new(self.provider()?);
        let versions = self.versions()?;
        let usable = provider
            .cipher_suites
            .iter()
            .any(|suite| versions.contains(&suite.version()));
        if !usable {
            return Err(ConfigFault::NoCipherForVersions);
        }
        let verifier = self.verifier(&provider)?;
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .map_err(library)?
            .with_client_cert_verifier(Arc::clone(&verifier))
            .with_cert_resolver(Arc::new(self.resolver(&provider)?));
        config.alpn_protocols.clone_from(&self.alpn);
        // Otherwise a client whose list begins with its weakest suite would get that suite. node-http does the same.
        config.ignore_client_order = true;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.max_early_data_size = 0;
        let policy = self.policy();
        let tickets = self.tickets(policy, previous)?;
        if let Some(tickets) = &tickets {
            config.ticketer = Arc::new(Dated::new(Arc::clone(tickets), self.lifetime()));
        } else {
            config.send_tls13_tickets = 0;
        }
        Ok(Settings {
            config: Arc::new(config),
            tickets: tickets.filter(|_| self.ticket_keys.is_none()),
            policy,
            verifier: (self.client_certificate != ClientCertificate::None).then_some(verifier),
        })
    }

    fn provider(&self) -> Result<CryptoProvider, ConfigFault> {
        let suites = self.ciphers.iter().map(|name| {
            names::suite(name).ok_or_else(|| ConfigFault::UnknownCipher { name: name.clone() })
        });
        let groups = self.groups.iter().map(|name| {
            names::group(name).ok_or_else(|| ConfigFault::UnknownGroup { name: name.clone() })
        });
        let mut provider = aws_lc_rs::default_provider();
        provider.cipher_suites = suites.collect::<Result<_, _>>()?;
        provider.kx_groups = groups.collect::<Result<_, _>>()?;
        if provider.cipher_suites.is_empty() {
            provider.cipher_suites = names::all_suites();
        }
        if provider.kx_groups.is_empty() {
            provider.kx_groups = names::default_groups();
        }
        Ok(provider)
    }

    fn versions(&self) -> Result<Vec<&'static SupportedProtocolVersion>, ConfigFault> {
        match (self.min_version, self.max_version) {
            (Version::Tls12, Version::Tls12) => Ok(vec![&version::TLS12]),
            (Version::Tls12, Version::Tls13) => Ok(vec![&version::TLS13, &version::TLS12]),
            (Version::Tls13, Version::Tls13) => Ok(vec![&version::TLS13]),
            (Version::Tls13, Version::Tls12) => Err(ConfigFault::VersionsReversed),
        }
    }

    fn resolver(&self, provider: &CryptoProvider) -> Result<Certificates, ConfigFault> {
        let mut certificates: Option<Certificates> = None;
        for (index, one) in self.certificates.iter().enumerate() {
            let which = Which {
                index,
                name: one.names.first().cloned(),
            };
            let key = Arc::new(certified(one, which, provider)?);
            let all = certificates.get_or_insert_with(|| Certificates::new(Arc::clone(&key)));
            for name in &one.names {
                all.add(name, &key);
            }
        }
        certificates.ok_or(ConfigFault::NoCertificate)
    }

    fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ClientCertVerifier>, ConfigFault> {
        if self.client_certificate == ClientCertificate::None {
            return Ok(WebPkiClientVerifier::no_client_auth());
        }
        if self.ca.is_empty() {
            return Err(ConfigFault::NoAuthority);
        }
        let mut roots = RootCertStore::empty();
        for (index, ca) in self.ca.iter().enumerate() {
            roots
                .add(CertificateDer::from(ca.clone()))
                .map_err(|error| ConfigFault::Authority {
                    index,
                    problem: plain(&error),
                })?;
        }
        let mut builder =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        if !self.crl.is_empty() {
            let lists = self.crl.iter().cloned();
            builder = builder
                .with_crls(lists.map(CertificateRevocationListDer::from))
                .enforce_revocation_expiration();
        }
        if self.client_certificate == ClientCertificate::Optional {
            builder = builder.allow_unauthenticated();
        }
        builder.build().map_err(|error| match error {
            VerifierBuilderError::NoRootAnchors => ConfigFault::NoAuthority,
            error => ConfigFault::RevocationList {
                problem: error.to_string(),
            },
        })
    }

    /// Gives a digest of the policy for client certificates.
    fn policy(&self) -> [u8; 32] {
        let kind = match self.client_certificate {
            ClientCertificate::None => return policy_digest([&b"none"[..]]),
            ClientCertificate::Optional => &b"optional"[..],
            ClientCertificate::Required => &b"required"[..],
        };
        let ca = self.ca.iter().map(Vec::as_slice);
        let crl = self.crl.iter().map(Vec::as_slice);
        policy_digest([kind].into_iter().chain(ca).chain([&b"crl"[..]]).chain(crl))
    }

    fn lifetime(&self) -> u32 {
        self.session_timeout.min(LONGEST_SESSION)
    }

    fn tickets(
        &self,
        policy: [u8; 32],
        previous: Option<&Settings>,
    ) -> Result<Option<Arc<dyn ProducesTickets>>, ConfigFault> {
        if let Some(keys) = &self.ticket_keys {
            let keys: &[u8; SHARED_KEY_BYTES] = keys
                .as_slice()
                .try_into()
                .map_err(|_| ConfigFault::TicketKeys { length: keys.len() })?;
            if self.session_timeout > 0 {
                return Ok(Some(Arc::new(Shared::new(keys, policy, self.lifetime()))));
            }
        }
        if self.session_timeout == 0 {
            return Ok(None);
        }
        let kept = previous
            .filter(|previous| previous.policy == policy)
            .and_then(|previous| previous.tickets.clone());
        match kept {
            Some(tickets) => Ok(Some(tickets)),
            None => aws_lc_rs::Ticketer::new().map(Some).map_err(library),
        }
    }
}

fn certified(
    one: &Certificate,
    which: Which,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, ConfigFault> {
    let chain: Vec<_> = one
        .chain
        .iter()
        .cloned()
        .map(CertificateDer::from)
        .collect();
    if chain.is_empty() {
        let problem = "it is empty".to_owned();
        return Err(ConfigFault::Certificate { which, problem });
    }
    for certificate in &chain {
        if let Err(error) = webpki::EndEntityCert::try_from(certificate) {
            let problem = format!("a certificate of it is not X.509 version 3 ({error})");
            return Err(ConfigFault::Certificate { which, problem });
        }
    }
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(one.key.clone()));
    let key = match provider.key_provider.load_private_key(key) {
        Ok(key) => key,
        Err(error) => {
            let problem = plain(&error);
            return Err(ConfigFault::Key { which, problem });
        }
    };
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(certified),
        Err(Error::InconsistentKeys(_)) => Err(ConfigFault::KeyMismatch { which }),
        Err(error) => {
            let problem = plain(&error);
            Err(ConfigFault::Certificate { which, problem })
        }
    }
}

fn library(error: impl Into<Error>) -> ConfigFault {
    ConfigFault::Library {
        problem: plain(&error.into()),
    }
}

/// Gives the text of an error of the library as a part of a sentence.
fn plain(error: &Error) -> String {
    match error {
        Error::General(text) => text.trim_end_matches('.').to_owned(),
        error => error.to_string(),
    }
}
